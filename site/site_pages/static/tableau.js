// Draws tableaus, for the page of any family: fanned columns with cards face down and up, foundations, closed piles.
//
// A family draws one or more boards, and each board holds rows of piles:
//
//   malice.tableau.drawBoards(boards, {across, rows, lines, fixed, depth})
//     boards   elements made by `drawBoard`
//     across   how many widths of a card the widest row of a board needs, gaps left out
//     gaps     how many gaps it has; by default one less than `across`, rounded up
//     rows     how many boards stand above each other, and on a narrow stage (`narrow`); by default as many as fit well
//     lines    how many cards stand above each other in a board, besides what columns fan out; by default 2
//     depth    how deep the deepest column of the whole game fans out: `measureDepth` of it; by default 6
//     fixed    what headers and captions of a board take, in rem; by default 3
//
// The sizes of cards follow from these and from the stage, so that no step of a game changes them. A column that is
// deeper than its room is squeezed.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const { createElement } = malice;
  /** How much of a card that lies face down can be seen, in terms of one that lies face up. */
  const DOWN = 0.45;

  /** Return how far a column fans out, in visible strips of cards that lie face up. */
  const measureColumn = (count, down = 0) => {
    const hidden = Math.min(down, Math.max(0, count - 1));
    return DOWN * hidden + Math.max(0, count - 1 - hidden);
  };

  /** Return how deep the deepest of all columns fans out; a column is {count, down}. */
  const measureDepth = (columns) => columns.reduce((most, { count, down }) => Math.max(most, measureColumn(count, down)), 0);

  /** Mark what a step did to a card: it has come from a place, or was turned up. */
  function drawCard(card, { from = null, fresh = false, ...options } = {}) {
    const classes = from !== null ? "moved" : fresh ? "fresh" : "";
    return malice.drawCard(card, { classes, from, ...options });
  }

  /**
   * Draw a column, the lowest card first. `down` is how many of them lie face down; `moved` how many of the last ones
   * have just come from the place `from`; `fresh` whether the last one was just turned up.
   */
  function drawColumn(name, cards, { label, caption = "", down = 0, moved = 0, from = null, fresh = false, left = false } = {}) {
    let strips = 0;
    const nodes = cards.map((card, place) => {
      const hidden = place < down;
      const arrived = place >= cards.length - moved;
      const node = drawCard(hidden ? "??" : card, { from: arrived ? from : null, fresh: fresh && place === cards.length - 1 });
      node.style.setProperty("--at", strips);
      strips += hidden ? DOWN : 1;
      return node;
    });
    const depth = measureColumn(cards.length, down);
    const content = nodes.length ? nodes : [malice.drawEmptyPlace()];
    const text = label || `column, ${malice.formatCount(cards.length, "card")}${down ? `, ${down} face down` : ""}`;
    const node = malice.drawPlace(name, `fanned${left ? " left" : ""}`, text, caption, ...content);
    node.style.setProperty("--strips", depth);
    return node;
  }

  /** Draw what an empty foundation waits for: an ace of its suit; without a suit, any ace. */
  function drawEmptyFoundation(suit) {
    const node = malice.drawEmptyPlace(suit ? "" : "A");
    if (suit) node.append(malice.drawSuit(`A${suit}`));
    return node;
  }

  /** Draw a foundation by its cards, or by its top card; `from` is where that came from. */
  function drawFoundation(name, cards, { suit = "", label, caption = "", from = null, left = false } = {}) {
    const top = cards.length ? drawCard(cards.at(-1), { from }) : drawEmptyFoundation(suit);
    const text = label || `foundation, ${cards.length ? `${malice.nameCard(cards.at(-1))} on top` : "empty"}`;
    return malice.drawPlace(name, `foundation${left ? " left" : ""}${from !== null ? " arrived" : ""}`, text, caption, top);
  }

  /** Draw a squared pile: `top` is a card, `??` for a back, or null where nothing lies. */
  function drawPile(name, kind, top, { label, caption = "", count = 0, from = null, fresh = false, left = false, empty = "" } = {}) {
    const depth = Math.min(3, Math.ceil(count / 8));
    const card = top === null ? malice.drawEmptyPlace(empty) : drawCard(top, { from, fresh });
    return malice.drawPlace(name, `${kind} deep${depth}${left ? " left" : ""}`, label || `${kind}, ${malice.formatCount(count, "card")}`, caption, card);
  }

  /** Draw a waste: its last `shown` cards side by side, the top one last; `fresh` of them were just turned up. */
  function drawWaste(name, cards, { label, caption = "", shown = 3, fresh = 0, from = null, left = false } = {}) {
    const visible = cards.slice(-shown);
    const nodes = visible.map((card, place) => drawCard(card, { from: place >= visible.length - fresh ? from : null }));
    const text = label || `waste, ${malice.formatCount(cards.length, "card")}`;
    const node = malice.drawPlace(name, `waste${left ? " left" : ""}`, text, caption, ...(nodes.length ? nodes : [malice.drawEmptyPlace()]));
    node.style.setProperty("--shown", shown);
    return node;
  }

  /** Draw a row of piles; its class is `row-` and `kind`. */
  const drawRow = (kind, ...piles) => createElement("div", { class: `tableau-row row-${kind}` }, ...piles);

  /** Draw the header of a seat: its disc, its name, and tags, each a [text, class]. */
  function drawHeader(game, seat, ...tags) {
    const { name, slug } = game.seats[seat];
    const link = malice.linkPage(`bots/${slug}.html`, { class: "name", title: name }, createElement("bdi", {}, name));
    const drawn = tags.filter(Boolean).map(([text, kind]) => createElement("span", { class: `tag ${kind}` }, text));
    return createElement("header", {}, malice.drawDisc(game, seat), link, ...drawn);
  }

  /** Draw a board: what lies before a seat, or in common. `on` marks those that act. */
  const drawBoard = (label, { kind = "", on = false, gone = false } = {}, ...content) =>
    createElement("section", { class: `board-of ${kind}${on ? " on" : ""}${gone ? " gone" : ""}`, "aria-label": label }, ...content);

  /** Choose how many rows of boards there are, on a wide stage and on a narrow one. */
  const chooseRows = (count) => ({ wide: count > 3 ? 2 : 1, narrow: count > 3 ? Math.ceil(count / 2) : count });

  /** Draw boards side by side, or above each other where the stage is narrow; the head of this file explains. */
  function drawBoards(boards, { across, gaps = Math.ceil(across) - 1, rows, lines = 2, depth = 6, fixed = 3, classes = "" }) {
    const { wide, narrow } = rows || chooseRows(boards.length);
    const node = createElement("div", { class: `tableau ${classes}` }, ...boards);
    const count = boards.length;
    const sizes = { across, gaps, lines, depth, fixed, "wide-rows": wide, "wide-columns": Math.ceil(count / wide), "narrow-rows": narrow, "narrow-columns": Math.ceil(count / narrow) };
    for (const [name, value] of Object.entries(sizes)) node.style.setProperty(`--${name}`, value);
    return node;
  }

  malice.tableau = { measureColumn, measureDepth, drawColumn, drawFoundation, drawPile, drawWaste, drawRow, drawHeader, drawBoard, drawBoards };
})(window.malice);
