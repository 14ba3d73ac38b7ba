"""What `dllint run` predicts, against programs that are driven to their limits.

    python benchmarks/limits.py [--python INTERPRETER] [--only descriptors forkserver kept memory shared] [--json]

INTERPRETER needs torch and dllint, as this one does. Linux only. For each limit: the number that is predicted, the one
at which the real program failed, or that it reached, and how far they are apart. `shared` needs the right to mount.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

DRIVE = Path(__file__).parent.parent / "tests" / "measured" / "programs" / "drive.py"

KEEPS = """
import resource, sys
import torch
from torch.utils.data import DataLoader, Dataset

class Items(Dataset):
    def __len__(self): return 4000
    def __getitem__(self, index): return {items}

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, ({nofile}, {nofile}))
    torch.set_num_threads(1)
    kept = []
    try:
        for batch in DataLoader(Items(), batch_size=2, num_workers={workers}):
            kept.append(batch)
    except BaseException:
        print("kept", len(kept), flush=True)
        raise
"""
TRAINS = """
import os, sys, threading, time
import torch
from torch.utils.data import DataLoader, Dataset

class Items(Dataset):
    def __len__(self): return 256
    def __getitem__(self, index): return torch.rand(1 << 18)

if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(1 << 18, 2)
    most = 0
    for epoch in range(2):
        for batch in DataLoader(Items(), batch_size=4, num_workers={workers}):
            loss = model(batch).sum()
            time.sleep(0.1)
            room = os.statvfs("/dev/shm")
            most = max(most, (room.f_blocks - room.f_bfree) * room.f_frsize)
    print("most", most, flush=True)
"""
RANKS = """
import sys
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

class Items(Dataset):
    def __init__(self):
        self.table = torch.rand(1 << 22).numpy().copy()
    def __len__(self): return 512
    def __getitem__(self, index): return torch.from_numpy(self.table[index : index + 4096].copy())

dist.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4096, 8))
items = Items()
sampler = DistributedSampler(items)
loader = DataLoader(items, batch_size=8, sampler=sampler, num_workers=2, persistent_workers=True)
for epoch in range({epochs}):
    for batch in loader:
        model(batch).sum().backward()
dist.destroy_process_group()
"""


class Row(NamedTuple):
    limit: str
    predicted: float
    driven: float

    @property
    def apart(self) -> float:
        return self.predicted / self.driven - 1


def driven(python: str, *words: object) -> dict[str, Any]:
    """What the test's program says that starts a loader with so many tensors."""
    command = [python, str(DRIVE), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def failing(works: Callable[[int], bool], near: int) -> int:
    """The least number that fails, which lies within a twentieth of `near`; to half a percent."""
    low, high = near * 19 // 20, near * 21 // 20 + 1
    while high - low > max(near // 200, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return high


def storage_rows(python: str, cases: tuple[tuple[str, int, int], ...]) -> Iterator[Row]:
    from dllint.evidence.storage_limits import walls
    from dllint.observation import Storages

    for method, workers, nofile in cases:
        words = (method, "file_descriptor")
        told = driven(python, *words, -1, workers, nofile, 0)
        open_now = {"nofile": nofile or 1 << 20, "fds": told["fds"], "max_map_count": 65530, "maps": told["maps"]}
        wall = walls(Storages(1, 0.0), *words, workers=workers, **open_now)[0]

        def works(count: int, words: tuple[str, str] = words, workers: int = workers, nofile: int = nofile) -> bool:
            return bool(driven(python, *words, count, workers, nofile, 0)["outcome"] == "started")

        yield Row(f"{wall.limit}, {method}, {workers} workers", wall.most + 1, failing(works, wall.most + 1))


def kept_rows(python: str) -> Iterator[Row]:
    """Batches that a loop can keep until descriptors run out."""
    for workers, items in ((2, "torch.ones(3)"), (4, "(torch.ones(3), index)"), (8, "torch.ones(3)")):
        text = KEEPS.format(items=items, nofile=512, workers=workers)
        said = " ".join(
            line for one in report(python, text, "--max-batches", "64")["findings"] for line in one["evidence"]
        )
        told = re.search(r"reached after about ([\d,]+) batches", said)
        if told is None:
            raise SystemExit(f"error: no prediction of kept batches in: {said}")
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "train.py").write_text(text)
            done = subprocess.run([python, "train.py"], cwd=directory, capture_output=True, text=True, check=False)
        reached = re.search(r"kept (\d+)", done.stdout)
        if reached is None:
            raise SystemExit(f"error: the program that keeps batches did not fail: {done.stderr[-300:]}")
        yield Row(f"batches kept, {workers} workers", int(told[1].replace(",", "")), int(reached[1]))


def shared_rows(python: str) -> Iterator[Row]:
    """Shared memory of batches, in a /dev/shm that nothing else uses."""
    for workers in (1, 2, 4):
        text = TRAINS.format(workers=workers)
        (loader,) = report(python, text, "--max-batches", "8", "--max-epochs", "1")["loaders"]
        predicted = next(one["need"] for one in loader["predictions"] if "prefetched" in one["message"])
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "train.py").write_text(text)
            own = f"mount -t tmpfs -o size=4g tmpfs /dev/shm && exec {python} train.py"
            words = ["unshare", "--mount", "sh", "-c", own]
            done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=True)
        yield Row(
            f"/dev/shm of batches, {workers} workers, MiB", predicted / 2**20, int(done.stdout.split()[-1]) / 2**20
        )


