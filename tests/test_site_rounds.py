"""What a site shows of formats that are played in rounds: a table and rounds of a Swiss, the bracket of a knockout."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from malice import site_pages
from malice.referee.records import Key
from malice.referee.rulesets import load_ruleset
from malice.site_pages import text
from malice.site_pages.rounds import Bracket, Rounds, make_rounds_section
from malice.tournaments.league.formats.decisions import format_points
from malice.tournaments.league.formats.swiss import rank_swiss
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.standings import APART
from malice.tournaments.terminal.results import format_standings
from tests.browser_window import as_a_phone, at_a_desk, visit
from tests.houses import House
from tests.rounds import draw, make_knockout, make_swiss, win_by_name
from tests.site_files import Page
from tests.site_league import HOSTILE, LABELS, League, play

browser = pytest.fixture(at_a_desk)
"""The browser, at the size of a desk; afterwards its console must be empty."""


def win_by_order(labels: tuple[str, ...]) -> tuple[int, ...]:
    """Let whoever comes first in the file win."""
    return tuple(1 if label == min(labels, key=LABELS.index) else 2 for label in labels)


def play_all(house: House) -> House:
    while not house.tournament.complete or len(house.tournament.parts) < 3:
        house.finish(house.create(), places=win_by_order)
    return house


def render(house: House, folder: Path) -> Page:
    """Render the site of a league that follows a house; return its front page."""
    league = League(LABELS, deals=1)
    league.follow(house.look())
    site_pages.render(league, folder)
    return Page(folder / "index.html")


def show_rounds(house: House) -> dict[str, list[str]]:
    """Return what is told of each entry round by round."""
    rounds = make_rounds_section(house.look()).rounds
    assert isinstance(rounds, Rounds)
    return {
        row.bot.label: [
            "-" if cell is None else f"{cell.opponent.label if cell.opponent else ''} {cell.text}".strip()
            for cell in row.cells
        ]
        for row in rounds.rows
    }


def show_bracket(house: House) -> list[tuple[str, list[str]]]:
    """Return the columns, each tie as its sides and its note; the winner has a star."""
    bracket = make_rounds_section(house.look()).bracket
    assert isinstance(bracket, Bracket)
    return [
        (
            column.title,
            [
                " ".join(
                    [*(f"{side.seed}{side.bot.label}{side.score}{'*' * side.won}" for side in tie.sides), tie.note]
                ).strip()
                for tie in column.ties
            ],
        )
        for column in bracket.columns
    ]


# Swiss


def test_the_ranking_of_a_swiss_is_in_the_order_of_its_points(tmp_path: Path) -> None:
    house = play_all(make_swiss(LABELS, rounds=3))

    page = render(house, tmp_path)

    rows = page.rows
    head = next(row for row in rows if "Buchholz" in row)
    ranked = rows[rows.index(head) + 1 :][: len(LABELS)]
    assert head[:4] == ["Rank", "Bot", "Points", "Buchholz"]
    assert [row[1:4] for row in ranked] == [
        [text.format_label(row.label), format_points(row.points), format_points(row.buchholz)]
        for row in rank_swiss(house.look())
    ]
    assert [row[0] for row in ranked][:2] == ["1", "=2"]
    assert "The order is by match points" in page.words


def test_the_rounds_link_opponents_and_name_byes_and_hostile_names_stay_text(tmp_path: Path) -> None:
    page = render(play_all(make_swiss(LABELS, rounds=3)), tmp_path)

    head = next(row for row in page.rows if "Round 1" in row)
    own = page.rows[page.rows.index(head) + 1 :][: len(LABELS)]
    assert head == ["No.", "Bot", "Points", "Round 1", "Round 2", "Round 3"]
    assert own[0][:3] == ["1", "greedy", "3"]
    assert sum(cell == "bye 1" for row in own for cell in row) == 3
    name = text.format_label(HOSTILE)
    met = [cell.removeprefix(name) for row in own for cell in row[3:] if cell.startswith(name)]
    assert met
    assert set(met) <= {"won 2–0", "lost 0–2"}
    assert "img" not in page.tags
    # The ranking, the crosstable, the list and the rounds; and wherever an opponent met it.
    assert page.links.count(f"bots/{text.make_slug(HOSTILE)}.html") == 4 + len(met)


def test_a_round_that_is_not_over_says_who_meets_whom() -> None:
    house = make_swiss("abcde", rounds=3)
    house.finish(house.create(), places=draw)
    house.create()

    rounds = make_rounds_section(house.look()).rounds
    assert rounds is not None
    assert rounds.titles == ("Round 1", "Round 2, not over")
    shown = {label: cells[1] for label, cells in show_rounds(house).items()}
    assert sorted(shown.values()).count("bye") == 1
    met = {label: cell.removesuffix(" open") for label, cell in shown.items() if cell != "bye"}
    assert all(met[other] == label for label, other in met.items())


def test_matches_that_absence_or_a_disqualification_decided_say_so() -> None:
    house = make_swiss("abcd", rounds=2)
    part = house.create()
    house.change_state("a", "withdrawn")
    house.finish(part, places=win_by_name)
    house.change_state("b", "disqualified")

    assert show_rounds(house) == {
        "c": ["a won by default"],
        "d": ["bye (b disqualified) 1"],
        "a": ["c lost by default"],
        "b": ["d lost by default"],
    }


def test_after_one_round_pairs_stand_apart_and_points_rank_all_the_same(tmp_path: Path) -> None:
    house = make_swiss(LABELS[:4], rounds=2)
    house.finish(house.create(), places=win_by_order)
    league = League(LABELS[:4], deals=0)
    for number, (pair, rotation) in enumerate(product((0, 1), (0, 1))):
        own = LABELS[2 * pair : 2 * pair + 2]
        seated = own[rotation:] + own[:rotation]
        league.add(number, "standard", play(load_ruleset("standard").rules, seated, Key(0, 5 * pair, 0, rotation)))
    league.follow(house.look())

    site_pages.render(league, tmp_path)

    page = Page(tmp_path / "index.html")
    head = next(row for row in page.rows if "Buchholz" in row)
    ranked = page.rows[page.rows.index(head) + 1 :][:4]
    assert head[:4] == ["Rank", "Group", "Bot", "Points"]
    assert [(row[0], row[3]) for row in ranked] == [("=1", "1"), ("=1", "1"), ("=3", "0"), ("=3", "0")]
    assert {len(row) for row in ranked} == {len(head)}
    assert "of 4" in Page(tmp_path / "bots/greedy.html").words
    shown = list(format_standings(compute_league_standings(league.read())))
    assert shown[1] == APART
    assert shown[2].split()[:4] == ["rank", "points", "buchholz", "bot"]


# Knockout


def test_a_bracket_has_rounds_byes_scores_a_final_and_third_place() -> None:
    house = make_knockout("abcdef")
    for _ in range(3):
        house.finish(house.create(), places=win_by_name)

    assert show_bracket(house) == [
        ("quarter-finals", ["1a* no opponent", "4d2* 5e0", "2b* no opponent", "3c2* 6f0"]),
        ("semi-finals", ["1a2* 4d0", "2b2* 3c0"]),
        ("final", ["1a2* 2b0"]),
        ("third place", ["3c2* 4d0"]),
    ]
    bracket = make_rounds_section(house.look()).bracket
    assert bracket is not None
    assert [column.leads for column in bracket.columns] == [True, True, False, False]
    assert bracket.winner is not None
    assert bracket.winner.label == "a"


def test_play_offs_follow_the_match_until_the_higher_seed_goes_on() -> None:
    house = make_knockout("abcd")
    house.finish(house.create(), places=lambda labels: draw(labels) if "a" in labels else win_by_name(labels))
    assert show_bracket(house) == [("semi-finals", ["1a1 4d1 a play-off decides", "2b2* 3c0"])]

    house.finish(house.create(), places=draw)
    house.finish(house.create(), places=draw)
    house.finish(house.create(), places=draw)

    semi_finals, *last = show_bracket(house)
    assert semi_finals[1][0] == "1a1* 4d1 play-offs 5–5, 5–5, 5–5; tied to the end: the higher seed goes on"
    assert last == [("final", ["1a 2b not over"]), ("third place", ["3c 4d not over"])]


def test_whoever_does_not_play_loses_by_default() -> None:
    house = make_knockout("abcd")
    part = house.create()
    for label in "abc":
        house.change_state(label, "withdrawn")
    house.finish(part)

    assert show_bracket(house) == [
        ("semi-finals", ["1a0 4d0* won by default", "2b0 3c0 nobody played to the end"]),
        ("final", ["4d* no opponent"]),
        ("third place", ["1a* no opponent"]),
    ]


def test_the_page_of_a_knockout_has_its_bracket_and_hostile_names_stay_text(tmp_path: Path) -> None:
    house = make_knockout(LABELS)
    for _ in range(3):
        house.finish(house.create(), places=win_by_order)

    page = render(house, tmp_path)

    words = " ".join(page.words.split())
    assert "greedy won the knockout." in words
    assert "The order is that of the bracket." in words
    assert text.format_label(HOSTILE) in words.partition("Ranking")[0]
    assert "img" not in page.tags
    assert [row for row in page.rows if len(row) == 3][-2:] == [["3", "greedy#2 ✓", "2"], ["4", "naïve Ünïcode", "0"]]
    assert "Buchholz" not in words


def test_a_round_robin_has_neither_rounds_nor_a_bracket(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:3], deals=1), tmp_path)

    page = Page(tmp_path / "index.html")
    assert {"rounds", "bracket"}.isdisjoint(page.ids)
    assert "The order is" not in page.words


@pytest.mark.parametrize("make", [make_swiss, make_knockout])
def test_nothing_is_shown_before_the_first_round(make: type[House], tmp_path: Path) -> None:
    page = render(make(LABELS), tmp_path)

    assert {"rounds", "bracket"}.isdisjoint(page.ids)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("make", [make_swiss, make_knockout])
def test_on_a_phone_rounds_scroll_inside_and_columns_lie_below_one_another(
    make: type[House], browser: Chrome, tmp_path: Path
) -> None:
    house = make(LABELS)
    for _ in range(3):
        house.finish(house.create(), places=win_by_order)
    render(house, tmp_path)

    def list_columns() -> set[int]:
        return {column.rect["x"] for column in browser.find_elements(By.CSS_SELECTOR, ".column")}

    columns = 4 if make is make_knockout else 0
    visit(browser, tmp_path, "index.html")
    assert len(list_columns()) == columns
    as_a_phone(browser)
    visit(browser, tmp_path, "index.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    assert len(list_columns()) == min(1, columns)
