"""Waits for several bots at once, over one poll."""

from __future__ import annotations

import contextlib
import select
from collections.abc import Sequence

from malice.referee.connection import BotConnection


def await_answers(connections: Sequence[BotConnection]) -> None:
    """Wait until each connection has its answer or has failed; each keeps its own deadline and clock.

    Raises:
        Abandoned: nobody waits for the game.
    """
    poll = select.poll()
    waiting = [connection for connection in connections if not connection.is_finished]
    owners = {descriptor: connection for connection in waiting for descriptor in connection.register(poll)}
    while waiting:
        timeouts = [connection.timeout_ms() for connection in waiting]
        ready: dict[BotConnection, list[tuple[int, int]]] = {}
        for event in poll.poll(min((timeout for timeout in timeouts if timeout is not None), default=None)):
            ready.setdefault(owners.get(event[0], waiting[0]), []).append(event)
        # All output is read, and its time taken, before any answer is judged: nobody pays for the judgment of another.
        for connection, events in ready.items():
            connection.receive(events, poll)
        for connection in ready:
            connection.take_answer()
        for connection in [each for each in waiting if each.is_finished]:
            waiting.remove(connection)
            connection.stop_failed_bot()
            for descriptor in [each for each, owner in owners.items() if owner is connection]:
                del owners[descriptor]
                with contextlib.suppress(KeyError):
                    poll.unregister(descriptor)
