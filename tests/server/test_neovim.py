"""Neovim without a screen opens a file, is told of the hazard, carries out the fix, and has the expected text."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server")
NEOVIM = shutil.which("nvim")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")]

LINE = "名前 = '😀'; loader = DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn={})"
BEFORE = ["from torch.utils.data import DataLoader", "", LINE.format("lambda rows: rows")]
AFTER = [BEFORE[0], "", "", "def _collate_fn(rows):", "    return rows", "", "", LINE.format("_collate_fn")]
SCRIPT = """
local seen = {{}}
local function diagnostics() return vim.diagnostic.get(0) end
vim.cmd('edit train.py')
local id = vim.lsp.start_client({{ name = 'dllint', cmd = {{ {python}, '-m', 'dllint', 'server' }}, root_dir = '.' }})
vim.lsp.buf_attach_client(0, id)
vim.wait(60000, function() return #diagnostics() > 0 end, 50)
for _, one in ipairs(diagnostics()) do
  local line = vim.api.nvim_buf_get_lines(0, one.lnum, one.lnum + 1, false)[1]
  table.insert(seen, one.code .. ' ' .. line:sub(one.col + 1, one.end_col))
end
local client = vim.lsp.get_client_by_id(id)
local params = vim.lsp.util.make_range_params()
params.range = {{ start = {{ line = 2, character = 0 }}, ['end'] = {{ line = 2, character = 0 }} }}
params.context = {{ diagnostics = {{}} }}
local answer = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 30000)
local action = answer[id].result[1]
if not action.edit then
  action = vim.lsp.buf_request_sync(0, 'codeAction/resolve', action, 30000)[id].result
end
vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
vim.wait(60000, function() return #diagnostics() == 0 end, 50)
local told = {{ seen = seen, title = action.title, lines = lines, left = #diagnostics() }}
vim.fn.writefile({{ vim.fn.json_encode(told) }}, 'told.json')
vim.cmd('qa!')
"""


def test_a_diagnostic_and_its_fix_in_neovim(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text("\n".join(BEFORE) + "\n", encoding="utf-8")
    (tmp_path / "drive.lua").write_text(SCRIPT.format(python=json.dumps(sys.executable)), encoding="utf-8")
    command = [NEOVIM or "nvim", "--headless", "--clean", "-n", "-u", "drive.lua"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=180, check=True)
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told == {
        "seen": ["DLL204 lambda rows: rows"],
        "title": "Move it to the top of the module as `_collate_fn`, where workers can import it",
        "lines": AFTER,
        "left": 0,
    }
