"""One-sided records: no rating fits such a record best, but one end of the rating can be bounded.

A level is a set of players who took points off one another, directly or through others. Between two levels, every
result went the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from malice.tournaments.ratings.bradley_terry import compute_advantage
from malice.tournaments.ratings.pairings import Bools, Floats, Ints, Pairings, sum_groups

TAIL = 0.025
FARTHEST = 100.0  # natural units, 17,000 Elo


def compute_closure(relation: Bools) -> Bools:
    """At [i, j]: whether j is i, or can be reached from i in any number of steps."""
    reach = relation | np.eye(len(relation), dtype=np.bool_)
    while True:
        square = reach.astype(np.float32)
        wider = square @ square > 0
        if np.array_equal(wider, reach):
            return reach
        reach = wider


def find_classes(alike: Bools) -> Ints:
    """For each player, the lowest-numbered player of its class in this equivalence relation."""
    return np.asarray(alike.argmax(axis=1)) if len(alike) else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class WinRecord:
    """The wins of a level over the levels below it, or its losses to those above.

    A game with several teams gives one term: the chance to finish ahead of (or behind) all of them at once.
    """

    upward: bool
    """The level won these games: the record gives a lower bound."""
    ahead: Floats
    """Per pairing, how far the winners are ahead by the fixed strengths."""
    share: Floats
    """Per pairing, the share of a shift of the level in that lead: less than 1 for a team of partners."""
    term: Ints

    @property
    def empty(self) -> bool:
        return not self.term.size

    def compute_chance(self, shift: float) -> float:
        """The chance of this record if the whole level were stronger by `shift`."""
        ahead = self.ahead + (shift if self.upward else -shift) * self.share
        return float(np.exp(-np.log1p(np.bincount(self.term, np.exp(np.minimum(-ahead, 500.0)))).sum()))

    def find_bound(self) -> float:
        """Find the shift at which the record has a chance of 2.5 %."""
        worse, better = (-FARTHEST, FARTHEST) if self.upward else (FARTHEST, -FARTHEST)
        for _ in range(50):
            middle = (worse + better) / 2
            if self.compute_chance(middle) < TAIL:
                worse = middle
            else:
                better = middle
        return (worse + better) / 2


def collect_win_record(pairings: Pairings, level: Bools, held: Floats, *, upward: bool) -> WinRecord:
    """Collect the one-sided results of a level against the others, whose strengths are fixed."""
    meetings = pairings.meetings
    part = (pairings.teams.weights * level[pairings.teams.members]).sum(axis=1)
    part = part[meetings.first] - part[meetings.second]
    won = 2 * meetings.points - 1
    kept = np.flatnonzero((part * won > 1e-9 if upward else part * won < -1e-9)[pairings.meeting])
    kind = pairings.meeting[kept]
    part, won, rows = part[kind], won[kind], meetings.at(kind)
    team = np.where(part > 0, rows.first, rows.second)
    term = pairings.game[kept].astype(np.int64) * len(pairings.teams.members) + team
    return WinRecord(
        upward=upward,
        ahead=compute_advantage(held, *pairings.design(rows)) * won,
        share=np.abs(part),
        term=np.unique(term, return_inverse=True)[1],
    )


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of one pool and their bounds; an unknown bound is nan."""

    label: Ints
    """Per player the lowest-numbered player of its level."""
    core: Bools
    """The level that the others are measured from."""
    core_is_level: bool
    """False if each level is one player and none is the anchor: then the core is all players."""
    above: Bools
    """[i, j]: i is on a higher level than j."""
    low: Floats
    """Per player, its strength if its level were as weak as its wins allow."""
    high: Floats
    low_held: Floats
    """The fixed strengths behind the lower bounds."""
    high_held: Floats
    wins: dict[int, WinRecord]
    """By level, its wins over the levels below it."""
    losses: dict[int, WinRecord]

    def compute_chance(self, strengths: Floats, one: int, other: int) -> float:
        """The chance of the record between two players on different levels if they were equally strong.

        It is that of the wins of the upper level, or, if that has no bound, of the losses of the lower one; nan without
        either.
        """
        if record := self.wins.get(int(self.label[one])):
            return record.compute_chance(float(self.low_held[other] - strengths[one]))
        if record := self.losses.get(int(self.label[other])):
            return record.compute_chance(float(self.high_held[one] - strengths[other]))
        return math.nan


def find_levels(pairings: Pairings, strengths: Floats, anchor: int | None) -> Levels:
    """Bound the levels one by one from the core outwards: each meets the others at their bounds."""
    reach = compute_closure(pairings.met(unbeaten=True))
    label = find_classes(reach & reach.T)
    core = _find_core(pairings, label, anchor)
    core_is_level = len(np.unique(label[core])) == 1
    above = reach & ~reach.T
    nothing = np.full(len(label), np.nan)
    low, high, low_held, high_held = nothing, nothing.copy(), strengths.copy(), strengths.copy()
    wins: dict[int, WinRecord] = {}
    losses: dict[int, WinRecord] = {}
    for upward, bounds, held, records in ((True, low, low_held, wins), (False, high, high_held, losses)):
        order = reach.sum(axis=1 if upward else 0)
        for player in sorted(np.unique(label), key=lambda one: order[one]):
            level = label == player
            outside = not core[player] and (reach[player] if upward else reach[:, player])[core].all()
            if core_is_level and not outside:
                continue
            results = collect_win_record(pairings, level, held, upward=upward)
            if results.empty:
                continue
            records[int(player)] = results
            bounds[level] = strengths[level] + results.find_bound()
            if core_is_level:
                held[level] = bounds[level]
    return Levels(label, core, core_is_level, above, low, high, low_held, high_held, wins, losses)


def _find_core(pairings: Pairings, label: Ints, anchor: int | None) -> Bools:
    """The anchor's level; without an anchor the largest level, among equals the one with most games."""
    if anchor is not None:
        return np.asarray(label == label[anchor])
    rows = pairings.merged
    size = np.bincount(label, minlength=len(label))
    if size.max() == 1:
        return np.ones(len(label), np.bool_)
    played = sum_groups(label[pairings.teams.members[rows.first, 0]], rows.count, len(label))
    played += sum_groups(label[pairings.teams.members[rows.second, 0]], rows.count, len(label))
    return np.asarray(label == np.lexsort((played, size))[-1])
