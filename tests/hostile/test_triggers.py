"""What a check does with code that is slow, valid but rare, or never runs, and with files that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.pace import slowness

from dllint import screen
from dllint.facts.extract import SyntaxProblem, extract
from dllint.facts.extract.tokens import Tokens
from dllint.fixes.write import WriteError, write_fixed
from dllint.libraries.index import WORDS
from dllint.modules import ModuleIndex

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    return project


def test_long_rows_of_numbers_keep_places_and_an_unknown_length() -> None:
    facts = extract("x = [" + "1, " * 9_000 + "]; y = f(\n    2)\n")
    (call,) = facts.calls
    assert call.span == (1, 27_013, 2, 7)
    assert "__and_more__" in facts.loaded
    assert "__and_more__" in extract("x = {" + "1: -2.5," * 9_000 + "}\n").loaded
    assert "__and_more__" not in extract("x = [" + "1, " * 1_000 + "]\n").loaded


def test_the_screen_takes_linear_time() -> None:
    functions = (f"def f{one}(d):\n    return DataLoader(d, num_workers=2)\n" for one in range(20_000))
    files = {
        "/p/a.py": ("from torch.utils.data import DataLoader\n" + "".join(functions)).encode(),
        "/p/b.py": b"import a\na.f1([])\n" + b"a.g(1)\n" * 50_000,
    }
    started = time.process_time()
    assert screen.select(files, ModuleIndex(files), WORDS).paths == files.keys()
    assert time.process_time() - started < 5 * slowness()


def test_lambdas_and_branches_side_by_side_nest_in_nothing() -> None:
    many = "f(lambda x: x)\n" * 6_000 + "if a: b\nelif c: d\n" * 6_000
    assert Tokens(many).chain < 100
    assert Tokens("f = " + "lambda: " * 300 + "1\n").chain > 600
    assert Tokens("if a: b\n" + "elif c: d\n" * 600).chain > 600


NEVER = [
    *("if False:", "if 0:", "if not True:", "if 1 > 2:", "if FLAG:", "if LEVEL == 2:", "while False:", "while FLAG:"),
    *("if TYPE_CHECKING:", "if typing.TYPE_CHECKING:", "if None:", "for _ in ():"),
]
DECORATORS = """\
import functools
import torch.multiprocessing as mp

def launch(f):
    return functools.partial(mp.spawn, f, nprocs=2)

@launch
def work(rank):
    pass

def wrapped(f):
    def inner(*args):
        mp.spawn(f, nprocs=2)
    return functools.partial(inner)

@wrapped
def more(rank):
    pass
