"""Where the test of a comparison ends: a pure function of its games, whoever played them and in whatever order."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from malice.referee.errors import DataError
from malice.referee.records import Key
from malice.referee.toml_files import convert
from malice.tournaments.league.comparison import read_comparison
from malice.tournaments.league.config import Config, check_config, read_config
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.counting import find_counted_games, make_sequential_test
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.ratings.sprt import Sprt
from malice.tournaments.running.plan import Plan
from malice.tournaments.terminal.comparisons import format_comparison
from tests.command_line import malice
from tests.crashes import kills
from tests.leagues import replace_in_journal
from tests.runs import Run

COMPARISON = """
format = "comparison"
entries = ["greedy", "uniform"]
seed = "contest"
deals = 400
isolation = "none"

[sprt]
elo1 = 60
"""


def plan_comparison(*entries: str, test: Sprt | None = None, rulesets: tuple[str, ...] = ("standard",)) -> Tournament:
    config = Config(
        entries=entries, format="comparison", rulesets=rulesets, deals=300, suspend_after=0, sprt=test, seed="s"
    )
    return Plan.prepare(check_config(config, "test"), Path()).tournament


def play_all(tournament: Tournament, chance: random.Random) -> list[Finished]:
    """Let the first entry win 70 % of its games."""
    schedule = tournament.schedules[0]
    games = []
    for batch in schedule.batches():
        labels = schedule.labels[batch.table]
        for key in batch.games():
            strong = chance.random() < 0.7
            games.append(Finished(key, schedule.number(key), labels, (), (2, 0) if strong else (0, 2)))
    return games


@pytest.mark.parametrize("seed", range(8))
def test_what_counts_does_not_depend_on_what_was_played_ahead(seed: int) -> None:
    tournament, chance = plan_comparison("greedy", "first", test=Sprt(elo1=60)), random.Random(seed)
    games = play_all(tournament, chance)
    whole = find_counted_games(tournament, games)
    (contest,) = whole.tests.values()
    assert contest.verdict == "H1"
    assert contest.end == contest.deals - 1
    assert {game.key.deal for game in whole.counted} == set(range(contest.deals))

    ahead = [game for game in games if not contest.leaves_out(game.key.deal) or chance.random() < 0.3]
    shuffled = chance.sample(ahead, len(ahead))
    live = make_sequential_test(tournament, 0, shuffled)

    assert find_counted_games(tournament, ahead).counted == whole.counted
    assert live is not None
    assert (live.end, live.counts) == (contest.end, contest.counts)


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        (("greedy", "uniform"), "greedy against uniform, standard: 0 games"),
        (("greedy", "uniform", "first"), "greedy and uniform against first, standard: 0 games"),
    ],
)
def test_without_a_whole_deal_the_answer_says_so(tmp_path: Path, entries: tuple[str, ...], line: str) -> None:
    config = check_config(Config(entries=entries, format="comparison", sprt=Sprt(), suspend_after=0), "t")
    with Store(tmp_path / "t.db", create=True) as store:
        Plan.prepare(config, tmp_path).write(store)
        lines = list(format_comparison(read_comparison(store, adjusted=True)))

    assert lines[0] == "undecided: no deal was finished"
    assert lines[2] == line


def test_a_deal_that_is_not_whole_holds_up_those_after_it() -> None:
    tournament = plan_comparison("greedy", "first", test=Sprt(elo1=60))
    games = [game for game in play_all(tournament, random.Random(1)) if game.key != Key(0, 0, 5, 1)]

    (contest,) = find_counted_games(tournament, games).tests.values()

    assert (contest.deals, contest.end) == (5, None)
    assert len(find_counted_games(tournament, games).counted) == len(games)


def test_a_comparison_without_a_test_plays_every_deal() -> None:
    tournament = plan_comparison("greedy", "first")

    (contest,) = find_counted_games(tournament, play_all(tournament, random.Random(1))).tests.values()

    assert (contest.deals, contest.end, contest.llr, sum(contest.counts)) == (300, None, None, 300)


def test_against_others_a_deal_is_what_the_new_bot_wins_and_what_the_base_does_not() -> None:
    tournament = plan_comparison("greedy", "first", "uniform", "staller", rulesets=("standard", "aces"))
    (part,) = tournament.parts
    contest = make_sequential_test(tournament, 0)
    assert contest is not None
    assert [tuple(version.label for version in table.versions) for table in part.tables[:4]] == [
        *(("greedy", "uniform"), ("first", "uniform"), ("greedy", "staller"), ("first", "staller"))
    ]
    assert (contest.games, contest.weight, part.common_deals) == (16, 4, True)

    for game in play_all(tournament, random.Random(1)):
        if game.key.deal == 0:
            contest.add(Finished(game.key, game.number, game.labels, (), (2, 0) if "greedy" in game.labels else (0, 2)))

    assert contest.counts[-1] == contest.deals == 1
    assert contest.mean == 0.5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sprt": {}}, "sprt: applies only with"),
        ({"format": "comparison", "suspend_after": 3}, "suspend_after: expected 0"),
        ({"format": "comparison", "suspend_after": 0, "tables": 2}, "tables: expected none"),
        ({"format": "comparison", "suspend_after": 0, "sprt": {"elo0": 30}}, "sprt.elo1: expected more than"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    config = convert({"entries": ["greedy", "first"]} | fields, Config, "t.toml")

    with pytest.raises(DataError, match=message):
        check_config(config, "t.toml")


def test_a_comparison_needs_two_bots_and_two_seats() -> None:
    with pytest.raises(DataError, match="expected at least 2"):
        plan_comparison("greedy")
    with pytest.raises(DataError, match="expected tables of two seats"):
        plan_comparison("greedy", "first", "uniform", rulesets=("multi",))


def test_a_file_of_a_comparison_suspends_nobody_unless_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(COMPARISON)

    assert read_config(tmp_path / "t.toml").suspend_after == 0


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A comparison that is over, played by a run that nobody disturbed."""
    run = Run(tmp_path_factory.mktemp("undisturbed"))
    run.write(COMPARISON)
    code, _, err = run.finish()
    assert code == 0, err
    return run


