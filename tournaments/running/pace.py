"""Keeps the entries of a round-robin together: whatever the moment and the number of jobs, all played about as much."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from malice.referee.records import Batch
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.suspension import Suspensions
from malice.tournaments.running.hooks import Running

BLOCKS = 2
"""Blocks of games by which entries may differ; a block is a batch of a table in every rotation."""


class Pace:
    """Holds a batch back while its entries could get too far ahead of one that is at play elsewhere.

    An entry that is not at play has had all games that were its turn: the order of batches keeps entries together as
    long as the games before a batch are finished, and this class counts those that are not. Games against entries that
    are suspended count for nobody's pace.

    Args:
        lead: the most games by which an entry may be ahead of another.
        suspended: the suspended entries; it may change.
    """

    def __init__(self, lead: int, suspended: Suspensions) -> None:
        self._lead = lead
        self._suspensions = suspended
        self._met: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, labels: Sequence[str]) -> None:
        """Count a finished game of two entries."""
        one, other = labels
        self._met[one][other] += 1
        self._met[other][one] += 1

    def allows(self, batch: Batch, running: Collection[Running]) -> bool:
        """Return whether no entry can get too far ahead if the batch begins, whichever batch ends last."""
        here = _list_labels(batch)
        elsewhere = {label for each in running for label in _list_labels(each.batch)} - here
        return all(
            self._compute_lead(label, other, running) + len(batch.games) <= self._lead
            for label in here
            for other in elsewhere
        )

    def _compute_lead(self, label: str, other: str, running: Collection[Running]) -> int:
        """Return by how many games an entry is ahead once it has finished all that it plays without the other."""
        ahead = sum(
            len(each.left) for each in running if label in (labels := _list_labels(each.batch)) and other not in labels
        )
        return self._count_finished(label) + ahead - self._count_finished(other)

    def _count_finished(self, label: str) -> int:
        suspended = self._suspensions.suspended
        return sum(games for other, games in self._met[label].items() if other not in suspended)


def make_pace(schedule: Schedule, games: Iterable[Finished], suspensions: Suspensions) -> Pace | None:
    """Return the pace of a part with its finished games; None unless pairs meet, and all equally often.

    A newcomer plays more than the others in the part that adds it, so they cannot keep up with it there.

    Args:
        schedule: the part.
        games: its finished games.
        suspensions: those of the part.
    """
    sat = Counter(label for labels in schedule.labels for label in labels)
    if any(len(labels) != 2 for labels in schedule.labels) or len(set(sat.values())) > 1:
        return None
    pace = Pace(BLOCKS * schedule.batch_deals * max(schedule.rotations), suspensions)
    for game in games:
        pace.count(game.labels)
    return pace


def _list_labels(batch: Batch) -> set[str]:
    return {player.label for player in batch.players}
