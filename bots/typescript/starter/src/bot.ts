// A bot to start from: it plays its pay-off card if it can, then to the centre, and discards onto short stacks.

import process from "node:process";
import type { Action, Answer, Move, Request, View } from "./messages.js";

/** Choose one of the legal actions: improve the play here. */
function choose({ view, legal }: Move): Action {
  return (
    legal.find((action) => action.startsWith("p-")) ??
    legal.find((action) => action.includes("-c")) ??
    shortestDiscard(view, legal) ??
    legal[0]
  );
}

/** Find the discard from the hand onto the shortest side stack; the last of equal ones. */
function shortestDiscard(view: View, legal: Action[]): Action | undefined {
  const { side } = view.seats[view.seat];
  let shortest = Infinity;
  let found: Action | undefined;
  for (const action of legal) {
    const [, index] = /^h..-s(\d+)$/.exec(action) ?? [];
    if (index === undefined) continue;
    const size = side[Number(index)].length;
    if (size <= shortest) {
      shortest = size;
      found = action;
    }
  }
  return found;
}

/** Return the fields of the answer besides its id; none for types of a later referee. */
function reply(request: Exclude<Request, { type: "bye" }>): Omit<Answer, "id"> {
  switch (request.type) {
    case "game_start":
      return {}; // forget what you remember of the last game here
    case "move":
      return { move: choose(request) };
    default:
      return {};
  }
}

/** Split standard input at line feeds only: `node:readline` also splits at U+2028, which names may contain. */
async function* lines(): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

for await (const line of lines()) {
  const request = JSON.parse(line) as Request;
  if (request.type === "bye") break;
  const answer: Answer = { id: request.id, ...reply(request) };
  process.stdout.write(JSON.stringify(answer) + "\n");
}
