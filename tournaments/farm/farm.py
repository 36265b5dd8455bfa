"""Plays the batches of a run on a cluster, as `coordinator.play_batches` does on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from malice.referee.records import Batch
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.farm.cluster import Cluster
from malice.tournaments.farm.conditions import PATIENCE_S, Conditions
from malice.tournaments.farm.dispatch import Dispatcher
from malice.tournaments.farm.identity import read_identity
from malice.tournaments.farm.work import Need, Ticket, make_ticket
from malice.tournaments.running.hooks import Audit, Hooks, Outcome
from malice.tournaments.running.opening import Playing
from malice.tournaments.running.plan import Plan


class Farm:
    """Plays batches on the workers of a cluster.

    Args:
        cluster: the workers.
        kept: where the bots are kept.
        min_factor: workers that are slower get no work.
        slots: how many games all workers play at a time, as far as they are there now.
        patience_s: how long there may be no worker.
    """

    def __init__(
        self,
        cluster: Cluster,
        kept: KeptBots,
        min_factor: float = 0.0,
        slots: int = 1,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.slots = slots
        self._cluster = cluster
        self._kept = kept
        self._min_factor = min_factor
        self._patience_s = patience_s

    def __call__(self, plan: Plan) -> Playing:
        """The way to play the batches of an open plan, with the errors of `Dispatcher.play`."""

        def play(batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
            assert isinstance(hooks.audit, Audit), "what comes from elsewhere is replayed"
            conditions = self._make_conditions(plan, cpus_per_game)
            return Dispatcher(self._cluster, conditions, hooks.audit, batches, hooks).play()

        return play

    def _make_conditions(self, plan: Plan, cpus_per_game: int) -> Conditions:
        tickets = {label: make_ticket(bot) for label, bot in plan.bots.items()}
        tars = {ticket.content: self._find_tar(ticket) for ticket in tickets.values() if not ticket.command}
        need = Need(
            malice=read_identity(),
            families=tuple({ruleset.family for ruleset in plan.tournament.rulesets.values()}),
            isolation=plan.isolation,
            cpus_per_game=cpus_per_game,
            contents=tuple(tars),
        )
        clock = plan.config.clock
        by_wall = clock.kind == "wall" and not (clock.move_ms is None and clock.bank_ms is None)
        return Conditions(need, tickets, tars, self._min_factor, by_wall, self._patience_s)

    def _find_tar(self, ticket: Ticket) -> Path:
        return self._kept.tar(ticket.content)
