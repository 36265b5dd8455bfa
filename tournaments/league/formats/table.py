"""The table of a format that does not rank by ratings."""

from __future__ import annotations

from copy import copy

from malice.tournaments.league.contents import TablePlace
from malice.tournaments.league.formats.knockout import rank_knockout
from malice.tournaments.league.formats.situation import FormatInput
from malice.tournaments.league.formats.swiss import rank_swiss


def has_table(name: str) -> bool:
    """Return whether the format of this name keeps a table."""
    return name in ("swiss", "knockout")


def make_table(situation: FormatInput) -> tuple[TablePlace, ...]:
    """Return the table of a format after its closed parts, the best first; nothing for formats without one."""
    match situation.tournament.config.format:
        case "swiss":
            rows = rank_swiss(situation)
            figures = [(row.points, row.buchholz) for row in rows]
            return tuple(
                TablePlace(row.label, 1 + figures.index(own), float(row.points), float(row.buchholz))
                for row, own in zip(rows, figures, strict=True)
            )
        case "knockout":
            return tuple(TablePlace(label, place) for label, place in rank_knockout(situation))
        case _:
            return ()


def make_table_before(situation: FormatInput, part: int) -> tuple[TablePlace, ...]:
    """Return the table as it was before this part and all later ones; nothing if no part had closed by then."""
    earlier = copy(situation.tournament)
    earlier.closed = {number for number in earlier.closed if number < part}
    return make_table(situation._replace(tournament=earlier)) if earlier.closed else ()
