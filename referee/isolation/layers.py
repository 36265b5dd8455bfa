"""The layers themselves: what each puts around one bot, from its start to its end."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from referee.isolation import bwrap, cgroups, copies, kills, limits, probe, seccomp
from referee.isolation.copies import Copies
from referee.isolation.views import View, files_of, list_installations
from referee.records import Isolation, Player

NONE = Isolation()


class Box:
    """What surrounds one bot process; this one is nothing at all.

    Attributes:
        words: the names of what is in force, the layer first.
        command: what to start.
        environment: for it; None for our own.
        descriptors: that it inherits.
    """

    words: tuple[str, ...] = ("none",)
    environment: dict[str, str] | None = None
    descriptors: tuple[int, ...] = ()

    def __init__(self, player: Player) -> None:
        self.command = player.command
        self._pid = 0

    def arm(self) -> None:
        """Prepare the new process, between fork and exec."""

    def note_start(self, pid: int) -> None:
        """Note the process that was started; 0 says that none was, and closes the box."""
        self._pid = pid
        if not pid:
            self.close()

    def bot_pid(self) -> int | None:
        """Return the process that is the bot itself; None while it does not exist yet."""
        return self._pid

    def exit_status(self, status: int) -> int:
        """Return how the bot ended, a signal as a negative number."""
        return status

    def never_ran(self) -> bool:
        """Tell, once the process has ended, whether that was before the bot was there: no fault of the bot then."""
        return False

    def cpu_ns(self) -> int | None:
        """Return the CPU time of the bot and all of its children, in nanoseconds; None where nobody counts that."""
        return None

    def runs_off_turn(self) -> bool:
        """Tell whether children of the bot may run while it is not asked, where `cpu_ns` counts them."""
        return False

    def exit_is_sure(self) -> bool:
        """Tell whether `exit_status` tells a signal from a status that only looks like one."""
        return True

    def out_of_memory(self) -> bool:
        """Tell whether something in it was killed for using more memory than it may."""
        return False

    def starved(self) -> bool | None:
        """Tell whether something in it was killed though it used no more memory than it may; None if nobody counts."""
        return None

    def freeze(self) -> None:
        """Stop the bot where it stands."""

    def thaw(self) -> None:
        """Let the bot go on."""

    def close(self) -> None:
        """Kill what outlived the process group, and clean up; safe to call again."""


class LimitBox(Box):
    """Limits, a filter of system calls, and where they can be had a user and a control group of its own."""

    words: tuple[str, ...] = ("rlimit",)

    def __init__(self, player: Player, isolation: Isolation) -> None:
        super().__init__(player)
        self._group: cgroups.Group | None = None
        self._freezes = isolation.freeze
        self._steps: list[Callable[[], None]] = []
        self._surround(player, isolation)
        self.words += self._name_layers()

    def _surround(self, player: Player, isolation: Isolation) -> None:
        unreadable = None if limits.explain_missing_uids() else limits.unreadable(_needed(player))
        uid = limits.next_uid() if limits.explain_missing_uids() is None and unreadable is None else None
        processes = limits.PROCESSES if uid else None if os.getuid() == 0 else probe.process_limit()
        self._common(isolation, processes, uid)
        if seccomp.explain_missing_filter() is None:
            self._steps.append(seccomp.make_filter_loader(**_filter(isolation)))
            self.words += ("seccomp",)
        if uid:
            self.words += ("uid",)

    def _common(self, isolation: Isolation, processes: int | None, uid: int | None) -> None:
        if cgroups.find_parents().folders():
            try:
                self._group = cgroups.Group(isolation.memory_mb)
            except OSError as error:  # it names a file, which would make it the bot's fault
                raise OSError(error.errno, f"no control group for a bot: {error}") from None
        self._few = processes is not None or cgroups.find_parents().pids is not None
        if self._group:
            self._steps.append(self._group.make_joiner())
        self._steps.append(limits.make_limiter(None if _memory_is_counted() else isolation.memory_mb, processes, uid))

    def _name_layers(self) -> tuple[str, ...]:
        """Name what is limited, and whether it can be frozen."""
        found = ("pids", "memory") if self._few else ("memory",)
        # Stopping by signals reaches only the group, which the filter does not let anybody leave.
        self._freezes = self._freezes and (
            cgroups.find_parents().freeze is not None or seccomp.explain_missing_filter() is None
        )
        return (*found, "freeze") if self._freezes else found

    def arm(self) -> None:
        """Go through the steps; the first that fails ends the start."""
        for step in self._steps:
            step()

    def cpu_ns(self) -> int | None:
        """Ask the group, which counts."""
        return self._group.cpu_ns() if self._group else None

    def runs_off_turn(self) -> bool:
        """Ask the group, which counts, and keeps them still if that was asked for."""
        return self._group is not None and self._group.can_freeze and not self._freezes

    def out_of_memory(self) -> bool:
        """Ask the group, which counts."""
        return self._group is not None and self._group.oom_kills() > 0 and self._group.reached_limit()

    def starved(self) -> bool | None:
        """Ask the group, in which nothing counts but what is the bot's."""
        if self._group is None or not self._group.counts_memory:
            return None
        return self._group.oom_kills() > 0 and not self._group.reached_limit()

    def freeze(self) -> None:
        """Stop all processes of the bot."""
        if not self._freezes:
            return
        if self._group and self._group.can_freeze:
            self._group.freeze()
        elif self._pid:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let all processes of the bot go on."""
        if not self._freezes:
            return
        if self._group and self._group.can_freeze:
            self._group.thaw()
        elif self._pid:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGCONT)

    def close(self) -> None:
        """Kill what is in the control group, and remove that."""
        if self._group:
            self._group.end()
            self._group = None


class SandboxBox(LimitBox):
    """A sandbox made by bubblewrap, with all of the limits in it."""

    words: tuple[str, ...] = ("bwrap",)

    def _surround(self, player: Player, isolation: Isolation) -> None:
        view = _view(player, isolation)
        own_user = (
            limits.explain_missing_uids() is None and probe.sandbox_works(own_user=True) and view.user_lack() is None
        )
        self._copies: Copies | None = None
        self._status: bwrap.SandboxStatus | None = None
        self._bot: int | None = None
        self._bot_watch = -1
        self._first: int | None = None
        self._watch = -1
        try:
            self._copy(view, own_user)
            self._common(isolation, limits.PROCESSES if own_user else None, None)
        except OSError:
            self.close()
            raise
        self._few = self._few or os.getuid() != 0  # set inside the sandbox then
        self._status = bwrap.SandboxStatus()
        descriptors = [self._status.told]
        if seccomp.explain_missing_filter() is None:
            descriptors.append(seccomp.open_filter(**_filter(isolation)))
            self.words += ("seccomp",)
        self.descriptors = tuple(descriptors)
        sandbox = bwrap.Sandbox(player.command, _program(player, view.folder), view, isolation.memory_mb)
        uid = limits.next_uid() if own_user else None
        self.command = sandbox.build_command(uid, *descriptors, disable=probe.can_disable_nested_users())
        self.environment = {}
        if uid:
            self.words += ("uid",)
        self._sealed = own_user or seccomp.explain_missing_filter() is None

    def _copy(self, view: View, own_user: bool) -> None:
        """Let the bot play from copies of what its user may not read, or of a folder of which much is to be hidden."""
        wanted = view.private() if own_user else []
        if view.is_crowded() and view.copy_lack([view.folder]) is None:
            wanted = list(dict.fromkeys([view.folder, *wanted]))
        if wanted:
            try:
                self._copies = Copies()
                view.copy(wanted, self._copies)
            except OSError as error:  # it names a file, which would make it the bot's fault
                raise OSError(error.errno, f"no copy of a bot's folder: {error}") from None

    def note_start(self, pid: int) -> None:
        """Close our ends of what the sandbox inherited, and do not wait for its first process.

        To wait would wake us up while the sandbox is being made; if we are killed then, its first process waits for
        the other one for ever.
        """
        for descriptor in self.descriptors:
            os.close(descriptor)
        super().note_start(pid)

    def bot_pid(self) -> int | None:
        """Return the child of the first process of the sandbox, once there is one."""
        if self._first is None and self._status:
            self._first = self._status.first_process()
            if self._first is not None:
                with suppress(ProcessLookupError):
                    self._watch = os.pidfd_open(self._first)
        if self._bot is None and self._first is not None:
            self._bot = bwrap.find_child(self._first)
            if self._bot is not None:
                with suppress(ProcessLookupError):
                    self._bot_watch = os.pidfd_open(self._bot)
                self._let_out()
        return self._bot

    def _let_out(self) -> None:
        """Take our own processes out of the group, now that they have a child which stays: each costs time to freeze.

        Where a bot could make the first process of the sandbox compute for it, that stays in.
        """
        if self._group:
            self._group.release(self._pid)
            if self._sealed and self._first is not None:
                self._group.release(self._first)

    def exit_status(self, status: int) -> int:
        """Undo what the sandbox makes of a signal, as a shell does; where the kernel can tell, take its word."""
        if (told := kills.wait_status(self._bot_watch)) is not None:
            return os.waitstatus_to_exitcode(told)
        return 128 - status if 128 < status < 128 + signal.NSIG else status

    def exit_is_sure(self) -> bool:
        """Ask the kernel, whether it can tell."""
        return kills.wait_status(self._bot_watch) is not None

    def never_ran(self) -> bool:
        """Ask the sandbox, which tells how its program ended, and nothing if there was none."""
        return self._status is not None and self._status.never_ran()

    def close(self) -> None:
        """Kill the first process of the sandbox, wait until all in it are gone with it, and remove copies."""
        if self._status:
            self._status.close()
        if self._watch >= 0:
            bwrap.kill_and_wait(self._watch)
            os.close(self._watch)
            self._watch = -1
        if self._bot_watch >= 0:
            os.close(self._bot_watch)
            self._bot_watch = -1
        super().close()
        if self._copies:
            self._copies.remove()
            self._copies = None


def sweep_leftovers(isolation: Isolation) -> None:
    """Remove, once per process, the copies and control groups that killed referees left, and kill what is in them.

    Whoever starts bots calls this first: no other function of this package touches what another process made.
    """
    if probe.strongest_layer(isolation.layer) != "none":
        _sweep_once()


@cache
def _sweep_once() -> None:
    copies.sweep()
    cgroups.sweep(cgroups.find_parents())


def enclose(player: Player, isolation: Isolation = NONE) -> Box:
    """Return the box for a new process of this player.

    Raises:
        OSError: its program does not exist, or what is required is not to be had; then it names no file.
    """
    if isolation.required and (why := probe.explain_missing_layer(isolation.layer)):
        raise OSError(errno.ENOTSUP, f"isolation {isolation.layer!r} is not to be had: {why}")
    layer = probe.strongest_layer(isolation.layer)
    if layer == "none":
        return Box(player)
    return (SandboxBox if layer == "bwrap" else LimitBox)(player, isolation)


def user_lack(player: Player, isolation: Isolation) -> str | None:
    """Return why this bot gets no user of its own where others get one, or None.

    Raises:
        OSError: its program does not exist.
    """
    layer = probe.strongest_layer(isolation.layer)
    if layer == "none" or limits.explain_missing_uids():
        return None
    if layer == "bwrap":
        return _view(player, isolation).user_lack() if probe.sandbox_works(own_user=True) else None
    unreadable = limits.unreadable(_needed(player))
    return f"others may not read {unreadable}" if unreadable else None


def name_common_isolation(told: Iterable[tuple[str, ...]]) -> str:
    """Return as one word what is in force around all of them, joined by +."""
    first, *others = [words for words in told if words] or [("none",)]
    return "+".join(word for word in first if all(word in words for words in others)) or "none"


def _memory_is_counted() -> bool:
    return cgroups.find_parents().memory is not None


def _filter(isolation: Isolation) -> dict[str, bool]:
    """Say what a filter has to do because no control group does it."""
    return {"counted": _memory_is_counted(), "stopped": isolation.freeze and cgroups.find_parents().freeze is None}


def _view(player: Player, isolation: Isolation) -> View:
    where = Path(player.cwd or os.getcwd())
    return View(player.command, _program(player, where), where, isolation.hidden)


def _needed(player: Player) -> list[Path]:
    """List what a bot has to read where nothing is copied for it."""
    where = Path(player.cwd or os.getcwd())
    return [*list_installations(_program(player, where)), *files_of(player.command, where), where]


def _program(player: Player, where: Path) -> Path:
    """Return the file that the first word of a command means."""
    first = player.command[0]
    found = str(where / first) if "/" in first else shutil.which(first)
    if first == sys.executable:
        found = first
    if found is None or not os.path.exists(found):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), first)
    if not os.access(found, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), first)
    return Path(found)