"""


def test_what_never_starts_is_no_unguarded_start(project: Path, check: Run) -> None:
    head = (
        "import typing\nfrom typing import TYPE_CHECKING\nimport torch.multiprocessing as mp\nFLAG = False\nLEVEL = 1\n"
    )
    for number, condition in enumerate([*NEVER, "if True:"]):
        text = f"{head}def work(rank):\n    pass\n{condition}\n    mp.spawn(work, nprocs=2)\n"
        (project / f"a{number:02}.py").write_text(text)
    (project / "decorated.py").write_text(DECORATORS)
    (project / "called.py").write_text(DECORATORS + "more()\n")
    done = check(project, "--select", "DLL102", "--output-format", "json")
    found = {os.path.basename(one["filename"]) for one in json.loads(done.stdout)}
    assert found == {f"a{len(NEVER):02}.py", "called.py"}


VALID = [
    *("(x): int = 1", "(a.b): int", "(a[0]): int = 1", "def f():\n    return.5", "y = a if b else.5", "f'{3!s }'"),
    *(
        "x = a if.5else.5",
        "x = not.5",
        "x = a and.5",
        "x = a in.5",
        "assert.5",
        "while.5:pass",
        "def g():\n    yield.5",
    ),
    "z = " + " + ".join(["1"] * 2500),
]


def test_valid_python_is_read() -> None:
    for text in VALID:
        extract(text + "\n")
    facts = extract("if a:\n    (x): int = f(1)\ny = 1 if.5else g(2)\n")
    assert [tuple(one.span)[:2] for one in facts.calls] == [(2, 16), (3, 16)]
    with pytest.raises(SyntaxProblem, match="invalid syntax"):
        extract("(x) y\n")


@pytest.mark.parametrize("files", [8, 24])
def test_few_open_files_hang_nothing(project: Path, files: int, tmp_path: Path) -> None:
    body = "".join(f"def f{one}(x):\n    return [x, {one}, 'some text of a function']\n" for one in range(20))
    for number in range(6):
        (project / f"a{number}.py").write_text(HAZARD + body)
    program = (
        "import resource, sys\n"
        "from dllint.facts import parse\n"
        "parse.WORTH_PROCESSES = 1\n"
        "from dllint.cli import main\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
        "main(['check', '.', '-j', '4', '--no-cache'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, timeout=60
    )
    assert done.returncode == 1
    assert b"DLL204" in done.stdout and done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_output_that_nobody_can_take_is_told_in_one_line(project: Path, tmp_path: Path) -> None:
    (project / "train.py").write_text(HAZARD * 300)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path / "home")}

    def shell(line: str) -> CompletedProcess[bytes]:
        command = line.replace("DLLINT", f"{sys.executable} -m dllint")
        return subprocess.run(["bash", "-c", command], cwd=project, env=environment, capture_output=True, timeout=60)

    full = b"error: the output cannot be written: no space left on device\n"
    done = shell("DLLINT check . --isolated --output-format concise > /dev/full")
    assert (done.returncode, done.stderr) == (2, full)
    done = shell("DLLINT version > /dev/full")
    assert (done.returncode, done.stderr) == (2, full)
    assert shell("DLLINT check nothing 2> /dev/full").returncode == 2
    done = shell("DLLINT rule --all | head -c 10; exit ${PIPESTATUS[0]}")
    assert b"Traceback" not in done.stderr and done.returncode in (0, 2)
    done = shell("DLLINT check . --output-format concise >&-")
    assert (done.returncode, done.stderr) == (1, b"")
    done = shell("DLLINT check - <&-")
    assert (done.returncode, done.stderr) == (2, b"error: standard input is closed\n")


def test_names_that_are_no_utf_8_stand_in_every_format(project: Path, check: Run) -> None:
    path = os.fsencode(project) + b"/b\xff.py"
    try:
        with open(path, "w") as file:
            file.write(HAZARD)
    except OSError:
        pytest.skip("this file system takes no such names")
    for name in ("text", "sarif"):
        outputs = ("json", "junit", "gitlab", "github", "rdjson", "lsp", "jsonl", "concise") if name == "sarif" else ()
        more = [part for one in outputs for part in ("--output", f"{one}=out.{one}")]
        done = check(project, "--output-format", name, "--output-file", f"out.{name}", *more)
        assert (done.returncode, done.stderr) == (1, b"")
        assert all((project / f"out.{one}").stat().st_size for one in (name, *outputs))


def test_extended_attributes_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("a\n")
    os.utime(file, (1, 1))
    try:
        os.setxattr(file, "user.note", b"kept")
    except (AttributeError, OSError):
        pytest.skip("this file system keeps no attributes")
    write_fixed(str(file), "a\n", "b\n")
    assert os.getxattr(file, "user.note") == b"kept"
    assert file.stat().st_mtime > 1


def test_remains_of_a_killed_run_go_and_those_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a\n")
    old, new, other = (tmp_path / name for name in (".dllint-old.tmp", ".dllint-new.tmp", "dllint-old.tmp"))
    for one in (old, new, other):
        one.write_text("half")
    for one in (old, other):
        os.utime(one, (1, 1))
    (tmp_path / ".dllint-link.tmp").symlink_to(other)
    write_fixed(str(tmp_path / "a.py"), "a\n", "b\n")
    assert sorted(os.listdir(tmp_path)) == [".dllint-link.tmp", ".dllint-new.tmp", "a.py", "dllint-old.tmp"]


def test_a_link_out_of_the_project_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("a\n")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(WriteError, match="leads out of the project"):
        write_fixed(str(root / "a.py"), "a\n", "b\n", str(root))
    assert (tmp_path / "outside.py").read_text() == "a\n"
