"""What is known of the parts that a run plays: which games are done, and which of the others are still wanted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from malice.referee.records import Batch, Key
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.contest import SequentialTest, make_sequential_test
from malice.tournaments.league.judgement import find_counted_games
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.suspension import Suspensions, is_left_out
from malice.tournaments.running.hooks import Running
from malice.tournaments.running.pace import Pace, make_pace
from malice.tournaments.running.plan import Plan


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
        self.contests: dict[int, SequentialTest | None] = {}
        self.paces: dict[int, Pace | None] = {}
        self._plan = plan

    def watch(self) -> None:
        """Keep track of parts that were opened since."""
        tournament = self._plan.tournament
        for schedule in tournament.open_parts:
            number = schedule.part.number
            if number not in self.suspensions:
                games = [game for game in self.finished if game.key.part == number]
                self.watch_part(schedule, games)
                self.contests[number] = make_sequential_test(tournament, number, games)

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
        if contest := self.contests[part]:
            contest.add(game)

    def list_suspended(self) -> dict[str, int]:
        """Return the suspended entries, each with the number of the game that suspended it."""
        return find_counted_games(self._plan.tournament, self.finished).suspended

    def count_left(self) -> int:
        """Return how many games must be played now."""
        batches = (batch for schedule in self._plan.tournament.open_parts for batch in schedule.batches())
        return sum(key not in self.done and self.wants(key) for batch in batches for key in batch.games())

    def wants(self, key: Key) -> bool:
        """Tell whether a game can be played and counts."""
        contest = self.contests[key.part]
        if not self._plan.is_playable(key) or (contest and contest.leaves_out(key.deal)):
            return False
        suspended = self.suspensions[key.part].suspended
        return not suspended or not is_left_out(self._plan.number(key), self._plan.list_labels(key), suspended)

    def may_begin(self, batch: Batch, running: Collection[Running]) -> bool:
        """Tell whether a batch may begin: its entries must not get too far ahead in their part."""
        part = batch.games[0].key.part
        pace = self.paces[part]
        return pace is None or pace.allows(batch, [each for each in running if each.batch.games[0].key.part == part])
