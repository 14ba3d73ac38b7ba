"""Vim with ALE, set up as the documentation says, is told of the hazard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server")
VIM = shutil.which("vim")
ALE = Path("/usr/share/vim-ale")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(VIM is None or not ALE.is_dir(), reason="Vim and vim-ale of Debian are not installed"),
]

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
SOURCE = "loader = DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)"
DRIVE = """
edit train.py
let s:tries = 0
while empty(ale#engine#GetLoclist(bufnr('')))  && s:tries < 600
  sleep 100m
  let s:tries += 1
endwhile
call writefile([json_encode(ale#engine#GetLoclist(bufnr('')))], 'told.json')
qall!
"""


def test_a_diagnostic_in_vim(tmp_path: Path) -> None:
    linter, settings = re.findall(r"```vim\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    own = tmp_path / "vim" / "ale_linters" / "python" / "dllint.vim"
    own.parent.mkdir(parents=True)
    start = f"'executable': '{sys.executable}',\n\\ 'command': '%e -m dllint server'"
    own.write_text(linter.replace("'executable': 'dllint',\n\\ 'command': '%e server'", start), encoding="utf-8")
    assert "-m dllint server" in own.read_text()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "train.py").write_text(f"from torch.utils.data import DataLoader\n\n{SOURCE}\n", encoding="utf-8")
    script = f"set nocompatible\nset runtimepath^={tmp_path / 'vim'}\n{settings}"
    (tmp_path / "vimrc").write_text(script)
    (tmp_path / "drive.vim").write_text(DRIVE)
    command = [VIM or "vim", "-n", "-u", "vimrc", "--not-a-term", "-S", "drive.vim"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, timeout=180, check=True)
    (told,) = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert (told["code"], told["lnum"], told["type"]) == ("DLL204", 3, "E")
    assert told["col"] == SOURCE.index("lambda") + 1
    assert "help: " in told.get("detail", told["text"])
