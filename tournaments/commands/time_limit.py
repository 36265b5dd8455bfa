"""`--until` and `--for`: the time at which a run is to be over."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from referee.errors import DataError

CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)
DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?", re.ASCII)


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
