// The table of Nuts as its events tell it, and the view that a request has of it. Piles have the names of the events:
// 0n 0w 0t2 f5, and 0s for a stock.
"use strict";
malice.nuts = malice.nuts || {};

(function (malice) {
  const { nuts } = malice;
  const HIDDEN = "??";
  const MOST = 52;

  /** `down` says by column how many cards lie face down, `owners` by foundation whose cards lie there. */
  nuts.start = ({ rules, teams }) => ({ piles: {}, down: {}, owners: {}, points: teams.slice(0, 2).map(() => -rules.penalty * rules.nuts_size), out: {} });

  nuts.teamOf = (seat) => seat % 2;
  nuts.listColumns = (rules, team) => rules.columns.map((_, column) => `${team}t${column}`);

  const findPile = (table, name) => (table.piles[name] ||= []);

  function deal(table, { sides }) {
    sides.forEach((side, team) => {
      table.piles[`${team}n`] = [...side.nuts];
      table.piles[`${team}s`] = [...side.stock];
      table.piles[`${team}w`] = [];
      side.columns.forEach((pile, column) => {
        table.piles[`${team}t${column}`] = [...pile];
        table.down[`${team}t${column}`] = pile.length - 1;
      });
    });
  }

  function move(table, { seat, from, to, cards }, rules) {
    const team = nuts.teamOf(seat);
    findPile(table, from).splice(-cards.length);
    findPile(table, to).push(...cards);
    if (to[0] === "f") {
      (table.owners[to] ||= []).push(team);
      table.points[team] += 1;
    }
    if (from[1] === "n") table.points[team] += rules.penalty;
  }

  function flip(table, { pile, card }) {
    findPile(table, pile).splice(-1, 1, card);
    if (pile[1] === "t") table.down[pile] -= 1;
  }

  function redeal(table, { seat }) {
    const team = nuts.teamOf(seat);
    table.piles[`${team}s`] = findPile(table, `${team}w`).reverse();
    table.piles[`${team}w`] = [];
  }

  function turn(table, { seat, cards }) {
    const team = nuts.teamOf(seat);
    findPile(table, `${team}s`).splice(-cards.length);
    findPile(table, `${team}w`).push(...cards);
  }

  function burn(table, { redealt }) {
    table.points.forEach((_, team) => {
      const stock = findPile(table, `${team}s`);
      if (redealt.includes(team)) stock.unshift(...table.piles[`${team}w`].splice(0).reverse());
      if (stock.length) stock.unshift(stock.pop());
    });
  }

  const change = { deal, flip, redeal, turn, burn, move, out: (table, { seat, code }) => (table.out[seat] = code) };

  nuts.apply = (table, event, { game }) => void change[event.type]?.(table, event, game.rules);

  const square = (pile) => pile.map((card, place) => (place < pile.length - 1 ? HIDDEN : card));

  /** Hide what lies face down, as the referee does; all seats see the same. */
  nuts.mask = function (event, seat, game) {
    if (event.type === "turn" && game.rules.waste_visible === "top") return { ...event, cards: square(event.cards) };
    if (event.type !== "deal") return event;
    const hide = ({ nuts: pile, columns, stock }) => ({ nuts: square(pile), columns: columns.map(square), stock: stock.map(() => HIDDEN) });
    return { ...event, sides: event.sides.map(hide) };
  };

  /** Return the first foundation of its suit that takes a card. */
  function findFoundation(table, card) {
    const first = 2 * "CDHS".indexOf(card[1]);
    const below = malice.cardValue(card) - 1;
    const height = (place) => (table.piles[`f${place}`] || []).length;
    return `f${height(first) === below ? first : first + 1}`;
  }

  /** Return the places between which an action moves cards: those of a team have its number. */
  nuts.aim = function (action, { game, seat, table }) {
    const team = nuts.teamOf(seat);
    const stock = `${team}s`;
    if (action === "turn") return { from: stock, to: `${team}w`, click: stock };
    const [card, target] = action.split("-");
    if (!target) return null;
    const from = [`${team}n`, `${team}w`, ...nuts.listColumns(game.rules, team)].find((name) => findPile(table, name).includes(card));
    return from ? { from, to: target === "f" ? findFoundation(table, card) : `${team}${target}`, card } : null;
  };

  nuts.advances = (action) => action.endsWith("-f");

  nuts.legend = (_, seat) => [
    { place: `${nuts.teamOf(seat)}n`, words: "Your Nuts pile: each card left here in the end costs points. Play them off first." },
    { place: "f0", words: "The foundations, for everybody: each goes up from the ace in its suit, and each card there is a point." },
    { place: `${nuts.teamOf(seat)}t0`, words: "Your columns go down by one, red on black and black on red." },
    { place: `${nuts.teamOf(seat)}s`, words: "Your stock: click it to turn cards over. All act at the same time; whoever is first gets the place." },
  ];

  nuts.unit = () => "points";
  nuts.value = (left) => MOST - left;
  nuts.turn = () => "tick";

  /** Count by seat the points that its team lacks of the most that a hand can bring, as race.py does. */
  nuts.race = (table, { game }) => game.seats.map((_, seat) => MOST - table.points[nuts.teamOf(seat)]);

  const showColumn = (table, name) => findPile(table, name).map((card, place) => (place < table.down[name] ? HIDDEN : card));

  /** Return the cards of a team as the view of a request has them. */
  function showSide(table, team, rules) {
    const [pile, waste] = [findPile(table, `${team}n`), findPile(table, `${team}w`)];
    return {
      nuts: pile.at(-1) ?? null,
      nuts_left: pile.length,
      columns: nuts.listColumns(rules, team).map((name) => showColumn(table, name)),
      stock: findPile(table, `${team}s`).length,
      waste: rules.waste_visible === "all" ? waste : square(waste),
      centre: table.points[team] + rules.penalty * pile.length,
      points: table.points[team],
    };
  }

  /** Return the table as the view of a request has it; `idle` and `busy`, which no event tells, are left out. */
  nuts.position = function (table, { game, viewer, step }) {
    const seat = viewer ?? 0;
    return {
      tick: step.turn,
      seat,
      team: nuts.teamOf(seat),
      part: nuts.partOf(seat, game),
      centre: Array.from({ length: 8 }, (_, place) => findPile(table, `f${place}`).at(-1) ?? null),
      sides: [0, 1].map((team) => showSide(table, team, game.rules)),
    };
  };

  /** Return what a seat may play besides the columns of its team. */
  nuts.partOf = (seat, { seats }) => (seats.length === 2 ? "both" : seat < 2 ? "nuts" : "cards");
})(window.malice);
