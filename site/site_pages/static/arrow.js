// Draws a second opinion over the table: an arrow from where its action takes something to where it puts it.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const $ = (id) => document.getElementById(id);
  const HEAD = 16;

  /** Find the middle of a place as it is drawn, or of a card in it; null if it is not drawn. */
  function findMiddle(name, card) {
    const place = $("table").querySelector(`[data-place="${CSS.escape(name)}"]`);
    if (!place) return null;
    const box = (card && place.querySelector(`[data-card="${CSS.escape(card)}"]`)) || place.querySelector(".stack") || place;
    const { left, top, width, height } = box.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }

  /** Return the paths of an arrow: its shaft, and its head. */
  function makePaths([x, y], [toX, toY]) {
    const [dx, dy] = [toX - x, toY - y];
    const length = Math.hypot(dx, dy);
    if (length < HEAD) return null;
    const [ux, uy] = [dx / length, dy / length];
    const [endX, endY] = [toX - HEAD * ux, toY - HEAD * uy];
    const half = HEAD * 0.6;
    const corners = [[toX, toY], [endX - half * uy, endY + half * ux], [endX + half * uy, endY - half * ux]];
    const format = (point) => point.map((value) => value.toFixed(1)).join(" ");
    return [`M${format([x, y])}L${format([endX, endY])}`, `M${corners.map(format).join("L")}z`];
  }

  /** Find the paths for what the bot would have played; null if it moves nothing that is drawn. */
  function findPaths(game, table, { seat, action }) {
    const aim = malice.callFamily(game.family, "aim", action, { game, seat, table });
    const [from, to] = aim ? [findMiddle(aim.from, aim.card), findMiddle(aim.to)] : [];
    if (!from || !to) return null;
    const { left, top } = $("arrow").parentElement.getBoundingClientRect();
    return makePaths([from[0] - left, from[1] - top], [to[0] - left, to[1] - top]);
  }

  function settle(index) {
    const { game, course } = malice.replay.state;
    const others = $("advised").checked ? course?.others[index] || [] : [];
    const paths = others.map((other) => findPaths(game, course.tables[index - 1], other)).filter(Boolean);
    // Empty, not hidden: layers that come and go cost the page a frame's work.
    [...$("arrow").children].forEach((path, part) => {
      const outline = paths.map((both) => both[part % 2]).join("");
      if (path.getAttribute("d") !== outline) path.setAttribute("d", outline);
    });
  }

  malice.watchers.push({ load: () => {}, show: () => {}, settle });
  new ResizeObserver(() => malice.replay.state.game && settle(malice.replay.state.index)).observe($("table"));
})(window.malice);
