"""`malice run --shard`: plays a share of a tournament on a copy of its league."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from malice.referee.nouns import format_count, inflect
from malice.tournaments.commands.event_output import tell_events
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import open_store, with_isolation
from malice.tournaments.commands.resuming import make_terms, stop_on_interrupt
from malice.tournaments.commands.time_limit import read_limit

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.league.config import Config
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.plan import Plan


class Machine(NamedTuple):
    """What the command line says of the machine that plays; a league keeps nothing of that."""

    jobs: int | None
    cpus_per_game: int | None
    isolation: Layer | None
    required: bool


class Resumable(NamedTuple):
    """A command line that can be repeated."""

    words: list[str]
    """Without its time limit."""
    until: str | None
    duration: str | None
    grace: str | None
    events_to: str | None


def play_shard(share: str, db: Path, name: str | None, machine: Machine, command: Resumable) -> None:
    """Play the open games of a share.

    Args:
        share: what to play, such as `2/3`.
        db: the copy of the league.
        name: the tournament; None for the only one.
        machine: where it is played.
        command: what was typed.

    Raises:
        BotError, DataError, LeagueError: it cannot be played here.
        Stopped: it was stopped; the message says how to resume.
    """
    from malice.tournaments.running.recalling import recall_plan
    from malice.tournaments.running.share_run import play_share
    from malice.tournaments.running.shares import parse_share

    interrupt_on_signals()
    chosen = parse_share(share)
    with stop_on_interrupt(["malice", *sys.argv[1:]]):
        limit = read_limit(command.until, command.duration, command.grace)
        resume = command.words + limit.words
        with (
            tell_events(command.events_to, db) as output,
            open_store(db, write=True, unplayed=True, tournament=name) as store,
        ):
            config = _set_machine(store.config(), machine)
            output.anonymous = config.anonymous
            plan = recall_plan(store, config, chosen, required=machine.required)
            _print_share(plan, store)
            left = play_share(store, plan, sys.stderr, make_terms(plan, resume, limit, db, output))
            if left:
                output.reason = "time"
                again = resume if limit.recurs else command.words
                games = f"{format_count(left, 'game')} {inflect(left, 'is', 'are')} left"
                click.echo(f"the time is up: {games}; go on with: {shlex.join(again)}", err=True)
            else:
                click.echo(f"{db}: share {share} is played; now: malice merge LEAGUE.db {db}", err=True)


def _set_machine(config: Config, machine: Machine) -> Config:
    from msgspec.structs import replace

    config = replace(config, jobs=machine.jobs or 0, cpus_per_game=machine.cpus_per_game or 1)
    return with_isolation(config, machine.isolation, machine.required)


def _print_share(plan: Plan, store: Store) -> None:
    """Say how much of the open games is to be played here."""
    mine = plan.count_open(store.keys())
    click.echo(f"share {plan.share}: {format_count(mine, 'game')} to play here", err=True)
