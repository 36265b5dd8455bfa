"""The replay pages of games of packages, in a browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.referee.records import Record
from malice.referee.replay import find_rules
from malice.tournaments.league.race import find_leads, find_turn, list_left
from malice.tournaments.league.store import Store
from tests.browser_window import as_a_phone, at_a_desk, current, find, fits_the_window, press, replay, show_end
from tests.command_line import malice
from tests.games.conftest import BIDDING, TRICKS
from tests.games.installed import installed, write_package
from tests.opinions import LastAction
from tests.samples import sample

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def render(folder: Path, ruleset: str, seats: int, bot: str = "uniform") -> tuple[Path, list[Record]]:
    """Play a few games and render their site; return its folder, and the records."""
    (folder / "t.toml").write_text(
        f'name = "t"\nentries = ["first", "{bot}", "uniform"]\nseats = {seats}\nrulesets = ["{ruleset}"]\n'
        'deals = 1\nseed = "pages"\nisolation = "none"\n'
    )
    ran = malice("run", folder / "t.toml", "--db", folder / "t.db")
    assert ran.exit_code == 0, ran.output
    with Store(folder / "t.db") as store:
        site_pages.SiteWriter(store, folder / "site").render(site_pages.SiteOptions(opinions=LastAction(store)))
        return folder / "site", list(store.records())


def test_the_script_of_a_package_draws_its_table(stairs: Path, browser: Chrome, tmp_path: Path) -> None:
    with installed(stairs):
        site, records = render(tmp_path, "stairs", 3)
        last = show_end(browser, site, records[0])[-1].after

    for seat in range(3):
        for number, stack in enumerate(last.stacks[seat]):
            cards = browser.find_elements(By.CSS_SELECTOR, f'[data-place="stack-{seat}-{number}"] [data-card]')
            assert [card.get_attribute("data-card") for card in cards] == list(stack[-1:])
        assert f"{len(last.piles[seat])} left" in find(browser, f'[data-place="pile-{seat}"]').text
    assert fits_the_window(browser)
    as_a_phone(browser)
    replay(browser, site, str(records[0].key))
    assert fits_the_window(browser)


@pytest.mark.whole
def test_what_several_seats_did_at_once_is_one_step(browser: Chrome, tmp_path: Path) -> None:
    write_package(BIDDING, tmp_path / "installed")
    with installed(tmp_path / "installed"):
        site, records = render(tmp_path, "bidding", 3)
        asks = show_end(browser, site, records[0])

    steps = browser.find_elements(By.CSS_SELECTOR, "#log [data-step]")
    assert len({step.get_attribute("data-step") for step in steps}) == len(asks)
    for seat, score in enumerate(records[0].scores):
        assert find(browser, f'[data-place="seat-{seat}"] .score').text == str(score)
    as_a_phone(browser)
    replay(browser, site, str(records[0].key))
    assert fits_the_window(browser)


@pytest.mark.whole
def test_each_action_of_a_trick_stands_under_who_played_it(browser: Chrome, tmp_path: Path) -> None:
    write_package(TRICKS, tmp_path / "installed")
    with installed(tmp_path / "installed"):
        site, records = render(tmp_path, "tricks", 3)
        show_end(browser, site, records[0])

    names = [label for label, _ in records[0].entries]
    headings = [heading.text.splitlines() for heading in browser.find_elements(By.CSS_SELECTOR, "#log h3")]
    assert [lines[1] for lines in headings[:9]] == [names[seat] for seat, _ in records[0].actions[:9]]
    assert [lines[2:] for lines in headings[:6]] == [["turn 1"], [], [], ["turn 2"], [], []]
    assert "all cards are played: 1. " in (site / "replay.html").read_text("utf-8").split("<noscript>")[1]


def list_cards(browser: Chrome) -> list[dict[str, str]]:
    """Return what the cards at the end say of each seat."""
    cards = [card.text.splitlines() for card in browser.find_elements(By.CSS_SELECTOR, ".summary dl")]
    return [dict(zip(lines[::2], lines[1::2], strict=True)) for lines in cards]


@pytest.mark.parametrize("name", sample(["stairs", "bidding"], 2))
def test_any_game_shows_a_race_and_moments_and_cards(stairs: Path, browser: Chrome, tmp_path: Path, name: str) -> None:
    write_package(BIDDING, tmp_path / "bidding")
    with installed(stairs if name == "stairs" else tmp_path / "bidding"):
        site, records = render(tmp_path, name, 3)
        record = max(records, key=lambda each: len(each.actions))
        states = [ask.after for ask in show_end(browser, site, record)]
        race = list_left(record, states)

    cards = list_cards(browser)
    assert [int(count.text) for count in browser.find_elements(By.CSS_SELECTOR, "#race .now b")] == list(race[-1])
    assert [card["actions"] for card in cards] == [
        str(sum(1 for seat, _ in record.actions if seat == own)) for own in range(3)
    ]
    assert all(("stacks in use" in card) == (name == "stairs") for card in cards)
    steps = [
        int(link.get_attribute("data-moment") or 0) for link in browser.find_elements(By.CSS_SELECTOR, "#moments a")
    ]
    turn = find_turn(find_leads(race), (0, 1, 2))
    assert turn is None or turn.action + 1 in steps
    last = len(states) - 1
    press(browser, "[")
    before = [step for step in steps if step < last]
    assert current(browser) == before[-1]
    press(browser, ",")
    assert "last would have chosen: " in find(browser, "#advice").text
    arrow = find(browser, "#arrow .head").get_attribute("d")
    assert bool(arrow) == (name == "stairs"), "in words alone, where a game does not tell what an action aims at"


SHORT = 'about = "a"\nsource = "s"\nextends = "klondike-3"\n[rules]\nmax_actions = 90\nundo = "free"\n'
RESTLESS = """
import json, random, sys
chance = random.Random(3)
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    move = {"move": chance.choice(request["legal"][:-1] or ["done"])} if request["type"] == "move" else {}
    print(json.dumps({"id": request["id"], **move}), flush=True)
"""
"""A bot that plays anything but `done`."""
POSITIONS = """
  const viewer = arguments[0], course = malice.follow(malice.replay.state.game, viewer), own = malice.families.klondike;
  return JSON.stringify(course.tables.map((table, step) => own.position(table, {viewer, step: course.steps[step]})));
"""


@pytest.mark.parametrize("viewer", sample([0, None], 2))
def test_the_page_of_klondike_shows_what_the_engine_knows(viewer: int | None, browser: Chrome, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    (tmp_path / "restless.py").write_text(RESTLESS)
    site, records = render(tmp_path, "./short.toml", 2, f"{sys.executable} restless.py")
    record = next(record for record in records if "restless" in record.entries[0][0])
    assert {action for _, action in record.actions} >= {"undo", "turn"}
    asks = show_end(browser, site, record)
    rules = find_rules(record)

    shown = json.loads(browser.execute_script(POSITIONS, viewer))

    expected = [json.loads(msgspec.json.encode(rules.view(ask.after, viewer))) for ask in asks]
    for view in expected:
        for table in filter(None, view["tables"]):
            del table["actions"], table["idle"]
    assert shown == expected
    if viewer is None:
        left = list_left(record, [ask.after for ask in asks])
        counted = browser.find_elements(By.CSS_SELECTOR, "#race .now b")
        assert [int(each.text) for each in counted] == list(left[-1])
    as_a_phone(browser)
    assert fits_the_window(browser)
