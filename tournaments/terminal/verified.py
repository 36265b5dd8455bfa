"""The result of a verification as text."""

from __future__ import annotations

from collections.abc import Iterator

from referee.nouns import format_count
from tournaments.league.verify import Verified, VerifiedPart
from tournaments.sanitizer import sanitize


def describe_verified(verified: Verified) -> Iterator[str]:
    """Yield the lines of a verification: what is there, the parts, what was not covered, the tournament SHA."""
    yield f"games           {verified.games} ({_describe_state(verified)}), all of them replay"
    if verified.left_out:
        ahead = "played ahead of a suspension, or of the end of a test"
        yield f"left out        {verified.left_out} that were {ahead}, and count for nobody"
    for part in verified.parts:
        yield from _describe_part(part, alone=len(verified.parts) == 1)
    yield f"not covered     {', '.join(verified.not_covered)}"
    yield f"tournament SHA  {verified.sha}"


def _describe_state(verified: Verified) -> str:
    if verified.complete:
        return "complete but for the games of suspended bots" if verified.suspended else "complete"
    state = f"of {verified.planned}, not complete"
    if verified.absent:
        state += f", the games of absent bots wait: {', '.join(map(sanitize, verified.absent))}"
    return state


def _describe_part(part: VerifiedPart, *, alone: bool) -> Iterator[str]:
    if not alone:
        state = "closed" if part.closed else "open"
        planned = format_count(part.planned, "game")
        yield f"part {part.number:<10} {sanitize(part.title)}: {part.games} of {planned}, {state}"
    yield f"commit          {part.commit}"
    yield f"seed            {part.seed or 'published when no game of the part is open'}"
    if not alone:
        yield f"SHA             {part.sha}"
