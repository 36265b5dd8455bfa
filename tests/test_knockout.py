"""The knockout: the bracket, its byes and play-offs, and what absence does to it."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.referee.records import Batch
from malice.tournaments.errors import Stopped
from malice.tournaments.league.config import Config
from malice.tournaments.league.formats.decisions import Done
from malice.tournaments.league.formats.knockout import PLAY_OFFS, draw_bracket, list_slots, rank_knockout
from malice.tournaments.league.store import Store
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.plan import read_plan
from malice.tournaments.running.run import run_tournament
from tests.command_line import malice
from tests.houses import House
from tests.leagues import replace_in_journal
from tests.rounds import ALPHABET, draw, make_knockout, name_pairs, win_by_name


def test_the_best_seeds_meet_last_and_have_the_byes() -> None:
    assert list_slots(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert list_slots(5) == list_slots(8)

    house = make_knockout("abcdef")
    first = house.create()

    assert (first.title, name_pairs(first)) == ("quarter-finals", ["de", "cf"])
    assert [version.label for version in first.byes] == ["a", "b"]
    house.finish(first, places=win_by_name)
    second = house.create()
    assert (second.title, name_pairs(second)) == ("semi-finals", ["ad", "bc"])
    house.finish(second, places=win_by_name)
    last = house.create()
    assert (last.title, name_pairs(last)) == ("final and third place", ["ab", "cd"])
    house.finish(last, places=win_by_name)
    assert isinstance(house.decide(), Done)
    assert [tie.winner for tie in draw_bracket(house.look())[-1].ties] == ["a", "c"]


def test_a_drawn_match_plays_off_and_in_the_end_the_higher_seed_advances() -> None:
    house = make_knockout("abcd")
    house.finish(house.create(), places=lambda labels: draw(labels) if "a" in labels else win_by_name(labels))
    for number in range(1, PLAY_OFFS + 1):
        part = house.create()
        assert (part.title, name_pairs(part)) == (f"semi-finals, play-off {number}", ["ad"])
        house.finish(part, places=draw)

    assert name_pairs(house.create()) == ["ab", "cd"]
    tie = draw_bracket(house.look())[0].ties[0]
    assert (tie.winner, tie.loser, len(tie.matches)) == ("a", "d", 1 + PLAY_OFFS)


def test_a_play_off_may_decide() -> None:
    house = make_knockout("ab")
    house.finish(house.create(), places=draw)
    assert (house.tournament.parts[0].deals, house.decide().deals) == (1, 5)  # type: ignore[union-attr]

    house.finish(house.create(), places=lambda labels: tuple(2 - (label == "b") for label in labels))

    assert isinstance(house.decide(), Done)
    assert draw_bracket(house.look())[0].ties[0].winner == "b"


def test_whoever_is_absent_loses_and_nobody_advances_where_both_are() -> None:
    house = make_knockout("abcd")
    part = house.create()
    for label in "abc":
        house.change_state(label, "withdrawn")
    house.finish(part)

    bracket = draw_bracket(house.look())
    assert [tie.winner for tie in bracket[0].ties] == ["d", None]
    assert isinstance(house.decide(), Done)
    assert bracket[-1].ties[0].winner == "d"


def test_the_bracket_stands_when_somebody_is_disqualified_later() -> None:
    house = make_knockout("abcd")
    house.finish(house.create(), places=win_by_name)

    house.change_state("a", "disqualified")

    assert name_pairs(house.create()) == ["ab", "cd"]
    house.finish(house.tournament.parts[-1], places=win_by_name)
    assert [tie.winner for tie in draw_bracket(house.look())[-1].ties] == ["b", "c"]


@pytest.mark.parametrize(("suspended", "ranking"), [("c", "a1 b2 d3 c4"), ("cd", "a1 b2 c4 d4")])
def test_a_suspended_loser_of_a_semi_final_does_not_play_for_the_third_place(suspended: str, ranking: str) -> None:
    house = make_knockout("abcd")
    house.finish(house.create(), places=win_by_name)

    last = house.create(suspended)

    assert name_pairs(last) == ["ab"]
    house.finish(last, places=win_by_name)
    assert format_ranking(house) == ranking, "although nobody is suspended any more"


def test_those_who_are_still_in_come_before_those_who_are_out() -> None:
    house = make_knockout("abcdef")
    for ranking in ("a1 b1 c1 d1 e5 f5", "a1 b1 d3 c3 e5 f5", "a1 b2 c3 d4 e5 f5"):
        part = house.create()
        before = format_ranking(house)
        house.finish(part, places=win_by_name)
        assert format_ranking(house) == ranking != before


def test_those_who_were_absent_from_a_match_that_nobody_won_have_a_place() -> None:
    house = make_knockout("abcdef")
    house.finish(house.create(), places=win_by_name)
    assert isinstance(house.decide("abcd"), Done)
    assert format_ranking(house, "abcd") == "a1 d1 b1 c1 e5 f5"

    house.finish(house.create("ad"), places=win_by_name)
    assert isinstance(house.decide(), Done)
    assert format_ranking(house) == "b1 c3 a4 d4 e5 f5"


def format_ranking(house: House, suspended: str = "") -> str:
    return " ".join(f"{label}{place}" for label, place in rank_knockout(house.look(suspended)))


@settings(max_examples=15, deadline=None)
@given(entries=st.integers(2, 40), chance=st.randoms(use_true_random=False))
def test_every_knockout_ends_with_one_winner_after_one_loss_for_each_other(entries: int, chance: object) -> None:
    house = make_knockout(ALPHABET[:entries])
    for _ in range(50):
        if isinstance(house.decide(), Done):
            break
        house.finish(house.create(), places=lambda labels: chance.choice([(1, 2), (2, 1), (1, 1)]))  # type: ignore[attr-defined]

    bracket = draw_bracket(house.look())
    assert all(tie.over and tie.winner for each in bracket for tie in each.ties)
    losers = [tie.loser for each in bracket[:-1] for tie in each.ties if tie.loser] + [bracket[-1].ties[0].loser]
    assert sorted([*losers, bracket[-1].ties[0].winner]) == sorted(ALPHABET[:entries])  # type: ignore[type-var]


@pytest.mark.whole
def test_a_knockout_takes_no_late_entry_and_nothing_changes(tmp_path: Path) -> None:
    path, db = tmp_path / "cup.toml", tmp_path / "cup.db"
    text = 'format = "knockout"\ndeals = 1\nseed = "x"\nentries = ["first", "uniform"{}]\n'
    path.write_text(text.format(""))
    assert malice("run", path, "--db", db).exit_code == 0
    path.write_text(text.format(', "greedy"'))

    result = malice("run", path, "--db", db)

    assert (result.exit_code, "'greedy' comes too late for a knockout that has begun" in result.output) == (2, True)


@pytest.mark.slow
def test_a_knockout_is_played_shown_and_verified(tmp_path: Path) -> None:
    path, db = tmp_path / "cup.toml", tmp_path / "cup.db"
    path.write_text('format = "knockout"\ndeals = 1\nseed = "x"\nentries = ["greedy", "first", "uniform"]\n')

    result = malice("run", path, "--db", db)

    assert result.exit_code == 0, result.output
    assert "semi-finals:\n  greedy without an opponent\n" in result.stdout
    assert malice("verify", db).exit_code == 0
    again = malice("run", path, "--db", db)
    assert (again.exit_code, again.stdout) == (0, result.stdout)


@pytest.mark.whole
@pytest.mark.slow
def test_a_stop_with_the_last_game_of_a_round_begins_no_other(tmp_path: Path) -> None:
    def stop_at_the_end(batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        outcome = play_batches(batches, jobs, cpus_per_game, hooks)
        outcome.stopped = "SIGINT"
        return outcome

    entries = ("greedy", "first", "uniform", "staller")
    config = Config(entries=entries, format="knockout", deals=1, seed="x", isolation="none")
    with Store(tmp_path / "cup.db", create=True) as store:
        plan = read_plan(store, config, tmp_path)

        with pytest.raises(Stopped, match="stopped by SIGINT after 4 of 8 games"):
            run_tournament(store, plan, io.StringIO(), RunTerms(playing=stop_at_the_end))

        assert store.tournament().closed == {0}
        assert len(store.tournament().parts) == 2


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a league that rated two of the three bots of a knockout before it, and went on after it."""
    folder = tmp_path_factory.mktemp("rated")
    season = 'name = "season"\nentries = ["first", "greedy"]\nseed = "x"\ndeals = '
    cup = 'format = "knockout"\nname = "cup"\nseeding = "rating"\ndeals = 1\nseed = "x"\n'
    texts = (f"{season}4", cup + 'entries = ["uniform", "first", "greedy"]', f"{season}5")
    for text in texts:
        (folder / "t.toml").write_text(text)
        result = malice("run", folder / "t.toml", "--db", folder / "l.db", "--isolation", "none")
        assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.whole
