"""What commands share: options, dates and times, opening a league, printing."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from malice.referee.errors import DataError
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.game import Position
    from malice.referee.records import Layer, Record
    from malice.tournaments.league.comparison import Comparison
    from malice.tournaments.league.config import Config
    from malice.tournaments.league.contents import GameSummary
    from malice.tournaments.league.progression import Changes
    from malice.tournaments.league.ranking import Choice
    from malice.tournaments.league.store import Store

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def parse_date(text: str, now: datetime, option: str) -> float:
    """Parse the time that a user names to seconds since 1970.

    Args:
        text: a date such as 2026-11-16, a date and time, a day of the week, which means the last one, `today` or
            `yesterday`; a day begins at midnight, local unless the text names an offset from UTC.
        now: the time, with its zone.
        option: the option, for messages.

    Raises:
        DataError: the text is none of these.
    """
    # Without a zone while days are subtracted: a day on which the clocks change has no 24 hours.
    today = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    word = text.lower()
    if word in DAYS:
        return (today - timedelta((today.weekday() - DAYS.index(word)) % 7)).astimezone().timestamp()
    if word in ("today", "yesterday"):
        return (today - timedelta(word == "yesterday")).astimezone().timestamp()
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise DataError(
            where=option,
            expected=f"a date such as {now:%Y-%m-%d} or {now:%Y-%m-%d}T18:00, a day such as monday, today or yesterday",
            got=repr(text),
        ) from None


def format_date(at: float) -> str:
    """A local time as `parse_date` reads it: the day alone if it is its beginning.

    Args:
        at: seconds since 1970.
    """
    local = datetime.fromtimestamp(at)
    return f"{local:%Y-%m-%d}" if local.time() == time() else f"{local:%Y-%m-%d %H:%M}"


CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)
DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?", re.ASCII)


def read_table_positions(words: str, seats: int) -> tuple[Position, ...]:
    """Read the positions that an option names, all of one ruleset and for a number of seats.

    Raises:
        DataError, LeagueError: as `read_positions`; or they are of several rulesets, or for another number of seats.
    """
    from malice.tournaments.league.positions import read_positions, require_one_table

    positions = read_positions(words)
    require_one_table("--from", positions, seats)
    return positions


GRACE = "2m"
"""How much longer games may run that have begun, if the command line does not say."""
F = TypeVar("F", bound=Callable[..., Any])
from_option = click.option(
    "--from",
    "begin",
    metavar="FILE|DB#KEY/ACTION",
    help="Begin in the positions of a file, or in that of a game of a league, such as friday.db#0.0.1.1/57.",
)


def time_options(command: F) -> F:
    """Add the options that limit the time of a run."""
    grace = click.option(
        "--grace", metavar="SPAN", help=f"Give up what runs so much longer than that [default: {GRACE}]."
    )
    duration = click.option("--for", "duration", metavar="SPAN", help="Be done within 2h, 45m, 90s or 1h30m.")
    until = click.option("--until", metavar="TIME", help="Be done by the next 18:00, or by 2030-01-31T18:00.")
    return until(duration(grace(command)))


class Limit(NamedTuple):
    """The time limit of a run."""

    words: list[str]
    """The options that give it."""
    until: float = math.inf
    """When it is to be over, in seconds since 1970."""
    grace_s: float = math.inf
    recurs: bool = True
    """Whether the options can be repeated: a date is past once the time is up."""


def read_limit(until: str | None, duration: str | None, grace: str | None) -> Limit:
    """Read the time limit that the options name, from now on, and say when it is.

    Raises:
        DataError: as `parse_limit`, or a grace is given without a limit, or cannot be read.
    """
    at = parse_limit(until, duration, datetime.fromtimestamp(clock.time()).astimezone())
    if at is None:
        if grace:
            raise DataError("--grace: goes only with --until or --for")
        return Limit([])
    span = parse_span(grace or GRACE, "--grace")
    click.echo(f"until {format_limit(at)}", err=True)
    words = ["--until", until] if until else ["--for", duration or ""]
    words += ["--grace", grace] if grace else []
    return Limit(words, at.timestamp(), span.total_seconds(), until is None or is_daily(until))


def parse_limit(until: str | None, duration: str | None, now: datetime) -> datetime | None:
    """The time that the options name; None if neither is given.

    Args:
        until: a time of day, which means the next one, or a date and time; local unless it names an offset from
            UTC.
        duration: a span such as 90s, 45m, or 1h30m, from now on.
        now: the time, with its zone.

    Raises:
        DataError: both are given, one of them cannot be read, or the date is past.
    """
    if until is not None and duration is not None:
        raise DataError(expected="--until or --for", got="both")
    if until is not None:
        return _parse_time(until, now)
    return None if duration is None else now + parse_span(duration, "--for")


def is_daily(until: str) -> bool:
    """Whether a time recurs every day, so that a command that names it can be repeated."""
    return CLOCK.fullmatch(until) is not None


def format_limit(limit: datetime) -> str:
    """A time with its date and its offset from UTC."""
    return limit.astimezone().isoformat(" ", "seconds")


def _parse_time(text: str, now: datetime) -> datetime:
    if match := CLOCK.fullmatch(text):
        hour, minute, second = (int(part or 0) for part in match.groups())
        # Without a zone while days are added: a day on which the clocks change has no 24 hours.
        today = now.replace(hour=hour, minute=minute, second=second, microsecond=0, tzinfo=None)
        return next(time for day in range(3) if (time := (today + timedelta(day)).astimezone()) > now)
    try:
        limit = datetime.fromisoformat(text) if ":" in text else None
        limit = limit and limit.astimezone()
    except (ValueError, OverflowError):
        limit = None
    if limit is None:
        raise DataError(where="--until", expected=f"a time such as 18:00 or {now:%Y-%m-%d}T18:00", got=repr(text))
    if limit <= now:
        raise DataError(where="--until", expected="a time to come", got=repr(text), hint=f"it is {format_limit(now)}")
    return limit


def parse_span(text: str, option: str) -> timedelta:
    """Parse a span of time such as 90s, 45m, or 1h30m.

    Args:
        text: the span.
        option: the option that gives it.

    Raises:
        DataError: it cannot be read, or is nothing.
    """
    match = DURATION.fullmatch(text)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    if not (span := timedelta(hours=hours, minutes=minutes, seconds=seconds)):
        raise DataError(where=option, expected="a span of time such as 2h, 45m, 90s or 1h30m", got=repr(text))
    return span


def database_argument(command: F) -> F:
    """Add the argument that names an existing league."""
    return click.argument("db", type=click.Path(dir_okay=False, path_type=Path))(command)


def json_option(command: F) -> F:
    """Add the option that prints JSON, for scripts."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(command)


