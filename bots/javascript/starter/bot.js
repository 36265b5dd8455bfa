// A bot to start from: it plays its pay-off card if it can, then to the centre, and discards onto short stacks.

import { play } from "./malice.js";

/** @typedef {import("./malice.js").Action} Action */
/** @typedef {import("./malice.js").Move} Move */
/** @typedef {import("./malice.js").View} View */

/** Plays one game; its fields hold what it should remember of the game. */
class Starter {
  /**
   * Choose one of the legal actions: improve the play here.
   *
   * @param {Move} move
   * @returns {Action}
   */
  choose({ view, legal }) {
    return (
      legal.find(({ source }) => source?.kind === "payoff" && source.seat === view.seat) ??
      legal.find(({ target }) => target?.kind === "centre") ??
      shortestDiscard(view, legal) ??
      legal[0]
    );
  }
}

/**
 * Find the discard from the hand onto the shortest side stack; the last of equal ones.
 *
 * @param {View} view
 * @param {Action[]} legal
 * @returns {Action | undefined}
 */
function shortestDiscard(view, legal) {
  const { side } = view.seats[view.seat];
  let shortest = Infinity;
  let found;
  for (const action of legal) {
    if (action.source?.kind !== "hand" || action.target?.kind !== "side") continue;
    const size = side[action.target.index].length;
    if (size <= shortest) {
      shortest = size;
      found = action;
    }
  }
  return found;
}

await play(Starter);
