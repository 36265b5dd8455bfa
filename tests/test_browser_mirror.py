"""The mirror of a replay: another rotation of the same deal beside it, in step by turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice import site_pages
from malice.referee.games.spite.messages import TurnBegins
from malice.referee.records import Key, Record
from malice.referee.replay import RecordedAsk, replay_asks
from malice.tournaments.league.race import list_left
from tests.browser_window import as_a_phone, at_a_desk, current, find, press, replay, visit, wait_until
from tests.games.conftest import BIDDING
from tests.games.installed import installed, write_package
from tests.site_league import League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LABELS = ("bot0", "bot1")

WALK = """
const box = (one) => {
  const {x, y, width, height} = one.getBoundingClientRect();
  return [x, y, width, height].join();
};
const controls = [...document.querySelectorAll(".controls :is(button, input, select)")]
  .filter((one) => one.checkVisibility());
const count = (stage) => [0, 1].map((seat) => document.querySelector(`${stage} [data-place="${seat}p"] b`).textContent);
const seen = {positions: new Set(), steps: []};
for (let step = 0; step < malice.replay.state.game.steps.length; step += arguments[0]) {
  malice.replay.showStep(step);
  seen.positions.add(controls.map(box).join(" "));
  if (!document.querySelector("#mirror").hidden) {
    const [turn] = document.querySelector("#other-turn").textContent.match(/\\d+/);
    const action = document.querySelector("#other").hash.match(/\\/(\\d+)/)?.[1] ?? -1;
    seen.steps.push([step, Number(action) + 1, Number(turn), ...count("#other-table").map(Number)]);
  }
}
return {...seen, positions: [...seen.positions]};
"""
"""Where the controls are at all steps, and at each the step of the mirror, its turn, and what is left there by seat."""


@pytest.fixture(scope="module")
def league() -> League:
    """Two deals of two bots; the second one was played in one rotation only, as far as this goes."""
    made = League(LABELS, deals=2)
    made.keep(3)  # 0.0.0.0, 0.0.1.0, 0.0.0.1
    return made


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def count_turns(asks: list[RecordedAsk]) -> list[int]:
    """Return, by step, the turn in which it was played: those that had begun before."""
    begun = [sum(isinstance(event, TurnBegins) for event in ask.events) for ask in asks]
    return list(accumulate(begun, initial=0))[:-1]


def open_mirror(browser: Chrome, *keys: str) -> None:
    press(browser, *(keys or "m"))
    wait_until(browser, lambda: find(browser, "#mirror").get_attribute("hidden") is None)


def describe_pair(one: Record, other: Record) -> str:
    winners = [record.entries[record.places.index(1)][0] for record in (one, other)]
    return (
        f"{winners[0]} won both." if winners[0] == winners[1] else f"1 : 1 – each won from seat {one.places.index(1)}."
    )


def test_the_swapped_game_goes_in_step_and_no_control_moves(league: League, browser: Chrome, out: Path) -> None:
    records = {record.key: record for record in league.records()}
    own, twin = records[Key(0, 0, 0, 0)], records[Key(0, 0, 0, 1)]
    (own_turns, _), (twin_turns, twin_asks) = (
        (count_turns(asks), asks) for asks in (list(replay_asks(record)) for record in (own, twin))
    )
    left = list_left(twin, [ask.after for ask in twin_asks])
    replay(browser, out, f"{own.key}/5")
    alone = browser.execute_script(WALK, 110)

    open_mirror(browser)
    walk: Any = browser.execute_script(WALK, 11)

    assert walk["positions"] == alone["positions"]
    assert len(walk["positions"]) == 1
    for step, at, turn, *counts in walk["steps"]:
        assert twin_turns[at] == turn == min(own_turns[step], twin_turns[-1])
        assert counts == list(left[at])
        if step + 1 == len(own_turns) or own_turns[step + 1] > own_turns[step]:
            assert [*twin_turns, turn + 1][at + 1] > turn, "where a turn ends here, it ends there"
    names = browser.find_elements(By.CSS_SELECTOR, "#other-table .seat .name")
    assert {name.text for name in names} == set(LABELS)
    assert find(browser, '#other-table [data-seat="0"] .name').text == LABELS[1]
    assert find(browser, "#pair-result").text == describe_pair(own, twin)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#race .reflected")) == 2


def test_the_mirror_lies_in_the_address_and_closes_by_the_same_key(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/20?mirror=1&view=1")
    open_mirror(browser, "\ue014")  # right
    assert browser.execute_script("return malice.replay.address()") == "#0.0.0.0/21?view=1&mirror=1"
    assert browser.find_elements(By.CSS_SELECTOR, '#other-table [data-place="0h"] .back'), "the same seat sees no more"
    assert "as a spectator sees it" in find(browser, "#race .who").text
    assert find(browser, "#moments-title .spectators").is_displayed()

    find(browser, "#other").click()
    wait_until(browser, lambda: "Game 0.0.0.1 " in find(browser, "#facts").text)
    assert find(browser, "#other").text == "game 0.0.0.0"
    find(browser, ".skip").send_keys("\ue007")  # Enter
    press(browser, "m")
    wait_until(browser, lambda: not find(browser, "#mirror").is_displayed())
    wait_until(browser, lambda: "mirror" not in browser.current_url)
    assert "Game 0.0.0.1 " in find(browser, "#facts").text


PAIRS = """
const make = (key, teams, names, places, empty = false) =>
  ({key, teams, places, void: empty, seats: names.split("").map((name) => ({name, slug: name}))});
