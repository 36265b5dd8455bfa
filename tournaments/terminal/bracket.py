"""The rounds of a Swiss tournament and the bracket of a knockout as text."""

from __future__ import annotations

from collections.abc import Iterator

from tournaments.league.formats.knockout import Tie, draw_bracket
from tournaments.league.formats.matches import format_points
from tournaments.league.formats.swiss import Encounter, rank_swiss
from tournaments.league.store import Store
from tournaments.sanitizer import sanitize
from tournaments.terminal.tables import format_table


def describe_rounds(store: Store) -> Iterator[str]:
    """Yield the course of a tournament that is played in rounds; nothing for other formats."""
    match store.config().format:
        case "swiss":
            yield from _format_encounters(store)
        case "knockout":
            yield from _format_bracket(store)


def _format_encounters(store: Store) -> Iterator[str]:
    rows = rank_swiss(store.situation())
    places = {row.label: place for place, row in enumerate(rows, 1)}
    rounds = max((len(row.encounters) for row in rows), default=0)
    head = ("rank", "bot", *map(str, range(1, rounds + 1)))
    cells = [
        (str(places[row.label]), sanitize(row.label), *(_format_encounter(one, places) for one in row.encounters))
        for row in rows
    ]
    if rounds:
        yield "rounds: the rank of the opponent, and the points of the match"
        yield from format_table(head, cells, left=(1,))


def _format_encounter(encounter: Encounter | None, places: dict[str, int]) -> str:
    if encounter is None:
        return "-"
    who = "bye" if encounter.opponent is None else str(places[encounter.opponent])
    return f"{who} {format_points(encounter.points)}"


def _format_bracket(store: Store) -> Iterator[str]:
    for each in draw_bracket(store.situation()):
        yield f"{each.title}:"
        for tie in each.ties:
            yield f"  {_describe_tie(tie)}"


def _describe_tie(tie: Tie) -> str:
    if len(tie.labels) < 2:
        return f"{sanitize(tie.labels[0])} without an opponent" if tie.labels else "nobody"
    one, other = tie.labels
    names = f"{sanitize(one)} v {sanitize(other)}"
    scores = ", ".join(
        "-".join(format_points(match.score[match.labels.index(label)]) for label in tie.labels) for match in tie.matches
    )
    if not tie.over:
        return f"{names}: {scores or 'open'}"
    how = f", {sanitize(tie.winner)} advances" if tie.winner else ", nobody advances"
    return f"{names}: {scores}{how}"
