"""The rounds of a Swiss tournament and the bracket of a knockout as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from malice.tournaments.league.formats.knockout import FINAL, Tie, draw_bracket
from malice.tournaments.league.formats.matches import format_points
from malice.tournaments.league.formats.swiss import Encounter, find_missing_round, rank_swiss
from malice.tournaments.league.store import Store
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import format_table


def describe_rounds(store: Store, without: Collection[str] = ()) -> Iterator[str]:
    """Yield the course of a tournament that is played in rounds; nothing for other formats.

    Args:
        store: the league.
        without: labels of entries that get no row.
    """
    match store.config().format:
        case "swiss":
            yield from _format_encounters(store, without)
        case "knockout":
            yield from _format_bracket(store)


def _format_encounters(store: Store, without: Collection[str]) -> Iterator[str]:
    situation = store.situation()
    rows = [row for row in rank_swiss(situation) if row.label not in without]
    places = {row.label: place for place, row in enumerate(rows, 1)}
    rounds = max((len(row.encounters) for row in rows), default=0)
    head = ("no.", "bot", *map(str, range(1, rounds + 1)))
    cells = [
        (str(places[row.label]), sanitize(row.label), *(_format_encounter(one, places) for one in row.encounters))
        for row in rows
    ]
    if rounds:
        yield "rounds: the number of the opponent in this table, and the points of the match"
        yield from format_table(head, cells, left=(1,))
    if missing := find_missing_round(situation):
        yield f"round {missing} of {store.config().rounds} is not drawn: fewer than two entries can play"


def _format_encounter(encounter: Encounter | None, places: Mapping[str, int]) -> str:
    if encounter is None:
        return "-"
    return f"{_name_opponent(encounter, places)} {format_points(encounter.points)}"


def _name_opponent(encounter: Encounter, places: Mapping[str, int]) -> str:
    """Return the number of an opponent, or its label if it has no row."""
    if encounter.opponent is not None:
        return str(places.get(encounter.opponent) or sanitize(encounter.opponent))
    return "bye" if encounter.disqualified is None else f"bye ({sanitize(encounter.disqualified)} disqualified)"


def _format_bracket(store: Store) -> Iterator[str]:
    out = {entry.label for entry in store.entries() if entry.state == "disqualified"}
    for each in draw_bracket(store.situation()):
        yield f"{each.title}:"
        for number, tie in enumerate(each.ties):
            ends = ("wins", "is third")[number] if each.title == FINAL else "advances"
            yield f"  {_describe_tie(tie, ends, out)}"


def _describe_tie(tie: Tie, ends: str, out: Collection[str]) -> str:
    """Return a tie in words.

    Args:
        tie: the tie.
        ends: what becomes of its winner.
        out: the labels of those that were disqualified, whose results stand.
    """
    names = [sanitize(label) + (" (disqualified)" if label in out else "") for label in tie.labels]
    if len(names) < 2:
        return f"{names[0]} without an opponent" if names else "nobody"
    scores = ", ".join(
        "-".join(format_points(match.score[match.labels.index(label)]) for label in tie.labels) for match in tie.matches
    )
    how = f": {scores}" if scores else ": not played" if tie.barred else ""
    if not tie.over:
        return f"{' v '.join(names)}{how or ': open'}"
    if tie.winner is None:
        return f"{' v '.join(names)}{how}, both were {'suspended' if tie.barred else 'absent'}, nobody {ends}"
    return f"{' v '.join(names)}{how}, {sanitize(tie.winner)} {ends}{_explain_end(tie)}"


def _explain_end(tie: Tie) -> str:
    """Return why somebody advances who did not win by the score."""
    if tie.barred:
        return f", since {sanitize(tie.loser or '')} was suspended"
    last = tie.matches[-1]
    if not last.whole:
        return f", since {sanitize(tie.loser or '')} was absent"
    return ", tied to the end: the higher seed" if last.winner is None else ""
