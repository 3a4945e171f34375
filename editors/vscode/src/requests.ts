/** What the commands of the palette ask the server for. */

/** The document and the line, counted from 0, where a command was called. */
export interface Place {
  uri: string;
  line: number;
}

/** The server's commands, by the command of the palette. */
export const SERVER_COMMANDS = {
  "editvec.finishHere": "editvec.finish",
  "editvec.learnHere": "editvec.learn",
  "editvec.undoHere": "editvec.undo",
  "editvec.explainHere": "editvec.explain",
  "editvec.showDebugInformation": "editvec.debugInformation",
} as const;

/** Return the arguments of a server command at a place; without a document, the server takes its only folder. */
export function requestAt(place: Place | undefined): [] | [Place] {
  return place === undefined ? [] : [place];
}

/** Return the text of an answer that is to be shown as a document, if it is one. */
export function documentOf(command: string, answer: unknown): string | undefined {
  return command === "editvec.debugInformation" && typeof answer === "string" ? answer : undefined;
}
