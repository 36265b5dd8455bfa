"""The race under the slider of a replay, the key moments, and the cards of the seats at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.protocol.messages import ClockRules
from malice.referee.clock import Clock
from malice.referee.records import Record
from malice.referee.replay import find_rules, replay_asks
from malice.tournaments.league.race import find_leads, find_turn, list_left
from tests.browser_window import as_a_phone, at_a_desk, current, find, press, replay, visit, wait_until
from tests.samples import sample
from tests.site_league import League

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RACE = """
const done = arguments[1];
malice.find(arguments[0]).then((found) => {
  const game = malice.read(found.shard, found.row, found.bots);
  const race = malice.measureRace(game, malice.follow(game, null));
  const sides = game.teams.map((_, own) => race.sides.findIndex(({seats}) => seats.includes(own)));
  done(sides.map((side) => race.left.map((left) => left[side])));
});
"""
"""By seat: what was left after each step."""
ENDS = """
const lines = [...document.querySelectorAll("#race .line:not(.bank)")];
return [...document.querySelectorAll("#race .end")].map((label) => {
  const text = label.getBoundingClientRect();
  const line = lines[Number(label.textContent)];
  const { x, y } = line.getPointAtLength(line.getTotalLength()).matrixTransform(line.getScreenCTM());
  return [label.textContent, (text.top + text.bottom) / 2 - y, text.left - x];
});
"""
"""The labels of lines: how far below the end of its line each lies, and how far beyond it."""


@pytest.fixture
def browser(chromium: Chrome) -> Iterator[Chrome]:
    """The browser, at the size of a desk; afterwards its console must be empty."""
    yield from at_a_desk(chromium)


@pytest.fixture(scope="module")
def league() -> League:
    return League(("bot0", "bot1", "bot2"), deals=2, faulty=4)


BANKS = """
const steps = arguments[0].map(([seat, turn, micros]) => ({turn, moves: [{seat, action: "x", micros, cpu: null}]}));
return malice.measureBanks({clock: [1000, 50], seats: [{}, {}], steps: [{turn: 0, moves: []}, ...steps]});
"""


LEADS = """
malice.families.tried = {race: (table) => table, margin: () => 2};
const seats = [{name: "one"}, {name: "two"}];
const steps = arguments[0].map(() => ({moves: [], events: []}));
const game = {family: "tried", seats, teams: [0, 1], steps};
const {taken, changes} = malice.measureRace(game, {steps, tables: arguments[0]});
return taken === null ? [] : [taken, ...changes.map(({step}) => step)];
"""
"""The steps at which somebody takes the lead, in a game where a lead of two counts."""
OWED = """
malice.families.tried = {race: (table) => table, value: (left) => -left, unit: () => "points"};
const steps = [{moves: [], events: []}];
const game = {family: "tried", seats: [{name: "one"}, {name: "two"}], teams: [0, 1], steps};
return malice.gatherMoments(game, {steps, tables: [[18, 20]]})[0].words;
"""
"""What a key moment says of a lead where both sides have fewer than 0 points."""
WORDS = """
const moves = [[0, "turn"], [1, "wait"]].map(([seat, action]) => ({seat, action}));
const words = [[`${malice.quote("one")} turns a card`]];
return malice.describeStep({seats: [{name: "one"}, {name: "two"}]}, {steps: [{moves}], words}, 0);
"""


def list_moments(browser: Chrome) -> list[int]:
    links = browser.find_elements(By.CSS_SELECTOR, "#moments a")
    return [int(link.get_attribute("data-moment") or -1) for link in links]


def decided(league: League) -> Record:
    return next(record for record in league.records() if not record.faults and len(record.actions) > 100)


@pytest.mark.whole
def test_the_race_seeks_and_shows_where_the_game_stands(league: League, browser: Chrome, out: Path) -> None:
    record = decided(league)
    replay(browser, out, str(record.key))
    last = int(find(browser, "#slider").get_attribute("max") or 0)
    plot = find(browser, "#race .plot")
    drawing = find(browser, "#race .plot > svg")
    width = plot.size["width"]

    ActionChains(browser).move_to_element_with_offset(plot, 0, 0).click().perform()
    middle = current(browser)
    ActionChains(browser).click_and_hold().move_by_offset(width // 4, 0).release().perform()

    assert abs(middle - last / 2) <= 1 + last / width
    assert abs(current(browser) - last * 3 / 4) <= 1 + last / width
    assert find(browser, "#race .plot > svg") == drawing, "drawn once"
    ask = list(replay_asks(record))[current(browser)]
    labels = sorted(browser.execute_script(ENDS))
    assert [seat for seat, _, _ in labels] == ["0", "1"]
    assert all(abs(gap) <= 10 and beyond >= 0 for _, gap, beyond in labels), "where their lines end"
    left = [int(count.text) for count in browser.find_elements(By.CSS_SELECTOR, "#race .now b")]
    assert left == list(list_left(record, [ask.after])[0])
    cursor, box = find(browser, "#race .cursor").rect, plot.rect
    assert abs(cursor["x"] - box["x"] - box["width"] * current(browser) / last) <= 2


def test_a_link_to_the_turn_opens_where_the_front_page_says_the_game_turned(
    league: League, browser: Chrome, out: Path
) -> None:
    visit(browser, out, "bots/bot0.html")
    links = browser.find_elements(By.CSS_SELECTOR, ".special a[href*='replay.html']")
    assert {str(link.get_attribute("href")).rpartition("/")[2] for link in links[:-1]} == {"turn"}
    record = decided(league)
    turn = find_turn(find_leads(list_left(record, [ask.after for ask in replay_asks(record)])), (0, 1))

    replay(browser, out, f"{record.key}/turn")

    assert turn is not None
    assert current(browser) == turn.action + 1


def test_keys_and_links_lead_to_the_key_moments(league: League, browser: Chrome, out: Path) -> None:
    record = decided(league)
    replay(browser, out, str(record.key))
    moments = list_moments(browser)
    asks = [ask.after for ask in replay_asks(record)]
    turn = find_turn(find_leads(list_left(record, asks)), find_rules(record).teams)

    press(browser, "]", "]")
    second = current(browser)
    press(browser, "[")
    first = current(browser)
    find(browser, "#moments li:last-child a").click()
    wait_until(browser, lambda: current(browser) == moments[-1])

    assert moments == sorted(moments)
    later = sorted(set(moments))
    assert [first, second] == later[:2]
    assert find(browser, "#moments [aria-current]").get_attribute("data-moment") == str(moments[-1])
    assert turn is not None
    assert "takes the first lead" in find(browser, "#moments .lead").text
    good = [link for link in browser.find_elements(By.CSS_SELECTOR, "#moments .lead") if "for good" in link.text]
    assert [int(link.get_attribute("data-moment") or 0) for link in good] == [turn.action + 1]
    assert browser.find_elements(By.CSS_SELECTOR, "#moments .think")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#race .tick")) == len(moments)


def test_the_page_keeps_the_clocks_as_the_referee_does(browser: Chrome, out: Path) -> None:
    moves = [(0, 1, 300_000), (0, 1, 10_000), (1, 2, 20_000), (0, 3, 500_000), (1, 4, 999_000), (0, 5, 900_000)]
    clocks, turns = [Clock(ClockRules(bank_ms=1000, increment_ms=50)) for _ in range(2)], [0, 0]
    expected: list[list[list[float]]] = [[[0, 1]], [[0, 1]]]
    for number, (seat, turn, micros) in enumerate(moves):
        if turns[seat] != turn:
            clocks[seat].begin_turn()
        turns[seat] = turn
        clocks[seat].spend(micros * 1000, 0)
        expected[seat].append([number + 1, (clocks[seat].to_message().bank_ms or 0) / 1000])
    visit(browser, out, "replay.html")

    banks = browser.execute_script(BANKS, moves)

    assert [[[step, round(share, 4)] for step, share in points] for points in banks] == expected


def test_a_verdict_is_a_key_moment(league: League, browser: Chrome, out: Path) -> None:
    record = next(record for record in league.records() if record.faults)

    replay(browser, out, str(record.key))

    assert record.faults[0].action + 1 in list_moments(browser)
    assert record.faults[0].code in find(browser, "#moments .fault").text


def test_without_a_key_the_game_of_the_front_page_opens_where_it_turned(browser: Chrome, out: Path) -> None:
    visit(browser, out, "index.html")
    link = str(find(browser, "a[href^='replay.html#']").get_attribute("href"))
    key, _, action = link.partition("#")[2].partition("/")
    visit(browser, out, "replay.html")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())

    assert f"Game {key} " in find(browser, "#facts").text
    assert browser.execute_script("return malice.replay.address()") == f"#{key}/{action}"


def test_the_cards_at_the_end_count_what_the_seats_did(league: League, browser: Chrome, out: Path) -> None:
    record = decided(league)
    replay(browser, out, str(record.key))
    assert not browser.find_elements(By.CSS_SELECTOR, ".summary")

    press(browser, Keys.END)

    events = [event for ask in replay_asks(record) for event in ask.events]
    for seat, card in enumerate(browser.find_elements(By.CSS_SELECTOR, ".summary article")):
        told = [term.text for term in card.find_elements(By.CSS_SELECTOR, "dt")]
        values = dict(zip(told, [value.text for value in card.find_elements(By.CSS_SELECTOR, "dd")], strict=True))
        played = sum(1 for owner, action in record.actions if owner == seat and action.startswith("p-c"))
        assert values["pay-off cards played"] == str(played)
        assert values["actions"] == str(sum(1 for owner, _ in record.actions if owner == seat))
        drawn = [event.cards for event in events if getattr(event, "seat", None) == seat and hasattr(event, "cards")]
        assert values["cards drawn"] == str(sum(map(len, drawn)))


@pytest.mark.parametrize(("name", "seats"), sample([("catsatcards", 2), ("multi", 8), ("partners-4", 4)], 3))
def test_the_script_tells_the_same_race_as_the_engine(browser: Chrome, tmp_path: Path, name: str, seats: int) -> None:
    made = League(tuple(f"bot{seat}" for seat in range(seats)), deals=1, rulesets=(name,), seats=seats)
    site_pages.render(made, tmp_path)
    record = next(made.records())
    as_a_phone(browser)
    replay(browser, tmp_path, str(record.key))

    by_seat = browser.execute_async_script(RACE, str(record.key))

    left = list_left(record, [ask.after for ask in replay_asks(record)])
    assert [list(each) for each in zip(*by_seat, strict=True)] == [list(each) for each in left]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


def test_a_lead_that_comes_and_goes_is_none(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")
    level, ahead, behind, lost = [10, 10], [9, 10], [11, 10], [12, 10]

    assert browser.execute_script(LEADS, [level, ahead, behind, level] * 25 + [level]) == []
    assert browser.execute_script(LEADS, [*[ahead] * 5, *[behind] * 2, *[ahead] * 93]) == [0]
    assert browser.execute_script(LEADS, [*[ahead] * 5, lost, *[ahead] * 93, behind]) == [0, 5, 6, 99]


def test_a_sentence_tells_of_what_was_done_at_once_only_once(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")

    sentence = browser.execute_script(WORDS)

    assert sentence.replace("\u2068", "").replace("\u2069", "") == "two: wait; one turns a card."


def test_a_moment_says_what_the_lead_is_counted_in(browser: Chrome, out: Path) -> None:
    replay(browser, out, "0.0.0.0")

    sentence = browser.execute_script(OWED)

    assert sentence.replace("\u2068", "").replace("\u2069", "") == "one takes the lead for good; points: −18, two −20"
