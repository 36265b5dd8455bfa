"""`malice run`: plays the tournament that a file describes, or a share of it, and says how to go on after a stop."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec
from msgspec import Struct

from malice.referee.nouns import format_count, inflect
from malice.tournaments.commands.cluster import dask_options, open_farm
from malice.tournaments.commands.event_output import STDOUT, EventOutput, events_option, tell_events
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import (
    Limit,
    isolation_options,
    json_option,
    print_standings,
    read_limit,
    time_options,
    with_isolation,
)
from malice.tournaments.commands.pages import keep_site, replace_site_option, url_option
from malice.tournaments.errors import Stopped
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.league.config import Config
    from malice.tournaments.league.standings import Standings
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.opening import RunTerms
    from malice.tournaments.running.plan import Plan
    from malice.tournaments.running.registration import PlanOptions


def make_terms(plan: Plan, resume: list[str], limit: Limit, db: Path, output: EventOutput) -> RunTerms:
    """Say how a tournament is run whose bots are kept.

    Args:
        plan: the tournament.
        resume: the words of the command that goes on with it.
        limit: when it must be over.
        db: the league.
        output: where its events go.
    """
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.running.opening import RunTerms

    return RunTerms(plan.config.jobs, resume, limit.until, limit.grace_s, kept=KeptBots(db), events=output.events)


def spell_command(tournament: Path | None, db: Path | None, options: Mapping[str, object]) -> list[str]:
    """The words of `malice run` with the options that are set."""
    words = ["malice", "run", *([str(tournament)] if tournament else [])]
    for name, value in ({"--db": db} | dict(options)).items():
        if value:
            words += [name] if value is True else [name, str(value)]
    return words


@contextmanager
def stop_on_interrupt(resume: list[str]) -> Iterator[None]:
    """Stop cleanly if a signal comes before the first game, or after the last."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; resume with: {shlex.join(resume)}") from None


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
    from malice.tournaments.league.parts import parse_share
    from malice.tournaments.running.plan import recall_plan
    from malice.tournaments.running.run import play_share

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


NOT_OF_A_SHARE = (
    "--site",
    "--url",
    "--replace-site",
    "--keep-going",
    "--new-versions",
    "--dask",
    "--min-factor",
    "--patience",
)
"""Options of a run that a share has not: it changes nothing in its league but games."""


