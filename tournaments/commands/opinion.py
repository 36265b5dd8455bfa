"""A second opinion for the pages: opens the bot that gives it, and says what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from malice.referee.nouns import format_count
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import with_isolation
from malice.tournaments.sanitizer import sanitize

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.opinions import Opinions


@dataclass(frozen=True)
class Asking:
    """Which bot to ask for a second opinion, and how."""

    words: str
    """What names it."""
    most: int | None
    """About how many games to ask it; None for all."""
    isolation: Layer | None
    """Its isolation; None for the strongest that works."""
    required: bool
    """Whether that isolation is required."""


@contextmanager
def open_opinions(store: Store, asking: Asking | None) -> Iterator[Opinions | None]:
    """Lend a bot to be asked about games of a league, or none; say afterwards on stderr what came of it.

    Raises:
        BotError: there is no such bot, it cannot be built, or it does not play the game of the league.
        IsolationError: its isolation is required, but unavailable.
    """
    if asking is None:
        yield None
        return
    from malice.referee.records import Isolation
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.games import require_games
    from malice.tournaments.league.file import list_league_files
    from malice.tournaments.running.isolation import describe_shortcomings
    from malice.tournaments.running.names import Names
    from malice.tournaments.running.opinions import Opinions
    from malice.tournaments.running.replay_progress import ReplayProgress
    from malice.tournaments.running.rerun import Surroundings

    interrupt_on_signals()
    config = with_isolation(store.config(), asking.isolation, asking.required)
    found = Names(store.path, store).find(asking.words)
    require_games(found, found.manifest.name, [ruleset.family for ruleset in store.tournament().rulesets.values()])
    bot = ensure_built(found)
    player = bot.make_player(bot.manifest.name)
    for line in describe_shortcomings(config.isolation, [player]):
        click.echo(line, err=True)
    layers = Isolation(
        config.isolation, config.memory_mb, config.freeze, list_league_files(store.path), asking.required
    )
    with ReplayProgress(sys.stderr, "second opinion") as progress:
        advice = Opinions(store, player, Surroundings(config.init_ms, layers), asking.most, progress)
        yield advice
    _print_opinions(advice)


def _print_opinions(advice: Opinions) -> None:
    from malice.tournaments.terminal.transcript import excerpt_stderr

    bot = sanitize(advice.adviser.name)
    others = f"{advice.moves - advice.agreed:,} of {format_count(advice.moves, 'move')}"
    games = format_count(advice.games, "game")
    click.echo(f"second opinion: {bot} would have played otherwise in {others}, in {games}", err=True)
    for fault in advice.faults:
        place = f"game {fault.key}, seat {fault.seat}, after {format_count(fault.moves, 'move')}"
        click.echo(f"  {bot}: {fault.verdict} in {place}: {sanitize(fault.sentence)}", err=True)
        for line in excerpt_stderr(fault.stderr):
            click.echo(f"    | {line}", err=True)
