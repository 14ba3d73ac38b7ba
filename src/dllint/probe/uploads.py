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


def hook_httpx(module: ModuleType) -> None:
    """Replace what httpx sends its requests with: the Hugging Face Hub's client, for example, uses it."""
    one, other = module.HTTPTransport, module.AsyncHTTPTransport
    at_once, later = one.handle_request, other.handle_async_request

    @functools.wraps(at_once)
    def handle_request(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        result = at_once(self, request, *args, **options)
        recorder.guarded(_requested, request)
        return result

    @functools.wraps(later)
    async def handle_async_request(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        result = await later(self, request, *args, **options)
        recorder.guarded(_requested, request)
        return result

    one.handle_request, other.handle_async_request = handle_request, handle_async_request


def _sent(connection: Any) -> None:
    _tell(connection._method, getattr(connection, "_tunnel_host", None) or connection.host)


def _requested(request: Any) -> None:
    _tell(request.method, request.url.host)


def _tell(method: object, host: object) -> None:
    method, host = str(method).upper(), str(host)
    if method in _SENDING and host not in _HERE and (method, host) not in _told:
        _told.add((method, host))
        recorder.record("upload", method=method, host=host[:200])
