"""Watch loaders: where they are built and iterated, how long the program waits for batches; and shorten epochs.

Only methods of torch's own classes are replaced, so that loaders, their subclasses and iterators keep their types. A
shortened epoch ends as if the data had ended; when a loader has had its epochs, the next `iter(loader)` raises
`EnoughSeen`; `epochs` decides when that is.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from dllint.probe import describing, epochs, events, plan, recorder, restarts, sites
from dllint.probe.ending import EnoughSeen, enough

clock = time.perf_counter
_LISTED = 64
_PROGRESS = 0.25
_QUICK = 0.001
_PERIOD = 64
_DYING = 0.5
_NAME = "_dllint_loader"
_STATE = "_dllint_iteration"

starting = threading.local()
"""`iteration` is set while this thread starts the workers of an iteration."""

_names = 0
_iterators: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = weakref.WeakKeyDictionary()
"""The last iterator of each loader; not stored on the loader itself, which the program may pickle."""
_users: dict[int, tuple[weakref.ref[Any], dict[str, Any]]] = {}
"""By the id of a dataset: the last loader for it that the program itself built, and where."""


class Iteration(events.Iteration):
    """An iteration that ends itself once nothing references it any more."""

    __slots__ = ("__weakref__",)

    def __del__(self) -> None:
        if self.open:
            try:
                _close(self)
            except Exception:
                return


def forget() -> None:
    """Forget the parent's iterations in the child of a fork."""
    for iteration in list(epochs.opened):
        iteration.open = False
    epochs.opened.clear()


def close_all() -> None:
    """Close open iterations at the end of a process: the program abandoned them."""
    for iteration in list(epochs.opened):
        _close(iteration)


def hook(module: ModuleType) -> None:
    """Replace the methods of `torch.utils.data.dataloader`."""
    loader, iterator = module.DataLoader, module._BaseDataLoaderIter
    loader.__init__ = _building(loader.__init__)
    loader.__iter__ = _iterating(loader.__iter__)
    iterator.__next__ = _next(iterator.__next__)


