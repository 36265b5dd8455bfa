"""Ranks of the rows that are shown, ratings from few games, and that no figure is ever odd."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.standings import Standings, State, compute_standings
from malice.tournaments.ratings.comparison import measure_advantage
from malice.tournaments.terminal.results import encode_standings_csv, encode_standings_json, format_standings
from tests.summaries import pair, played, rename


def test_equal_ratings_share_a_rank_and_the_next_one_is_left_out() -> None:
    def deal(table: int, first: str, second: str, places: tuple[int, int]) -> list[GameSummary]:
        return [
            played((0, table, 0, 0), (first, second), places),
            played((0, table, 0, 1), (second, first), (places[1], places[0])),
        ]

    games = [*deal(0, "a", "b", (1, 1)), *deal(1, "b", "c", (1, 1)), *deal(2, "c", "a", (1, 1))]
    games += [game for table, label in enumerate("abc", 3) for game in deal(table, label, "d", (1, 2))]
    games += [game for table, label in enumerate("abc", 6) for game in deal(table, label, "e", (2, 1))]

    (found,) = compute_standings(games, ["d", "c", "b", "a", "e"])

    assert [(row.label, row.rank) for row in found.rows] == [("e", 1), ("a", 2), ("b", 2), ("c", 2), ("d", 5)]


def test_bots_without_a_row_take_no_rank_but_count_as_opponents() -> None:
    others = {"a": "b", "b": "old"}
    games = [*pair(0, (1, 2), (1, 2)), *(rename(game, others) for game in pair(0, (2, 1), (2, 1)))]

    (found,) = compute_standings(games, ["a", "b", "old"], shown={"a": "playing", "b": "playing"})

    assert [(row.label, row.rank) for row in found.rows] == [("a", 1), ("b", 2)]
    assert {row.rating.rank_high for row in found.rows} == {2}
    assert found.rows[1].rating.games == 4
    assert (found.unlisted, found.mean_of_all) == (1, True)
    assert found.crosstable.keys() == found.los.keys() == found.history.keys() == {"a", "b"}
    assert found.crosstable["b"].keys() == {"a"}


def test_who_does_not_play_takes_no_rank_and_stands_last_but_counts_as_an_opponent() -> None:
    others = {"a": "c", "b": "b"}
    games = [*pair(0, (1, 2), (1, 2)), *(rename(game, others) for game in pair(0, (2, 1), (2, 1)))]

    (found,) = compute_standings(games, ["a", "b", "c"], shown={"a": "suspended", "b": "playing", "c": "playing"})
    (all_play,) = compute_standings(games, ["a", "b", "c"])

    assert [(row.label, row.state, row.rank) for row in found.rows] == [
        ("b", "playing", 1),
        ("c", "playing", 2),
        ("a", "suspended", None),
    ]
    assert {row.rating.rank_high for row in found.rows} == {2, None}
    assert {row.label: row.rating.elo for row in found.rows} == {row.label: row.rating.elo for row in all_play.rows}
    ((_, active, away),) = found.list_tables()
    assert ([row.label for row in active], [row.label for row in away]) == (["b", "c"], ["a"])


def test_few_games_make_a_rating_preliminary_everywhere() -> None:
    games = [game for deal in range(14) for game in pair(deal, (1, 2), (2, 1))]
    games += [
        replace(
            game, key=replace(game.key, table=1), labels=tuple("c" if label == "b" else "a" for label in game.labels)
        )
        for game in games[:2]
    ]

    found = compute_standings(games, ["a", "b", "c"])

    assert [(row.label, row.rating.games, row.preliminary) for row in found[0].rows] == [
        ("a", 30, False),
        ("b", 28, True),
        ("c", 2, True),
    ]
    lines = list(format_standings(found))
    assert [line.split()[3].endswith("?") for line in lines[2:5]] == [False, True, True]
    assert lines[5] == "? preliminary: fewer than 30 games"
    rows = list(csv.DictReader(io.StringIO(encode_standings_csv([(None, found)]))))
    assert [row["preliminary"] for row in rows] == ["false", "true", "true"]
    assert [row["preliminary"] for row in json.loads(encode_standings_json([(None, found)]))[0]["rows"]] == [
        False,
        True,
        True,
    ]


def test_the_table_tells_how_certain_it_is_that_a_bot_is_better() -> None:
    results = [((1, 2), (1, 2))] * 9 + [((1, 2), (2, 1))] * 30 + [((2, 1), (2, 1))] * 5
    games = [game for deal, places in enumerate(results) for game in pair(deal, *places)]

    (found,) = compute_standings(games, ["a", "b", "c"])

    los = measure_advantage((5, 0, 30, 0, 9), 2).los
    assert found.los["a"] == {"b": pytest.approx(los, abs=0.01), "c": None}
    assert found.los["b"]["a"] == pytest.approx(1 - (found.los["a"]["b"] or 0))


def test_twins_leave_it_open_who_is_better() -> None:
    (found,) = compute_standings([game for deal in range(9) for game in pair(deal, (1, 2), (2, 1))], ["a", "b"])

    assert found.los == {"a": {"b": None}, "b": {"a": None}}


SIDES = {2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 0, 1), 5: tuple(range(5)), 6: (0, 1, 2, 0, 1, 2), 8: tuple(range(8))}


def play_anything(chance: random.Random) -> Iterator[GameSummary]:
    """Yield a few deals with any results, some of them void or not complete."""
    seats = chance.choice(list(SIDES))
    players = [f"bot {number}" for number in range(seats + 2)]
    for deal in range(chance.randrange(1, 8)):
        order = chance.sample(players, seats)
        favourite = chance.choice([None, None, "bot 0"])
        for rotation in range(seats - (chance.random() < 0.1)):
            labels = tuple(order[(seat + rotation) % seats] for seat in range(seats))
            places = [chance.randrange(1, seats) for _ in range(seats)]
            if favourite in labels:
                places[SIDES[seats][labels.index(favourite)]] = 0
            yield played(
                (0, deal % 2, deal, rotation),
                labels,
                tuple(1 + places[side] for side in SIDES[seats]),
                teams=SIDES[seats],
                verdicts=("",) * seats,
                reason=VOID if chance.random() < 0.1 else "payoff_empty",
            )


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([None, "bot 0", "bot 1"]), st.booleans())
def test_no_figure_is_odd_whatever_the_results(seed: int, anchor: str | None, common: bool) -> None:
    chance = random.Random(seed)
    games = list(play_anything(chance))
    labels = [f"bot {number}" for number in range(len(games[0].labels) + 2)]

    states: dict[str, State] = dict.fromkeys(labels[:-1], "playing")
    states[labels[chance.randrange(len(states))]] = chance.choice(["playing", "suspended", "withdrawn"])
    found = compute_standings(games, labels, anchor, {0} if common else (), states)

    for figure in list_figures(msgspec.to_builtins(found)):
        assert math.isfinite(figure)
        assert figure or math.copysign(1, figure) == 1, "-0.0"
    cells = " ".join(format_standings(found)).split()
    assert not {"nan", "nan?", "inf", "-inf", "-0", "-0?", "-0.0", "None"} & set(cells)
    for standings in found:
        check_ranks(standings)


def list_figures(value: object) -> Iterator[float]:
    """Yield every float in what a JSON document is made of."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from list_figures(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from list_figures(each)


def check_ranks(standings: Standings) -> None:
    """Make sure that ranks lie within their ranges, and agree with Elo and with who is significantly better."""
    for row in standings.rows:
        low, high = row.rating.rank_low, row.rating.rank_high
        group = [other for other in standings.rows if other.group == row.group and other.state == "playing"]
        if row.rank is not None and low is not None and high is not None:
            assert 1 <= low <= row.rank <= high <= len(group)
        if row.state != "playing":
            assert row.rank is low is high is None
        assert row.tied == (row.rank is not None and [other.rank for other in group].count(row.rank) > 1)
        # Whoever is certainly better in the whole table has a high LOS alone, too.
        open_los = sum(standings.los[other.label].get(row.label) is None for other in group)
        better = sum((standings.los[other.label].get(row.label) or 0) > 0.9749 for other in group)
        assert low is None or low - 1 <= better + open_los
        for other, share in standings.los[row.label].items():
            assert share is None or 0 <= share <= 1
            back = standings.los[other][row.label]
            assert share == (None if back is None else pytest.approx(1 - back))
