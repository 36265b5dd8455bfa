"""The replay page of Nuts, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.protocol.cards import HIDDEN
from malice.referee.families import make_rules
from malice.referee.records import Record
from malice.tournaments.league.race import list_left
from malice.tournaments.league.store import Store
from tests.browser_window import as_a_phone, at_a_desk, fits_the_window, press, replay, show_end
from tests.command_line import malice

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOLLOW = """
const game = malice.replay.state.game;
const viewer = arguments[0];
const nuts = malice.families.nuts;
const table = nuts.start(game);
return game.steps.map((step) => {
  step.events.map((event) => viewer === null ? event : nuts.mask(event, viewer, game))
    .forEach((event, place) => nuts.apply(table, event, {game, viewer, step, place, events: step.events}));
  return JSON.stringify({position: nuts.position(table, {game, viewer, step}), race: nuts.race(table, {game})});
}).map((text) => JSON.parse(text));
"""
"""What the page makes of every step: the table as a view, and the race."""


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def render_hands(folder: Path) -> tuple[Path, list[Record]]:
    """Play a few hands and render their site; return its folder, and the records."""
    (folder / "t.toml").write_text(
        'name = "t"\nentries = ["first", "uniform"]\nrulesets = ["nuts-2"]\ndeals = 1\nseed = "pages"\n'
        'series = false\nisolation = "none"\n'
    )
    ran = malice("run", folder / "t.toml", "--db", folder / "t.db")
    assert ran.exit_code == 0, ran.output
    with Store(folder / "t.db") as store:
        site_pages.render(store, folder / "site")
        return folder / "site", list(store.records())


def test_the_page_follows_a_hand_as_the_rules_play_it(browser: Chrome, tmp_path: Path) -> None:
    site, records = render_hands(tmp_path)
    record = max(records, key=lambda each: each.scores)
    rules = make_rules(record.family, record.rules, 2)
    states = [ask.after for ask in show_end(browser, site, record)]
    views = [json.decode(json.encode(rules.view(state, 0))) for state in states]

    for viewer in (None, 0):
        steps = browser.execute_script(FOLLOW, viewer)
        for part in ("sides", "centre"):
            assert [step["position"][part] for step in steps] == [view[part] for view in views]
        assert [tuple(step["race"]) for step in steps] == [tuple(left) for left in list_left(record, states)]

    for team, side in enumerate(states[-1].sides):
        for column, (pile, hidden) in enumerate(zip(side.columns, side.hidden, strict=True)):
            cards = browser.find_elements(By.CSS_SELECTOR, f'[data-place="{team}t{column}"] .card:not(.empty)')
            shown = [card.get_attribute("data-card") or HIDDEN for card in cards]
            assert shown == [HIDDEN] * hidden + list(pile[hidden:])
    assert browser.find_elements(By.CSS_SELECTOR, "#moments a")
    race = browser.find_element(By.CSS_SELECTOR, "#race").text
    assert all(str(points).replace("-", "−") in race for points in record.scores), (
        "points, not what is short of the most"
    )
    assert f" · {len(record.actions)} actions" in browser.find_element(By.CSS_SELECTOR, "#facts").text
    as_a_phone(browser)
    replay(browser, site, str(record.key))
    press(browser, Keys.END)
    assert fits_the_window(browser)
    press(browser, Keys.HOME)
    names = browser.find_elements(By.CSS_SELECTOR, "#table .players .name")
    assert [name.get_property("scrollWidth") for name in names] == [name.get_property("clientWidth") for name in names]
