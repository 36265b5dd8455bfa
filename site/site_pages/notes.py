"""What a bot noted beside its actions, in its latest games."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.referee.records import Record
from malice.site_pages.source import PublishedContents
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.sanitizer import sanitize

GAMES = 3
"""Games of a bot whose records are read."""
SHOWN = 4
"""Notes shown per game."""


class Note(Struct, frozen=True):
    """What a bot noted in a game: its first words there, and how many more."""

    key: str
    words: list[tuple[str, str]]
    """The address of the action in the game, from the key on, and the note."""
    more: int


def read_notes(source: PublishedContents, label: str, games: Sequence[GameSummary]) -> list[Note]:
    """Return the notes of a bot in its latest games, the newest first; this reads at most `GAMES` records.

    Args:
        source: the league, as far as it may be published.
        label: the bot.
        games: its games, the newest first.
    """
    if source.publication.anonymous:
        return []
    latest = games[:GAMES]
    records = source.read_records([game.key for game in latest])
    found = [_list_notes(source.publication.redact_notes(record), label) for record in records]
    return [
        Note(str(game.key), [(address, sanitize(words, 500)) for address, words in notes[:SHOWN]], len(notes[SHOWN:]))
        for game, notes in zip(latest, found, strict=True)
        if notes
    ]


def _list_notes(record: Record, label: str) -> list[tuple[str, str]]:
    """Return the notes of a bot, each with the address of its action."""
    return [
        (f"{record.key}/{place}", words)
        for place, (seat, _) in enumerate(record.actions)
        if (words := record.notes.get(place)) and record.entries[seat][0] == label
    ]