@click.command()
@click.argument("tournament", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The league [default: `league` in the TOML file, or the name of that file with .db].",
)
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option(
    "--site",
    "out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the pages here, again and again while it plays, and at the end.",
)
@url_option
@replace_site_option
@click.option("--new-versions", is_flag=True, help="Let bots that changed play on in their new version.")
@click.option("--keep-going", is_flag=True, help="Play without the bots that cannot be built or started.")
@time_options
@click.option("--create-only", is_flag=True, help="Play nothing: prepare a league of which copies are played.")
@click.option("--shard", "share", metavar="I/N", help="Play this share of a copy of a league; no TOURNAMENT is given.")
@click.option("--tournament", "name", metavar="NAME", help="Of which tournament; default: the only one.")
@click.option("--cpus-per-game", "cpus", type=click.IntRange(1), help="Processors for a game of a share [default: 1].")
@click.option("--dry-run", is_flag=True, help="Print how long it would take and how much disk, and store nothing.")
@dask_options
@events_option
@isolation_options
@json_option
def run(
    tournament: Path | None,
    db: Path | None,
    jobs: int | None,
    out: Path | None,
    url: str,
    replace_site: bool,
    new_versions: bool,
    keep_going: bool,
    until: str | None,
    duration: str | None,
    grace: str | None,
    create_only: bool,
    share: str | None,
    name: str | None,
    cpus: int | None,
    dry_run: bool,
    scheduler: str | None,
    min_factor: float | None,
    patience: str | None,
    events_to: str | None,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Play the tournament that a TOML file describes, or resume it.

    Every finished game is on disk; the same command resumes after Ctrl-C, a crash or a power cut. The first Ctrl-C
    lets the running games finish, the second stops at once.

    Several machines share a tournament without a network: --create-only makes a league of which each gets a copy,
    --shard plays one share of it there, and `malice merge` brings the games back.
    """
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.league.desk import take_up
    from malice.tournaments.running.desk import describe_effects
    from malice.tournaments.running.registration import PlanOptions

    mine = {"--shard": share, "--tournament": name, "--cpus-per-game": cpus}
    options: dict[str, object] = {
        "--jobs": jobs,
        "--site": out,
        "--url": url or None,
        "--replace-site": replace_site,
        "--keep-going": keep_going,
        "--new-versions": new_versions,
    }
    options |= {
        "--dask": scheduler,
        "--min-factor": min_factor,
        "--patience": patience,
        "--events": events_to,
        "--isolation": isolation,
        "--require-isolation": required,
    }
    modes = {"--create-only": create_only, "--dry-run": dry_run}
    if json and (events_to == STDOUT or any(modes.values()) or share is not None or out is not None):
        raise click.UsageError("--json goes with none of --create-only, --dry-run, --shard, --site and --events -")
    if share is not None:
        _refuse("--shard", {"TOURNAMENT": tournament, **modes} | {each: options[each] for each in NOT_OF_A_SHARE})
        if db is None:
            raise click.UsageError("--shard: expected the copy of a league, with --db")
        machine = Machine(jobs, cpus, isolation, required)
        words = spell_command(None, db, mine | options)
        play_shard(share, db, name, machine, Resumable(words, until, duration, grace, events_to))
        return
    if tournament is None:
        raise click.UsageError("Missing argument 'TOURNAMENT'.")
    if given := [each for each, value in mine.items() if value]:
        raise click.UsageError(f"{', '.join(given)}: only with --shard")
    if create_only:
        playing: dict[str, object] = {"--until": until, "--for": duration, "--site": out, "--dask": scheduler}
        _refuse("--create-only", playing | {"--dry-run": dry_run, "--events": events_to})
    interrupt_on_signals()
    allowed = PlanOptions(new_versions=new_versions, keep_going=keep_going, required=required)
    with stop_on_interrupt(["malice", *sys.argv[1:]]):
        config, db = _read_file(tournament, db, jobs, isolation, required=required)
        plays = not (create_only or dry_run)
        own = config.until if plays and until is None and duration is None else ""
        limit = read_limit(until or own or None, duration, grace)
        allowed = msgspec.structs.replace(allowed, keep_going=keep_going or config.keep_going)
        if dry_run:
            with TemporaryDirectory(prefix="malice-") as scratch, _open_or_make_up(db, Path(scratch)) as store:
                plan = _read_plan(store, config, tournament, allowed, Path(scratch, "dry.db"))
                _print_estimate(plan, config.jobs)
            return
        words = spell_command(tournament, db, {"--create-only": create_only} | options)
        resume = words + limit.words
        again = resume if limit.recurs else words
        with tell_events(events_to, db) as output, stop_on_interrupt(resume), open_store(db, create=True) as store:
            output.anonymous = config.anonymous
            for line in describe_effects(list(take_up(store, store.list_waiting()))):
                click.echo(line, err=True)
            plan = _prepare(store, config, tournament, allowed)
            terms = make_terms(plan, resume, limit, db, output)
            if create_only:
                _create(store, plan, terms, config)
                return
            with (
                keep_site(store, plan, out, url, replace=replace_site),
                open_farm(scheduler, KeptBots(db), min_factor, patience) as farm,
            ):
                if farm:
                    terms = replace(terms, elsewhere=farm, jobs=farm.slots)
                left = _play(store, plan, terms, output)
                click.echo(f"{db}: {format_count(len(store.keys()), 'game')}", err=True)
                _print_json(store, plan, left) if json else print_standings(store)
            if left:
                _explain_left(store, plan, left, words, again)


class RunSummary(Struct, frozen=True):
    """What a run prints with --json."""

    tournament: str
    league: str
    games: int
    """Finished games of the tournament."""
    played: int
    """Those of this run."""
    left: int
    """Those that the time did not suffice for."""
    complete: bool
    standings: tuple[Standings, ...]


def _print_json(store: Store, plan: Plan, left: int) -> None:
    from malice.tournaments.league.ranking import compute_league_standings

    tournament, games, before = store.tournament(), len(store.keys()), len(plan.finished)
    standings = compute_league_standings(store.read(keep=False))
    found = RunSummary(tournament.name, str(store.path), games, games - before, left, tournament.complete, standings)
    click.echo(msgspec.json.encode(found))


def _refuse(what: str, options: Mapping[str, object]) -> None:
    """Refuse options that contradict what is asked for."""
    if given := [name for name, value in options.items() if value]:
        raise click.UsageError(f"{what} does not go with {', '.join(given)}")


def _create(store: Store, plan: Plan, terms: RunTerms, config: Config) -> None:
    """Bring a league up to its file, play nothing, and say what comes next."""
    from malice.tournaments.league.file import find_kept_bots
    from malice.tournaments.running.run import create_games
    from malice.tournaments.sanitizer import sanitize

    left = create_games(store, plan, sys.stderr, terms)
    choice = store.league().choose(config.name)
    words = ["malice", "run", "--shard", "I/N", "--db", "COPY.db", *choice, *_list_machine_words(config)]
    click.echo(
        f"{store.path}: {format_count(left, 'game')} {inflect(left, 'is', 'are')} open; nothing was played", err=True
    )
    if left:
        click.echo(
            f"copy it, with {find_kept_bots(store.path).name}, for each machine; play share I of N there with:"
            f" {sanitize(shlex.join(words))}; bring the games back with: malice merge {store.path} COPY.db...",
            err=True,
        )


def _list_machine_words(config: Config) -> list[str]:
    """The options that repeat, on another machine, the settings of a tournament file that no league keeps."""
    words = [] if config.cpus_per_game == 1 else ["--cpus-per-game", str(config.cpus_per_game)]
    return words if config.isolation == "auto" else [*words, "--isolation", config.isolation]


def _read_file(
    tournament: Path, db: Path | None, jobs: int | None, isolation: Layer | None, *, required: bool
) -> tuple[Config, Path]:
    """What the file and the command line say of a tournament, and where its league lies."""
    from msgspec.structs import replace

    from malice.tournaments.league.config import find_league, read_config

    config = with_isolation(read_config(tournament), isolation, required)
    config = replace(config, jobs=jobs or config.jobs)
    return config, db or find_league(config, tournament)


def _explain_left(store: Store, plan: Plan, left: int, words: list[str], again: list[str]) -> None:
    """Say how many games are left, and how to go on.

    Args:
        store: the league.
        plan: what was played.
        left: how many games are left because the time is up.
        words: the command without its time limit.
        again: the command that goes on with such a limit, if it can be repeated.
    """
    if len(store.keys()) == len(plan.finished):
        again = words
    games = f"{format_count(left, 'game')} {inflect(left, 'is', 'are')} left"
    click.echo(f"the time is up: {games}; go on with: {shlex.join(again)}", err=True)


def _play(store: Store, plan: Plan, terms: RunTerms, output: EventOutput) -> int:
    """Play a tournament, and tell its standings however it ends; return how many games are left."""
    from malice.tournaments.running.run import run_tournament

    try:
        left = run_tournament(store, plan, sys.stderr, terms)
    except Stopped:
        _tell_standings(store, output)
        raise
    if left:
        output.reason = "time"
    _tell_standings(store, output)
    return left


def _tell_standings(store: Store, output: EventOutput) -> None:
    from msgspec.structs import replace

    from malice.tournaments.league.ranking import compute_league_standings
    from malice.tournaments.running.result_events import StandingsComputed

    if output.wanted and output.begun:
        standings = (replace(each, history={}) for each in compute_league_standings(store.read(keep=False)))
        output.tell(StandingsComputed(standings=tuple(standings)))


def _prepare(store: Store, config: Config, tournament: Path, options: PlanOptions) -> Plan:
    """Plan a tournament, and say what people should know before it runs."""
    from malice.tournaments.league.file import find_name_list

    store.forget_unplayed(config.name)
    _print_neighbours(store, config.name)
    plan = _read_plan(store, config, tournament, options)
    if config.anonymous:
        names = find_name_list(store.path)
        click.echo(f"anonymous: {names} says which bot is which; it is for you alone", err=True)
    return plan


def _read_plan(
    store: Store, config: Config, tournament: Path, options: PlanOptions, scratch: Path | None = None
) -> Plan:
    from malice.tournaments.entries.best import choose_best
    from malice.tournaments.entries.names import Names
    from malice.tournaments.running.plan import read_plan

    config = choose_best(store, config, lambda line: click.echo(line, err=True))
    find = Names(store.path, store, scratch=scratch).find
    return read_plan(store, config, tournament.parent.resolve(), find, options)


def _print_neighbours(store: Store, name: str) -> None:
    """Say if a tournament is new in a league that has others: a name may be mistyped."""
    from malice.tournaments.sanitizer import sanitize

    others = list(store.league().tournaments)
    if others and name not in others:
        click.echo(f"{sanitize(name)}: new tournament; the league has {', '.join(map(sanitize, others))}", err=True)


def _open_or_make_up(db: Path, scratch: Path) -> Store:
    """Open a league to read, or a new one in another folder if it holds no game."""
    from malice.tournaments.league.store import Store

    if db.exists():
        store = Store(db)
        if not store.is_empty():
            return store
        store.close()
    return Store(scratch / "dry.db", create=True)


def _print_estimate(plan: Plan, jobs: int) -> None:
    """Print what a tournament, or the rest of it, would take; neither creates nor changes the league."""
    from malice.tournaments.league.tournament import count_games, measure_workload
    from malice.tournaments.running.announcements import print_plan
    from malice.tournaments.running.coordinator import count_default_jobs
    from malice.tournaments.running.opening import call_roll
    from malice.tournaments.running.trial import estimate_tournament
    from malice.tournaments.terminal.tables import format_bytes

    plan, done = call_roll(plan, sys.stderr), {game.key for game in plan.finished}
    jobs = jobs or count_default_jobs(plan.config.cpus_per_game)
    estimate = estimate_tournament(plan, jobs)
    total = plan.tournament.planned
    likely = None if estimate.likely_ms is None else estimate.likely_ms * plan.count_open(done) / total
    print_plan(plan, done, jobs, sys.stdout, likely)
    if estimate.likely_ms is None:
        click.echo("no bot finished a game against itself in time: the likely time and the disk space are not known")
    if estimate.game_bytes is not None:
        games = measure_workload(plan.tournament, count_games(done)).games
        whole = format_bytes(estimate.game_bytes * games)
        click.echo(f"disk: {whole} for all games, {format_bytes(estimate.game_bytes)} a game")
    click.echo("a dry run: nothing was stored")
