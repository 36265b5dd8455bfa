"""A second opinion in a replay: an arrow and words at the table, marks in the log and on the race, and who gives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.referee.records import Record
from tests.browser_window import at_a_desk, current, find, press, replay
from tests.opinions import NOTE, LastAction, list_choices
from tests.site_league import HOSTILE, League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ARROW = """
const path = document.querySelector("#arrow .shaft:not(.edge)");
if (!path.getAttribute("d")) return null;
const middle = (name, card) => {
  const place = document.querySelector(`[data-place="${name}"]`);
  const part = card && place.querySelector(`[data-card="${card}"]`) || place.querySelector(".stack");
  const box = part.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
const {x, y} = document.querySelector("#arrow").getBoundingClientRect();
const tip = document.querySelector("#arrow .head:not(.edge)").getPointAtLength(0);
const start = path.getPointAtLength(0);
const [from, to] = [middle(arguments[0], arguments[1]), middle(arguments[2])];
return [[start.x + x - from[0], start.y + y - from[1]], [tip.x + x - to[0], tip.y + y - to[1]]];
"""
"""How far the ends of the arrow lie from a card in a place and from another place; null without an arrow."""


@pytest.fixture(scope="module")
def league() -> League:
    """Two bots, one deal."""
    return League(("bot0", "bot1"), deals=1)


@pytest.fixture(scope="module")
def out(league: League, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its site, with the opinion of a bot that has a hostile name and fails at seat 1."""
    folder = tmp_path_factory.mktemp("opinion")
    advice = LastAction(league, HOSTILE, fault=1)
    site_pages.SiteWriter(league, folder).render(site_pages.SiteOptions(opinions=advice))
    return folder


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def list_others(record: Record, seat: int) -> list[tuple[int, str]]:
    """Return the steps that the bot would have changed, and its actions there."""
    choices = list(list_choices(record, seat))
    return [(each.action + 1, each.plays) for each in (choices[:3] if seat else choices) if not each.agrees]


def test_a_second_opinion_is_shown_wherever_it_differs(league: League, browser: Chrome, out: Path) -> None:
    record = next(league.records())
    own, other = list_others(record, 0), list_others(record, 1)
    steps = sorted(step for step, _ in own + other)
    replay(browser, out, str(record.key))

    press(browser, ".")
    assert current(browser) == steps[0]
    hand = next((step, action) for step, action in own if action[0] == "h" and step > steps[0])
    browser.execute_script("malice.seek(arguments[0])", hand[0])
    card, _, target = hand[1][1:].partition("-")
    ends = browser.execute_script(ARROW, "0h", card, target if target[0] == "c" else f"0{target}")
    assert ends is not None
    assert all(abs(gap) <= 1 for end in ends for gap in end)
    words = find(browser, "#advice").get_attribute("textContent") or ""
    assert NOTE in words
    assert "would have chosen: " in words

    marks = browser.find_elements(By.CSS_SELECTOR, "#log .otherwise")
    assert len(marks) == len(steps)
    race = find(browser, "#race .others").get_attribute("d") or ""
    assert race.count("M") == len(steps)
    told = [line.text for line in browser.find_elements(By.CSS_SELECTOR, "#opinion li")]
    assert f"otherwise in {len(own)} of {len(list(list_choices(record, 0)))}" in told[0]
    assert f"otherwise in {len(other)} of 3" in told[1]
    assert "illegal after 3 moves" in told[1]
    assert "version 7, abababababab" in find(browser, "#opinion").text

    moments = browser.find_elements(By.CSS_SELECTOR, "#moments .cost")
    assert [int(moment.get_attribute("data-moment") or 0) for moment in moments] == [own[0][0]]
    assert "bot0\u2069 differs from \u2068<img" in moments[0].text
    assert moments[0].text.endswith(", costs 9 ± 4 % of a win.")

    press(browser, "o")
    assert not find(browser, "#advice").is_displayed()
    assert not find(browser, "#arrow").is_displayed()


def test_a_seat_sees_no_opinion_on_other_seats(league: League, browser: Chrome, out: Path) -> None:
    record = next(league.records())
    others = list_others(record, 1)

    replay(browser, out, f"{record.key}/{list_others(record, 0)[0][0] - 1}?view=1")

    assert find(browser, "#advice").text == ""
    assert len(browser.find_elements(By.CSS_SELECTOR, "#log .otherwise")) == len(others)
    assert browser.execute_script("return document.querySelector('#arrow .head').getAttribute('d')") == ""
