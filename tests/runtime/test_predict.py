"""What is said of storages, shared memory and memory, from records."""

from __future__ import annotations

from typing import Any

import pytest

from dllint.evidence.loader_runs import LoaderRun
from dllint.evidence.storage_limits import Wall, walls
from dllint.observation import Batch, Epoch, Iteration, Loader, Sample, Storages
from dllint.observation import Limits as Room
from dllint.run_report import Prediction
from dllint.runtime.limits import Cgroup, Limits, Slurm
from dllint.runtime.predict import forecast, predictions, size

MIB, GIB = 1 << 20, 1 << 30
ROOM = {"nofile": 1024, "fds": 3, "max_map_count": 65530, "maps": 400, "shm_free": 8 * GIB}


def loader(method: str = "fork", workers: int = 2, **more: Any) -> LoaderRun:
    run = LoaderRun(Loader(1, 0.0, "1.1", workers=workers), limits=Room(1, 0.0, "1.1", ROOM))
    run.iterations.append(Iteration(1, 0.0, "1.1", method=method, workers=workers, persistent=True))
    for name, value in more.items():
        setattr(run, name, value)
    return run


def holding(count: int, **more: Any) -> Storages:
    return Storages(
        1,
        0.0,
        "1.1",
        "file_descriptor",
        storages=count,
        references=count,
        fds=count,
        maps=count,
        shm=4096 * count,
        **more,
    )


def of(limit: str, found: tuple[Prediction, ...], method: str = "") -> Prediction:
    return next(one for one in found if one.limit == limit and one.method == method)


# --- Storages


@pytest.mark.parametrize(("workers", "most"), [(1, 1010), (2, 1006), (4, 998), (8, 982)])
def test_open_files(workers: int, most: int) -> None:
    bounds = walls(holding(1), "spawn", "file_descriptor", workers=workers, nofile=1024, fds=3)
    assert bounds == [Wall("RLIMIT_NOFILE", most, 3 * workers)]


def test_forkserver_is_bounded_by_one_message() -> None:
    found = predictions(loader("forkserver", storages=holding(300)), Limits(), ["forkserver"])
    said = of("SCM_MAX_FD", found, "forkserver")
    assert said.message == "forkserver with file_descriptor fails at 246 tensors; you have 300"
    assert (said.fails, said.need, said.available, said.unit) == (True, 300, 245, "storages")


def test_245_still_start() -> None:
    found = predictions(loader("forkserver", storages=holding(245)), Limits(), ["forkserver"])
    assert not of("SCM_MAX_FD", found, "forkserver").fails


def test_what_targets_allow_is_said_of_a_run_by_fork() -> None:
    found = predictions(loader("fork", storages=holding(300)), Limits(), ["fork", "forkserver"])
    assert of("SCM_MAX_FD", found, "forkserver").fails
    assert not [one for one in found if one.method == "fork"]


def test_the_other_strategy_is_named_where_this_one_is_at_its_end() -> None:
    found = predictions(loader("spawn", storages=holding(2000)), Limits(), [])
    assert of("RLIMIT_NOFILE", found, "spawn").fails
    assert of("vm.max_map_count", found, "spawn").message.startswith("spawn with file_system fails at 65,067 tensors")
    few = predictions(loader("spawn", storages=holding(10)), Limits(), [])
    assert [one.limit for one in few if one.unit == "storages"] == ["RLIMIT_NOFILE"]


def test_near_the_limit_chance_decides() -> None:
    found = predictions(loader("spawn", storages=holding(1003)), Limits(), [])
    said = of("RLIMIT_NOFILE", found, "spawn")
    assert not said.fails
    assert "by chance" in said.message


def test_empty_storages_take_no_descriptor_but_a_map() -> None:
    empty = holding(300, empty=300)
    found = predictions(loader("forkserver", storages=empty), Limits(), ["forkserver"])
    assert max(one.need or 0 for one in found if one.unit == "storages") == 0


def test_shared_storages_count_in_the_message_only() -> None:
    shared = holding(300, shared=300)
    assert of("SCM_MAX_FD", predictions(loader("forkserver", storages=shared), Limits(), []), "forkserver").need == 300
    spawned = predictions(loader("spawn", storages=shared), Limits(), [])
    assert {one.need for one in spawned if one.unit == "storages"} == {0}


