"""The layers of pyproject.toml hold, and the light parts stay light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == 0, capsys.readouterr().out


def loaded_by(program: str) -> set[str]:
    """The top-level packages that a program loads in a fresh interpreter."""
    code = f"{program}\nimport sys\nprint(' '.join(sorted(name.partition('.')[0] for name in sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("module", ["dllint", "dllint.cli", "dllint.config", "dllint.finding", "dllint.registry"])
def test_heavy_packages_are_imported_only_where_they_are_used(module: str) -> None:
    assert not loaded_by(f"import {module}") & {
        "libcst",
        "rich",
        "torch",
        "psutil",
        "pathspec",
        "packaging",
        "numpy",
        "pygls",
    }


@pytest.mark.parametrize("arguments", [["--version"], ["version"], ["rule", "DLL101"]])
def test_what_takes_no_options_starts_without_typer(arguments: list[str]) -> None:
    program = f"from dllint.cli import main\ntry: main({arguments})\nexcept SystemExit as end: assert end.code == 0"
    assert not loaded_by(program) & {"typer", "click", "rich", "libcst", "pydantic"}


def test_a_check_needs_neither_torch_nor_psutil(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from torch.utils.data import DataLoader\nDataLoader([], num_workers=2)\n")
    program = (
        "import sys\n"
        "for name in ('torch', 'psutil', 'numpy', 'cv2'): sys.modules[name] = None\n"
        "from dllint.cli import main\n"
        f"try: main(['check', '--isolated', '--no-cache', {str(tmp_path)!r}])\n"
        "except SystemExit as end: assert end.code in (0, 1), end.code"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
