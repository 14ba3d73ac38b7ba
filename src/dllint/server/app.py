"""The connection to the editor: handles its messages, and decides when to check again.

Messages are handled on one thread; checks run on another, one at a time. Every edit makes the running check obsolete:
it stops at its next query, and the newest state is checked. A request waits for the check of the state that it
concerns; published diagnostics stay until that check ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from dllint import __version__
from dllint.config import Settings
from dllint.inference.interruption import Interrupted, Stop
from dllint.linter.memory import Memory
from dllint.server.analysis import Result, analyse, choice, projects
from dllint.server.answers import FIX_ALL, Answers, Offer
from dllint.server.editing import OpenFile, Piece
from dllint.server.standing import Standing
from dllint.setting_values import ConfigError

PATIENCE_S = 0.1
"""Seconds that typing must pause before a check begins."""
STACK_BYTES = 64 << 20
"""Stack size of the check thread, whose queries nest deeply; the default on macOS is too small."""
SECTION = "dllint"
WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/.gitignore", "**/requirements*.txt", "**/setup.cfg")


class Server:
    """The state of one connection."""

    def __init__(self) -> None:
        self.lsp: Any = LanguageServer(
            "dllint",
            __version__,
            # Full texts: pygls counts form feeds and Unicode separators as line ends, which editors do not.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                notebook_selector=[
                    types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])
                ],
                save=True,
            ),
        )
        self._opened: dict[str, OpenFile] = {}
        self._places: dict[str, tuple[str, int | None]] = {}
        self._state = 0
        self._checked = -1
        self._changed = asyncio.Event()
        self._stop = Stop()
        self._waiting: list[asyncio.Future[None]] = []
        self._kept: dict[str, tuple[int, Standing]] = {}
        self._memories: dict[str, Memory] = {}
        self._answers: dict[str, Answers] = {}
        self._told: set[str] = set()
        self._read: set[str] = set()
        self._offers: dict[str, tuple[Answers, Offer]] = {}
        self._published: dict[str, str] = {}
        self._options: Mapping[str, Any] = {}
        self._epoch = 0
        self._worker: asyncio.Task[None] | None = None
        self.checking = False
        self._register()

    def _register(self) -> None:
        handlers: list[tuple[str, Callable[..., Any], Any]] = [
            (types.INITIALIZE, self._initialize, None),
            (types.INITIALIZED, self._initialized, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self._text_changed, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._text_changed, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self._saved, None),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._text_closed, None),
            (types.NOTEBOOK_DOCUMENT_DID_OPEN, self._notebook_changed, None),
            (types.NOTEBOOK_DOCUMENT_DID_CHANGE, self._notebook_changed, None),
            (types.NOTEBOOK_DOCUMENT_DID_SAVE, self._saved, None),
            (types.NOTEBOOK_DOCUMENT_DID_CLOSE, self._notebook_closed, None),
            (types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._configured, None),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._saved, None),
            (
                types.TEXT_DOCUMENT_DIAGNOSTIC,
                self._pulled,
                types.DiagnosticOptions(identifier="dllint", inter_file_dependencies=True, workspace_diagnostics=False),
            ),
            (
                types.TEXT_DOCUMENT_CODE_ACTION,
                self._actions,
                types.CodeActionOptions(
                    code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
                ),
            ),
            (types.CODE_ACTION_RESOLVE, self._resolved, None),
            (types.TEXT_DOCUMENT_HOVER, self._hover, None),
            (types.TEXT_DOCUMENT_CODE_LENS, self._lenses, types.CodeLensOptions(resolve_provider=False)),
        ]
        for name, handler, options in handlers:
            self.lsp.feature(name, options)(_function(handler))

    # The editor's state

    def _initialize(self, params: types.InitializeParams) -> None:
        options = params.initialization_options
        if isinstance(options, dict):
            self._options = options.get(SECTION, options) or {}

    async def _initialized(self, params: types.InitializedParams) -> None:
        self._worker = asyncio.get_running_loop().create_task(self._work())
        if self._watches:
            watchers = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            )
            registration = types.Registration("dllint-watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watchers)
            self.lsp.client_register_capability(types.RegistrationParams([registration]))
        await self._configured(None)

    async def _configured(self, params: types.DidChangeConfigurationParams | None) -> None:
        if self._can("workspace", "configuration"):
            asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
            found = await self.lsp.workspace_configuration_async(asked)
            if found and isinstance(found[0], dict):
                self._options = found[0]
        elif params is not None and isinstance(params.settings, dict):
            self._options = params.settings.get(SECTION, params.settings) or {}
        self._saved(None)

    def _saved(self, params: object) -> None:
        """Check again, because files on disk may have changed."""
        if not self._is_open(params):
            self._epoch += 1
            self._again()

    def _is_open(self, params: object) -> bool:
        """Whether only open files changed on disk: for those the editor's text is checked, saved or not."""
        if isinstance(params, types.DidChangeWatchedFilesParams):
            changed = types.FileChangeType.Changed
            return all(one.type == changed and to_fs_path(one.uri) in self._opened for one in params.changes)
        # Without file watching, the client does not report changes of other files, so any of them may have changed.
        return isinstance(params, types.DidSaveTextDocumentParams) and self._watches

    def _text_changed(self, params: Any) -> None:
        uri = params.text_document.uri
        document = self.lsp.workspace.get_text_document(uri)
        path = to_fs_path(uri)
        if path is None or not uri.startswith("file:"):
            return
        self._opened[path] = OpenFile(path, (Piece(uri, document.version, document.source),))
        self._places[uri] = path, None
        self._again()

    def _text_closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._close(params.text_document.uri)

    def _notebook_changed(self, params: Any) -> None:
        uri = params.notebook_document.uri
        notebook = self.lsp.workspace.get_notebook_document(notebook_uri=uri)
        path = to_fs_path(uri)
        if notebook is None or path is None:
            return
        pieces = []
        for cell in notebook.cells:
            document = self.lsp.workspace.get_text_document(cell.document)
            code = cell.kind == types.NotebookCellKind.Code
            pieces.append(
                Piece(cell.document, document.version, document.source, code, document.language_id or "python")
            )
        self._forget(path)
        self._opened[path] = OpenFile(path, tuple(pieces), notebook=True)
        self._places.update((piece.uri, (path, number)) for number, piece in enumerate(pieces, 1))
        self._again()

    def _notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        path = to_fs_path(params.notebook_document.uri)
        if path is not None:
            self._forget(path)
            self._again()

    def _close(self, uri: str) -> None:
        path, _ = self._places.get(uri, (None, None))
        if path is not None:
            self._forget(path)
            self._again()

    def _forget(self, path: str) -> None:
        """Forget a closed document and clear its diagnostics."""
        opened = self._opened.pop(path, None)
        for piece in opened.pieces if opened is not None else ():
            self._places.pop(piece.uri, None)
            if self._published.pop(piece.uri, None) and self._pushes:
                self.lsp.text_document_publish_diagnostics(types.PublishDiagnosticsParams(piece.uri, []))

    def _can(self, *names: str) -> bool:
        """Whether the client announced a capability."""
        value: Any = self.lsp.client_capabilities
        for name in names:
            value = getattr(value, name, None)
        return bool(value)

    @property
    def _watches(self) -> bool:
        return self._can("workspace", "did_change_watched_files", "dynamic_registration")

    @property
    def _pushes(self) -> bool:
        return not self._can("text_document", "diagnostic")

    # Checks

    def _again(self) -> None:
        self._state += 1
        self._stop.wanted = True
        self._changed.set()

    async def _work(self) -> None:
        """Check the newest state, whenever there is one, until cancelled."""
        usual = threading.stack_size(STACK_BYTES)
        executor = ThreadPoolExecutor(1, thread_name_prefix="check")
        executor.submit(int).result()
        threading.stack_size(usual)
        while True:
            await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(PATIENCE_S)
            if self._changed.is_set():
                continue
            state = self._state
            try:
                await self._check_all(state, executor)
            except Interrupted:
                continue
            except ConfigError as error:
                self._tell(str(error))
                self._answers = {}
            except Exception as error:
                # A file that breaks a check must not end the connection.
                self._tell(f"internal error: {type(error).__name__}: {' '.join(str(error).split())}")
            self._drop_done()
            if state == self._state:
                self._checked = state
                waiting, self._waiting = self._waiting, []
                for one in waiting:
                    if not one.done():
                        one.set_result(None)
                self._publish()

    def _drop_done(self) -> None:
        """Drop finished futures: pygls 2.1 keeps two per notification forever, 2 KB per edit."""
        futures = getattr(self.lsp.protocol, "_request_futures", {})
        for key in [key for key, future in futures.items() if future.done()]:
            futures.pop(key, None)

    async def _check_all(self, state: int, executor: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        opened = list(self._opened.values()) if self._options.get("enable", True) else []
        chosen = choice(self._options)
        answers: dict[str, Answers] = {}
        kept: dict[str, tuple[int, Standing]] = {}
        for settings, here in await loop.run_in_executor(executor, projects, opened, chosen):
            epoch, standing = self._kept.get(settings.root, (-1, None))
            found = None
            if standing is not None and (epoch, standing.settings) == (self._epoch, settings):
                found = await loop.run_in_executor(executor, standing.followed, here)
            if found is None:
                result = await self._check_one(state, executor, settings, here)
                for problem in result.raw.problems:
                    self._tell(problem)
                memory = self._memories[settings.root]
                found = Standing(settings, {one.path: one for one in here}, result, memory, memory.input), result
            kept[settings.root] = self._epoch, found[0]
            said = Answers({one.path: one for one in here}, found[1], self._encoding)
            answers.update((one.path, said) for one in here)
        self._kept, self._answers = kept, answers
        self._memories = {root: self._memories[root] for root in kept if root in self._memories}

    async def _check_one(
        self, state: int, executor: ThreadPoolExecutor, settings: Settings, here: list[OpenFile]
    ) -> Result:
        loop = asyncio.get_running_loop()
        stop = self._stop = Stop(self._state != state)
        memory = self._memories.setdefault(settings.root, Memory())
        token = f"dllint-{state}"
        shows = settings.root not in self._read and self._can("window", "work_done_progress")
        if shows:
            await self.lsp.work_done_progress.create_async(token)
            begin = types.WorkDoneProgressBegin(title="dllint", message="Reading the project", percentage=0)
            self.lsp.work_done_progress.begin(token, begin)

        def progress(done: int, total: int) -> None:
            if shows:
                report = types.WorkDoneProgressReport(percentage=100 * done // max(total, 1))
                loop.call_soon_threadsafe(self.lsp.work_done_progress.report, token, report)

        def check() -> Result:
            self.checking = True
            try:
                return analyse(settings, here, stop, progress, memory)
            finally:
                self.checking = False

        try:
            result = await loop.run_in_executor(executor, check)
        finally:
            if shows:
                self.lsp.work_done_progress.end(token, types.WorkDoneProgressEnd())
        self._read.add(settings.root)
        return result

    @property
    def _encoding(self) -> Any:
        return str(getattr(self.lsp.workspace.position_encoding, "value", self.lsp.workspace.position_encoding))

    def _tell(self, problem: str) -> None:
        """Show a problem, but each only once."""
        if problem not in self._told:
            self._told.add(problem)
            self.lsp.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"dllint: {problem}"))

    def _publish(self) -> None:
        """Send changed diagnostics, or ask the client to pull them."""
        changed = False
        for uri, (path, cell) in self._places.items():
            items = self._answers[path].diagnostics(path, cell) if path in self._answers else []
            mark = _mark(items)
            if self._published.get(uri) != mark:
                self._published[uri] = mark
                changed = True
                if self._pushes:
                    piece = self._opened[path].piece(cell)
                    version = piece.version if piece is not None else None
                    self.lsp.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, version))
        if changed and not self._pushes and self._can("workspace", "diagnostics", "refresh_support"):
            self.lsp.workspace_diagnostic_refresh(None)
        if changed and self._can("workspace", "code_lens", "refresh_support"):
            self.lsp.workspace_code_lens_refresh(None)

    async def _current(self, uri: str) -> tuple[Answers, str, int | None] | None:
        """Return the answers about a document in the newest state; `None` if it is unknown."""
        while self._checked != self._state:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        path, cell = self._places.get(uri, ("", None))
        return (self._answers[path], path, cell) if path in self._answers else None

    # Requests

    async def _pulled(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        found = await self._current(params.text_document.uri)
        items = found[0].diagnostics(*found[1:]) if found is not None else []
        mark = _mark(items)
        if params.previous_result_id == mark:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=mark)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=mark)

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        found = await self._current(params.text_document.uri)
        if found is None:
            return []
        answers, path, cell = found
        only = params.context.only
        offers: list[Offer] = []
        if _wanted(types.CodeActionKind.QuickFix, only):
            offers += answers.offers(path, cell, params.range)
        if _wanted(FIX_ALL, only) and (every := answers.fix_all(path)) is not None:
            offers.append(every)
        later = "edit" in self._resolvable
        self._offers = {f"{self._checked}:{number}": (answers, offer) for number, offer in enumerate(offers)}
        return [
            types.CodeAction(
                title=offer.title,
                kind=offer.kind,
                diagnostics=list(offer.diagnostics) or None,
                is_preferred=offer.preferred or None,
                edit=None if later else answers.edit(offer.edits, self._versioned),
                data=key,
            )
            for key, (answers, offer) in self._offers.items()
        ]

    def _resolved(self, action: types.CodeAction) -> types.CodeAction:
        """Return the action with the edit that was offered, regardless of what the client sends."""
        answers, offer = self._offers.get(str(action.data), (None, None))
        fresh = str(action.data).startswith(f"{self._state}:")
        action.edit = answers.edit(offer.edits, self._versioned) if answers and offer and fresh else None
        return action

    @property
    def _resolvable(self) -> list[str]:
        actions = getattr(self.lsp.client_capabilities.text_document, "code_action", None)
        support = getattr(actions, "resolve_support", None)
        return list(getattr(support, "properties", ()))

    @property
    def _versioned(self) -> bool:
        return self._can("workspace", "workspace_edit", "document_changes")

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        found = await self._current(params.text_document.uri)
        return found[0].hover(found[1], found[2], params.position) if found is not None else None

    async def _lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        found = await self._current(params.text_document.uri)
        return found[0].lenses(*found[1:]) if found is not None else []


def _function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a method in a function, because pygls sets attributes on handlers."""
    if not asyncio.iscoroutinefunction(method):
        return lambda params: method(params)

    async def call(params: Any) -> Any:
        return await method(params)

    return call


def _wanted(kind: str, only: Any) -> bool:
    """Whether a client that requests some kinds of actions wants this kind."""
    return not only or any(kind == str(one) or kind.startswith(f"{_text(one)}.") or kind == _text(one) for one in only)


def _text(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


def _mark(items: list[types.Diagnostic]) -> str:
    return hashlib.sha256(repr(items).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def serve() -> None:
    """Speak the protocol on standard input and output until the client ends it."""
    # pygls logs errors with tracebacks, but also reports them to the client in one line.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server()
    server.lsp.start_io()
    if server.checking:
        # At exit, Python would wait for the thread of a check whose result nobody needs.
        os._exit(0)