def memory_rows(python: str) -> Iterator[Row]:
    """Memory of two ranks and their workers after six epochs, that cannot be reclaimed."""
    words = (python, "-m", "torch.distributed.run", "--nproc_per_node", "2", "train.py")
    told = report(python, RANKS.format(epochs=6), "--epochs", "6", command=words)
    said = [one for loader in told["loaders"] for one in loader["predictions"] if one["limit"] == "memory"]
    predicted = next(one["need"] for one in said if "cannot be reclaimed" in one["message"])
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "train.py").write_text(RANKS.format(epochs=6))
        process = subprocess.Popen(words, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        most = peak(process)
    yield Row("memory of 2 ranks, MiB", predicted / 2**20, most / 2**20)


def peak(process: subprocess.Popen[bytes]) -> int:
    """The most anonymous and shared memory that the ranks of a program and their workers had at once."""
    from dllint.probe import procfs

    most = 0
    while process.poll() is None:
        total = 0
        for pid in descendants(process.pid):
            held = procfs.memory(pid) or {}
            total += held.get("pss_anon", 0) + held.get("shm", 0)
        most = max(most, total)
        time.sleep(0.2)
    return most


def descendants(pid: int) -> Iterator[int]:
    """The processes below one, without itself: the launcher iterates no loader."""
    for task in os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}") else ():
        try:
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def report(python: str, text: str, *options: str, command: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a run of a program reports."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "train.py").write_text(text)
        Path(directory, "pyproject.toml").write_text("[tool.dllint]\n")
        ours = ["--no-progress", "--try", "none", "--output-format", "json", "--output-file", "report.json", *options]
        words = ["--", *command] if command else ["train.py"]
        done = subprocess.run(
            [python, "-m", "dllint", "run", *ours, *words], cwd=directory, capture_output=True, text=True, check=False
        )
        written = Path(directory, "report.json")
        if not written.exists():
            raise SystemExit(f"error: dllint run gave no report: {done.stderr[-300:]}")
        told: dict[str, Any] = json.loads(written.read_text())
    return told


def main() -> int:
    kinds: dict[str, Callable[[str], Iterator[Row]]] = {
        "forkserver": lambda python: storage_rows(python, (("forkserver", 1, 0),)),
        "descriptors": lambda python: storage_rows(
            python, (("spawn", 1, 1024), ("spawn", 4, 1024), ("spawn", 8, 1024))
        ),
        "kept": kept_rows,
        "memory": memory_rows,
        "shared": shared_rows,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    parser.add_argument("--only", nargs="*", choices=[*kinds], default=[*kinds])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for kind in options.only:
        for row in kinds[kind](options.python):
            rows.append(row)
            if not options.json:
                print(
                    f"{row.limit:40} predicted {row.predicted:,.0f}  driven {row.driven:,.0f}  {row.apart:+.1%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps([{**row._asdict(), "apart": round(row.apart, 4)} for row in rows], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
