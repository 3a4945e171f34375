import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { documentOf, requestAt, SERVER_COMMANDS } from "../src/requests";

interface Contributed {
  contributes: { commands: { command: string }[]; configuration: { properties: Record<string, { default: unknown }> } };
}

const contributed = JSON.parse(readFileSync("package.json", "utf8")) as Contributed;

test("the palette has exactly the commands that are registered", () => {
  const names = contributed.contributes.commands.map((each) => each.command).sort();
  assert.deepEqual(names, [...Object.keys(SERVER_COMMANDS), "editvec.restart"].sort());
});

test("a command without a document has no arguments", () => {
  assert.deepEqual(requestAt(undefined), []);
  assert.deepEqual(requestAt({ uri: "file:///a.py", line: 3 }), [{ uri: "file:///a.py", line: 3 }]);
});

test("only debug information is shown as a document", () => {
  assert.equal(documentOf("editvec.debugInformation", "{}"), "{}");
  assert.equal(documentOf("editvec.finish", "{}"), undefined);
  assert.equal(documentOf("editvec.debugInformation", { message: "" }), undefined);
});
