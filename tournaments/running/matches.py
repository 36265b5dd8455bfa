"""Opens games at one table as a tournament of its own in a league."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.game import Position
from malice.referee.records import Layer
from malice.tournaments.entries.lookup import Find
from malice.tournaments.league.config import (
    MOST,
    NO_CLOCK,
    ClockLines,
    Config,
    LabelledBot,
    check_config,
    choose_clock_kind,
)
from malice.tournaments.league.journal import YOU
from malice.tournaments.league.store import Store
from malice.tournaments.running.isolation import require_isolation
from malice.tournaments.running.opening import is_same, open_league
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.setup import read_setup


class MatchOrder(Struct, frozen=True):
    """What is played at one table."""

    bots: tuple[str, ...]
    """The words that name them, in the order of seats."""
    ruleset: str
    deals: int
    """Each is played in every rotation of seats."""
    series: bool = False
    """Whether to play until every series has a winner, if the ruleset plays series."""
    move_ms: int | None = None
    """The time for each action, without a bank; None for the clock of every tournament."""
    timed: bool = True
    """Whether there is a clock at all."""
    seed: str | None = None
    jobs: int | None = None
    isolation: Layer | None = None
    required: bool = False
    """Whether a game without that isolation is refused."""
    positions: tuple[Position, ...] = ()
    """By deal, where its games begin."""
    people: tuple[str, ...] = ()
    """The labels of the people among `bots`, in that order; people without one are called `you`."""


def open_match(store: Store, order: MatchOrder, find: Find) -> Plan:
    """Return the plan of games that begin in a league, or go on there.

    Args:
        store: the league.
        order: paths in it are relative to the working folder.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: there is no such bot or ruleset, or they do not fit each other.
        IsolationError: the isolation is required, but unavailable.
        LeagueError: the league holds other games at one table.
    """
    base = Path.cwd()
    config = _make_config(order, base)
    if order.required:
        require_isolation(config.isolation)
    if YOU in order.bots:
        config = _name_sitting(store, config, base, find)
    plan = open_league(store, config, base, find, numbered=True)
    plan.isolation = replace(plan.isolation, required=order.required)
    return plan


def _name_sitting(store: Store, config: Config, base: Path, find: Find) -> Config:
    """Return a match of people under a name of its own, or that of the last one, if this goes on with its games."""
    tournaments = store.league().tournaments
    last = next(reversed(tournaments.values()), None)
    if last is not None and not last.complete and is_same(last, read_setup(config, base, find, numbered=True)):
        return replace(config, name=last.name)
    number = len(tournaments) + 1
    return config if number == 1 else replace(config, name=f"{config.name}-{number}")


def _list_entries(order: MatchOrder) -> Iterator[str | LabelledBot]:
    labels = iter(order.people)
    for words in order.bots:
        label = next(labels, None) if words == YOU else None
        yield LabelledBot(words, label) if label else words


def _make_config(order: MatchOrder, base: Path) -> Config:
    config = Config(
        entries=tuple(_list_entries(order)),
        name="play",
        suspend_after=0,
        rulesets=(order.ruleset,),
        seats=len(order.bots),
        deals=order.deals,
        series=order.series,
        seed=order.seed,
        positions=order.positions,
        jobs=order.jobs or 0,
        clock=_make_clock(order, base),
        isolation=order.isolation or "auto",
    )
    return check_config(config if order.timed else replace(config, init_ms=MOST), "play")


def _make_clock(order: MatchOrder, base: Path) -> ClockLines:
    if not order.timed:
        return NO_CLOCK
    kind = choose_clock_kind([order.positions[0].find_ruleset() if order.positions else order.ruleset], base)
    return ClockLines(kind=kind) if order.move_ms is None else ClockLines(order.move_ms, None, kind=kind)
