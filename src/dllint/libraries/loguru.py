"""loguru 0.7.3.

Pickling a logger pickles its handlers, and the handler that it starts with writes to `sys.stderr`. Measured with
CPython 3.11.7: the module's logger, one that `bind`, `opt` or `patch` returns, and their methods, with the first
handler and with one that writes to a file.
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, stream
from dllint.screen import Words

_LOGGER = Refusal("a loguru logger, whose handlers hold open files", stream("TextIOWrapper"), "logger")
_METHOD = _LOGGER._replace(what="a method of a loguru logger, whose handlers hold open files")
_METHODS = ("trace", "debug", "info", "success", "warning", "error", "critical", "exception", "log")

LIBRARY = Library(
    refusals=dict.fromkeys((f"loguru.logger.{method}" for method in ("bind", "opt", "patch")), _LOGGER),
    unpicklable_functions={
        "loguru.logger": _LOGGER,
        **dict.fromkeys((f"loguru.logger.{method}" for method in _METHODS), _METHOD),
    },
    words=Words(nearby=(b"loguru",)),
)