def jobs_option(command: F) -> F:
    """Add the option that says how many processes replay games."""
    help = "Processes that replay games [default: one for each processor]."
    return click.option("--jobs", type=click.IntRange(1), help=help)(command)


def isolation_options(command: F) -> F:
    """Add the options that choose the isolation of the bots."""
    layers = click.Choice(["auto", "bwrap", "landlock", "rlimit", "none"])
    required = click.option(
        "--require-isolation", "required", is_flag=True, help="Exit 4 if that isolation is unavailable."
    )
    return click.option("--isolation", type=layers, help="The isolation of each bot [default: auto].")(
        required(command)
    )


def tournament_option(command: F) -> F:
    """Add the option that chooses a tournament of a league."""
    help = "A tournament of the league; a comparison is never meant without."
    return click.option("--tournament", metavar="NAME", help=help)(command)


def with_isolation(config: Config, isolation: Layer | None, required: bool) -> Config:
    """The configuration with the isolation that the command line asks for.

    Raises:
        IsolationError: it is required, but unavailable.
    """
    from msgspec.structs import replace

    from malice.tournaments.running.isolation import require_isolation

    config = replace(config, isolation=isolation or config.isolation)
    if required:
        require_isolation(config.isolation)
    return config


def print_standings(store: Store, choice: Choice | None = None) -> None:
    """Print the ranking, and which bots do not play, with the command that lets them play again."""
    from malice.tournaments.league.ranking import EVERYTHING, compute_league_standings, explain_table
    from malice.tournaments.terminal.league import describe_absentees, describe_rounds
    from malice.tournaments.terminal.results import describe_choice, format_standings

    choice = choice or EVERYTHING
    contents = store.read(keep=False)
    found = compute_league_standings(contents, choice)
    for line in (*describe_choice(store.league(), store.tournament().name), *format_standings(found)):
        click.echo(line)
    if note := explain_table(contents, choice):
        click.echo(note)
    for line in (*describe_rounds(contents, choice.without), *describe_absentees(store, contents)):
        click.echo(line)


