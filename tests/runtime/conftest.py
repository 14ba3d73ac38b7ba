"""Mock records: what a run would have left behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dllint.finding import Finding, Place
from dllint.observation import Iteration, Loader, Observation, Process, Record, Sample, Site, Worker
from dllint.runtime.confirm import Confirmed, confirm
from dllint.span import Span

MIB = 1 << 20
BOTH = {"fork": "Linux up to Python 3.13", "forkserver": "Linux from Python 3.14"}
"""The start methods of a target range that has both of Linux's defaults."""
MAIN, WORKER = 70, 80

SOURCE = """\
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)


def main():
    loader = DataLoader(Records(), num_workers=2)
    for batch in loader:
        pass


main()
"""
LOADER = Span(13, 14, 13, 50)
LAMBDA = Span(6, 22, 6, 33)
LOOP = Span(14, 18, 14, 24)


class Recorded:
    """The records of a program that builds one loader, and the findings that it is judged by."""

    main_pid, first_worker = MAIN, WORKER
    loader_span, lambda_span, loop_span = LOADER, LAMBDA, LOOP

    def __init__(self, path: str) -> None:
        self.path = path
        self.time = 1000.0
        self.site = Site(path, *LOADER, function="main")
        self.records: list[Record] = [Process(MAIN, self.time, role="main", argv=("python", path, "--epochs", "3"))]

    def add(self, kind: type[Record], pid: int = MAIN, **values: Any) -> Recorded:
        self.time += 0.1
        self.records.append(kind(pid, self.time, **values))
        return self

    def loader(self, method: str | None = "fork", workers: int = 2, pid: int = MAIN, **values: Any) -> Recorded:
        """A loader that is built and iterated once, with its workers; `given` is an explicit start method."""
        iteration = {one: values.pop(one) for one in ("error", "text", "persistent") if one in values}
        values = {"dataset": "__main__.Records", "cls": "torch.utils.data.DataLoader", **values}
        values.setdefault("method", values.pop("given", None))
        self.add(Loader, pid, loader="70.1", site=self.site, workers=workers, **values)
        self.add(Iteration, pid, loader="70.1", method=method if workers else None, workers=workers, **iteration)
        if not iteration.get("error"):
            for worker in range(workers):
                self.add(
                    Worker, WORKER + worker, loader="70.1", worker=worker, workers=workers, method=method, seconds=0.5
                )
        return self

    def grown(self, **mib: tuple[int, int]) -> Recorded:
        """Each worker measured after its first batch and at the end of epoch 1; MiB before and after by name."""
        for moment, index in (("first batch", 0), ("epoch end", 1)):
            for worker in range(2):
                sizes = {name: pair[index] * MIB for name, pair in mib.items()}
                self.add(Sample, WORKER + worker, loader="70.1", worker=worker, epoch=index, moment=moment, **sizes)
        return self.trend(
            *({name: pair[0] + (pair[1] - pair[0]) * part / 7 for name, pair in mib.items()} for part in (0, 1, 3, 7))
        )

    def trend(self, *points: dict[str, float], workers: tuple[int, ...] = (0, 1)) -> Recorded:
        """What workers hold after 1, 2, 4, 8, … batches, in MiB by name."""
        for index, point in enumerate(points):
            for worker in workers:
                sizes = {name: int(size * MIB) for name, size in point.items()}
                self.add(
                    Sample,
                    WORKER + worker,
                    loader="70.1",
                    worker=worker,
                    moment="trend",
                    batches=1 << index,
                    **sizes,
                )
        return self

    def finding(self, code: str, span: Span = LOADER, **values: Any) -> Finding:
        found = Finding(code, self.path, span, severity="warning", name=code.lower(), text="as the rule says")
        return replace(found, **values)

    def about_loader(self, code: str, span: Span = LAMBDA, **values: Any) -> Finding:
        """A finding in the dataset, with the loader as a related place."""
        return self.finding(code, span, related=(Place(self.path, LOADER, "its DataLoader"),), **values)

    def confirm(self, *findings: Finding, allowed: dict[str, str] | None = None, **how: Any) -> Confirmed:
        records = tuple(sorted(self.records, key=lambda record: record.t))
        return confirm(findings, Observation(records), allowed=BOTH if allowed is None else allowed, **how)

    def judged(self, finding: Finding, **how: Any) -> tuple[str, str]:
        """Verdict and evidence of one finding."""
        (one,) = [each for each in self.confirm(finding, **how).findings if each.origin == "static"]
        return one.verdict or "", "; ".join(one.evidence)

    def discovered(self, *findings: Finding, **how: Any) -> list[tuple[str, str, int]]:
        """What only the run saw: code, verdict and line."""
        told = self.confirm(*findings, **how).findings
        return [(one.code, one.verdict or "", one.span.line) for one in told if one.origin == "runtime"]


@pytest.fixture
def run(tmp_path: Path) -> Recorded:
    path = tmp_path / "train.py"
    path.write_text(SOURCE)
    return Recorded(str(path))
