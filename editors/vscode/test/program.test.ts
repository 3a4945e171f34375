import assert from "node:assert/strict";
import { test } from "node:test";

import { findProgram, type Machine } from "../src/program";

function machine(files: string[], more: Partial<Machine> = {}): Machine {
  return { platform: "linux", env: { PATH: "/usr/bin:/opt/bin", HOME: "/home/me" }, isFile: (file) => files.includes(file), ...more };
}

test("the workspace's environment comes before the PATH", () => {
  const files = ["/opt/bin/editvec", "/projects/b/venv/bin/editvec"];
  assert.deepEqual(findProgram([], ["/projects/a", "/projects/b"], machine(files)), {
    command: "/projects/b/venv/bin/editvec",
    args: ["lsp"],
  });
  assert.deepEqual(findProgram([], ["/projects/a"], machine(files)), { command: "/opt/bin/editvec", args: ["lsp"] });
});

test("the setting comes first, with its arguments", () => {
  const files = ["/usr/bin/uv", "/opt/bin/editvec", "/home/me/bin/editvec", "/projects/a/tools/editvec"];
  assert.deepEqual(findProgram(["uv", "run", "editvec"], [], machine(files)), {
    command: "/usr/bin/uv",
    args: ["run", "editvec", "lsp"],
  });
  assert.deepEqual(findProgram(["~/bin/editvec"], [], machine(files)), { command: "/home/me/bin/editvec", args: ["lsp"] });
  assert.deepEqual(findProgram(["tools/editvec"], ["/projects/a"], machine(files)), {
    command: "/projects/a/tools/editvec",
    args: ["lsp"],
  });
});

test("what is missing is said with what to do", () => {
  const nothing = findProgram([], ["/projects/a"], machine([]));
  assert.ok("problem" in nothing && nothing.problem.includes("pip install editvec"));
  const wrong = findProgram(["/no/editvec"], [], machine(["/opt/bin/editvec"]));
  assert.ok("problem" in wrong && wrong.problem.includes("/no/editvec"));
});
