// The race of Spite & Malice, its key moments, and what each seat did in the end.
"use strict";
malice.spite = malice.spite || {};

(function (malice) {
  const { spite, quote } = malice;
  const MANY = 4;
  const FEW = 2;
  const LOW = 3;
  const LONG = 12;

  const isWild = (card, rules) => card[0] === "W" || (card[0] === "K" && rules.wild_kings);

  spite.unit = () => "pay-off cards left";

  /** Count the pay-off cards that the team of each seat has left, as race.py does. */
  spite.race = function (table, { game }) {
    const count = (team) => game.teams.reduce((sum, own, seat) => sum + (own === team ? (table.piles[`${seat}p`] || []).length : 0), 0);
    return game.teams.map(count);
  };

  /** Call `visit` with every event of a course, the index of its step, and the seat whose turn it is. */
  function walk(course, visit) {
    let seat = null;
    course.steps.forEach((step, index) => {
      for (const event of step.events) {
        if (event.type === "turn") seat = event.seat;
        visit(event, index, seat);
      }
    });
  }

  const isPayoff = ({ type, from, to }) => type === "move" && from.endsWith("p") && to[0] === "c";

  /** Tell the turns in which a seat played many pay-off cards, at the last of them. */
  function findRuns(course, name) {
    const runs = [];
    let run = null;
    walk(course, (event, step, seat) => {
      if (event.type === "turn") run = null;
      if (!isPayoff(event)) return;
      run = run || { seat, count: 0 };
      run.count += 1;
      run.step = step;
      if (run.count === MANY) runs.push(run);
    });
    return runs.map(({ seat, count, step }) => ({ step, kind: "run", words: `${name(seat)} plays ${count} pay-off cards in one turn`, weight: count / 2 }));
  }

  /** Count the pay-off cards that are played from a step on until the turn ends. */
  function countPayoff(course, first) {
    let count = 0;
    for (const { events } of course.steps.slice(first)) {
      for (const event of events) {
        if (event.type === "turn") return count;
        if (isPayoff(event)) count += 1;
      }
    }
    return count;
  }

  /** Tell where a stack was completed on the way to several pay-off cards, too few to be told as such; and the first one. */
  function findCompleted(course, name) {
    const all = course.tables.flatMap((table, step) => Object.keys(table.changes.gone || {}).map((pile) => ({ step, index: pile.slice(1) })));
    return all.flatMap(({ step, index }, place) => {
      const seat = malice.findActor(course.steps[step]);
      const who = seat === null ? "Somebody" : name(seat);
      const count = countPayoff(course, step);
      const paid = count >= FEW && count < MANY;
      if (place && !paid) return [];
      const words = `${who} completes ${place ? `centre stack ${index}` : "the first centre stack"}${paid ? `, and plays ${count} pay-off cards` : ""}`;
      return [{ step, kind: "stack", words, weight: paid ? 1 : 0.5 }];
    });
  }

  /** Tell where a side came down to its last few pay-off cards for the first time, and who played the last one. */
  function findLast(course, { game }, name) {
    const moments = [];
    const low = new Set();
    course.tables.forEach((table, step) => {
      const seat = malice.findActor(course.steps[step]);
      if (seat === null || !course.steps[step].events.some(isPayoff)) return;
      const left = spite.race(table, { game })[seat];
      const team = game.teams[seat];
      if (left === 0) moments.push({ step, kind: "last", words: `${name(seat)} plays the last pay-off card`, weight: 5 });
      else if (left <= LOW && !low.has(team)) moments.push({ step, kind: "low", words: `${name(seat)} is down to ${malice.formatCount(left, "pay-off card")}`, weight: 2.5 });
      if (left <= LOW) low.add(team);
    });
    return moments;
  }

  /** Tell where a seat has kept wild cards in its hand, and played none, for many turns of its own. */
  function findHeld(course, { game }, name) {
    const held = game.seats.map(() => 0);
    const moments = [];
    walk(course, (event, step) => {
      if (event.type === "move" && event.from.endsWith("h") && isWild(event.card, game.rules)) held[event.seat] = 0;
      if (event.type !== "turn") return;
      const wild = (course.tables[step].piles[`${event.seat}h`] || []).filter((card) => isWild(card, game.rules));
      held[event.seat] = wild.length ? held[event.seat] + 1 : 0;
      const cards = wild.length > 1 ? `${wild.length} wild cards` : "a wild card";
      if (held[event.seat] === LONG) moments.push({ step, kind: "held", words: `${name(event.seat)} has held ${cards} for ${LONG} turns`, weight: 1.5 });
    });
    return moments;
  }

  spite.moments = function (course, context) {
    const name = (seat) => quote(context.game.seats[seat].name);
    return [...findRuns(course, name), ...findCompleted(course, name), ...findHeld(course, context, name), ...findLast(course, context, name)];
  };

  /** Count by seat the wild cards in the centre: those that a pay-off card followed onto the same stack in the same turn, and all. */
  function countWild(course, { game }) {
    const spent = game.seats.map(() => ({ useful: 0, all: 0 }));
    let waiting = {};
    walk(course, (event) => {
      if (event.type === "turn") waiting = {};
      if (event.type !== "move" || event.to[0] !== "c") return;
      const wild = isWild(event.card, game.rules);
      if (wild) spent[event.seat].all += 1;
      if (isPayoff(event)) {
        spent[event.seat].useful += (waiting[event.to] || 0) + (wild ? 1 : 0);
        waiting[event.to] = 0;
      } else if (wild) waiting[event.to] = (waiting[event.to] || 0) + 1;
    });
    return spent;
  }

  function countTurns(course, { game }) {
    const counts = game.seats.map(() => ({ payoff: 0, drawn: 0, dry: 0 }));
    let open = null;
    walk(course, (event, _, seat) => {
      if (event.type === "draw") counts[event.seat].drawn += event.cards.length;
      if (event.type === "turn") {
        if (open !== null) counts[open].dry += 1;
        open = seat;
      }
      if (!isPayoff(event)) return;
      counts[event.seat].payoff += 1;
      open = null;
    });
    if (open !== null) counts[open].dry += 1;
    return counts;
  }

  spite.summary = function (course, context) {
    const counts = countTurns(course, context);
    const wild = countWild(course, context);
    const piles = Object.entries(course.tables.at(-1).piles);
    const buried = (seat) => piles.reduce((sum, [name, pile]) => sum + (name.startsWith(`${seat}s`) ? Math.max(0, pile.length - 1) : 0), 0);
    return [
      { words: "pay-off cards played", values: counts.map(({ payoff }) => payoff) },
      { words: "wild cards for pay-off", values: wild.map(({ useful }) => useful) },
      { words: "wild cards elsewhere", values: wild.map(({ useful, all }) => all - useful) },
      { words: "cards drawn", values: counts.map(({ drawn }) => drawn) },
      { words: "turns without pay-off", values: counts.map(({ dry }) => dry) },
      { words: "cards buried at the end", values: context.game.seats.map((_, seat) => buried(seat)) },
    ];
  };
})(window.malice);