def _building(original: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        error = None
        try:
            original(self, *args, **kwargs)
        except BaseException as raised:
            error = sites.unseen(raised)
            raise
        finally:
            _watched(_built, self, signature, args, kwargs, error)

    return __init__


def _watched(work: Callable[..., None], *values: Any) -> None:
    if not recorder.silent:
        recorder.guarded(work, *values)


def _built(loader: Any, signature: inspect.Signature, args: Any, kwargs: Any, error: BaseException | None) -> None:
    global _names
    _names += 1
    name = f"{recorder.pid()}.{_names}"
    try:
        arguments = dict(signature.bind(loader, *args, **kwargs).arguments)
    except TypeError:
        arguments = dict(kwargs)
    arguments = {key: value for key, value in arguments.items() if key != "self"}
    dataset = arguments.pop("dataset", None)
    frame = _builder(sys._getframe(4), loader)
    chain = sites.chain(frame)
    recorder.record(
        "loader",
        loader=name,
        site=_place(chain, dataset),
        chain=chain,
        cls=describing.qualified(type(loader)),
        arguments={key: describing.described(value) for key, value in arguments.items()},
        dataset=describing.qualified(type(dataset)),
        iterable=describing.is_iterable(dataset),
        workers=arguments.get("num_workers", 0) if isinstance(arguments.get("num_workers", 0), int) else 0,
        method=describing.context_method(getattr(loader, "multiprocessing_context", None)),
        error=None if error is None else f"{type(error).__name__}: {error}",
    )
    if error is None:
        if chain and not sites.is_installed(chain[0]["path"]):
            _users[id(dataset)] = (weakref.ref(loader), chain[0])
        loader.__dict__[_NAME] = name
        loader.__dict__["_dllint_count"] = epochs.succeeding(sites.identity(frame))
        data = sys.modules["torch.utils.data.dataloader"]
        restarts.hook(loader, data.DataLoader, _goes_on, lambda: plan.max_batches or -1)
        events.loader_built(loader, name)


def _place(chain: list[dict[str, Any]], dataset: Any) -> dict[str, Any] | None:
    """Return the user's call that created a loader; `None` if unknown.

    A package such as accelerate, which rebuilds a user's loader with another sampler, passes on the user's dataset; the
    user's own call is found by that.
    """
    if chain and sites.is_installed(chain[0]["path"]):
        before, site = _users.get(id(dataset), (lambda: None, None))
        loader = before()
        if loader is not None and loader.dataset is dataset:
            return site
    return sites.place(chain)


def _builder(frame: FrameType | None, loader: Any) -> FrameType | None:
    """Return the frame that requested the loader, skipping constructors of subclasses."""
    while frame is not None:
        code = frame.f_code
        own = code.co_name == "__init__" and code.co_argcount and frame.f_locals.get(code.co_varnames[0]) is loader
        if not own:
            return frame
        frame = frame.f_back
    return None


def _iterating(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __iter__(self: Any) -> Any:
        if recorder.silent:
            return original(self)
        iteration = None
        try:
            iteration = _begin(self, sys._getframe(1))
        except EnoughSeen:
            raise
        except Exception as failure:
            recorder.trouble("iter", failure)
        if iteration is None:
            return original(self)
        starting.iteration = iteration
        since = clock()
        try:
            iterator = original(self)
        except BaseException as error:
            _watched(_begun, self, iteration, None, clock() - since, sites.unseen(error))
            raise
        finally:
            starting.iteration = None
        _watched(_begun, self, iteration, iterator, clock() - since, None)
        return iterator

    return __iter__


def _begin(loader: Any, frame: FrameType | None) -> Iteration:
    state = loader.__dict__
    count = state.get("_dllint_count")
    if not isinstance(count, epochs.Count):
        count = state["_dllint_count"] = epochs.Count()
    previous = getattr(state.get("_iterator"), _STATE, None)
    if previous is not None and previous.open:
        _close(previous)
    chain = sites.chain(frame)
    if epochs.is_enough(count):
        enough("max-epochs", state.get(_NAME, ""), count.begun)
    if not count.begun:
        count.beside = [(weakref.ref(one), one.batches) for one in list(epochs.opened) if one.open]
    iteration = Iteration(state.get(_NAME, ""), count.begun)
    count.begun += 1
    iteration.counter = count
    iteration.site = sites.place(chain)
    iteration.workers = loader.num_workers
    iteration.persistent = bool(getattr(loader, "persistent_workers", False)) and iteration.workers > 0
    iteration.fresh = iteration.workers > 0 and not (iteration.persistent and state.get("_iterator") is not None)
    iteration.method = (
        (describing.context_method(loader.multiprocessing_context) or describing.default_method())
        if iteration.workers
        else None
    )
    iteration.total = describing.length(loader)
    iteration._cut_at = epochs.cut_at(count)
    iteration._deadline = float("inf") if plan.deadline is None else clock() + plan.deadline - time.time()
    epochs.opened.add(iteration)
    events.iterating(loader, iteration)
    return iteration


def _goes_on(loader: Any, frame: FrameType) -> bool:
    """Whether a loader begins an epoch with an existing iterator; if so, the epoch is recorded as an iteration."""
    known = _iterators.get(loader)
    iterator = known() if known is not None else None
    iteration = getattr(iterator, _STATE, None)
    if iteration is None or not iteration.open:
        return False
    if iteration.batches:
        _close(iteration, iteration.batches == iteration.total, iteration.batches == plan.max_batches)
        method, pids = iteration.method, iteration.pids
        iteration = _begin(loader, frame)
        iteration.fresh, iteration.pids = False, pids
        _begun(loader, iteration, iterator, 0.0, None)
        iteration.method = method
    iteration._cut_at = -1
    iteration._look_at = 0
    return True


def _begun(loader: Any, iteration: Iteration, iterator: Any, seconds: float, error: BaseException | None) -> None:
    workers = getattr(iterator, "_workers", ())
    if workers:
        iteration.pids = tuple(worker.pid for worker in workers)
        iteration.method = getattr(getattr(workers[0], "_popen", None), "method", None) or iteration.method
    recorder.record(
        "iteration",
        loader=iteration.loader,
        number=iteration.number,
        site=iteration.site,
        method=iteration.method,
        workers=iteration.workers,
        persistent=iteration.persistent,
        fresh=iteration.fresh,
        error=None if error is None else type(error).__name__,
        text="" if error is None else str(error)[:2000],
        seconds=seconds,
    )
    if error is not None:
        iteration.open = False
        epochs.opened.discard(iteration)
        return
    setattr(iterator, _STATE, iteration)
    _iterators[loader] = weakref.ref(iterator)
    events.iterated(loader, iteration)


def _next(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap `__next__`. Trivial items come at 40,000 batches per second: benchmarks/overhead.py measures this code."""

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        try:
            iteration = self._dllint_iteration
        except AttributeError:
            return original(self)
        timed = iteration.batches >= iteration._look_at
        if timed and not _before(self, iteration):
            raise StopIteration
        try:
            data = original(self)
        except StopIteration:
            _watched(_close, iteration, True)
            raise
        except BaseException as error:
            if isinstance(error, (RuntimeError, EOFError, OSError)):
                _watched(_tell_dead, self)
            _watched(_close, iteration, False, False, sites.unseen(error))
            raise
        iteration.batches += 1
        if timed:
            _after(iteration)
        if iteration.batches == iteration._shown_at:
            events.show(iteration, data)
        return data

    return __next__


def _before(iterator: Any, iteration: Iteration) -> bool:
    """Measure the time before a batch is requested; returns False if the epoch is to end instead."""
    count = iteration.batches
    if not iteration.open:
        return count != iteration._cut_at
    now = iteration._asked = clock()
    if iteration._got:
        step = now - iteration._got
        iteration._step += step * _PERIOD if iteration._sampled else step
        if count <= _LISTED:
            iteration._steps.append(step)
    if count == iteration._cut_at:
        _watched(_cut, iterator, iteration)
        return False
    if count and now > iteration._tell_at:
        _watched(_tell, iteration, now)
        iteration._asked = clock()
    return True


def _after(iteration: Iteration) -> None:
    """Measure the time after a batch has arrived, and decide when to measure again.

    The first batches are all timed, and so are slow ones. Of fast ones two in 64 are timed, and represent all of them.
    """
    got = clock()
    wait = got - iteration._asked
    count = iteration.batches
    iteration._wait += wait * _PERIOD / 2 if iteration._sampled else wait
    if count <= _LISTED:
        iteration._waits.append(wait)
    again = count
    if count < _LISTED or wait > _QUICK:
        iteration._sampled = iteration._second = False
    else:
        again += _PERIOD - 2 if iteration._second else 0
        iteration._sampled, iteration._second = True, not iteration._second
    iteration._got = got if again == count else 0.0
    iteration._look_at = again if iteration._cut_at < 0 else min(again, iteration._cut_at)


def _tell(iteration: Iteration, now: float) -> None:
    iteration._tell_at = now + _PROGRESS
    recorder.record(
        "progress",
        loader=iteration.loader,
        number=iteration.number,
        batches=iteration.batches,
        total=iteration.total,
    )
    if now > iteration._deadline:
        _close(iteration)
        enough("time-limit", iteration.loader, iteration.number)


def _cut(iterator: Any, iteration: Iteration) -> None:
    _close(iteration, False, True)
    if not iteration.persistent and hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def _tell_dead(iterator: Any) -> None:
    """Record the workers that were killed by a signal, because they cannot record it themselves."""
    workers = list(getattr(iterator, "_workers", ()))
    # A worker's connection may close before the process ends; torch's SIGCHLD handler may raise during the wait.
    until = clock() + _DYING
    with contextlib.suppress(RuntimeError):
        while all(worker.is_alive() for worker in workers) and clock() < until:
            time.sleep(0.01)
    for worker in workers:
        code = worker.exitcode
        if code is not None and code < 0:
            recorder.record("end", pid=worker.pid, signal=-code)


def _close(
    iteration: events.Iteration, natural: bool = False, cut: bool = False, error: BaseException | None = None
) -> None:
    if not iteration.open:
        return
    iteration.open = False
    iteration._look_at = 0
    epochs.opened.discard(iteration)
    whole = plan.max_batches or 1
    ended = natural or cut or epochs.is_whole(iteration)
    iteration.counter.seen += whole if ended else min(max(iteration.batches, 1), whole)
    recorder.record(
        "epoch",
        loader=iteration.loader,
        number=iteration.number,
        batches=iteration.batches,
        total=iteration.total,
        cut=cut,
        natural=natural,
        wait=iteration._wait,
        first=iteration._waits[0] if iteration._waits else None,
        step=iteration._step,
        waits=[round(one, 6) for one in iteration._waits],
        steps=[round(one, 6) for one in iteration._steps],
        error=None if error is None else type(error).__name__,
        text="" if error is None else str(error)[:4000],
        site=iteration.site,
    )
    events.epoch_ended(iteration)
