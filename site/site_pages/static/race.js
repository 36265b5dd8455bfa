// Draws the race under the slider: what each side has left, how long its bots thought, and their clocks. One drawing for
// a game; a step moves the cursor and writes the figures beside it.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  malice.watchers = malice.watchers || [];
  malice.keys = malice.keys || {};
  const SVG = "http://www.w3.org/2000/svg";
  const DASHES = 5; // as in colours.css
  const LABELS = 4; // sides whose seats stand at the ends of their lines
  const HEIGHT = 100;
  const GAP = 18; // of labels, so that figures fit into the lowest drawing
  const { createElement } = malice;
  let drawn = null;

  function createShape(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /** Return the classes of a line: the colour of its seats' discs, and a dash by side. */
  function nameLine(game, seats, side) {
    const team = malice.hasPartners(game);
    const colour = (!team && game.seats[seats[0]].colour) || `seat${(team ? game.teams[seats[0]] : seats[0]) % 8}`;
    return `line ${colour} dash${side % DASHES}${side >= DASHES ? " second" : ""}`;
  }

  /** Return a path that keeps each value until the next one: `points` are `[step, height]`. */
  function makeStepPath(points, end) {
    let path = "";
    let last = null;
    for (const [step, height] of points) {
      const y = Number((HEIGHT - height).toFixed(2));
      if (last === null) path = `M${step} ${y}`;
      else if (y !== last) path += `H${step}V${y}`;
      last = y;
    }
    return `${path}H${end}`;
  }

  /** Nest a drawing that stretches over the steps, from `y` on. */
  function makeField(count, y, height, ...children) {
    const box = { y, height, width: "100%", viewBox: `0 0 ${Math.max(1, count)} ${HEIGHT}`, preserveAspectRatio: "none" };
    return createShape("svg", box, ...children);
  }

  /** Put labels where their lines end, and only as far apart as it takes that none covers another. */
  function spreadLabels(ends) {
    const gap = Math.min(GAP, HEIGHT / ends.length);
    const order = ends.map((height, side) => ({ side, y: HEIGHT - height })).sort((one, other) => one.y - other.y);
    order.forEach((label, place) => {
      const least = place ? order[place - 1].y + gap : 0;
      label.y = Math.min(Math.max(label.y, least, gap / 2), HEIGHT - gap * (order.length - place - 0.5));
    });
    return order;
  }

  /** Return how much of the drawing is for the lines, in percent; rows of bars need the more of it the more there are. */
  const measureLines = (sides) => (sides.length > LABELS ? 62 : 74);

  function drawLabels(game, race, ends) {
    if (race.sides.length > LABELS) return [];
    return spreadLabels(ends).map(({ side, y }) => {
      const { seats } = race.sides[side];
      // A number has room beyond the end of its line; the numbers of partners have not.
      const place = seats.length > 1 ? { dx: -5, "text-anchor": "end" } : { dx: 2 };
      return createShape("text", { x: "100%", y: `${((y * measureLines(race.sides)) / 100).toFixed(1)}%`, ...place, class: "end" }, seats.join("+"));
    });
  }

  /** Draw what each side has left, above thin lines for what it has left in the mirror, if `reflected` tells. */
  function drawLines(game, race, end, reflected) {
    const all = [...race.left, ...(reflected || [])].flat().map(race.value);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const height = (left) => 4 + (most > least ? (92 * (race.value(left) - least)) / (most - least) : 0);
    const drawLine = (table, kind) => ({ seats }, side) => {
      const points = table.map((left, step) => [step, height(left[side])]);
      return createShape("path", { class: `${nameLine(game, seats, side)}${kind}`, d: makeStepPath(points, end) });
    };
    const lines = [...(reflected ? race.sides.map(drawLine(reflected, " reflected")) : []), ...race.sides.map(drawLine(race.left, ""))];
    const ends = race.left[end].map(height);
    const share = `${measureLines(race.sides)}%`;
    const scale = [createShape("text", { x: 0, y: 0, class: "scale" }, malice.formatFigure(most)), createShape("text", { x: 0, y: share, class: "scale low" }, malice.formatFigure(least))];
    return [makeField(end, 0, share, ...lines), ...scale, ...drawLabels(game, race, ends)];
  }

  /** Return how high bars are, of 100, for a time in microseconds; and the longest time. */
  function makeScale(game) {
    const times = game.steps.flatMap(({ moves }) => moves.map(({ micros }) => micros || 0)).filter((micros) => micros > 0);
    const [low, high] = [Math.log(Math.max(1, Math.min(...times))), Math.log(Math.max(...times))];
    const share = (micros) => (high > low ? (Math.log(micros) - low) / (high - low) : 1);
    return { longest: times.length ? Math.max(...times) : null, scale: (micros) => (micros > 0 ? 8 + 92 * share(micros) : 0) };
  }

  /** Place a height in the lane of a side: two sides stand up from the middle and hang from it, more have a row each. */
  function placeInLane(sides, side, height) {
    if (sides.length === 1) return height;
    if (sides.length === 2) return side ? HEIGHT / 2 - height / 2 : HEIGHT / 2 + height / 2;
    return HEIGHT - (HEIGHT / sides.length) * (side + 1 - (0.86 * height) / HEIGHT);
  }

  function drawBars(game, sides, scale) {
    const paths = game.seats.map(() => "");
    game.steps.forEach(({ moves }, index) => {
      moves.forEach(({ seat, micros }, place) => {
        const width = 0.8 / moves.length;
        const side = sides.findIndex(({ seats }) => seats.includes(seat));
        const [base, top] = [0, scale(micros || 0)].map((height) => (HEIGHT - placeInLane(sides, side, height)).toFixed(1));
        paths[seat] += `M${(index - 0.9 + place * width).toFixed(2)} ${base}V${top}h${width.toFixed(2)}V${base}z`;
      });
    });
    return paths.map((d, seat) => {
      const side = sides.findIndex(({ seats }) => seats.includes(seat));
      return createShape("path", { class: nameLine(game, sides[side].seats, side).replace("line", "bars"), d });
    });
  }

  function drawBanks(game, sides, end) {
    return (malice.measureBanks(game) || []).map((points, seat) => {
      const side = sides.findIndex(({ seats }) => seats.includes(seat));
      const heights = points.map(([step, share]) => [step, placeInLane(sides, side, share * 97)]);
      return createShape("path", { class: `${nameLine(game, sides[side].seats, side)} bank`, d: makeStepPath(heights, end) });
    });
  }

  function drawTick({ step, kind }, end) {
    const mark = createShape("path", { d: "M-3.500 0H3.500L0 5.500z" });
    return createShape("svg", { x: `${(100 * step) / Math.max(1, end)}%`, y: 0, class: `tick ${kind}`, overflow: "visible" }, mark);
  }

  /** Mark the actions instead of which a second bot would have played others. */
  function drawOthers({ others }, end, y) {
    const marks = others.map((_, step) => `M${step} 0V${HEIGHT}`).join("");
    return marks ? [makeField(end, y, 5, createShape("path", { class: "others", d: marks }))] : [];
  }

  /** Draw a line above the bars, and where there are rows between these, too. */
  function drawRows(sides, end) {
    const rows = sides.length > 2 ? sides.length : 1;
    const lines = Array.from({ length: rows }, (_, row) => `M0 ${((HEIGHT / rows) * row).toFixed(1)}H${end}`);
    return createShape("path", { class: "row", d: lines.join("") });
  }

  function drawWhole(game, course, race, reflected = null) {
    const moments = malice.gatherMoments(game, course);
    const end = game.steps.length - 1;
    const sides = malice.groupTeams(game);
    const { scale } = makeScale(game);
    const top = race ? measureLines(sides) + 6 : 6;
    const bars = [drawRows(sides, end), ...drawBars(game, sides, scale), ...drawBanks(game, sides, end)];
    const thinking = makeField(end, `${top}%`, `${100 - top}%`, ...bars);
    const ticks = [...drawOthers(course, end, `${top - 5}%`), ...moments.map((moment) => drawTick(moment, end))];
    return createShape("svg", { "aria-hidden": "true" }, ...(race ? drawLines(game, race, end, reflected) : []), thinking, ...ticks);
  }

  /** Show a side in the line of figures: its dash, its seats, and a place for what it has left. */
  function makeFigure(game, { seats }, side) {
    const sample = createShape("svg", { viewBox: "0 0 20 4", class: "sample" }, createShape("path", { class: nameLine(game, seats, side), d: "M0 2H20" }));
    const [count, reflected] = [createElement("b"), createElement("small")];
    const title = seats.map((seat) => game.seats[seat].name).join(" + ");
    return { count, reflected, node: createElement("span", { title }, sample, ...seats.map((seat) => malice.drawDisc(game, seat)), count, reflected) };
  }

  /** Seek where the pointer is, as long as it is down. */
  function listen(plot, end) {
    const seek = ({ clientX }) => {
      const { left, width } = plot.getBoundingClientRect();
      malice.seek(Math.round((end * Math.max(0, Math.min(width, clientX - left))) / width));
    };
    plot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      plot.setPointerCapture(event.pointerId);
      seek(event);
    });
    plot.addEventListener("pointermove", (event) => plot.hasPointerCapture(event.pointerId) && seek(event));
  }

  function load(game, course) {
    const end = game.steps.length - 1;
    const race = malice.measureRace(game, course);
    const figures = malice.groupTeams(game).map((side, place) => makeFigure(game, side, place));
    const words = createElement("span", { class: "who" });
    const { longest } = makeScale(game);
    const think = longest && createElement("span", { class: "longest", title: "the longest bar" }, `▮ ${malice.formatDuration(longest)}`);
    const cursor = createElement("div", { class: "cursor" });
    const plot = createElement("div", { class: "plot" }, drawWhole(game, course, race), cursor);
    listen(plot, end);
    drawn = { game, course, race, end, plot, cursor, words, figures, reflected: null };
    document.getElementById("race").classList.toggle("many", game.seats.length > 2);
    document.getElementById("race").classList.toggle("rows", figures.length > LABELS);
    document.getElementById("race").replaceChildren(
      plot,
      createElement("p", { class: "now", "aria-hidden": "true" }, ...figures.map(({ node }) => node), words, think),
      createElement("p", { class: "unseen" }, malice.describeRace(game, race)),
    );
  }

  /** Say who is ahead; nothing without a race. */
  malice.describeLead = function (game, race, index) {
    if (!race) return "";
    const lead = race.leads[index];
    return lead === null ? "level" : `${malice.nameSide(game, race.sides[lead])} ${race.sides[lead].seats.length > 1 ? "lead" : "leads"}`;
  };

  /** Draw what each side has left in the mirror, too: by step of this game, by side; null for no mirror. */
  malice.reflect = function (reflected) {
    if (reflected === drawn.reflected) return;
    const { game, course, race, plot } = drawn;
    drawn.reflected = reflected;
    plot.firstChild.replaceWith(drawWhole(game, course, race, reflected));
  };

  /** Write a text where it is another one: most steps change no figure. */
  function write(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  function show(index) {
    drawn.cursor.style.transform = `translateX(${(100 * index) / Math.max(1, drawn.end)}%)`;
    const { game, race, reflected } = drawn;
    drawn.figures.forEach((figure, side) => {
      write(figure.count, race ? malice.formatFigure(race.value(race.left[index][side])) : "");
      write(figure.reflected, race && reflected ? `⇄ ${malice.formatFigure(race.value(reflected[index][side]))}` : "");
    });
    const whose = malice.replay.state.viewer === null ? "" : "as a spectator sees it · "; // a seat may not see what is left
    write(drawn.words, race ? `${whose}${race.unit} · ${malice.describeLead(game, race, index)}` : "");
  }

  malice.watchers.push({ load, show });
})(window.malice);
