// Fills what stands beside the table: the log of actions, and the result.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;

  function shortenPile(pile, seat, game) {
    if (!/^\d/.test(pile)) return pile;
    const [, owner, kind] = /^(\d+)(.*)$/.exec(pile);
    const own = { h: "hand", p: "pay-off" }[kind] || kind;
    return Number(owner) === seat ? own : `${game.seats[owner].name}’s ${own}`;
  }

  function describeAction(step, game) {
    const [event] = step.events;
    if (step.index < 0) return ["The deal"];
    if (event?.type !== "move") {
      const { what: words } = malice.describeStep(game, step.index + 1, null);
      return [words];
    }
    const as = event.to[0] === "c" ? malice.findSubstitute(event.card, event.value, game.rules) : "";
    const to = shortenPile(event.to, step.seat, game);
    return [
      malice.drawChip(event.card, game.rules),
      as && ` as ${as}`,
      createElement("span", { class: "way" }, ` ${shortenPile(event.from, step.seat, game)} → `, createElement("bdi", {}, to)),
    ].filter(Boolean);
  }

  function describeExtras(game, index, viewer) {
    const step = game.steps[index];
    const phrases = malice.describeStep(game, index, viewer).effects;
    const events = malice.listEffects(step);
    return phrases.filter((_, place) => ["flip", "shuffle", "out", "pass"].includes(events[place].type)).join("; ");
  }

  function makeEntry(game, index, viewer) {
    const step = game.steps[index];
    const more = describeExtras(game, index, viewer);
    const link = createElement(
      "a",
      { href: step.index < 0 ? `#${game.key}` : `#${game.key}/${step.index}`, title: step.action || null, "data-step": index },
      createElement("span", { class: "number" }, step.index < 0 ? "" : String(step.index)),
      createElement("span", { class: "what" }, ...describeAction(step, game)),
      createElement("span", { class: "time" }, malice.formatDuration(step.micros)),
    );
    return createElement(
      "li",
      { class: step.events[0]?.type === "out" ? "verdict" : null },
      link,
      more && createElement("p", { class: "more" }, more),
      step.note && createElement("q", {}, createElement("bdi", {}, step.note)),
    );
  }

  /** Fill the log, with a heading for each turn. */
  malice.fillLog = function (box, game, viewer) {
    const parts = [];
    let list = null;
    let turn = null;
    game.steps.forEach((step, index) => {
      if (list === null || step.turn !== turn || index === 1) {
        turn = step.turn;
        list = createElement("ol", {});
        if (step.seat !== null) {
          const name = createElement("bdi", {}, game.seats[step.seat].name);
          parts.push(createElement("h3", {}, malice.drawDisc(game, step.seat), name, createElement("small", {}, `turn ${turn}`)));
        }
        parts.push(list);
      }
      list.append(makeEntry(game, index, viewer));
    });
    box.replaceChildren(...parts);
  };

  /** Mark the current action, and scroll the log, but not the page, until it is visible. */
  malice.markLog = function (box, index) {
    box.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const link = box.querySelector(`[data-step="${index}"]`);
    if (!link) return;
    link.setAttribute("aria-current", "step");
    const [frame, row] = [box.getBoundingClientRect(), link.getBoundingClientRect()];
    if (row.top < frame.top + 40 || row.bottom > frame.bottom - 20) {
      box.scrollTop += row.top - frame.top - frame.height / 2;
    }
  };

  function sumTimes(game, seat) {
    const micros = game.steps.filter((step) => step.seat === seat).map((step) => step.micros || 0);
    const sum = micros.reduce((one, other) => one + other, 0);
    return { sum, count: micros.length, most: Math.max(0, ...micros) };
  }

  function makeSeatRow(game, seat) {
    const { sum, count, most } = sumTimes(game, seat);
    const stray = game.stray[seat];
    return createElement(
      "tr",
      {},
      createElement("td", { class: "num" }, game.reason.startsWith("void") ? "–" : String(game.places[seat])),
      createElement(
        "th",
        { scope: "row" },
        malice.drawDisc(game, seat),
        malice.hasPartners(game) && createElement("small", {}, `team ${game.teams[seat]} `),
        createElement("a", { href: `bots/${game.seats[seat].slug}.html` }, createElement("bdi", {}, game.seats[seat].name)),
        stray ? createElement("small", {}, ` ${malice.formatCount(stray, "stray line")}`) : null,
      ),
      createElement("td", { class: "num" }, String(game.scores[seat])),
      createElement("td", { class: "num", title: `${malice.formatCount(count, "action")}, the slowest ${malice.formatDuration(most)}` }, malice.formatDuration(sum)),
    );
  }

  function makeDetails(summary, text) {
    return text ? createElement("details", {}, createElement("summary", {}, summary), createElement("pre", {}, text)) : null;
  }

  function makeFault(game, fault) {
    return createElement(
      "article",
      { class: "fault" },
      createElement(
        "h3",
        {},
        createElement("span", { class: "verdict" }, fault.code),
        " ",
        createElement("a", { href: `#${game.key}/${fault.action}` }, createElement("bdi", {}, game.seats[fault.seat].name), `, action ${fault.action}`),
      ),
      createElement("p", {}, createElement("bdi", {}, fault.sentence)),
      fault.exit ? createElement("p", {}, "Process: ", createElement("bdi", {}, fault.exit)) : null,
      makeDetails("The last lines between referee and bot", fault.lines.join("\n")),
      makeDetails("What it wrote to stderr", fault.stderr),
    );
  }

  /** Return the lines below the table at the end: the result, and a sentence for each verdict. */
  malice.makeEnding = function (game) {
    const verdicts = game.faults.map((fault) =>
      createElement("p", { class: "bad" }, createElement("bdi", {}, game.seats[fault.seat].name), ": ", createElement("bdi", {}, fault.sentence)),
    );
    return [createElement("p", {}, malice.describeResult(game)), ...verdicts];
  };

  /** Fill in the seats, the result, and every verdict with its evidence. */
  malice.fillResult = function (box, game) {
    const headings = ["Place", "Seat", "Points", "Time"].map((text) =>
      createElement("th", { scope: "col", class: text === "Seat" ? null : "num" }, text),
    );
    box.replaceChildren(
      createElement("p", { class: "outcome" }, malice.describeResult(game)),
      createElement(
        "table",
        {},
        createElement("thead", {}, createElement("tr", {}, ...headings)),
        createElement("tbody", {}, ...malice.groupTeams(game).flatMap(({ seats }) => seats.map((seat) => makeSeatRow(game, seat)))),
      ),
      ...game.faults.map((fault) => makeFault(game, fault)),
      ...(game.broken ? [createElement("p", { class: "bad" }, `This record cannot be replayed to its end: ${game.broken}.`)] : []),
    );
  };
})(window.malice);
