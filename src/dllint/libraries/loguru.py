"""loguru 0.7: the logger keeps its sinks, and pickle refuses those that are files, streams or handlers (`_logger.py`,
`Core.__getstate__`; `_handler.py`, `Handler.__getstate__`).

Measured with 0.7.3 and CPython 3.11.7: the logger as it is imported, which prints to `sys.stderr`; with a file; what
`bind`, `opt` or `patch` gives; its methods. A logger whose sinks are all removed, or are functions, is pickled.
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, stream
from dllint.screen import Words

LOGGER = Refusal("loguru's logger with its sinks", stream("TextIOWrapper"), "logger")
METHOD = LOGGER._replace(what="a method of loguru's logger with its sinks")
_METHODS = ("trace", "debug", "info", "success", "warning", "error", "critical", "exception", "log")

LIBRARY = Library(
    refusals=dict.fromkeys((f"loguru.logger.{method}" for method in ("bind", "opt", "patch")), LOGGER),
    unpicklable_functions={
        "loguru.logger": LOGGER,
        **dict.fromkeys((f"loguru.logger.{method}" for method in _METHODS), METHOD),
    },
    words=Words(nearby=(b"loguru",)),
)
