// Follows a game as it is played: what the server tells of it, step by step, at the pace that one sets.
"use strict";
window.malice = window.malice || {};

(function (malice) {
  /**
   * Listen to a stream. `page` has: `begin(game)` for a new game, `show(index, moving)` for a step to draw, `rest(state)`
   * when all steps that a state belongs to are drawn, `pace()` in ms, and `lost(whether)`.
   */
  malice.listen = function (address, page) {
    let game = null;
    let course = null;
    let waiting = [];
    let state = null;
    let timer = null;

    function rest() {
      if (state && game && state.game === game.number && state.steps <= course.steps.length) page.rest(state);
      else if (state && !state.game) page.rest(state);
    }

    /** Draw the next step, and wait for the one after it: one's own at once, those of others at their pace. */
    function advance() {
      timer = null;
      const step = waiting.shift();
      if (!step) {
        rest();
        return;
      }
      malice.extendCourse(course, game, game.viewer, step);
      const own = step.moves.some(({ seat }) => seat === game.viewer);
      const pace = page.pace();
      const last = state && state.game === game.number && state.over && course.steps.length === state.steps;
      game.ended = Boolean(last);
      if (last) Object.assign(game, { places: state.over.places, scores: state.over.scores, reason: state.over.reason });
      page.show(course.steps.length - 1, own ? 180 : Math.min(260, pace * 0.6));
      if (!waiting.length) rest();
      else timer = setTimeout(advance, own || !pace ? 0 : pace);
    }

    function begin(told) {
      clearTimeout(timer);
      timer = null;
      const seats = told.seats.map((name, seat) => ({ name, slug: "", colour: "", person: told.people.includes(seat) }));
      const blank = told.seats.map(() => 1);
      game = { ...told, seats, places: blank, scores: blank.map(() => 0), reason: "", faults: [], live: true, ended: false, turnName: "" };
      course = malice.beginCourse();
      waiting = [];
      page.load(game).then(() => {
        for (const step of told.steps) malice.extendCourse(course, game, game.viewer, step);
        const last = state && state.game === game.number && state.over;
        game.ended = Boolean(last);
        if (last) Object.assign(game, { places: last.places, scores: last.scores, reason: last.reason });
        page.begin(game, course);
        page.show(course.steps.length - 1, 0);
        if (!timer) advance();
      }, page.fail);
      game.loading = true;
    }

    const source = new EventSource(address);
    source.addEventListener("game", ({ data }) => begin(JSON.parse(data)));
    source.addEventListener("steps", ({ data }) => {
      waiting.push(...JSON.parse(data));
      if (!timer && course.steps.length) timer = setTimeout(advance, 0);
    });
    source.addEventListener("state", ({ data }) => {
      state = JSON.parse(data);
      if (!timer && !waiting.length && (!state.game || course?.steps.length)) rest();
      page.attend(state);
    });
    source.addEventListener("open", () => page.lost(false));
    source.addEventListener("error", () => page.lost(true, source.readyState === EventSource.CLOSED));

    return {
      close() {
        clearTimeout(timer);
        source.close();
      },
      /** Show at once what waits. */
      hurry() {
        if (!timer) return;
        clearTimeout(timer);
        while (waiting.length > 1) malice.extendCourse(course, game, game.viewer, waiting.shift());
        advance();
      },
      get waits() {
        return waiting.length;
      },
    };
  };
})(window.malice);
