"""What instrumented programs leave on record: memory, threads, handles, draws, items, kept batches, trials."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from dllint.observation import (
    Attributes,
    Batch,
    Cuda,
    Draw,
    End,
    Handle,
    Item,
    Kept,
    Limits,
    Observation,
    Sample,
    Storages,
    Threads,
    Throwaway,
    Trial,
)
from dllint.runtime.isolation.starting import FORBIDDEN

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="memory of processes is read from /proc"),
]

MIB = 1 << 20

STORE = """\
import os
import lmdb
from torch.utils.data import DataLoader, Dataset, RandomSampler

COUNT, SIZE = 1500, 100_000


class Records(Dataset):
    def __init__(self):
        self.store = None

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        if self.store is None:
            self.store = lmdb.open("store", readonly=True, lock=False, readahead=False)
        with self.store.begin(buffers=True) as transaction:
            return sum(bytes(transaction.get(str(index).encode()))[::4096])


if __name__ == "__main__":
    made = lmdb.open("store", map_size=1 << 30)
    with made.begin(write=True) as transaction:
        for index in range(COUNT):
            transaction.put(str(index).encode(), os.urandom(SIZE))
    made.close()
    records = Records()
    a_part = RandomSampler(records, num_samples=COUNT // 8)
    loader = DataLoader(records, batch_size=10, sampler=a_part, num_workers=3, persistent_workers=True)
    for epoch in range(5):
        for batch in loader:
            pass
"""

DATASET = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.tensor(index)

"""


def epoch_ends(seen: Observation) -> dict[int, list[Sample]]:
    """By epoch, the samples of the workers."""
    found: dict[int, list[Sample]] = defaultdict(list)
    for sample in seen.of(Sample):
        if sample.moment == "epoch end" and sample.worker is not None and sample.epoch is not None:
            found[sample.epoch].append(sample)
    return found


def test_a_mapped_store_grows_in_rss_and_in_nothing_else(watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # An overlay maps a file by small pages, where its own file system may map it by huge ones: RSS grows more slowly.
    monkeypatch.setenv(FORBIDDEN, "1")
    seen = watch(STORE, batches=None, epochs=5)
    by_epoch = epoch_ends(seen)
    # Ends of epochs in between are measured where the epoch is long.
    assert {0, 4} <= set(by_epoch)
    assert {len(samples) for samples in by_epoch.values()} == {3}

    def total(of: str, epoch: int) -> float:
        return sum(getattr(sample, of) for sample in by_epoch[epoch]) / MIB

    def grown(of: str) -> float:
        return total(of, 4) - total(of, 0)

    store = 1500 * 100_000 / MIB
    # RSS grows towards the store's size once a worker, as each comes to read more of it …
    assert store / 2 < grown("rss") < 3 * store
    # … while what is used does not: PSS counts a page once, and USS what a worker has alone.
    assert grown("pss") < grown("rss") / 3
    assert grown("uss") < 10
    assert abs(grown("pss_anon")) < 15
    bound = {sample.mapped_files for sample in by_epoch[4]}
    assert all(store <= (one or 0) / MIB < store * 1.3 for one in bound)


def test_strings_are_copied_and_arrays_are_not(watch: Any) -> None:
    program = DATASET + (
        "class Held(Rows):\n"
        "    def __init__(self, held):\n"
        "        self.held = held\n"
        "    def __getitem__(self, index):\n"
        "        return sum(len(str(one)) for one in self.held[index * 20000 : index * 20000 + 20000])\n\n"
        "def run(held):\n"
        "    for batch in DataLoader(Held(held), batch_size=4, num_workers=1):\n"
        "        pass\n\n"
        "run([str(number) * 4 for number in range(64 * 20000)])\n"
        "run(np.arange(64 * 20000))\n"
    )
    seen = watch(program, batches=None)
    first = {sample.loader: sample for sample in seen.of(Sample) if sample.moment == "first batch"}
    last = {samples.loader: samples for samples in epoch_ends(seen)[0]}
    gained = [(last[name].pss_anon or 0) - (first[name].pss_anon or 0) for name in sorted(first)]
    strings, numbers = (gain / MIB for gain in gained)
    assert strings > 20
    assert numbers < 10


def test_threads_of_a_worker(watch: Any) -> None:
    """Two of its own; a pool comes on top."""
    program = DATASET + (
        "import threading, time\n"
        "class Threaded(Rows):\n"
        "    pool = None\n"
        "    def __getitem__(self, index):\n"
        "        if self.pool is None:\n"
        "            self.pool = [threading.Thread(target=time.sleep, args=(60,), daemon=True) for _ in range(5)]\n"
        "            [one.start() for one in self.pool]\n"
        "        return torch.tensor(index)\n\n"
        "for dataset in (Rows(), Threaded()):\n"
        "    for batch in DataLoader(dataset, batch_size=4, num_workers=2):\n"
        "        pass\n"
    )
    grown: dict[str, set[int]] = defaultdict(set)
    for record in watch(program).of(Threads):
        grown[record.loader].add(record.after - record.start - 2)
    assert list(grown.values()) == [{0}, {5}]


def test_a_shared_handle_that_workers_move(watch: Any) -> None:
    program = DATASET + (
        "open('data', 'wb').write(bytes(100_000))\n"
        "class Reading(Rows):\n"
        "    def __init__(self):\n"
        "        self.file = open('data', 'rb')\n"
        "        self.log = open('log', 'a')\n"
        "    def __getitem__(self, index):\n"
        "        self.file.seek(index * 1000)\n"
        "        self.log.write('read')\n"
        "        return len(self.file.read(10))\n\n"
        "for batch in DataLoader(Reading(), batch_size=4, num_workers=2):\n"
        "    pass\n"
    )
    handles = list(watch(program).of(Handle))
    assert {Path(one.path).name for one in handles} == {"data"}
    assert {(one.worker, one.shared, one.used, one.moved, one.attribute) for one in handles} == {
        (worker, True, True, True, "self.file") for worker in (0, 1)
    }


def test_handles_that_are_read_by_position_or_opened_in_the_worker(watch: Any) -> None:
    program = DATASET + (
        "import os\n"
        "open('data', 'wb').write(bytes(100_000))\n"
        "class Positioned(Rows):\n"
        "    def __init__(self):\n"
        "        self.file = open('data', 'rb')\n"
        "    def __getitem__(self, index):\n"
        "        return len(os.pread(self.file.fileno(), 10, index * 1000))\n\n"
        "class Late(Rows):\n"
        "    file = None\n"
        "    def __getitem__(self, index):\n"
        "        self.file = self.file or open('data', 'rb')\n"
        "        return len(self.file.read(10))\n\n"
        "for batch in DataLoader(Late(), batch_size=4, num_workers=2):\n"
        "    pass\n"
        "for batch in DataLoader(Positioned(), batch_size=4, num_workers=2):\n"
        "    pass\n"
    )
    handles = list(watch(program).of(Handle))
    assert {(one.shared, one.moved) for one in handles} == {(True, False)}
    assert len({one.loader for one in handles}) == 1


def draws(seen: Observation) -> dict[str, dict[int, list[str]]]:
    """By source and worker, the digests of the first epoch."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for draw in seen.of(Draw):
        if draw.epoch == 0:
            found[draw.source][draw.worker].append(draw.digest)
    return found


def test_generators_on_the_dataset_repeat_in_workers(watch: Any) -> None:
    program = DATASET + (
        "class Drawing(Rows):\n"
        "    def __init__(self):\n"
        "        self.generator = np.random.default_rng(0)\n"
        "        self.legacy = [np.random.RandomState(0)]\n"
        "        self.plain = random.Random(0)\n"
        "        self.torchs = torch.Generator()\n"
        "        self.unused = random.Random(1)\n"
        "    def __getitem__(self, index):\n"
        "        drawn = self.generator.random() + self.legacy[0].rand() + self.plain.random()\n"
        "        drawn += np.random.rand() + random.random()\n"
        "        return drawn + torch.rand(1, generator=self.torchs) + torch.rand(1)\n\n"
        "for batch in DataLoader(Drawing(), batch_size=4, num_workers=2):\n"
        "    pass\n"
    )
    found = draws(watch(program))
    own = {"self.generator", "self.legacy[0]", "self.plain", "self.torchs"}
    assert set(found) == own | {"numpy.random", "random", "torch"}
    assert all(found[source][0] == found[source][1] for source in own)
    assert all(not set(found[source][0]) & set(found[source][1]) for source in set(found) - own)


def test_a_constant_seed_repeats_in_workers(watch: Any) -> None:
    program = DATASET + (
        "class Drawing(Rows):\n"
        "    def __getitem__(self, index):\n"
        "        return np.random.rand()\n\n"
        "def seed(worker):\n"
        "    np.random.seed(0)\n\n"
        "for batch in DataLoader(Drawing(), batch_size=4, num_workers=2, worker_init_fn=seed):\n"
        "    pass\n"
    )
    found = draws(watch(program))
    assert set(found) == {"numpy.random"}
    assert found["numpy.random"][0] == found["numpy.random"][1]


@pytest.mark.parametrize(("part", "repeated"), [("range(10)", 10), ("range(10)[info.id :: info.num_workers]", 0)])
def test_items_of_an_iterable_dataset(watch: Any, part: str, repeated: int) -> None:
    program = DATASET + (
        "from torch.utils.data import get_worker_info\n"
        "class Stream(IterableDataset):\n"
        "    def __iter__(self):\n"
        "        info = get_worker_info()\n"
        f"        yield from ({{'x': torch.full((4,), float(i)), 'name': str(i)}} for i in {part})\n\n"
        "for batch in DataLoader(Stream(), batch_size=2, num_workers=2):\n"
        "    pass\n"
    )
    by_digest: dict[str, set[int]] = defaultdict(set)
    for item in watch(program).of(Item):
        by_digest[item.digest].add(item.worker)
    assert len(by_digest) == 10
    assert sum(len(workers) > 1 for workers in by_digest.values()) == repeated


def test_kept_batches(watch: Any) -> None:
    program = DATASET + (
        "kept = []\n"
        "for batch in DataLoader(Rows(), batch_size=1, num_workers=2):\n"
        "    kept.append(batch)\n"
        "del kept\n"
        "for batch in DataLoader(Rows(), batch_size=1, num_workers=2):\n"
        "    last = batch.clone()\n"
    )
    keeping, cloning = watch(program, batches=None).of(Kept)
    assert keeping.batches == 64
    assert keeping.fds_a_batch == pytest.approx(1, abs=0.1)
    assert keeping.maps_a_batch == pytest.approx(1, abs=0.1)
    assert abs(cloning.fds_a_batch) < 0.1


def test_memory_that_training_maps_is_no_batch(watch: Any) -> None:
    program = DATASET + (
        "import mmap\n"
        "grown = []\n"
        "for batch in DataLoader(Rows(), batch_size=1, num_workers=2):\n"
        "    grown.append(mmap.mmap(-1, 1 << 20, prot=(mmap.PROT_READ, mmap.PROT_WRITE)[len(grown) % 2]))\n"
    )
    (one,) = watch(program, batches=None).of(Kept)
    assert abs(one.maps_a_batch) < 0.1


def test_what_a_start_takes_and_a_batch(watch: Any) -> None:
    program = DATASET + (
        "class Held(Rows):\n"
        "    def __init__(self):\n"
        "        self.tensors = [torch.ones(3) for _ in range(300)]\n"
        "        self.array = np.zeros(1 << 17)\n"
        "    def __getitem__(self, index):\n"
        "        return {'x': torch.zeros(1024), 'y': index}\n\n"
        "if __name__ == '__main__':\n"
        "    for batch in DataLoader(Held(), batch_size=4, num_workers=2, multiprocessing_context='fork'):\n"
        "        pass\n"
    )
    seen = watch(program, trials=("forkserver", "fork"))
    (storages,) = seen.of(Storages)
    assert (storages.storages, storages.fds, storages.maps, storages.shm) == (300, 300, 300, 300 * 4096)
    assert (storages.arrays, storages.array_bytes) == (1, MIB)
    assert storages.pickled > MIB
    (batch,) = seen.of(Batch)
    assert (batch.storages, batch.bytes) == (2, 4 * 4096 + 4 * 8)
    (limits,) = seen.of(Limits)
    assert limits.values["fds"] < 40
    assert limits.values["maps"] > 100
    # The method of the run is not tried: it is seen.
    (trial,) = seen.of(Trial)
    assert (trial.method, trial.outcome, trial.stage) == ("forkserver", "failed", "iter")
    assert trial.exception in ("OSError", "ValueError")
    assert len(list(seen.of(Throwaway))) == 2


def test_a_program_without_a_guard_is_tried_without_harm(watch: Any, tmp_path: Path) -> None:
    """The trial's worker imports the main module: it must not save, nor leave records."""
    program = DATASET + (
        "torch.save({'epoch': 0}, 'model.pt')\n"
        "for batch in DataLoader(Rows(), batch_size=4, num_workers=1):\n"
        "    pass\n"
    )
    (tmp_path / "model.pt").write_bytes(b"the good one")
    seen = watch(program, trials=("spawn",))
    (trial,) = seen.of(Trial)
    assert (trial.method, trial.outcome, trial.stage) == ("spawn", "failed", "crash")
    assert "bootstrapping phase" in trial.stderr
    assert (tmp_path / "model.pt").read_bytes() == b"the good one"
    assert len([one for one in seen.processes.values() if one.role == "worker"]) == 1


def test_cuda_in_workers_of_a_parent_that_made_it_unusable(watch: Any) -> None:
    """What torch asks before it refuses is put in the place of a device."""
    program = DATASET + (
        "import os\n"
        "parent = os.getpid()\n"
        "torch.cuda._is_in_bad_fork = lambda: os.getpid() != parent\n"
        "class Moving(Rows):\n"
        "    def __getitem__(self, index):\n"
        "        try:\n"
        "            return torch.zeros(1).cuda()\n"
        "        except (RuntimeError, AssertionError):\n"
        "            return torch.zeros(1)\n\n"
        "for batch in DataLoader(Moving(), batch_size=32, num_workers=1):\n"
        "    pass\n"
    )
    of_workers = [one for one in watch(program).of(Cuda) if one.worker is not None]
    assert [one.used for one in of_workers] == [False, True]
    assert all(one.poisoned for one in of_workers)
    used = of_workers[1]
    assert used.site is not None
    assert used.site.function == "__getitem__"
    assert used.error is not None
    assert "Cannot re-initialize CUDA in forked subprocess" in used.error


def test_a_trial_leaves_shared_memory_as_it_was(watch: Any) -> None:
    """The workers of the run are spawned and fill copies; those of the trials are forked, and would fill the array."""
    program = """\
import multiprocessing
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Cached(Dataset):
    def __init__(self):
        self.rows = np.frombuffer(multiprocessing.RawArray("d", 64))

    def __len__(self):
        return 64

    def __getitem__(self, index):
        self.rows[index] = 1
        return self.rows[index]


if __name__ == "__main__":
    cached = Cached()
    for batch in DataLoader(cached, batch_size=8, num_workers=1, multiprocessing_context="spawn"):
        pass
    assert not cached.rows.any(), "a trial has filled it"
"""
    seen = watch(program, trials=("fork", "forkserver"))
    assert [(one.method, one.outcome) for one in seen.of(Trial)] == [("fork", "started"), ("forkserver", "started")]
    assert [one.text for one in seen.of(End) if one.exception] == []


def test_lists_and_arrays_that_change_between_epochs(watch: Any) -> None:
    program = DATASET + (
        "class Chosen(Rows):\n"
        "    def __init__(self):\n"
        "        self.names, self.weights, self.small = [str(one) for one in range(90)], np.zeros(500), [1, 2]\n\n"
        "chosen = Chosen()\n"
        "loader = DataLoader(chosen, batch_size=8, num_workers=1, persistent_workers=True)\n"
        "for epoch in range(2):\n"
        "    for batch in loader:\n"
        "        pass\n"
        "    chosen.names = chosen.names[1:]\n"
        "    chosen.weights = chosen.weights + 1\n"
    )
    seen = watch(program, batches=None)
    given = {one.epoch: one.values for one in seen.of(Attributes) if one.worker is None}
    held = {one.epoch: one.values for one in seen.of(Attributes) if one.worker == 0}
    assert held[0] == held[1] == given[0]
    changed = {name for name in given[0] if given[0][name] != given[1][name]}
    assert changed == {"names", "weights"}
    assert given[1]["names"].startswith("89 elements") and given[1]["small"] == "[1, 2]"


@pytest.mark.parametrize("start", ["Pool(2)", "Process(target=read, args=(100,))"])
def test_files_that_forked_processes_share(watch: Any, start: str) -> None:
    program = (
        "import multiprocessing\n"
        'rows = open(__file__, "rb", buffering=0)\n\n'
        "def read(place):\n"
        "    rows.seek(place)\n"
        "    return rows.read(4)\n\n"
        "fork = multiprocessing.get_context('fork')\n"
    )
    program += (
        f"with fork.{start} as pool:\n    pool.map(read, range(8))\n"
        if "Pool" in start
        else f"process = fork.{start}\nprocess.start()\nprocess.join()\n"
    )
    handles = [one for one in watch(program).of(Handle) if one.path.endswith("train.py")]
    assert handles and all(one.moved and one.shared is not False and one.loader is None for one in handles)
