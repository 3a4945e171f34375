/** The extension: starts the server, and puts its commands into the palette. All else is the server's. */

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, TransportKind } from "vscode-languageclient/node";

import { findProgram, thisMachine } from "./program";
import { documentOf, requestAt, SERVER_COMMANDS } from "./requests";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  for (const [name, command] of Object.entries(SERVER_COMMANDS)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, () => run(command)));
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("editvec.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("editvec.path")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  const setting = vscode.workspace.getConfiguration("editvec").get<string[]>("path", []);
  const found = findProgram(setting, folders, thisMachine);
  if ("problem" in found) {
    const choice = await vscode.window.showWarningMessage(found.problem, "Open Settings");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "editvec.path");
    }
    return;
  }
  const server: ServerOptions = { command: found.command, args: found.args, transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: { settings: vscode.workspace.getConfiguration("editvec") },
  };
  client = new LanguageClient("editvec", "editvec", server, options);
  await client.start();
}

async function run(command: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const place =
    editor === undefined
      ? undefined
      : { uri: editor.document.uri.toString(), line: editor.selection.active.line };
  if (client === undefined) {
    await vscode.window.showWarningMessage("editvec is not running.");
    return;
  }
  const answer: unknown = await client.sendRequest("workspace/executeCommand", {
    command,
    arguments: requestAt(place),
  });
  const text = documentOf(command, answer);
  if (text !== undefined) {
    const document = await vscode.workspace.openTextDocument({ language: "json", content: text });
    await vscode.window.showTextDocument(document);
  }
}
