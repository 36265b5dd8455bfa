// Shows a family's drawing of the table, and lets cards fly to it from where they were.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /** Find where something came from, as it is still drawn. */
  function findOrigin(box, node) {
    const place = box.querySelector(`[data-place="${CSS.escape(node.dataset.from)}"]`);
    const card = place && node.dataset.card && place.querySelector(`[data-card="${CSS.escape(node.dataset.card)}"]`);
    return (card || place)?.getBoundingClientRect();
  }

  function fly(node, origin, duration) {
    const target = node.getBoundingClientRect();
    const from = `translate(${origin.left - target.left}px, ${origin.top - target.top}px)`;
    node.animate([{ transform: from, zIndex: 9 }, { transform: "none", zIndex: 9 }], { duration, easing: "ease-out" });
  }

  /** Draw the table after a step into `box`; what has moved flies from its old place in `moving` ms, unless 0. */
  malice.drawTable = function (box, game, course, index, viewer, moving) {
    const { steps, tables } = course;
    const context = { game, viewer, step: steps[index], over: index === steps.length - 1, tables };
    const table = malice.callFamily(game.family, "draw", tables[index], context);
    const flies = moving && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const moved = flies ? [...table.querySelectorAll("[data-from]")] : [];
    const origins = moved.map((node) => findOrigin(box, node));
    box.replaceChildren(table);
    moved.forEach((node, place) => origins[place] && fly(node, origins[place], moving));
  };
})(window.malice);
