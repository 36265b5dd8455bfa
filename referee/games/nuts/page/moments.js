// The key moments of Nuts, and what each seat did in the end.
"use strict";
malice.nuts = malice.nuts || {};

(function (malice) {
  const { nuts, quote } = malice;
  const FEW = 3;
  const MANY = 3;

  /** Call `visit` with every event of a course and the index of its step. */
  const walk = (course, visit) => course.steps.forEach((step, index) => step.events.forEach((event) => visit(event, index)));

  const isNuts = ({ type, from }) => type === "move" && from[1] === "n";

  function nameTeam(game, team) {
    return game.seats.filter((_, seat) => nuts.teamOf(seat) === team).map(({ name }) => quote(name)).join(" and ");
  }

  /** Tell where a Nuts pile runs low, and where it is empty. */
  function findNuts(course, game) {
    const moments = [];
    walk(course, (event, step) => {
      if (!isNuts(event)) return;
      const team = nuts.teamOf(event.seat);
      const left = course.tables[step].piles[`${team}n`].length;
      if (left === 0) moments.push({ step, kind: "nuts", words: `${quote(game.seats[event.seat].name)} plays the last Nuts card`, weight: 5 });
      if (left === FEW) moments.push({ step, kind: "few", words: `${nameTeam(game, team)}: ${FEW} Nuts cards left`, weight: 1.5 });
    });
    return moments;
  }

  /** Tell the steps that move much: many cards to the centre at once, a foundation completed, stocks burned. */
  function findBursts(course, game) {
    return course.steps.flatMap(({ events }, step) => {
      const centre = events.filter(({ type, to }) => type === "move" && to[0] === "f");
      const done = centre.filter(({ cards }) => cards[0][0] === "K");
      return [
        centre.length >= MANY && { step, kind: "burst", words: `${centre.length} cards go to the centre in one tick`, weight: centre.length / 3 },
        ...done.map(({ seat }) => ({ step, kind: "king", words: `${quote(game.seats[seat].name)} completes a foundation`, weight: 1 })),
        events.some(({ type }) => type === "burn") && { step, kind: "burn", words: "All are stuck: the stocks are burned", weight: 1 },
      ].filter(Boolean);
    });
  }

  /** Tell where a Nuts card comes too late for its foundation. */
  function findLapses(course, game) {
    const moments = [];
    course.steps.forEach(({ events }, step) => {
      const before = course.tables[Math.max(0, step - 1)];
      for (const { type, seat, action } of events) {
        const top = type === "lapse" && (before.piles[`${nuts.teamOf(seat)}n`] || []).at(-1);
        if (top && action === `${top}-f`) moments.push({ step, kind: "late", words: `${quote(game.seats[seat].name)} comes too late with a Nuts card`, weight: 2 });
      }
    });
    return moments;
  }

  nuts.moments = (course, { game }) => [...findNuts(course, game), ...findBursts(course, game), ...findLapses(course, game)];

  nuts.summary = function (course, { game }) {
    const counts = game.seats.map(() => ({ centre: 0, nuts: 0, turned: 0, late: 0, waits: 0 }));
    walk(course, (event) => {
      const own = counts[event.seat];
      if (event.type === "move" && event.to[0] === "f") own.centre += 1;
      if (isNuts(event)) own.nuts += 1;
      if (event.type === "turn") own.turned += event.cards.length;
      if (event.type === "lapse") own.late += 1;
    });
    for (const { moves } of course.steps) for (const { seat, action } of moves) counts[seat].waits += Number(action === "wait");
    const row = (words, field) => ({ words, values: counts.map((own) => own[field]) });
    return [row("cards to the centre", "centre"), row("Nuts cards played", "nuts"), row("cards turned", "turned"), row("actions too late", "late"), row("ticks waited", "waits")];
  };
})(window.malice);