def test_nothing_is_said_of_what_was_not_counted() -> None:
    failed = Storages(1, 0.0, "1.1", exception="TypeError", text="cannot pickle", complete=False)
    assert predictions(loader("spawn", storages=failed), Limits(), []) == ()
    assert predictions(loader("spawn", workers=0, storages=holding(300)), Limits(), []) == ()


# --- Shared memory


def test_prefetched_batches() -> None:
    batch = Batch(1, 0.0, "1.1", storages=1, bytes=16 * MIB, shm=16 * MIB)
    run = loader("fork", workers=2, first_batch=batch)
    assert of("/dev/shm", predictions(run, Limits(), [])).need == 96 * MIB
    run.loader.arguments["prefetch_factor"] = 8
    assert of("/dev/shm", predictions(run, Limits(), [])).need == 288 * MIB
    assert of("/dev/shm", predictions(run, Limits(), [], workers=4)).need == (4 * 8 + 2) * 16 * MIB


def test_a_small_dev_shm() -> None:
    run = loader("spawn", storages=holding(100_000))
    run.limits = Room(1, 0.0, "1.1", {**ROOM, "shm_free": 64 * MIB})
    assert of("/dev/shm", predictions(run, Limits(), []), "spawn").fails


# --- Memory


def sampled(pids: dict[int, list[dict[str, int]]], batches: int = 100, **more: Any) -> LoaderRun:
    """A run of one epoch less than there are samples; the first is that of the first batch."""
    run = loader(workers=len(pids), **more)
    for worker, (pid, samples) in enumerate(pids.items()):
        for number, values in enumerate(samples):
            moment = "epoch end" if number else "first batch"
            run.samples.append(Sample(pid, float(number), moment, "1.1", max(number - 1, 0), worker, **values))
    for number in range(len(next(iter(pids.values()))) - 1):
        run.epochs.append(Epoch(1, float(number), "1.1", number, batches, total=batches))
    return run


def store(rss: int) -> dict[str, int]:
    """Of a worker that reads a mapped store of 1 GiB, by the RSS that it has come to."""
    return {
        "rss": rss * MIB,
        "pss": 300 * MIB,
        "uss": 10 * MIB,
        "pss_anon": 50 * MIB,
        "pss_file": 250 * MIB,
        "shm": 0,
        "mapped_files": GIB,
    }


def test_a_mapped_store_grows_in_summed_rss_alone() -> None:
    pids = {10 + worker: [store(300), store(500), store(700), store(800)] for worker in range(4)}
    found = forecast(sampled(pids), epochs=50)
    assert found is not None
    assert (found.private, found.private_end) == (200 * MIB, 200 * MIB)
    assert found.rss == 3200 * MIB
    # No more than the store once a worker, whatever the number of epochs.
    assert found.rss < found.rss_end <= 3200 * MIB + 4 * GIB

    job = Limits(memory_total=64 * GIB, slurm=Slurm("7", 4 * GIB, 8, "jobacct_gather/linux", True))
    summed = of("memory (summed RSS)", predictions(sampled(pids), job, [], epochs=50))
    assert summed.fails
    assert "no leak" in summed.message
    assert not of("memory", predictions(sampled(pids), job, [], epochs=50)).fails


def test_a_scheduler_that_counts_shares_does_not_kill() -> None:
    pids = {10 + worker: [store(300), store(900), store(1000)] for worker in range(4)}
    job = Limits(slurm=Slurm("7", 2 * GIB, 8, "jobacct_gather/linux with UsePss", True))
    assert not of("memory (summed RSS)", predictions(sampled(pids), job, [], epochs=50)).fails


def growing(anon: int) -> dict[str, int]:
    return {"rss": anon * MIB, "pss": anon * MIB, "uss": anon * MIB, "pss_anon": anon * MIB, "pss_file": 0, "shm": 0}


