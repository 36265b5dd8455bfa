"""The entries of a tournament as a table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from malice.tournaments.league.contents import Entry
from malice.tournaments.league.ranking import find_state
from malice.tournaments.league.standings import State
from malice.tournaments.league.store import Store
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import format_bytes, format_table

HEAD = ("entry", "version", "state", "games", "disk", "content", "bot", "why")
HASH_LENGTH = 12
MEANWHILE = {
    "swiss": "in no further round until it is mended",
    "knockout": "loses its next match unless it is mended before",
}
"""By format: what becomes of an entry whose bot cannot be started any more; in other formats its games wait."""


class EntryStatus(Struct, frozen=True):
    """An entry with what became of it."""

    tournament: str
    label: str
    version: int
    """The version that plays, from 1; 0 if none could be started so far."""
    versions: int
    """How many versions the league knows."""
    state: State
    games: int
    """Stored games in this tournament, of all versions."""
    hash: str
    name: str
    """The name and version that the bot gives itself."""
    parameters: dict[str, str]
    """The parameters of its bot.toml, with the values that it plays with."""
    reason: str
    """Why it is in that state, or why an older version plays."""
    kept_bytes: int
    """What all its versions take on the disk; a version that another entry shares counts for both."""


def list_entry_statuses(
    store: Store, kept: Mapping[str, int], variants: Mapping[str, str] = MappingProxyType({})
) -> list[EntryStatus]:
    """Return the entries of the chosen tournament, in the order of its file.

    Args:
        store: the league.
        kept: by content hash, what the bots that are kept take on the disk, in bytes.
        variants: by the hash of a version, the content hash of the kept bot of which it is a variant.
    """
    games = Counter(label for game in store.finished() for label in game.labels)
    suspended, versions = store.suspended(), store.league().versions
    return [
        EntryStatus(
            tournament=store.tournament().name,
            label=entry.label,
            version=entry.number,
            versions=len(versions.get(entry.label, ())),
            state=find_state(entry, suspended),
            games=games[entry.label],
            hash=entry.hash,
            name=f"{entry.name} {entry.version}".strip(),
            parameters=entry.parameters,
            kept_bytes=sum(
                kept.get(content, 0)
                for content in {variants.get(each.hash, each.hash) for each in versions.get(entry.label, ())}
            ),
            reason=_explain(entry),
        )
        for entry in store.entries()
    ]


def _explain(entry: Entry) -> str:
    """Return why an entry is in its state, or why an older version plays."""
    if entry.state != "playing":
        return entry.reason
    return f"{entry.absence.code}: {entry.absence.sentence}" if entry.absence else ""


def describe_absentees(store: Store) -> Iterator[str]:
    """Yield a line on each entry that does not play, with the command that lets it play again."""
    meanwhile = MEANWHILE.get(store.config().format, "its open games wait")
    choice = store.league().choose(store.tournament().name)
    for line in list_entry_statuses(store, {}):
        label, why = sanitize(line.label), f": {sanitize(line.reason)}" if line.reason else ""
        if line.state == "absent":
            yield f"{label} is absent{f', and {meanwhile}' if line.version else ''}{why}"
        elif line.state != "playing":
            command = shlex.join(["malice", "entry", "reinstate", str(store.path), line.label, *choice])
            yield f"{label} is {line.state}{why} ({sanitize(command)})"
        elif line.reason:
            yield f"{label} plays in version {line.version}, since its bot is broken{why}"


def format_entries(lines: Sequence[EntryStatus]) -> Iterator[str]:
    """Yield a table of entries."""
    rows = [
        (
            sanitize(line.label),
            str(line.version) if line.version == line.versions else f"{line.version} of {line.versions}",
            line.state,
            str(line.games),
            format_bytes(line.kept_bytes) if line.kept_bytes else "",
            line.hash[:HASH_LENGTH],
            sanitize(line.name),
            sanitize(line.reason),
        )
        for line in lines
    ]
    yield from format_table(HEAD, rows, left=(0, 2, 5, 6, 7))
