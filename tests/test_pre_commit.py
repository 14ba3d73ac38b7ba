"""The hooks of .pre-commit-hooks.yaml, run by pre-commit itself in a project of their own."""

from __future__ import annotations

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

Hook = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(checkout: Path, tmp_path_factory: pytest.TempPathFactory, outside_git: dict[str, str]) -> Hook:
    """Runs one hook in a project; pre-commit clones and installs this repository the first time."""
    home = tmp_path_factory.mktemp("pre-commit")

    def hook(project: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", name, "--color", "never", *arguments],
            cwd=project,
            env={**outside_git, "PRE_COMMIT_HOME": str(home), "NO_COLOR": "1", "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return hook


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


def test_a_commit_without_python_files(run: Hook, project: Path) -> None:
    assert "Skipped" in run(project, "dllint", "--files", "expected.toml").stdout
    assert run(project, "dllint-project", "--files", "expected.toml").returncode == 1


def test_excluded_files_stay_out_though_they_are_given(run: Hook, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.dllint]\nexclude = ["loading.py"]\n')
    done = run(project, "dllint", "--files", "loading.py")
    assert done.returncode == 0, done.stdout + done.stderr
