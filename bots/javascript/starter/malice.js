// Speaks the malice protocol, version 1: a bot is one class with a method `choose`.

import { Console } from "node:console";
import process from "node:process";

/**
 * A card: its rank, one of `A23456789TJQKW`, and its suit, one of `CDHSX`; `??` is a hidden card.
 * @typedef {string} Card
 */

/**
 * A pile of the table. Seats and indices count from 0.
 * @typedef {{ kind: "payoff", seat: number }
 *   | { kind: "hand", seat: number }
 *   | { kind: "side", seat: number, index: number }
 *   | { kind: "centre", index: number }
 *   | { kind: "stock" }
 *   | { kind: "aside" }} Pile
 */

/**
 * One centre stack. `needs` is the rank that fits next; `height` is the value reached, 0 for an empty slot, and can
 * exceed the number of cards.
 * @typedef {{ cards: Card[], height: number, needs: string }} CentreStack
 */

/**
 * The public part of a seat: the turned-up card of its pay-off pile (null: empty) and how many it has left (null:
 * ask by `count`), the number of cards in hand, the side stacks from bottom to top, and whether it has left the game.
 * @typedef {object} SeatView
 * @property {{ top: Card | null, left: number | null }} payoff
 * @property {number} hand
 * @property {Card[][]} side
 * @property {number} team
 * @property {boolean} out
 */

/**
 * The table as your seat sees it. `turn` counts the turns of the game from 1, `stock` and `aside` are numbers of cards.
 * @typedef {object} View
 * @property {number} turn
 * @property {number} seat
 * @property {Card[]} hand
 * @property {number} stock
 * @property {number} aside
 * @property {CentreStack[]} centre
 * @property {SeatView[]} seats
 */

/**
 * Something that happened at the table.
 * @typedef {{ type: "deal", hands: Card[][], payoffs: number[], sides: Card[][][], stock: number }
 *   | { type: "flip", seat: number, card: Card }
 *   | { type: "turn", seat: number }
 *   | { type: "draw", seat: number, cards: Card[] }
 *   | { type: "move", seat: number, from: Pile, to: Pile, card: Card }
 *   | { type: "shuffle", from: Pile, to: Pile, count: number }
 *   | { type: "count", seat: number, left: number[] | null }
 *   | { type: "pass", seat: number }
 *   | { type: "out", seat: number, code: string }} Event
 */

/**
 * The start of a game. `rules` holds every parameter of the ruleset, `rng` is a seed for your own random numbers, and
 * the clock is in milliseconds (null: no such limit).
 * @typedef {object} GameStart
 * @property {number} game
 * @property {string} ruleset
 * @property {Record<string, any>} rules
 * @property {number} seat
 * @property {{ name: string, team: number }[]} seats
 * @property {number} rng
 * @property {string} commit
 * @property {{ move_ms: number | null, bank_ms: number | null, increment_ms: number, margin_ms: number,
 *   kind: "wall" | "cpu", cap_ms: number | null }} clock
 */

/**
 * A request for one action. `events` is what has happened since your last request, `clock` what is left of your
 * bank (null: there is none) and what your last action took (null: this is your first).
 * @typedef {object} Move
 * @property {View} view
 * @property {Event[]} events
 * @property {Action[]} legal
 * @property {{ bank_ms: number | null, last_ms: number | null, last_cpu_ms: number | null }} clock
 */

/**
 * The end of a game. `place` is yours, 1 is best; `places` and `scores` are by seat.
 * @typedef {object} GameEnd
 * @property {number} place
 * @property {number[]} places
 * @property {number[]} scores
 * @property {string} reason
 * @property {string} key
 */

/**
 * What plays one game: `choose` returns one of `move.legal`, and `gameEnd`, if it is there, hears how it went.
 * @typedef {object} Bot
 * @property {(move: Move) => Action | Promise<Action>} choose
 * @property {(end: GameEnd) => void} [gameEnd]
 */

