"""What isolation is to be had on this machine, in words: demanded, missed, or shown as a table by `malice doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from referee.isolation import cgroups, limits, probe, seccomp
from referee.isolation.layers import explain_shared_user
from referee.records import Isolation, Layer, Player
from tournaments.errors import IsolationError
from tournaments.sanitizer import sanitize


class Finding(Struct, frozen=True):
    """Whether one part of isolation works here."""

    part: str
    works: bool
    gives: str
    """What it is good for."""
    lack: str
    """Why it does not work, and how to get it."""


def require_isolation(asked: Layer) -> None:
    """Make sure that a layer is to be had; `auto` is the strongest there is, or nothing.

    Raises:
        IsolationError: it is not.
    """
    if why := probe.explain_missing_layer(asked):
        raise IsolationError(f"isolation {asked!r} is not to be had: {why}")


def explain_weaker_isolation(asked: Layer) -> str | None:
    """Return one line on what is in force instead of what is asked for, or None when that is in force."""
    wanted: Layer = "bwrap" if asked == "auto" else asked
    found = probe.strongest_layer(asked)
    if found == wanted:
        return None
    return f"bots run under {found!r} isolation, not {wanted!r}: {probe.explain_missing_layer(wanted)}; malice doctor says more"


def shortcomings(asked: Layer, players: Iterable[Player]) -> Iterator[str]:
    """Yield a line on each way in which these bots are less isolated than this machine or another could do it."""
    if weaker := explain_weaker_isolation(asked):
        yield weaker
    without: dict[str, list[str]] = {}
    for player in players:
        with suppress(OSError):  # it has no program: whoever starts it will say so
            if why := explain_shared_user(player, Isolation(asked)):
                without.setdefault(why, []).append(player.label)
    for why, labels in without.items():
        bots = ", ".join(map(sanitize, labels))
        yield f"no user of its own for {bots}, which so shares ours: {sanitize(why)}"


def list_findings() -> list[Finding]:
    """Try everything; the layers first, then what makes them stronger."""
    where = cgroups.find_parents()
    groups = (
        "no control group can be made: run as root, or in a delegated one (systemd-run --user --scope -p Delegate=yes)"
    )
    old = "a control group of version 1 would do, but its freezer is slow; mount version 2"
    user = "sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0"
    return [
        _finding("rlimit", probe.explain_missing_limits(), "limits of memory, files and processes"),
        _finding("bwrap", probe.explain_missing_sandbox(), "own network, processes, files and /tmp"),
        _finding("seccomp", seccomp.explain_missing_filter(), "system calls that no game needs are denied"),
        _finding(
            "user namespace",
            None if probe.sandbox_works(own_user=False) else f"needs bubblewrap, and {user}, whichever the kernel has",
            "the sandbox without root",
        ),
        _finding("own user", _own_user_lack(), "a user for each bot, with its own limit of processes"),
        _finding("pids cgroup", None if where.pids else groups, "counts processes, those of root too"),
        _finding("memory cgroup", None if where.memory else groups, "counts memory that is used, not addresses"),
        _finding(
            "freezer cgroup",
            None if where.freeze else f"stopped by signals instead; {old if where.pids else groups}",
            "a bot stands still off turn, and dies whole",
        ),
    ]


def _own_user_lack() -> str | None:
    return limits.explain_missing_uids() or (
        None if probe.sandbox_works(own_user=True) else "needs bubblewrap and setpriv (util-linux)"
    )


def _finding(part: str, lack: str | None, gives: str) -> Finding:
    return Finding(part, lack is None, gives, lack or "")
