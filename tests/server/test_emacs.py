"""Emacs without a screen, set up as docs/editors.md says: the diagnostic, its page, the fix, and the expected text."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server")
EMACS = shutil.which("emacs")
HAS_EGLOT = (
    EMACS is not None
    and not subprocess.run(
        [EMACS, "--batch", "--eval", "(progn (require 'package) (package-initialize) (require 'eglot))"],
        capture_output=True,
        check=False,
    ).returncode
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not HAS_EGLOT, reason="Emacs with eglot is not installed")]

DOCS = Path(__file__).parent.parent.parent / "docs" / "editors.md"
LINE = "名前 = '😀'; loader = DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn={})\n"
BEFORE = f"from torch.utils.data import DataLoader\n\n{LINE.format('lambda rows: rows')}"
AFTER = "from torch.utils.data import DataLoader\n\n\ndef _collate_fn(rows):\n    return rows\n\n\n" + LINE.format(
    "_collate_fn"
)
SCRIPT = """
(require 'package)
(package-initialize)
(require 'eglot)
(require 'json)
{settings}
(setq eglot-confirm-server-initiated-edits nil eglot-connect-timeout 60 eglot-sync-connect 60)
(find-file "train.py")
(python-mode)
(call-interactively 'eglot)
(defun wait-for (done)
  (let ((tries 0))
    (while (and (< tries 600) (not (funcall done)))
      (accept-process-output nil 0.1)
      (setq tries (1+ tries)))))
(wait-for (lambda () (flymake-diagnostics)))
(let* ((found (car (flymake-diagnostics)))
       (server (eglot--current-server-or-lose))
       (marked (buffer-substring (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))
       (page nil) (action nil))
  (goto-char (flymake-diagnostic-beg found))
  (setq page (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)))
  (setq action (elt (eglot-code-actions (point) (point) nil nil) 0))
  (if (fboundp 'eglot-execute)
      (eglot-execute server action)
    (eglot--apply-workspace-edit (plist-get action :edit)))
  (eglot--signal-textDocument/didChange)
  (wait-for (lambda () (null (flymake-diagnostics))))
  (let ((coding-system-for-write 'utf-8) (text (buffer-string)))
    (with-temp-file "told.json"
      (insert (json-encode (list
        :marked marked :text text :left (length (flymake-diagnostics))
        :page (plist-get (plist-get page :contents) :value) :title (plist-get action :title)))))))
"""


def test_a_diagnostic_and_its_fix_in_emacs(tmp_path: Path) -> None:
    (settings,) = re.findall(r"```elisp\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(BEFORE, encoding="utf-8")
    (tmp_path / "drive.el").write_text(SCRIPT.format(settings=settings), encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "dllint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dllint "$@"\n')
    (programs / "dllint").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    command = [EMACS or "emacs", "--batch", "-l", "drive.el"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told.pop("page").startswith("# DLL204 ")
    assert told == {
        "marked": "lambda rows: rows",
        "title": "Move it to the top of the module as `_collate_fn`, where workers can import it",
        "text": AFTER,
        "left": 0,
    }
