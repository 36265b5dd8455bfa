"""Runs of a tournament that copies of its league play: one creates the games, others play a share of them each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from malice.tournaments.league.contents import Finished
from malice.tournaments.league.journal import ShareChosen
from malice.tournaments.league.judgement import find_counted_games
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.store import Store
from malice.tournaments.league.suspension import Suspensions
from malice.tournaments.running.open_parts import OpenParts
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.run import Run, RunTerms, end_earlier_run
from malice.tournaments.running.shares import list_certain


class Creation(Run):
    """A run that creates what can be created now, and plays nothing."""

    def create(self) -> int:
        """Greet the entries, write what is new into the league, and return how many games are open."""
        self._begin(shared=True)
        while not (left := self.parts.count_left()) and self._close_parts():
            pass
        return left


def create_games(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Bring the league up to its tournament file as a run does, and play nothing; return how many games are open.

    Args, Raises: as `run.run_tournament`.
    """
    end_earlier_run(store, out)
    creation = Creation(store, plan, out, terms)
    with creation.audit:
        return creation.create()


class KnownSuspensions(Suspensions):
    """The suspensions that are certain when a run begins; nothing that it plays adds one."""

    def add(self, game: Finished) -> None:
        """Take no game into account: those between it and the next ones may be on another machine."""


class SharedParts(OpenParts):
    """Parts of which other machines play games too: only what is certain when the run begins decides."""

    def list_suspended(self) -> dict[str, int]:
        """Return the entries whose suspension is certain, each with the number of the game that suspended it."""
        return find_counted_games(
            self._plan.tournament, list_certain(self._plan.tournament, self._plan.finished)
        ).suspended

    def watch_part(self, schedule: Schedule, games: Sequence[Finished]) -> None:
        """Keep track of nothing but the suspensions that are certain."""
        tournament, number = self._plan.tournament, schedule.part.number
        certain = list_certain(tournament, games)
        self.suspensions[number] = KnownSuspensions(certain, tournament.config.suspend_after, tournament.lifted)
        self.paces[number] = None


class ShareRun(Run):
    """One run of a share. It closes no part and creates none; a later merge judges what was played."""

    def __init__(self, store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> None:
        super().__init__(store, plan, out, terms)
        self.parts = SharedParts(plan)

    def _close_parts(self) -> bool:
        return False


def play_share(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Play the open games of the plan's share, and remember it; return how many are left because the time is up.

    Args, Raises: as `run.run_tournament`.
    """
    end_earlier_run(store, out)
    if plan.tournament.open_parts and not plan.tournament.share:
        store.append(plan.tournament.name, [ShareChosen(str(plan.share))])
    run = ShareRun(store, plan, out, terms)
    with run.audit:
        return run.play()
