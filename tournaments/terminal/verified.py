"""The result of a verification as text."""

from __future__ import annotations

from collections.abc import Iterator

from malice.referee.nouns import format_count
from malice.tournaments.league.revisions import describe_changes
from malice.tournaments.league.verify import Verified, VerifiedPart
from malice.tournaments.sanitizer import sanitize


def describe_verified(verified: Verified) -> Iterator[str]:
    """Yield the lines of a verification: what is there, the parts, what was not covered, the tournament SHA."""
    unreplayed = sum(part.unreplayed for part in verified.parts)
    replay = f"{unreplayed} of them not by the rules of today" if unreplayed else "all of them replay"
    yield f"games           {verified.games} ({_describe_state(verified)}), {replay}"
    if verified.left_out:
        ahead = "played ahead of a suspension, or of the end of a test"
        yield f"left out        {verified.left_out} that were {ahead}, and count for nobody"
    if verified.overruns:
        slow = ", ".join(f"{sanitize(label)} {count}" for label, count in verified.overruns.items())
        yield f"given up        when the time of a run was over, by who had used most of it: {slow}"
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
    if part.changes:
        yield f"changed since   {describe_changes(part.changes)}{_describe_effect(part)}"
    for difference in part.differences:
        yield f"                by today's format: {sanitize(difference)}"
    if not alone:
        yield f"SHA             {part.sha}"


def _describe_effect(part: VerifiedPart) -> str:
    """Say how far the play of a part could be checked whose rules or format have changed."""
    if not part.unreplayed:
        return "; all its games replay"
    return (
        f"; {format_count(part.unreplayed, 'game')} not replayed: cards, seats and digests are checked, the play is not"
    )
