// The key moments of Double Solitaire, and what each seat did in the end.
"use strict";
malice.double = malice.double || {};

(function (malice) {
  const { double, quote } = malice;
  const MANY = 5;
  const FEW = 3;

  const isPack = ({ from }) => from === "h" || from.endsWith("d");
  const isLoad = (event) => event.to.endsWith("d") && !double.isDiscard(event);

  /** Return the turns of a course: whose they are, the index of their last step, and their moves. */
  function listTurns(course) {
    const turns = [];
    course.steps.forEach((step, index) => {
      for (const event of step.events) {
        if (event.type === "draw") turns.push({ seat: event.seat, step: index, moves: [] });
        const turn = turns.at(-1);
        if (event.type === "move") {
          turn.moves.push(event);
          turn.step = index;
        }
      }
    });
    return turns;
  }

  /** Count by how many cards a turn changed the difference of the packs. */
  const countGain = ({ moves }) => moves.reduce((sum, event) => sum + (double.isDiscard(event) ? 0 : Number(isPack(event)) + Number(isLoad(event))), 0);

  function findSprees(course, name) {
    return listTurns(course).flatMap((turn) => {
      const gain = countGain(turn);
      const loads = turn.moves.filter(isLoad).length;
      if (gain < MANY) return [];
      const words = `${name(turn.seat)} gains ${gain} cards in one turn${loads ? `, ${loads} of them loaded` : ""}`;
      return [{ step: turn.step, kind: "run", words, weight: gain / 3 }];
    });
  }

  /** Tell where a pack came down to a few cards for the first time. */
  function findFew(course, { game }, name) {
    return game.seats.flatMap((_, seat) => {
      const step = course.tables.findIndex((table) => table.table.length && double.race(table)[seat] <= FEW);
      return step < 0 ? [] : [{ step, kind: "few", words: `${name(seat)} is down to ${FEW} cards`, weight: 3 }];
    });
  }

  /** Tell where each seat turned its discard pile over for the first time: from then on its stock can be known. */
  function findTurnedOver(course, { game }, name) {
    return game.seats.flatMap((_, seat) => {
      const isFirst = (event) => event.type === "turn_over" && event.seat === seat;
      const step = course.steps.findIndex(({ events }) => events.some(isFirst));
      if (step < 0) return [];
      const { count } = course.steps[step].events.find(isFirst);
      return [{ step, kind: "pass", words: `${name(seat)} has gone through the stock, and turns over ${malice.formatCount(count, "card")}`, weight: 0.5 }];
    });
  }

  double.moments = function (course, context) {
    const name = (seat) => quote(context.game.seats[seat].name);
    return [...findSprees(course, name), ...findFew(course, context, name), ...findTurnedOver(course, context, name)];
  };

  double.summary = function (course, { game }) {
    const turns = listTurns(course);
    const count = (seat, counts) => turns.filter((turn) => turn.seat === seat).reduce((sum, turn) => sum + counts(turn), 0);
    const countMoves = (test) => (seat) => count(seat, ({ moves }) => moves.filter(test).length);
    const rows = {
      "to foundations": countMoves(({ to }) => to === "f"),
      "pack to table": countMoves((event) => isPack(event) && event.to[0] === "t"),
      "loaded": countMoves(isLoad),
      "turns without a play": (seat) => count(seat, ({ moves }) => Number(moves.every(double.isDiscard))),
      "times turned over": (seat) => course.steps.reduce((sum, { events }) => sum + events.filter((event) => event.type === "turn_over" && event.seat === seat).length, 0),
    };
    return Object.entries(rows).map(([words, value]) => ({ words, values: game.seats.map((_, seat) => value(seat)) }));
  };
})(window.malice);
