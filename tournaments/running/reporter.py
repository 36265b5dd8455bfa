"""Reports what a run does as events."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib.metadata import version

from msgspec import UNSET

from malice.referee.records import Batch, GameOrder, Key, Record
from malice.tournaments.league.counting import SequentialTest
from malice.tournaments.league.parts import Part
from malice.tournaments.league.publication import Publication, find_user
from malice.tournaments.running.events import (
    VERSION,
    EntrySuspended,
    Events,
    EventTable,
    GameFailed,
    GameFinished,
    GameStarted,
    PartFinished,
    PartOpened,
    RunStarted,
    VerdictGiven,
)
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.progress import compute_comparison_state


class Reporter:
    """Turns what a run does into events.

    Of an anonymous tournament it tells what the site would: neutral names, and verdicts without what bots wrote.

    Args:
        plan: the plan of the run.
        events: who hears of it.
    """

    def __init__(self, plan: Plan, events: Events) -> None:
        self.plan = plan
        self._events = events
        self._hides = plan.config.anonymous
        self._suspended: set[tuple[str, int]] = set()
        self._states: dict[int, int] = {}

    def report_start(self, jobs: int, done: int, left: int) -> None:
        """Report that a run begins.

        Args:
            jobs: games at a time.
            done: games that were finished before.
            left: open games.
        """
        tournament = self.plan.tournament
        self._events.tell(
            RunStarted(
                version=VERSION,
                malice=version("malice-arena"),
                tournament=tournament.name,
                format=tournament.config.format,
                rulesets=tuple(tournament.rulesets),
                entries=tuple(entry.label for entry in tournament.file_entries),
                jobs=jobs,
                done=done,
                total=done + left,
            )
        )

    def report_parts(self, parts: Iterable[Part]) -> None:
        """Report parts that were created."""
        for part in parts:
            meetings = (EventTable(each.ruleset, tuple(one.label for one in each.versions)) for each in part.tables)
            self._events.tell(
                PartOpened(
                    part=part.number,
                    title=part.title,
                    deals=part.deals,
                    games=self.plan.tournament.schedule(part).total,
                    meetings=tuple(meetings),
                    byes=tuple(version.label for version in part.byes),
                )
            )

    def report_closed(self, numbers: Iterable[int]) -> None:
        """Report parts that were closed."""
        for number in numbers:
            self._events.tell(PartFinished(part=number))

    def report_begin(self, batch: Batch, order: GameOrder) -> None:
        """Report that a game begins."""
        labels = tuple(batch.players[player].label for player in order.seating)
        self._events.tell(GameStarted(key=str(order.key), ruleset=batch.ruleset, labels=labels))

    def report_failure(self, key: Key, sentence: str, *, again: bool) -> None:
        """Report that the referee could not finish a game, and whether it is tried again."""
        self._events.tell(GameFailed(key=str(key), again=again, sentence="" if self._hides else sentence))

    def report_game(self, record: Record, done: int, total: int) -> None:
        """Report a finished game, after its verdicts.

        Args:
            record: the game.
            done: how many games are finished.
            total: how many there are.
        """
        labels = tuple(label for label, _ in record.entries)
        shown = Publication(anonymous=True, user=find_user()).redact_faults(record) if self._hides else record
        for fault in shown.faults:
            self._events.tell(
                VerdictGiven(
                    key=str(record.key),
                    seat=fault.seat,
                    label=labels[fault.seat],
                    code=fault.code,
                    action=fault.action,
                    sentence=fault.sentence,
                )
            )
        self._events.tell(
            GameFinished(
                key=str(record.key),
                ruleset=record.ruleset,
                labels=labels,
                places=record.places,
                scores=record.scores,
                reason=record.reason,
                actions=len(record.actions),
                ms=record.elapsed_ms,
                digest=UNSET if self._hides else record.digest,
                done=done,
                total=total,
            )
        )

    def report_suspensions(self, part: int, suspended: Collection[str]) -> None:
        """Report the entries that a part suspends and that were not reported before."""
        for label in suspended:
            if (label, part) not in self._suspended:
                self._suspended.add((label, part))
                self._events.tell(EntrySuspended(label=label, part=part))

    def report_test(self, part: int, test: SequentialTest) -> None:
        """Report how a comparison stands, unless nothing has changed."""
        if self._states.get(part) != test.deals:
            self._states[part] = test.deals
            self._events.tell(compute_comparison_state(test))
