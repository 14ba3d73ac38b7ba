"""Hooks that run when the program imports a module."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest

from dllint.probe import imports


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 adds a frame again")
def test_an_interrupt_in_a_hook_is_told_as_one_of_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "interrupted_while_imported.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(imports, "_hooks", {})
    monkeypatch.setattr(sys, "meta_path", [imports.Finder(), *sys.meta_path])

    def hook(module: ModuleType) -> None:
        raise KeyboardInterrupt

    imports.when("interrupted_while_imported", hook)
    with pytest.raises(KeyboardInterrupt) as raised:
        importlib.import_module("interrupted_while_imported")
    shown = "".join(traceback.format_exception(raised.value))
    assert "test_imports.py" in shown and "probe/imports.py" not in shown and "in hook" not in shown