def print_people(store: Store, *, json: bool = False) -> None:
    """Print what everybody has reached in a league of people."""
    from malice.tournaments.terminal.people import encode_people, format_people, list_people

    found = list_people(store)
    if json:
        click.echo(encode_people(found))
        return
    for line in format_people(found):
        click.echo(line)


def compute_changes(store: Store, since: str, choice: Choice | None = None, *, publish: bool = False) -> Changes:
    """Compute what changed since another league, usually an older copy of this one, or since a day.

    Args:
        store: the league as it is.
        since: the file of the other league, or a day.
        choice: which games of the league as it is to rate.
        publish: whether strangers will read it: then an anonymous tournament is compared only with an anonymous
            one.

    Raises:
        DataError: the words are neither a file nor a day.
        LeagueError: the file is no league or lacks the tournament, the tournament had not begun on that day, or
            names would be told.
    """
    from malice.tournaments.league.progression import Changes, compute_progression
    from malice.tournaments.league.ranking import EVERYTHING

    choice = choice or EVERYTHING
    if Path(since).is_file():
        with open_store(Path(since), several=True) as last:
            last.select(store.tournament().name)
            if publish and store.config().anonymous and not last.config().anonymous:
                raise LeagueError(f"{since}: its tournament is not anonymous, so what changed would tell its names")
            return Changes(Path(since).name, compute_progression(last.read(keep=False), store.read(keep=False), choice))
    if since.endswith(".db"):
        raise LeagueError(f"{since}: no such database")
    begin = parse_date(since, datetime.fromtimestamp(clock.time()).astimezone(), "--changes-since")
    return Changes(format_date(begin), compute_progression(store.read(begin), store.read(), choice))


def take_luck_off(store: Store) -> tuple[Comparison, ...]:
    """Compare every two entries without luck; progress goes to stderr.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    from malice.tournaments.league.comparison import compare_without_luck
    from malice.tournaments.running.progress import ReplayProgress

    with ReplayProgress(sys.stderr) as progress:
        return tuple(compare_without_luck(store, progress))


def find_record(store: Store, words: str) -> Record:
    """Find the game that a user names: by its key, after the name of its tournament and a colon if need be.

    Raises:
        DataError: the words are not a key.
        LeagueError: there is no such tournament or game.
    """
    return find_game(store, words)[1]


def find_game(store: Store, words: str) -> tuple[GameSummary, Record]:
    """Find the game that a user names, as `find_record` does, with its row."""
    return store.row(store.choose_game(words))


def print_stderr(label: str, line: str) -> None:
    """Print a line of a bot's stderr; a closed stderr of our own is no error."""
    from malice.tournaments.terminal.transcript import format_stderr

    with suppress(OSError):
        click.echo(format_stderr(label, line), err=True)


def require_seats(bots: Sequence[str], name: str) -> None:
    """Make sure that the ruleset allows as many seats as there are bots.

    Raises:
        DataError: it does not, or is unknown; the message names the way out.
    """
    from malice.referee.errors import DataError
    from malice.referee.games import DEFAULT_RULESET
    from malice.referee.rulesets import find_ruleset
    from malice.tournaments.league.config import describe_misfit

    ruleset = find_ruleset(name, Path())
    least, most = ruleset.match.players
    if len(bots) > most:
        way_out = f"choose a ruleset for {len(bots)} with --ruleset NAME (malice rules lists them)"
    elif missing := max(0, least - len(bots)):
        words = ["malice", "play", *bots, *["BOT"] * missing, *(["--ruleset", name] if name != DEFAULT_RULESET else [])]
        way_out = f"name {'another bot' if missing == 1 else f'{missing} more bots'}: {shlex.join(words)}"
    else:
        return
    raise DataError(f"{describe_misfit(ruleset, len(bots))}; {way_out}")


@contextmanager
def name_fit_rulesets() -> Iterator[None]:
    """Add to the refusal of a bot which rulesets it can play."""
    from malice.tournaments.entries.lookup import UnfitBot

    try:
        yield
    except UnfitBot as error:
        folder = error.bot.folder or Path()
        names = [
            os.path.relpath(folder / name) if name.endswith(".toml") else name for name in error.bot.manifest.rulesets
        ]
        if not names:
            raise
        raise error.advise(f"play it with --ruleset NAME, where NAME is {' or '.join(names)}") from None
