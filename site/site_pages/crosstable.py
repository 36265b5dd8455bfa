"""The crosstables of a ranking: what every two entries scored against each other, one table for each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.files import Folder, write_table
from malice.site_pages.rankings import Name, make_name
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.standings import OpponentScore, Row, Standings

MOST = 18
"""The most characters of a name in a crosstable."""
HEAD = ("bot", "opponent", "games", "won", "drawn", "lost", "score")


class Crossing(Struct, frozen=True):
    """A cell of a crosstable."""

    score: str
    """In percent; empty where a bot crosses itself."""
    record: str
    """Won, drawn and lost; empty without games."""
    heat: int | None
    """From 0 (lost all) to 8 (won all); None without games."""


class CrossRow(Struct, frozen=True):
    """A row, and the column of the same bot."""

    bot: Name
    short: str
    """Its label, without its middle where it is long: names that begin alike end otherwise."""
    address: str
    """What the list of games finds the games of this row by, quoted: the label, or `LABEL@2` if it has versions."""
    cells: list[Crossing]


class Crosstable(Struct, frozen=True):
    """The bots of one group that met one another."""

    group: int | None
    """None if there is only one."""
    rows: list[CrossRow]


class Crossings(Struct, frozen=True):
    """The crosstables of a ranking."""

    tables: list[Crosstable]
    filter: str
    """What the address of the list of games says besides the two bots."""
    download: str
    """The name of its files."""


def name_versions(source: Contents) -> dict[str, str]:
    """The name of the version that plays, `LABEL@2`, by label, for entries of which several versions played.

    An entry whose own label reads like that name keeps it; then the label stands for all versions of the other.
    """
    entries = source.entries
    versions = {(each.label, each.number) for part in source.parts for table in part.tables for each in table.versions}
    count = Counter(label for label, _ in versions | {(entry.label, entry.version.number) for entry in entries})
    labels = {entry.label for entry in entries}
    names = {entry.label: f"{entry.label}@{entry.version.number}" for entry in entries if count[entry.label] > 1}
    return {label: name for label, name in names.items() if name not in labels}


def make_crossings(standings: Standings, anchor: str, versions: Mapping[str, str]) -> Crossings:
    """Make the crosstables of a ranking; bots that met nobody have no row.

    Args:
        standings: the ranking.
        anchor: the id of its section.
        versions: as `name_versions` returns.
    """
    met = [row for row in standings.rows if standings.crosstable.get(row.label)]
    groups = list(dict.fromkeys(row.group for row in met))
    return Crossings(
        tables=[
            Crosstable(
                group=group if len(groups) > 1 else None,
                rows=_make_rows(standings, [row for row in met if row.group == group], versions),
            )
            for group in groups
        ],
        filter=f"ruleset={_quote(standings.ruleset)}&seats={standings.seats}",
        download=f"crosstable-{anchor}",
    )


def _quote(name: str) -> str:
    return quote(name, safe="", errors="replace")


def _make_rows(standings: Standings, rows: Sequence[Row], versions: Mapping[str, str]) -> list[CrossRow]:
    return [
        CrossRow(
            make_name(row.label),
            text.shorten_middle(text.format_label(row.label), MOST),
            _quote(versions.get(row.label, row.label)),
            [_make_cell(standings.crosstable[row.label].get(other.label), row is other) for other in rows],
        )
        for row in rows
    ]


def _make_cell(meeting: OpponentScore | None, is_self: bool) -> Crossing:
    score = meeting.score if meeting else None
    if meeting is None or score is None:
        return Crossing("" if is_self else "–", "", None)
    record = f"{meeting.wins}–{meeting.draws}–{meeting.losses}"
    return Crossing(text.format_decimal(100 * score), record, round(8 * score))


def write_crosstables(folder: Folder, rankings: Iterable[tuple[Standings, Crossings]]) -> None:
    """Write what every two entries scored, a row for each pair and direction, as CSV and JSON.

    Raises:
        OSError: a file cannot be written.
    """
    for standings, crossings in rankings:
        if crossings.tables:
            write_table(folder, crossings.download, HEAD, _list_meetings(standings))


def _list_meetings(standings: Standings) -> Iterable[tuple[str | int | float | None, ...]]:
    for row in standings.rows:
        for other, met in standings.crosstable.get(row.label, {}).items():
            yield row.label, other, met.games, met.wins, met.draws, met.losses, met.score
