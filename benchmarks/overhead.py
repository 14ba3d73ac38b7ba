"""What `dllint run`'s instrumentation takes: processor time at the start of a process, and time a batch of free items.

    python benchmarks/overhead.py [--python INTERPRETER] [--repeat 10] [--json]

INTERPRETER needs torch. Programs are run in turn with and without the instrumentation; of several repeats the least
counts. Items that cost nothing make the batch's own way through the loader all that there is to be slowed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def compared(repeat: int, measure: Callable[[str | None], float], scratch: str) -> dict[str, float]:
    """Without and with the instrumentation, in turn, so that a busy machine is busy for both."""
    pairs = [(measure(None), measure(scratch)) for _ in range(repeat)]
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
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from dllint.probe import plan

    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / plan.RECORDS).mkdir()
        plan.write(scratch)
        for name, program in (("start of a process, ms", START), ("import of torch, ms", TORCH)):
            told[name] = compared(
                options.repeat, lambda where, text=program: processor_ms(options.python, text, where), scratch
            )
        for name, batches, size, workers in (
            ("batch of 1, no workers, us", 20000, 1, 0),
            ("batch of 32, no workers, us", 5000, 32, 0),
            ("batch of 32, 2 workers, us", 2000, 32, 2),
        ):
            told[name] = compared(
                max(options.repeat // 3, 1),
                lambda where, shape=(batches, size, workers): batch_us(options.python, *shape, where),
                scratch,
            )
    if options.json:
        print(json.dumps(told, indent=2))
    else:
        for name, values in told.items():
            print(f"{name:32}", "  ".join(f"{key} {value}" for key, value in values.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
