"""Turns signals into events, so that they come in turn with what the workers do."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from malice.tournaments.farm.cluster import Event, Signalled
from malice.tournaments.running.coordinator import STOPS


@contextmanager
def signals_as_events(events: SimpleQueue[Event]) -> Iterator[None]:
    """Put each signal that stops a run into the queue while this context lasts."""
    # A signal that is ignored stays ignored: nohup and a shell's background jobs rely on it.
    numbers = [each for each in STOPS if signal.getsignal(each) != signal.SIG_IGN]
    before = {each: signal.signal(each, lambda number, frame: events.put(Signalled(number))) for each in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
