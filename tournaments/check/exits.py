"""How a bot exits: on `bye`, and when its input is closed without it."""

from __future__ import annotations

from collections.abc import Iterator

from malice.protocol.codec import excerpt
from malice.referee.bot_seat import BYE_WAIT_NS
from malice.referee.clock import MS
from malice.tournaments.check.causes import Failed
from malice.tournaments.check.games import ExamGames
from malice.tournaments.check.report import Finding
from malice.tournaments.check.seat import Leaving

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
