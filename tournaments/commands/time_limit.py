"""`--until` and `--for`: the time at which a run is to be over."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import click

from malice.referee.errors import DataError

CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)
DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?", re.ASCII)


GRACE = "2m"
"""How much longer games may run that have begun, if the command line does not say."""
F = TypeVar("F", bound=Callable[..., Any])


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
    """Return the time limit that the options name, from now on, and say when it is.

    Raises:
        DataError: as `parse_limit`, or a grace is given without a limit, or cannot be read.
    """
    at = parse_limit(until, duration, datetime.now().astimezone())
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
    """Return the time that the options name, or None if there is neither.

    Args:
        until: a time of day, which means the next one, or a date and time; local unless it names an offset from UTC.
        duration: a span such as 90s, 45m, or 1h30m, from now on.
        now: the time, with its zone.

    Raises:
        DataError: both are given, one of them cannot be read, or the date is past.
    """
    if until is not None and duration is not None:
        raise DataError("expected --until or --for, got both")
    if until is not None:
        return _parse_time(until, now)
    return None if duration is None else now + parse_span(duration, "--for")


def is_daily(until: str) -> bool:
    """Return whether a time recurs every day, so that a command that names it can be repeated."""
    return CLOCK.fullmatch(until) is not None


def format_limit(limit: datetime) -> str:
    """Return a time with its date and its offset from UTC."""
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
        raise DataError(f"--until: expected a time such as 18:00 or {now:%Y-%m-%d}T18:00, got {text!r}")
    if limit <= now:
        raise DataError(f"--until: expected a time to come, got {text!r}; it is {format_limit(now)}")
    return limit


def parse_span(text: str, option: str) -> timedelta:
    """Return a span of time such as 90s, 45m, or 1h30m.

    Args:
        text: the span.
        option: the option that gives it.

    Raises:
        DataError: it cannot be read, or is nothing.
    """
    match = DURATION.fullmatch(text)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    if not (span := timedelta(hours=hours, minutes=minutes, seconds=seconds)):
        raise DataError(f"{option}: expected a span of time such as 2h, 45m, 90s or 1h30m, got {text!r}")
    return span
