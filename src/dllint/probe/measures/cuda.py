"""CUDA in forked workers: whether the parent has made it unusable there, and whether a worker uses it nevertheless.

Nothing here calls CUDA itself: `torch.cuda.is_available` is one of the calls that make forks of a process unusable.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from dllint.probe import events, recorder, sites

_hooked = False


def _device() -> bool:
    """Whether there is an NVIDIA driver."""
    return os.path.exists("/dev/nvidiactl")


def _poisoned(cuda: Any) -> bool:
    check = getattr(cuda, "_is_in_bad_fork", None)
    return bool(check and check())


@events.iterating.listen
def parent(loader: Any, iteration: events.Iteration) -> None:
    cuda = sys.modules.get("torch.cuda")
    if cuda is not None and iteration.workers and not iteration.number:
        recorder.record("cuda", loader=iteration.loader, used=bool(cuda.is_initialized()), available=_device())


@events.worker_started.listen
def worker(state: events.WorkerState) -> None:
    global _hooked
    cuda: Any = sys.modules.get("torch.cuda")
    if cuda is None:
        return
    poisoned = _poisoned(cuda)
    if poisoned:
        _tell(state, poisoned=True, used=False)
    if _hooked:
        return
    _hooked = True
    original = cuda._lazy_init
    told: list[bool] = []

    # All initialization of CUDA passes through here, including calls from C++ (torch/csrc/utils/device_lazy_init.cpp).
    @functools.wraps(original)
    def _lazy_init() -> Any:
        if told or cuda.is_initialized():
            return original()
        frame = sys._getframe(1)
        try:
            result = original()
        except Exception as error:
            told.append(True)
            _used(state, frame, _poisoned(cuda), f"{type(error).__name__}: {error}")
            raise
        _used(state, frame, False, None)
        return result

    cuda._lazy_init = _lazy_init


def _used(state: events.WorkerState, frame: Any, poisoned: bool, error: str | None) -> None:
    chain = sites.chain(frame)
    _tell(
        state,
        poisoned=poisoned,
        used=True,
        call=frame.f_code.co_name,
        site=chain[0] if chain else None,
        error=error,
    )


def _tell(state: events.WorkerState, **fields: Any) -> None:
    recorder.record("cuda", loader=state.loader, worker=state.worker, available=_device(), **fields)
