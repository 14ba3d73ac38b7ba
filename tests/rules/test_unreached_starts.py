"""Starts of processes behind conditions: `unreached_starts.md`. DLL102 reports those that a child that imports the
script reaches."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.rules.conftest import OPTIONS

from dllint import config, linter

HEAD = """\
import faulthandler
import os
import sys

import torch
from torch import multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(8)), num_workers=2, multiprocessing_context="spawn")


def work(rank):
    print(rank)


def train():
    for batch in loader:
        print(batch)


"""
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FORM = re.compile(r"^#: ([^\n]+)\n(.*?)(?=^#: |\Z)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^# (\w+\.py)\n", re.MULTILINE)
PATIENCE_S = 0.2
"""Wall clock: some of the scripts wait for ever."""


class Form(NamedTuple):
    section: str
    title: str
    files: dict[str, str]


def forms() -> Iterator[Form]:
    page = Path(__file__).with_name("unreached_starts.md").read_text(encoding="utf-8")
    for section, body in SECTION.findall(page):
        for block in BLOCK.findall(body):
            for title, text in FORM.findall(block):
                first, *rest = FILE.split(text)
                others = dict(zip(rest[::2], rest[1::2], strict=True))
                yield Form(section, title, {"main.py": HEAD + first, **others})


FORMS = list(forms())
SECTIONS = list(dict.fromkeys(one.section for one in FORMS))


@pytest.mark.parametrize("section", SECTIONS)
def test_what_is_reached_is_reported(section: str, tmp_path: Path) -> None:
    wrong = []
    for directory, form in _written(section, tmp_path):
        settings = config.load([str(directory)], isolated=True, overrides={"select": ["DLL102"]}, options=OPTIONS)
        report = linter.check([str(directory)], settings, linter.Execution(jobs=1, cache=False))
        assert report.problems == ()
        safe = any(fix.applicability == "safe" for one in report.findings for fix in one.fixes)
        if bool(report.findings) is section.startswith("Never") or (section == "Not understood" and safe):
            wrong.append(form.title)
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_is_true(section: str, tmp_path: Path) -> None:
    reached = section.startswith("Reached")
    assert [form.title for directory, form in _written(section, tmp_path) if _starts(directory) is not reached] == []


def _written(section: str, tmp_path: Path) -> Iterator[tuple[Path, Form]]:
    """The forms of a section, each with a directory of its own: copies of one script would be one finding."""
    for number, form in enumerate(one for one in FORMS if one.section == section):
        directory = tmp_path / str(number)
        directory.mkdir()
        for name, text in form.files.items():
            (directory / name).write_text(text, encoding="utf-8")
        yield directory, form


def _starts(directory: Path) -> bool:
    """Whether importing `main.py`, as a child does, starts processes."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            faulthandler.disable()
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.chdir(directory)
            sys.path.insert(0, str(directory))
            sys.argv = ["main.py"]
            os.environ.pop("TRAIN", None)
            sys.modules.update(_torch(lambda *given, **options: os.write(writing, b"started")))
            # The old main module must stay alive: this code is its.
            around, module = sys.modules["__main__"], types.ModuleType("__mp_main__")
            sys.modules["__main__"] = sys.modules["__mp_main__"] = module
            text = (directory / "main.py").read_text(encoding="utf-8")
            exec(compile(text, "main.py", "exec"), module.__dict__)
            del around
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as stream:
        return stream.read() != b""


def _torch(start: Callable[..., object]) -> dict[str, types.ModuleType]:
    """Modules that stand in for torch, in which loaders and launchers call `start`."""

    class Loader:
        def __init__(self, *given: object, **options: object) -> None:
            pass

        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Iterator[int]:
            start()
            return iter([1])

    class Process:
        def __init__(self, *given: object, **options: object) -> None:
            pass

        def start(self) -> None:
            start()

    names = ("torch", "torch.multiprocessing", "torch.utils", "torch.utils.data")
    found: dict[str, Any] = {name: types.ModuleType(name) for name in names}
    torch, processes, utils, data = found.values()
    torch.zeros, torch.multiprocessing, torch.utils = (lambda size: [0] * size), processes, utils
    torch.cuda = types.SimpleNamespace(is_available=lambda: True)
    processes.spawn, processes.Process, processes.parent_process = start, Process, object
    processes.current_process = lambda: types.SimpleNamespace(name="SpawnProcess-1")
    utils.data = data
    data.DataLoader, data.TensorDataset = Loader, lambda *given: given
    return found
