"""Opens a comparison as a tournament of its own in a league, under the name with which it began there."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.game import Position
from malice.referee.records import Layer
from malice.tournaments.entries.lookup import Find
from malice.tournaments.league.config import MOST, NO_CLOCK, ClockLines, Config, check_config, choose_clock_kind
from malice.tournaments.league.store import Store
from malice.tournaments.ratings.sprt import Model, Sprt
from malice.tournaments.running.isolation import require_isolation
from malice.tournaments.running.opening import list_compared_entries, name_comparison, open_league
from malice.tournaments.running.plan import Plan

MAX_DEALS = 20_000


class ComparisonOrder(Struct, frozen=True):
    """What a comparison is asked; None is the default of each."""

    bots: tuple[str, ...]
    """The words that name them: the new one, the base, then opponents of both."""
    rulesets: tuple[str, ...]
    max_deals: int | None = None
    deals: int | None = None
    """Play exactly so many, without a test."""
    elo0: float | None = None
    elo1: float | None = None
    model: Model | None = None
    seed: str | None = None
    jobs: int | None = None
    isolation: Layer | None = None
    required: bool = False
    """Whether a game without that isolation is refused."""
    positions: tuple[Position, ...] = ()
    """By deal, where its games begin; as many deals as there are, if nothing else is said."""
    timed: bool = True
    """Whether there is a clock at all."""

    @property
    def contradicts_itself(self) -> bool:
        """Whether it asks for a test and for none."""
        return self.deals is not None and {self.max_deals, self.elo0, self.elo1, self.model} != {None}


def open_comparison(store: Store, order: ComparisonOrder, find: Find) -> Plan:
    """Return the plan of a comparison that begins in a league, or goes on there.

    Args:
        store: the league.
        order: paths in it are relative to the working folder.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: there is no such bot or ruleset, or the test cannot be done.
        IsolationError: the isolation is required, but unavailable.
    """
    base = Path.cwd()
    config = _make_config(order, base, find)
    if order.required:
        require_isolation(config.isolation)
    config = name_comparison(store, replace(config, seed=order.seed, jobs=order.jobs or 0), base, find)
    store.forget_unplayed(config.name)
    # Nobody is left to play without one of them, and that is what the refusal says.
    plan = open_league(store, config, base, find, keep_going=True)
    plan.isolation = replace(plan.isolation, required=order.required)
    return plan


def _make_config(order: ComparisonOrder, base: Path, find: Find) -> Config:
    """Make a comparison that has no name yet."""
    rulesets = [order.positions[0].find_ruleset()] if order.positions else order.rulesets
    config = Config(
        entries=list_compared_entries(order.bots, base, find),
        name="compare",
        format="comparison",
        rulesets=order.rulesets,
        seats=2,
        deals=order.deals or order.max_deals or len(order.positions) or MAX_DEALS,
        positions=order.positions,
        sprt=None if order.deals is not None else _make_test(order),
        series=False,
        suspend_after=0,
        clock=ClockLines(kind=choose_clock_kind(rulesets, base)) if order.timed else NO_CLOCK,
        isolation=order.isolation or "auto",
    )
    return check_config(config if order.timed else replace(config, init_ms=MOST), "compare")


def _make_test(order: ComparisonOrder) -> Sprt:
    least = Sprt()
    return Sprt(
        least.elo0 if order.elo0 is None else order.elo0,
        least.elo1 if order.elo1 is None else order.elo1,
        order.model or least.model,
    )
