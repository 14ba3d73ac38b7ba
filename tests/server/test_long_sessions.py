"""Sessions with many edits: what they cost, and what remains of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.server")

EDITS = int(os.environ.get("DLLINT_EDITS", "2400"))
"""Of the test of memory."""
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
WATCHED = """
import time
import dllint.linter as linter
check = linter.check
def watched(*given):
    with open({log!r}, "a") as log:
        log.write("check\\n")
    time.sleep({seconds})
    return check(*given)
linter.check = watched
"""


class Session:
    """A server in its own process, and a client that speaks plain JSON to it."""

    def __init__(self, root: Path, seconds: float = 0, watches: bool = False) -> None:
        self.log = root / "checks.log"
        self.log.touch()
        site = root / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(WATCHED.format(log=str(self.log), seconds=seconds))
        paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dllint", "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(root / ".cache")},
        )
        self.uri = (root / "train.py").as_uri()
        self.last = 0
        self.version = 0
        watching = {"didChangeWatchedFiles": {"dynamicRegistration": watches}}
        capabilities = {"textDocument": {"diagnostic": {}}, "workspace": watching}
        self.ask("initialize", capabilities=capabilities, rootUri=root.as_uri())
        self.tell("initialized")

    def send(self, **content: Any) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **content}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, **params: Any) -> Any:
        assert self.process.stdout is not None
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        while True:
            length = int(self.process.stdout.readline().partition(b":")[2])
            while self.process.stdout.readline().strip():
                pass
            answer = json.loads(self.process.stdout.read(length))
            if answer.get("id") == self.last:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, text: str) -> None:
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)

    def change(self, text: str) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def close(self) -> None:
        self.tell("textDocument/didClose", textDocument={"uri": self.uri})

    def found(self) -> list[tuple[str, int]]:
        """Code and line, from 0, of what is said of the file now."""
        items = self.ask("textDocument/diagnostic", textDocument={"uri": self.uri})["items"]
        return [(one["code"], one["range"]["start"]["line"]) for one in items]

    @property
    def checks(self) -> int:
        return len(self.log.read_text().splitlines())

    def end(self) -> int:
        assert self.process.stdin is not None
        self.ask("shutdown")
        self.tell("exit")
        return self.process.wait(60)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    return tmp_path


@pytest.fixture
def session(root: Path) -> Iterator[Session]:
    session = Session(root)
    yield session
    session.process.kill()
    session.process.wait()


def test_only_edits_that_change_what_the_program_says_are_checked(session: Session) -> None:
    session.open(HAZARD)
    assert (session.found(), session.checks) == ([("DLL204", 1)], 1)
    session.change("# what this is\n\n" + HAZARD)
    assert (session.found(), session.checks) == ([("DLL204", 3)], 1)
    session.change(HAZARD + "print(")
    assert (session.found(), session.checks) == ([("DLL001", 2)], 1)
    session.change(HAZARD)
    assert (session.found(), session.checks) == ([("DLL204", 1)], 1)
    session.change(HAZARD + "print()\n")
    assert (session.found(), session.checks) == ([("DLL204", 1)], 2)
    session.tell("textDocument/didSave", textDocument={"uri": session.uri})
    assert (session.found(), session.checks) == ([("DLL204", 1)], 3)
    assert session.end() == 0


def test_saving_an_open_file_changes_nothing_where_the_client_watches_the_others(root: Path) -> None:
    session = Session(root, watches=True)
    (root / "other.py").write_text("import torch\n")
    session.open(HAZARD)
    assert (session.found(), session.checks) == ([("DLL204", 1)], 1)
    session.tell("textDocument/didSave", textDocument={"uri": session.uri})
    session.tell("workspace/didChangeWatchedFiles", changes=[{"uri": session.uri, "type": 2}])
    assert (session.found(), session.checks) == ([("DLL204", 1)], 1)
    session.tell("workspace/didChangeWatchedFiles", changes=[{"uri": (root / "other.py").as_uri(), "type": 2}])
    assert (session.found(), session.checks) == ([("DLL204", 1)], 2)
    session.tell("workspace/didChangeWatchedFiles", changes=[{"uri": session.uri, "type": 1}])
    assert (session.found(), session.checks) == ([("DLL204", 1)], 3)
    assert session.end() == 0


def test_closing_and_editing_while_a_check_runs(root: Path) -> None:
    session = Session(root, seconds=0.6)
    session.open(HAZARD)
    while not session.checks:
        assert session.process.poll() is None
    session.close()
    assert session.found() == []
    session.open(HAZARD)
    while session.checks < 2:
        assert session.process.poll() is None
    session.change("\n" + HAZARD.replace("lambda rows: rows", "list"))
    session.change("\n\n" + HAZARD)
    assert session.found() == [("DLL204", 3)]
    assert session.checks == 3
    session.change(HAZARD.replace("num_workers=2", "num_workers=3"))
    while session.checks < 4:
        assert session.process.poll() is None
    assert session.end() == 0


@pytest.mark.slow
def test_edits_leave_nothing_in_memory(session: Session) -> None:
    psutil = pytest.importorskip("psutil")
    server = psutil.Process(session.process.pid)
    session.open(HAZARD)
    sizes = []
    for number in range(EDITS):
        kind = number % 4
        text = [HAZARD, f"# {number}\n{HAZARD}", f"{HAZARD}print({number}", f"{HAZARD}print({number})\n"][kind]
        session.change(text)
        if number % 75 == 0:
            session.found()
        if number in (EDITS // 4 - 1, EDITS - 1):
            sizes.append(server.memory_info().rss)
    assert session.found() == [("DLL204", 1)]
    before, after = sizes
    print(f"{EDITS} edits, {session.checks} checks: {before / 2**20:.1f} MiB after a quarter, {after / 2**20:.1f} MiB")
    assert after - before < 1.8 * 2**20
