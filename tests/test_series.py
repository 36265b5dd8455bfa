"""Series: points add up deal after deal until somebody has enough."""

from __future__ import annotations

from pathlib import Path

from referee.records import Key
from tests.test_standings import played
from tournaments.league.config import Config
from tournaments.league.contents import Game
from tournaments.league.series import Score, Tally, score_series, tally_series
from tournaments.running.plan import Plan

TARGETS = {"g4a": 50, "standard": 0}


def deal(number: int, points: tuple[int, int], rotation: int = 0, ruleset: str = "g4a") -> Game:
    labels = ("a", "b") if rotation == 0 else ("b", "a")
    game = played((0, number, rotation), labels, (1, 2), ruleset=ruleset)
    return Game(**{field: getattr(game, field) for field in game.__struct_fields__} | {"scores": points})


def test_points_add_up_until_the_target_and_the_next_deal_begins_anew() -> None:
    games = [deal(0, (30, 0)), deal(1, (0, 12)), deal(2, (20, 0)), deal(3, (0, 7))]

    assert dict(score_series(games, TARGETS)) == {
        Key(0, 0, 0): Score(0, (30, 0), False),
        Key(0, 1, 0): Score(0, (30, 12), False),
        Key(0, 2, 0): Score(0, (50, 12), True),
        Key(0, 3, 0): Score(1, (0, 7), False),
    }


def test_each_rotation_has_a_series_of_its_own_told_by_seat() -> None:
    games = [deal(0, (30, 0)), deal(0, (5, 0), rotation=1), deal(1, (0, 4), rotation=1)]

    assert dict(score_series(games, TARGETS))[Key(0, 1, 1)] == Score(0, (5, 4), False)


def test_a_chain_breaks_off_before_a_missing_deal() -> None:
    assert [key.deal for key, _ in score_series([deal(0, (1, 0)), deal(2, (1, 0))], TARGETS)] == [0]


def test_single_games_have_no_series() -> None:
    assert list(score_series([deal(0, (60, 0), ruleset="standard")], TARGETS)) == []


def test_decided_series_are_counted() -> None:
    games = [deal(0, (60, 0)), deal(1, (0, 60)), deal(2, (50, 0)), deal(3, (49, 0))]

    assert tally_series(games, TARGETS) == {"g4a": {"a": Tally(2, 3), "b": Tally(1, 3)}}


def test_a_table_plays_on_in_every_rotation_until_no_series_is_open(tmp_path: Path) -> None:
    plan = Plan.prepare(Config(entries=("greedy", "uniform"), rulesets=("g4a",), deals=2, seed="x"), tmp_path)
    open_one = [deal(number, (30, 0), rotation) for number in range(2) for rotation in range(2)]
    open_one[3] = deal(1, (0, 3), rotation=1)

    more = plan.more_batches(open_one)

    assert [[str(order.key) for order in batch.games] for batch in more] == [
        [f"0.{number}.{rotation}" for number in range(2, 7)] for rotation in range(2)
    ]
    half = [*open_one, *(deal(number, (0, 9), rotation) for rotation in range(2) for number in range(2, 5))]
    assert [len(batch.games) for batch in plan.more_batches(half)] == [2, 2]
    decided = [*half, *(deal(number, (0, 30), rotation) for rotation in range(2) for number in range(5, 7))]
    assert plan.more_batches(decided) == []


def test_a_tournament_of_single_games_never_asks_for_more(tmp_path: Path) -> None:
    plan = Plan.prepare(Config(entries=("greedy", "uniform"), deals=2, seed="x"), tmp_path)

    assert plan.more_batches([deal(0, (1, 0), ruleset="standard")]) == []


def test_games_beyond_the_schedule_have_numbers_of_their_own(tmp_path: Path) -> None:
    plan = Plan.prepare(Config(entries=("greedy", "uniform", "first"), rulesets=("g4a",), deals=3, seed="x"), tmp_path)
    schedule = plan.schedule

    planned = [schedule.number(key) for batch in schedule.batches() for key in batch.games()]
    beyond = [
        schedule.number(key)
        for table in range(3)
        for block in range(3)
        for batch in schedule.more(table, block)
        for key in batch.games()
    ]
    assert len({*planned, *beyond}) == len(planned) + len(beyond)
    assert min(beyond) == schedule.total
