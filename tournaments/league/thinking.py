"""How long the actions of a game took, in so few characters that a hundred thousand games fit into memory."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, NamedTuple

from msgspec import Meta

from malice.referee.records import Record
from malice.referee.replay import VERDICT

Times = Annotated[str, Meta(pattern=r"^[0-9:, ]*\Z")]
"""Seat by seat, separated by spaces: the first bucket, a colon, and the counts, separated by commas: `6:69,51 7:50`."""


class ActionTimes(NamedTuple):
    """How many actions of a seat took how long: a count for each power of two of microseconds.

    An action of so many microseconds is in the bucket of their bit length: bucket 0 holds 0, bucket 1 holds 1,
    bucket 2 holds 2 and 3, bucket 11 holds 1024 to 2047. Verdicts are left out.
    """

    first: int
    """The number of the first bucket that is not empty; 0 without actions."""
    counts: tuple[int, ...]
    """From that bucket to the last one that is not empty."""


def count_times(record: Record) -> str:
    """Return the times of a record, as `parse_times` reads them."""
    buckets = [Counter[int]() for _ in record.entries]
    for (seat, action), micros in zip(record.actions, record.micros, strict=False):
        if not action.startswith(VERDICT):
            buckets[seat][micros.bit_length()] += 1
    return " ".join(map(_format_buckets, buckets))


def _format_buckets(buckets: Counter[int]) -> str:
    if not buckets:
        return "0:"
    first = min(buckets)
    return f"{first}:{','.join(str(buckets[bucket]) for bucket in range(first, max(buckets) + 1))}"


def parse_times(times: str) -> list[ActionTimes]:
    """Return the times of each seat.

    Raises:
        ValueError: `times` does not come from `count_times`.
    """
    return [_parse_seat(seat) for seat in times.split()]


def _parse_seat(seat: str) -> ActionTimes:
    first, _, counts = seat.partition(":")
    return ActionTimes(int(first), tuple(map(int, counts.split(","))) if counts else ())
