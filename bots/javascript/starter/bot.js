// A bot to start from: it plays its pay-off card whenever it can, then to the centre, and discards on short stacks.

import { play } from "./malice.js";

/** @typedef {import("./malice.js").Action} Action */
/** @typedef {import("./malice.js").Move} Move */
/** @typedef {import("./malice.js").View} View */

/** Plays one game; what a game should remember are fields of it. */
class Starter {
  /**
   * Choose one of the legal actions: this is the place to be cleverer.
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
 * Find the discard from the hand onto the shortest side stack, of equal ones the last.
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