const tell = (pair) => malice.describePair(...pair.map((game) => make(...game)));
return arguments[0].map((pair) => tell(pair).replace(/[\u2068\u2069]/g, ""));
"""


def test_what_came_of_a_pair_is_said_in_words(browser: Chrome, out: Path) -> None:
    two, sides, three = [0, 1], [0, 1, 0, 1], [0, 1, 2]
    pairs = {
        "a won both": (("k", two, "ab", [1, 2]), ("l", two, "ba", [2, 1])),
        "1 : 1 – each won from seat 1": (("k", two, "ab", [2, 1]), ("l", two, "ba", [2, 1])),
        "1 : 1 – two draws": (("k", two, "ab", [1, 1]), ("l", two, "ba", [1, 1])),
        "1½ : ½ – a won there, and the other was a draw": (("k", two, "ab", [1, 1]), ("l", two, "ba", [2, 1])),
        "No result of the pair: nobody played game l": (("k", two, "ab", [1, 2]), ("l", two, "ba", [1, 1], True)),
        "a and c won both": (("k", sides, "abcd", [1, 2, 1, 2]), ("l", sides, "cdab", [1, 2, 1, 2])),
        "1 : 1 – each won from seats 0 and 2": (("k", sides, "abcd", [1, 2, 1, 2]), ("l", sides, "bcda", [1, 2, 1, 2])),
        "1 : 1 – a and c won here, d and b won there": (
            ("k", sides, "abcd", [1, 2, 1, 2]),
            ("l", sides, "cdab", [2, 1, 2, 1]),
        ),
        "c won here; b and a shared the first place there": (
            ("k", three, "abc", [2, 3, 1]),
            ("l", three, "bca", [1, 3, 1]),
        ),
    }
    visit(browser, out, "replay.html")

    told = browser.execute_script(PAIRS, list(pairs.values()))

    assert told == list(pairs)


@pytest.mark.whole
def test_a_phone_shows_the_mirror_in_the_place_of_the_table(browser: Chrome, out: Path) -> None:
    as_a_phone(browser)
    replay(browser, out, "0.0.0.1/20")
    alone = browser.execute_script(WALK, 110)

    find(browser, "#swap").click()
    wait_until(browser, lambda: find(browser, "#other-table").is_displayed())

    assert browser.execute_script(WALK, 110)["positions"] == alone["positions"]
    assert not find(browser, "#table").is_displayed()
    assert find(browser, "#swap").get_attribute("aria-pressed") == "true"
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


def test_a_game_whose_other_rotation_is_open_has_no_mirror(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.1.0/5")

    press(browser, "m")

    assert not find(browser, "#swap").is_displayed()
    assert not find(browser, "#mirror").is_displayed()
    visit(browser, out, "replay.html#0.0.1.0/5?mirror=1")
    wait_until(browser, lambda: find(browser, "#message").is_displayed())
    assert "no other game in rotation 1" in find(browser, "#message").text


def test_an_address_that_mirrors_a_game_in_itself_shows_the_game(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0/5?mirror=0")

    assert find(browser, "#replay").is_displayed()
    assert not find(browser, "#mirror").is_displayed()


@pytest.mark.whole
def test_any_game_has_a_mirror_of_each_rotation(browser: Chrome, tmp_path: Path) -> None:
    write_package(BIDDING, tmp_path / "installed")
    with installed(tmp_path / "installed"):
        league = League(("ann", "bob", "cid"), deals=1, rulesets=("bidding",), seats=3)
        site_pages.render(league, tmp_path)
    replay(browser, tmp_path, "0.0.0.1")

    open_mirror(browser)
    first = find(browser, "#other").text
    Select(find(browser, "#rotation")).select_by_value("0")
    wait_until(browser, lambda: find(browser, "#other").text != first)

    assert (first, find(browser, "#other").text) == ("game 0.0.0.2", "game 0.0.0.0")
    press(browser, "\ue010")  # End
    last = current(browser)
    turns = browser.execute_script("return malice.replay.state.game.steps.map(({turn}) => turn)")
    shown, most = (
        find(browser, "#other-turn").text.removeprefix("· ").split(" · ")[0].removeprefix("turn ").split(" of ")
    )
    assert int(shown) == min(turns[last], int(most))
    assert [name.text for name in browser.find_elements(By.CSS_SELECTOR, "#other-table th")][4:] == [
        "ann",
        "bob",
        "cid",
    ]
    press(browser, "m")
    wait_until(browser, lambda: not find(browser, "#mirror").is_displayed())
