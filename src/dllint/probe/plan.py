"""The plan of a run: what its processes measure and when they stop. The launcher writes it, the processes read it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLE = "DLLINT_PROBE"
"""Environment variable with the scratch directory; every process that has it belongs to the run."""
LAUNCHER = "DLLINT_PROBE_LAUNCHER"
"""Environment variable with the pid of the process that started the program."""
USER_NAMESPACE = "DLLINT_PROBE_USER_NAMESPACE"
"""Set if the program's files are behind overlays in a user namespace, which cannot move a directory."""
FILE = "plan.json"
LINES = "lines"
"""File with the lines whose execution is recorded, each as `<line number> <path>`."""
RECORDS = "records"
SAVES = "saves"

directory = ""
max_batches: int | None = None
"""Maximum number of batches per iteration of a loader; `None` for all of them."""
max_epochs: int | None = None
deadline: float | None = None
"""Time at which the run ends, as from time.time()."""
allow_saves = False
trials: tuple[str, ...] = ()
"""Start methods that are tried for loaders in a throwaway fork."""


def load(where: str) -> None:
    """Load the launcher's plan. If it cannot be read, the program is not shortened, but instrumented."""
    import json

    global directory, max_batches, max_epochs, deadline, allow_saves, trials
    directory = where
    try:
        with open(os.path.join(where, FILE), encoding="utf-8") as file:
            told: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return
    max_batches = told.get("max_batches")
    max_epochs = told.get("max_epochs")
    deadline = told.get("deadline")
    allow_saves = bool(told.get("allow_saves"))
    trials = tuple(told.get("trials") or ())


def write(where: str, **values: Any) -> None:
    """Write the plan for `load`.

    Raises:
        OSError: the directory cannot be written to.
    """
    import json

    with open(os.path.join(where, FILE), "w", encoding="utf-8") as file:
        json.dump(values, file)


def stack_signal() -> int | None:
    """Return the signal at which instrumented processes write their stacks: a real-time one, which no library uses.

    `None` on platforms without real-time signals.
    """
    try:
        # The C module behind signal, without enum, whose import takes longer than everything else here.
        import _signal  # type: ignore[import-not-found]
    except ImportError:
        return None
    lowest = getattr(_signal, "SIGRTMIN", None)
    return None if lowest is None else int(lowest) + 13
