"""Leagues of people: what somebody reaches is kept and told, and a name that is taken off is nowhere any more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from malice.referee.families import load_family
from malice.tournaments.league.people import Career, Ending
from tests.command_line import malice

NAME = "Zebulon"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ruleset of short games."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 2\n')
    return tmp_path


def play(*more: str, typed: str = "1\n" * 500, code: int = 0) -> str:
    words = ("play", "you", "first", "--ruleset", "./tiny.toml", "--db", "people.db", "--seed", "me")
    return malice(*words, *more, input=typed, code=code).output


def find_files_with(folder: Path, text: str) -> set[str]:
    return {each.name for each in folder.rglob("*") if each.is_file() and text.encode() in each.read_bytes()}


def test_games_of_people_are_counted_by_name_and_a_name_can_be_taken_off(folder: Path) -> None:
    shown = play("--as", NAME)
    play("--as", NAME)
    play("--as", "bob", typed="q\n", code=3)

    assert f"{NAME} in seat 0" in shown
    assert f"{NAME}, 1 to " in shown
    told = {each["who"]: each for each in json.loads(malice("standings", "people.db", "--json", code=0).stdout)}
    assert {who: (each["played"], each["against"]) for who, each in told.items()} == {
        NAME: (4, ["first"]),
        "bob": (1, ["first"]),
    }
    assert (told["bob"]["won"], told["bob"]["streak"]) == (0, 0)
    assert NAME in malice("standings", "people.db", code=0).stdout
    assert find_files_with(folder, NAME) == {"people.names.json"}
    before = malice("verify", "people.db", code=0).stdout

    malice("forget", "people.db", NAME, code=0)

    assert find_files_with(folder, NAME) == set()
    assert malice("verify", "people.db", code=0).stdout == before
    told = {each["who"]: each for each in json.loads(malice("standings", "people.db", "--json", code=0).stdout)}
    assert told["person 1"]["played"] == 4
    assert "nobody is called" in malice("forget", "people.db", NAME, code=2).output
    play("--as", "carl", typed="q\n", code=3)
    assert json.loads((folder / "people.names.json").read_bytes()) == {"person 2": "bob", "person 3": "carl"}


def test_games_that_somebody_left_come_first_at_the_next_sitting(folder: Path) -> None:
    play(typed="q\n", code=3)

    play()

    tournaments = {json.loads(line)["tournament"] for line in malice("export", "people.db").stdout.splitlines()}
    assert tournaments == {"play"}
    play(typed="q\n", code=3)
    tournaments = {json.loads(line)["tournament"] for line in malice("export", "people.db").stdout.splitlines()}
    assert tournaments == {"play", "play-2"}


def test_leagues_of_people_and_of_bots_stay_apart(folder: Path) -> None:
    bots = ("play", "first", "uniform", "--ruleset", "./tiny.toml", "--isolation", "none", "--db")
    malice(*bots, "bots.db", code=0)
    play(typed="q\n", code=3)

    into_bots = malice("play", "you", "first", "--ruleset", "./tiny.toml", "--db", "bots.db", "--as", NAME, code=2)
    into_people = malice(*bots, "people.db", code=2)

    assert "expected a league of people, got one of bots" in into_bots.output
    assert "expected a league of bots, got one of people" in into_people.output
    assert find_files_with(folder, NAME) == set()


def test_daily_deals_of_a_league_of_people_are_told_beside_its_games(folder: Path) -> None:
    words = ("play", "you", "--daily", "--day", "2026-01-01", "--db", "people.db", "--as", NAME)
    assert f"{NAME}, 1 to" in malice(*words, input="turn\ndone\ndone\n", code=0).output

    (row,) = json.loads(malice("standings", "people.db", "--json", code=0).stdout)

    assert (row["who"], row["played"], row["won"], row["shares"]) == (NAME, 1, 0, {"solved": 0})
    assert "deals solved: 0 of 1 daily deal" in malice("standings", "people.db").stdout
    assert find_files_with(folder, NAME) == {"people.names.json"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--as", "ann"), "--as needs --db"),
        (("--db", "people.db", "--as", "ann", "--as", "bob"), "expected at most a name for each `you`, got 2"),
        (("--db", "people.db", "--as", "a\x1bn"), "all of them visible"),
        (("--db", "people.db", "--as", "person 3"), "which stands for somebody without one"),
        (("--db", "people.db", "--as", "you"), "which stands for somebody without one"),
    ],
)
def test_names_are_names_of_people_in_a_league(folder: Path, more: tuple[str, ...], sentence: str) -> None:
    refused = malice("play", "you", "first", *more, code=2)

    assert sentence in refused.output
    assert not list(folder.glob("people.*"))


def test_a_career_counts_rows_of_wins_and_keeps_the_best() -> None:
    statistics = load_family("klondike").statistics
    solved = {"solved": 1, "cards": 52, "moves": 120, "time_ms": 9000}
    career = Career()
    for won, score, values in ((True, 3, solved), (True, 9, solved | {"moves": 90}), (False, 1, {"cards": 4})):
        career = career.add(statistics, Ending(won, False, score, values))

    assert (career.played, career.won, career.streak, career.longest, career.best) == (3, 2, 0, 2, 9)
    assert career.shares == {"solved": 2}
    assert career.values == {"cards": 52, "moves": 90, "time_ms": 9000}
