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

  /** Move an outline with absolute commands to `x` and `y`, after it was scaled; a negative scale turns it by half. */
  function moveOutline(outline, scale, x, y) {
    const format = (value) => Number(value.toFixed(2));
    const [moveX, moveY] = [(value) => format(scale * value + x), (value) => format(scale * value + y)];
    return outline.replace(/([MLHVQCAz])([^MLHVQCAz]*)/g, (_, command, text) => {
      const values = (text.match(/-?[\d.]+/g) || []).map(Number);
      if (command === "H") return `H${moveX(values[0])}`;
      if (command === "V") return `V${moveY(values[0])}`;
      const radii = command === "A" ? [...values.splice(0, 2).map((radius) => format(radius * Math.abs(scale))), ...values.splice(0, 3)] : [];
      return command + [...radii, ...values.map((value, place) => (place % 2 ? moveY : moveX)(value))].join(" ");
    });
  }

  /** Draw all pips as one outline: a path for each of them would cost a step of a game several times as much. */
  function drawPips(shape, value) {
    const marks = PIPS[value].map(([x, y]) => {
      const scale = y > 50 ? -0.85 : 0.85;
      return moveOutline(shape, scale, x - 16 * scale, y * 1.32 - 16 * scale);
    });
    return makeNode("svg", { viewBox: "0 0 100 132", class: "pips", "aria-hidden": "true" }, makeNode("path", { d: marks.join("") }));
  }

  /** Draw both heads of a court, each layer as one outline. */
  function drawCourt(shape, rank) {
    const { hair, hat, gold } = ROLES[rank];
    const suit = moveOutline(shape, 0.8, 2, 3);
    const layers = { robe: HEADS.robe, hat, face: HEADS.face, hair, gold: `${HEADS.trim}${gold}`, ink: HEADS.ink, suit };
    const paths = Object.entries(layers).map(([name, outline]) => makeNode("path", { class: name, d: outline + moveOutline(outline, -1, 100, 140) }));
    const belt = makeNode("path", { class: "gold", d: "M8 68H92V72H8z" });
    return makeNode("svg", { viewBox: "0 0 100 140", class: "figure", "aria-hidden": "true" }, ...paths, belt);
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
