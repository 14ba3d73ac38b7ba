"""The wheel holds all that a check needs, and a check needs neither torch nor psutil."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dllint import __version__

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "rules").glob("DLL*.md"))
HEAVY = ("torch", "psutil", "numpy", "rich", "libcst")

Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(directory), str(ROOT)]
    subprocess.run(build, check=True)
    (found,) = directory.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runs a program of a virtual environment that holds the wheel and what it depends on, and nothing else."""
    directory = tmp_path_factory.mktemp("installed")
    venv.create(directory, with_pip=True)
    programs = directory / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)], check=True)

    def run(
        program: str, *arguments: str, cwd: Path | None = None, given: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(programs / program), *arguments],
            cwd=cwd or directory,
            input=given,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    return run


def test_the_wheel_holds_every_page_and_says_that_it_is_typed(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert PAGES
    assert {f"dllint/rule_pages/{page.name}" for page in PAGES} <= names
    assert "dllint/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {"dllint", f"dllint-{__version__}.dist-info"}


def test_a_check_without_torch_and_psutil(installed: Program, tmp_path: Path) -> None:
    probe = "import importlib.util as u; print([n for n in ('torch', 'psutil', 'numpy', 'cv2') if u.find_spec(n)])"
    assert installed("python", "-c", probe).stdout == "[]\n"
    shutil.copytree(ROOT / "fixtures" / "forkserver-supervisor", tmp_path, dirs_exist_ok=True)
    done = installed("dllint", "check", "--no-cache", ".", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert " --> loading.py:22:12\n" in done.stdout


def test_the_server_says_what_it_needs_and_runs_once_it_has_it(installed: Program, wheel: Path) -> None:
    done = installed("dllint", "server")
    assert done.returncode == 2
    assert done.stderr == 'error: the server needs lsprotocol: pip install "dllint[lsp]"\n'
    done = installed("python", "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[lsp]")
    assert done.returncode == 0, done.stderr
    params = {"capabilities": {}, "processId": None, "rootUri": None}
    told = [
        {"id": 1, "method": "initialize", "params": params},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    messages = [json.dumps({"jsonrpc": "2.0", **one}) for one in told]
    spoken = "".join(f"Content-Length: {len(one)}\r\n\r\n{one}" for one in messages)
    done = installed("dllint", "server", given=spoken)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"codeActionProvider"' in done.stdout and f'"version":"{__version__}"' in done.stdout.replace(" ", "")


def test_the_archives_can_be_uploaded_and_the_source_one_be_built(tmp_path: Path) -> None:
    for name in ("build", "twine"):
        pytest.importorskip(name)
    # The wheel is built from the source archive.
    build = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    archives = sorted(map(str, tmp_path.iterdir()))
    assert [Path(one).name for one in archives] == [
        f"dllint-{__version__}-py3-none-any.whl",
        f"dllint-{__version__}.tar.gz",
    ]
    twine = [sys.executable, "-m", "twine", "check", "--strict", *archives]
    done = subprocess.run(twine, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout


def test_uvx_runs_the_wheel(wheel: Path) -> None:
    pytest.importorskip("uv")
    command = [sys.executable, "-m", "uv", "tool", "run", "--from", str(wheel), "dllint", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, f"dllint {__version__}\n"), done.stderr


def test_the_pages_are_printed_from_the_wheel(installed: Program) -> None:
    one = installed("dllint", "rule", "DLL101")
    assert (one.returncode, one.stderr) == (0, "")
    page = next(page for page in PAGES if "DLL101" in page.name).read_text("utf-8")
    first, why = page.splitlines()[0], page.partition("## Why it is bad")[2].strip()
    assert one.stdout.startswith(first) and why in one.stdout and "```toml" not in one.stdout.partition("##")[0]
    every = installed("dllint", "rule", "--all").stdout
    assert [line for page in PAGES if (line := page.read_text("utf-8").splitlines()[0]) not in every] == []


def test_starting_imports_nothing_heavy(installed: Program) -> None:
    probe = f"import dllint.cli, sys; print([name for name in {HEAVY} if name in sys.modules])"
    assert installed("python", "-c", probe).stdout == "[]\n"


def test_the_version(installed: Program) -> None:
    assert installed("dllint", "--version").stdout == f"dllint {__version__}\n"
    assert installed("python", "-m", "dllint", "version").stdout == f"dllint {__version__}\n"
