"""Plays a game again: in a new process after a kill, and in a process that has played other games."""

from __future__ import annotations

from itertools import cycle, zip_longest

from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.nouns import format_count
from malice.tournaments.check.causes import Failed
from malice.tournaments.check.games import ExamGames
from malice.tournaments.check.report import Finding
from malice.tournaments.check.seat import ExaminedSeat, Spoken

REPEATED_DEAL = 3000
"""The deal that is repeated."""
BEFORE = 6
"""Games that a reused process plays first, of many families of rulesets and so from many seats."""
ACTIONS = 3
"""The number of actions after which a game is broken off."""


class Enough(MaliceError):
    """A game was broken off on purpose."""


class RepeatedGame(Struct, frozen=True):
    """The result of a repeated game, unless state leaks."""

    line: str
    remarks: tuple[str, ...] = ()


def break_off(games: ExamGames) -> None:
    """Kill the bot in the middle of a game."""

    def after_answer(seat: ExaminedSeat) -> None:
        if len(seat.spoken) >= ACTIONS:
            raise Enough("a game was broken off on purpose")

    seat = games.seat()
    seat.after_answer = after_answer
    try:
        games.play_main(seat, REPEATED_DEAL + BEFORE + 1)
    except Enough:
        pass
    finally:
        seat.dismiss()


def compare(games: ExamGames) -> RepeatedGame:
    """Play a game in two fresh processes and in a reused one; repeat both if they differ.

    Raises:
        Failed: fresh processes always play alike and reused ones differently: state of earlier games remains.
    """
    fresh = _play_after(games)
    again = _play_after(games)
    if _find_difference(fresh, again) is not None:
        return _report_chance(fresh, again)
    reused = _play_after(games, before=BEFORE)
    if (index := _find_difference(fresh, reused)) is None:
        return RepeatedGame(
            f"{format_count(len(fresh), 'action')}, the same in two fresh processes and in a reused one"
        )
    # A bot that reads the clock may differ once; a leak shows every time.
    if _find_difference(fresh, third := _play_after(games)) is not None:
        return _report_chance(fresh, third)
    if _find_difference(fresh, _play_after(games, before=BEFORE)) is None:
        return _report_chance(fresh, reused)
    raise Failed(_make_leak_finding(games, fresh, reused, index))


def _play_after(games: ExamGames, before: int = 0) -> list[Spoken]:
    """Return the bot's actions in a process that has played `before` other games."""
    seat = games.seat()
    for number, (ruleset, seats) in zip(range(before), cycle(games.syllabus.others[::2]), strict=False):
        games.play(seat, ruleset, seats, REPEATED_DEAL + 1 + number)
    games.play_main(seat, REPEATED_DEAL)
    seat.retire()
    return seat.spoken


def _find_difference(one: list[Spoken], other: list[Spoken]) -> int | None:
    """Return the index of the first action that differs."""
    moves = zip_longest((spoken.move for spoken in one), (spoken.move for spoken in other))
    return next((index for index, (left, right) in enumerate(moves) if left != right), None)


def _report_chance(one: list[Spoken], other: list[Spoken]) -> RepeatedGame:
    index = _find_difference(one, other)
    assert index is not None
    return RepeatedGame(
        "not repeatable: a leak between games cannot be distinguished from chance",
        (
            "not repeatable: it uses chance other than rng, or reads the clock: with the same rng its action"
            f" {index + 1} was {_move(one, index)} once and {_move(other, index)} another time",
        ),
    )


def _make_leak_finding(games: ExamGames, fresh: list[Spoken], reused: list[Spoken], index: int) -> Finding:
    request = (fresh if index < len(fresh) else reused)[index].request
    return Finding(
        cause=(
            f"state of earlier games is left: with the same cards and rng, action {index + 1} is"
            f" {_move(fresh, index)} in a fresh process and {_move(reused, index)} in one that has played"
            f" {BEFORE} games"
        ),
        expected="the same actions from the same rng, whatever the process has played before",
        hint="at game_start, forget everything about the last game, and seed your random generator with its rng",
        where=f"{games.syllabus.main.name}, {games.syllabus.seats} seats, deal {REPEATED_DEAL}",
        lines=(
            request,
            *("* a fresh process, twice", _answer(fresh, index)),
            *(f"* a process that has played {BEFORE} games, twice", _answer(reused, index)),
        ),
    )


def _move(spoken: list[Spoken], index: int) -> str:
    return spoken[index].move if index < len(spoken) else "none"


def _answer(spoken: list[Spoken], index: int) -> str:
    return spoken[index].answer if index < len(spoken) else "* its game was over"
