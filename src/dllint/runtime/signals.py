"""Signals that ask dllint to stop: they are recorded, and the run with all its processes ends at the next poll."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

_ASKING = ("SIGINT", "SIGTERM", "SIGHUP")


class Signals:
    """A context in which these signals do not end this process.

    Attributes:
        number: the first signal that arrived; `None` so far.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for name in _ASKING:
                number = getattr(signal, name, None)
                # A process started with nohup, or by a shell in the background, must keep ignoring these.
                if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.number is None:
            self.number = int(number)

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
