"""The replay page of Double Solitaire: what it shows is what the engine says, and it stands still."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.json import encode
from selenium.webdriver import Chrome

from malice import site_pages
from malice.referee.games.double_solitaire import FAMILY
from malice.referee.games.double_solitaire.messages import CardsMoved, Draw, TurnedOver
from malice.referee.replay import RecordedAsk, replay_asks
from tests.browser_window import at_a_desk, replay
from tests.site_league import HOSTILE, League

from .tables import game

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WALK = """
const { state, showStep } = malice.replay;
const { game, course } = state;
const told = { positions: [], races: [], sizes: [], over: 0, drawn: [], words: course.words.map((all) => all.length) };
const box = document.querySelector("#table");
course.tables.forEach((table, index) => {
  const context = { game, viewer: null, step: course.steps[index], over: false, tables: course.tables };
  told.positions.push(JSON.stringify(malice.callFamily(game.family, "position", table, context)));
  told.races.push(malice.callFamily(game.family, "race", table, context));
  if (index % 40 && index < course.tables.length - 2) return;
  showStep(index);
  told.over = Math.max(told.over, box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight);
  const piles = [...box.querySelectorAll("[data-place]")];
  told.sizes.push(JSON.stringify(piles.map((pile) => [pile.dataset.place, pile.getBoundingClientRect().toJSON()])));
  told.drawn.push([index, [...box.querySelectorAll(".fanned .card[data-card]")].map((card) => card.dataset.card)]);
});
const moments = malice.gatherMoments(game, course);
return {...told, sizes: new Set(told.sizes).size, failures: malice.failures, moments,
  summary: malice.callFamily(game.family, "summary", course, { game })};
"""


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def count_events(asks: list[RecordedAsk], seat: int, kind: type[Draw] | type[TurnedOver]) -> int:
    return sum(isinstance(event, kind) and event.seat == seat for ask in asks for event in ask.events)


def test_the_page_follows_the_engine_and_nothing_moves(browser: Chrome, tmp_path: Path) -> None:
    league = League(("ann", HOSTILE), deals=1, rulesets=("double-solitaire",), seats=2)
    site_pages.render(league, tmp_path)
    record = next(league.records())
    asks = list(replay_asks(record))
    views = [game().view(ask.after, None) for ask in asks]

    for width, height in ((390, 844), (1400, 900)):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        replay(browser, tmp_path, str(record.key))
        told = browser.execute_script(WALK)

        assert told["failures"] == {}
        assert (told["sizes"], told["over"] <= 1) == (1, True), (width, height)
    assert [json.loads(position) for position in told["positions"]] == json.loads(encode(views))
    assert FAMILY.race
    assert told["races"] == [list(FAMILY.race(view)) for view in views]
    assert told["words"] == [len(ask.events) for ask in asks]
    for index, drawn in told["drawn"]:
        assert drawn == [card for pile in views[index].table for card in pile]
    summary = {row["words"]: row["values"] for row in told["summary"]}
    built = [sum(_is_built(event, seat) for ask in asks for event in ask.events) for seat in (0, 1)]
    assert summary["to foundations"] == built
    assert summary["times turned over"] == [count_events(asks, seat, TurnedOver) for seat in (0, 1)]
    assert all(count <= count_events(asks, seat, Draw) for seat, count in enumerate(summary["turns without a play"]))
    kinds = {moment["kind"] for moment in told["moments"]}
    assert {"lead", "few"} <= kinds, "a game that a pack ends comes down to its last cards"


def _is_built(event: object, seat: int) -> bool:
    return isinstance(event, CardsMoved) and event.seat == seat and event.target == "f"
