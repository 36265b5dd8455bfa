"""The layers: chooses the one around a bot, removes what killed referees left, and names layers for records."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from functools import cache

from malice.referee.isolation import cgroups, copies, limits, probe
from malice.referee.isolation.boxes import Box, LimitBox, list_needed
from malice.referee.isolation.sandboxes import SandboxBox, make_view
from malice.referee.records import Isolation, Player

NONE = Isolation()


def sweep_leftovers(isolation: Isolation) -> None:
    """Remove, once per process, the copies and control groups of killed referees, and kill what is in them.

    Call this before you start bots: no other function of this package touches what another process made.
    """
    if probe.find_strongest_layer(isolation.layer) != "none":
        _sweep_once()


@cache
def _sweep_once() -> None:
    copies.sweep()
    cgroups.sweep(cgroups.find_parents())


def enclose(player: Player, isolation: Isolation = NONE) -> Box:
    """Return the box for a new process of this player.

    Raises:
        OSError: its program does not exist, or a required layer is unavailable; the latter error names no file.
    """
    if isolation.required and (why := probe.explain_missing_layer(isolation.layer)):
        raise OSError(errno.ENOTSUP, f"isolation {isolation.layer!r} is unavailable: {why}")
    layer = probe.find_strongest_layer(isolation.layer)
    if layer == "none":
        return Box(player)
    return (SandboxBox if layer == "bwrap" else LimitBox)(player, isolation)


def explain_shared_user(player: Player, isolation: Isolation) -> str | None:
    """Return why this bot shares our user where other bots get one of their own, or None.

    Raises:
        OSError: its program does not exist.
    """
    layer = probe.find_strongest_layer(isolation.layer)
    if layer == "none" or limits.explain_missing_uids():
        return None
    if layer == "bwrap":
        return make_view(player, isolation).explain_missing_user() if probe.sandbox_works(own_user=True) else None
    unreadable = limits.find_unreadable(list_needed(player))
    return f"others may not read {unreadable}" if unreadable else None


def name_common_isolation(boxes: Iterable[tuple[str, ...]]) -> str:
    """Return the names that the words of all boxes have in common, joined by +; boxes without words do not count."""
    first, *others = [words for words in boxes if words] or [("none",)]
    return "+".join(word for word in first if all(word in words for words in others)) or "none"
