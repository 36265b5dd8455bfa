"""A person plays in a terminal: what they are shown and asked, and how they leave."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import GameStart, Move
from malice.referee.errors import Abandoned
from malice.referee.verdicts import Verdict
from malice.tournaments.terminal.person import Person
from tests.command_line import malice
from tests.processes import Mark
from tests.samples import sample
from tests.tables import Script, play
from tests.terminals import Terminal
from tests.terminals import malice as in_terminal

TINY = 'extends = "{}"\n[rules]\npayoff_size = 2\n'
PROMPT = "? or q> "


@pytest.fixture
def mark() -> Iterator[Mark]:
    """Know every process that a test starts, and end what it leaves."""
    mark = Mark()
    yield mark
    mark.end()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a ruleset of short games."""
    (tmp_path / "tiny.toml").write_text(TINY.format("standard"))
    return tmp_path


def answered(text: bytes) -> tuple[Person, io.StringIO]:
    """Return a person who types this, and what they see."""
    out = io.StringIO()
    return Person("you", io.BytesIO(text), out), out


def seated(person: Person) -> Move:
    """Tell a person of a game, and return the request that opens it."""
    script = Script()
    play(script, Script())
    start = script.requests[0]
    assert isinstance(start, GameStart)
    person.ask(start)
    return script.moves[0]


def play_to_the_end(terminal: Terminal, ends: str, choose: Callable[[str], str] = lambda seen: "1") -> list[str]:
    """Answer every prompt until the end shows; return what was shown before each answer."""
    seen: list[str] = []
    while True:
        if terminal.until_one_of(PROMPT, ends) == ends:
            return seen
        seen.append(terminal.until(PROMPT))
        terminal.type(choose(seen[-1]) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extends", "others"),
    [
        ("partners-4", ["first"] * 3),
        *(
            pytest.param(extends, [bot], marks=pytest.mark.whole)
            for extends, bot in (("standard", "first"), ("loading", "uniform"))
        ),
    ],
)
def test_a_person_plays_whole_games_in_a_terminal(extends: str, others: list[str], mark: Mark, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY.format(extends))
    words = ["play", "you", *others, "--ruleset", "./tiny.toml", "--seed", "me", "--db", "t.db"]

    with in_terminal(tmp_path, mark.environ(), words) as terminal:
        seen = play_to_the_end(terminal, "in a row")
        assert terminal.status() == 0

    exported = malice("export", tmp_path / "t.db").stdout.splitlines()
    games = [json.loads(line) for line in exported]
    assert len(games) == 1 + len(others)
    mine = [
        action["action"]
        for game in games
        for action in game["actions"]
        if game["entries"][action["seat"]]["label"] == "you"
    ]
    assert len(seen) == len(mine)
    assert not any(action.startswith("!") for action in mine)
    assert mark.await_end() == []


@pytest.mark.slow
def test_what_is_typed_is_what_is_played(folder: Path, mark: Mark) -> None:
    words = ["play", "you", "first", "--ruleset", "./tiny.toml", "--seed", "me", "--db", "t.db"]

    with in_terminal(folder, mark.environ(), words) as terminal:
        shown = terminal.until(PROMPT)
        terminal.type("0\n")
        assert "expected a number from 1 to " in terminal.until(PROMPT)
        terminal.type("pay-off\n")
        assert "got: 'pay-off'" in terminal.until(PROMPT)
        terminal.type("?\n")
        assert "malice rules show tiny" in terminal.until(PROMPT)
        number, card = re.findall(r"(\d+)  (\w\w) to side 0, empty", shown)[-1]
        terminal.type(f"{number}\n")
        assert f"s0:{card}" in terminal.until(PROMPT)
        terminal.type("q\n")
        terminal.rest()

    game = json.loads(malice("export", folder / "t.db").stdout)
    seat = [entry["label"] for entry in game["entries"]].index("you")
    assert [each["action"] for each in game["actions"] if each["seat"] == seat] == [f"h{card}-s0", "!resigned"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "said"), sample([("q\n", "you: resigned the game"), ("\x04", "you: resigned by closing the input")], 2)
)
def test_who_leaves_has_resigned_the_game_and_the_others_are_not_played(
    keys: str, said: str, folder: Path, mark: Mark
) -> None:
    # With a seed by which it is asked in the first game, which may else be over before its turn.
    words = ["play", "you", "first", "--ruleset", "./tiny.toml", "--deals", "3", "--seed", "asked"]

    with in_terminal(folder, mark.environ(), words) as terminal:
        terminal.until(PROMPT)
        terminal.type(keys)
        text = terminal.rest()
        assert terminal.status() == 3

    assert said in text
    assert "[you: resigned]" in text
    assert "stopped by you after 1 of 6 games; no game was kept" in text
    assert mark.await_end() == []


