"""The end of a run's time: when the last game may begin, and when those that still run are given up."""

from __future__ import annotations

import math
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime

from malice.referee.nouns import format_count
from malice.referee.records import Batch, Key, Record
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.progress import format_duration
from malice.tournaments.sanitizer import sanitize

SHARE = 0.99
"""The share of the measured games that are no longer than what must be left when another one begins."""
SAMPLE = 200
"""From how many games of earlier runs their lengths are known."""
NAMED = 20
"""How many games are named that are not tried again."""


class Deadline:
    """What a time limit lets a run begin.

    A game begins while the longest measured ones still fit. What runs on when the grace is over is given up, and
    played another time, unless a whole run is too short for it.

    Args:
        plan: the tournament.
        until: when the run is to be over, in seconds since 1970; infinite for no limit.
        grace_s: how much longer games may run that have begun.
        now: the clock.
    """

    def __init__(self, plan: Plan, until: float, grace_s: float, now: Callable[[], float] = time.time) -> None:
        self._plan = plan
        self._until = until
        self._grace_s = grace_s
        self._measured: dict[str, list[float]] = defaultdict(list)
        """By ruleset: how long games took, in seconds, sorted."""
        self.now = now
        self.over = until + grace_s
        """When the games that run are given up."""
        self.too_long: dict[Key, float] = {}
        """The games that ran longer in an earlier run than this one lasts, each with its time in seconds."""

    def begin(self, store: Store, done: Collection[Key]) -> None:
        """Learn from earlier runs how long games take, and which of them are too long for this one.

        Args:
            store: the league, with the tournament chosen.
            done: its finished games.
        """
        if math.isinf(self._until):
            return
        keys = sorted(done)
        for key in keys[:: -(-len(keys) // SAMPLE) or 1]:
            self.measure(store.record(key))
        left = self.over - self.now()
        overruns = self._plan.tournament.overruns
        self.too_long = {
            each.key: each.ms / 1000 for each in overruns if each.ms / 1000 >= left and each.key not in done
        }

    def measure(self, record: Record) -> None:
        """Learn from a game how long games take."""
        insort(self._measured[record.ruleset], record.elapsed_ms / 1000)

    def latest_begin(self, batch: Batch) -> float:
        """Return the time, in seconds since 1970, from which on no game of a batch may begin."""
        return self._until - self._find_longest(batch.ruleset)

    def _find_longest(self, ruleset: str) -> float:
        """Return how long the longest games under a ruleset took, in seconds; nothing if none was measured."""
        measured = self._measured[ruleset]
        return measured[math.ceil(SHARE * len(measured)) - 1] if measured else 0.0

    def describe(self) -> Iterator[str]:
        """Say when the last game may begin, and why, what becomes of games that run on, and which are left out."""
        if math.isinf(self._until):
            return
        rulesets = self._plan.tournament.rulesets
        for name in rulesets:
            longest, games = self._find_longest(name), format_count(len(self._measured[name]), "game")
            why = "no game was measured yet"
            if self._measured[name]:
                why = f"the longest took {format_duration(longest)} (99 % of {games})"
            head = f"{sanitize(name)}: " if len(rulesets) > 1 else ""
            yield f"{head}the last game may begin at {_format_time(self._until - longest)}: {why}"
        if not math.isinf(self.over):
            over = _format_time(self.over)
            yield f"{self._describe_clocks()}; what runs on at {over} is given up, and played another time"
        if self.too_long:
            named = [f"{key} ({format_duration(took)})" for key, took in sorted(self.too_long.items())]
            named[NAMED:] = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
            yield f"not tried again, since they ran longer before than this run lasts: {', '.join(named)}"

    def _describe_clocks(self) -> str:
        limits = [self._plan.compute_game_ms(name) for name in self._plan.tournament.rulesets]
        known = [limit for limit in limits if limit is not None]
        if len(known) < len(limits):
            return "the clocks do not limit how long a game takes"
        return f"by the clocks a game takes at most {format_duration(max(known) / 1000)}"

    def describe_lack_of_time(self) -> str:
        """Say why no game began."""
        longest = min(map(self._find_longest, self._plan.tournament.rulesets))
        if not longest:
            return "no game was played: the time was up before the first"
        return f"no game was played: the longest took {format_duration(longest)}, and so much time was not left"


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at).isoformat(" ", "seconds")
