// Draws cards, places and seats as elements, for the page of any family.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const SHAPES = {
    H: "M16 29C7.500 21.500 2.500 16.800 2.500 11A7 7 0 0 1 16 8.200A7 7 0 0 1 29.500 11C29.500 16.800 24.500 21.500 16 29z",
    D: "M16 1.500L27.500 16L16 30.500L4.500 16z",
    S: "M16 2C18 7.500 29 13.500 29 20C29 25.600 22 27 17.600 22.800C17.900 26 19 28.300 21.500 30H10.500C13 28.300 14.100 26 14.400 22.800C10 27 3 25.600 3 20C3 13.500 14 7.500 16 2z",
    C: "M16 2A6.500 6.500 0 0 1 21 12.600A6.500 6.500 0 1 1 17.600 21.800C17.900 25.500 19 28.300 21.500 30H10.500C13 28.300 14.100 25.500 14.400 21.800A6.500 6.500 0 1 1 11 12.600A6.500 6.500 0 0 1 16 2z",
    W: "M16 1L20.300 11.600L31.500 12.300L22.800 19.500L25.600 30.500L16 24.500L6.400 30.500L9.200 19.500L.500 12.300L11.700 11.600z",
    K: "M3.500 26L1 9L9.500 15.500L16 4L22.500 15.500L31 9L28.500 26z",
  };
  const SVG = "http://www.w3.org/2000/svg";

  const { createElement } = malice;
  const SUITS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
  const RANKS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
  const NUMBERS = { A: "1", T: "10", J: "11", Q: "12", K: "13" };
  const NATURAL = "A23456789TJQK";

  /** Return a card's own value: 1 to 13, or null for a joker and a hidden card. */
  malice.cardValue = (card) => NATURAL.indexOf(card[0]) + 1 || null;

  /** Return the rank in the corner of a card. */
  malice.cardRank = function (card) {
    const rank = card[0];
    if (rank === "W") return "★";
    if (card[1] === "X") return NUMBERS[rank] || rank;
    return rank === "T" ? "10" : rank;
  };

  /** Return a card in words; `wild` says what a `WX` is called. */
  malice.nameCard = function (card, wild = "joker") {
    if (card === "??") return "a card";
    if (card[0] === "W") return `a ${wild}`;
    if (card[1] === "X") return `the ${NUMBERS[card[0]] || card[0]}`;
    return `the ${RANKS[card[0]] || card[0]} of ${SUITS[card[1]]}`;
  };

  function drawShape(name, kind) {
    const svg = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    svg.setAttribute("viewBox", "0 0 32 32");
    svg.setAttribute("class", kind);
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", SHAPES[name]);
    svg.append(path);
    return svg;
  }

  /** Draw the suit of a card; return null for a card without a suit. */
  malice.drawSuit = (card) => (card[0] === "W" ? drawShape("W", "pip") : SHAPES[card[1]] ? drawShape(card[1], "pip") : null);

  function chooseColour(card) {
    if (card[0] === "W") return "wild";
    if (card[1] === "X") return `x${Math.floor((malice.cardValue(card) - 1) / 4)}`;
    return card[1] === "D" || card[1] === "H" ? "red" : "black";
  }

  function drawFace(card, wild, crown) {
    const rank = malice.cardRank(card);
    if (card[0] === "W") return [drawShape("W", "big"), createElement("small", {}, wild.split(" ")[0])];
    if (card[1] === "X") return [createElement("b", { class: "number" }, rank)];
    const figure = malice.drawFigure(card, SHAPES[card[1]]);
    return [crown ? drawShape("K", "crown") : null, figure, drawShape(card[1], "big")];
  }

  const drawn = new Map();

  function makeCard(card, as, wild, crown) {
    const name = malice.nameCard(card, wild).replace(/^(the|a) /, "");
    const label = as ? `${name} as ${as}` : name;
    const court = "JQK".includes(card[0]) && card[1] !== "X";
    const kind = `${court ? "court-card" : "AW".includes(card[0]) ? "" : "pip-card"} suit${card[1]}`;
    const node = createElement(
      "span",
      { class: `card ${chooseColour(card)} ${kind}`, role: "img", "aria-label": label, title: label, "data-card": card },
      createElement("span", { class: "corner" }, malice.cardRank(card), card[0] === "W" ? null : malice.drawSuit(card)),
      createElement("span", { class: "face" }, ...drawFace(card, wild, crown).filter(Boolean)),
    );
    if (as) node.append(createElement("span", { class: "as" }, `= ${as}`));
    return node;
  }

  /**
   * Draw a card face up, or its back for `??`. Options: `as`, the rank it stands for, if not its own; `from`, the place
   * that it has just left; `classes`; `wild`, what a `WX` is called; `crown`, whether it wears a crown.
   */
  malice.drawCard = function (card, { as = "", from = null, classes = "", wild = "joker", crown = false } = {}) {
    if (card === "??") {
      const label = "a card, face down";
      return createElement("span", { class: `card back ${classes}`, role: "img", "aria-label": label, "data-from": from });
    }
    const key = [card, as, wild, crown].join();
    if (!drawn.has(key)) drawn.set(key, makeCard(card, as, wild, crown));
    const node = drawn.get(key).cloneNode(true);
    if (classes) node.className += ` ${classes}`;
    if (from !== null) node.dataset.from = from;
    return node;
  };

  /** Draw a card for the log: rank and suit on one line. */
  malice.drawChip = function (card) {
    if (card === "??") return createElement("span", { class: "chip" }, "?");
    return createElement("span", { class: `chip ${chooseColour(card)} suit${card[1]}` }, malice.cardRank(card), card[0] === "W" ? null : malice.drawSuit(card));
  };

  /** Draw the number of a seat in the colour of its bot; partners share that of their team. */
  malice.drawDisc = function (game, seat) {
    const { colour } = game.seats[seat];
    const plain = `seat${malice.hasPartners(game) ? game.teams[seat] : seat % 8}`;
    return createElement("span", { class: `disc ${malice.hasPartners(game) ? plain : colour || plain}` }, String(seat));
  };

  /** Return the classes of the name of a bot that has its disc in front. */
  malice.markBot = ({ colour }) => (colour ? `marked ${colour}` : null);

  /** Draw a place where cards lie, with its caption below. */
  malice.drawPlace = function (name, kind, label, caption, ...content) {
    return createElement(
      "div",
      { class: `place ${kind}`, "data-place": name, role: "group", "aria-label": label },
      createElement("div", { class: "stack" }, ...content),
      createElement("div", { class: "caption" }, ...[].concat(caption)),
    );
  };

  malice.drawEmptyPlace = (text = "") => createElement("span", { class: "card empty", "aria-hidden": "true" }, text);
})(window.malice);
