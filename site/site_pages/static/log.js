// Fills what stands beside the table: the log of actions, and the result.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;
  let links = [];
  /**
   * Lies around the current action: to move it costs a fraction of what another colour of a row would. It moves on a
   * rail beside the entries, so that the page need not look through all of these for what its move covers.
   */
  const marker = createElement("div", { class: "marker" });
  const rail = createElement("div", { class: "rail", "aria-hidden": "true" }, marker);
  let marked = null;
  let stop = null;
  let rows = null; // where the links lie in the log: measured once, since to measure after each step costs a layout
  let frame = { top: 0, height: 0 };

  /** Take the first brief of a step as its line; the others stand below it. */
  function splitBriefs(game, course, index) {
    const actor = malice.findActor(course.steps[index]);
    const briefs = course.briefs[index]
      .filter((brief) => (Array.isArray(brief) ? brief.length : brief))
      .map((brief) => [].concat(brief).map((part) => (typeof part === "string" ? malice.dropSubject(part, game, actor) : part)));
    return actor === null ? { line: null, rest: briefs } : { line: briefs[0], rest: briefs.slice(1) };
  }

  function describeMoves(game, step) {
    if (step.number < 0) return ["The deal"];
    if (step.moves.length === 1) return [malice.formatMove(step.moves[0])];
    return step.moves.map((move) =>
      createElement(
        "span",
        { class: move.action[0] === "!" ? "move bad" : "move", title: game.seats[move.seat].name },
        malice.drawDisc(game, move.seat),
        createElement("bdi", {}, ` ${malice.formatMove(move)}`),
      ),
    );
  }

  function makeEntry(game, course, index) {
    const step = course.steps[index];
    const { line, rest } = splitBriefs(game, course, index);
    const more = rest.flatMap((brief, place) => (place ? ["; ", ...brief] : brief));
    const note = malice.joinNotes(game, step);
    const alone = step.moves.length === 1;
    const link = createElement(
      "a",
      {
        href: step.number < 0 ? `#${game.key}` : `#${game.key}/${step.number}`,
        title: alone ? step.moves[0].action : null,
        "data-step": index,
        tabindex: "-1",
      },
      createElement("span", { class: "number" }, step.number < 0 ? "" : String(step.number)),
      createElement("span", { class: "what" }, ...(line || describeMoves(game, step)), ...(course.others[index] || []).map((other) => malice.markOther(game, other))),
      createElement("span", { class: "time" }, malice.formatDuration(malice.longestTime(step))),
    );
    return createElement(
      "li",
      { class: alone && step.moves[0].action[0] === "!" ? "verdict" : null },
      link,
      more.length > 0 && createElement("p", { class: "more" }, ...more),
      note && createElement("q", {}, createElement("bdi", {}, note)),
    );
  }

  function makeHeading(game, step, begins) {
    const actor = malice.findActor(step);
    const name = begins && malice.nameTurn(game, step);
    const turn = name && createElement("small", {}, name);
    if (actor === null) return turn && createElement("h3", {}, turn);
    return createElement("h3", {}, malice.drawDisc(game, actor), createElement("bdi", {}, game.seats[actor].name), turn);
  }

  /** Fill the log, with a heading for each turn, and within a turn, which may be a whole trick, for each seat. */
  malice.fillLog = function (box, game, course) {
    const parts = [];
    let list = null;
    let last = null;
    course.steps.forEach((step, index) => {
      const begins = !last || index === 1 || last.turn !== step.turn;
      if (begins || malice.findActor(last) !== malice.findActor(step)) {
        list = createElement("ol", {});
        parts.push(step.moves.length > 0 && makeHeading(game, step, begins), list);
      }
      last = step;
      list.append(makeEntry(game, course, index));
    });
    const entries = createElement("div", { class: "entries" }, ...parts.filter(Boolean));
    box.replaceChildren(createElement("div", { class: "roll" }, entries, rail));
    links = [...box.querySelectorAll("[data-step]")];
    rows = null;
  };

  /** Keep up with how large the log is, and how far it is scrolled. */
  malice.watchLog = function (box) {
    box.addEventListener("scroll", () => (frame.top = box.scrollTop), { passive: true });
    new ResizeObserver(() => {
      rows = null;
      if (marked) moveMarker(box, links.indexOf(marked));
    }).observe(box);
  };

  function measureRows(box) {
    frame = { top: box.scrollTop, height: box.clientHeight };
    rows = links.map((link) => ({ top: link.offsetTop, height: link.offsetHeight }));
  }

  /** Move the marker to an action, and scroll the log, but not the page, until it is visible. */
  function moveMarker(box, index) {
    if (!rows) measureRows(box);
    const { top, height } = rows[index];
    marker.style.transform = `translateY(${top}px)`;
    marker.style.height = `${height}px`;
    if (top >= frame.top + 40 && top + height <= frame.top + frame.height - 20) return;
    box.scrollTop = frame.top = Math.max(0, top - frame.height / 4);
  }

  /** Make a link the one stop of the Tab key in the log. */
  function stopAt(link) {
    if (stop) stop.tabIndex = -1;
    stop = link;
    stop.tabIndex = 0;
  }

  /** Move the focus in the log by arrow keys, Home and End. */
  malice.roveLog = function (event) {
    const step = Number(event.target.dataset.step);
    const link = links[{ ArrowDown: step + 1, ArrowUp: step - 1, Home: 0, End: links.length - 1 }[event.key]];
    if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    stopAt(link);
    link.focus();
  };

  /** Mark the current action. */
  malice.markLog = function (box, index) {
    const link = links[index];
    if (!link) return;
    marked?.removeAttribute("aria-current");
    marked = link;
    link.setAttribute("aria-current", "step");
    stopAt(link);
    moveMarker(box, index);
  };

  function sumTimes(game, seat) {
    const moves = game.steps.flatMap((step) => step.moves).filter((move) => move.seat === seat);
    const micros = moves.map((move) => move.micros || 0);
    const sum = micros.reduce((one, other) => one + other, 0);
    return { sum, count: micros.length, most: Math.max(0, ...micros) };
  }

  function makeSeatRow(game, seat) {
    const { sum, count, most } = sumTimes(game, seat);
    const stray = game.stray[seat];
    return createElement(
      "tr",
      {},
      createElement("td", { class: "num" }, game.void ? "–" : String(game.places[seat])),
      createElement(
        "th",
        { scope: "row" },
        malice.drawDisc(game, seat),
        malice.hasPartners(game) && createElement("small", {}, `team ${game.teams[seat]} `),
        malice.linkPage(`bots/${game.seats[seat].slug}.html`, { class: malice.markBot(game.seats[seat]) }, createElement("bdi", {}, game.seats[seat].name)),
        stray ? createElement("small", {}, ` ${malice.formatCount(stray, "stray line")}`) : null,
      ),
      createElement("td", { class: "num" }, malice.formatFigure(game.scores[seat])),
      createElement("td", { class: "num", title: `${malice.formatCount(count, "action")}, the slowest ${malice.formatDuration(most)}` }, malice.formatDuration(sum)),
    );
  }

  function makeText(label, ...content) {
    return createElement("pre", { tabindex: "0", role: "group", "aria-label": label }, ...content);
  }

  function makeDetails(summary, text) {
    return text ? createElement("details", {}, createElement("summary", {}, summary), makeText(summary, text)) : null;
  }

  /** Show the line that brought a verdict on, with what is wrong in it marked. */
  function makeMarkedLine(line) {
    const mark = line.marked
      ? createElement("mark", {}, line.marked)
      : line.flaw && createElement("mark", {}, "⏎");
    return createElement(
      "figure",
      { class: "offending" },
      createElement("figcaption", {}, line.title),
      makeText(line.title, line.before, mark, line.after),
      line.flaw && createElement("p", { class: "flaw" }, line.flaw),
    );
  }

  function makeFault(game, fault) {
    const step = malice.findVerdict(game, fault.seat);
    return createElement(
      "article",
      { class: "fault", id: `fault-${fault.seat}`, tabindex: "-1" },
      createElement(
        "h3",
        {},
        createElement("span", { class: "verdict" }, fault.code),
        " ",
        createElement(
          "a",
          { href: `#${game.key}/!${fault.seat}` },
          createElement("bdi", {}, game.seats[fault.seat].name),
          step && `, ${malice.nameActions(step)}`,
        ),
      ),
      fault.line && makeMarkedLine(fault.line),
      createElement("p", {}, createElement("bdi", {}, fault.sentence)),
      fault.time && createElement("p", { class: "time" }, fault.time),
      fault.exit ? createElement("p", {}, "Process: ", createElement("bdi", {}, fault.exit)) : null,
      makeDetails("What it wrote to stderr", fault.stderr),
      makeDetails("The last lines between referee and bot", fault.lines.join("\n")),
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
