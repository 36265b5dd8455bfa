"""A game is watched action by action: in its place in a terminal, as successive blocks elsewhere."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import Move, MoveAnswer
from malice.referee.errors import Abandoned
from malice.referee.game_runner import GameRunner
from malice.referee.records import Record
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from malice.tournaments.terminal.watching import DELAY_MS, Screen, Watcher
from tests.command_line import malice
from tests.processes import Mark
from tests.tables import Script, batch, player
from tests.terminals import malice as in_terminal

CRASH = Verdict("crash", "the bot exited with status 3")
TINY = 'extends = "standard"\n[rules]\npayoff_size = 2\n'


class TerminalText(io.StringIO):
    """Text that says that it is written to a terminal."""

    def isatty(self) -> bool:
        return True


def watched(screen: Screen, *seats: Script, label: str = "seat", ruleset: str = "") -> Record:
    """Play a game before somebody who watches."""
    told = batch(*(replace(player("blank"), label=f"{label}{number}") for number in range(len(seats))))
    if ruleset:
        told = replace(told, ruleset=ruleset, rules=load_ruleset(ruleset).rules)
    watcher = Watcher(screen)
    record = GameRunner(told, told.games[0], seats, watch=watcher.begin(told, told.games[0])).play()
    watcher.end(record)
    return record


def test_elsewhere_every_action_is_a_block_with_the_table_and_nothing_that_moves_the_cursor() -> None:
    out = io.StringIO()

    record = watched(Screen(out, {"TERM": "xterm"}), Script(), Script())

    head, *_ = text = out.getvalue().split("\n")
    assert head == "game 0.0.0.0 · standard · seat0 (seat 0) against seat1 (seat 1)"
    told = [line for line in text if line[:5].strip().isdigit()]
    assert [line.split()[2] for line in told] == [action for _, action in record.actions]
    assert sum(line.startswith("-- turn") for line in text) == len(record.actions)
    assert text[-3].startswith(f"{record.reason} after {len(record.actions)} actions: ")
    assert "\x1b" not in out.getvalue()


def test_in_a_terminal_each_block_takes_the_place_of_the_last() -> None:
    out = TerminalText()

    record = watched(Screen(out, {"TERM": "xterm"}, 0), Script(), Script())

    blocks = out.getvalue().split("\x1b[?7l")[1:]
    assert len(blocks) == len(record.actions) + 1
    height = blocks[0].count("\n")
    assert height == 5
    assert out.getvalue().count(f"\x1b[{height}F\x1b[?7l") == len(record.actions)
    assert all("\x1b[?7h" in block for block in blocks)


def test_a_game_that_follows_leaves_the_last_one_where_it_is() -> None:
    out = TerminalText()
    screen = Screen(out, {"TERM": "xterm"}, 0)
    watched(screen, Script(), Script())
    before = len(out.getvalue())

    watched(screen, Script(), Script())

    assert out.getvalue()[before:].startswith("\x1b[?7lgame")


@pytest.mark.parametrize(
    ("environment", "bold"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": ""}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_the_news_is_bold_unless_no_color_is_set(environment: dict[str, str], bold: bool) -> None:
    out = TerminalText()

    Screen(out, environment, 0).show(["head"], ["news"], ["table"])

    assert ("\x1b[1mnews\x1b[0m" in out.getvalue()) is bold


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {}])
def test_a_terminal_that_knows_no_places_gets_plain_text(environment: dict[str, str]) -> None:
    out = TerminalText()

    Screen(out, environment).show(["head"], ["news"], [])

    assert out.getvalue() == "head\nnews\n\n"


@pytest.mark.parametrize(
    ("out", "delay", "waits"),
    [(TerminalText(), None, [DELAY_MS / 1000]), (io.StringIO(), None, []), (io.StringIO(), 40, [0.04])],
)
def test_a_block_stands_for_the_delay(out: io.StringIO, delay: int | None, waits: list[float]) -> None:
    waited: list[float] = []

    Screen(out, {"TERM": "xterm"}, delay, waited.append).show([], ["news"], [])

    assert waited == waits


def test_a_block_that_is_higher_than_the_terminal_comes_below_the_last() -> None:
    out = TerminalText()
    screen = Screen(out, {"TERM": "xterm"}, 0)

    for _ in range(2):
        screen.show(["head"], ["news"], ["line"] * 40)

    assert "F\x1b[?7l" not in out.getvalue()


@pytest.mark.parametrize("fails", [(CRASH, None), (CRASH, CRASH)], ids=["one", "all"])
def test_a_verdict_is_shown_also_one_before_the_first_action(fails: tuple[Verdict | None, ...]) -> None:
    out = io.StringIO()

    record = watched(Screen(out, {}), *(Script(fails={"begin": each} if each else {}) for each in fails))

    assert record.faults
    assert "seat0: crash: the bot exited with status 3" in out.getvalue()


@pytest.mark.parametrize("environment", [{}, {"TERM": "xterm", "NO_COLOR": "1"}], ids=["below", "in place"])
@pytest.mark.parametrize("fails", [(0, 2), (1, 3), (0, 1, 2)], ids=str)
def test_every_verdict_before_the_first_action_is_news(fails: tuple[int, ...], environment: dict[str, str]) -> None:
    out = TerminalText()
    scripts = [Script(fails={"begin": CRASH} if seat in fails else {}) for seat in range(4)]

    record = watched(Screen(out, environment, 0), *scripts, ruleset="partners-4")

    assert record.actions == tuple((seat, "!crash") for seat in fails)
    for index, seat in enumerate(fails):
        assert f"\n{index:5} seat{seat}  !crash" in out.getvalue().replace("\x1b[K", "")


def test_hostile_names_and_notes_are_spelled_out() -> None:
    def noisy(request: Move) -> MoveAnswer:
        assert isinstance(request.legal, tuple)
        return MoveAnswer(request.id, request.legal[0], "\x1b[2J\u202e")

    out = io.StringIO()

    watched(Screen(out, {}), Script(noisy), Script(), label="\x9b2J")

    assert not set("\x1b\x9b\u202e") & set(out.getvalue())
    assert r"# \x1b[2J\u202e" in out.getvalue()


def test_when_nobody_reads_any_more_the_game_is_abandoned() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as out, pytest.raises(Abandoned, match="a reader that went away"):
        Screen(out, {}).show([], ["news"], [])


@pytest.fixture
def mark() -> Iterator[Mark]:
    mark = Mark()
    yield mark
    mark.end()


@pytest.mark.slow
def test_a_watched_game_is_the_game_that_is_played_unwatched() -> None:
    words = ("play", "greedy", "uniform", "--seed", "x", "--json")

    watched, unwatched = malice(*words, "--watch"), malice(*words)

    digests = [[game["digest"] for game in json.loads(result.stdout)["games"]] for result in (watched, unwatched)]
    assert digests[0] == digests[1]
    assert "-- turn 1, " in watched.stderr
    assert "-- turn" not in unwatched.stderr


@pytest.mark.slow
def test_in_a_real_terminal_it_draws_in_place_and_ends_with_the_ranking(mark: Mark, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    words = ["play", "greedy", "first", "--ruleset", "./tiny.toml", "--watch", "--delay", "0"]

    with in_terminal(tmp_path, mark.environ() | {"TERM": "xterm"}, words) as terminal:
        text = terminal.rest()
        assert terminal.status() == 0

    assert "\x1b[5F\x1b[?7l" in text
    assert "Elo relative" in text
    assert mark.await_end() == []


@pytest.mark.slow
def test_ctrl_c_ends_it_with_130_and_leaves_no_process(mark: Mark, tmp_path: Path) -> None:
    words = ["play", "greedy", "first", "--watch", "--delay", "500", "--isolation", "none"]

    with in_terminal(tmp_path, mark.environ() | {"TERM": "xterm"}, words) as terminal:
        terminal.until("    0 ")
        assert len(list(mark.alive())) == 3
        terminal.type("\x03")
        assert terminal.status() == 130

    assert mark.await_end() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["play", "you", "first", "--watch"], "--watch shows every hand"),
        (["play", "first", "first", "--delay", "5"], "--delay needs --watch"),
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str], said: str) -> None:
    result = malice(*words)

    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.slow
def test_a_bot_that_cannot_start_ends_it_before_the_first_game() -> None:
    result = malice("play", f"{sys.executable} -c 'raise SystemExit(3)'", "first", "--watch")

    assert result.exit_code == 2
    assert "exited with status 3" in result.stderr
    assert result.stdout == ""
