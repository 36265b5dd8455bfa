"""Series: points add up deal after deal until somebody has enough."""

from __future__ import annotations

from malice.referee.records import Key
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.parts import Part, PartTable, VersionKey
from malice.tournaments.league.series import Score, SeriesScore, count_series, list_undecided, score_series
from tests.summaries import played

TARGETS = {"g4a": 50, "standard": 0}


def deal(number: int, points: tuple[int, int], rotation: int = 0, ruleset: str = "g4a", part: int = 0) -> GameSummary:
    labels = ("a", "b") if rotation == 0 else ("b", "a")
    game = played((part, 0, number, rotation), labels, (1, 2), ruleset=ruleset)
    return GameSummary(**{field: getattr(game, field) for field in game.__struct_fields__} | {"scores": points})


def test_points_add_up_until_the_target_and_the_next_deal_begins_anew() -> None:
    games = [deal(0, (30, 0)), deal(1, (0, 12)), deal(2, (20, 0)), deal(3, (0, 7))]

    assert dict(score_series(games, TARGETS)) == {
        Key(0, 0, 0, 0): Score(0, (30, 0), False),
        Key(0, 0, 1, 0): Score(0, (30, 12), False),
        Key(0, 0, 2, 0): Score(0, (50, 12), True),
        Key(0, 0, 3, 0): Score(1, (0, 7), False),
    }


def test_each_rotation_has_a_series_of_its_own_told_by_seat() -> None:
    games = [deal(0, (30, 0)), deal(0, (5, 0), rotation=1), deal(1, (0, 4), rotation=1)]

    assert dict(score_series(games, TARGETS))[Key(0, 0, 1, 1)] == Score(0, (5, 4), False)


def test_a_chain_breaks_off_before_a_missing_deal() -> None:
    assert [key.deal for key, _ in score_series([deal(0, (1, 0)), deal(2, (1, 0))], TARGETS)] == [0]


def test_single_games_have_no_series() -> None:
    assert list(score_series([deal(0, (60, 0), ruleset="standard")], TARGETS)) == []


def test_decided_series_are_counted() -> None:
    games = [deal(0, (60, 0)), deal(1, (0, 60)), deal(2, (50, 0)), deal(3, (49, 0))]

    assert count_series(games, TARGETS) == {"g4a": {"a": SeriesScore(2, 3), "b": SeriesScore(1, 3)}}


def follow(deals: int, *, block: bool) -> list[Part]:
    """Two parts, of which the second goes on with the only table of the first."""
    versions = (VersionKey("a", 1), VersionKey("b", 1))
    first = Part("round-robin", deals, (PartTable("g4a", versions),))
    return [first, Part("more", 5, (PartTable("g4a", versions, (0, 0)),), block=block, number=1, first=2 * deals)]


def test_a_series_goes_on_in_the_part_that_adds_deals() -> None:
    games = [deal(0, (30, 0)), deal(0, (0, 12), part=1), deal(1, (20, 0), part=1), deal(2, (3, 0), part=1)]

    assert dict(score_series(games, TARGETS, follow(1, block=False))) == {
        Key(0, 0, 0, 0): Score(0, (30, 0), False),
        Key(1, 0, 0, 0): Score(0, (30, 12), False),
        Key(1, 0, 1, 0): Score(0, (50, 12), True),
        Key(1, 0, 2, 0): Score(1, (3, 0), False),
    }


def test_a_series_that_begins_in_a_block_needs_no_further_deals() -> None:
    games = [deal(0, (30, 0)), deal(0, (20, 0), part=1), deal(1, (3, 0), part=1)]

    assert list_undecided(games, TARGETS, follow(1, block=True)) == []
    assert list_undecided(games, TARGETS, follow(1, block=False)) == [(games[2], Score(1, (3, 0), False))]


def test_series_that_the_planned_deals_leave_open_are_listed_rotation_by_rotation() -> None:
    games = [deal(0, (30, 0)), deal(0, (60, 0), rotation=1), deal(1, (0, 9)), deal(1, (0, 50), rotation=1)]

    assert list_undecided(games, TARGETS, follow(2, block=True)) == [(games[2], Score(0, (30, 9), False))]
