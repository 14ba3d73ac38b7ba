"""loguru 0.7: the logger keeps its sinks, and pickle refuses those that are files, streams or handlers (`_logger.py`,
`Core.__getstate__`; `_handler.py`, `Handler.__getstate__`).

Measured with CPython 3.11.7: the logger as it is imported, which prints to `sys.stderr`; with a file; with what
`bind` gives. A logger whose sinks are all removed, or are functions, is pickled.
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, stream
from dllint.screen import Words

LOGGER = Refusal("loguru's logger with its sinks", stream("TextIOWrapper"), "logger")
_METHODS = ("bind", "opt", "patch")

LIBRARY = Library(
    unpicklable_functions={"loguru.logger": LOGGER},
    refusals=dict.fromkeys((f"loguru.logger.{name}" for name in _METHODS), LOGGER),
    words=Words(nearby=(b"loguru",)),
)
