// Finds the key moments of a game, and lists them beside the table. What else counts as one is the family's.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const MOST = 24;
  const { createElement } = malice;
  let listed = { moments: [], links: [], index: 0 };

  /** Tell who led first, and the changes of the lead; the later, the more they weigh. */
  function findLeads(game, race) {
    if (!race || race.taken === null) return [];
    const changes = [{ step: race.taken, side: race.leads[race.taken] }, ...race.changes];
    const last = changes.length - 1;
    return changes.map(({ step, side }, place) => {
      const own = race.left[step][side];
      const next = Math.min(...race.left[step].filter((_, other) => other !== side));
      const second = race.left[step].findIndex((left, other) => other !== side && left === next);
      const verb = race.sides[side].seats.length > 1 ? "take" : "takes";
      const good = place === last && race.leads.at(-1) === side ? " for good" : "";
      const name = (which) => malice.nameSide(game, race.sides[which]);
      const figure = (left) => malice.formatFigure(race.value(left));
      const words = `${name(side)} ${verb} the ${place || good ? "" : "first "}lead${good}; ${race.unit}: ${figure(own)}, ${name(second)} ${figure(next)}`;
      return { step, kind: "lead", words, weight: good ? 4 : place ? 2 + step / race.left.length : 3 };
    });
  }

  /** Tell what surely cost a seat part of a win, says a second opinion. */
  function findCosts(game) {
    const costly = malice.listOthers(game, null).flatMap((others, step) => others.filter(({ cost }) => cost).map((other) => ({ ...other, step })));
    return costly.map(({ seat, step, cost }) => {
      const words = `${malice.quote(game.seats[seat].name)} differs from ${malice.quote(game.opinion.bot)}, costs ${cost} of a win`;
      return { step, kind: "cost", words, weight: 3.5 };
    });
  }

  function findLongestThink(game) {
    const thoughts = game.steps.flatMap((step, index) => step.moves.map((move) => ({ ...move, step: index })));
    const [longest] = thoughts.filter(({ micros }) => micros).sort((one, other) => other.micros - one.micros);
    if (!longest) return [];
    const words = `${malice.quote(game.seats[longest.seat].name)} thinks for ${malice.formatDuration(longest.micros)}, the longest of the game`;
    return [{ step: longest.step, kind: "think", words, weight: 1 }];
  }

  function findFaults(game) {
    return game.steps.flatMap((step, index) =>
      step.moves
        .filter(({ action }) => action[0] === "!")
        .map(({ seat, action }) => ({ step: index, kind: "fault", words: `${malice.quote(game.seats[seat].name)} is out: ${action.slice(1)}`, weight: 5 })),
    );
  }

  // The first step is the deal, or all that was played before a game that begins in the midst.
  const isMoment = (moment, game) => moment?.step > 0 && game.steps[moment.step] && typeof moment.words === "string";

  /** Return the key moments in their order, those of any game and those of the family. */
  malice.gatherMoments = malice.computeOnce((game, course) => {
    const race = malice.measureRace(game, course);
    const own = [].concat(malice.callFamily(game.family, "moments", course, { game })).filter((moment) => isMoment(moment, game));
    const all = [...findLeads(game, race), ...findLongestThink(game), ...findFaults(game), ...findCosts(game), ...own];
    const heaviest = all.sort((one, other) => (other.weight || 0) - (one.weight || 0)).slice(0, MOST);
    return heaviest.sort((one, other) => one.step - other.step);
  });

  /** Find the seat that words are about; of two seats with one name, that which acted. */
  function findSubject(game, { step, words }) {
    const actor = malice.findActor(game.steps[step]);
    const isSubject = ({ name }) => words.startsWith(malice.quote(name));
    return actor !== null && isSubject(game.seats[actor]) ? actor : game.seats.findIndex(isSubject);
  }

  function makeEntry(game, moment) {
    const { step, kind, words } = moment;
    const number = game.steps[step].number;
    const seat = findSubject(game, moment);
    const capital = words[0].toUpperCase() + words.slice(1);
    const link = createElement(
      "a",
      { href: number < 0 ? `#${game.key}` : `#${game.key}/${number}`, class: kind, "data-moment": step },
      createElement("span", { class: "number" }, number < 0 ? "deal" : String(number)),
      createElement("span", {}, seat >= 0 && malice.drawDisc(game, seat), " ", capital, "."),
    );
    return createElement("li", {}, link);
  }

  function load(game, course) {
    const moments = malice.gatherMoments(game, course);
    const entries = moments.map((moment) => makeEntry(game, moment));
    const box = document.getElementById("moments");
    box.replaceChildren(...entries);
    box.parentElement.hidden = !moments.length;
    listed = { moments, links: entries.map((entry) => entry.firstChild), index: 0 };
  }

  function show(index) {
    listed.index = index;
    document.querySelector("#moments-title .spectators").hidden = malice.replay.state.viewer === null;
    listed.moments.forEach(({ step }, place) => {
      const link = listed.links[place];
      if (step === index) link.setAttribute("aria-current", "step");
      else if (link.hasAttribute("aria-current")) link.removeAttribute("aria-current");
    });
  }

  /** Jump to the next moment, or back to the one before; stay where there is none. */
  function jump(by) {
    const steps = listed.moments.map(({ step }) => step);
    const found = by > 0 ? steps.find((step) => step > listed.index) : steps.findLast((step) => step < listed.index);
    if (found !== undefined) malice.seek(found);
  }

  malice.watchers.push({ load, show });
  malice.keys["["] = () => jump(-1);
  malice.keys["]"] = () => jump(1);
})(window.malice);
