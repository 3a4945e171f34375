/** Where the program of the server is. Knows files and environments, and nothing of VS Code. */

import { existsSync, statSync } from "node:fs";
import * as path from "node:path";

/** What has to be known of the machine; a test gives its own. */
export interface Machine {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  isFile(file: string): boolean;
}

export const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  isFile: (file) => existsSync(file) && statSync(file).isFile(),
};

/** A program with its arguments, or the reason why there is none. */
export type Found = { command: string; args: string[] } | { problem: string };

const ENVIRONMENTS = [".venv", "venv", "env"];

/**
 * Find the program: the setting, then the workspace's virtual environments, then the PATH.
 *
 * An editor that is started from a desktop has another PATH than a terminal, so the setting may be needed.
 */
export function findProgram(setting: readonly string[], folders: readonly string[], machine: Machine): Found {
  const [given, ...args] = setting;
  if (given !== undefined && given !== "") {
    const command = absolute(given, folders, machine);
    if (command === undefined) {
      return { problem: `The setting editvec.path names ${given}, which is not a file.` };
    }
    return { command, args: [...args, "lsp"] };
  }
  const name = machine.platform === "win32" ? "editvec.exe" : "editvec";
  const inside = machine.platform === "win32" ? "Scripts" : "bin";
  const places = folders.flatMap((folder) => ENVIRONMENTS.map((each) => path.join(folder, each, inside, name)));
  const command = [...places, ...onPath(name, machine)].find((each) => machine.isFile(each));
  if (command === undefined) {
    return { problem: "editvec was not found. Install it (pip install editvec), or set editvec.path." };
  }
  return { command, args: ["lsp"] };
}

function absolute(given: string, folders: readonly string[], machine: Machine): string | undefined {
  const home = machine.env["HOME"] ?? machine.env["USERPROFILE"] ?? "";
  const expanded = given.replace(/^~(?=[/\\])/, home);
  const candidates = path.isAbsolute(expanded)
    ? [expanded]
    : /[/\\]/.test(expanded)
      ? folders.map((folder) => path.join(folder, expanded))
      : onPath(expanded, machine);
  return candidates.find((each) => machine.isFile(each));
}

function onPath(name: string, machine: Machine): string[] {
  const separator = machine.platform === "win32" ? ";" : ":";
  return (machine.env["PATH"] ?? "")
    .split(separator)
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, name));
}
