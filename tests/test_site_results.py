"""What the site makes of results: pairs of two bots, partners, series."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from malice import site_pages
from malice.referee import rulesets as ruleset
from malice.referee.games.spite.parameters import Parameters
from malice.referee.records import Key
from malice.referee.rulesets import Ruleset
from malice.site_pages import text
from malice.site_pages.deals import Deals
from malice.site_pages.rankings import SortableCell, make_name, make_ranking
from malice.site_pages.series import SeriesRow, describe_standing, make_series_rows, make_team_rows
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.series import Score, SeriesScore
from malice.tournaments.league.standings import State, compute_standings
from malice.tournaments.ratings.comparison import compare_head_to_head, measure_advantage
from tests.site_files import Page, data
from tests.site_league import LABELS, League, play
from tests.summaries import game


def deals(*games: GameSummary) -> Deals:
    found = Deals()
    for each in games:
        found.add(each)
    return found


def test_the_games_of_a_deal_make_a_pair_for_either_bot() -> None:
    found = deals(
        game(("a", "b"), (1, 2), Key(0, 0, 0, 0)),
        game(("a", "b"), (1, 1), Key(0, 0, 1, 0)),
        game(("b", "a"), (1, 2), Key(0, 0, 0, 1)),
        game(("b", "a"), (2, 1), Key(0, 0, 1, 1)),
    )

    assert found.count_pairs("standard", "a", "b") == {((0.5, 1.0), 1), ((1.0, 0.0), 1)}
    assert found.count_pairs("standard", "b", "a") == {((0.0, 1.0), 1), ((0.5, 0.0), 1)}
    assert found.count_pairs("skipbo", "a", "b") == found.count_pairs("standard", "a", "c") == frozenset()


def test_half_a_pair_and_a_void_game_make_none() -> None:
    found = deals(
        game(("a", "b"), (1, 2), Key(0, 0, 0, 0)),
        game(("a", "b"), (1, 1), Key(0, 0, 1, 0), reason="void"),
        game(("b", "a"), (1, 2), Key(0, 0, 1, 1)),
    )

    assert found.count_pairs("standard", "a", "b") == frozenset()


def test_partners_win_draw_and_lose_together() -> None:
    teams = (0, 1, 0, 1)
    seats = ("a", "b", "c", "d")
    games = [
        game(seats, (1, 2, 1, 2), Key(0, 0, 0, 0), teams),
        game(seats, (1, 1, 1, 1), Key(0, 0, 0, 1), teams),
        game(seats, (2, 1, 2, 1), Key(0, 0, 0, 2), teams, reason="void"),
        game(("b", "c", "d", "a"), (2, 1, 2, 1), Key(0, 0, 0, 3), teams),
    ]

    found = deals(*games)

    assert found.count_team_results(("standard", 4)) == {("a", "c"): (2, 1, 0), ("b", "d"): (0, 1, 2)}
    assert deals(*games[:3]).count_team_results(("standard", 4)) == {}, "the deal has not been played in every rotation"
    assert [row.score.text for row in make_team_rows(found, ("standard", 4), "abcd")] == ["83.3 %", "16.7 %"]


def test_sharing_the_first_place_is_a_draw_and_the_third_side_loses() -> None:
    teams = (0, 1, 2, 0, 1, 2)
    games = [game(tuple("abcdef"), (1, 1, 3, 1, 1, 3), Key(0, 0, 0, rotation), teams) for rotation in range(6)]

    found = deals(*games).count_team_results(("standard", 6))

    assert found == {("a", "d"): (0, 6, 0), ("b", "e"): (0, 6, 0), ("c", "f"): (0, 0, 6)}


def test_bots_without_partners_have_no_teams() -> None:
    games = [game(tuple("abc"), (1, 2, 3), Key(0, 0, 0, rotation)) for rotation in range(3)]

    assert make_team_rows(deals(*games), ("standard", 3), "abc") == []


@pytest.mark.slow
def test_a_bot_page_tells_what_the_pairs_say(tmp_path: Path) -> None:
    league = League(LABELS[:3], deals=6)
    site_pages.render(league, tmp_path)
    results = deals(*league.games())
    page = Page(tmp_path / "bots/greedy.html")

    for other in LABELS[1:3]:
        pairs = compare_head_to_head(Counter(dict(results.count_pairs("standard", "greedy", other))).elements())

        assert text.format_signed(pairs.pairs.elo) in page.words
        assert text.format_likelihood(measure_advantage(pairs.pair_counts, 2).los) in page.words
        assert text.format_rounded_percent(pairs.luck) in page.words
        assert pairs.pairs.elo is None or str(pairs.pairs.elo) in page.values
        assert not pairs.pair_counts[4] or f"won both: {pairs.pair_counts[4]}" in page.words
    assert page.words.count("count as one result") == 1, "explained once"


def test_results_that_are_all_alike_tell_nothing(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=0)
    rules = ruleset.load_ruleset("standard").rules
    for number in range(4):
        deal, rotation = divmod(number, 2)
        seats = LABELS[:2] if rotation == 0 else LABELS[1::-1]
        record = play(rules, seats, Key(0, 0, deal, rotation))
        places = (1, 2) if rotation == 0 else (2, 1)
        league.add(number, "standard", msgspec.structs.replace(record, places=places))

    site_pages.render(league, tmp_path)

    page = (tmp_path / "bots/greedy.html").read_text()
    assert page.count('<span class="none">n/a</span>') >= 3


def test_more_than_two_seats_have_no_pairs(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:3], deals=1, rulesets=("multi-3",), seats=3), tmp_path)

    assert "LOS" not in Page(tmp_path / "bots/greedy.html").words


def test_a_likelihood_is_never_certain() -> None:
    told = [text.format_likelihood(los) for los in (None, 1e-9, 0.001, 0.5, 0.999, 1 - 1e-12)]

    assert told == ["n/a", "< 0.1 %", "0.1 %", "50.0 %", "99.9 %", "> 99.9 %"]


def test_partners_are_listed_as_teams(tmp_path: Path) -> None:
    league = League(("a", "b", "c", "d"), deals=1, rulesets=("partners-4",), seats=4)
    site_pages.render(league, tmp_path)

    games = " ".join(cell for row in Page(tmp_path / "games.html").rows for cell in row)
    table = Page(tmp_path / "index.html").rows

    assert "team 0 a + c" in games
    assert "team 1 b + d" in games
    assert {row[0]: row[1] for row in table if len(row) == 6}.items() >= {"a + c": "4", "b + d": "4"}.items()


def test_no_table_of_partners_without_partners(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:2], deals=1), tmp_path)

    words = Page(tmp_path / "index.html").words
    assert "Which teams won" not in words
    assert "Series" not in words


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (None, ""),
        (Score(0, (35, 12), True), "series 0: 35 – 12, won"),
        (Score(3, (0, 5, 40), False), "series 3: 0 – 5 – 40"),
    ],
)
def test_where_a_series_stands_in_words(score: Score | None, words: str) -> None:
    assert describe_standing(score) == words


def test_who_won_the_greater_share_of_series_comes_first() -> None:
    rows = make_series_rows({"a": SeriesScore(1, 4), "b": SeriesScore(3, 4), "c": SeriesScore(3, 4)})

    assert [row.bot.label for row in rows] == ["b", "c", "a"]
    assert rows[2] == SeriesRow(
        make_name("a"), SortableCell("1", 1), SortableCell("4", 4), SortableCell("25.0 %", 0.25)
    )


def series_league(scores: list[tuple[int, int]]) -> League:
    """One chain of games in which series go to 20 points, with the given points."""
    rules = msgspec.structs.replace(Parameters(), match_target=20)
    league = League(LABELS[:2], deals=0, rulesets=(Ruleset("twenty", "spite", "Series to 20", "made up", rules),))
    for number, points in enumerate(scores):
        places = (1, 2) if points[0] > points[1] else (2, 1)
        record = play(rules, LABELS[:2], Key(0, 0, number, 0))
        league.add(number, "twenty", msgspec.structs.replace(record, places=places, scores=points))
    return league


def test_a_game_tells_where_its_series_stands_then(tmp_path: Path) -> None:
    site_pages.render(series_league([(8, 0), (0, 9), (15, 0), (0, 4)]), tmp_path)

    expected = ["series 0: 8 – 0", "series 0: 8 – 9", "series 0: 23 – 9, won", "series 1: 0 – 4"]
    assert data(tmp_path / "data/games-0.js")["columns"]["series"] == expected
    words = Page(tmp_path / "games.html").words
    assert all(words.count(told) for told in expected)
    front = Page(tmp_path / "index.html")
    assert "until a bot has 20 points" in front.words
    assert ["greedy", "1", "1", "100.0 %"] in front.rows
    assert ["careful", "0", "1", "0.0 %"] in front.rows


def test_a_series_without_end_is_told_as_such(tmp_path: Path) -> None:
    site_pages.render(series_league([(8, 0)]), tmp_path)

    assert "No series has been decided yet" in Page(tmp_path / "index.html").words


def test_a_tournament_that_plays_no_series_tells_of_none(tmp_path: Path) -> None:
    single = series_league([(8, 0), (15, 0)])
    single.play_no_series()

    site_pages.render(single, tmp_path)

    assert data(tmp_path / "data/games-0.js")["columns"]["series"] == ["", ""]
    assert "series 0" not in Page(tmp_path / "games.html").words
    assert "A series continues" not in Page(tmp_path / "index.html").words


def test_a_shard_is_written_again_when_a_series_becomes_known(tmp_path: Path) -> None:
    whole = series_league([(8, 0), (0, 9)])
    late = series_league([(8, 0), (0, 9)])
    late.forget_series()
    site_pages.render(late, tmp_path)
    before = data(tmp_path / "data/games-0.js")["columns"]["series"]

    site_pages.render(whole, tmp_path)

    assert before == ["", ""]
    assert data(tmp_path / "data/games-0.js")["columns"]["series"][1] == "series 0: 8 – 9"


def test_a_team_with_an_older_version_has_no_row() -> None:
    teams = (0, 1, 0, 1)
    games = [game(("a", "b", "c@1", "d"), (1, 2, 1, 2), Key(0, 0, 0, rotation), teams) for rotation in range(4)]

    rows = make_team_rows(deals(*games), ("standard", 4), "abcd")

    assert [[bot.label for bot in row.bots] for row in rows] == [["b", "d"]]


def test_the_front_page_tells_what_each_seat_is_worth_and_which_figures_are_preliminary(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=3)

    site_pages.render(league, tmp_path)

    page = Page(tmp_path / "index.html")
    (found,) = compute_league_standings(league.read())
    shares = [text.format_percent(side.score) for side in found.seat_scores]
    assert [row[:2] for row in page.rows if row[0] in ("0", "1") and row[1] in shares] == [
        ["0", shares[0]],
        ["1", shares[1]],
    ]
    assert page.words.count("?") >= len([row for row in found.rows if row.preliminary]) == 2


def test_zero_is_the_mean_of_the_bots_that_the_ranking_names() -> None:
    games = [game(("a", "b"), (1, 2), Key(0, 0, 0, 0)), game(("b", "a"), (1, 2), Key(0, 0, 0, 1))]
    games += [game(("b", "b@1"), (2, 1), Key(0, 1, 0, 0)), game(("b@1", "b"), (2, 1), Key(0, 1, 0, 1))]
    newest_alone: dict[str, State] = {"a": "playing", "b": "playing"}

    every, newest = (
        make_ranking(found, several_sizes=False).mean_of
        for shown in (None, newest_alone)
        for found in compute_standings(games, ["a", "b", "b@1"], shown=shown)
    )

    assert (every, newest) == ("the bots", "the bots, older versions included")
