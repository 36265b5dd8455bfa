// The pages of games: what a family brings for its replays, and what stands in for the parts that it does not bring.
//
// A family's folder may hold page/*.js, page/*.css and page/*.json. The site copies them, and this page loads them when
// it shows a game of the family: first the data (page/NAME.json is `malice.data.<family>.NAME`), then the styles, then
// the scripts in alphabetical order. One script registers the hooks. Each of them is optional:
//
//   malice.families.<family> = {
//     start(game)                   returns the table before the first event: plain data, such as an object of piles
//     apply(table, event, context)  changes the table, or returns a new one
//     draw(table, context)          returns an element that shows the table after a step
//     words(event, context)         returns a phrase; an empty text if the event needs none
//     brief(event, context)         returns what the log shows of an event: a text or an element, or an array of them;
//                                   an empty text for nothing; by default its words
//     race(table, context)          returns, by seat, how much is left until it has won: less is better, and partners have
//                                   the same figure; the family's `race` in Python returns the same
//     unit(game)                    returns what `race` counts: "cards left"; by default "left"
//     value(left)                   returns what readers see of a figure of `race`, such as points made of points that
//                                   are missing; by default the figure
//     turn(game)                    returns what a turn is called, "turn" by default; an empty text if it is no more than
//                                   an action, and need not be told
//     margin(game)                  returns by how much a side must be ahead for its lead to count, unless it lasts; by
//                                   default 1
//     moments(course, context)      returns the key moments: an array of {step, kind, words, weight}
//     summary(course, context)      returns what the game came to: an array of {words, values}, with a value for each seat
//     position(table, context)      returns the table as the view of a request has it, for who copies it as JSON; by
//                                   default the table
//     aim(action, context)          returns the names of the places {from, to} between which an action moves something, and
//                                   its `card` if that lies among others there; `click`, if a click on that place alone
//                                   chooses it; null for an action that moves nothing
//     advances(action)              returns whether an action brings a card up, so that a double click may play it; by
//                                   default none does
//     legend(game, seat)            returns what a beginner in that seat must know: an array of {place, words}, where
//                                   `place` names a place of the drawing
//     mask(event, seat, game)       returns the event as the seat may see it, or null if it must not know of it;
//                                   without this hook all seats see everything, and there are no views to choose from
//   };
//
// An event is what the family's Python sends, as plain JSON; `{type: "out", seat, code}`, a verdict that takes a seat out
// of the game, comes from the referee: `apply` and `mask` receive it, the page itself puts it into words. In the view of a seat every hook gets masked events only,
// so that a table holds no more than the seat may see. A phrase that is about a seat begins with `malice.quote(name)`
// and a space: that is left out where the name has just been said. What `words` and `brief` return as text becomes text,
// never markup. `undefined` from a hook means: as if there were no hook.
//
//   game     {key, family, ruleset, rules, seats: [{name, slug}], teams, places, scores, reason, faults}; `rules` has all
//            parameters; by seat are `seats`, `teams`, `places` and `scores`;
//            `live` says that the game is still played: then the drawing leaves room for what may come
//   course   {steps, tables}: all steps, and the tables after them, as a spectator sees them
//   moment   `step` is an index of `course.steps`, `words` a phrase; of too many, those with the least `weight` are left
//            out, where a change of the lead weighs 2 to 4 and the longest think 1; `kind` becomes a class
//   context  {game} for `moments` and `summary`; {game, seat, table} for `aim`, whose seat it is, with the table before the action; {game, viewer, step} otherwise, and for events {events, place, table}, for `draw` and
//            `position` {over, tables}:
//     viewer   the seat whose view is shown, or null
//     step     {number, turn, moves: [{seat, action}], events}: one ask; its number is that of its first action among all
//              actions of the game, and -1 for the deal, which has no moves
//     events   the events of the step, and `place`, the index of this one in them
//     table    the table after the event
//     over     whether this is the last step
//     tables   the tables after all steps, to measure how much room the whole game needs
//
// The drawing gets a place of fixed size: `--stage-width` and `--stage-height` are its width and height in its styles,
// a class around it says whether it is `narrow` (below 45rem), `broad` (58rem or more), `short` (below 24rem) or `flat` (34rem or more and at least 1.6 times its height, and then never `narrow`), and
// what is larger scrolls. (Container queries would say the same, at several times the cost of a step.) Sizes that follow from these and from `tables` let nothing move from step to step.
//
// `malice.linkPage(path, attributes, ...children)` links to another page of the site, such as `bots/greedy.html`; a game
// that is a file of its own may have no site to link to. What a stylesheet loads is missing there.
//
// The page keeps those elements of the drawing before that look as the new ones do: no listeners on them. A drawing of
// many parts may spare itself those that did not change: `malice.drawIfChanged(name, key, draw)` calls `draw` only if
// `key` is another text than before.
//
// An element with `data-place="NAME"` is a place. An element with `data-from="NAME"` has just come from there: the page
// lets it fly. cards.js draws cards, places and seats for any family. The styles of other families do not count meanwhile.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  malice.families = {};
  malice.data = {};
  const loads = new Map();

  /** Keep the content of a family's JSON file; the file, a script on the site, calls this. */
  malice.keepData = function (family, name, content) {
    malice.data[family] = { ...malice.data[family], [name]: content };
  };

  /** Isolate a name, so that it cannot change the direction of the text around it. */
  malice.quote = (name) => `\u2068${name}\u2069`;

  /** Fill the holes of a sentence such as "{seat} draws {count}". */
  malice.fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);

  function loadElement(element) {
    return new Promise((resolve, reject) => {
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${element.src || element.href} cannot be loaded.`));
      document.head.append(element);
    });
  }

  async function loadPage(name, { scripts, styles }) {
    const links = styles.map((href) => loadElement(malice.createElement("link", { rel: "stylesheet", href, "data-family": name })));
    const elements = scripts.map((src) => Object.assign(document.createElement("script"), { src, async: false }));
    await Promise.all([...links, ...elements.map(loadElement)]);
  }

  /** Load what a family brings, once; `files` lists it by family. */
  malice.loadFamily = function (name, files) {
    if (!loads.has(name)) {
      const loading = loadPage(name, files[name] || { scripts: [], styles: [] });
      loading.catch(() => loads.delete(name)); // so that the next click tries again
      loads.set(name, loading);
    }
    return loads.get(name);
  };

  /** Let the styles of one family count, and those of no other. */
  malice.useStyles = function (family) {
    for (const link of document.querySelectorAll("link[data-family]")) link.disabled = link.dataset.family !== family;
  };

  function joinFields(event) {
    const fields = Object.entries(event).filter(([name]) => name !== "type" && name !== "seat");
    return fields.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
  }

  const plain = {
    start: () => ({}),
    apply: () => undefined,
    draw(table, { step }) {
      const lines = step.events.map((event) => malice.createElement("li", {}, malice.createElement("code", {}, JSON.stringify(event))));
      return malice.createElement("ol", { class: "plain", "aria-label": "Events" }, ...lines);
    },
    words(event, { game }) {
      const name = game.seats[event.seat] ? `${malice.quote(game.seats[event.seat].name)} ` : "";
      if (event.type === "out") return `${name}is out of the game: ${event.code}`;
      const fields = joinFields(event);
      return `${name}${String(event.type).replace(/_/g, " ")}${fields && `: ${fields}`}`;
    },
    brief: (event, context) => malice.callFamily(context.game.family, "words", event, context),
    mask: (event) => event,
    race: () => null,
    unit: () => "left",
    value: (left) => left,
    turn: () => "turn",
    margin: () => 1,
    moments: () => [],
    summary: () => [],
    aim: () => null,
    advances: () => false,
    legend: () => [],
  };

  /** By family: the error with which its page failed; from then on the plain hooks stand in. */
  malice.failures = {};

  /** Call a hook of a family, or what stands in for it. */
  malice.callFamily = function (family, hook, ...values) {
    let result;
    if (hook !== "apply" && hook !== "mask" && values[0]?.type === "out") return plain[hook](...values);
    try {
      result = malice.families[family]?.[hook]?.(...values);
    } catch (error) {
      console.error(error);
      malice.failures[family] = error.message;
      delete malice.families[family];
    }
    return result === undefined ? plain[hook](...values) : result;
  };

  /** Return whether the seats of a family's games see different things. */
  malice.hasViews = (family) => Boolean(malice.families[family]?.mask);
})(window.malice);
