"""Which of the lines in question a program executed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dllint.observation import Blind, Line, Observation, Trouble
from dllint.runtime.run import Command, Options, run

PROGRAM = """\
def scaled(value):
    if value:
        factor = 2
    else:
        factor = 3
    return value * factor


for number in range(3):
    scaled(0)
import inner
"""
INNER = """\
def unused():
    return 1
made = 3
"""
LATE = '''\
import colorsys, os, sys
def kept(value):
    """A docstring."""
    made = [
        value,
    ]

    def within(other):
        return other if other else made
    if value > 1:
        return within
    try:
        raise ValueError(value)
    except ValueError:
        return within(value)


class Held:
    """A docstring."""
    size = 3

    def __init__(self):
        self.size = 4

    def unused(self):
        return self.size


if len(sys.argv) > 5:
    print("never")
if __name__ == "__main__":
    kept(1)
    Held()
    assert "within" in kept(2).__qualname__ and kept.__doc__ == Held.__doc__ == "A docstring."
    import inspect
    print(inspect.getsource(kept).count("\\n"), kept.__code__.co_firstlineno)
'''


def _interpreters() -> list[str]:
    """This one, which is tested on each version, and where it must mark code one that need not."""
    found = [sys.executable]
    names = ("python3.12", "python3.13", "python3.14") if sys.version_info < (3, 12) else ()
    for path in filter(None, map(shutil.which, names)):
        if len(found) < 2 and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            found.append(path)
    return found


def _observed(directory: Path, python: str, words: tuple[str, ...], files: dict[str, str]) -> Observation:
    asked = []
    for name, text in files.items():
        (directory / name).write_text(text)
        asked += [(str(directory / name), number + 1) for number in range(text.count("\n"))]
    return run(
        Options(Command("command", (python, *words)), lines=tuple(asked), in_place=True, progress=False)
    ).observation


@pytest.mark.parametrize("python", _interpreters())
def test_lines_that_are_executed_are_recorded_once(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = _observed(tmp_path, python, ("-m", "train"), {"train.py": PROGRAM, "inner.py": INNER})
    executed = sorted((Path(one.path).name, one.line) for one in seen.of(Line))
    inner = [("inner.py", number) for number in (1, 3)]
    assert executed == [*inner, *(("train.py", number) for number in (1, 2, 5, 6, 9, 10, 11))]
    assert all(one.lines for one in seen.processes.values())
    assert not list(seen.of(Blind)) and not list(seen.of(Trouble))


@pytest.mark.parametrize("python", _interpreters())
def test_of_the_script_itself_the_functions_are_known(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = _observed(tmp_path, python, ("train.py",), {"train.py": LATE})
    executed = {one.line for one in seen.of(Line)}
    blind = {line for one in seen.of(Blind) for line in one.lines}
    assert {4, 8, 9, 10, 11, 12, 13, 15, 20, 22, 23} <= executed
    assert not {26, 30} & executed and 26 not in blind
    # Lines without code of their own: a bracket, a docstring, empty ones.
    assert not {3, 6, 7, 16, 17} & blind
    assert 32 in executed | blind
    assert not list(seen.of(Trouble))
    assert capfd.readouterr().out == "14 2\n"


def test_a_script_whose_code_was_exchanged_ends_as_it_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its functions, and those that a spawned process has of it, are given up in order."""
    monkeypatch.chdir(tmp_path)
    program = (
        "import colorsys, multiprocessing, sys\n"
        "def work():\n    return [lambda: 3 for _ in range(9)]\n"
        "class Held:\n    def __del__(self):\n        return work()\n"
        "if __name__ == '__main__':\n"
        "    held = Held()\n"
        "    child = multiprocessing.get_context('spawn').Process(target=work)\n"
        "    child.start(); child.join(); sys.exit(child.exitcode)\n"
    )
    (tmp_path / "train.py").write_text(program)
    asked = tuple((str(tmp_path / "train.py"), line) for line in range(1, 12))
    ran = run(Options(Command("script", ("train.py",)), lines=asked, in_place=True, progress=False))
    assert (ran.exit, ran.signal) == (0, None)
    assert 3 in {one.line for one in ran.observation.of(Line)}


def test_a_function_that_is_pickled_by_value_is_not_taken_for_the_lines_of_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As cloudpickle does, with which joblib and Ray send functions to processes that do not have their file."""
    monkeypatch.chdir(tmp_path)
    sender = (
        "import marshal, subprocess, sys, work\n"
        "sent = marshal.dumps(work.chosen.__code__).hex()\n"
        "sys.exit(subprocess.run([sys.executable, 'receiver.py', sent]).returncode)\n"
    )
    receiver = (
        "import marshal, sys, types, other\n"
        "code = marshal.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(types.FunctionType(code, {})(3), other.__name__)\n"
    )
    files = {
        "sender.py": sender,
        "receiver.py": receiver,
        "work.py": "first = 1\nsecond = 2\n\ndef chosen(value):\n    return value\n",
        "other.py": "first = 1\n\ndef unused():\n    second = 2\n    third = 3\n    return third\n",
    }
    seen = _observed(tmp_path, sys.executable, ("sender.py",), files)
    assert capfd.readouterr().out == "3 other\n"
    executed = {(Path(one.path).name, one.line) for one in seen.of(Line)}
    assert {("other.py", 1), ("work.py", 2)} <= executed
    assert not {("other.py", line) for line in (4, 5, 6)} & executed
    assert not list(seen.of(Trouble))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="has sys.monitoring")
@pytest.mark.parametrize("decorator", ["@njit", "@numba.njit(cache=True)", "@numba.guvectorize([], '(n)->(n)')"])
def test_functions_that_numba_compiles_are_left_as_they_are(
    decorator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = "class numba:\n    njit = guvectorize = staticmethod(lambda *a, **k: lambda f: f)\nnjit = lambda f: f\n"
    work = f"{given}{decorator}\ndef inner(value):\n    return value\ndef outer(value):\n    return inner(value)\n"
    train = "import work\nprint(work.inner.__code__.co_names, work.outer(3))\n"
    seen = _observed(tmp_path, sys.executable, ("train.py",), {"train.py": train, "work.py": work})
    assert capfd.readouterr().out == "() 3\n"
    assert 6 in {line for one in seen.of(Blind) for line in one.lines if one.path.endswith("work.py")}
    assert 8 in {one.line for one in seen.of(Line) if one.path.endswith("work.py")}
