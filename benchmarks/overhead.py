"""What `dllint run`'s instrumentation takes: processor time at the start of a process and per epoch, and time per batch
of free items.

    python benchmarks/overhead.py [--python INTERPRETER] [--repeat 10] [--only starts fork spawn batches] [--json]

INTERPRETER needs torch and NumPy. Programs are run in turn with and without the instrumentation, in as many pairs as
`--repeat` says; every second pair runs the other way round, so that a machine that becomes busier favours neither. Of
starts and epochs the median of the pairs is shown, with the least and the most, and `quickest`: the least time with
over the least time without, which other programs on the machine disturb least. Of batches the least counts: items
that cost nothing make the batch's own way through the loader all that there is to be slowed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PARTS = ("starts", "fork", "spawn", "batches")
START = "pass"
TORCH = "import torch.utils.data"
LOOP = """
import time
from torch.utils.data import DataLoader, Dataset

class Free(Dataset):
    item = 0
    def __len__(self): return {batches} * {batch_size}
    def __getitem__(self, index): return self.item

if __name__ == "__main__":
    loader = DataLoader(Free(), batch_size={batch_size}, num_workers={workers}, persistent_workers={workers} > 0)
    for epoch in range({epochs}):
        since, waited = time.process_time(), time.perf_counter()
        iterator = iter(loader)
        next(iterator)
        since, waited = time.process_time(), time.perf_counter()
        for batch in iterator:
            pass
        print(time.process_time() - since, time.perf_counter() - waited)
"""

EPOCHS = """
import os, resource, sys, time
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Work(Dataset):
    def __init__(self): self.table = np.random.default_rng(0).random((1024, 512), dtype=np.float32)
    def __len__(self): return len(self.table)
    def __getitem__(self, index):
        row = self.table[index]
        for _ in range(400): row = np.sort(row[::-1])
        return torch.from_numpy(row.copy())

def used():
    # Seconds of the processor, of this process, of its children that ended, and of its workers.
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for child in open(f"/proc/self/task/{{os.getpid()}}/children").read().split():
        for task in os.listdir(f"/proc/{{child}}/task"):
            total += int(open(f"/proc/{{child}}/task/{{task}}/schedstat").read().split()[0]) / 1e9
    return total

if __name__ == "__main__":
    torch.set_num_threads(1)
    lasting = dict(persistent_workers=True, multiprocessing_context="{method}")
    loader = DataLoader(Work(), batch_size=8, num_workers=2, **lasting)
    for epoch in range(4):
        since = used()
        for batch in loader: pass
        print(used() - since)
"""


def environment(scratch: str | None) -> dict[str, str]:
    """The environment of a program; with a scratch directory, that of an instrumented one."""
    from dllint.runtime import launch

    base = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return base if scratch is None else launch.environment(scratch, base)


def processor_ms(python: str, program: str, scratch: str | None) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", program], env=environment(scratch), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def batch_us(python: str, batches: int, batch_size: int, workers: int, scratch: str | None) -> float:
    """Microseconds a batch, of the epoch that took least: of the processor, or with workers on the clock."""
    program = LOOP.format(batches=batches, batch_size=batch_size, workers=workers, epochs=8)
    done = subprocess.run([python, "-c", program], env=environment(scratch), check=True, capture_output=True, text=True)
    column = 1 if workers else 0
    return 1e6 * min(float(line.split()[column]) for line in done.stdout.splitlines()) / batches


def epochs_s(python: str, method: str, scratch: str | None) -> tuple[float, tuple[float, ...]]:
    """Seconds of the processor of the first epoch, and of each later one, of all processes."""
    from dllint.probe import plan

    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory, "train.py").resolve()
        program.write_text(EPOCHS.format(method=method))
        if scratch is not None:
            # Every line counts as one that the check has a finding on.
            lines = range(1, EPOCHS.count("\n") + 1)
            (Path(scratch) / plan.LINES).write_text("".join(f"{line} {program}\n" for line in lines))
        words = [python, str(program)]
        done = subprocess.run(words, env=environment(scratch), check=True, capture_output=True, text=True)
    first, *later = map(float, done.stdout.split())
    return first, tuple(later)


def pairs_of(repeat: int, measure: Callable[[str | None], Any], scratch: str) -> list[tuple[Any, Any]]:
    """Without and with the instrumentation, in turn, every second pair the other way round."""
    pairs = []
    for number in range(repeat):
        if number % 2:
            after = measure(scratch)
            pairs.append((measure(None), after))
        else:
            before = measure(None)
            pairs.append((before, measure(scratch)))
    return pairs


def spread(values: Iterable[float]) -> dict[str, float]:
    """The median of pairs, the least and the most."""
    each = sorted(values)
    return {"median": round(statistics.median(each), 4), "least": round(each[0], 4), "most": round(each[-1], 4)}


def compared(repeat: int, measure: Callable[[str | None], float], scratch: str) -> dict[str, float]:
    """The least without and with the instrumentation."""
    pairs = pairs_of(repeat, measure, scratch)
    without, instrumented = min(one for one, _ in pairs), min(one for _, one in pairs)
    return {
        "without": round(without, 2),
        "with": round(instrumented, 2),
        "difference": round(instrumented - without, 2),
        "ratio": round(instrumented / without, 4),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from dllint.probe import plan

    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / plan.RECORDS).mkdir()
        plan.write(scratch)
        if "starts" in options.only:
            for name, program in (("start of a process, ms", START), ("import of torch, ms", TORCH)):
                told[name] = compared(
                    options.repeat, lambda where, text=program: processor_ms(options.python, text, where), scratch
                )
            starts = pairs_of(options.repeat, lambda where: processor_ms(options.python, START, where), scratch)
            told["start of a process, ratio (asked: 1.3)"] = {
                **spread(after / before for before, after in starts),
                "quickest": round(min(after for _, after in starts) / min(before for before, _ in starts), 4),
            }
        for method in ("fork", "spawn"):
            if method not in options.only:
                continue
            pairs = pairs_of(options.repeat, lambda where, how=method: epochs_s(options.python, how, where), scratch)
            told[f"first epoch, {method}, seconds more (asked: 1)"] = {
                **spread(after[0] - before[0] for before, after in pairs),
                "quickest": round(min(one[0] for _, one in pairs) - min(one[0] for one, _ in pairs), 4),
            }
            quickest = min(min(one[1]) for _, one in pairs) / min(min(one[1]) for one, _ in pairs)
            told[f"later epochs, {method}, ratio (asked: 1.02)"] = {
                **spread(sum(after[1]) / sum(before[1]) for before, after in pairs),
                "quickest": round(quickest, 4),
            }
        for name, batches, size, workers in (
            ("batch of 1, no workers, us", 20000, 1, 0),
            ("batch of 32, no workers, us", 5000, 32, 0),
            ("batch of 32, 2 workers, us", 2000, 32, 2),
        ):
            if "batches" in options.only:
                told[name] = compared(
                    max(options.repeat // 3, 1),
                    lambda where, shape=(batches, size, workers): batch_us(options.python, *shape, where),
                    scratch,
                )
    if options.json:
        print(json.dumps(told, indent=2))
    else:
        for name, values in told.items():
            print(f"{name:48}", "  ".join(f"{key} {value}" for key, value in values.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
