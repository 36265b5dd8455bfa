// Says in sentences what happened in a game, for screen readers and beside the table.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { quote } = malice;

  /** Return a number with its noun: 1 card, 2 cards. */
  malice.formatCount = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

  /** Return a figure with the minus sign, which a hyphen only resembles. */
  malice.formatFigure = (figure) => String(figure).replace("-", "−");

  /** Join names in a sentence: a, b and c. */
  malice.joinNames = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
  const capitalize = (text) => text && text[0].toUpperCase() + text.slice(1);

  /** Leave out the name at the start of a phrase about this seat. */
  malice.dropSubject = function (phrase, game, seat) {
    const subject = seat === null ? "" : `${quote(game.seats[seat].name)} `;
    return subject && phrase.startsWith(subject) ? phrase.slice(subject.length) : phrase;
  };

  /** Return the seat that acted alone in a step; null for the deal, and where several acted. */
  malice.findActor = (step) => (step.moves.length === 1 ? step.moves[0].seat : null);

  /** Return what a seat did, as its bot wrote it; a seat's view does not show what others did at the same time. */
  malice.formatMove = (move) => move.action || "?";

  /** Describe a step in a sentence. */
  malice.describeStep = function (game, course, index) {
    const step = course.steps[index];
    const phrases = course.words[index].filter(Boolean);
    const actor = malice.findActor(step);
    const name = (move) => quote(game.seats[move.seat].name);
    if (actor === null || !phrases.length) {
      const isTold = (move) => phrases.some((phrase) => phrase.startsWith(`${name(move)} `));
      const moves = step.moves.filter((move) => !isTold(move)).map((move) => `${name(move)}: ${malice.formatMove(move)}`);
      const text = [...moves, ...phrases].join("; ");
      return text && `${capitalize(text)}.`;
    }
    const rest = phrases.map((phrase) => malice.dropSubject(phrase, game, actor));
    const begins = rest[0] !== phrases[0];
    return `${name(step.moves[0])}${begins ? " " : `: ${malice.formatMove(step.moves[0])}; `}${rest.join("; ")}.`;
  };

  /** Name the actions of a step by their numbers: of several seats that act at once, the first and the last one. */
  malice.nameActions = function ({ number, moves }) {
    if (number < 0) return "the deal";
    return moves.length > 1 ? `actions ${number}–${number + moves.length - 1}` : `action ${number}`;
  };

  /** Name the turn of a step; an empty text where turns are not counted, or are no more than actions. */
  malice.nameTurn = (game, { turn }) => (turn > 0 && game.turnName ? `${game.turnName} ${turn}` : "");

  /** Describe in a sentence how the game ended. */
  malice.describeResult = function (game) {
    const winners = game.seats.filter((_, seat) => game.places[seat] === 1).map((seat) => quote(seat.name));
    if (game.void) return `No result. ${game.reason}.`;
    const series = game.series ? ` ${capitalize(game.series)}.` : "";
    if (winners.length === game.seats.length) return `A draw: ${game.reason}.${series}`;
    const winningTeams = malice.groupTeams(game).filter(({ seats }) => game.places[seats[0]] === 1);
    const team = malice.hasPartners(game) && winningTeams.length === 1 ? `Team ${winningTeams[0].team}, ` : "";
    const verb = winners.length === 1 ? "wins" : "win";
    const how = game.reason === "forfeit" ? " by forfeit" : `: ${game.reason}`;
    return `${team}${malice.joinNames(winners)}${team && ","} ${team ? "wins" : verb}${how}.${series}`;
  };

  /** Format a time in microseconds, with its unit. */
  malice.formatDuration = function (micros) {
    if (micros === null) return "";
    if (micros < 1000) return `${micros} µs`;
    if (micros < 1e6) return `${Number((micros / 1000).toPrecision(2))} ms`;
    return `${Number((micros / 1e6).toPrecision(2))} s`;
  };

  /** Return the longest time of a step in microseconds; null for the deal. */
  malice.longestTime = (step) => (step.moves.length ? Math.max(...step.moves.map((move) => move.micros ?? 0)) : null);

  /** Return what the bots noted in a step; with several seats, each note after a name. */
  malice.joinNotes = function (game, step) {
    const noted = step.moves.filter((move) => move.note);
    if (step.moves.length === 1) return noted.map((move) => move.note).join("");
    return noted.map((move) => `${quote(game.seats[move.seat].name)}: ${move.note}`).join("\n");
  };
})(window.malice);