@pytest.mark.slow
def test_ratings_of_the_league_seed_a_knockout_and_whoever_has_none_comes_last(rated: Path) -> None:
    with Store(rated / "l.db") as store:
        cup = store.view("cup").tournament()

    assert cup.seeding == ("greedy", "first", "uniform")
    assert [version.label for version in cup.parts[0].byes] == ["greedy"]
    assert [version.label for version in cup.parts[0].tables[0].versions] == ["first", "uniform"]
    assert malice("verify", rated / "l.db", "--tournament", "cup").exit_code == 0


@pytest.mark.whole
@pytest.mark.slow
def test_ratings_of_the_league_seed_a_swiss(rated: Path, tmp_path: Path) -> None:
    shutil.copy(rated / "l.db", tmp_path / "l.db")
    swiss = 'format = "swiss"\nname = "swiss"\nrounds = 1\nseeding = "rating"\ndeals = 1\nisolation = "none"\n'
    (tmp_path / "t.toml").write_text(swiss + 'entries = ["uniform", "first", "greedy"]')

    malice("run", tmp_path / "t.toml", "--db", tmp_path / "l.db", "--create-only", code=0)

    with Store(tmp_path / "l.db") as store:
        (first,) = store.view("swiss").tournament().parts
    assert [version.label for version in first.byes] == ["uniform"], "the last of the seeds, not of the file"
    assert [version.label for version in first.tables[0].versions] == ["first", "greedy"]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", ['["first","greedy","uniform"]', '["greedy","uniform","first"]'])
def test_other_seeds_than_the_ratings_ask_for_do_not_verify(seeds: str, rated: Path, tmp_path: Path) -> None:
    shutil.copy(rated / "l.db", tmp_path / "l.db")
    replace_in_journal(tmp_path / "l.db", '"labels":["greedy","first","uniform"]', f'"labels":{seeds}')

    result = malice("verify", tmp_path / "l.db", "--tournament", "cup")

    assert result.exit_code == 5
    assert "seeds: the ratings ask for greedy, first, uniform" in result.stderr


def test_a_knockout_that_nothing_rates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('format = "knockout"\nseeding = "rating"\nentries = ["first", "greedy"]')
    (tmp_path / "all.toml").write_text('seeding = "rating"\nentries = ["first", "greedy"]')

    for name, why in (("cup", "no entry has a rating"), ("all", 'seeding: belongs to format = "swiss" or "knockout"')):
        result = malice("run", tmp_path / f"{name}.toml", "--db", tmp_path / "l.db")
        assert (result.exit_code, why in result.stderr) == (2, True)
    assert not (tmp_path / "l.db").exists()
