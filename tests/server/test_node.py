"""A client on VS Code's protocol library opens a notebook, resolves an action, cancels a request, removes a cell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server")
NODE, NPM = shutil.which("node"), shutil.which("npm")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not NODE or not NPM, reason="Node.js is not installed")]

CLIENT = Path(__file__).parent / "node"
IMPORTS = "%matplotlib inline\nfrom torch.utils.data import DataLoader\n"
LINE = "名前 = '😀'; loader = DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn={})\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client with the package that it needs; skips where no registry can be reached."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(CLIENT, folder, dirs_exist_ok=True)
    install = [NPM or "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot install vscode-languageserver-protocol: {done.stderr.strip()[-200:]}")
    return folder / "client.js"


def test_a_notebook_in_a_client_of_vs_code(client: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    sources = [IMPORTS, f"!ls\n{LINE.format('lambda rows: rows')}"]
    command = [NODE or "node", str(client), sys.executable, str(tmp_path), *sources]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    first, second = (f"vscode-notebook-cell:/train.ipynb#W{at}" for at in range(2))
    assert told["encoding"] == "utf-16" and told["code"] == 0
    assert told["first"][first] == []
    (found,) = told["first"][second]
    start = len(LINE[: LINE.index("{")].encode("utf-16-le")) // 2
    assert (found["code"], found["range"]["start"]) == ("DLL204", {"line": 1, "character": start})
    assert found["relatedInformation"][0]["location"]["uri"] == second
    assert "edit" not in told["offered"] and told["offered"]["data"]
    (change,) = told["action"]["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": second, "version": 1}
    # Workers cannot import what a cell defines, so that no fix moves the lambda: a comment is what can be offered.
    assert told["action"]["title"] == "Ignore DLL204 on this line"
    (edit,) = change["edits"]
    assert edit["newText"].startswith(LINE.format("lambda rows: rows")[:-1] + "  # dllint: ignore[DLL204]")
    assert [lens["command"]["title"] for lens in told["lenses"]] == ["starts 2 workers by spawn"]
    assert told["hover"]["contents"]["value"].startswith("# DLL204 ")
    assert told["cancelledAs"] in ("answered", -32800)
    assert told["told"]["progress"][0] == "begin" and told["told"]["progress"][-1] == "end"
    assert told["told"]["registered"] == ["workspace/didChangeWatchedFiles"] and told["told"]["refreshed"] > 0
