"""Findings about processes that no loader starts, and about workers that a signal ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dllint.finding import Finding, Place
from dllint.observation import (
    Batch,
    Draw,
    End,
    Handle,
    Item,
    Iteration,
    Launch,
    Line,
    Loader,
    Process,
    Replica,
    Site,
    Stack,
    Storages,
    Worker,
)

if TYPE_CHECKING:
    from conftest import Recorded


def between_processes(run: Recorded) -> Finding:
    """A handle opened at line 13, shared by the processes that line 14 starts."""
    run.records[0] = replace(run.records[0], lines=True)
    run.add(Line, path=run.path, line=13)
    start = Place(run.path, run.loop_span, "the processes start here")
    return run.finding("DLL402", message="process", related=(start,))


def started(run: Recorded, method: str = "fork", api: str = "Process", line: int = 14, child: int = 90) -> None:
    run.add(Launch, api=api, site=Site(run.path, line), method=method, child=child)


@pytest.mark.parametrize(
    ("shared", "pid", "verdict"), [(True, 90, "confirmed"), (False, 90, "inconclusive"), (True, 91, "inconclusive")]
)
def test_a_position_that_processes_move(run: Recorded, shared: bool, pid: int, verdict: str) -> None:
    finding = between_processes(run)
    started(run)
    run.add(Handle, pid, path="/data/rows.bin", fd=3, shared=shared, moved=True)
    told = run.judged(finding)
    assert told[0] == verdict
    if verdict == "confirmed":
        assert told[1] == "1 process moved the position of rows.bin, which the parent opened before the fork"


def test_a_pool_starts_before_it_is_given_a_task(run: Recorded) -> None:
    finding = between_processes(run)
    started(run, api="Pool", line=13)
    run.add(Handle, 90, path="/data/rows.bin", fd=3, shared=True, moved=True)
    assert run.judged(finding)[0] == "confirmed"


def test_processes_that_are_spawned_have_their_own_files(run: Recorded) -> None:
    finding = between_processes(run)
    started(run, "spawn")
    assert run.judged(finding) == (
        "refuted",
        "its processes were started by spawn, so each has its own handles",
    )


def test_a_line_of_processes_that_did_not_run(run: Recorded) -> None:
    finding = between_processes(run)
    run.records.pop()
    assert run.judged(finding) == ("not reached", "line 13 was not executed in this run")


@pytest.mark.parametrize(
    ("method", "verdict"), [("spawn", "inconclusive"), ("fork", "refuted"), (None, "inconclusive")]
)
def test_a_map_that_is_an_argument(run: Recorded, method: str | None, verdict: str) -> None:
    run.records[0] = replace(run.records[0], lines=True)
    run.add(Line, path=run.path, line=14)
    if method is not None:
        started(run, method)
    assert run.judged(run.finding("DLL404", run.loop_span, message="argument"))[0] == verdict


@pytest.mark.parametrize(("method", "verdict"), [("spawn", "confirmed"), ("fork", "latent")])
def test_a_small_shared_array_is_copied_too(run: Recorded, method: str, verdict: str) -> None:
    run.loader(method).add(Storages, loader="70.1", arrays=1, array_bytes=1280, pickled=1500)
    told = run.judged(run.about_loader("DLL404", message="lost"))
    assert told[0] == verdict and "1,280 bytes" in told[1]


def test_a_shared_array_that_is_not_pickled(run: Recorded) -> None:
    run.loader("spawn").add(Storages, loader="70.1")
    assert run.judged(run.about_loader("DLL404", message="lost"))[0] == "refuted"


# --- Workers that crash


def stack(path: str, line: int) -> str:
    return (
        "Fatal Python error: Aborted\n\nCurrent thread 0x01 (most recent call first):\n"
        f'  File "{path}", line {line} in __getitem__\n'
        '  File "/v/lib/python3.11/multiprocessing/process.py", line 314 in _bootstrap\n'
        f'  File "{path}", line 17 in main\n'
    )


@pytest.mark.parametrize(
    ("number", "line", "verdict"),
    [
        (6, 6, "confirmed"),
        (11, 6, "confirmed"),
        (6, 9, "inconclusive"),
        (9, 6, "inconclusive"),
        (15, 6, "inconclusive"),
    ],
)
def test_a_worker_that_a_signal_ended_in_the_call(run: Recorded, number: int, line: int, verdict: str) -> None:
    run.loader().add(End, 80, signal=number).add(Stack, 80, text=stack(run.path, line))
    assert run.judged(run.about_loader("DLL109"))[0] == verdict


def test_the_stack_of_the_parent_below_that_of_a_worker_is_not_its_own(run: Recorded) -> None:
    text = stack(run.path, 6).replace("in __getitem__", "in <lambda>").replace(run.path, "/v/lib/python3.11/x.py", 1)
    run.loader().add(End, 80, signal=6).add(Stack, 80, text=text)
    assert run.judged(run.about_loader("DLL109")) == ("inconclusive", "worker 0 was killed by SIGABRT")


def test_an_abort_explains_the_end_of_the_program(run: Recorded) -> None:
    run.loader().add(End, 80, signal=6).add(Stack, 80, text=stack(run.path, 6))
    text = "DataLoader worker (pid(s) 80, 81) exited unexpectedly"
    run.add(End, exit=1, exception="RuntimeError", text=text, site=run.site, frames=(run.site,))
    death = run.confirm(run.about_loader("DLL109"), failed=True).death
    assert death is not None and death.finding.code == "DLL109"
    # A crash elsewhere, or without the finding, is the program's own.
    assert run.confirm(failed=True).death is None


@pytest.mark.parametrize(
    ("traceback", "explained"),
    [
        (
            (
                'File "reductions.py", line 538, in rebuild_storage_fd\n  fd = df.detach()\n'
                "FileNotFoundError: [Errno 2] No such file or directory\n"
            ),
            True,
        ),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'\n", False),
    ],
)
def test_a_tensor_whose_sender_is_gone_ends_the_program(run: Recorded, traceback: str, explained: bool) -> None:
    name, text = "FileNotFoundError", traceback.strip().rpartition("FileNotFoundError: ")[2]
    run.add(End, exit=1, exception=name, text=text, site=run.site, frames=(run.site,), traceback=traceback)
    death = run.confirm(run.finding("DLL309"), failed=True).death
    assert (death is not None) is explained


# --- Draws of ranks


@pytest.mark.parametrize(("seeds", "verdict"), [((5, 9), "confirmed"), ((5, 5), "refuted")])
def test_ranks_that_torch_seeded_apart_and_that_draw_alike(run: Recorded, seeds: tuple[int, int], verdict: str) -> None:
    """Ranks with one seed, often on purpose, have workers that draw alike; with two seeds the program made them so."""
    for pid, seed in zip((70, 75), seeds, strict=True):
        name = f"{pid}.1"
        run.add(Process, pid, role="child")
        run.add(Loader, pid, loader=name, site=run.site, workers=2, dataset="__main__.Records")
        run.add(Iteration, pid, loader=name, method="fork", workers=2)
        for worker, digests in enumerate(("ab", "cd")):
            run.add(Worker, pid + 5 + worker, loader=name, worker=worker, workers=2, seed=seed)
            for one in digests:
                values = {"loader": name, "worker": worker, "source": "numpy.random", "digest": one, "after": one}
                run.add(Draw, pid + 5 + worker, **values)
    assert run.judged(run.about_loader("DLL603"))[0] == verdict


@pytest.mark.parametrize("message", ["epochs", "items"])
def test_one_epoch_refutes_no_repeats_over_epochs(run: Recorded, message: str) -> None:
    run.loader()
    for worker, digests in enumerate(("ab", "cd")):
        for one in digests:
            run.add(Draw, 80 + worker, loader="70.1", worker=worker, source="torch", digest=one, after=one)
    assert run.judged(run.about_loader("DLL603", message=message)) == (
        "inconclusive",
        "the run recorded the draws of one epoch only",
    )


# --- Items of ranks


def delivered_by_ranks(run: Recorded, first: str, second: str, replicas: tuple[int, ...], grad: bool) -> Recorded:
    """What the workers of two ranks read from an iterable dataset, one character per item."""
    for pid, digests in ((70, first), (75, second)):
        name = f"{pid}.1"
        run.add(Process, pid, role="child")
        run.add(Loader, pid, loader=name, site=run.site, workers=1, dataset="__main__.Records", iterable=True)
        run.add(Iteration, pid, loader=name, method="fork", workers=1)
        run.add(Batch, pid, loader=name, grad=grad)
        for position, digest in enumerate(digests):
            run.add(Item, pid + 5, loader=name, position=position, digest=digest)
    for pid in replicas:
        run.add(Replica, pid, ranks=2)
    return run


@pytest.mark.parametrize(
    ("first", "second", "replicas", "grad", "found"),
    [
        ("abcd", "abcd", (70, 75), True, True),
        ("abcd", "efgh", (70, 75), True, False),
        ("abcdef", "ghiajk", (70, 75), True, False),  # a few are equal by chance
        ("0101", "0110", (70, 75), True, False),  # labels
        ("abcd", "abcd", (70, 75), False, False),  # an evaluation
        ("abcd", "abcd", (), True, False),  # programs of their own, or parts of one model
        ("abcd", "abcd", (70,), True, False),
    ],
)
def test_items_that_ranks_share(
    run: Recorded, first: str, second: str, replicas: tuple[int, ...], grad: bool, found: bool
) -> None:
    delivered_by_ranks(run, first, second, replicas, grad)
    assert run.discovered() == ([("DLL601", "confirmed", 13)] if found else [])
    assert (run.judged(run.about_loader("DLL601"))[0] == "confirmed") is found


# --- Small stores


@pytest.mark.parametrize(("size", "verdict"), [(19, "inconclusive"), (100, "confirmed"), (0, "confirmed")])
def test_a_small_store_cannot_add_much(run: Recorded, size: int, verdict: str) -> None:
    run.loader().grown(pss_anon=(5, 6), pss_file=(40, 90), rss=(250, 270), pss=(50, 60), mapped_files=(size, size))
    assert run.judged(run.finding("DLL401"))[0] == verdict
