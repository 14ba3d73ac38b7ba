"""The plan of a run: what its processes measure and when they stop. The launcher writes it, the processes read it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLE = "DLLINT_PROBE"
"""Names the scratch directory; whoever has it in the environment belongs to the run."""
LAUNCHER = "DLLINT_PROBE_LAUNCHER"
"""The pid of the process that started the program."""
USER_NAMESPACE = "DLLINT_PROBE_USER_NAMESPACE"
"""Set where the program's files lie behind overlays in a user namespace, which cannot move a directory."""
FILE = "plan.json"
LINES = "lines"
"""The lines whose execution is recorded, each as `<line number> <path>`."""
RECORDS = "records"
SAVES = "saves"

directory = ""
max_batches: int | None = None
"""Of one iteration of a loader; None: as many as there are."""
max_epochs: int | None = None
deadline: float | None = None
"""When the time is up, as time.time() counts."""
allow_saves = False
trials: tuple[str, ...] = ()
"""Start methods under which loaders are tried in a throwaway fork."""


def load(where: str) -> None:
    """Takes over what the launcher wrote. What cannot be read leaves the program unshortened, but instrumented."""
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
    """What the launcher leaves for `load`.

    Raises:
        OSError: the directory cannot be written to.
    """
    import json

    with open(os.path.join(where, FILE), "w", encoding="utf-8") as file:
        json.dump(values, file)


def stack_signal() -> int | None:
    """The signal at which instrumented processes write their stacks: a real-time one, which no library uses.

    None on platforms that have none such.
    """
    try:
        # What signal wraps, without enum, which takes longer than all the rest.
        import _signal  # type: ignore[import-not-found]
    except ImportError:
        return None
    lowest = getattr(_signal, "SIGRTMIN", None)
    return None if lowest is None else int(lowest) + 13
