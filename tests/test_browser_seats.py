"""Replays of more than the plain game for two: partners, many seats, hidden cards, passes, counts, redeals, series."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from malice import site_pages
from malice.referee import rulesets as ruleset
from malice.referee.games.spite.messages import Count, Event, Pass, Shuffled, View
from malice.referee.games.spite.parameters import Parameters
from malice.referee.records import Key, Record
from malice.referee.replay import find_rules, replay_asks
from malice.referee.rulesets import Ruleset
from tests.browser_window import as_a_phone, at_a_desk, find, press, replay, visit, wait_until
from tests.samples import sample
from tests.site_league import Chooser, League, play

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDEST = """
const box = document.querySelector("#table");
const shown = [...box.querySelectorAll(".card, .caption")].filter((one) => one.checkVisibility());
const inside = shown.map((one) => one.getBoundingClientRect());
const frame = box.getBoundingClientRect();
return Math.max(...inside.map((one) => one.right - frame.right), ...inside.map((one) => frame.left - one.left));
"""
"""By how much the content of the table sticks out of it, in pixels."""

HIDDEN = """
const box = (pile) => document.querySelector(`[data-place="${pile}"]`).getBoundingClientRect();
return [...document.querySelectorAll(".seat")].every((seat) => {
  const number = seat.dataset.seat;
  const side = box(`${number}s0`);
  const hand = [...seat.querySelectorAll(".hand .card")].map((card) => card.getBoundingClientRect());
  return hand.every((card) => card.right <= side.left + 1 || card.top >= side.bottom - 1 || card.left >= side.right);
});
"""
"""Whether no hand lies on its seat's first side stack."""


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


def league(folder: Path, name: str | Ruleset, seats: int = 2) -> League:
    """Render a league in which every seat has a bot of its own."""
    made = League(tuple(f"bot{seat}" for seat in range(seats)), deals=1, rulesets=(name,), seats=seats)
    site_pages.render(made, folder)
    return made


