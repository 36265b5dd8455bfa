"""What isolation is to be had on this machine, in words: demanded, missed, or shown as a table by `malice doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from referee.isolation import cgroups, limits, probe, seccomp
from referee.isolation.layers import user_lack
from referee.records import Isolation, Layer, Player
from tournaments.errors import IsolationError
from tournaments.sanitizer import sanitize


class Capability(Struct, frozen=True):
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


def describe_shortcomings(asked: Layer, players: Iterable[Player]) -> Iterator[str]:
    """Yield a line on each way in which these bots are less isolated than this machine or another could do it."""
    if weaker := explain_weaker_isolation(asked):
        yield weaker
    without: dict[str, list[str]] = {}
    for player in players:
        with suppress(OSError):  # it has no program: whoever starts it will say so
            if why := user_lack(player, Isolation(asked)):
                without.setdefault(why, []).append(player.label)
    for why, labels in without.items():
        bots = ", ".join(map(sanitize, labels))
        yield f"no user of its own for {bots}, which so shares ours: {sanitize(why)}"


def list_capabilities() -> list[Capability]:
    """Try everything; the layers first, then what makes them stronger."""
    where = cgroups.find_parents()
    groups = (
        "no control group can be made: run as root, or in a delegated one (systemd-run --user --scope -p Delegate=yes)"
    )
    old = "a control group of version 1 would do, but its freezer is slow; mount version 2"
    user = "sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0"
    return [
        _make_capability("rlimit", probe.explain_missing_limits(), "limits of memory, files and processes"),
        _make_capability("bwrap", probe.explain_missing_sandbox(), "own network, processes, files and /tmp"),
        _make_capability("seccomp", seccomp.explain_missing_filter(), "system calls that no game needs are denied"),
        _make_capability(
            "user namespace",
            None if probe.sandbox_works(own_user=False) else f"needs bubblewrap, and {user}, whichever the kernel has",
            "the sandbox without root",
        ),
        _make_capability(
            "own user", _explain_missing_own_user(), "a user for each bot, with its own limit of processes"
        ),
        _make_capability("pids cgroup", None if where.pids else groups, "counts processes, those of root too"),
        _make_capability(
            "memory cgroup", None if where.memory else groups, "counts memory that is used, not addresses"
        ),
        _make_capability(
            "freezer cgroup",
            None if where.freeze else f"stopped by signals instead; {old if where.pids else groups}",
            "a bot stands still off turn, and dies whole",
        ),
    ]


def _explain_missing_own_user() -> str | None:
    return limits.explain_missing_uids() or (
        None if probe.sandbox_works(own_user=True) else "needs bubblewrap and setpriv (util-linux)"
    )


def _make_capability(part: str, lack: str | None, gives: str) -> Capability:
    return Capability(part, lack is None, gives, lack or "")
