"""`--since`: a time in the past."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from malice.referee.errors import DataError

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def parse_date(text: str, now: datetime, option: str) -> float:
    """Return the time that a user names, in seconds since 1970.

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
            f"{option}: expected a date such as {now:%Y-%m-%d} or {now:%Y-%m-%d}T18:00, a day such as monday, today or"
            f" yesterday, got {text!r}"
        ) from None


def format_date(at: float) -> str:
    """Return a local time as `parse_date` reads it: the day alone if it is its beginning.

    Args:
        at: seconds since 1970.
    """
    local = datetime.fromtimestamp(at)
    return f"{local:%Y-%m-%d}" if local.time() == time() else f"{local:%Y-%m-%d %H:%M}"
