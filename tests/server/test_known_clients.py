"""The server before clients that say of themselves what Emacs, Neovim and VS Code say, through pytest-lsp, which fails
where an answer breaks what the client can take."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp")

import pytest_lsp
from lsprotocol import types

HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
CLIENTS = ["emacs@v29.1", "neovim@v0.11.0", "visual-studio-code@v1.65.2"]
PATIENCE_S = 60
pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="function"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "train.py").write_text(HAZARD)
    return tmp_path


@pytest_lsp.fixture(
    params=CLIENTS,
    config=pytest_lsp.ClientServerConfig(
        server_command=[sys.executable, "-m", "dllint", "server"],
        server_env={**os.environ, "PYTHONWARNINGS": "ignore"},
    ),
)
async def client(
    lsp_client: pytest_lsp.LanguageClient, request: pytest.FixtureRequest, root: Path
) -> AsyncIterator[None]:
    # What pytest-lsp leaves to its users, though the clients say that they can do it.
    for name in (types.CLIENT_REGISTER_CAPABILITY, types.WORKSPACE_CODE_LENS_REFRESH):
        lsp_client.feature(name)(lambda params: None)
    lsp_client.set_configuration({"dllint": {"cacheDir": str(root / ".cache")}})
    capabilities = pytest_lsp.client_capabilities(request.param)
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities, root_uri=root.as_uri()))
    yield
    await lsp_client.shutdown_session()


async def diagnostics(client: pytest_lsp.LanguageClient, uri: str) -> list[types.Diagnostic]:
    """Pulled where the client can, else those that are pushed next."""
    document = client.capabilities.text_document
    if document is not None and document.diagnostic is not None:
        given = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        return list((await client.text_document_diagnostic_async(given)).items)
    await asyncio.wait_for(client.wait_for_notification("textDocument/publishDiagnostics"), PATIENCE_S)
    return list(client.diagnostics[uri])


async def test_a_session(client: pytest_lsp.LanguageClient, root: Path) -> None:
    """Open, look, resolve, apply, and see the finding gone."""
    path = root / "train.py"
    uri = path.as_uri()
    document = types.TextDocumentIdentifier(uri)
    item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, HAZARD)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    (found,) = await diagnostics(client, uri)
    assert (found.code, found.range.start.line) == ("DLL204", 1)
    assert found.related_information is not None and found.related_information[0].location.uri == uri

    hover = await client.text_document_hover_async(types.HoverParams(document, found.range.start))
    assert hover is not None and "# DLL204" in hover.contents.value
    (lens,) = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lens.command.title == "starts 2 workers by spawn"

    wanted = types.CodeActionParams(document, found.range, types.CodeActionContext([found]))
    action, *_ = await client.text_document_code_action_async(wanted)
    if action.edit is None:
        action = await client.code_action_resolve_async(action)
    changes = action.edit.document_changes
    edits = changes[0].edits if changes else action.edit.changes[uri]
    texts = [one.new_text for one in edits]
    assert any("def _collate_fn(rows):" in one for one in texts) and "_collate_fn" in texts

    text = HAZARD.replace("lambda rows: rows", "list")
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri), [types.TextDocumentContentChangeWholeDocument(text)]
        )
    )
    assert await diagnostics(client, uri) == []
    client.text_document_did_close(types.DidCloseTextDocumentParams(document))
    assert not client.messages
