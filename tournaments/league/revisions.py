"""Which revisions of rules and formats decide about a part, and which of them have changed since."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.referee.families import load_family
from malice.tournaments.league.journal import PartCreated, Revisions
from malice.tournaments.league.parts import Draft
from malice.tournaments.league.tournament import Tournament


class Change(Struct, frozen=True):
    """Something that decides about a part, and has another revision than when the part was created."""

    kind: str
    """`format` or `rules`."""
    name: str
    """Of the format, or of the game."""
    then: int
    now: int


def create_part(tournament: Tournament, draft: Draft, first: int, suspended: tuple[str, ...] = ()) -> PartCreated:
    """Create a part by today's revisions.

    Args:
        tournament: the one whose part it is.
        draft: what its format asks for.
        first: the number of its first game.
        suspended: the entries that it leaves out.
    """
    return PartCreated(tournament.make_part(draft, first), suspended, revisions=_name_revisions(tournament, draft))


def _name_revisions(tournament: Tournament, draft: Draft) -> Revisions:
    """Name today's revisions that decide about a part."""
    games = sorted({tournament.rulesets[table.ruleset].family for table in draft.tables})
    return Revisions(tournament.format.revision, {game: load_family(game).revision for game in games})


def list_changes(tournament: Tournament, revisions: Revisions, draft: Draft) -> tuple[Change, ...]:
    """List what has changed since a part was created by these revisions."""
    today = _name_revisions(tournament, draft)
    found = [Change("format", tournament.config.format, revisions.format, today.format)]
    found += [Change("rules", game, revisions.families.get(game, 1), now) for game, now in today.families.items()]
    return tuple(change for change in found if change.then != change.now)


def describe_changes(changes: Sequence[Change]) -> str:
    """Say which revisions there were, and which there are today."""
    names = {"format": "the format", "rules": "the rules of"}
    return ", ".join(
        f"{names[each.kind]} {each.name!r} (revision {each.then} then, {each.now} today)" for each in changes
    )
