"""What a command line or a Python program orders: games at one table, or a comparison, each a tournament of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.game import Position
from malice.referee.records import Layer
from malice.tournaments.entries.lookup import Find, name_apart
from malice.tournaments.league.config import (
    MOST,
    NO_CLOCK,
    ClockLines,
    Config,
    LabelledBot,
    check_config,
    choose_clock_kind,
    describe_differences,
)
from malice.tournaments.league.journal import YOU
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.ratings.sprt import Model, Sprt
from malice.tournaments.running.isolation import require_isolation
from malice.tournaments.running.plan import Plan, read_plan
from malice.tournaments.running.registration import PlanOptions
from malice.tournaments.running.setup import Setup, read_setup

MAX_DEALS = 20_000


class Order(Struct, frozen=True, kw_only=True):
    """What is to be played; None is the default of each field. Paths are relative to the working folder."""

    bots: tuple[str, ...]
    """The words that name them."""
    rulesets: tuple[str, ...]
    deals: int | None = None
    positions: tuple[Position, ...] = ()
    """By deal, where its games begin."""
    timed: bool = True
    """Whether there is a clock at all."""
    seed: str | None = None
    jobs: int | None = None
    isolation: Layer | None = None
    required: bool = False
    """Whether a game without that isolation is refused."""


class MatchOrder(Order, frozen=True, kw_only=True):
    """Games at one table: the bots are in the order of seats, and each deal is played in every rotation of them."""

    series: bool = False
    """Whether to play until every series has a winner, if the ruleset plays series."""
    move_ms: int | None = None
    """The time for each action, without a bank; None for the clock of every tournament."""
    stderr: bool = False
    """Whether the bots' stderr is reported line by line."""
    people: tuple[str, ...] = ()
    """The labels of the people among `bots`, in that order; people without one are called `you`."""
    origin: str = ""
    """The league that the positions come from, whose versions may play on; empty if they come from none."""
    name: str = ""
    """Of the tournament in the league; by default `play`, and a new one for each sitting of people."""

    def find_origin(self) -> Path | None:
        return Path(self.origin) if self.origin else None


class ComparisonOrder(Order, frozen=True, kw_only=True):
    """A comparison of the first bot with the second; the others are opponents of both. `deals` plays without a test."""

    max_deals: int | None = None
    """By default as many as there are positions."""
    elo0: float | None = None
    elo1: float | None = None
    model: Model | None = None

    @property
    def contradicts_itself(self) -> bool:
        """Whether it asks for a test and for none."""
        return self.deals is not None and {self.max_deals, self.elo0, self.elo1, self.model} != {None}


def read_order(store: Store, order: MatchOrder | ComparisonOrder, find: Find) -> Plan:
    """Plan what is ordered, whether it begins in a league or goes on there.

    Args:
        store: the league; of a comparison it forgets what was never played.
        order: what to play.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: there is no such bot or ruleset, they do not fit each other, or the test cannot be done.
        IsolationError: the isolation is required, but unavailable.
        LeagueError: the league holds other games at one table.
    """
    base = Path.cwd()
    config = _configure_match(order) if isinstance(order, MatchOrder) else _configure_comparison(order, base, find)
    config = check_config(_set_terms(config, order, base), config.name)
    if order.required:
        require_isolation(config.isolation)
    if isinstance(order, MatchOrder):
        if YOU in order.bots and not order.name:
            config = _name_sitting(store, config, base, find)
        options = PlanOptions(numbered=True, required=order.required, stderr=order.stderr)
        return read_plan(store, config, base, find, options)
    config = _name_comparison(store, config, base, find)
    store.forget_unplayed(config.name)
    # Nobody is left to play without one of them, and that is what the refusal says.
    return read_plan(store, config, base, find, PlanOptions(keep_going=True, required=order.required))


def _configure_match(order: MatchOrder) -> Config:
    clock = ClockLines() if order.move_ms is None else ClockLines(order.move_ms, None)
    deals = 1 if order.deals is None else order.deals
    return Config(
        tuple(_list_entries(order)),
        name=order.name or "play",
        seats=len(order.bots),
        deals=deals,
        series=order.series,
        clock=clock,
    )


