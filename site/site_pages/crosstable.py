"""The crosstable of a ranking: what every two entries scored against each other."""

from __future__ import annotations

from msgspec import Struct

from site_pages import text
from tournaments.league.standings import Meeting, Standings


class Crossing(Struct, frozen=True):
    """A cell of the crosstable; `heat` runs from 0 (lost all) to 8 (won all) and is None without games."""

    text: str
    title: str
    heat: int | None


def make_crossings(standings: Standings, label: str) -> list[Crossing]:
    """Return the row of an entry, in the order of the ranking."""
    return [
        _make_crossing(standings.crosstable.get(label, {}).get(row.label), label, row.label) for row in standings.rows
    ]


def _make_crossing(meeting: Meeting | None, label: str, other: str) -> Crossing:
    if label == other:
        return Crossing("", "", None)
    score = meeting.score if meeting else None
    if meeting is None or score is None:
        return Crossing("–", "no games", None)
    record = f"{meeting.wins}–{meeting.draws}–{meeting.losses}"
    pair = f"{text.format_label(label)} against {text.format_label(other)}"
    title = f"{pair}: {record} in {text.format_count(meeting.games, 'game')}"
    return Crossing(text.format_decimal(100 * score), title, round(8 * score))
