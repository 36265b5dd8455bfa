"""The rows of a league: types and bounds of every column."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from referee.records import Time
from tournaments.league.file import Row

MOST = 2**53
"""The largest integer that every JSON parser reads exactly."""

Number = Annotated[int, Meta(ge=0, le=MOST)]
Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Commit = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
Seed = Annotated[bytes, Meta(min_length=32, max_length=32)]


class TournamentRow(Row, frozen=True):
    """The tournament."""

    TABLE: ClassVar[str] = "tournament"
    # All columns are qualified: SQLite takes an unknown "name" for a string, but not an unknown table."name".
    SELECT: ClassVar[str] = """
        SELECT tournament.id, tournament.name, tournament.config, tournament.seed, tournament."commit",
            tournament.planned, tournament.complete, tournament.created FROM tournament
    """

    id: Literal[1]
    name: str
    config: str
    seed: Seed
    commit: Commit
    planned: Number
    complete: Literal[0, 1]
    created: Time


class RulesetRow(Row, frozen=True):
    """A ruleset; `rules` is JSON."""

    TABLE: ClassVar[str] = "rulesets"
    SELECT: ClassVar[str] = """
        SELECT rulesets.name, rulesets.family, rulesets.package, rulesets.about, rulesets.source, rulesets.rules
        FROM rulesets NOT INDEXED
    """

    name: str
    family: str
    package: str
    """The distribution that brought the family; empty if it shipped."""
    about: str
    source: str
    rules: str


class EntryRow(Row, frozen=True):
    """An entry; `command` and `rulesets` are JSON."""

    TABLE: ClassVar[str] = "entries"
    SELECT: ClassVar[str] = """
        SELECT entries.position, entries.label, entries.hash, entries.name, entries.version, entries.author,
            entries.language, entries.command, entries.rulesets FROM entries NOT INDEXED
    """

    position: Number
    label: str
    hash: Hex64
    name: str
    version: str
    author: str
    language: str
    command: str
    rulesets: str


class GameRow(Row, frozen=True):
    """A game without its record; `summary` is JSON."""

    TABLE: ClassVar[str] = "games"
    SELECT: ClassVar[str] = """
        SELECT games.number, games."table", games.deal, games.rotation, games.summary, games.digest,
            (SELECT count(*) FROM games) FROM games NOT INDEXED
    """

    number: Number
    table: Number
    deal: Number
    rotation: Number
    summary: str
    digest: Annotated[str, Meta(min_length=64, max_length=64)]  # a pattern would cost as much as all other checks
    games: Number
    """The number of games in the index of keys; not a column."""


class RecordedRow(GameRow, frozen=True):
    """A game with its packed record, if it has one."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games."table", games.deal, games.rotation, games.summary, games.digest,
            (SELECT count(*) FROM games), records.record, (SELECT count(*) FROM records)
            FROM games NOT INDEXED LEFT JOIN records ON records.number = games.number
    """

    record: bytes | None
    records: Number
    """The number of records; not a column."""


class OneRow(GameRow, frozen=True):
    """One game with its record, found by its key."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games."table", games.deal, games.rotation, games.summary, games.digest, 0, records.record
            FROM games LEFT JOIN records ON records.number = games.number
    """

    record: bytes | None


class ReadmissionRow(Row, frozen=True):
    """A lifted suspension."""

    TABLE: ClassVar[str] = "readmissions"
    SELECT: ClassVar[str] = "SELECT readmissions.label, readmissions.number FROM readmissions NOT INDEXED"

    label: str
    number: Number


class AbsenceRow(Row, frozen=True):
    """Why an entry is absent."""

    TABLE: ClassVar[str] = "absences"
    SELECT: ClassVar[str] = """
        SELECT absences.label, absences.code, absences.sentence, absences.output FROM absences NOT INDEXED
    """

    label: str
    code: str
    sentence: str
    output: str
