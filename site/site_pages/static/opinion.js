// A second opinion: what a bot would have played instead, by step; who it is, and how often it agrees. Knows no game.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  malice.watchers = malice.watchers || [];
  malice.keys = malice.keys || {};
  const $ = (id) => document.getElementById(id);
  const { createElement } = malice;

  /** Return by step what the bot would have played instead; a seat (or all: null) sees what it says of that seat. */
  malice.listOthers = function (game, viewer) {
    const others = [];
    if (!game.opinion) return others;
    const steps = game.steps.flatMap(({ moves }, step) => moves.map(() => step));
    game.opinion.seats.forEach((opinion, seat) => {
      if (!opinion || (viewer !== null && viewer !== seat)) return;
      for (const [place, action, words, note, cost] of opinion.others) {
        (others[steps[place]] ||= []).push({ seat, action, words: words === action ? "" : words, note, cost });
      }
    });
    return others;
  };

  // A family's words for an action name a way or a thing to do, "end the turn": a colon suits both.
  const describeOther = (game, other) => `${game.opinion.bot} would have chosen: ${other.words || other.action}${tellCost(other)}`;

  /** Say what it cost to differ, if it surely cost something. */
  const tellCost = ({ cost }) => (cost ? ` (differs, costs ${cost} of a win)` : "");

  /** Mark an action in the log. */
  malice.markOther = (game, other) => createElement("span", { class: "otherwise", role: "img", "aria-label": `, ${describeOther(game, other)}`, title: describeOther(game, other) }, "≠");

  function describeSeat(game, opinion, seat) {
    const { moves, others, fault } = opinion || {};
    const words = opinion ? `${game.opinion.bot} would have played otherwise in ${others.length} of ${moves}` : "not asked about itself";
    const told = fault && `${fault.code} after ${malice.formatCount(moves, "move")}: ${fault.sentence}`;
    return createElement(
      "li",
      {},
      malice.drawDisc(game, seat),
      " ",
      createElement("bdi", {}, game.seats[seat].name),
      ": ",
      createElement("bdi", {}, words),
      fault && createElement("p", { class: "bad" }, "Its opinion ends there: ", createElement("bdi", {}, told)),
    );
  }

  function describeBot({ bot, version, hash }) {
    const edition = [version && `version ${version}`, hash].filter(Boolean).join(", ");
    return createElement(
      "p",
      {},
      createElement("b", {}, createElement("bdi", {}, bot)),
      edition && " (",
      edition && createElement("bdi", {}, edition),
      edition && ")",
      " was asked for every action of others in this game, and saw only what the seat saw. It is an opinion: nobody knows who would have won.",
    );
  }

  function load(game) {
    $("second").hidden = !game.opinion;
    $("play-area").classList.toggle("advised", Boolean(game.opinion) && $("advised").checked);
    if (!game.opinion) return;
    const seats = game.opinion.seats.map((opinion, seat) => describeSeat(game, opinion, seat));
    $("opinion").replaceChildren(describeBot(game.opinion), createElement("ul", {}, ...seats));
  }

  function tellOther(game, other) {
    const words = [createElement("b", {}, createElement("bdi", {}, game.opinion.bot)), " would have chosen: ", other.words || createElement("code", {}, other.action), tellCost(other)];
    const note = other.note && createElement("q", {}, createElement("bdi", {}, other.note));
    const whose = game.together && [createElement("bdi", {}, game.seats[other.seat].name), ": "];
    return createElement("span", {}, ...(whose || []), ...words, note && " ", note);
  }

  function show(index) {
    const { game, course } = malice.replay.state;
    if (!game.opinion) return;
    const others = course.others[index] || [];
    $("advice").replaceChildren(...others.map((other) => tellOther(game, other)));
    $("advice").title = others.map((other) => `${describeOther(game, other)}${other.note && `: ${other.note}`}`).join("\n");
  }

  /** Jump to the next action that the bot would not have played, or back to the one before. */
  function jump(by) {
    const { course, index } = malice.replay.state;
    const steps = Object.keys(course.others).map(Number);
    const found = by > 0 ? steps.find((step) => step > index) : steps.findLast((step) => step < index);
    if (found !== undefined) malice.seek(found);
  }

  function choose(shown) {
    const { game, index } = malice.replay.state;
    $("advised").checked = shown;
    $("play-area").classList.toggle("advised", Boolean(game?.opinion) && shown);
    if (game) malice.replay.showStep(index);
  }

  malice.watchers.push({ load, show });
  Object.assign(malice.keys, { ",": () => jump(-1), ".": () => jump(1), o: () => choose(!$("advised").checked) });
  $("advice-back").addEventListener("click", () => jump(-1));
  $("advice-forward").addEventListener("click", () => jump(1));
  $("advised").addEventListener("change", () => choose($("advised").checked));
})(window.malice);
