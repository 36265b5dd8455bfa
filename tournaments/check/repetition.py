"""The same game again: in a process that was killed and started anew, and in one that has played others before."""

from __future__ import annotations

from itertools import cycle, zip_longest

from msgspec import Struct

from protocol.errors import MaliceError
from tournaments.check.causes import Failed
from tournaments.check.games import Games
from tournaments.check.report import Finding
from tournaments.check.seat import ExaminedSeat, Spoken

DEAL = 3000
"""The deal that is played again and again."""
BEFORE = 6
"""How many games a reused process plays before: of many families of rulesets, and so from many seats."""
ACTIONS = 3
"""After so many actions a game is broken off."""


class Enough(MaliceError):
    """A game was broken off on purpose."""


class Comparison(Struct, frozen=True):
    """What came out when a game was played again, if no state leaks."""

    line: str
    remarks: tuple[str, ...] = ()


def break_off(games: Games) -> None:
    """Kill the bot in the middle of a game."""

    def after_answer(seat: ExaminedSeat) -> None:
        if len(seat.spoken) >= ACTIONS:
            raise Enough("a game was broken off on purpose")

    seat = games.seat()
    seat.after_answer = after_answer
    try:
        games.play_main(seat, DEAL + BEFORE + 1)
    except Enough:
        pass
    finally:
        seat.dismiss()


def compare(games: Games) -> Comparison:
    """Play a game in two fresh processes and in one that has played others; if they differ, all of it once more.

    Raises:
        Failed: fresh processes always play alike, and reused ones otherwise: something is left of earlier games.
    """
    fresh = _play_after(games)
    again = _play_after(games)
    if _difference(fresh, again) is not None:
        return _by_chance(fresh, again)
    reused = _play_after(games, before=BEFORE)
    if (index := _difference(fresh, reused)) is None:
        return Comparison(f"{len(fresh)} actions, the same in two fresh processes and in a reused one")
    # A bot that looks at the clock could differ for once: a leak shows every time.
    if _difference(fresh, third := _play_after(games)) is not None:
        return _by_chance(fresh, third)
    if _difference(fresh, _play_after(games, before=BEFORE)) is None:
        return _by_chance(fresh, reused)
    raise Failed(_leak(games, fresh, reused, index))


def _play_after(games: Games, before: int = 0) -> list[Spoken]:
    """Return the actions of the game in a process that has played so many others before."""
    seat = games.seat()
    for number, (ruleset, seats) in zip(range(before), cycle(games.syllabus.others[::2]), strict=False):
        games.play(seat, ruleset, seats, DEAL + 1 + number)
    games.play_main(seat, DEAL)
    seat.retire()
    return seat.spoken


def _difference(one: list[Spoken], other: list[Spoken]) -> int | None:
    """Return which action is the first that differs."""
    moves = zip_longest((spoken.move for spoken in one), (spoken.move for spoken in other))
    return next((index for index, (left, right) in enumerate(moves) if left != right), None)


def _by_chance(one: list[Spoken], other: list[Spoken]) -> Comparison:
    index = _difference(one, other)
    assert index is not None
    return Comparison(
        "not repeatable: a leak between games cannot be told from chance",
        (
            "not repeatable: it uses chance other than rng, or looks at the clock: with the same rng its action"
            f" {index + 1} was {_move(one, index)} once and {_move(other, index)} another time",
        ),
    )


def _leak(games: Games, fresh: list[Spoken], reused: list[Spoken], index: int) -> Finding:
    asked = (fresh if index < len(fresh) else reused)[index].request
    return Finding(
        cause=(
            f"something is left of earlier games: with the same cards and rng, action {index + 1} is"
            f" {_move(fresh, index)} in a fresh process and {_move(reused, index)} in one that has played"
            f" {BEFORE} games"
        ),
        expected="the same actions from the same rng, whatever the process has played before",
        hint="forget at game_start whatever belongs to a game, and seed your random generator with its rng there",
        where=f"{games.syllabus.main.name}, {games.syllabus.seats} seats, deal {DEAL}",
        lines=(
            asked,
            *("* a fresh process, twice", _answer(fresh, index)),
            *(f"* a process that has played {BEFORE} games, twice", _answer(reused, index)),
        ),
    )


def _move(spoken: list[Spoken], index: int) -> str:
    return spoken[index].move if index < len(spoken) else "none"


def _answer(spoken: list[Spoken], index: int) -> str:
    return spoken[index].answer if index < len(spoken) else "* its game was over"
