// The faces of cards: pips where a pack of cards has them, and courts with two heads, drawn for this page.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  const SVG = "http://www.w3.org/2000/svg";
  const [LEFT, MIDDLE, RIGHT] = [18, 50, 82];
  const ROWS = { outer: [12, 37, 63, 88], thirds: [12, 50, 88] };
  const column = (x, rows) => rows.map((y) => [x, y]);
  const pair = (rows) => [...column(LEFT, rows), ...column(RIGHT, rows)];
  /** By value: where the pips lie, in hundredths of the face. */
  const PIPS = {
    2: column(MIDDLE, [12, 88]),
    3: column(MIDDLE, ROWS.thirds),
    4: pair([12, 88]),
    5: [...pair([12, 88]), [MIDDLE, 50]],
    6: pair(ROWS.thirds),
    7: [...pair(ROWS.thirds), [MIDDLE, 31]],
    8: [...pair(ROWS.thirds), [MIDDLE, 31], [MIDDLE, 69]],
    9: [...pair(ROWS.outer), [MIDDLE, 50]],
    10: [...pair(ROWS.outer), [MIDDLE, 25], [MIDDLE, 75]],
  };
  /** The upper half of a court, 100 wide and 70 high: by layer, its class and its outline. */
  const HEADS = {
    robe: "M12 70L24 49Q50 38 76 49L88 70z",
    trim: "M42 44L50 70L58 44zM22 53L30 70H36L29 49zM78 53L70 70H64L71 49z",
    face: "M37 22Q37 43 50 45Q63 43 63 22z",
    ink: "M42 29H46V32H42zM54 29H58V32H54zM46 38Q50 40.500 54 38Q50 39 46 38z",
  };
  const ROLES = {
    J: {
      hair: "M34 20Q30 40 37 42L39 22zM66 20Q70 40 63 42L61 22z",
      hat: "M31 22Q32 7 54 8Q70 10 68 22z",
      gold: "M31 20H69V24H31zM64 12Q82 0 86 10Q77 9 69 18z",
    },
    Q: {
      hair: "M33 18Q22 42 31 54L40 44Q35 32 39 20zM67 18Q78 42 69 54L60 44Q65 32 61 20z",
      hat: "M35 22Q50 10 65 22z",
      gold: "M34 21L31 7L41 13L50 3L59 13L69 7L66 21zM76 56A4.500 4.500 0 1 1 75.990 56z",
    },
    K: {
      hair: "M33 20L35 36L40 24zM67 20L65 36L60 24zM38 33Q50 38 62 33Q62 52 50 55Q38 52 38 33z",
      hat: "M34 21Q50 8 66 21z",
      gold: "M32 22L28 4L39 12L45 2L50 10L55 2L61 12L72 4L68 22zM82 34H86V70H82zM76 44H92V48H76z",
    },
  };
  const faces = new Map();

  function makeNode(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function drawPips(shape, value) {
    const size = 0.85;
    const marks = PIPS[value].map(([x, y]) => {
      const turn = y > 50 ? -size : size;
      return makeNode("path", { d: shape, transform: `translate(${x} ${y * 1.32}) scale(${turn}) translate(-16 -16)` });
    });
    return makeNode("svg", { viewBox: "0 0 100 132", class: "pips", "aria-hidden": "true" }, ...marks);
  }

  function drawHalf(shape, rank, turned) {
    const { hair, hat, gold } = ROLES[rank];
    const layers = { robe: HEADS.robe, gold: `${HEADS.trim}${gold}`, hat, face: HEADS.face, hair, ink: HEADS.ink };
    const order = ["robe", "hat", "face", "hair", "gold", "ink"];
    const paths = order.map((name) => makeNode("path", { class: name, d: layers[name] }));
    const suit = makeNode("path", { class: "suit", d: shape, transform: "translate(2 3) scale(.8)" });
    return makeNode("g", turned ? { transform: "rotate(180 50 70)" } : {}, ...paths, suit);
  }

  function drawCourt(shape, rank) {
    const belt = makeNode("path", { class: "gold", d: "M8 68H92V72H8z" });
    return makeNode("svg", { viewBox: "0 0 100 140", class: "figure", "aria-hidden": "true" }, drawHalf(shape, rank, false), drawHalf(shape, rank, true), belt);
  }

  /** Draw the face of a card with a suit of this shape: pips, or a court; null for an ace, which has one large mark. */
  malice.drawFigure = function (card, shape) {
    if (!faces.has(card)) {
      const value = malice.cardValue(card);
      faces.set(card, PIPS[value] ? drawPips(shape, value) : ROLES[card[0]] ? drawCourt(shape, card[0]) : null);
    }
    return faces.get(card)?.cloneNode(true) ?? null;
  };
})(window.malice);