def _list_entries(order: MatchOrder) -> Iterator[str | LabelledBot]:
    labels = iter(order.people)
    for words in order.bots:
        label = next(labels, None) if words == YOU else None
        yield LabelledBot(words, label) if label else words


def _name_sitting(store: Store, config: Config, base: Path, find: Find) -> Config:
    """Give a match of people a name of its own, or that of the last one, if this goes on with its games."""
    tournaments = store.league().tournaments
    last = next(reversed(tournaments.values()), None)
    if last is not None and not last.complete and _is_same(last, read_setup(config, base, find, numbered=True)):
        return replace(config, name=last.name)
    number = len(tournaments) + 1
    return config if number == 1 else replace(config, name=f"{config.name}-{number}")


def _configure_comparison(order: ComparisonOrder, base: Path, find: Find) -> Config:
    """Configure a comparison that has no name of its own yet."""
    return Config(
        _label_compared(order.bots, base, find),
        name="compare",
        format="comparison",
        seats=2,
        deals=order.deals or order.max_deals or len(order.positions) or MAX_DEALS,
        sprt=None if order.deals is not None else _make_test(order),
        series=False,
    )


def _set_terms(config: Config, order: Order, base: Path) -> Config:
    """Set what every order says in the same words."""
    rulesets = [order.positions[0].find_ruleset()] if order.positions else order.rulesets
    clock = replace(config.clock, kind=choose_clock_kind(rulesets, base)) if order.timed else NO_CLOCK
    return replace(
        config,
        rulesets=order.rulesets,
        positions=order.positions,
        suspend_after=0,
        seed=order.seed,
        jobs=order.jobs or 0,
        clock=clock,
        init_ms=config.init_ms if order.timed else MOST,
        isolation=order.isolation or "auto",
    )


def _make_test(order: ComparisonOrder) -> Sprt:
    least = Sprt()
    return Sprt(
        least.elo0 if order.elo0 is None else order.elo0,
        least.elo1 if order.elo1 is None else order.elo1,
        order.model or least.model,
    )


def _label_compared(bots: Sequence[str], base: Path, find: Find) -> tuple[LabelledBot, ...]:
    """The entries of a comparison: two different bots of one name get labels of their own."""
    lines: list[LabelledBot] = []
    contents: dict[str, str] = {}
    found = [find(words, base) for words in bots]
    for words, bot, label in zip(bots, found, name_apart(bots, found, base), strict=True):
        plain, mark, parameters = label.partition("?")
        number = 2
        while contents.get(label, bot.hash) != bot.hash:
            label, number = f"{plain}-{number}{mark}{parameters}", number + 1
        contents[label] = bot.hash
        lines.append(LabelledBot(words, label if label != bot.manifest.name else None))
    return tuple(lines)


def _name_comparison(store: Store, config: Config, base: Path, find: Find) -> Config:
    """Give a comparison the name by which its league knows it, or a new one.

    It continues only with the same bots, rulesets, deals and test; otherwise it is a new one.
    """
    setup = read_setup(config, base, find)
    one, other, *others = (entry.label for entry in setup.entries)
    first = f"{one} v {other}" + (f" against {', '.join(others)}" if others else "")
    tournaments = store.league().tournaments
    name, number = first, 1
    while name in tournaments and not _is_same(tournaments[name], setup):
        number += 1
        name = f"{first} #{number}"
    return replace(config, name=name)


def _is_same(tournament: Tournament, setup: Setup) -> bool:
    """Whether a tournament plays what a setup asks for, whatever its name."""
    config = replace(setup.config, name=tournament.name)
    contents = [(each.label, each.version.hash) for each in tournament.list_entries()]
    return (
        not describe_differences(tournament.config, config)
        and tournament.config.deals == config.deals
        and tuple(tournament.rulesets.values()) == setup.rulesets
        and contents == [(each.label, each.bot.hash) for each in setup.entries]
    )
