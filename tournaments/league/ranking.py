"""The ranking of a tournament: the standings of its chosen games, with the states and versions of its entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from tournaments.league.choice import EVERYTHING, Choice, Picker
from tournaments.league.contents import Entry, LeagueContents, TablePlace
from tournaments.league.standings import Row, Standings, State, compute_standings


def compute_league_standings(league: LeagueContents, choice: Choice = EVERYTHING) -> tuple[Standings, ...]:
    """Return the current standings of a tournament: of the games that count, without those of disqualified entries.

    Args:
        league: the tournament.
        choice: which games and versions to show.
    """
    entries = league.entries()
    picker = Picker(league, choice)
    suspended = league.suspended()
    states = {entry.label: find_state(entry, suspended) for entry in entries}
    found = compute_standings(
        picker.list_games(), picker.names, league.config().anchor, picker.common, picker.shown, league.clocks()
    )
    marked = (replace(each, rows=_mark_states(each.rows, states)) for each in found)
    table = league.table()
    left = [place for place in table if place.label not in choice.without]
    exact = not league.ended_by_test()
    return tuple(
        replace(each, exact=exact, rows=_order_by_table(each.rows, left) if table else each.rows) for each in marked
    )


def explain_table(league: LeagueContents, choice: Choice) -> str:
    """Say that a choice of games changes the ratings, but not the table of the tournament; nothing if it has none."""
    if not league.table():
        return ""
    if choice.without:
        return f"the table is as it was played: matches against {', '.join(choice.without)} count in it"
    return "the table is as it was played: matches of all days count in it" if choice.since else ""


def _order_by_table(rows: Iterable[Row], table: Sequence[TablePlace]) -> tuple[Row, ...]:
    """Return the rows in the order of a table, with its points; rows that it lacks, as of older versions, come last.

    The ranks are those of the table, without gaps; the intervals of ratings do not apply to them.
    """
    ahead = {place.label: sum(other.place < place.place for other in table) for place in table}
    table = [replace(place, place=1 + ahead[place.label]) for place in table]
    places = {place.label: (number, place) for number, place in enumerate(table)}
    ordered = sorted(rows, key=lambda row: places[row.label][0] if row.label in places else len(table))
    return tuple(_place_row(row, places[row.label][1] if row.label in places else None) for row in ordered)


def _place_row(row: Row, found: TablePlace | None) -> Row:
    rating = replace(row.rating, rank_low=None, rank_high=None)
    if found is None:
        return replace(row, rank=None, rating=rating)
    return replace(row, rank=found.place, rating=rating, points=found.points, buchholz=found.buchholz)


def find_state(entry: Entry, suspended: Collection[str]) -> State:
    """Return the state of an entry.

    Args:
        entry: the entry.
        suspended: the labels of those that are suspended.
    """
    if entry.state != "playing":
        return entry.state
    if entry.label in suspended:
        return "suspended"
    return "absent" if entry.absence and (entry.waits or not entry.number) else "playing"


def _mark_states(rows: Iterable[Row], states: Mapping[str, State]) -> tuple[Row, ...]:
    """Return the rows with the states of their entries; absent ones without a rank come last."""
    marked = [replace(row, state=states.get(row.label, "playing")) for row in rows]
    return tuple(sorted(marked, key=lambda row: row.rank is None and row.state == "absent"))
