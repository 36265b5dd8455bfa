"""From games to the ranking, the crosstable and the history."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.tournaments.league.columns import NAMED, OWN, SITE, TERMINAL, list_columns
from malice.tournaments.league.standings import APART, OpponentScore, compute_standings
from malice.tournaments.terminal.results import encode_standings_csv, encode_standings_json, format_standings
from tests.summaries import islands, pair, played


def test_the_better_bot_stands_first() -> None:
    games = [game for deal in range(6) for game in pair(deal, (2, 1), (2, 1) if deal else (1, 2))]

    (found,) = compute_standings(games, ["a", "b"])

    assert [row.label for row in found.rows] == ["b", "a"]
    assert (found.rows[0].rating.wins, found.rows[0].rating.losses) == (11, 1)
    assert found.rows[0].rating.elo is not None
    assert found.rows[1].rating.elo is not None
    assert found.rows[0].rating.elo > found.rows[1].rating.elo


def test_only_complete_pairs_count() -> None:
    games = [*pair(0, (1, 2), (1, 2)), played((0, 0, 1, 0), ("a", "b"), (1, 2))]

    (found,) = compute_standings(games, ["a", "b"])

    assert (found.games, found.waiting) == (2, 1)
    assert found.rows[0].rating.games == 2
    assert found.rows[0].games == 3


def test_void_games_are_rated_for_nobody_but_their_faults_count() -> None:
    void = [
        played((0, 0, 1, rotation), ("a", "b"), (1, 1), reason="void", verdicts=("crash", "crash"))
        for rotation in (0, 1)
    ]

    (found,) = compute_standings([*pair(0, (1, 2), (1, 2)), *void], ["a", "b"])

    assert found.games == 2
    assert [row.forfeits for row in found.rows] == [2, 2]


def test_the_crosstable_counts_wins_draws_and_losses_from_each_side() -> None:
    games = [*pair(0, (1, 2), (1, 1)), *pair(1, (2, 1), (1, 2))]

    (found,) = compute_standings(games, ["a", "b", "c"])

    assert found.crosstable["a"] == {"b": OpponentScore(4, 2, 1, 1)}
    assert found.crosstable["b"] == {"a": OpponentScore(4, 1, 1, 2)}
    assert found.crosstable["c"] == {}
    assert found.crosstable["a"]["b"].score == 0.625


def test_partners_meet_only_the_other_side() -> None:
    labels = ("a", "b", "c", "d")
    games = [played((0, 0, 0, turn), labels, (1, 2, 1, 2), teams=(0, 1, 0, 1), verdicts=("",) * 4) for turn in range(4)]

    (found,) = compute_standings(games, list(labels))

    assert set(found.crosstable["a"]) == {"b", "d"}
    assert found.crosstable["a"]["b"] == OpponentScore(4, 4, 0, 0)


def test_time_is_told_per_action() -> None:
    (found,) = compute_standings(pair(0, (1, 2), (1, 2)), ["a", "b"])

    times = {row.label: row.mean_ms for row in found.rows}
    assert times == {"a": (30.0 + 60.0) / 50, "b": (60.0 + 30.0) / 50}


@pytest.mark.parametrize(
    ("idle_ms", "flagged"),
    [
        ((40.0, 15.0), (True, False)),  # a was asked 30 times, b 20 times
        ((25.0, 25.0), (False, False)),  # a: below 1 ms an action; b: below a tenth of its CPU time
        ((), (False, False)),
    ],
)
def test_much_cpu_time_off_turn_is_flagged(idle_ms: tuple[float, ...], flagged: tuple[bool, bool]) -> None:
    game = replace(played((0, 0, 0, 0), ("a", "b"), (1, 2)), cpu_ms=(30.0, 400.0), idle_ms=idle_ms)

    (told,) = compute_standings([game], ("a", "b"))

    assert tuple(row.thinks_off_turn for row in sorted(told.rows, key=lambda row: row.label)) == flagged


def test_every_ruleset_has_standings_of_its_own() -> None:
    other = [played((0, 1, 0, rotation), ("a", "b"), (2, 1), ruleset="classic") for rotation in (0, 1)]

    found = compute_standings([*pair(0, (1, 2), (1, 2)), *other], ["a", "b"])

    assert [each.ruleset for each in found] == ["standard", "classic"]
    assert [each.rows[0].label for each in found] == ["a", "b"]


def test_an_entry_without_games_is_listed_last_without_a_rating() -> None:
    (found,) = compute_standings(pair(0, (1, 2), (1, 2)), ["idle", "a", "b"])

    assert found.rows[-1].label == "idle"
    assert found.rows[-1].rating.elo is None
    assert found.rows[-1].mean_ms is None


def test_the_history_begins_equal_and_follows_the_results() -> None:
    (found,) = compute_standings([game for deal in range(5) for game in pair(deal, (1, 2), (1, 2))], ["a", "b"])

    assert found.history["a"][0] == found.history["b"][0]
    assert found.history["a"][-1][1] > found.history["a"][0][1] > found.history["b"][-1][1]


def test_ranks_are_those_within_a_group_and_the_larger_group_stands_first() -> None:
    (found,) = compute_standings(islands(), ["idle", "a", "b", "c", "d", "e"])

    assert [(row.label, row.group, row.rank) for row in found.rows] == [
        ("c", 1, 1),
        ("e", 1, 2),
        ("d", 1, 3),
        ("a", 2, 1),
        ("b", 2, 2),
        ("idle", None, None),
    ]
    assert (found.groups, found.warning) == (2, APART)


def test_bots_that_all_met_by_way_of_others_need_no_warning() -> None:
    bridge = [played((0, 9, 0, 0), ("b", "c"), (1, 2)), played((0, 9, 0, 1), ("c", "b"), (1, 2))]

    (found,) = compute_standings([*islands(), *bridge], ["a", "b", "c", "d", "e"])

    assert (found.groups, found.warning) == (1, None)
    assert [row.rank for row in found.rows] == [1, 2, 3, 4, 5]


def test_terminal_csv_and_json_warn_in_the_same_words_and_name_the_group() -> None:
    found = compute_standings(islands(), ["a", "b", "c", "d", "e"])

    lines = list(format_standings(found))
    rows = list(csv.DictReader(io.StringIO(encode_standings_csv([(None, found)]))))
    (told,) = json.loads(encode_standings_json([(None, found)]))

    assert lines[1] == APART
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["group", "1:"],
        ["rank", "bot"],
        ["1", "(1-2)"],
        ["2", "(1-3)"],
    ]
    assert lines[7] == "group 2: 2 bots"
    assert [(row["group"], row["rank"], row["warning"]) for row in rows][2:4] == [("1", "3", APART), ("2", "1", APART)]
    assert told["warning"] == APART
    assert [row["group"] for row in told["rows"]] == [1, 1, 1, 2, 2]


def test_labels_and_rulesets_are_defused_in_csv() -> None:
    games = [played((0, 0, 0, rotation), ("=1+1", "b"), (1, 2), ruleset="@home") for rotation in (0, 1)]

    rows = list(csv.DictReader(io.StringIO(encode_standings_csv([(None, compute_standings(games, ["=1+1", "b"]))]))))

    assert {(row["ruleset"], row["bot"]) for row in rows} == {("'@home", "'=1+1"), ("'@home", "b")}


def test_where_all_met_nothing_speaks_of_groups() -> None:
    found = compute_standings(pair(0, (1, 2), (1, 2)), ["a", "b"])

    lines = list(format_standings(found))
    (row, _) = csv.DictReader(io.StringIO(encode_standings_csv([(None, found)])))

    assert not any("group" in line for line in lines)
    assert (row["group"], row["warning"]) == ("1", "")


def test_text_and_csv_have_the_interval_of_the_score_and_the_cpu_time_of_an_action() -> None:
    games = [
        replace(game, cpu_ms=(15.0, 40.0), idle_ms=(0.0, 0.0))
        for deal in range(8)
        for game in pair(deal, (1, 2), (1, 2) if deal < 4 else (2, 1))
    ]

    found = compute_standings(games, ["a", "b"])

    rating = found[0].rows[0].rating
    assert rating.score_low is not None
    assert rating.score_high is not None
    interval = f"{100 * rating.score_low:.1f} .. {100 * rating.score_high:.1f}"
    head, line = list(format_standings(found))[1:3]
    assert " ".join(line.split()).split(" 75.0 % ")[1].startswith(interval)
    assert head.split("  ")[-2].strip() == "CPU ms/action"
    # By deal a answers 30 actions in 15 ms from the first seat, and 20 in 40 ms from the second.
    assert line.split()[-2] == f"{(15 + 40) / (30 + 20):.2f}"
    (row, _) = csv.DictReader(io.StringIO(encode_standings_csv([(None, found)])))
    assert (float(row["score_low"]), float(row["score_high"])) == (rating.score_low, rating.score_high)


@pytest.mark.parametrize("order", [TERMINAL, SITE])
def test_a_format_with_points_and_without_buchholz_has_no_column_for_that(order: tuple[str, ...]) -> None:
    (found,) = compute_standings(pair(0, (1, 2), (1, 2)), ["a", "b"])

    rows = [replace(row, points=1.0) for row in found.rows]
    names = [column.name for column in list_columns(replace(found, rows=tuple(rows)), order)]

    assert "points" in names
    assert "buchholz" not in names


def test_no_games_give_no_standings() -> None:
    assert compute_standings([], ["a"]) == ()


def test_the_page_on_standings_explains_the_columns_of_the_terminal_in_their_order() -> None:
    page = Path(__file__).parent.parent / "docs/standings.md"
    lines = page.read_text("utf-8").partition("| Column | Meaning |")[2].partition("\n\n")[0].splitlines()[2:]

    # What a Swiss has besides is explained with its table, and what a game counts with the game.
    names = [name for name in TERMINAL if name not in {"bot", "points", "buchholz", OWN}]
    assert [line.split(" | ")[0].strip("| ") for line in lines] == [NAMED[name].caption for name in names]


def test_leagues_may_have_any_number_of_parts_and_a_deal_is_complete_in_its_own() -> None:
    games = [played((part, 0, 0, 0), ("a", "b"), (1, 2)) for part in (127, 128)]
    games += [played((128, 0, 0, 1), ("b", "a"), (2, 1)), played((300, 1, 0, 0), ("a", "b"), (2, 1))]

    (found,) = compute_standings(games, ["a", "b"])

    assert (found.games, found.waiting) == (2, 2)
    assert found.crosstable["a"]["b"] == OpponentScore(2, 2, 0, 0)
