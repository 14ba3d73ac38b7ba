"""Record to which servers the program sends data over HTTP."""

from __future__ import annotations

import functools

from dllint.probe import recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_SENDING = ("POST", "PUT", "PATCH")
_HERE = ("localhost", "127.0.0.1", "::1")

_told: set[tuple[str, str]] = set()


def hook(module: ModuleType) -> None:
    """Replace `endheaders` of `http.client.HTTPConnection`, through which requests, urllib and boto3 send."""
    connection = module.HTTPConnection
    original = connection.endheaders

    @functools.wraps(original)
    def endheaders(self: Any, *args: Any, **options: Any) -> Any:
        # It raises if the server cannot be reached.
        result = original(self, *args, **options)
        recorder.guarded(_sent, self)
        return result

    connection.endheaders = endheaders


def _sent(connection: Any) -> None:
    method = str(connection._method).upper()
    host = str(getattr(connection, "_tunnel_host", None) or connection.host)
    if method in _SENDING and host not in _HERE and (method, host) not in _told:
        _told.add((method, host))
        recorder.record("upload", method=method, host=host[:200])