@pytest.mark.slow
@pytest.mark.whole
def test_kills_do_not_change_the_answer(over: Run, tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(COMPARISON)
    for number, told in enumerate(kills(run, 2, seed=1, longest_s=2.0)):
        assert "it was complete" not in told or over.sha() in told, number
    assert run.finish("--jobs", "3")[0] == 0

    assert run.sha() == over.sha()
    with Store(run.db) as ours, Store(over.db) as theirs:
        assert read_comparison(ours).sentence == read_comparison(theirs).sentence
        assert read_comparison(ours).answer is not None


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("deal", [3, 0])
def test_verify_misses_a_game_of_a_deal_that_counts(over: Run, tmp_path: Path, deal: int) -> None:
    path = shutil.copy(over.db, tmp_path / "t.db")
    with sqlite3.connect(path) as connection:
        (number,) = connection.execute("SELECT number FROM games WHERE deal = ? AND rotation = 1", (deal,)).fetchone()
        for table in ("records", "games"):
            connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
    connection.close()

    result = malice("verify", path)

    assert result.exit_code == 5
    assert "is missing, although its part is closed" in result.stderr


@pytest.mark.slow
def test_verify_sees_that_another_test_would_not_have_ended_there(over: Run, tmp_path: Path) -> None:
    path = Path(shutil.copy(over.db, tmp_path / "t.db"))
    replace_in_journal(path, '"elo1":60.0', '"elo1":5.0')

    result = malice("verify", path)

    assert result.exit_code == 5
    assert "is missing, although its part is closed" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"), [("deals = 400", "deals = 500"), ('"greedy", "uniform"', '"uniform", "greedy"'), ("60", "50")]
)
def test_a_comparison_keeps_its_terms(over: Run, tmp_path: Path, old: str, new: str) -> None:
    path = shutil.copy(over.db, tmp_path / "t.db")
    (tmp_path / "t.toml").write_text(COMPARISON.replace(old, new))

    result = malice("run", tmp_path / "t.toml", "--db", path)

    assert result.exit_code == 2
    assert "give the" in result.stderr