/** An action that your seat may take. In `pass` and `count` no card moves: they have neither piles nor card. */
export class Action {
  /**
   * @param {string} text As the protocol writes it.
   * @param {Pile | null} source
   * @param {Card | null} card
   * @param {Pile | null} target
   * @param {string} [note]
   */
  constructor(text, source = null, card = null, target = null, note = undefined) {
    this.text = text;
    this.source = source;
    this.card = card;
    this.target = target;
    this.note = note;
  }

  /**
   * Return this action with a remark that the replay shows beside it.
   *
   * @param {string} note
   */
  withNote(note) {
    return new Action(this.text, this.source, this.card, this.target, note);
  }

  toString() {
    return this.text;
  }
}

/**
 * Play until the referee says `bye` or closes our input. For each game a new bot is made, so that nothing of the last
 * one is left. What is printed with `console.log` goes to standard error, as standard output belongs to the referee.
 *
 * @param {new (game: GameStart) => Bot} GameBot
 * @param {{ name?: string, version?: string }} [about] By default what bot.toml says.
 */
export async function play(GameBot, about = {}) {
  globalThis.console = new Console(process.stderr);
  /** @type {Bot | undefined} */
  let bot;
  for await (const line of lines()) {
    const request = JSON.parse(line);
    if (request.type === "bye") return;
    /** @type {Record<string, unknown>} */
    const answer = { id: request.id };
    if (request.type === "hello") {
      Object.assign(answer, { protocol: 1, name: about.name, version: about.version });
    } else if (request.type === "game_start") {
      bot = new GameBot(request);
    } else if (request.type === "move" && bot) {
      const { text, note } = await bot.choose(readMove(request));
      Object.assign(answer, { move: text, note });
    } else if (request.type === "game_end") {
      bot?.gameEnd?.(request);
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

/** Split standard input at line feeds only: `node:readline` also splits at U+2028, which names may contain. */
async function* lines() {
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/**
 * @param {any} request
 * @returns {Move}
 */
function readMove({ view, events, legal, clock }) {
  return {
    view,
    events: events.flatMap(readEvent),
    legal: legal.map((/** @type {string} */ text) => readAction(text, view)),
    clock,
  };
}

const EVENTS = new Set(["deal", "flip", "turn", "draw", "move", "shuffle", "count", "pass", "out"]);

/**
 * Return the event alone in a list, and nothing for one of a later referee.
 *
 * @param {any} event
 * @returns {Event[]}
 */
function readEvent(event) {
  if (!EVENTS.has(event.type)) return [];
  if (!("from" in event)) return [event];
  return [{ ...event, from: readPile(event.from), to: readPile(event.to) }];
}

/**
 * @param {string} text
 * @param {View} view
 */
function readAction(text, view) {
  const [from, to] = text.split("-");
  if (to === undefined) return new Action(text);
  const source = readPile(from[0] === "h" ? "h" : from, view.seat);
  return new Action(text, source, from[0] === "h" ? from.slice(1) : topCard(source, view), readPile(to, view.seat));
}

/**
 * @param {Pile} pile
 * @param {View} view
 */
function topCard(pile, view) {
  if (pile.kind === "payoff") return view.seats[pile.seat].payoff.top;
  if (pile.kind === "side") return view.seats[pile.seat].side[pile.index].at(-1) ?? null;
  return null;
}

/**
 * @param {string} text As events and actions name it.
 * @param {number} [own] The seat that is meant where none is named.
 * @returns {Pile}
 */
function readPile(text, own = NaN) {
  if (text === "stock" || text === "aside") return { kind: text };
  const [, owner, kind, index] = /^(\d*)([phsc])(\d*)$/.exec(text) ?? [];
  const seat = owner ? Number(owner) : own;
  switch (kind) {
    case "p":
      return { kind: "payoff", seat };
    case "h":
      return { kind: "hand", seat };
    case "s":
      return { kind: "side", seat, index: Number(index) };
    case "c":
      return { kind: "centre", index: Number(index) };
    default:
      throw new Error(`expected a pile, got: ${text}`);
  }
}
