// Beside the table: the log of actions, and how the game ended.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { element } = malice;

  function short(pile, seat, game) {
    if (!/^\d/.test(pile)) return pile;
    const [, owner, kind] = /^(\d+)(.*)$/.exec(pile);
    const own = { h: "hand", p: "pay-off" }[kind] || kind;
    return Number(owner) === seat ? own : `${game.seats[owner].name}’s ${own}`;
  }

  function what(step, game) {
    const [event] = step.events;
    if (step.index < 0) return ["The deal"];
    if (event?.type !== "move") {
      const { what: words } = malice.tell(game, step.index + 1, null);
      return [words];
    }
    const as = event.to[0] === "c" ? malice.standsFor(event.card, event.value, game.rules) : "";
    const to = short(event.to, step.seat, game);
    return [
      malice.chip(event.card, game.rules),
      as && ` as ${as}`,
      element("span", { class: "way" }, ` ${short(event.from, step.seat, game)} → `, element("bdi", {}, to)),
    ].filter(Boolean);
  }

  function extras(game, index, viewer) {
    const step = game.steps[index];
    const told = malice.tell(game, index, viewer).effects;
    const events = malice.effects(step);
    return told.filter((_, place) => ["flip", "shuffle", "out", "pass"].includes(events[place].type)).join("; ");
  }

  function entry(game, index, viewer) {
    const step = game.steps[index];
    const more = extras(game, index, viewer);
    const link = element(
      "a",
      { href: step.index < 0 ? `#${game.key}` : `#${game.key}/${step.index}`, title: step.action || null, "data-step": index },
      element("span", { class: "number" }, step.index < 0 ? "" : String(step.index)),
      element("span", { class: "what" }, ...what(step, game)),
      element("span", { class: "time" }, malice.duration(step.micros)),
    );
    return element(
      "li",
      { class: step.events[0]?.type === "out" ? "verdict" : null },
      link,
      more && element("p", { class: "more" }, more),
      step.note && element("q", {}, element("bdi", {}, step.note)),
    );
  }

  /** Fill the log; turns are headings. */
  malice.fillLog = function (box, game, viewer) {
    const parts = [];
    let list = null;
    let turn = null;
    game.steps.forEach((step, index) => {
      if (list === null || step.turn !== turn || index === 1) {
        turn = step.turn;
        list = element("ol", {});
        if (step.seat !== null) {
          const name = element("bdi", {}, game.seats[step.seat].name);
          parts.push(element("h3", {}, malice.disc(game, step.seat), name, element("small", {}, `turn ${turn}`)));
        }
        parts.push(list);
      }
      list.append(entry(game, index, viewer));
    });
    box.replaceChildren(...parts);
  };

  /** Mark the current action, and bring it into sight without moving the page. */
  malice.markLog = function (box, index) {
    box.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const link = box.querySelector(`[data-step="${index}"]`);
    if (!link) return;
    link.setAttribute("aria-current", "step");
    const [frame, place] = [box.getBoundingClientRect(), link.getBoundingClientRect()];
    if (place.top < frame.top + 40 || place.bottom > frame.bottom - 20) {
      box.scrollTop += place.top - frame.top - frame.height / 2;
    }
  };

  function used(game, seat) {
    const micros = game.steps.filter((step) => step.seat === seat).map((step) => step.micros || 0);
    const sum = micros.reduce((one, other) => one + other, 0);
    return { sum, count: micros.length, most: Math.max(0, ...micros) };
  }

  function seatRow(game, seat) {
    const { sum, count, most } = used(game, seat);
    const stray = game.stray[seat];
    return element(
      "tr",
      {},
      element("td", { class: "num" }, game.reason.startsWith("void") ? "–" : String(game.places[seat])),
      element(
        "th",
        { scope: "row" },
        malice.disc(game, seat),
        malice.hasPartners(game) && element("small", {}, `team ${game.teams[seat]} `),
        element("a", { href: `bots/${game.seats[seat].slug}.html` }, element("bdi", {}, game.seats[seat].name)),
        stray ? element("small", {}, ` ${stray} stray ${stray === 1 ? "line" : "lines"}`) : null,
      ),
      element("td", { class: "num" }, String(game.scores[seat])),
      element("td", { class: "num", title: `${count} actions, the slowest ${malice.duration(most)}` }, malice.duration(sum)),
    );
  }

  function folded(summary, text) {
    return text ? element("details", {}, element("summary", {}, summary), element("pre", {}, text)) : null;
  }

  function fault(game, one) {
    return element(
      "article",
      { class: "fault" },
      element(
        "h3",
        {},
        element("span", { class: "verdict" }, one.code),
        " ",
        element("a", { href: `#${game.key}/${one.action}` }, element("bdi", {}, game.seats[one.seat].name), `, action ${one.action}`),
      ),
      element("p", {}, element("bdi", {}, one.sentence)),
      one.exit ? element("p", {}, "Process: ", element("bdi", {}, one.exit)) : null,
      folded("The last lines between referee and bot", one.lines.join("\n")),
      folded("What it wrote to stderr", one.stderr),
    );
  }

  /** What stands below the table at the end: the result, and each verdict in a sentence. */
  malice.ending = function (game) {
    const verdicts = game.faults.map((one) =>
      element("p", { class: "bad" }, element("bdi", {}, game.seats[one.seat].name), ": ", element("bdi", {}, one.sentence)),
    );
    return [element("p", {}, malice.result(game)), ...verdicts];
  };

  /** Show who played, how it ended, and every verdict with its evidence. */
  malice.fillResult = function (box, game) {
    const headings = ["Place", "Seat", "Points", "Time"].map((text) =>
      element("th", { scope: "col", class: text === "Seat" ? null : "num" }, text),
    );
    box.replaceChildren(
      element("p", { class: "outcome" }, malice.result(game)),
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...headings)),
        element("tbody", {}, ...malice.sides(game).flatMap(({ seats }) => seats.map((seat) => seatRow(game, seat)))),
      ),
      ...game.faults.map((one) => fault(game, one)),
      ...(game.broken ? [element("p", { class: "bad" }, `This record does not replay to its end: ${game.broken}.`)] : []),
    );
  };
})(window.malice);