def test_private_growth_goes_on_over_the_epochs() -> None:
    pids = {10: [growing(100), growing(200), growing(300)]}
    run = sampled(pids)
    run.iterations[0] = Iteration(1, 0.0, "1.1", method="spawn", workers=1, persistent=True)
    found = forecast(run, epochs=20)
    assert found is not None
    # 200 MiB in 199 batches, 1,800 to go.
    assert found.private_end == pytest.approx(300 * MIB + 200 * MIB * 1800 / 199, rel=0.01)
    bounded = Limits(memory_total=64 * GIB, cgroup=Cgroup(2, GIB))
    said = of("memory", predictions(run, bounded, [], epochs=20))
    assert said.fails
    assert "the control group allows 1.0 GiB" in said.message


def test_growth_that_has_stopped_is_not_taken_on() -> None:
    """What workers hold after 1, 2, 4, … batches shows it: an allocator's first steps say nothing of later batches."""
    run = sampled({10: [growing(100), growing(180), growing(180)]})
    for number, anon in enumerate((100, 180, 180, 180, 180)):
        run.samples.append(Sample(10, 5.0, "trend", "1.1", worker=0, batches=1 << number, **growing(anon)))
    found = forecast(run, epochs=1000)
    assert found is not None
    assert (found.private, found.private_end) == (180 * MIB, 180 * MIB)


def test_ranks_use_memory_at_the_same_time() -> None:
    batch = Batch(1, 0.0, "1.1", storages=1, bytes=MIB, shm=MIB)
    one, other = (sampled({pid: [growing(100), growing(100)]}, first_batch=batch) for pid in (10, 11))
    found = predictions(one, Limits(memory_total=GIB), [], ranks=(other,))
    memory = of("memory", found)
    assert (memory.need, "with 2 workers in 2 processes" in memory.message) == (200 * MIB, True)
    assert of("/dev/shm", found).need == 2 * (1 * 2 + 2) * MIB


def test_copies_of_a_parents_pages_are_no_more_than_the_parent_has() -> None:
    run = sampled({10: [growing(100), growing(200), growing(300)]})
    run.samples.append(Sample(1, 0.0, "before workers", "1.1", pss_anon=500 * MIB, rss=600 * MIB))
    found = forecast(run, epochs=1000)
    assert found is not None
    assert found.private_end == 800 * MIB


def test_workers_that_end_with_the_epoch_do_not_grow_over_epochs() -> None:
    run = sampled({10: [growing(100), growing(200)]})
    run.iterations[0] = Iteration(1, 0.0, "1.1", method="spawn", workers=1, persistent=False)
    found = forecast(run, epochs=1000)
    assert found is not None
    assert found.private_end == found.private == 200 * MIB


def test_small_growth_is_none() -> None:
    found = forecast(sampled({10: [growing(100), growing(104), growing(107)]}), epochs=1000)
    assert found is not None
    assert found.private_end == 107 * MIB


def test_what_is_pickled_is_copied_to_each_worker() -> None:
    run = loader("fork", storages=holding(1, pickled=GIB, array_bytes=GIB))
    found = predictions(run, Limits(memory_total=6 * GIB), ["fork", "spawn"], workers=8)
    said = of("memory", found, "spawn")
    assert (said.need, said.fails) == (8 * GIB, True)
    assert not [one for one in found if one.limit == "memory" and one.method != "spawn"]
    small = loader("spawn", storages=holding(1, pickled=MIB))
    assert not [one for one in predictions(small, Limits(memory_total=6 * GIB), []) if one.limit == "memory"]


def test_more_workers_take_more() -> None:
    found = forecast(sampled({10: [growing(100), growing(101)]}), workers=8)
    assert found is not None
    assert (found.workers, found.private, found.private_end) == (8, 101 * MIB, 808 * MIB)
    # A forked worker adds what it has alone.
    forked = {**growing(100), "uss": 20 * MIB}
    found = forecast(sampled({10: [forked, forked]}), workers=3)
    assert found is not None
    assert found.private_end == 140 * MIB


def test_no_samples_give_no_forecast() -> None:
    assert forecast(loader()) is None


@pytest.mark.parametrize(
    ("bytes_", "said"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (64 * MIB, "64 MiB"), (3 * GIB // 2, "1.5 GiB")],
)
def test_sizes(bytes_: int, said: str) -> None:
    assert size(bytes_) == said
