"""What processes of the bot show: how each exits, and whether a new one plays a game as the last one did."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, zip_longest

from msgspec import Struct

from malice.protocol.codec import excerpt
from malice.protocol.errors import MaliceError
from malice.referee.clock import MS
from malice.referee.nouns import format_count
from malice.referee.seat import BYE_WAIT_NS
from malice.tournaments.check.causes import Failed
from malice.tournaments.check.games import ExamGames
from malice.tournaments.check.report import Finding
from malice.tournaments.check.seat import ExaminedSeat, Leaving, Spoken

EXIT_DEAL = 2000
"""A deal that no other part plays."""


def leave(games: ExamGames, *, bye: bool, plays: bool) -> Leaving:
    """Start the bot, let it play a game if it can, and ask it to exit.

    Args:
        games: seats the bot.
        bye: whether it receives `bye` and its input stays open, or its input is closed without `bye`.
        plays: whether it can play a game; if not, it only answers `hello`.

    Raises:
        Failed: it did not exit.
    """
    seat = games.seat()
    if plays:
        games.play_main(seat, EXIT_DEAL + bye)
    else:
        seat.greet()
    leaving = seat.go(bye=bye)
    if leaving.heard.gone:
        return leaving
    last_words = leaving.heard.output
    waited = f"{leaving.heard.ns / MS:.0f} ms later it still lives"
    raise Failed(
        Finding(
            cause=f"it stays {'after bye' if bye else 'when its input is closed'}",
            expected="its process exits by itself; after 500 ms the referee kills it",
            hint=_HINTS[bye],
            where="after a game" if plays else "after hello",
            lines=(
                *leaving.lines,
                *([f"< {excerpt(last_words)}"] if last_words else []),
                f"* {waited}",
            ),
            stderr=leaving.stderr,
        )
    )


_HINTS = {
    True: 'leave the loop when the type is "bye", and exit: it is the last line, and needs no answer',
    False: "leave the loop at the end of input, which means the same as bye: the referee may be gone",
}


def list_remarks(leaving: Leaving) -> Iterator[str]:
    """Yield remarks on an exit; none of them is a failure."""
    if leaving.heard.output:
        yield f"it printed something at the end that was no answer: {excerpt(leaving.heard.output, 60)}"
    if leaving.heard.ns > BYE_WAIT_NS:
        yield f"it took longer than the {BYE_WAIT_NS // MS} ms after which the referee kills it"
    if leaving.exit is not None and leaving.exit != "exited with status 0":
        last = leaving.stderr.strip().splitlines()[-1:]
        yield f"it {'was ' if leaving.exit.startswith('killed') else ''}{leaving.exit}" + "".join(
            f": {line}" for line in last
        )
    if leaving.left:
        yield f"{leaving.left} of its child processes lived on; the referee kills them"


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
    """The bot's actions in a process that has played `before` other games."""
    seat = games.seat()
    for number, (ruleset, seats) in zip(range(before), cycle(games.syllabus.others[::2]), strict=False):
        games.play(seat, ruleset, seats, REPEATED_DEAL + 1 + number)
    games.play_main(seat, REPEATED_DEAL)
    seat.retire()
    return seat.spoken


def _find_difference(one: list[Spoken], other: list[Spoken]) -> int | None:
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
