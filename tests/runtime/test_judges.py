"""Given the records of a run, what each family of rules says of its findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dllint.evidence.wording import said
from dllint.observation import (
    Attributes,
    Batch,
    Cuda,
    Draw,
    End,
    Epoch,
    Feeder,
    Handle,
    Item,
    Iteration,
    Kept,
    Launch,
    Limits,
    Line,
    Loader,
    Process,
    Sample,
    Site,
    Storages,
    Threads,
    Trial,
    Worker,
)
from dllint.span import Span

if TYPE_CHECKING:
    from conftest import Recorded

MIB = 1 << 20
FORK_ONLY = {"fork": "Linux up to Python 3.13"}
LAMBDA = "Can't pickle local object 'Records.__init__.<locals>.<lambda>'"
LOCAL = "Can't pickle local object 'Records.__init__.<locals>.Row'"
LOCK = "cannot pickle '_thread.lock' object"
CUDA_FAILURE = """\
Caught {0} in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "train.py", line 9, in __getitem__
    return self.rows[index]
           ~~~~~~~~~^^^^^^^
torch.{0}: CUDA error: initialization error
Search for `cudaErrorInitializationError' in the documentation for more information.
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""
FEW = "DataLoader worker (pid(s) 81) exited unexpectedly"


# DLL1


def test_workers_that_inherit_spawn(run: Recorded) -> None:
    run.loader(method="spawn")
    assert run.judged(run.finding("DLL101", start_methods=("spawn",))) == (
        "confirmed",
        "2 workers started by spawn, ready 0.5 s later",
    )


def test_workers_that_were_forked_all_the_same(run: Recorded) -> None:
    run.add(Process, 75, role="child", start_method="fork")
    run.loader(pid=75)
    assert run.judged(run.finding("DLL101", start_methods=("spawn",))) == ("refuted", "its workers started by fork")


def test_a_launcher_that_this_run_went_around(run: Recorded) -> None:
    run.loader()
    finding = run.finding("DLL101", start_methods=("spawn",), trace=run.about_loader("DLL101").related)
    assert run.judged(finding)[0] == "not reached"


def test_no_guard_under_fork(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.finding("DLL102"))[0] == "inconclusive"


def test_a_trial_without_an_answer_is_said_and_decides_nothing(run: Recorded) -> None:
    run.loader().add(Trial, loader="70.1", method="forkserver", outcome="failed", stage="timeout")
    verdict, evidence = run.judged(run.finding("DLL102"))
    assert verdict == "inconclusive"
    assert evidence.endswith("; a trial under forkserver gave no answer")


def test_no_guard_is_latent_where_a_trial_fails(run: Recorded) -> None:
    run.loader()
    stderr = "An attempt has been made to start before the\ncurrent process has finished its bootstrapping phase"
    run.add(
        Trial,
        loader="70.1",
        method="forkserver",
        outcome="failed",
        stage="crash",
        exception="RuntimeError",
        stderr=stderr,
    )
    verdict, evidence = run.judged(run.finding("DLL102"))
    assert (verdict, "forkserver, the default on Linux from Python 3.14" in evidence) == ("latent", True)


@pytest.mark.parametrize(("method", "verdict"), [("spawn", "refuted"), ("fork", "inconclusive")])
def test_a_name_that_processes_read(run: Recorded, method: str, verdict: str) -> None:
    run.add(Process, 75, role="child", start_method=method, lines=True).add(Line, 75, path=run.path, line=6)
    run.records[0] = replace(run.records[0], lines=True)
    assert run.judged(run.finding("DLL110", run.lambda_span))[0] == verdict


@pytest.mark.parametrize(("method", "verdict"), [("spawn", "refuted"), ("fork", "inconclusive")])
def test_arguments_that_were_sent(run: Recorded, method: str, verdict: str) -> None:
    run.add(Launch, api="Process", site=Site(run.path, 13, 14, 13, 50), method=method, child=75)
    assert run.judged(run.finding("DLL209"))[0] == verdict


@pytest.mark.parametrize(("fds", "verdict"), [(1020, "confirmed"), (40, "refuted"), (600, "inconclusive")])
def test_descriptors_of_a_process_with_a_pool(run: Recorded, fds: int, verdict: str) -> None:
    run.records[0] = replace(run.records[0], lines=True)
    run.add(Line, path=run.path, line=13).add(Sample, fds=fds, by="launcher").add(Sample, fds=14, by="launcher")
    assert run.judged(run.finding("DLL308"))[0] == verdict


def test_losses_that_a_loop_without_workers_keeps(run: Recorded) -> None:
    run.records[0] = replace(run.records[0], lines=True)
    run.loader(workers=0).add(Line, path=run.path, line=15)
    kept = run.finding("DLL310", Span(15, 8, 15, 12))
    assert run.judged(kept) == ("inconclusive", "graphs are not counted")


@pytest.mark.parametrize(
    ("exception", "text", "verdict"),
    [
        ("ConnectionRefusedError", "[Errno 111] Connection refused", "confirmed"),
        ("FileNotFoundError", "[Errno 2] No such file or directory", "confirmed"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'rows.csv'", "not reached"),
    ],
)
def test_a_tensor_whose_process_has_ended(run: Recorded, exception: str, text: str, verdict: str) -> None:
    run.add(End, exception=exception, text=text)
    assert run.judged(run.finding("DLL309"))[0] == verdict


def test_cuda_without_a_device(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.about_loader("DLL103"))[0] == "inconclusive"


def test_cuda_in_a_forked_worker(run: Recorded) -> None:
    run.loader()
    run.add(Cuda, 80, loader="70.1", worker=0, poisoned=True, used=True, available=True, call="torch.Tensor.cuda")
    verdict, evidence = run.judged(run.about_loader("DLL103"))
    assert (verdict, evidence) == (
        "confirmed",
        "worker 0 called torch.Tensor.cuda, which its parent had used before the fork",
    )


def test_the_driver_refuses_a_worker_what_the_dataset_keeps_on_the_gpu(run: Recorded) -> None:
    run.loader(error="torch.AcceleratorError", text=CUDA_FAILURE.format("AcceleratorError"))
    assert run.judged(run.about_loader("DLL103", message="kept")) == (
        "confirmed",
        "AcceleratorError: CUDA error: initialization error",
    )


@pytest.mark.parametrize(("text", "verdict"), [("CUDA error: initialization error", "confirmed"), ("", "not reached")])
def test_cuda_in_a_forked_process_without_any_loader(run: Recorded, text: str, verdict: str) -> None:
    if text:
        run.add(End, exit=1, exception="torch.AcceleratorError", text=text)
    told = run.judged(run.finding("DLL103", message="process"))
    assert told[0] == verdict
    assert "DataLoader" not in told[1]


@pytest.mark.parametrize(("exception", "verdict"), [("RuntimeError", "confirmed"), (None, "not reached")])
def test_a_split_under_a_cuda_default(run: Recorded, exception: str | None, verdict: str) -> None:
    text = "Expected a 'cuda' device type for generator but found 'cpu'"
    site = Site(run.path, run.finding("DLL611").span.line)
    if exception is not None:
        run.add(End, exit=1, exception=exception, text=text, site=site, frames=(site,))
    assert run.judged(run.finding("DLL611", message="split"))[0] == verdict


def test_a_forkserver_that_does_not_import_the_main_module(run: Recorded) -> None:
    run.add(Process, 70, role="main", python="3.12.3")
    run.loader(method="forkserver")
    assert run.judged(run.about_loader("DLL106")) == (
        "inconclusive",
        "the forkserver of Python 3.12 does not import the main module",
    )


def test_cuda_in_the_parent_alone(run: Recorded) -> None:
    run.loader().add(Cuda, poisoned=True, available=True)
    assert run.judged(run.about_loader("DLL103"))[0] == "refuted"


def test_daemonic_processes_are_refused(run: Recorded) -> None:
    run.loader(error="AssertionError", text="daemonic processes are not allowed to have children")
    assert run.judged(run.finding("DLL104"))[0] == "confirmed"
    assert run.discovered() == [("DLL104", "confirmed", 13)]


def test_daemonic_processes_that_are_none(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.finding("DLL104")) == ("refuted", "its workers started, in the main process")


def test_a_method_that_was_fixed(run: Recorded) -> None:
    site = Site(run.path, 14, 5, 14, 30)
    run.add(End, exit=1, exception="RuntimeError", text="context has already been set", site=site, frames=(site,))
    assert run.judged(run.finding("DLL105", run.loop_span))[0] == "confirmed"
    assert run.judged(run.finding("DLL105"))[0] == "not reached"


def test_threads_of_a_spawned_worker_are_its_own(run: Recorded) -> None:
    run.loader(method="spawn")
    assert run.judged(run.finding("DLL107"))[0] == "refuted"


def test_a_clean_run_proves_nothing_of_locks(run: Recorded) -> None:
    run.loader().add(Epoch, loader="70.1", batches=4)
    assert run.judged(run.finding("DLL107"))[0] == "inconclusive"


# DLL2


@pytest.mark.parametrize(("code", "text"), [("DLL201", LAMBDA), ("DLL202", LOCAL), ("DLL203", LOCK)])
def test_what_a_trial_cannot_pickle_is_latent(run: Recorded, code: str, text: str) -> None:
    run.loader()
    run.add(Trial, loader="70.1", method="forkserver", outcome="failed", stage="iter", exception="TypeError", text=text)
    verdict, evidence = run.judged(run.about_loader(code))
    assert verdict == "latent"
    assert evidence.startswith(f"fails under forkserver, the default on Linux from Python 3.14: TypeError: {text}")
    assert evidence.endswith("harmless under fork, which this run used")
    assert run.discovered() == [(code, "latent", 13)]


def test_what_this_run_could_not_pickle_is_confirmed(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LAMBDA)
    assert run.judged(run.about_loader("DLL201")) == ("confirmed", f"iter() raised AttributeError: {LAMBDA}")


def test_pickling_stops_at_the_first(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LAMBDA)
    verdict, evidence = run.judged(run.about_loader("DLL203"))
    assert (verdict, "pickling fails earlier, at something else" in evidence) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("owner", "verdict"),
    [("Records.__init__", "confirmed"), ("main", "inconclusive"), ("Records.__getitem__", "inconclusive")],
)
def test_an_exception_says_which_lambda_it_means(run: Recorded, owner: str, verdict: str) -> None:
    run.loader(method="spawn", error="AttributeError", text=f"Can't pickle local object '{owner}.<locals>.<lambda>'")
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == verdict


def test_a_local_collate_function_is_told_from_the_dataset(run: Recorded) -> None:
    text = "Can't pickle local object 'main.<locals>.collate'"
    run.loader(
        method="spawn", error="AttributeError", text=text, arguments={"collate_fn": "__main__.main.<locals>.collate"}
    )
    assert run.judged(run.finding("DLL204"))[0] == "confirmed"
    assert run.judged(run.about_loader("DLL202"))[0] == "inconclusive"


def test_the_counting_pickler_speaks_where_nothing_was_tried(run: Recorded) -> None:
    run.loader().add(Storages, loader="70.1", exception="AttributeError", text=LAMBDA)
    assert run.judged(run.about_loader("DLL201"))[0] == "latent"


@pytest.mark.parametrize("code", ["DLL201", "DLL202", "DLL203", "DLL204", "DLL206"])
def test_trials_that_start_refute(run: Recorded, code: str) -> None:
    run.loader().add(Trial, loader="70.1", method="forkserver", outcome="started")
    assert run.judged(run.about_loader(code)) == ("refuted", "the workers started by forkserver and sent batches")


def test_nothing_tried_is_inconclusive(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.about_loader("DLL201"))[0] == "inconclusive"


def test_an_item_that_cannot_be_sent(run: Recorded) -> None:
    run.loader().add(Feeder, 80, exception="AttributeError", text=LAMBDA)
    verdict, evidence = run.judged(run.about_loader("DLL205"))
    assert (verdict, evidence) == ("confirmed", f"worker 80 could not send an item: AttributeError: {LAMBDA}")


def test_items_that_came(run: Recorded) -> None:
    run.loader().add(Epoch, loader="70.1", batches=4)
    assert run.judged(run.about_loader("DLL205")) == ("refuted", "the workers sent 4 batches")


def test_an_exception_that_was_not_raised_may_be_another_time(run: Recorded) -> None:
    run.loader().add(Epoch, loader="70.1", batches=4)
    assert run.judged(run.about_loader("DLL205", text="__getitem__ raises a local class"))[0] == "inconclusive"


def test_a_tensor_made_while_pickling(run: Recorded) -> None:
    run.loader().add(Storages, loader="70.1", temporary=1)
    assert run.judged(run.about_loader("DLL206"))[0] == "latent"
    assert run.discovered() == [("DLL206", "latent", 13)]


def test_a_worker_that_dies_in_a_trial(run: Recorded) -> None:
    run.loader().add(
        Trial, loader="70.1", method="spawn", outcome="failed", stage="crash", exception="RuntimeError", text=FEW
    )
    assert run.judged(run.about_loader("DLL206"))[0] == "latent"
    assert run.discovered() == []


def test_a_generator_that_an_older_torch_refuses(run: Recorded) -> None:
    text = "cannot pickle 'torch._C.Generator' object"
    run.loader().add(
        Trial, loader="70.1", method="spawn", outcome="failed", stage="pickle", exception="TypeError", text=text
    )
    assert run.judged(run.about_loader("DLL206"))[0] == "latent"


def test_a_generator_that_stops_the_count(run: Recorded) -> None:
    text = "cannot pickle 'torch._C.Generator' object"
    run.loader().add(Storages, loader="70.1", exception="TypeError", text=text, complete=False)
    assert run.judged(run.about_loader("DLL206"))[0] == "latent"


def test_a_lambda_for_a_pool(run: Recorded) -> None:
    site = Site(run.path, 14, 5, 14, 30)
    run.add(End, exit=1, exception="PicklingError", text="Can't pickle <function <lambda>>", site=site, frames=(site,))
    assert run.judged(run.finding("DLL207", run.loop_span))[0] == "confirmed"


# DLL3 and DLL4


def storages(run: Recorded, count: int, method: str = "fork", pid: int = 70, **values: object) -> Recorded:
    run.loader(method=method, pid=pid)
    run.add(Storages, loader="70.1", strategy="file_descriptor", storages=count, fds=count, maps=count, **values)
    return run.add(Limits, loader="70.1", values={"nofile": 1024, "fds": 14, "max_map_count": 65530, "maps": 466})


@pytest.mark.parametrize(
    ("count", "verdict"),
    [(300, "latent"), (196, "latent"), (195, "inconclusive"), (123, "inconclusive"), (122, "refuted")],
)
def test_storages_against_the_tightest_limit(run: Recorded, count: int, verdict: str) -> None:
    storages(run, count)
    told, evidence = run.judged(run.about_loader("DLL303"))
    assert (told, evidence.split(" (")[0]) == (verdict, f"{count} storages of at most 245")


@pytest.mark.parametrize(
    ("message", "count", "verdict"),
    [
        ("counted", 61, "inconclusive"),
        ("many", 61, "inconclusive"),
        ("many", 1, "refuted"),
        ("forkserver", 61, "refuted"),
    ],
)
def test_few_storages_do_not_refute_what_each_of_them_costs(
    run: Recorded, message: str, count: int, verdict: str
) -> None:
    storages(run, count)
    assert run.judged(run.about_loader("DLL303", message=message))[0] == verdict


def test_storages_that_the_run_itself_sent(run: Recorded) -> None:
    storages(run, 196, method="forkserver")
    verdict, evidence = run.judged(run.about_loader("DLL303"))
    assert (verdict, evidence.partition(" (")[0]) == ("confirmed", "196 storages of at most 245")


def test_storages_that_a_target_would_send(run: Recorded) -> None:
    """Forked workers are sent nothing, so that this run showed no harm."""
    storages(run, 300).add(Trial, loader="70.1", method="forkserver", outcome="failed", exception="ValueError")
    _, evidence = run.judged(run.about_loader("DLL303"))
    assert "forkserver" in evidence.partition("\n")[0]
    assert "a trial under forkserver failed" in evidence
    assert "harmless under fork, which this run used" in evidence


def test_storages_under_spawn(run: Recorded) -> None:
    storages(run, 900, method="spawn")
    verdict, evidence = run.judged(run.about_loader("DLL303"), allowed=FORK_ONLY)
    assert (verdict, evidence) == ("confirmed", "900 storages of at most 995 (spawn: RLIMIT_NOFILE)")


def test_storages_of_forked_workers_alone(run: Recorded) -> None:
    storages(run, 5000)
    assert run.judged(run.about_loader("DLL303"), allowed=FORK_ONLY)[0] == "refuted"


def test_storages_found_by_the_run_alone(run: Recorded) -> None:
    assert storages(run, 300).discovered() == [("DLL303", "latent", 13)]


def test_descriptors_that_a_forkserver_carries_besides(run: Recorded) -> None:
    storages(run, 196, other_fds=20)
    assert "of at most 225" in run.judged(run.about_loader("DLL303"))[1]


def test_an_array_under_spawn(run: Recorded) -> None:
    run.loader(method="spawn").add(Storages, loader="70.1", arrays=1, array_bytes=128 * MIB)
    assert run.judged(run.about_loader("DLL301")) == (
        "confirmed",
        "each of 2 workers started by spawn got a copy of 128 MiB, 256 MiB in total",
    )
    assert run.judged(run.about_loader("DLL404"))[0] == "confirmed"


@pytest.mark.parametrize(
    ("mib", "verdict"), [(128, "latent"), (103, "latent"), (100, "inconclusive"), (60, "refuted"), (1, "refuted")]
)
def test_an_array_of_forked_workers(run: Recorded, mib: int, verdict: str) -> None:
    run.loader().add(Storages, loader="70.1", arrays=1, array_bytes=mib * MIB)
    assert run.judged(run.about_loader("DLL301"))[0] == verdict
    assert run.judged(run.about_loader("DLL301"), allowed=FORK_ONLY)[0] == "refuted"


def test_a_mapping_that_is_read_into_the_pickle(run: Recorded) -> None:
    run.loader().add(Storages, loader="70.1", arrays=1, array_bytes=32 * MIB)
    assert run.judged(run.about_loader("DLL404"))[0] == "latent"


def test_a_mapping_that_stays_outside_of_the_pickle(run: Recorded) -> None:
    run.loader().add(Storages, loader="70.1", array_bytes=800)
    assert run.judged(run.about_loader("DLL404"))[0] == "refuted"


def test_a_small_mapping_is_copied_all_the_same(run: Recorded) -> None:
    run.loader(method="spawn").add(Storages, loader="70.1", arrays=1, array_bytes=1_000_000)
    assert run.judged(run.about_loader("DLL404"))[0] == "inconclusive"


def test_copy_on_write(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 53), pss_file=(9, 9), rss=(200, 201))
    verdict, evidence = run.judged(run.about_loader("DLL302"))
    assert verdict == "confirmed"
    assert "a worker's own memory grew by 48 MiB" in evidence
    assert run.judged(run.about_loader("DLL304"))[0] == "inconclusive"
    assert run.discovered() == [("DLL302", "confirmed", 13)]


def held(*sizes: float) -> list[dict[str, float]]:
    """Workers that allocate: what they hold after 1, 2, 4, 8, … batches, in MiB."""
    return [{"pss_anon": size, "rss": 200 + size} for size in sizes]


def test_memory_that_rises_once_and_stays_is_the_allocator(run: Recorded) -> None:
    run.loader().grown(pss_anon=(100, 140), rss=(200, 240))
    run.records = [one for one in run.records if not (isinstance(one, Sample) and one.moment == "trend")]
    run.trend(*held(100, 138, 140, 139, 140))
    verdict, evidence = run.judged(run.about_loader("DLL304"))
    assert verdict == "inconclusive" and "stops growing" in evidence
    assert run.judged(run.about_loader("DLL302"))[0] == "inconclusive"
    assert run.discovered() == []


def test_memory_that_falls_is_no_evidence(run: Recorded) -> None:
    run.loader().trend(*held(100, 110, 140, 60))
    verdict, evidence = run.judged(run.about_loader("DLL304"))
    assert verdict == "inconclusive" and "-" not in evidence
    assert run.discovered() == []


def test_one_worker_that_grows_alone_is_no_trend(run: Recorded) -> None:
    run.loader().trend(*held(100, 110, 130, 170), workers=(0,)).trend(*held(100, 100, 101, 100), workers=(1,))
    verdict, evidence = run.judged(run.about_loader("DLL304"))
    assert verdict == "inconclusive" and "1 of 2 workers" in evidence
    assert run.discovered() == []


def test_a_cache_that_is_full_after_its_first_epoch_was_a_trend(run: Recorded) -> None:
    run.loader().trend(*held(100, 102, 106, 114, 130, 130))
    assert run.judged(run.about_loader("DLL304"))[0] == "confirmed"


@pytest.mark.parametrize("cut", [True, False])
def test_two_looks_are_no_trend(run: Recorded, cut: bool) -> None:
    """More batches are advised only where there would have been more: the data may end there, or the program fail."""
    run.loader().trend(*held(100, 150)).add(Epoch, loader="70.1", batches=4, cut=cut)
    verdict, evidence = run.judged(run.about_loader("DLL304"))
    assert (verdict, "--max-batches" in evidence) == ("inconclusive", cut)


def test_below_ten_mib_nothing_is_confirmed(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 12), pss_file=(9, 9), rss=(200, 207))
    assert run.judged(run.about_loader("DLL302"))[0] == "inconclusive"
    assert run.judged(run.about_loader("DLL304"))[0] == "inconclusive"
    assert run.discovered() == []


def test_a_small_list(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 6), rss=(200, 201)).add(Storages, loader="70.1", pickled=2 * MIB)
    assert run.judged(run.about_loader("DLL302"))[0] == "refuted"


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_cache_in_workers(run: Recorded, method: str) -> None:
    run.loader(method=method).grown(pss_anon=(100, 140), rss=(200, 240))
    assert run.judged(run.about_loader("DLL302"))[0] == "inconclusive"
    assert run.judged(run.about_loader("DLL304"))[0] == "confirmed"
    assert run.discovered() == [("DLL304", "confirmed", 13)]


def test_mapped_pages_are_accounting(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 6), pss_file=(40, 90), rss=(250, 420), pss=(50, 100))
    verdict, evidence = run.judged(run.finding("DLL401"))
    assert (verdict, evidence) == (
        "confirmed",
        "RSS of 2 workers 500 MiB → 840 MiB, PSS 100 MiB → 200 MiB, their own memory +2.0 MiB: accounting, not a leak",
    )
    assert run.discovered() == [("DLL401", "confirmed", 13)]


def test_mapped_pages_of_workers_that_start_again_in_every_epoch(run: Recorded) -> None:
    """The loader does already what the help advises."""
    run.loader().grown(pss_anon=(5, 6), pss_file=(40, 90), rss=(250, 420), pss=(50, 100))
    run.add(Iteration, loader="70.1", number=1, method="fork", workers=2)
    assert run.judged(run.finding("DLL401")) == (
        "inconclusive",
        "its workers were restarted in this run, which resets RSS",
    )
    assert run.discovered() == []


def test_mapped_pages_of_workers_that_live_on(run: Recorded) -> None:
    run.loader(persistent=True).grown(pss_anon=(5, 6), pss_file=(40, 90), rss=(250, 420), pss=(50, 100))
    run.add(Iteration, loader="70.1", number=1, method="fork", workers=2, persistent=True, fresh=False)
    assert run.judged(run.finding("DLL401"))[0] == "confirmed"


def test_a_few_mapped_pages_per_worker_are_too_little(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 6), pss_file=(40, 48), rss=(250, 259), pss=(50, 59))
    assert run.judged(run.finding("DLL401"))[0] == "inconclusive"


def test_growth_of_their_own_is_no_accounting(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 105), pss_file=(40, 40), rss=(250, 350), pss=(50, 150))
    assert run.judged(run.finding("DLL401"))[0] == "inconclusive"


def test_kept_batches(run: Recorded) -> None:
    """A loop that kept its batches until it failed, with this limit and three tensors per batch, had 165 of them."""
    run.loader().add(Limits, loader="70.1", values={"nofile": 512, "fds": 6})
    run.add(Batch, loader="70.1", storages=3)
    run.add(Iteration, loader="70.1", site=Site(run.path, *run.loop_span), workers=2, method="fork")
    run.add(Kept, loader="70.1", batches=16, fds_a_batch=2.7, maps_a_batch=3.0)
    verdict, evidence = run.judged(run.about_loader("DLL306"))
    assert verdict == "confirmed"
    assert evidence.endswith("the limit is 512, reached after about 165 batches")
    assert run.discovered() == [("DLL306", "confirmed", 14)]


@pytest.mark.parametrize(("batches", "verdict"), [(4, "inconclusive"), (16, "confirmed")])
def test_batches_made_ahead_are_not_kept(run: Recorded, batches: int, verdict: str) -> None:
    run.loader().add(Batch, loader="70.1", storages=2)
    run.add(Kept, loader="70.1", batches=batches, fds_a_batch=3.0, maps_a_batch=3.0)
    assert run.judged(run.about_loader("DLL306"))[0] == verdict


def test_no_more_is_gained_than_was_seen(run: Recorded) -> None:
    """The slope between the last two looks, taken over all batches, is more than there ever were."""
    run.loader(workers=8).add(Batch, loader="70.1", storages=2)
    run.add(Kept, loader="70.1", batches=16, fds_a_batch=2.0, maps_a_batch=3.0, gained=24)
    assert run.judged(run.about_loader("DLL306"))[0] == "inconclusive"


def test_batches_that_are_let_go(run: Recorded) -> None:
    run.loader().add(Kept, loader="70.1", batches=16, fds_a_batch=0.02)
    assert run.judged(run.about_loader("DLL306"))[0] == "refuted"


def test_pinned_batches_that_a_cycle_keeps_are_not_seen(run: Recorded) -> None:
    run.loader().add(Kept, loader="70.1", batches=16, fds_a_batch=0.02)
    about = replace(run.about_loader("DLL306"), message="repeats")
    assert run.judged(about)[0] == "inconclusive"


def test_files_that_the_loop_opens_are_no_batches(run: Recorded) -> None:
    run.loader().add(Kept, loader="70.1", batches=16, fds_a_batch=3.0, maps_a_batch=0.0)
    assert run.judged(run.about_loader("DLL306"))[0] == "refuted"


@pytest.mark.parametrize(
    ("mib", "verdict"), [(16, "confirmed"), (13, "confirmed"), (10, "inconclusive"), (1, "refuted")]
)
def test_a_row_that_takes_the_whole_tensor_along(run: Recorded, mib: int, verdict: str) -> None:
    run.loader().add(Storages, loader="70.1", storages=1, storage_bytes=16 * MIB)
    run.add(Batch, loader="70.1", storages=1, bytes=mib * MIB, shm=mib * MIB)
    assert run.judged(run.about_loader("DLL307"))[0] == verdict


@pytest.mark.parametrize(("mib", "verdict"), [(20, "confirmed"), (8, "refuted"), (0, "inconclusive")])
def test_batches_that_a_container_has_no_shared_memory_for(run: Recorded, mib: int, verdict: str) -> None:
    run.loader()
    if mib:
        run.add(Batch, loader="70.1", storages=1, bytes=mib * MIB, shm=mib * MIB)
    assert run.judged(run.about_loader("DLL311"))[0] == verdict


def test_an_epoch_has_fewer_batches_than_workers_prepare(run: Recorded) -> None:
    run.loader()
    run.add(Batch, loader="70.1", storages=1, bytes=20 * MIB, shm=20 * MIB)
    run.add(Epoch, loader="70.1", batches=2, natural=True)
    assert run.judged(run.about_loader("DLL311"))[0] == "refuted"


def test_a_handle_that_workers_move(run: Recorded) -> None:
    run.loader()
    run.add(Handle, 80, loader="70.1", worker=0, path="/data/records.bin", shared=True, used=True, moved=True)
    assert run.judged(run.about_loader("DLL402"))[0] == "confirmed"
    assert run.discovered() == [("DLL402", "confirmed", 13)]


def test_a_handle_that_is_read_by_position(run: Recorded) -> None:
    run.loader()
    run.add(
        Handle, 80, loader="70.1", worker=0, path="/data/a", shared=True, used=True, moved=False, attribute="self.file"
    )
    assert run.judged(run.about_loader("DLL402"))[0] == "refuted"
    assert run.discovered() == []


def test_a_handle_that_was_not_read_proves_nothing(run: Recorded) -> None:
    run.loader()
    run.add(
        Handle, 80, loader="70.1", worker=0, path="/data/a", shared=True, used=False, moved=False, attribute="self.file"
    )
    assert run.judged(run.about_loader("DLL402"))[0] == "inconclusive"


def test_the_file_of_a_store_is_not_read_by_its_offset(run: Recorded) -> None:
    run.loader()
    run.add(Handle, 80, loader="70.1", worker=0, path="/data/data.mdb", shared=True, used=True, moved=False)
    assert run.judged(run.about_loader("DLL402"))[0] == "inconclusive"


def test_a_log_file_that_workers_inherit(run: Recorded) -> None:
    run.loader()
    run.add(Handle, 80, loader="70.1", worker=0, path="/var/log/train.log", shared=True, used=False, moved=True)
    assert run.judged(run.about_loader("DLL402"))[0] == "inconclusive"
    assert run.discovered() == []


def test_handles_of_spawned_workers(run: Recorded) -> None:
    run.loader(method="spawn")
    assert run.judged(run.about_loader("DLL402"))[0] == "refuted"


# DLL5


@pytest.fixture
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 32)


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize(("after", "verdict"), [(35, "confirmed"), (4, "confirmed"), (3, "refuted"), (1, "refuted")])
def test_threads_less_the_workers_own(run: Recorded, after: int, verdict: str) -> None:
    run.loader(method="spawn").add(Threads, 80, loader="70.1", worker=0, start=1, after=after)
    assert run.judged(run.about_loader("DLL501"))[0] == verdict


@pytest.mark.usefixtures("many_cores")
def test_serial_forked_workers_refute_nothing(run: Recorded) -> None:
    run.loader().add(Threads, 80, loader="70.1", worker=0, start=1, after=3)
    assert run.judged(run.about_loader("DLL501"))[0] == "inconclusive"


def test_two_cores_show_no_pool(run: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    run.loader(method="spawn").add(Threads, 80, loader="70.1", worker=0, start=1, after=3)
    assert run.judged(run.about_loader("DLL501"))[0] == "inconclusive"


def test_threads_found_by_the_run_alone(run: Recorded) -> None:
    run.loader().add(Threads, 80, loader="70.1", worker=0, start=1, after=35)
    assert run.discovered() == []
    run.add(Threads, 80, loader="70.1", worker=0, start=1, after=35, libraries=("cv2",))
    assert run.discovered() == [("DLL501", "confirmed", 13)]
    assert run.discovered(run.about_loader("DLL503")) == []


# DLL6


def delivered(run: Recorded, *by_worker: str) -> Recorded:
    run.loader(iterable=True)
    for worker, items in enumerate(by_worker):
        for position, item in enumerate(items):
            run.add(Item, 80 + worker, loader="70.1", worker=worker, position=position, digest=item)
    return run


def test_items_from_every_worker(run: Recorded) -> None:
    delivered(run, "abcd", "abcd")
    assert run.judged(run.about_loader("DLL601")) == (
        "confirmed",
        "4 of 4 items came from more than one of 2 workers in epoch 0: 8 for 4",
    )
    assert run.discovered() == [("DLL601", "confirmed", 13)]


def test_items_that_are_split(run: Recorded) -> None:
    delivered(run, "abcd", "efgh")
    assert run.judged(run.about_loader("DLL601"))[0] == "refuted"
    assert run.discovered() == []


def test_equal_items_of_one_worker_are_its_data(run: Recorded) -> None:
    delivered(run, "aaaa", "bb")
    assert run.judged(run.about_loader("DLL601"))[0] == "refuted"


def test_items_that_are_much_alike_tell_nothing(run: Recorded) -> None:
    """Labels: two workers that share the data both deliver zeros and ones."""
    delivered(run, "010011", "110010")
    assert run.judged(run.about_loader("DLL601"))[0] == "inconclusive"
    assert run.discovered() == []


def test_a_few_items_that_are_equal_by_chance(run: Recorded) -> None:
    delivered(run, "abcdef", "ghiajk")
    assert run.judged(run.about_loader("DLL601"))[0] == "refuted"


def test_one_worker_has_no_one_to_share_with(run: Recorded) -> None:
    run.loader(workers=1, iterable=True)
    assert run.judged(run.about_loader("DLL601"))[0] == "not reached"


def drawn(run: Recorded, *epochs: tuple[str, str], source: str = "self.rng") -> Recorded:
    run.loader()
    for epoch, by_worker in enumerate(epochs):
        for worker, digests in enumerate(by_worker):
            for index, digest in enumerate(digests):
                values = {"epoch": epoch, "worker": worker, "index": str(index), "source": source}
                # A capital is a state that was the same before, and is not after.
                values |= {"digest": digest.lower(), "after": f"{digest}{worker if digest.isupper() else ''}"}
                run.add(Draw, 80 + worker, loader="70.1", **values)
    return run


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_draws_that_workers_share(run: Recorded, code: str) -> None:
    drawn(run, ("abcd", "abcd"))
    assert run.judged(run.about_loader(code)) == ("confirmed", "4 of 8 draws from self.rng are distinct in 2 workers")


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_draws_that_epochs_share(run: Recorded, code: str) -> None:
    drawn(run, ("ab", "cd"), ("ab", "cd"))
    assert run.judged(run.about_loader(code)) == ("confirmed", "self.rng made the same 4 draws in every epoch")


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_a_generator_that_each_worker_seeds_anew(run: Recorded, code: str) -> None:
    """The state that it came with is the same in all; what is drawn is not."""
    drawn(run, ("ABC", "ABC"))
    evidence = "workers started with the same state, and later drew different numbers"
    assert run.judged(run.about_loader(code)) == ("inconclusive", evidence)
    assert run.discovered() == []


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_one_equal_draw_is_too_few(run: Recorded, code: str) -> None:
    """So does a dataset that makes the same table in each worker."""
    drawn(run, ("a", "a"))
    assert run.judged(run.about_loader(code)) == (
        "inconclusive",
        "workers drew the same numbers once, which is too few to tell",
    )


def ranks(run: Recorded, source: str, of_first: tuple[str, str], of_second: tuple[str, str]) -> Recorded:
    """What the workers of two processes drew."""
    for pid, by_worker in ((70, of_first), (75, of_second)):
        name = f"{pid}.1"
        run.add(Process, pid, role="child")
        run.add(Loader, pid, loader=name, site=run.site, workers=2, dataset="__main__.Records")
        run.add(Iteration, pid, loader=name, method="fork", workers=2)
        for worker, digests in enumerate(by_worker):
            for one in digests:
                values = {"loader": name, "worker": worker, "source": source, "digest": one, "after": one}
                run.add(Draw, pid + 5 + worker, **values)
    return run


@pytest.mark.parametrize(
    ("code", "source", "of_first", "of_second", "verdict"),
    [
        ("DLL602", "self.rng", ("ab", "cd"), ("ab", "cd"), "confirmed"),
        ("DLL603", "numpy.random", ("ab", "cd"), ("cd", "ef"), "confirmed"),
        # Ranks that are seeded alike: DataLoader seeds its workers by their number.
        ("DLL603", "numpy.random", ("ab", "cd"), ("ab", "cd"), "refuted"),
        ("DLL602", "self.rng", ("ab", "cd"), ("ef", "gh"), "refuted"),
    ],
)
def test_draws_that_ranks_share(
    run: Recorded, code: str, source: str, of_first: tuple[str, str], of_second: tuple[str, str], verdict: str
) -> None:
    ranks(run, source, of_first, of_second)
    assert run.judged(run.about_loader(code))[0] == verdict
    assert run.discovered() == []


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_an_iterator_that_is_left_at_once_hides_no_repeats(run: Recorded, code: str) -> None:
    drawn(run, ("ab", ""), ("abcd", "abcd"))
    assert run.judged(run.about_loader(code))[0] == "confirmed"


@pytest.mark.parametrize("code", ["DLL602", "DLL603"])
def test_draws_that_differ(run: Recorded, code: str) -> None:
    drawn(run, ("ab", "cd"), ("ef", "gh"))
    assert run.judged(run.about_loader(code))[0] == "refuted"


@pytest.mark.parametrize(("source", "code"), [("self.rng", "DLL602"), ("numpy.random", "DLL603")])
def test_draws_found_by_the_run_alone(run: Recorded, source: str, code: str) -> None:
    assert drawn(run, ("ab", "ab"), source=source).discovered() == [(code, "confirmed", 13)]


def test_an_iterator_a_step(run: Recorded) -> None:
    run.loader()
    for number in range(4):
        run.add(Iteration, loader="70.1", number=number, workers=2, method="fork")
        run.add(Epoch, loader="70.1", number=number, batches=1, total=8, first=0.04)
    assert run.judged(run.finding("DLL604")) == ("confirmed", "4 iterators delivered at most one batch, 40 ms each")
    assert run.discovered() == [("DLL604", "confirmed", 13)]


def test_epochs_of_one_batch_are_epochs(run: Recorded) -> None:
    run.loader()
    for number in range(4):
        run.add(Iteration, loader="70.1", number=number, workers=2, method="fork")
        run.add(Epoch, loader="70.1", number=number, batches=1, total=1, natural=True)
    assert run.judged(run.finding("DLL604"))[0] == "refuted"


def test_epochs_that_the_run_cut_to_a_batch_are_epochs(run: Recorded) -> None:
    run.loader()
    for number in range(8):
        run.add(Iteration, loader="70.1", number=number, workers=2, method="fork")
        run.add(Epoch, loader="70.1", number=number, batches=1, total=2, cut=True)
    assert run.judged(run.finding("DLL604"))[0] == "refuted"
    assert run.discovered() == []


def test_an_option_that_is_refused(run: Recorded) -> None:
    text = "ValueError: persistent_workers option needs num_workers > 0"
    run.add(Loader, loader="70.1", site=run.site, error=text)
    assert run.judged(run.finding("DLL605")) == ("confirmed", f"the constructor raised {text}")


def test_an_option_that_had_workers_this_time(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.finding("DLL605")) == ("not reached", "its loader ran with 2 workers here")


def test_an_option_that_is_accepted(run: Recorded) -> None:
    run.loader(workers=0)
    assert run.judged(run.finding("DLL605"))[0] == "refuted"


def test_workers_that_start_anew_see_changes(run: Recorded) -> None:
    run.loader()
    assert run.judged(run.about_loader("DLL606"))[0] == "refuted"


def lasting(run: Recorded, given: str, held: str) -> Recorded:
    """Persistent workers, and what an attribute of the dataset was in each epoch: where it is set, and in a worker."""
    run.loader(persistent=True)
    for epoch, value in enumerate(given):
        if epoch:
            run.add(Iteration, loader="70.1", number=epoch, workers=2, method="fork", persistent=True, fresh=False)
        run.add(Attributes, loader="70.1", epoch=epoch, values={"inner.epoch": value, "other": "7"})
    for epoch, value in enumerate(held):
        run.add(Attributes, 80, loader="70.1", epoch=epoch, worker=0, values={"inner.epoch": value, "other": "7"})
    return run


@pytest.mark.parametrize(
    ("given", "held", "verdict", "words"),
    [
        ("012", "000", "confirmed", "`epoch` was 0, 1, 2 in the process that iterates, and 0, 0, 0 in worker 0"),
        ("012", "012", "refuted", "`epoch` was 0, 1, 2 in the workers as well"),
        ("888", "888", "inconclusive", "did not see `epoch` change"),
        ("012", "", "inconclusive", "did not see `epoch` change"),
        ("0", "0", "inconclusive", "the run had one epoch only"),
    ],
)
def test_workers_that_live_on(run: Recorded, given: str, held: str, verdict: str, words: str) -> None:
    told = lasting(run, given, held).judged(run.about_loader("DLL606", values={"attr": "epoch"}))
    assert told[0] == verdict and words in told[1]


def test_an_epoch_that_is_cut_short(run: Recorded) -> None:
    run.loader().add(Epoch, loader="70.1", batches=3, total=8, natural=True)
    evidence = "epoch 0 ended without an error after 3 of 8 batches"
    assert run.judged(run.about_loader("DLL607")) == ("confirmed", evidence)
    assert run.discovered() == [("DLL607", "confirmed", 13)]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"batches": 8, "natural": True}, "refuted"),
        ({"batches": 3, "cut": True}, "inconclusive"),
        ({"batches": 3}, "inconclusive"),
    ],
)
def test_epochs_that_end_otherwise(run: Recorded, values: dict[str, object], verdict: str) -> None:
    run.loader().add(Epoch, loader="70.1", total=8, **values)
    assert run.judged(run.about_loader("DLL607"))[0] == verdict
    assert run.discovered() == []


def test_a_member_that_is_not_there(run: Recorded) -> None:
    site = Site(run.path, 14, 5, 14, 30)
    text = "'function' object has no attribute 'Empty'"
    run.add(End, exit=1, exception="AttributeError", text=text, site=site, frames=(site,))
    assert run.judged(run.finding("DLL608", run.loop_span)) == ("confirmed", f"AttributeError: {text}")


@pytest.mark.parametrize(("method", "verdict"), [("spawn", "inconclusive"), ("fork", "refuted")])
def test_a_process_that_is_sent_much(run: Recorded, method: str, verdict: str) -> None:
    run.add(Launch, api="Process", site=Site(run.path, *run.loop_span), method=method, child=90, seconds=1.5)
    assert run.judged(run.finding("DLL305", run.loop_span))[0] == verdict


@pytest.mark.parametrize(
    ("line", "verdict"), [(12, "not reached"), (13, "inconclusive"), (15, "inconclusive"), (18, "not reached")]
)
def test_a_process_starts_further_down_in_the_same_function(run: Recorded, line: int, verdict: str) -> None:
    run.add(Launch, api="Process", site=Site(run.path, line, 5, line, 20), method="spawn", child=90)
    assert run.judged(run.finding("DLL305"))[0] == verdict


def test_shares_that_rise_when_another_process_ends_are_no_growth(run: Recorded) -> None:
    run.loader().grown(pss_anon=(24, 47), uss=(9, 9), pss_file=(9, 12), rss=(200, 200))
    assert run.judged(run.about_loader("DLL302"))[0] == "inconclusive"
    assert run.discovered() == []


def test_mapped_files_of_one_worker_alone_are_no_growth_of_its_own(run: Recorded) -> None:
    run.loader().grown(pss_anon=(5, 6), uss=(9, 110), pss_file=(9, 110), rss=(200, 301))
    assert run.judged(run.about_loader("DLL304"))[0] == "inconclusive"


# Loaders whose start method is given


@pytest.mark.parametrize("code", ["DLL201", "DLL203", "DLL206", "DLL301", "DLL303", "DLL404"])
def test_defaults_of_the_targets_do_not_concern_a_loader_with_a_context(run: Recorded, code: str) -> None:
    run.loader(given="fork")
    run.add(Storages, loader="70.1", exception="TypeError", text=LOCK, storages=300, array_bytes=300 * MIB, temporary=1)
    run.add(Trial, loader="70.1", method="forkserver", outcome="failed", stage="iter", exception="TypeError", text=LOCK)
    assert run.judged(run.about_loader(code))[0] in ("refuted", "inconclusive")
    assert run.discovered() == []


def test_a_trial_that_was_asked_for_counts_all_the_same(run: Recorded) -> None:
    run.loader(given="fork")
    run.add(Trial, loader="70.1", method="spawn", outcome="failed", stage="iter", exception="TypeError", text=LOCK)
    assert run.judged(run.about_loader("DLL203"))[0] == "latent"


def test_a_launcher_gives_the_method_too(run: Recorded) -> None:
    run.add(Process, 75, role="child", start_method="spawn")
    storages(run, 300, method="spawn", pid=75)
    assert "RLIMIT_NOFILE" in run.judged(run.about_loader("DLL303"))[1]


# Words


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("too many fds", "ValueError: too many fds"),
        ("", "ValueError"),
        ("\n  An attempt\n  has been made.\n\n  This means", "ValueError: An attempt has been made."),
        ("Caught it.\nOriginal Traceback (most recent call last):\n  File\nValueError: 3\n", "ValueError: 3"),
        ("-- Process 0:\nTraceback (most recent call last):\n  File\nOSError: 3\n", "ValueError: OSError: 3"),
        ("\n-----\nTraceback (most recent call last):\n  File\nTypeError: 3\n-----", "TypeError: 3"),
        ("x" * 500, f"ValueError: {'x' * 197}..."),
        (CUDA_FAILURE.format("ValueError"), "ValueError: CUDA error: initialization error"),
        (
            'It.\nTraceback (most recent call last):\n  File "a", line 1\n    x\nWords to: it\nValueError: 3',
            "ValueError: 3",
        ),
    ],
)
def test_an_exception_is_told_in_a_line(text: str, told: str) -> None:
    assert said("builtins.ValueError", text) == told


def test_workers_that_never_came_were_not_started(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LAMBDA)
    verdict, evidence = run.judged(run.finding("DLL101"))
    assert verdict == "confirmed"
    assert "none did" in evidence and "started by" not in evidence


def test_a_worker_without_descriptors_sent_nothing_that_cannot_be_pickled(run: Recorded) -> None:
    run.loader().add(Feeder, 80, exception="OSError", text="[Errno 24] Too many open files")
    assert run.judged(run.about_loader("DLL205"))[0] == "inconclusive"
    assert run.discovered() == []
    said = run.confirm(run.about_loader("DLL205"), run.about_loader("DLL306"), hung=True)
    assert said.death is not None and said.death.finding.code == "DLL306"


def test_workers_of_which_not_all_started(run: Recorded) -> None:
    run.loader("spawn", error="AttributeError", text=LAMBDA).add(Worker, 80, loader="70.1", worker=0, workers=2)
    verdict, evidence = run.judged(run.finding("DLL101"))
    assert verdict == "confirmed"
    assert evidence.startswith("1 of 2 workers started by spawn, and no batch came: AttributeError: Can't pickle")
