"""Converts the source texts of many files to facts: from the cache, otherwise by parsing, in several processes if that
pays off."""

from __future__ import annotations

import ast
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Union

from dllint.facts.cache import Cache
from dllint.facts.collector import collection_paused
from dllint.facts.schema import FileFacts
from dllint.files import Unreadable as Unreadable
from dllint.span import Span

FILES_OF_A_POOL = 24
FILES_OF_A_PROCESS = 4
"""The number of open files that a pool and each of its processes need, with a margin."""
WORTH_PROCESSES = 400_000
"""The number of characters to parse, about half a second of work, from which starting processes pays off."""
LARGE = 1_000_000
"""The number of characters above which long rows of numbers in a text are shortened before Python parses it."""
BATCH = 4

Progress = Callable[[int, int], None]


@dataclass
class Parsed:
    facts: dict[str, FileFacts] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)


@dataclass(frozen=True)
class Older:
    """What is read of a file for an older Python: its facts, and why newer ones do not run it."""

    facts: FileFacts
    why: Unreadable


Outcome = Union[FileFacts, Unreadable, Older]


def parse_all(
    sources: Mapping[str, str], cache: Cache, jobs: int | None = None, progress: Progress | None = None
) -> Parsed:
    """Return the facts of each source text, or why there are none.

    Args:
        sources: texts by path.
        cache: read first; newly parsed facts are added.
        jobs: the most processes; `None` for the number of processors.
        progress: called with the number of files done and the total.
    """
    parsed = Parsed()
    missing: dict[str, str] = {}
    with collection_paused():
        for path, text in sources.items():
            facts = cache.get(text)
            if facts is None:
                missing[path] = text
            else:
                parsed.facts[path] = facts
                if progress is not None:
                    progress(len(parsed.facts), len(sources))
    for path, outcome in _outcomes(missing, jobs):
        if isinstance(outcome, Unreadable):
            parsed.unreadable[path] = outcome
        elif isinstance(outcome, Older):
            parsed.unreadable[path] = outcome.why
            parsed.facts[path] = outcome.facts
        else:
            parsed.facts[path] = outcome
            cache.put(missing[path], outcome)
        if progress is not None:
            progress(len(parsed.facts.keys() | parsed.unreadable.keys()), len(sources))
    if sum(map(len, missing.values())) >= WORTH_PROCESSES:
        _return_free_memory()
    return parsed


def parse(text: str) -> Outcome:
    """Return the facts of one source text, or why there are none."""
    from dllint.facts.extract import SyntaxProblem, extract

    try:
        return extract(text)
    except SyntaxProblem as problem:
        place = Span(problem.line, problem.column, problem.line, problem.column + 1)
        facts = _of_older(text)
        if facts is not None:
            return Older(facts, Unreadable("older", {"reason": problem.message}, place))
        return Unreadable("main", {"reason": problem.message}, place)
    except Exception as error:
        if os.environ.get("DLLINT_DEBUG"):
            raise
        told = " ".join(f"internal error, {type(error).__name__}: {error}".split())
        return Unreadable("main", {"reason": told})


def _of_older(text: str) -> FileFacts | None:
    """Return the facts of a text for Python 2 or a version below 3.7; None if it is none, or cannot be read as one."""
    from dllint.facts.extract import SyntaxProblem, extract
    from dllint.facts.extract.older import as_python3

    try:
        newer = as_python3(text) if len(text) <= LARGE else None
        return extract(newer) if newer is not None else None
    except SyntaxProblem:
        return None
    except Exception:
        # The text is no valid Python either way: it is told as that.
        if os.environ.get("DLLINT_DEBUG"):
            raise
        return None


def is_plainly_valid(text: str) -> bool:
    """Whether the running Python parses the text, which is quick; another Python may accept what this one rejects."""
    if len(text) > LARGE:
        from dllint.facts.extract.shortening import for_python

        # Python needs 1 GiB for 3 MB of numbers.
        short = for_python(text)
        if short is None:
            return False
        text = short
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _outcomes(sources: Mapping[str, str], jobs: int | None) -> Iterator[tuple[str, Outcome]]:
    jobs = min(jobs or os.cpu_count() or 1, len(sources))
    done: set[str] = set()
    if (
        jobs > 1
        and sum(map(len, sources.values())) >= WORTH_PROCESSES
        and _can_open(FILES_OF_A_POOL + FILES_OF_A_PROCESS * jobs)
    ):
        others = set(multiprocessing.active_children())
        largest_first = sorted(sources, key=lambda path: -len(sources[path]))
        try:
            with ProcessPoolExecutor(jobs, initializer=_leave_interrupts_to_the_parent) as pool:
                texts = (sources[path] for path in largest_first)
                try:
                    for path, outcome in zip(largest_first, pool.map(parse, texts, chunksize=BATCH), strict=True):
                        done.add(path)
                        yield path, outcome
                except (KeyboardInterrupt, SystemExit):
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        except (OSError, ImportError, BrokenProcessPool):
            # No processes here (a sandbox without semaphores), or one was killed: the rest is parsed below. A pool that
            # could not start all of its processes leaves the others, and the interpreter's exit would wait for them.
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
    for path, text in sources.items():
        if path not in done:
            yield path, parse(text)


def _return_free_memory() -> None:
    """Return the memory of the syntax trees to the system.

    The facts lie between them, so glibc keeps the free memory by itself: a third of what the process has then, which
    what follows reuses little. Other C libraries have no such function.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _can_open(number: int) -> bool:
    """Whether the limit of open files (`ulimit -n`) leaves room for that many: a pool that runs out of them hangs."""
    opened: list[int] = []
    try:
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(number))
    except OSError:
        return False
    finally:
        for handle in opened:
            os.close(handle)
    return True


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
