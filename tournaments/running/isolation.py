"""The isolation that this machine offers, in words: required, missing, or listed by `malice doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from malice.referee.isolation import cgroups, landlock, limits, probe
from malice.referee.isolation.boxes import explain_shared_user
from malice.referee.isolation.installations import list_outside
from malice.referee.records import Isolation, Layer, Player
from malice.tournaments.errors import IsolationError
from malice.tournaments.sanitizer import sanitize

CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that Docker and Podman leave in a container."""


class Capability(Struct, frozen=True):
    """Whether one part of isolation works here, or another part that malice can do without."""

    part: str
    works: bool
    gives: str
    """What it adds."""
    lack: str
    """Why it does not work, and how to get it."""


def require_isolation(layer: Layer) -> None:
    """Raise IsolationError if a layer is unavailable; `auto` requires the strongest one."""
    if why := probe.explain_missing_layer(layer):
        raise IsolationError(f"isolation {layer!r} is unavailable: {why}")


def explain_weaker_isolation(layer: Layer) -> str | None:
    """One line on the weaker layer that is used instead of this one; None if this one works."""
    wanted: Layer = "bwrap" if layer == "auto" else layer
    strongest = probe.find_strongest_layer(layer)
    if strongest == wanted:
        return None
    why = probe.explain_missing_layer(wanted)
    return f"bots run under {strongest!r} isolation, not {wanted!r}: {why}; malice doctor says more"


def describe_shortcomings(layer: Layer, players: Iterable[Player]) -> Iterator[str]:
    """Yield a line on each way in which these bots are less isolated than possible, here or on another machine.

    A command line is its organiser's word: what a sandbox shows for it is said, not refused.
    """
    if weaker := explain_weaker_isolation(layer):
        yield weaker
    labels_by_reason: dict[str, list[str]] = {}
    for player in players:
        if player.home is None and (outside := list_outside(player.command, Path(player.cwd or "."))):
            files = ", ".join(sanitize(str(path)) for path in outside)
            yield f"{sanitize(player.label)}: its command line lets it read {files}, outside of its folder"
        with suppress(OSError):  # the program is missing: starting the bot reports that
            if why := explain_shared_user(player, Isolation(layer)):
                labels_by_reason.setdefault(why, []).append(player.label)
    for why, labels in labels_by_reason.items():
        bots = ", ".join(map(sanitize, labels))
        yield f"no user of their own for {bots}; they run as our user: {sanitize(why)}"


def list_capabilities() -> list[Capability]:
    """Try every part of isolation: first the layers, then the parts that make them stronger."""
    where = cgroups.find_parents()
    groups = (
        "cannot make control groups: run as root, or in a delegated one (systemd-run --user --scope -p Delegate=yes)"
    )
    old = "control groups of version 1 work, but their freezer is slow; mount version 2"
    version = landlock.find_version()
    has = f" (Landlock {landlock.LEAST_VERSION}; this kernel has {version})" if version else ""
    return [
        make_capability("rlimit", "limits on memory, files and processes", probe.explain_missing_limits()),
        make_capability("landlock", f"no files but its own folder, no sockets{has}", probe.explain_missing_landlock()),
        make_capability("bwrap", "own network, processes, files and /tmp", probe.explain_missing_sandbox()),
        make_capability("seccomp", "system calls that no game needs are denied", limits.explain_missing_filter()),
        *(
            make_capability(each.part, f"{each.gives} (Landlock {each.version})", landlock.explain_missing_power(each))
            for each in landlock.POWERS
        ),
        make_capability(
            "user namespace",
            "the sandbox without root",
            None if probe.sandbox_works(own_user=False) else f"needs bubblewrap, and {_explain_namespaces()}",
        ),
        make_capability(
            "own user", "a user for each bot, with its own limit on processes", _explain_missing_own_user()
        ),
        make_capability("pids cgroup", "counts processes, even root's", None if where.pids else groups),
        make_capability("memory cgroup", "counts used memory, not address space", None if where.memory else groups),
        make_capability(
            "freezer cgroup",
            "freezes a bot off turn, and ends all of its processes",
            None if where.freeze else f"stopped by signals instead; {old if where.pids else groups}",
        ),
    ]


def describe_capabilities(found: Iterable[Capability]) -> str:
    """One sentence: which layer bots get, and what to do first about what is missing."""
    lacks = {each.part: each.lack for each in found if not each.works}
    begin = f"Bots run under {probe.find_strongest_layer('auto')!r} isolation here"
    if not lacks:
        return f"{begin}, and nothing is missing."
    # Bubblewrap does most; what is left of Landlock takes another kernel.
    part = min(lacks, key=lambda part: (part != "bwrap", part.startswith("landlock")))
    if part == "bwrap" and "does not work here" in lacks[part]:
        part = "user namespace"  # which it lacks
    return f"{begin}; what would help most is {part}: {lacks[part]}."


def _explain_namespaces() -> str:
    """What lets a user make namespaces, and mount a /proc in them."""
    if any(mark.exists() for mark in CONTAINER_MARKS):
        options = ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined")
        return f"a container that is started with {' '.join(f'--security-opt {each}' for each in options)}"
    either = "kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0"
    return f"sysctl {either}, whichever the kernel has"


def _explain_missing_own_user() -> str | None:
    if why := limits.explain_missing_uids():
        return why
    # Without a sandbox, the other layers give bots users all the same.
    works = probe.explain_missing_sandbox() is not None or probe.sandbox_works(own_user=True)
    return None if works else "needs setpriv (util-linux)"


def make_capability(part: str, gives: str, lack: str | None) -> Capability:
    return Capability(part, lack is None, gives, lack or "")
