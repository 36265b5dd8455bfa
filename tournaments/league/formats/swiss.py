"""The Swiss system: each round pairs entries with about as many points, and nobody twice before it must.

Pairing is a matching of least cost, and every pair has a cost of its own, so that no two matchings cost the same: any
solver finds the same pairs.

A round is a part. A match gives a point to its winner, or half a point to each; a bye gives a point and no rated game.
The table is by points, then by Buchholz, the sum of the opponents' points, then by the seeds: the order of the file, or
that of the ratings when it began. A match that a disqualified entry played counts as a bye of its opponent, and the
entry itself comes last, without points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from msgspec import Struct

from malice.referee.errors import DataError
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import TablePlace
from malice.tournaments.league.formats import Format
from malice.tournaments.league.formats.decisions import (
    HALF,
    MATCH_DEALS,
    Decision,
    Done,
    FormatInput,
    Match,
    Place,
    Wait,
    list_matches,
)
from malice.tournaments.league.formats.growing import list_playing
from malice.tournaments.league.parts import Draft, Part, PartTable, VersionKey
from malice.tournaments.league.tournament import Tournament

BYE_AGAIN = 10**12
REMATCH = 10**9
POINTS = 10**5
"""Costs in falling order: a second bye, a rematch, the square of a difference of half points."""
TIES = 10**12
"""All these costs are multiplied by this, and what is below only breaks ties."""


class UnpairedEntry(NamedTuple):
    """An entry to pair."""

    label: str
    points: Fraction
    met: Sequence[str]
    """The labels of its opponents so far."""
    byes: int
    """How many byes it had."""


def pair_up(entries: Sequence[UnpairedEntry]) -> tuple[list[tuple[str, str]], str | None]:
    """Pair the entries of a round; the second result is the label of the one that has a bye, if their number is odd.

    Args:
        entries: the best one first.
    """
    from networkx import Graph, max_weight_matching  # it takes long to import

    graph = Graph()
    for one, other in combinations(range(len(entries)), 2):
        graph.add_edge(one, other, weight=-_compute_cost(entries, one, other))
    nobody = len(entries)
    if len(entries) % 2:
        for place, entry in enumerate(entries):
            cost = BYE_AGAIN * entry.byes + POINTS * int(2 * entry.points) ** 2 + nobody - place
            graph.add_edge(place, nobody, weight=-(cost * TIES + _break_tie(entry.label, "")))
    found = sorted(tuple(sorted(pair)) for pair in max_weight_matching(graph, maxcardinality=True))
    bye = next((one for one, other in found if other == nobody), None)
    pairs = [(entries[one].label, entries[other].label) for one, other in found if other != nobody]
    return pairs, None if bye is None else entries[bye].label


def _compute_cost(entries: Sequence[UnpairedEntry], one: int, other: int) -> int:
    upper, lower = entries[one], entries[other]
    apart = int(2 * (upper.points - lower.points))
    group = sum(each.points == upper.points for each in entries)
    fold = abs(2 * (other - one) - group) if apart == 0 else other - one
    cost = REMATCH * upper.met.count(lower.label) + POINTS * apart**2 + fold
    return cost * TIES + _break_tie(upper.label, lower.label)


def _break_tie(*labels: str) -> int:
    digest = hashlib.sha256("\0".join(sorted(labels)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


class Encounter(NamedTuple):
    """A match or a bye of an entry."""

    opponent: str | None
    """Its label; None in a bye."""
    points: Fraction
    disqualified: str | None = None
    """In a bye that was a match: the label of the opponent."""


class SwissRow(Struct, frozen=True):
    """An entry in the table."""

    label: str
    points: Fraction
    buchholz: Fraction
    """The sum of its opponents' points; in a bye, those of a virtual one."""
    encounters: tuple[Encounter | None, ...]
    """Round by round; None where it did not take part."""

    def make_unpaired(self, call: Callable[[str], str] = str) -> UnpairedEntry:
        """What pairing needs to know about it; `call` says which labels the entries bear then."""
        met = [one.opponent for one in self.encounters if one]
        opponents = [call(opponent) for opponent in met if opponent is not None]
        return UnpairedEntry(call(self.label), self.points, opponents, len(met) - len(opponents))


def decide_swiss(format_input: FormatInput) -> Decision:
    tournament = format_input.tournament
    if tournament.open_parts:
        return Wait()
    playing = {version.label: version for version in _list_available(format_input)}
    number = len(tournament.parts) + 1
    if number > tournament.config.rounds or len(playing) < 2:
        return Done()
    rows = [row for row in rank_swiss(format_input) if row.label in playing]
    # Ties are broken by the labels that the entries bear when the round is drawn.
    called = {tournament.call(label): label for label in playing}
    drawn, excused = pair_up([row.make_unpaired(tournament.call) for row in rows])
    pairs, bye = [(called[one], called[other]) for one, other in drawn], excused and called[excused]
    order = {label: place for place, label in enumerate(playing)}
    (ruleset,) = tournament.rulesets
    tables = [
        PartTable(ruleset, tuple(playing[label] for label in sorted(pair, key=order.__getitem__))) for pair in pairs
    ]
    byes = () if bye is None else (playing[bye],)
    title = f"round {number} of {tournament.config.rounds}"
    config = tournament.config
    return Draft(title, config.deals, tuple(tables), common_deals=config.common_deals, byes=byes)


