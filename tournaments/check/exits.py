"""How a bot goes: when it is told `bye`, and when its input ends without a word."""

from __future__ import annotations

from collections.abc import Iterator

from protocol.codec import excerpt
from referee.clock import MS
from referee.seat import BYE_WAIT_NS
from tournaments.check.causes import Failed
from tournaments.check.games import Games
from tournaments.check.report import Finding
from tournaments.check.seat import Leaving

DEAL = 2000
"""A deal that is played in no other part."""


def leave(games: Games, *, bye: bool, plays: bool) -> Leaving:
    """Start the bot, let it play a game if it can, and send it off.

    Args:
        games: where it plays.
        bye: whether it is told `bye` and its input stays open, or its input is closed without a word.
        plays: whether it can play; otherwise it is only greeted.

    Raises:
        Failed: it did not exit.
    """
    seat = games.seat()
    if plays:
        games.play_main(seat, DEAL + bye)
    else:
        seat.greet()
    left = seat.go(bye=bye)
    if left.heard.gone:
        return left
    waited = f"{left.heard.ns / MS:.0f} ms later it still lives"
    raise Failed(
        Finding(
            cause=f"it stays when {'it is told bye' if bye else 'its input is closed'}",
            expected="its process exits by itself; after 500 ms the referee kills it",
            hint=_HINTS[bye],
            where="after a game" if plays else "after hello",
            lines=(*left.lines, *([f"< {excerpt(left.heard.said)}"] if left.heard.said else []), f"* {waited}"),
            stderr=left.stderr,
        )
    )


_HINTS = {
    True: 'leave the loop when the type is "bye", and exit: it is the last line, and has no answer',
    False: "leave the loop at the end of input, which means the same as bye: the referee may be gone",
}


def remarks(left: Leaving) -> Iterator[str]:
    """Tell what breaks nothing, as how a bot exits is nobody's business."""
    if left.heard.said:
        yield f"it said something at the end that nobody asked for: {excerpt(left.heard.said, 60)}"
    if left.heard.ns > BYE_WAIT_NS:
        yield f"it took longer than the {BYE_WAIT_NS // MS} ms after which the referee kills it"
    if left.exit is not None and left.exit != "exited with status 0":
        last = left.stderr.strip().splitlines()[-1:]
        yield f"it {'was ' if left.exit.startswith('killed') else ''}{left.exit}" + "".join(
            f": {line}" for line in last
        )
    if left.left:
        yield f"{left.left} of its child processes lived on; the referee kills them"
