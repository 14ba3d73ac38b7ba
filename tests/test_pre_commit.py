"""The hooks of .pre-commit-hooks.yaml, run by pre-commit itself and by prek in a project of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parent.parent / "fixtures"
CONFIGURATION = """\
repos:
  - repo: {repository}
    rev: HEAD
    hooks:
      - id: dllint
      - id: dllint-project
"""
CLEAN = "def double(number):\n    return 2 * number\n"

LAMBDA = (
    "from torch.utils.data import DataLoader\n\n"
    "def load():\n"
    "    return DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)

Hook = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory, outside_git: dict[str, str]) -> Hook:
    """Runs pre-commit in a project; it clones and installs this repository the first time."""
    home = tmp_path_factory.mktemp("pre-commit")
    return started([sys.executable, "-m", "pre_commit"], {**outside_git, "PRE_COMMIT_HOME": str(home)})


@pytest.fixture(scope="module")
def run(pre_commit: Hook) -> Hook:
    """Runs one hook in a project, on what is staged unless other files are named."""
    return lambda project, name, *arguments: pre_commit(project, "run", name, "--color", "never", *arguments)


@pytest.fixture(scope="module")
def prek(tmp_path_factory: pytest.TempPathFactory, outside_git: dict[str, str]) -> Hook:
    """As `run`, by prek."""
    # With uv at hand it need not fetch one.
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program = shutil.which("prek", path=paths)
    if program is None:
        pytest.skip("prek is not installed")
    home = tmp_path_factory.mktemp("prek")
    begun = started([program, "run", "--color", "never"], {**outside_git, "PREK_HOME": str(home), "PATH": paths})
    return lambda project, name, *arguments: begun(project, name, *arguments)


def started(command: list[str], environment: dict[str, str]) -> Hook:
    def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments],
            cwd=project,
            env={**environment, "NO_COLOR": "1", "PYTHONUTF8": "1", "PIP_NO_COMPILE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def project(tmp_path: Path, checkout: Path, commit_all: Callable[[Path], None]) -> Path:
    """A committed project: a supervised job, and a file that has nothing to do with it."""
    shutil.copytree(FIXTURES / "forkserver-supervisor", tmp_path, dirs_exist_ok=True)
    (tmp_path / "double.py").write_text(CLEAN)
    (tmp_path / ".pre-commit-config.yaml").write_text(CONFIGURATION.format(repository=checkout))
    commit_all(tmp_path)
    return tmp_path


@pytest.fixture
def clean_project(project: Path) -> Path:
    """The same with its loader mended."""
    loading = project / "loading.py"
    mended = loading.read_text().replace("num_workers=2", 'num_workers=2, multiprocessing_context="fork"')
    assert mended != loading.read_text()
    loading.write_text(mended)
    subprocess.run(["git", "add", "loading.py"], cwd=project, check=True)
    return project


@pytest.mark.parametrize("hook", ["dllint", "dllint-project"])
def test_fails_with_the_findings_of_the_project(run: Hook, project: Path, hook: str) -> None:
    done = run(project, hook, "--all-files")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "exit code: 1" in done.stdout
    assert "DLL101" in done.stdout
    assert "loading.py:22:12" in done.stdout


@pytest.mark.parametrize("hook", ["dllint", "dllint-project"])
def test_passes_where_there_is_nothing_to_find(run: Hook, clean_project: Path, hook: str) -> None:
    done = run(clean_project, hook, "--all-files")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_a_file_of_a_commit_is_checked_with_the_launcher_in_view(run: Hook, project: Path) -> None:
    done = run(project, "dllint", "--files", "loading.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "supervisor.py:19" in done.stdout


def test_a_commit_of_something_else(run: Hook, project: Path) -> None:
    """The one hook looks at the file alone, the other at the whole project even so."""
    assert run(project, "dllint", "--files", "double.py").returncode == 0
    assert run(project, "dllint-project", "--files", "double.py").returncode == 1


def test_a_commit_of_nothing(run: Hook, project: Path) -> None:
    done = run(project, "dllint")
    assert done.returncode == 0 and "Skipped" in done.stdout, done.stdout + done.stderr


def test_a_commit_without_python_files(run: Hook, project: Path) -> None:
    assert "Skipped" in run(project, "dllint", "--files", "expected.toml").stdout
    assert run(project, "dllint-project", "--files", "expected.toml").returncode == 1


def test_excluded_files_stay_out_though_they_are_given(run: Hook, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.dllint]\nexclude = ["loading.py"]\n')
    done = run(project, "dllint", "--files", "loading.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_commit_is_judged_by_what_is_staged(run: Hook, clean_project: Path) -> None:
    """What is changed and not staged is put aside: neither a hazard there nor a mend of one counts."""
    loading = clean_project / "loading.py"
    mended = loading.read_text()
    loading.write_text(mended.replace(', multiprocessing_context="fork"', "") + "# and more\n")
    done = run(clean_project, "dllint")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'multiprocessing_context="fork"' not in loading.read_text()
    subprocess.run(["git", "add", "loading.py"], cwd=clean_project, check=True)
    loading.write_text(mended)
    done = run(clean_project, "dllint")
    assert done.returncode == 1 and "loading.py:22:12" in done.stdout
    assert loading.read_text() == mended


def test_a_hook_that_fixes_stops_the_commit_and_changes_its_files_alone(run: Hook, project: Path) -> None:
    (project / ".pre-commit-config.yaml").write_text(
        (project / ".pre-commit-config.yaml").read_text().replace("- id: dllint\n", "- {id: dllint, args: [--fix]}\n")
    )
    for name in ("staged.py", "other.py"):
        (project / name).write_text(LAMBDA)
    subprocess.run(["git", "add", "staged.py", ".pre-commit-config.yaml"], cwd=project, check=True)
    done = run(project, "dllint")
    assert done.returncode == 1 and "files were modified by this hook" in done.stdout, done.stdout + done.stderr
    assert "def _collate_fn(rows):" in (project / "staged.py").read_text()
    assert (project / "other.py").read_text() == LAMBDA
    subprocess.run(["git", "add", "staged.py"], cwd=project, check=True)
    assert run(project, "dllint").returncode == 0


def test_the_hooks_can_be_tried_without_a_configuration(pre_commit: Hook, checkout: Path, project: Path) -> None:
    (project / ".pre-commit-config.yaml").unlink()
    done = pre_commit(project, "try-repo", str(checkout), "dllint", "--files", "loading.py")
    assert done.returncode == 1 and "loading.py:22:12" in done.stdout, done.stdout + done.stderr


def test_prek_runs_the_same_hooks(prek: Hook, clean_project: Path) -> None:
    done = prek(clean_project, "dllint")
    assert done.returncode == 0 and "Passed" in done.stdout, done.stdout + done.stderr
    (clean_project / "train.py").write_text(LAMBDA)
    subprocess.run(["git", "add", "train.py"], cwd=clean_project, check=True)
    done = prek(clean_project, "dllint")
    assert done.returncode == 1 and "DLL204" in done.stdout and "train.py:4:" in done.stdout
