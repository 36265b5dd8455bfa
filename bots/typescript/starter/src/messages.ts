// The messages of the malice protocol, version 1, as they travel over the pipes.

/** Rank, one of `A23456789TJQKW`, and suit, one of `CDHSX`; `??` is a hidden card. */
export type Card = string;

/** An action, such as `p-c0`, `h7C-s1` or `pass`; PROTOCOL.md lists all. */
export type Action = string;

/** A pile in an event, with its seat: `0p`, `1h`, `0s2`; or `c0`, `stock`, `aside`. */
export type Pile = string;

export interface Hello {
  type: "hello";
  id: number;
  /** The lowest and the highest version that the referee speaks. */
  protocol: [number, number];
  referee: string;
  limits: { init_ms: number; line_bytes: number };
}

export interface GameStart {
  type: "game_start";
  id: number;
  game: number;
  ruleset: string;
  /** Every parameter of the ruleset by its name. */
  rules: Record<string, unknown>;
  seat: number;
  seats: { name: string; team: number }[];
  /** A seed for your own random numbers. */
  rng: number;
  commit: string;
  /** In milliseconds; null: no such limit. */
  clock: {
    move_ms: number | null;
    bank_ms: number | null;
    increment_ms: number;
    margin_ms: number;
    kind: "wall" | "cpu";
    cap_ms: number | null;
  };
}

export interface Move {
  type: "move";
  id: number;
  view: View;
  /** What has happened since your last request; skip types that you do not know. */
  events: Event[];
  legal: Action[];
  /** What is left of your bank, and what your last action took; null: no bank, and no action yet. */
  clock: { bank_ms: number | null; last_ms: number | null; last_cpu_ms: number | null };
}

export interface GameEnd {
  type: "game_end";
  id: number;
  /** Yours: 1 is best. */
  place: number;
  places: number[];
  scores: number[];
  reason: string;
  key: string;
}

export interface Bye {
  type: "bye";
}

export type Request = Hello | GameStart | Move | GameEnd | Bye;

export interface Answer {
  id: number;
  /** Only for `move`. */
  move?: Action;
  /** A remark for the replay. */
  note?: string;
}

/** The table as your seat sees it; seats, slots and stacks count from 0, and piles run from bottom to top. */
export interface View {
  turn: number;
  seat: number;
  hand: Card[];
  /** Cards in the stock. */
  stock: number;
  /** Cards of completed stacks that were set aside. */
  aside: number;
  centre: CentreStack[];
  seats: SeatView[];
}

export interface CentreStack {
  cards: Card[];
  /** The value reached, 0 for an empty slot; it can exceed the number of cards. */
  height: number;
  /** The rank that fits next. */
  needs: string;
}

export interface SeatView {
  /** The card that is turned up (null: none is left), and how many there are (null: ask by `count`). */
  payoff: { top: Card | null; left: number | null };
  /** Cards in the hand. */
  hand: number;
  side: Card[][];
  team: number;
  out: boolean;
}

export type Event =
  | { type: "deal"; hands: Card[][]; payoffs: number[]; sides: Card[][][]; stock: number }
  | { type: "flip"; seat: number; card: Card }
  | { type: "turn"; seat: number }
  | { type: "draw"; seat: number; cards: Card[] }
  | { type: "move"; seat: number; from: Pile; to: Pile; card: Card }
  | { type: "shuffle"; from: Pile; to: Pile; count: number }
  | { type: "count"; seat: number; left: number[] | null }
  | { type: "pass"; seat: number }
  | { type: "out"; seat: number; code: string };