def _list_available(format_input: FormatInput) -> list[VersionKey]:
    """List the versions that can be in the next round."""
    absent = format_input.tournament.waiting()
    return [version for version in list_playing(format_input) if version.label not in absent]


def find_missing_round(format_input: FormatInput) -> int | None:
    """The number of the next round, if fewer than two entries can play in it; else None."""
    tournament = format_input.tournament
    number = len(tournament.parts) + 1
    if tournament.open_parts or number > tournament.config.rounds or len(_list_available(format_input)) > 1:
        return None
    return number


def rank_swiss(format_input: FormatInput) -> list[SwissRow]:
    """The table after the closed rounds."""
    tournament = format_input.tournament
    seeds = tournament.seeding
    labels = [*seeds, *(entry.label for entry in tournament.file_entries if entry.label not in seeds)]
    out = {label for label in labels if tournament.state(label).state == "disqualified"}
    matches = list_matches(format_input)
    rounds = [_list_encounters(part, matches, out) for part in tournament.parts if part.number in tournament.closed]
    met = {label: tuple(each.get(label) for each in rounds) for label in labels}
    points = {label: sum((one.points for one in met[label] if one), Fraction()) for label in labels}
    rows = [
        SwissRow(label, points[label], sum(_list_opponents_points(met[label], points), Fraction()), met[label])
        for label in labels
    ]
    return sorted(rows, key=lambda row: (row.label in out, -row.points, -row.buchholz, labels.index(row.label)))


def _make_table(format_input: FormatInput) -> tuple[TablePlace, ...]:
    rows = rank_swiss(format_input)
    figures = [(row.points, row.buchholz) for row in rows]
    return tuple(
        TablePlace(row.label, 1 + figures.index(own), float(row.points), float(row.buchholz))
        for row, own in zip(rows, figures, strict=True)
    )


def _announce(tournament: Tournament) -> Iterator[str]:
    if first := find_first_rematch(tournament):
        yield f"there are more rounds than opponents: entries meet again from round {first} on, if not before"


def find_first_rematch(tournament: Tournament) -> int | None:
    """The round from which on entries meet again because all have met; None if there are fewer rounds.

    Where a pairing leaves no other choice, rematches come sooner.
    """
    able = (each for each in tournament.file_entries if each.version and not each.waits)
    count = sum(not tournament.excuses(VersionKey(each.label, each.version)) for each in able)
    first = count + count % 2  # with an odd number, one of them has a bye in each round
    return first if count > 1 and first <= tournament.config.rounds else None


def _list_opponents_points(met: Sequence[Encounter | None], points: Mapping[str, Fraction]) -> Iterator[Fraction]:
    """Yield the points of each opponent; in a bye, of one with as many as the entry, who draws from then on."""
    own = Fraction()
    for number, one in enumerate(met, 1):
        if one is None:
            continue
        yield own + HALF * (len(met) - number) if one.opponent is None else points[one.opponent]
        own += one.points


def _list_encounters(part: Part, matches: Mapping[Place, Match], out: Collection[str]) -> dict[str, Encounter]:
    """What each entry met in a round, by its label."""
    found = {version.label: Encounter(None, Fraction(version.label not in out)) for version in part.byes}
    for number in range(len(part.tables)):
        match = matches[part.number, number]
        for label, other, points in zip(match.labels, match.labels[::-1], match.points, strict=True):
            if label in out:
                found[label] = Encounter(other, Fraction())
            else:
                found[label] = Encounter(None, Fraction(1), other) if other in out else Encounter(other, points)
    return found


def _refuse(config: Config, labels: Sequence[str]) -> None:
    if config.rounds < 1:
        raise DataError(where='format = "swiss"', expected="rounds = N with at least 1")


NOTE = (
    "A match is a point, a drawn one half a point to each; a bye is a point, and in Buchholz an opponent who had as"
    " many points as the bot before it and then draws."
)
SWISS = Format(
    decide_swiss,
    fields=("rounds", "seeding"),
    defaults={"deals": MATCH_DEALS},
    refuse=_refuse,
    grows=False,
    revision=2,
    rank=_make_table,
    rounds=rank_swiss,
    rounds_note=NOTE,
    announce=_announce,
    order="by match points, then by Buchholz, the sum of the opponents' points",
    order_title="By points, then by Buchholz",
    absent="in no further round until it is mended",
    absent_page="is in no further round until it is mended",
)