@pytest.mark.slow
def test_ctrl_c_ends_at_once_with_130_and_leaves_no_process(folder: Path, mark: Mark) -> None:
    words = ["play", "you", "first", "--ruleset", "./tiny.toml", "--isolation", "none"]

    with in_terminal(folder, mark.environ(), words) as terminal:
        terminal.until(PROMPT)
        assert len(list(mark.alive())) == 2
        terminal.type("\x03")
        assert terminal.status() == 130

    assert mark.await_end() == []


@pytest.mark.slow
def test_answers_may_come_through_a_pipe_and_json_goes_to_stdout_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    result = malice("play", "you", "first", "--ruleset", "./tiny.toml", "--json", input="1\n" * 1000)

    assert result.exit_code == 0, result.output
    assert [sorted(game["labels"]) for game in json.loads(result.stdout)["games"]] == [["first", "you"]] * 2
    assert "-- turn 1, " in result.stderr


@pytest.mark.slow
def test_a_folder_called_you_is_meant_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "you").mkdir()
    (tmp_path / "you" / "bot.toml").write_text('name = "other"\nrun = ["{python}", "-I", "bot.py"]\n')
    (tmp_path / "you" / "bot.py").write_text((Path(__file__).parents[1] / "bots/python/first/bot.py").read_text())

    bot, person = malice("play", "./you", "first", "--json"), malice("play", "you", "first", "--json")

    assert bot.exit_code == 0, bot.output
    assert json.loads(bot.stdout)["games"][0]["labels"] == ["other", "first"]
    assert person.exit_code == 3
    assert "resigned" in person.stderr


def test_the_table_shows_the_own_hand_and_only_the_size_of_others() -> None:
    person, out = answered(b"1\n")
    seats = person, Script()
    play(*seats)

    assert person.games == 1
    shown = out.getvalue()
    assert "A game of standard: you in seat 0, script in seat 1." in shown
    assert len(re.findall(r"      you .*  hand (?:\w\w ?){5}\n", shown)) == 2
    assert "hand 5 cards" in shown
    assert "??" not in shown


def test_no_clock_holds_for_a_person_but_the_time_is_taken() -> None:
    person, _ = answered(b"1\n")
    request = seated(person)

    answer, wall, cpu = person.ask_move(request, 1)

    assert isinstance(request.legal, tuple)
    assert answer.move == request.legal[0]
    assert (wall > 1, cpu) == (True, 0)


def test_the_next_game_is_not_begun_by_who_has_left() -> None:
    person, _ = answered(b"")
    person.begin()
    with pytest.raises(Verdict, match="resigned by closing the input"):
        person.ask_move(seated(person), None)

    with pytest.raises(Abandoned, match="you"):
        person.begin()


def test_names_of_bots_cannot_move_the_cursor() -> None:
    person, out = answered(b"")
    hostile = Script()
    hostile.name = "\x1b[2J\u202eevil"

    play(person, hostile)

    assert not {"\x1b", "\u202e"} & set(out.getvalue())
    assert r"\x1b[2J\u202eevil" in out.getvalue()


def test_many_actions_stand_in_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "COLUMNS", "60")
    person, out = answered(b"1\n")

    person.ask_move(replace(seated(person), legal=tuple(f"h7C-c{slot}" for slot in range(7))), None)

    lines = [line for line in out.getvalue().splitlines() if " to centre " in line]
    assert all(len(line) <= 60 for line in lines)
    assert len(lines) == 4
