import assert from "node:assert/strict";
import { test } from "node:test";

import { findProgram, type Machine } from "../src/program";

function machine(files: string[], more: Partial<Machine> = {}): Machine {
  return { platform: "linux", env: { PATH: "/usr/bin:/opt/bin", HOME: "/home/me" }, isFile: (file) => files.includes(file), ...more };
}

test("the workspace's environment comes before the PATH", () => {
  const files = ["/opt/bin/editvec", "/work/b/venv/bin/editvec"];
  assert.deepEqual(findProgram([], ["/work/a", "/work/b"], machine(files)), {
    command: "/work/b/venv/bin/editvec",
    args: ["lsp"],
  });
  assert.deepEqual(findProgram([], ["/work/a"], machine(files)), { command: "/opt/bin/editvec", args: ["lsp"] });
});

test("the setting comes first, with its arguments", () => {
  const files = ["/usr/bin/uv", "/opt/bin/editvec", "/home/me/bin/editvec", "/work/a/tools/editvec"];
  assert.deepEqual(findProgram(["uv", "run", "editvec"], [], machine(files)), {
    command: "/usr/bin/uv",
    args: ["run", "editvec", "lsp"],
  });
  assert.deepEqual(findProgram(["~/bin/editvec"], [], machine(files)), { command: "/home/me/bin/editvec", args: ["lsp"] });
  assert.deepEqual(findProgram(["tools/editvec"], ["/work/a"], machine(files)), {
    command: "/work/a/tools/editvec",
    args: ["lsp"],
  });
});

test("what is missing is said with what to do", () => {
  const nothing = findProgram([], ["/work/a"], machine([]));
  assert.ok("problem" in nothing && nothing.problem.includes("pip install editvec"));
  const wrong = findProgram(["/no/editvec"], [], machine(["/opt/bin/editvec"]));
  assert.ok("problem" in wrong && wrong.problem.includes("/no/editvec"));
});
