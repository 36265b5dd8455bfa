// Lets somebody choose an action at the table: by clicks, by dragging, by keys. Knows no game, and sends nothing.
//
// What may be played comes as actions with their words; a family's `aim` says between which places an action moves a
// card. What can be chosen is lit: first the cards that may move, then, once one is chosen, the places that take it.
// An action that moves nothing is a button below the table.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const DRAG = 6; // pixels, from which on a press is a drag
  const { createElement } = malice;
  const $ = (id) => document.getElementById(id);

  /** The choice: `moves` holds {action, words, from, to, card}; `chosen` is the source that was chosen. */
  const state = { choice: null, moves: [], plain: [], chosen: null, context: null, play: () => {} };
  let drag = null;
  let dropped = -Infinity; // when a drag ended: the click that follows is none

  const findPlace = (name) => $("table").querySelector(`[data-place="${CSS.escape(name)}"]`);

  /** Find the element of a source: its card among others of the place, or the top one. */
  function findSource({ from, card }) {
    const place = findPlace(from);
    if (!place) return null;
    if (card) return place.querySelector(`[data-card="${CSS.escape(card)}"]`);
    return findTop(place);
  }

  const findTop = (place) => [...place.querySelectorAll(".card")].at(-1) || place;

  const nameSource = ({ from, card }) => `${from} ${card || ""}`;
  const isFrom = (move, source) => nameSource(move) === nameSource(source);

  /** List the sources, each once, in the order of the drawing. */
  function listSources() {
    const found = new Map();
    for (const move of state.moves) if (!found.has(nameSource(move))) found.set(nameSource(move), { from: move.from, card: move.card });
    const sources = [...found.values()].map((source) => ({ ...source, node: findSource(source) })).filter(({ node }) => node);
    return sources.sort((one, other) => (one.node.compareDocumentPosition(other.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  }

  const listTargets = (source) => state.moves.filter((move) => isFrom(move, source)).map((move) => ({ ...move, place: findPlace(move.to) })).filter(({ place }) => place);

  /** Take back all that made something pressable. */
  function dim() {
    for (const node of $("table").querySelectorAll("[data-lit]")) {
      node.removeAttribute("data-lit");
      node.removeAttribute("tabindex");
      node.removeAttribute("aria-pressed");
      if (node.dataset.role) node.setAttribute("role", node.dataset.role);
      else node.removeAttribute("role");
      if (node.dataset.label !== undefined) node.setAttribute("aria-label", node.dataset.label);
      else node.removeAttribute("aria-label");
      delete node.dataset.role;
      delete node.dataset.label;
      if (node.dataset.hidden !== undefined) node.setAttribute("aria-hidden", node.dataset.hidden);
      delete node.dataset.hidden;
    }
    for (const node of $("table").querySelectorAll(".takes")) node.classList.remove("takes");
  }

  /** Make an element pressable, with a name. */
  function light(node, kind, label, pressed = null) {
    if (node.dataset.lit) return;
    node.dataset.lit = kind;
    if (node.hasAttribute("role")) node.dataset.role = node.getAttribute("role");
    if (node.hasAttribute("aria-label")) node.dataset.label = node.getAttribute("aria-label");
    if (node.hasAttribute("aria-hidden")) {
      node.dataset.hidden = node.getAttribute("aria-hidden");
      node.removeAttribute("aria-hidden");
    }
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "0");
    if (label) node.setAttribute("aria-label", label);
    if (pressed !== null) node.setAttribute("aria-pressed", String(pressed));
  }

  /** Light what can be chosen now. */
  function show() {
    dim();
    if (!state.choice) return;
    if (state.chosen) {
      for (const { place, words } of listTargets(state.chosen)) {
        place.classList.add("takes");
        light(findTop(place), "target", words);
      }
      const own = findSource(state.chosen);
      if (own) light(own, "chosen", own.getAttribute("aria-label"), true);
    }
    for (const { node } of listSources()) {
      if (!state.chosen || !node.dataset.lit) light(node, state.chosen ? "other" : "source", node.getAttribute("aria-label"), state.chosen ? null : false);
    }
    say();
  }

  function say() {
    const count = state.moves.length;
    const text = state.chosen ? "Choose where it goes." : count ? "Your turn: choose a card." : state.plain.length ? "Your turn." : "";
    if ($("prompt").textContent !== text) $("prompt").textContent = text;
  }

  function drawPlain() {
    const buttons = state.plain.map(({ action, words }) => createElement("button", { type: "button", class: "button quiet", "data-action": action }, words));
    $("plain").replaceChildren(...buttons);
  }

  function drawList() {
    const all = state.choice ? state.choice.actions : [];
    const buttons = all.map(([action, words]) => createElement("li", {}, createElement("button", { type: "button", class: "action", "data-action": action }, words)));
    $("actions").replaceChildren(...buttons);
  }

  /** Let somebody choose; null for nothing. `context` is that of `aim`, with the family and the number of the seat. */
  malice.offer = function (choice, context, play) {
    const focused = document.activeElement?.closest?.("#table") !== null && document.activeElement?.dataset?.lit !== undefined;
    Object.assign(state, { choice, context, play, chosen: null, moves: [], plain: [] });
    for (const [action, words] of choice ? choice.actions : []) {
      const aim = malice.callFamily(context.game.family, "aim", action, context);
      if (aim?.click && findPlace(aim.click)) state.moves.push({ action, words, from: aim.click, to: aim.click });
      else if (aim && findSource(aim) && findPlace(aim.to)) state.moves.push({ action, words, ...aim });
      else state.plain.push({ action, words });
    }
    $("table").classList.toggle("yours", Boolean(choice));
    show();
    drawPlain();
    drawList();
    if (!choice) $("prompt").textContent = "";
    if (choice && (focused || malice.byKeys)) focusFirst();
  };

  /** Mark the card and the place of an action that a bot would choose; none for an empty action. */
  malice.suggest = function (action) {
    for (const node of document.querySelectorAll(".hinted")) node.classList.remove("hinted");
    const move = state.moves.find((each) => each.action === action);
    if (move) {
      findSource(move)?.classList.add("hinted");
      if (move.to !== move.from) findTop(findPlace(move.to)).classList.add("hinted");
    }
    for (const id of ["plain", "actions"]) $(id).querySelector(`[data-action="${CSS.escape(action)}"]`)?.classList.add("hinted");
  };

  /** Light again what a new drawing has put out. */
  malice.relight = show;

  /** Give the focus to the first place that takes what is chosen, or else to the first card. */
  function focusFirst() {
    const lit = listLit();
    const first = lit.find(({ dataset }) => dataset.lit === "target") || lit[0];
    if (first) first.focus({ preventScroll: true });
    else $("plain").querySelector("button")?.focus();
  }

  function playAction(action) {
    const { play } = state;
    dim();
    state.choice = null;
    state.chosen = null;
    play(action);
  }

  function choose(source) {
    const only = state.moves.filter((move) => isFrom(move, source));
    if (only.length && only.every((move) => move.from === move.to && move.from === source.from)) {
      playAction(only[0].action); // a pile that acts by itself
      return;
    }
    state.chosen = source;
    show();
    if (malice.byKeys) focusFirst();
  }

  function release() {
    state.chosen = null;
    show();
  }

  /** Return the source at an element. */
  function findSourceAt(node) {
    const place = node.closest?.("[data-place]");
    if (!place) return null;
    const card = node.closest("[data-card]");
    const from = place.dataset.place;
    const fitting = state.moves.filter((move) => move.from === from);
    const exact = fitting.find((move) => move.card && move.card === card?.dataset.card);
    const any = fitting.find((move) => !move.card);
    const found = exact || any;
    return found ? { from: found.from, card: found.card } : null;
  }

  /** Return the move to the place at an element, from what is chosen. */
  function findMoveTo(node) {
    const place = node?.closest?.("[data-place]");
    return place && state.chosen ? state.moves.find((move) => isFrom(move, state.chosen) && move.to === place.dataset.place) : null;
  }

  function press(node) {
    const move = findMoveTo(node);
    const source = findSourceAt(node);
    if (move) playAction(move.action);
    else if (source && state.chosen && isFrom(source, state.chosen)) release();
    else if (source) choose(source);
    else if (state.chosen) release();
  }

  /** Play a card up where only one place takes it, or where it may go if that is one place only. */
  function pressTwice(node) {
    const source = findSourceAt(node);
    if (!source) return;
    const moves = state.moves.filter((move) => isFrom(move, source));
    const up = moves.filter(({ action }) => malice.callFamily(state.context.game.family, "advances", action));
    const only = up.length === 1 ? up[0] : moves.length === 1 ? moves[0] : null;
    if (only) playAction(only.action);
  }

  // Pointers: a press that moves is a drag.

  function beginDrag(event) {
    if (!state.choice || !event.isPrimary || event.button > 0) return;
    const source = findSourceAt(event.target);
    const node = source && findSource(source);
    if (!node) return;
    drag = { source, node, x: event.clientX, y: event.clientY, ghost: null };
  }

  function moveDrag(event) {
    if (!drag || !event.isPrimary) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG) return;
      const box = drag.node.getBoundingClientRect();
      const ghost = drag.node.cloneNode(true);
      ghost.classList.add("ghost-card");
      ghost.removeAttribute("tabindex");
      ghost.setAttribute("aria-hidden", "true");
      delete ghost.dataset.lit;
      Object.assign(ghost.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px`, position: "fixed", margin: "0" });
      ghost.style.setProperty("--card-w", `${box.width}px`);
      $("table").append(ghost); // where its styles count
      // A box with strict containment places what is fixed within it.
      const own = ghost.getBoundingClientRect();
      drag.offset = { x: box.left - own.left, y: box.top - own.top };
      drag.ghost = ghost;
      state.chosen = drag.source;
      show();
      drag.node.classList.add("lifted");
    }
    const { x, y } = drag.offset;
    drag.ghost.style.transform = `translate(${event.clientX - drag.x + x}px, ${event.clientY - drag.y + y}px)`;
    const move = findMoveTo(document.elementFromPoint(event.clientX, event.clientY));
    for (const node of $("table").querySelectorAll(".over-it")) node.classList.remove("over-it");
    if (move) findPlace(move.to)?.classList.add("over-it");
  }

  function endDrag(event) {
    if (!drag || !event.isPrimary) return;
    const { ghost, node } = drag;
    drag = null;
    if (!ghost) return;
    ghost.remove();
    node.classList.remove("lifted");
    for (const each of $("table").querySelectorAll(".over-it")) each.classList.remove("over-it");
    dropped = event.timeStamp;
    const move = event.type === "pointerup" ? findMoveTo(document.elementFromPoint(event.clientX, event.clientY)) : null;
    if (move) playAction(move.action);
    else release();
  }

  // Keys.

  const listLit = () => [...$("table").querySelectorAll("[data-lit]")].filter(({ dataset }) => (state.chosen ? dataset.lit !== "other" : true));

  function walk(by) {
    const lit = [...listLit(), ...$("plain").querySelectorAll("button")];
    if (!lit.length) return;
    const at = lit.indexOf(document.activeElement);
    lit[at < 0 ? (by > 0 ? 0 : lit.length - 1) : (at + by + lit.length) % lit.length].focus({ preventScroll: true });
  }

  /** Go to the next card of a rank. */
  function seekRank(key) {
    const rank = key === "1" ? "T" : key.toUpperCase();
    const lit = listLit().filter(({ dataset }) => dataset.card?.[0] === rank);
    if (!lit.length) return false;
    const at = lit.indexOf(document.activeElement);
    lit[(at + 1) % lit.length].focus({ preventScroll: true });
    return true;
  }

  const keys = {
    ArrowRight: () => walk(1),
    ArrowDown: () => walk(1),
    ArrowLeft: () => walk(-1),
    ArrowUp: () => walk(-1),
    Escape: () => {
      const source = state.chosen;
      release();
      if (source) findSource(source)?.focus({ preventScroll: true });
    },
  };

  function handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("select, input, textarea, #story-log, #options") || !state.choice) return;
    malice.byKeys = true;
    const lit = event.target.closest?.("[data-lit]");
    if ((event.key === "Enter" || event.key === " ") && lit) {
      event.preventDefault();
      press(lit);
    } else if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    } else if (/^[a1-9tjqkw]$/i.test(event.key) && seekRank(event.key)) {
      event.preventDefault();
    }
  }

  /** Whether who plays does so by keys: then what can be chosen next gets the focus. */
  malice.byKeys = false;

  $("table").addEventListener("click", (event) => {
    if (state.choice && event.timeStamp - dropped > 50) press(event.target);
  });
  $("table").addEventListener("dblclick", (event) => state.choice && pressTwice(event.target));
  $("table").addEventListener("pointerdown", (event) => {
    malice.byKeys = false;
    beginDrag(event);
  });
  window.addEventListener("pointermove", moveDrag);
  window.addEventListener("pointerup", endDrag);
  window.addEventListener("pointercancel", endDrag);
  document.addEventListener("keydown", handleKey);
  for (const id of ["plain", "actions"]) {
    $(id).addEventListener("click", ({ target }) => {
      const button = target.closest("[data-action]");
      if (button && state.choice) playAction(button.dataset.action);
    });
  }
})(window.malice);
