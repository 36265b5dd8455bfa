// A bot to start from: it plays its pay-off card whenever it can, then to the centre, and discards on short stacks.

import process from "node:process";
import type { Action, Answer, Move, Request, View } from "./messages.js";

/** Choose one of the legal actions: this is the place to be cleverer. */
function choose({ view, legal }: Move): Action {
  return (
    legal.find((action) => action.startsWith("p-")) ??
    legal.find((action) => action.includes("-c")) ??
    shortestDiscard(view, legal) ??
    legal[0]
  );
}

/** Find the discard from the hand onto the shortest side stack, of equal ones the last. */
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

/** Say what belongs into the answer beside its id; of types of a later referee it is nothing. */
function reply(request: Exclude<Request, { type: "bye" }>): Omit<Answer, "id"> {
  switch (request.type) {
    case "game_start":
      return {}; // forget here what you remember of the last game
    case "move":
      return { move: choose(request) };
    default:
      return {};
  }
}

/** Split standard input into lines at line feeds alone: `node:readline` also breaks at U+2028, which names may hold. */
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
