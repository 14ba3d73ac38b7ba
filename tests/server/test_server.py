"""The server in its own process, spoken to by pygls' client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.client")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE_S = 60
HEAD = "from torch.utils.data import DataLoader\n"
CALL = "DataLoader([], num_workers=2, multiprocessing_context='spawn', "
HAZARD = f"{HEAD}{CALL}collate_fn=lambda rows: rows)\n"
ODD = f"{HEAD}名 = '😀'; loader = {CALL}collate_fn=lambda rows: rows)\n"


class Editor:
    """A client, and what it was sent."""

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.refreshed = 0
        self.progress: list[str] = []
        self.settings: dict[str, Any] = {}
        for name, handler in {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: lambda params: self.published.put_nowait(params),
            types.WINDOW_SHOW_MESSAGE: lambda params: self.messages.append(params.message),
            types.WINDOW_WORK_DONE_PROGRESS_CREATE: lambda params: None,
            types.PROGRESS: lambda params: self.progress.append(params.value["kind"]),
            types.WORKSPACE_DIAGNOSTIC_REFRESH: lambda params: self._refresh(),
            types.WORKSPACE_CONFIGURATION: lambda params: [self.settings],
            types.CLIENT_REGISTER_CAPABILITY: lambda params: None,
        }.items():
            self.client.feature(name)(handler)

    def _refresh(self) -> None:
        self.refreshed += 1

    def open(self, path: Path, text: str, version: int = 1) -> str:
        item = types.TextDocumentItem(path.as_uri(), types.LanguageKind.Python, version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return path.as_uri()

    def change(self, uri: str, text: str, version: int) -> None:
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """The next that are pushed for a document."""
        while True:
            params = await asyncio.wait_for(self.published.get(), PATIENCE_S)
            if params.uri == uri:
                return list(params.diagnostics)

    async def pull(self, uri: str, previous: str | None = None) -> Any:
        given = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(given), PATIENCE_S)

    async def actions(self, uri: str, line: int, *only: str) -> list[types.CodeAction]:
        given = types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            spot(line, 0, line, 0),
            types.CodeActionContext([], only=list(only) or None),
        )
        found = await asyncio.wait_for(self.client.text_document_code_action_async(given), PATIENCE_S)
        return [one for one in found or [] if isinstance(one, types.CodeAction)]


def spot(line: int, start: int, end_line: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(end_line, end))


@asynccontextmanager
async def editing(
    root: Path, capabilities: types.ClientCapabilities | None = None, **settings: Any
) -> AsyncIterator[Editor]:
    editor = Editor()
    environment = {**os.environ, "XDG_CACHE_HOME": str(root / ".cache"), "PYTHONWARNINGS": "ignore"}
    await editor.client.start_io(sys.executable, "-m", "dllint", "server", env=environment)
    await editor.client.initialize_async(
        types.InitializeParams(
            capabilities or types.ClientCapabilities(), root_uri=root.as_uri(), initialization_options=settings
        )
    )
    editor.client.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        await asyncio.wait_for(editor.client.shutdown_async(None), PATIENCE_S)
        editor.client.exit(None)
        await asyncio.wait_for(editor.client.stop(), PATIENCE_S)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    return tmp_path


def play(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work(), 2 * PATIENCE_S)

    asyncio.run(limited())


def pulling(**more: Any) -> types.ClientCapabilities:
    document = types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities(), code_action=more.pop("code_action", None)
    )
    return types.ClientCapabilities(text_document=document, **more)


def applied(text: str, edits: list[Any], encoding: str = "utf-16") -> str:
    """The text after edits whose columns are in an encoding, as an editor does it."""
    lines = text.split("\n")

    def offset(at: types.Position) -> int:
        unit = {"utf-8": lambda char: len(char.encode()), "utf-16": lambda char: 1 + (char > "\uffff")}[encoding]
        line, column, left = lines[at.line], 0, at.character
        while left > 0:
            left -= unit(line[column])
            column += 1
        return sum(len(one) + 1 for one in lines[: at.line]) + column

    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_pushed_diagnostics_follow_the_edits(root: Path) -> None:
    async def work() -> None:
        async with editing(root) as editor:
            uri = editor.open(root / "train.py", HAZARD)
            (found,) = await editor.diagnostics(uri)
            start = HAZARD.splitlines()[1].index("lambda")
            assert (found.code, found.source, found.severity) == ("DLL204", "dllint", types.DiagnosticSeverity.Error)
            assert found.range == spot(1, start, 1, start + len("lambda rows: rows"))
            (related,) = found.related_information
            assert related.location == types.Location(uri, spot(1, 0, 1, len(HAZARD.splitlines()[1])))
            assert found.code_description.href.endswith("DLL204-unpicklable-worker-callable.md")
            editor.change(uri, HAZARD.replace("lambda rows: rows", "list"), 2)
            assert await editor.diagnostics(uri) == []
            editor.change(uri, HEAD + "print(", 3)
            assert [one.code for one in await editor.diagnostics(uri)] == ["DLL001"]
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
            assert await editor.diagnostics(uri) == []

    play(work)


@pytest.mark.slow
def test_a_trace_leads_through_files_that_are_not_open(root: Path) -> None:
    (root / "launch.py").write_text(
        "import torch.multiprocessing as mp\nfrom train import work\n\n"
        "if __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"
    )
    text = f"{HEAD}\n\ndef work(rank):\n    return DataLoader(range(9), num_workers=4, collate_fn=lambda rows: rows)\n"

    async def work() -> None:
        async with editing(root, pulling()) as editor:
            uri = editor.open(root / "train.py", text)
            items = list((await editor.pull(uri)).items)
            hops = [one for item in items for one in item.related_information]
            assert (root / "launch.py").as_uri() in {one.location.uri for one in hops}
            given = types.CodeLensParams(types.TextDocumentIdentifier(uri))
            (lens,) = await editor.client.text_document_code_lens_async(given)
            assert lens.command.title == "starts 4 workers by spawn, from launch.py:5" and lens.range.start.line == 4
            launcher = editor.open(root / "launch.py", (root / "launch.py").read_text())
            given = types.CodeLensParams(types.TextDocumentIdentifier(launcher))
            (lens,) = await editor.client.text_document_code_lens_async(given)
            assert lens.command.title == "starts processes by spawn"

    play(work)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_columns_and_fixes_in_the_encoding_of_the_client(root: Path, encoding: str) -> None:
    offered = [types.PositionEncodingKind(encoding)]
    capabilities = pulling(general=types.GeneralClientCapabilities(position_encodings=offered))

    async def work() -> None:
        async with editing(root, capabilities) as editor:
            uri = editor.open(root / "train.py", ODD)
            (found,) = (await editor.pull(uri)).items
            line = ODD.splitlines()[1]
            before = line[: line.index("lambda")]
            width = len(before.encode()) if encoding == "utf-8" else len(before.encode("utf-16-le")) // 2
            assert found.range.start == types.Position(1, width)
            fix, suppress, every = await editor.actions(uri, 1)
            assert fix.title == "Move it to the top of the module as `_collate_fn`, where workers can import it"
            assert fix.is_preferred
            assert fix.edit is not None and fix.edit.changes is not None
            fixed = applied(ODD, list(fix.edit.changes[uri]), encoding)
            assert "def _collate_fn(rows):\n    return rows\n" in fixed and "名 = '😀'; loader = " in fixed
            assert fixed.rstrip().endswith("collate_fn=_collate_fn)")
            assert suppress.title == "Ignore DLL204 on this line" and suppress.edit and suppress.edit.changes
            silenced = applied(ODD, list(suppress.edit.changes[uri]), encoding)
            assert silenced.splitlines()[1] == f"{line}  # dllint: ignore[DLL204] TODO: reason"
            assert every.kind == "source.fixAll.dllint" and every.edit and every.edit.changes
            assert applied(ODD, list(every.edit.changes[uri]), encoding) == fixed
            assert [one.kind for one in await editor.actions(uri, 1, "source.fixAll")] == ["source.fixAll.dllint"]
            editor.change(uri, fixed, 2)
            assert list((await editor.pull(uri)).items) == []

    play(work)


def test_what_a_client_sends_back_is_not_carried_out(root: Path) -> None:
    resolving = types.CodeActionClientCapabilities(
        data_support=True, resolve_support=types.ClientCodeActionResolveOptions(["edit"])
    )
    edits = types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )

    async def work() -> None:
        async with editing(root, pulling(code_action=resolving, workspace=edits)) as editor:
            uri = editor.open(root / "train.py", HAZARD, version=7)
            first, *_ = await editor.actions(uri, 1)
            assert first.edit is None
            first.edit = types.WorkspaceEdit(changes={"file:///etc/passwd": [types.TextEdit(spot(0, 0, 0, 0), "x")]})
            resolved = await editor.client.code_action_resolve_async(first)
            assert resolved.edit.changes is None
            (change,) = resolved.edit.document_changes
            assert (change.text_document.uri, change.text_document.version) == (uri, 7)
            for data in ("1:99", None, {"a": 1}):
                first.data = data
                assert (await editor.client.code_action_resolve_async(first)).edit is None
            stale, *_ = await editor.actions(uri, 1)
            editor.change(uri, "\n" + HAZARD, 8)
            assert (await editor.client.code_action_resolve_async(stale)).edit is None

    play(work)


def test_pulled_diagnostics_hover_progress_and_unknown_documents(root: Path) -> None:
    capabilities = pulling(window=types.WindowClientCapabilities(work_done_progress=True))

    async def work() -> None:
        async with editing(root, capabilities) as editor:
            uri = editor.open(root / "train.py", HAZARD + "x = 1  # dllint: ignore[DLL201]\n")
            first = await editor.pull(uri)
            assert [one.code for one in first.items] == ["DLL204", "DLL002"]
            assert list(first.items[1].tags) == [types.DiagnosticTag.Unnecessary]
            again = await editor.pull(uri, first.result_id)
            assert again.kind == "unchanged" and again.result_id == first.result_id
            assert editor.progress[0] == "begin" and editor.progress[-1] == "end"
            for at, code in (
                (types.Position(1, HAZARD.splitlines()[1].index("lambda") + 3), "DLL204"),
                (types.Position(2, 26), "DLL002"),
                (types.Position(0, 3), None),
            ):
                given = types.HoverParams(types.TextDocumentIdentifier(uri), at)
                hover = await editor.client.text_document_hover_async(given)
                assert (hover is None) == (code is None)
                if hover is not None:
                    assert hover.contents.value.startswith(f"# {code} ") and "## Why it is bad" in hover.contents.value
            assert editor.published.empty()
            unknown = (root / "unknown.py").as_uri()
            assert list((await editor.pull(unknown)).items) == []
            assert await editor.actions(unknown, 0) == []
            editor.change(unknown, HAZARD, 3)
            editor.client.text_document_did_close(
                types.DidCloseTextDocumentParams(types.TextDocumentIdentifier("untitled:Untitled-1"))
            )
            uri = editor.open(root / "other.py", HAZARD, version=5)
            for version in (9, 7, 8):
                editor.change(uri, HAZARD * (version - 6), version)
            assert [one.code for one in (await editor.pull(uri)).items] == ["DLL204", "DLL204"]
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
            assert list((await editor.pull(uri)).items) == []

    play(work)


def test_notebooks_are_checked_by_cell(root: Path) -> None:
    path = root / "train.ipynb"
    first = f"%matplotlib inline\n{HEAD}class Rows:\n    pass\n"
    sources = ["Title", first, f"!ls\nx = 1  # dllint: ignore[DLL204]\n{CALL}collate_fn=lambda rows: rows)"]
    kinds = [types.NotebookCellKind.Markup, types.NotebookCellKind.Code, types.NotebookCellKind.Code]
    uris = [f"vscode-notebook-cell:/train.ipynb#W{number}" for number in range(3)]

    async def work() -> None:
        async with editing(root) as editor:
            cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
            notebook = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
            documents = [
                types.TextDocumentItem(uri, "python" if number else "markdown", 1, text)
                for number, (uri, text) in enumerate(zip(uris, sources, strict=True))
            ]
            editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, documents))
            found: dict[str, list[types.Diagnostic]] = {}
            while set(found) != set(uris):
                params = await asyncio.wait_for(editor.published.get(), PATIENCE_S)
                found[params.uri] = list(params.diagnostics)
            assert found[uris[0]] == found[uris[1]] == []
            unused, hazard = found[uris[2]]
            assert (unused.code, unused.range.start.line) == ("DLL002", 1)
            assert (hazard.code, hazard.range.start) == ("DLL204", types.Position(2, len(CALL) + len("collate_fn=")))
            assert hazard.related_information[0].location.uri == uris[2]
            fix, *_ = await editor.actions(uris[2], 1)
            assert fix.edit is not None and fix.edit.changes is not None
            (edits,) = fix.edit.changes.values()
            assert list(fix.edit.changes) == [uris[2]]
            assert applied(sources[2], list(edits)) == sources[2].replace("  # dllint: ignore[DLL204]", "")
            changed = types.NotebookDocumentCellContentChanges(
                types.VersionedTextDocumentIdentifier(2, uris[2]),
                [types.TextDocumentContentChangeWholeDocument("x = 1\n")],
            )
            editor.client.notebook_document_did_change(
                types.DidChangeNotebookDocumentParams(
                    types.VersionedNotebookDocumentIdentifier(2, path.as_uri()),
                    types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[changed])),
                )
            )
            assert await editor.diagnostics(uris[2]) == []

    play(work)


@pytest.mark.slow
def test_settings_of_the_editor_and_of_the_project(root: Path) -> None:
    capabilities = types.ClientCapabilities(workspace=types.WorkspaceClientCapabilities(configuration=True))

    async def work() -> None:
        async with editing(root, capabilities) as editor:
            editor.settings = {"ignore": ["DLL204"]}
            uri = editor.open(root / "train.py", HAZARD)
            first = await editor.diagnostics(uri)
            if first:  # The first check may have run before the settings came.
                first = await editor.diagnostics(uri)
            assert first == []
            editor.settings = {"targetPython": "3.12"}
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={}))
            assert [one.code for one in await editor.diagnostics(uri)] == ["DLL204"]
            (root / "pyproject.toml").write_text("[tool.dllint]\nignore = ['DLL2']\n")
            editor.client.workspace_did_change_watched_files(
                types.DidChangeWatchedFilesParams(
                    [types.FileEvent((root / "pyproject.toml").as_uri(), types.FileChangeType.Changed)]
                )
            )
            assert await editor.diagnostics(uri) == []
            editor.settings = {"nonsense": 1}
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={}))
            for _ in range(100):
                if editor.messages:
                    break
                await asyncio.sleep(0.05)
            (message,) = editor.messages
            assert message == 'dllint: the editor\'s settings: "nonsense" is no setting of dllint'

    play(work)


@pytest.mark.slow
def test_a_rule_that_crashes_is_told_once_and_the_others_go_on(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = "import dllint.rules.data.unsharded_iterable_dataset as rule\nrule.check = crash\n"
    crash = f"def crash(project, options):\n    raise ValueError('boom')\n\n{crash}"
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(crash)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))

    async def work() -> None:
        async with editing(root, pulling()) as editor:
            uri = editor.open(root / "train.py", HAZARD)
            for version in range(2, 5):
                editor.change(uri, "\n" * version + HAZARD, version)
                assert [one.code for one in (await editor.pull(uri)).items] == ["DLL204"]
            (message,) = editor.messages
            assert message.startswith("dllint: internal error in DLL601") and "ValueError: boom" in message

    play(work)


def message(content: dict[str, Any] | bytes) -> bytes:
    data = content if isinstance(content, bytes) else json.dumps({"jsonrpc": "2.0", **content}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def test_malformed_messages_end_nothing(root: Path) -> None:
    """And the end is quiet: no traceback, exit code 0."""
    uri = (root / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": HAZARD}
    sent: list[dict[str, Any] | bytes] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {"textDocument": {"diagnostic": {}}}}},
        {"method": "initialized", "params": {}},
        b"{bad",
        b"\xff\x00",
        {"id": 2, "method": "textDocument/hover", "params": {"textDocument": 5}},
        {"id": 3, "method": "no/such", "params": {}},
        {"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri}, "contentChanges": []}},
        {"method": "$/cancelRequest", "params": {"id": 99}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ]
    command = [sys.executable, "-m", "dllint", "server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(b"".join(map(message, sent)))
        server.stdin.write(
            message({"id": 4, "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": uri}}})
        )
        server.stdin.flush()
        answers: dict[object, dict[str, Any]] = {}
        while 4 not in answers:
            length = int(server.stdout.readline().partition(b":")[2])
            while server.stdout.readline().strip():
                pass
            answer = json.loads(server.stdout.read(length))
            answers[answer.get("id")] = answer
        server.stdin.write(message({"id": 5, "method": "shutdown"}) + message({"method": "exit"}))
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0
        assert server.stderr.read() == b""
    assert answers[3]["error"]["code"] == -32601
    assert [one["code"] for one in answers[4]["result"]["items"]] == ["DLL204"]
