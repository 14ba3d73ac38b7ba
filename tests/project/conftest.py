"""What the project's model says of small programs, beside what marks at the ends of their lines expect:

# launched: spawn            the start methods of the processes that run the function defined on this line, or `no`
# workers: 4                 the worker count of the loader made here: `unknown`, or `not followed` out of a mapping
# context: fork              the start method that the loader is given itself: its name, `?`, or `no`
# method: spawn | fork       the start methods in force where the loader is made, as far as the project decides; or `no`
# reads: Rows | Part         the classes of the project's dataset objects that the loader reads from
# kept: Rows.step            the attributes by which datasets hold what is made on this line; `perhaps` where one may be
                             let go before its object is done, or `no`
# in workers: __getitem__    the entries by which a loader's workers run the function defined on this line, or `no`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.inference.values import Class, Function, Instance, Value
from dllint.project import Project
from dllint.project.loaders import Loader

Told = list[tuple[str, int, str, str]]
MARK = re.compile(r"[ \t]*#[ ](launched|workers|context|method|reads|kept|in workers): (.+)$")
FILE = re.compile(r"^# (\S+\.\w+)\n", re.MULTILINE)


def files_of(text: str) -> dict[str, str]:
    """The files of a program: each begins at a line that names it, what stands before is `main.py`."""
    first, *rest = FILE.split(text)
    return {name: body for name, body in [("main.py", first), *zip(rest[::2], rest[1::2], strict=True)] if body}


def whole(head: str, program: str) -> str:
    """The program below the head, unless it names its first file."""
    return program if program.startswith("# ") else head + program


def either(found: Iterable[str]) -> str:
    return " | ".join(sorted(set(found))) or "no"


class Answers:
    """What the project says of a line."""

    def __init__(self, files: Mapping[str, str], top: Path, settings: Mapping[str, Any]) -> None:
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text, encoding="utf-8")
        facts = {name: extract(text) for name, text in files.items() if name.endswith(".py")}
        self.project = Project.load(facts, Settings(root=str(top), **settings))

    def loader(self, path: str, line: int) -> Loader:
        found = [one for one in self.project.loaders if (one.file.path, one.span.line) == (path, line)]
        assert found, f"{path}:{line}: no loader is made there"
        return found[-1]

    def launched(self, path: str, line: int) -> str:
        return either(
            method
            for launch in self.project.launches.all()
            for target in launch.targets
            if _line(target.function) == (path, line)
            for method in launch.methods
        )

    def workers(self, path: str, line: int) -> str:
        workers = self.loader(path, line).workers()
        if workers.count is not None:
            return str(workers.count)
        values = self.loader(path, line).argument("num_workers").values
        known = [str(value.value) for value in values if hasattr(value, "value")]
        unknown = [{"opaque": "not followed"}.get(workers.kind, "unknown")] if len(known) < len(values) else []
        return either([*known, *unknown])

    def context(self, path: str, line: int) -> str:
        return self.loader(path, line).context() or "no"

    def method(self, path: str, line: int) -> str:
        return either(one.method for one in self.project.regimes(self.loader(path, line)) if one.shown)

    def reads(self, path: str, line: int) -> str:
        objects = self.project.dataset_objects(self.loader(path, line))
        return either(one.of.name for one in objects if isinstance(one.of, Class))

    def kept(self, path: str, line: int) -> str:
        return either(
            f"{name}.{piece.path}" + (" perhaps" if piece.kept and not piece.kept.sure else "")
            for loader in self.project.loaders
            if loader.workers().possible
            for name, piece in self.project.dataset_pieces(loader)
            for value in self.project.world.mappings.flattened(piece.value)
            if _line(value) == (path, line) and piece.initial
        )

    def in_workers(self, path: str, line: int) -> str:
        return either(
            run.entry
            for loader in self.project.loaders
            for run in self.project.worker_runs(loader)
            if (run.file.path, run.file.scopes[run.scope].header.line) == (path, line)
        )


def _line(value: Value) -> tuple[str, int] | None:
    """Where a function is defined or an object made."""
    if isinstance(value, Function):
        return value.file.path, value.file.scopes[value.scope].header.line
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        return value.file.path, value.file.calls[value.call].span.line
    return None


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[Told, Told]]:
    """What the model says on the marked lines of a program, and what the marks say."""

    def answer(text: str, **settings: Any) -> tuple[Told, Told]:
        files = files_of(text)
        answers = Answers(files, tmp_path, settings)
        marks = [
            (path, number, mark[1], mark[2].strip())
            for path, body in files.items()
            for number, line in enumerate(body.splitlines(), 1)
            if (mark := MARK.search(line))
        ]
        assert marks, "a program without a mark tests nothing"
        said = [
            (path, line, kind, getattr(answers, kind.replace(" ", "_"))(path, line)) for path, line, kind, _ in marks
        ]
        return said, marks

    return answer
