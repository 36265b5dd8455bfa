// The table of Double Solitaire as its events tell it, and the view that a request has of it.
"use strict";
malice.double = malice.double || {};

(function (malice) {
  const { double } = malice;
  double.SUITS = "CDHS";

  double.start = () => ({ table: [], foundations: { C: [], D: [], H: [], S: [] }, stocks: [0, 0], discards: [[], []], card: null, seat: 0, turn: 0, played: false, quiet: [0, 0], out: {} });

  /** Return the pile of a name as in an event, without the hand: `0d`, `t2`, or `f` for the foundation of a card. */
  function findPile(table, name, card) {
    if (name === "f") return table.foundations[card[1]];
    return name[0] === "t" ? table.table[Number(name.slice(1))] : table.discards[Number(name[0])];
  }

  double.isDiscard = ({ from, to, seat }) => from === "h" && to === `${seat}d`;

  function move(table, event) {
    const { from, to, cards, seat } = event;
    if (from === "h") table.card = null;
    else findPile(table, from, cards[0]).splice(-cards.length);
    findPile(table, to, cards[0]).push(...cards);
    if (double.isDiscard(event)) return endTurn(table, seat);
    table.played = true;
    table.quiet = [0, 0];
  }

  function endTurn(table, seat) {
    if (!table.played) table.quiet[seat] += 1;
  }

  const change = {
    deal(table, { table: piles, stocks }) {
      table.table = piles.map((pile) => [...pile]);
      table.stocks = [...stocks];
    },
    exchange: (table) => void table.stocks.reverse(),
    turn_over(table, { seat, count }) {
      table.stocks[seat] = count;
      table.discards[seat] = [];
    },
    draw(table, { seat, card }) {
      table.stocks[seat] -= 1;
      table.turn += 1;
      Object.assign(table, { card, seat, played: false });
    },
    move,
    end: (table, { seat }) => endTurn(table, seat),
    out: (table, { seat, code }) => (table.out[seat] = code),
  };

  double.apply = (table, event) => void change[event.type]?.(table, event);

  /** Count the cards that the pack of each seat has left, as race.py does. */
  double.race = (table) => table.stocks.map((stock, seat) => stock + table.discards[seat].length + Number(table.card !== null && table.seat === seat));

  /** Return the pile that an action takes cards from, and which of them is the lowest: `h`, `d`, `t2`, `t2x3`. */
  function findSource(source, seat, table) {
    if (source === "h") return { from: `${seat}h`, card: table.card };
    if (source === "d") return { from: `${seat}d`, card: table.discards[seat].at(-1) };
    const [name, count = "1"] = source.split("x");
    return { from: name, card: table.table[Number(name.slice(1))].at(-Number(count)) };
  }

  /** Return the places between which an action moves cards. */
  double.aim = function (action, { seat, table }) {
    const [source, target] = action.split("-");
    if (!target) return null;
    const { from, card } = findSource(source, seat, table);
    const to = { d: `${seat}d`, o: `${1 - seat}d`, f: `f${card?.[1]}` }[target] || target;
    return { from, to, card };
  };

  double.advances = (action) => action.endsWith("-f");

  double.legend = (_, seat) => [
    { place: `${seat}h`, words: "The card in your hand. Whoever has played all cards of their own pack wins." },
    { place: "fH", words: "The foundations, for both: each goes up from the ace in its suit." },
    { place: "t0", words: "The table piles, for both: they go down by one, red on black and black on red." },
    { place: `${seat}d`, words: "Your discard pile: a card put here ends your turn. You may load cards onto the other’s, too." },
  ];

  double.unit = () => "cards left";

  /** Return the table as the view of a request has it. */
  double.position = (table, { viewer }) => ({
    turn: table.turn,
    seat: viewer ?? table.seat,
    card: table.card,
    foundations: [...double.SUITS].map((suit) => table.foundations[suit].length),
    table: table.table,
    quiet: table.quiet,
    seats: table.stocks.map((stock, seat) => ({ stock, discard: table.discards[seat], out: seat in table.out })),
  });
})(window.malice);
