// A notebook as VS Code's own client library sends it. Prints what the server answered as JSON.
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const path = require("node:path");
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-languageserver-protocol/node");
const protocol = require("vscode-languageserver-protocol");

const [python, folder, ...sources] = process.argv.slice(2);
const notebook = pathToFileURL(path.join(folder, "train.ipynb")).toString();
const cells = sources.map((_, at) => `vscode-notebook-cell:/train.ipynb#W${at}`);

async function main() {
  const server = spawn(python, ["-m", "dllint", "server"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  const told = { published: {}, progress: [], refreshed: 0 };
  const heard = [];
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
    told.published[params.uri] = params.diagnostics;
    heard.splice(0).forEach((one) => one());
  });
  connection.onRequest(protocol.WorkDoneProgressCreateRequest.type, () => undefined);
  connection.onNotification("$/progress", (params) => told.progress.push(params.value.kind));
  connection.onRequest(protocol.CodeLensRefreshRequest.type, () => { told.refreshed += 1; });
  connection.onRequest(protocol.RegistrationRequest.type, (params) => { told.registered = params.registrations.map((one) => one.method); });
  connection.onRequest(protocol.ConfigurationRequest.type, () => [{ cacheDir: path.join(folder, ".cache") }]);
  connection.listen();

  const published = async (wanted) => {
    while (!wanted(told.published)) await new Promise((resolve) => heard.push(resolve));
    return JSON.parse(JSON.stringify(told.published));
  };
  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).toString(),
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      window: { workDoneProgress: true },
      workspace: {
        configuration: true, codeLens: { refreshSupport: true },
        didChangeWatchedFiles: { dynamicRegistration: true }, workspaceEdit: { documentChanges: true },
      },
      notebookDocument: { synchronization: { dynamicRegistration: false } },
      textDocument: {
        codeAction: { dataSupport: true, resolveSupport: { properties: ["edit"] }, codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
        publishDiagnostics: { relatedInformation: true },
      },
    },
  });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  await connection.sendNotification(protocol.DidOpenNotebookDocumentNotification.type, {
    notebookDocument: { uri: notebook, notebookType: "jupyter-notebook", version: 1, cells: cells.map((document) => ({ kind: 2, document })) },
    cellTextDocuments: sources.map((text, at) => ({ uri: cells[at], languageId: "python", version: 1, text })),
  });
  const last = cells.length - 1;
  const first = await published((all) => all[cells[last]] && all[cells[last]].length > 0);
  const found = first[cells[last]][0];
  const document = { uri: cells[last] };
  const [offered] = await connection.sendRequest(protocol.CodeActionRequest.type, { textDocument: document, range: found.range, context: { diagnostics: [found] } });
  const action = await connection.sendRequest(protocol.CodeActionResolveRequest.type, offered);
  const lenses = await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument: document });
  const hover = await connection.sendRequest(protocol.HoverRequest.type, { textDocument: document, position: found.range.start });
  // A request that is cancelled is answered all the same, and ends nothing.
  const source = new protocol.CancellationTokenSource();
  const cancelled = connection.sendRequest(protocol.HoverRequest.type, { textDocument: document, position: found.range.start }, source.token);
  source.cancel();
  const cancelledAs = await cancelled.then(() => "answered", (error) => error.code);
  // The cell with the hazard is removed.
  await connection.sendNotification(protocol.DidChangeNotebookDocumentNotification.type, {
    notebookDocument: { uri: notebook, version: 2 },
    change: { cells: { structure: { array: { start: last, deleteCount: 1 }, didClose: [document] } } },
  });
  await published((all) => all[cells[last]].length === 0);
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  const code = await ended;
  console.log(JSON.stringify({ encoding: capabilities.positionEncoding, first, offered, action, lenses, hover, cancelledAs, code, told }));
}

main().catch((error) => { console.error(String(error && error.stack || error)); process.exit(1); });
