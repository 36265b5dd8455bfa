"""The parts that a run plays: games that are done or still wanted, and how entries keep pace with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from malice.referee.records import Batch, Key
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.counting import (
    SequentialTest,
    Suspensions,
    find_counted_games,
    is_left_out,
    make_sequential_test,
)
from malice.tournaments.league.parts import Schedule
from malice.tournaments.running.hooks import Running
from malice.tournaments.running.plan import Plan, list_certain

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
        """Whether no entry can get too far ahead if the batch begins, whichever batch ends last."""
        here = _list_labels(batch)
        elsewhere = {label for each in running for label in _list_labels(each.batch)} - here
        return all(
            self._compute_lead(label, other, running) + len(batch.games) <= self._lead
            for label in here
            for other in elsewhere
        )

    def _compute_lead(self, label: str, other: str, running: Collection[Running]) -> int:
        """By how many games an entry is ahead once it has finished all that it plays without the other."""
        ahead = sum(
            len(each.left) for each in running if label in (labels := _list_labels(each.batch)) and other not in labels
        )
        return self._count_finished(label) + ahead - self._count_finished(other)

    def _count_finished(self, label: str) -> int:
        suspended = self._suspensions.suspended
        return sum(games for other, games in self._met[label].items() if other not in suspended)


def make_pace(schedule: Schedule, games: Iterable[Finished], suspensions: Suspensions) -> Pace | None:
    """Make the pace of a part with its finished games; None unless pairs meet, and all equally often.

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


class OpenParts:
    """Whom each open part suspends, how far everybody is in it, and how its comparison stands.

    Args:
        plan: the tournament, with the games that are finished at first.
    """

    def __init__(self, plan: Plan) -> None:
        self.finished = list(plan.finished)
        self.done = {game.key for game in self.finished}
        """The keys of all finished games."""
        self.suspensions: dict[int, Suspensions] = {}
        """By part; as are the others."""
        self.tests: dict[int, SequentialTest | None] = {}
        self.paces: dict[int, Pace | None] = {}
        self._plan = plan
        self.watch()

    def watch(self) -> None:
        """Keep track of parts that were opened since."""
        tournament = self._plan.tournament
        for schedule in tournament.open_parts:
            number = schedule.part.number
            if number not in self.suspensions:
                games = [game for game in self.finished if game.key.part == number]
                self.watch_part(schedule, games)
                self.tests[number] = make_sequential_test(tournament, number, games)

    def watch_part(self, schedule: Schedule, games: Sequence[Finished]) -> None:
        """Keep track of whom a part suspends, and of its pace, from its finished games on."""
        number, tournament = schedule.part.number, self._plan.tournament
        self.suspensions[number] = Suspensions(games, tournament.config.suspend_after, tournament.lifted)
        self.paces[number] = make_pace(schedule, games, self.suspensions[number])

    def add(self, game: Finished) -> None:
        """Take a finished game into account."""
        part = game.key.part
        self.finished.append(game)
        self.done.add(game.key)
        self.suspensions[part].add(game)
        if pace := self.paces[part]:
            pace.count(game.labels)
        if test := self.tests[part]:
            test.add(game)

    def list_finished(self) -> list[Finished]:
        """The finished games in playing order."""
        return sorted(self.finished, key=lambda game: game.number)

    def list_suspended(self) -> dict[str, int]:
        """The suspended entries, each with the number of the game that suspended it."""
        return find_counted_games(self._plan.tournament, self.list_finished()).suspended

    def count_left(self) -> int:
        batches = (batch for schedule in self._plan.tournament.open_parts for batch in schedule.batches())
        return sum(key not in self.done and self.wants(key) for batch in batches for key in batch.games())

    def wants(self, key: Key) -> bool:
        """Tell whether a game can be played and counts."""
        test = self.tests[key.part]
        if not self._plan.is_playable(key) or (test and test.leaves_out(key.deal)):
            return False
        suspended = self.suspensions[key.part].suspended
        return not suspended or not is_left_out(self._plan.number(key), self._plan.list_labels(key), suspended)

    def may_begin(self, batch: Batch, running: Collection[Running]) -> bool:
        """Tell whether a batch may begin: its entries must not get too far ahead in their part."""
        part = batch.games[0].key.part
        pace = self.paces[part]
        return pace is None or pace.allows(batch, [each for each in running if each.batch.games[0].key.part == part])


class KnownSuspensions(Suspensions):
    """The suspensions that are certain when a run begins; nothing that it plays adds one."""

    def add(self, game: Finished) -> None:
        """Take no game into account: those between it and the next ones may be on another machine."""


class SharedParts(OpenParts):
    """Parts of which other machines play games too: only what is certain when the run begins decides."""

    def list_suspended(self) -> dict[str, int]:
        return self._plan.list_suspended()

    def watch_part(self, schedule: Schedule, games: Sequence[Finished]) -> None:
        """Keep track of nothing but the suspensions that are certain."""
        tournament, number = self._plan.tournament, schedule.part.number
        certain = list_certain(tournament, games)
        self.suspensions[number] = KnownSuspensions(certain, tournament.config.suspend_after, tournament.lifted)
        self.paces[number] = None
