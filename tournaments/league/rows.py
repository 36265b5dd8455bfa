"""The rows of finished games: types and bounds of every column."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from malice.referee.records import Count
from malice.tournaments.league.file import StoredRow

Digest = Annotated[str, Meta(min_length=64, max_length=64)]
"""A pattern would cost as much as all other checks."""
OF_TOURNAMENT = "WHERE games.tournament = ? AND games.number < ? ORDER BY games.number"


class PlacedRow(StoredRow, frozen=True):
    """A game by its place alone; `failed` is a JSON list of labels."""

    TABLE: ClassVar[str] = "games"
    # All columns are qualified: SQLite takes an unknown "name" for a string, but not an unknown table."name".
    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed FROM games NOT INDEXED
    """

    number: Count
    part: Count
    table: Count
    deal: Count
    rotation: Count
    failed: str


class SummaryRow(PlacedRow, frozen=True):
    """A game without its record; `summary` is JSON."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest FROM games NOT INDEXED
    """

    summary: str
    digest: Digest


class RecordedRow(SummaryRow, frozen=True):
    """A game with its packed record, if it has one."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest, records.* FROM games NOT INDEXED LEFT JOIN records ON records.number = games.number
    """

    recorded: Count | None
    """The number again; None if there is no record."""
    record: bytes | None
    events: bytes | None = None
    """Packed; None if the league is older than this column."""


class OneRow(RecordedRow, frozen=True):
    """One game with its record, found by its number."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest, records.* FROM games LEFT JOIN records ON records.number = games.number
    """
