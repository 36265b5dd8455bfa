"""The messages of a running tournament."""

from __future__ import annotations

import io

import pytest

from malice.tournaments.running.events import VerdictGiven
from malice.tournaments.running.progress import Progress, ReplayProgress, format_duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_are_plain_lines_and_one_at_the_end() -> None:
    out = io.StringIO()

    with Progress(10, 4, out) as progress:
        for _ in range(5):
            progress.count_game()
        for seat in range(2):
            progress.read(VerdictGiven(key="0.0.5.0", seat=seat, label="x", code="crash", action=0, sentence=""))
        progress.count_game()

    (line,) = out.getvalue().splitlines()
    assert line.startswith("10/10 games, ")
    assert line.endswith("games/s, 0 s left, 2 faults")


def test_in_a_terminal_there_is_a_bar_that_ends_with_a_line_of_its_own() -> None:
    out = Terminal()

    with Progress(4, 0, out) as progress:
        progress.count_game()
        progress.count_game()

    last = out.getvalue().split("\r")[-1]
    assert last.startswith("[#")
    assert "] 2/4 games" in last
    assert last.endswith("\n")


def test_nothing_is_said_when_nothing_was_played() -> None:
    out = io.StringIO()

    with Progress(4, 4, out):
        pass

    assert out.getvalue() == ""


def test_the_time_left_follows_from_the_rate_that_is_told_until_all_games_are_there() -> None:
    progress = Progress(10, 4, io.StringIO())
    progress.count_game()
    progress.set_rate(2.5)

    assert progress.describe(1000.0) == "5/10 games, 2.5 games/s, 2 s left"
    for _ in range(5):
        progress.count_game()
    assert progress.describe(60.0) == "10/10 games, 0.1 games/s, 0 s left"


def test_games_that_are_played_again_have_a_bar_and_no_last_word_without_a_terminal() -> None:
    bar, plain, idle = Terminal(), io.StringIO(), Terminal()

    for out in (bar, plain):
        with ReplayProgress(out) as progress:
            progress.expect(3)
            progress.expect(1)
            progress.count_game()
    with ReplayProgress(idle) as progress:
        progress.expect(0)

    assert "] taking luck off: 1/4 games, " in bar.getvalue()
    assert bar.getvalue().endswith(" left\n")
    assert plain.getvalue() == idle.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1:00"), (187, "3:07"), (7511, "2:05:11"), (90000, "25:00:00")],
)
def test_a_span_of_time_is_told_as_people_say_it(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said