Shown = Callable[[str, int], tuple[League, Path]]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Give the league of a ruleset with so many seats and its folder, rendered once."""

    @cache
    def render(name: str, seats: int) -> tuple[League, Path]:
        folder = tmp_path_factory.mktemp(name)
        return league(folder, name, seats), folder

    return render


def one_game(folder: Path, name: str | Ruleset, choose: Chooser) -> Record:
    """Render a league of one game, in which both bots choose in the same way."""
    told = ruleset.load_ruleset(name) if isinstance(name, str) else name
    record = play(told.rules, ("bot0", "bot1"), Key(0, 0, 0, 0), choose=choose)
    made = League(("bot0", "bot1"), deals=0, rulesets=(name,))
    made.add(0, told.name, record)
    site_pages.render(made, folder)
    return record


def first(record: Record, *events: type[Event]) -> int:
    """Return the number of the first action with all these kinds of events."""
    return next(
        ask.first for ask in replay_asks(record) if ask.moves and set(events) <= {type(event) for event in ask.events}
    )


def last_view(record: Record) -> tuple[View, int]:
    """Return what the last seat to act was shown before the last action, and the number of that action."""
    *_, last = replay_asks(record)
    [(seat, _)] = last.moves
    view = find_rules(record).view(last.before, seat)
    assert isinstance(view, View)
    return view, last.first


def idle(legal: tuple[str, ...], label: str, random: Random) -> str:
    """Ask for the counts, pass, or discard: whatever can be had of it, in this order."""
    wanted = [action for action in legal if action in ("count", "pass")]
    return wanted[-1] if wanted else legal[-1]


@pytest.mark.parametrize(("name", "seats"), [pytest.param("partners-4", 4, marks=pytest.mark.whole), ("partners-6", 6)])
def test_partners_are_shown_as_sides(browser: Chrome, shown: Shown, name: str, seats: int) -> None:
    made, folder = shown(name, seats)
    record = next(made.records())
    replay(browser, folder, str(record.key))

    press(browser, "\ue010")  # End

    title = find(browser, "#players").text
    half = seats // 2
    assert title == " v ".join(f"bot{seat} + bot{seat + half}" for seat in range(half))
    for seat in range(seats):
        box = find(browser, f'[data-seat="{seat}"]')
        assert f"seat{seat % half}" in (box.get_attribute("class") or "").split()
        assert f"team {seat % half}" in box.text
    winner = record.places.index(1)
    ending = find(browser, "#ending").text.replace("\u2068", "").replace("\u2069", "")
    assert ending.startswith(f"Team {winner}, bot{winner} and bot{winner + half}, wins")
    tags = [tag.text for tag in browser.find_elements(By.CSS_SELECTOR, ".tag.place1")]
    assert len(tags) == 2
    assert all(tag.startswith("winner") for tag in tags)


@pytest.mark.parametrize("seats", [pytest.param(4, marks=pytest.mark.whole), 6])
def test_partners_sit_across_the_table(browser: Chrome, shown: Shown, seats: int) -> None:
    _, folder = shown(f"partners-{seats}", seats)
    replay(browser, folder, "0.0.0.0")

    above = find(browser, ".above").find_elements(By.CSS_SELECTOR, "[data-seat]")
    below = find(browser, ".below").find_elements(By.CSS_SELECTOR, "[data-seat]")

    up, down = ([int(box.get_attribute("data-seat") or -1) for box in row] for row in (above, below))
    assert [(seat + seats // 2) % seats for seat in down] == list(reversed(up))


@pytest.mark.parametrize("phone", sample([True, False], 2))
@pytest.mark.parametrize(("name", "seats"), [pytest.param("partners-6", 6, marks=pytest.mark.whole), ("multi", 8)])
def test_every_table_fits_its_window(browser: Chrome, shown: Shown, name: str, seats: int, phone: bool) -> None:
    made, folder = shown(name, seats)
    record = next(made.records())
    if phone:
        as_a_phone(browser)

    replay(browser, folder, f"{record.key}/{len(record.actions) // 2}")

    wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert browser.execute_script(WIDEST) <= 0
    assert browser.execute_script(HIDDEN)


@pytest.mark.whole
def test_a_seat_sees_only_the_tops_of_squared_side_stacks(browser: Chrome, tmp_path: Path) -> None:
    rules = msgspec.structs.replace(Parameters(), side_visible="top")
    made = league(tmp_path, Ruleset("squared", "spite", "Squared side stacks", "made up", rules))
    record = next(made.records())
    view, number = last_view(record)
    assert max(len(pile) for seat in view.seats for pile in seat.side) > 2
    replay(browser, tmp_path, f"{record.key}/{number - 1}")
    assert not browser.find_elements(By.CSS_SELECTOR, ".side .back")

    Select(find(browser, "#view")).select_by_value(str(view.seat))

    for owner, seat in enumerate(view.seats):
        for index, pile in enumerate(seat.side):
            cards = browser.find_elements(By.CSS_SELECTOR, f'[data-place="{owner}s{index}"] .card:not(.empty)')
            assert [card.get_attribute("data-card") or "??" for card in cards] == list(pile)


def ask(legal: tuple[str, ...], label: str, random: Random) -> str:
    """Ask for the counts whenever that is possible, and pass on."""
    return "count" if "count" in legal else legal[-1]


def counts(browser: Chrome) -> list[str]:
    """Return what the page says of the pay-off piles."""
    captions = '[data-place$="p"] .caption b'
    return [caption.text for caption in browser.find_elements(By.CSS_SELECTOR, captions)]


@pytest.mark.whole
def test_counts_are_seen_by_all_seats_from_when_they_were_asked_for_until_a_pay_off_card_moves(
    browser: Chrome, tmp_path: Path
) -> None:
    def payoff_first(legal: tuple[str, ...], label: str, random: Random) -> str:
        payoff = [action for action in legal if action.startswith("p-")]
        return "count" if "count" in legal else payoff[0] if payoff else legal[0]

    record = one_game(tmp_path, "catsatcards", payoff_first)
    asked = first(record, Count)
    moved = next(number for number, (_, action) in enumerate(record.actions) if action.startswith("p-"))

    for seat in (0, 1):
        replay(browser, tmp_path, f"{record.key}/{asked}")
        Select(find(browser, "#view")).select_by_value(str(seat))
        assert counts(browser) == ["26", "26"]
        replay(browser, tmp_path, f"{record.key}/{moved - 1}")
        Select(find(browser, "#view")).select_by_value(str(seat))
        assert counts(browser) == ["26", "26"]
        press(browser, "\ue014")  # right: the pay-off card
        assert counts(browser) == ["?", "?"]


def test_counts_can_be_seen_by_the_seat_that_asks_alone_until_its_turn_ends(browser: Chrome, tmp_path: Path) -> None:
    rules = msgspec.structs.replace(ruleset.load_ruleset("catsatcards").rules, payoff_count="on_request_own")
    record = one_game(tmp_path, Ruleset("alone", "spite", "Counts for who asks", "made up", rules), ask)
    number = first(record, Count)
    asker = record.actions[number][0]

    replay(browser, tmp_path, f"{record.key}/{number}")
    assert counts(browser) == ["26", "26"]
    assert "asks how many pay-off cards are left" in find(browser, "#live").text
    Select(find(browser, "#view")).select_by_value(str(asker))
    assert counts(browser) == ["26", "26"]
    Select(find(browser, "#view")).select_by_value(str(1 - asker))
    assert counts(browser) == ["?", "?"]
    Select(find(browser, "#view")).select_by_value(str(asker))
    press(browser, "\ue015")  # down: the next turn
    assert counts(browser) == ["?", "?"]


def test_a_pass_and_a_redeal_are_told_in_a_few_words(browser: Chrome, tmp_path: Path) -> None:
    record = one_game(tmp_path, "book", idle)

    replay(browser, tmp_path, f"{record.key}/{first(record, Pass)}")
    passed = find(browser, "#live").text
    replay(browser, tmp_path, f"{record.key}/{first(record, Pass, Shuffled)}")
    redealt = find(browser, "#live").text

    assert "ends the turn without a discard" in passed
    assert redealt.count("shuffled") == 1
    assert "the redeal: all cards but the pay-off piles are shuffled into the stock" in redealt
    assert redealt.count("draws 5 cards") == 2
    assert "complete" not in find(browser, ".centre").text


def test_a_verdict_is_told_in_words(browser: Chrome, tmp_path: Path) -> None:
    made = League(("bot0", "bot1", "bot2"), deals=1, rulesets=("multi-3",), seats=3, faulty=1)
    site_pages.render(made, tmp_path)
    record = next(made.records())
    [fault] = record.faults

    replay(browser, tmp_path, f"{record.key}/!{fault.seat}")

    assert f"is out of the game: {fault.code}" in find(browser, "#live").text
    assert f"out: {fault.code}" in find(browser, f'[data-seat="{fault.seat}"]').text


@pytest.mark.parametrize(("name", "seats"), [pytest.param("skipbo", 2, marks=pytest.mark.whole), ("skipbo", 4)])
def test_skipbo_cards_have_numbers_and_stars(browser: Chrome, tmp_path: Path, name: str, seats: int) -> None:
    made = league(tmp_path, name, seats)
    record = next(made.records())
    number = next(number for number, (_, action) in enumerate(record.actions) if action.startswith("hWX-c"))

    replay(browser, tmp_path, f"{record.key}/{number}")

    assert "plays a wild card as a" in find(browser, "#live").text
    assert find(browser, '.slot [data-card="WX"] .as').text.startswith("= ")
    assert not browser.find_elements(By.CSS_SELECTOR, ".face .court")


def test_the_replay_leads_to_the_rules(browser: Chrome, tmp_path: Path) -> None:
    league(tmp_path, "skipbo-short")
    replay(browser, tmp_path, "0.0.0.0")

    find(browser, "#facts a").click()

    wait_until(browser, lambda: browser.current_url.endswith("rules/skipbo-short.html"))
    assert find(browser, "h1").text.endswith("skipbo-short")


def test_the_rules_can_be_cut_down_to_what_differs(browser: Chrome, tmp_path: Path) -> None:
    league(tmp_path, "skipbo-short")
    visit(browser, tmp_path, "rules/skipbo-short.html")
    same = find(browser, ".same")
    assert same.is_displayed()

    find(browser, "#only").click()

    assert not same.is_displayed()
    assert find(browser, ".differs").is_displayed()


def test_the_replay_tells_where_the_series_stands(browser: Chrome, tmp_path: Path) -> None:
    made = league(tmp_path, "g4a")
    record = next(made.records())
    points = " – ".join(map(str, record.scores))

    replay(browser, tmp_path, str(record.key))
    press(browser, "\ue010")  # End

    assert f"after it series 0: {points}" in find(browser, "#facts").text
    assert f"Series 0: {points}." in find(browser, "#ending").text
