// Shows a family's drawing of the table, and lets cards fly to it from where they were.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /** From this width in pixels on a card has room for pips and courts. */
  const BIG = 42;
  /** By box, which parts of the drawing look how. */
  const drawn = new WeakMap();
  let parts = null;

  /** Find where something came from, as it is still drawn. */
  function findOrigin(box, node) {
    const place = box.querySelector(`[data-place="${CSS.escape(node.dataset.from)}"]`);
    const card = place && node.dataset.card && place.querySelector(`[data-card="${CSS.escape(node.dataset.card)}"]`);
    return (card || place)?.getBoundingClientRect();
  }

  function fly(node, origin, duration) {
    const target = node.getBoundingClientRect();
    const from = `translate(${origin.left - target.left}px, ${origin.top - target.top}px)`;
    return node.animate([{ transform: from }, { transform: "none" }], { duration, easing: "ease-out" });
  }

  /** Let the box scroll only where its drawing is larger: what may scroll is painted whole at each step. */
  function markOverflow(box) {
    box.classList.remove("scrolls"); // without its bars
    box.classList.toggle("scrolls", box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1);
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => target.parentElement && markOverflow(target.parentElement)));

  /** Tell the styles of the drawing how much room it has. */
  malice.measureStage = function (box) {
    const style = getComputedStyle(box);
    const [width, height] = [
      box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight),
      box.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom),
    ];
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    box.style.setProperty("--stage-width", `${width}px`);
    box.style.setProperty("--stage-height", `${height}px`);
    const flat = width >= 1.6 * height && width >= 34 * rem;
    box.classList.toggle("flat", flat);
    box.classList.toggle("broad", width >= 58 * rem);
    box.classList.toggle("narrow", width < 45 * rem && !flat);
    const card = box.querySelector(".card:not(.empty)");
    if (card) box.classList.toggle("big-cards", card.offsetWidth >= BIG);
    box.classList.toggle("short", height < 24 * rem);
    markOverflow(box);
  };

  function copyAttributes(old, fresh) {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) === value) continue;
      if (name === "style") old.style.cssText = value; // as an attribute the page's policy forbids it
      else old.setAttribute(name, value);
    }
  }

  /**
   * Draw a part of the table, or if it looks as it did after the step before, only a note of that for `patch`. `key` is a
   * text that is another one whenever the part looks otherwise; `name` tells it from other parts.
   */
  malice.drawIfChanged = function (name, key, draw) {
    if (parts.keys.get(name) === key) return malice.createElement("i", { "data-same": true });
    parts.keys.set(name, key);
    return draw();
  };

  /** Return the parts as they are drawn in a box; another game or view begins anew. */
  function findParts(box, game, viewer) {
    const known = drawn.get(box);
    if (known?.game === game && known.viewer === viewer) return known;
    drawn.set(box, { game, viewer, keys: new Map(), flights: [] });
    return drawn.get(box);
  }

  /** Make an element like a fresh one, and keep what is the same: that costs a slow processor far less than all anew. */
  function patch(old, fresh) {
    if (fresh.dataset && "same" in fresh.dataset) return;
    if (old.isEqualNode(fresh)) return;
    if (old.nodeName !== fresh.nodeName || old.nodeType !== Node.ELEMENT_NODE || old.dataset?.card !== fresh.dataset?.card) {
      old.replaceWith(fresh);
      return;
    }
    copyAttributes(old, fresh);
    patchChildren(old, [...fresh.childNodes]);
  }

  /** Make the children of an element like fresh ones. Cards that stay are kept, whichever come or go between them. */
  function patchChildren(box, fresh) {
    const cards = fresh.map((node) => node.dataset?.card);
    let old = box.firstChild;
    fresh.forEach((node, place) => {
      const stays = () => old.dataset?.card === undefined || cards.includes(old.dataset.card, place);
      while (old && !stays()) {
        const gone = old;
        old = old.nextSibling;
        gone.remove();
      }
      const comes = cards[place] !== undefined && old?.dataset?.card !== undefined && old.dataset.card !== cards[place];
      if (!old || comes) {
        box.insertBefore(node, old);
        return;
      }
      const next = old.nextSibling;
      patch(old, node);
      old = next;
    });
    while (old) {
      const gone = old;
      old = old.nextSibling;
      gone.remove();
    }
  }

  /** Draw the table after a step into `box`; what has moved flies from its old place in `moving` ms, unless 0. */
  malice.drawTable = function (box, game, course, index, viewer, moving) {
    const { steps, tables } = course;
    const over = game.live ? game.ended : index === steps.length - 1;
    const context = { game, viewer, step: steps[index], over, tables };
    parts = findParts(box, game, viewer);
    const table = malice.callFamily(game.family, "draw", tables[index], context);
    const flies = moving && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const origins = flies ? [...table.querySelectorAll("[data-from]")].map((node) => findOrigin(box, node)) : [];
    parts.flights.forEach((flight) => flight.cancel()); // to ask the page which there are would cost a layout
    if (box.firstElementChild) patch(box.firstElementChild, table);
    else box.append(table);
    if (box.firstElementChild === table) sizes.observe(table);
    const moved = flies ? [...box.querySelectorAll("[data-from]")] : [];
    parts.flights = moved.map((node, place) => origins[place] && fly(node, origins[place], moving)).filter(Boolean);
  };
})(window.malice);
