"""What surrounds one bot process from its start to its end: nothing, limits, rules on files or a sandbox; and which of
them is chosen.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from malice.referee.isolation import bwrap, cgroups, copies, limits, probe
from malice.referee.isolation.bwrap import SandboxView
from malice.referee.isolation.copies import Copies, Scratch
from malice.referee.isolation.installations import list_allowed, list_named
from malice.referee.isolation.landlock import LandlockRules
from malice.referee.records import Isolation, Layer, Player


class Box:
    """What surrounds one bot process; this base class adds nothing.

    Attributes:
        words: the names of the parts in force, the layer first.
        command: what to start.
        environment: of the new process; None for our own and that of the player.
        descriptors: what the new process inherits.
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
        """Note the started process; 0 means that none was started, and closes the box."""
        self._pid = pid
        if not pid:
            self.close()

    def bot_pid(self) -> int | None:
        """The process of the bot itself; None until it exists."""
        return self._pid

    def exit_status(self, status: int) -> int:
        """How the bot ended, from the exit status of the started process; a signal is a negative number."""
        return status

    def never_ran(self) -> bool:
        """Tell, after the process has ended, whether the bot never started, which makes the end no fault of the bot."""
        return False

    def cpu_ns(self) -> int | None:
        """CPU time of the bot and all of its children, in nanoseconds; None where it is not counted."""
        return None

    def runs_off_turn(self) -> bool:
        """Tell whether `cpu_ns` counts children that may run off turn."""
        return False

    def exit_is_sure(self) -> bool:
        """Tell whether `exit_status` can tell a signal from a status that only looks like one."""
        return True

    def out_of_memory(self) -> bool:
        """Tell whether the kernel killed something in it for using more memory than allowed."""
        return False

    def starved(self) -> bool | None:
        """Tell whether the kernel killed something in it that used no more memory than allowed; None if not counted."""
        return None

    def freeze(self) -> None:
        """Stop the bot."""

    def thaw(self) -> None:
        """Let the bot continue."""

    def close(self) -> None:
        """Kill the processes that outlived the process group, and clean up; safe to call again."""


class LimitBox(Box):
    """Limits, a filter of system calls, and where available a user and a control group of its own."""

    words: tuple[str, ...] = ("rlimit",)

    def __init__(self, player: Player, isolation: Isolation) -> None:
        super().__init__(player)
        self._group: cgroups.ControlGroup | None = None
        self._freezes = isolation.freeze
        self._steps: list[Callable[[], None]] = []
        self._surround(player, isolation)
        self.words += self._name_layers()

    def _surround(self, player: Player, isolation: Isolation) -> None:
        self._impose(isolation, choose_user(list_needed(player)))

    def _impose(self, isolation: Isolation, uid: int | None, *, landlocked: bool = False) -> None:
        processes = limits.PROCESSES if uid else None if os.getuid() == 0 else probe.find_process_limit()
        self._add_limits(isolation, processes, uid)
        if limits.explain_missing_filter() is None:
            self._steps.append(limits.make_filter_loader(**choose_filter(isolation), landlocked=landlocked))
            self.words += ("seccomp",)
        if uid:
            self.words += ("uid",)

    def _add_limits(self, isolation: Isolation, processes: int | None, uid: int | None) -> None:
        if cgroups.find_parents().folders():
            try:
                self._group = cgroups.ControlGroup(isolation.memory_mb)
            except OSError as error:  # an error that names a file counts as the bot's fault
                raise OSError(error.errno, f"no control group for a bot: {error}") from None
        self._limits_processes = processes is not None or cgroups.find_parents().pids is not None
        if self._group:
            self._steps.append(self._group.make_joiner())
        self._steps.append(limits.make_limiter(None if _memory_is_counted() else isolation.memory_mb, processes, uid))

    def _name_layers(self) -> tuple[str, ...]:
        """The names of the limits, and of freezing if that works."""
        names = ("pids", "memory") if self._limits_processes else ("memory",)
        # A signal reaches only the process group, and only the filter keeps every process in it.
        self._freezes = self._freezes and (
            cgroups.find_parents().freeze is not None or limits.explain_missing_filter() is None
        )
        return (*names, "freeze") if self._freezes else names

    def arm(self) -> None:
        """Take each step of the preparation; the first failure ends the start."""
        for step in self._steps:
            step()

    def cpu_ns(self) -> int | None:
        """Ask the group, which counts."""
        return self._group.cpu_ns() if self._group else None

    def runs_off_turn(self) -> bool:
        """Ask whether the group counts children but does not freeze them."""
        return self._group is not None and self._group.can_freeze and not self._freezes

    def out_of_memory(self) -> bool:
        """Ask the group, which counts."""
        return self._group is not None and self._group.oom_kills() > 0 and self._group.reached_limit()

    def starved(self) -> bool | None:
        """Ask the group, which counts only the bot's processes."""
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
        """Let all processes of the bot continue."""
        if not self._freezes:
            return
        if self._group and self._group.can_freeze:
            self._group.thaw()
        elif self._pid:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGCONT)

    def close(self) -> None:
        """Kill all processes in the control group, and remove the group."""
        if self._group:
            self._group.end()
            self._group = None


def _memory_is_counted() -> bool:
    return cgroups.find_parents().memory is not None


def choose_filter(isolation: Isolation) -> dict[str, bool]:
    """The options of a filter, which must do what no control group does."""
    return {"counted": _memory_is_counted(), "stopped": isolation.freeze and cgroups.find_parents().freeze is None}


def choose_user(needed: Iterable[Path]) -> int | None:
    """A user of its own for a bot that needs these files; None where there is none, or where it could not read them."""
    return None if limits.explain_missing_uids() or limits.find_unreadable(needed) else limits.next_uid()


def list_needed(player: Player) -> list[Path]:
    """List what a bot must be able to read where nothing is copied for it.

    Raises:
        OSError: its program does not exist, or is neither the bot's nor the organiser's.
    """
    where = Path(player.cwd or os.getcwd())
    program = find_program(player, where)
    if player.home is None:
        return [*list_named(player.command, program, where), where]
    return [*list_allowed(player.command, program, where, (where, Path(player.home))), where]


def find_program(player: Player, where: Path) -> Path:
    """Find the file that the first word of a command names."""
    first = player.command[0]
    program = str(where / first) if "/" in first else shutil.which(first)
    if first == sys.executable:
        program = first
    if program is None or not os.path.exists(program):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), first)
    if not os.access(program, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), first)
    return Path(program)


class LandlockBox(LimitBox):
    """Rules of the kernel on what the bot may open, with all of the limits."""

    words: tuple[str, ...] = ("landlock",)

    def _surround(self, player: Player, isolation: Isolation) -> None:
        view = make_view(player, isolation)
        uid = choose_user([*list_needed(player), Path(tempfile.gettempdir())])
        self._scratch: Scratch | None = None
        self._rules: LandlockRules | None = None
        try:
            rules, place = self._make_rules(view, uid)
            self._steps.append(rules.add_own_process)
            self._impose(isolation, uid, landlocked=True)
        except OSError:
            self.close()
            raise
        if uid is None and os.getuid() == 0:
            self._steps.append(limits.give_up_capabilities)
        self._steps.append(rules.restrict)
        self.command = (os.path.abspath(find_program(player, view.folder)), *player.command[1:])
        ours = {"HOME": str(place), "TMPDIR": str(place), "LANG": "C.UTF-8"}
        self.environment = ours | dict(player.environment) | {"PATH": view.search_path()}

    def _make_rules(self, view: SandboxView, uid: int | None) -> tuple[LandlockRules, Path]:
        """Make the rules, and the folder that they let the bot write in."""
        shown = list(view.list_readable())
        whole = [*bwrap.list_system(), *(path for path, all_of_it in shown if all_of_it)]
        try:
            self._scratch = scratch = Scratch(uid)
            self._rules = LandlockRules(whole, [path for path, all_of_it in shown if not all_of_it], scratch.path)
        except OSError as error:  # an error that names a file counts as the bot's fault
            raise OSError(error.errno, f"no rules for a bot: {error}") from None
        return self._rules, scratch.path

    def note_start(self, pid: int) -> None:
        """Note the process, which keeps its folder in /proc."""
        super().note_start(pid)
        if self._rules and pid:
            self._rules.pin_process(pid)

    def close(self) -> None:
        """Kill what is left, then remove what the bot has written."""
        super().close()
        if self._rules:
            self._rules.close()
        if self._scratch:
            self._scratch.remove()


class SandboxBox(LimitBox):
    """A sandbox made by bubblewrap, with all of the limits in it."""

    words: tuple[str, ...] = ("bwrap",)

    def _surround(self, player: Player, isolation: Isolation) -> None:
        view = make_view(player, isolation)
        own_user = (
            limits.explain_missing_uids() is None
            and probe.sandbox_works(own_user=True)
            and view.explain_missing_user() is None
        )
        self._copies: Copies | None = None
        self._status: bwrap.SandboxStatus | None = None
        self._bot: int | None = None
        self._bot_pidfd = -1
        self._init_pid: int | None = None
        self._init_pidfd = -1
        try:
            self._copy(view, own_user)
            self._add_limits(isolation, limits.PROCESSES if own_user else None, None)
        except OSError:
            self.close()
            raise
        self._limits_processes = self._limits_processes or os.getuid() != 0  # set inside the sandbox
        self._status = bwrap.SandboxStatus()
        descriptors = [self._status.write_end]
        if limits.explain_missing_filter() is None:
            descriptors.append(limits.open_filter(**choose_filter(isolation)))
            self.words += ("seccomp",)
        self.descriptors = tuple(descriptors)
        program = find_program(player, view.folder)
        sandbox = bwrap.Sandbox(player.command, program, view, isolation.memory_mb, player.environment)
        uid = limits.next_uid() if own_user else None
        self.command = sandbox.build_command(uid, *descriptors, disable=probe.can_disable_nested_users())
        self.environment = {}
        if uid:
            self.words += ("uid",)
        self._sealed = own_user or limits.explain_missing_filter() is None

    def _copy(self, view: SandboxView, own_user: bool) -> None:
        """Show the bot copies of what its user may not read, or of a folder that has many parts to hide."""
        paths = view.list_private() if own_user else []
        if view.is_crowded() and view.explain_missing_copy([view.folder]) is None:
            paths = list(dict.fromkeys([view.folder, *paths]))
        if paths:
            try:
                self._copies = Copies()
                view.copy(paths, self._copies)
            except OSError as error:  # an error that names a file counts as the bot's fault
                raise OSError(error.errno, f"no copy of a bot's folder: {error}") from None

    def note_start(self, pid: int) -> None:
        """Close what the sandbox has inherited, and do not wait for its first report.

        The report comes in the middle of the start; if we woke up and were killed then, its first process would wait
        for the other one for ever.
        """
        for descriptor in self.descriptors:
            os.close(descriptor)
        super().note_start(pid)

    def bot_pid(self) -> int | None:
        """The child of the first process of the sandbox; None until it exists."""
        if self._init_pid is None and self._status:
            self._init_pid = self._status.first_process()
            if self._init_pid is not None:
                with suppress(ProcessLookupError):
                    self._init_pidfd = os.pidfd_open(self._init_pid)
        if self._bot is None and self._init_pid is not None:
            self._bot = bwrap.find_child(self._init_pid)
            if self._bot is not None:
                with suppress(ProcessLookupError):
                    self._bot_pidfd = os.pidfd_open(self._bot)
                self._release_our_processes()
        return self._bot

    def _release_our_processes(self) -> None:
        """Move our own processes out of the group, now that their child stays: each costs time to freeze.

        The first process of the sandbox stays in the group if a bot could make that process compute for it.
        """
        if self._group:
            self._group.release(self._pid)
            if self._sealed and self._init_pid is not None:
                self._group.release(self._init_pid)

    def exit_status(self, status: int) -> int:
        """The kernel's report, or else the sandbox's, with its shell encoding of a signal undone."""
        if (report := cgroups.read_wait_status(self._bot_pidfd)) is not None:
            return os.waitstatus_to_exitcode(report)
        return 128 - status if 128 < status < 128 + signal.NSIG else status

    def exit_is_sure(self) -> bool:
        """Ask whether the kernel reports it."""
        return cgroups.read_wait_status(self._bot_pidfd) is not None

    def never_ran(self) -> bool:
        """Ask the sandbox, which reports the end of its program only if the program started."""
        return self._status is not None and self._status.never_ran()

    def close(self) -> None:
        """Kill the first process of the sandbox and all others with it, wait for that, and remove copies."""
        if self._status:
            self._status.close()
        if self._init_pidfd >= 0:
            bwrap.kill_and_wait(self._init_pidfd)
            os.close(self._init_pidfd)
            self._init_pidfd = -1
        if self._bot_pidfd >= 0:
            os.close(self._bot_pidfd)
            self._bot_pidfd = -1
        super().close()
        if self._copies:
            self._copies.remove()
            self._copies = None


def make_view(player: Player, isolation: Isolation) -> SandboxView:
    where = Path(player.cwd or os.getcwd())
    home = Path(player.home) if player.home is not None else None
    return SandboxView(player.command, find_program(player, where), where, isolation.hidden, home)


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
    """Make the box for a new process of this player.

    Raises:
        OSError: its program does not exist, or a required layer is unavailable; the latter error names no file.
    """
    if isolation.required and (why := probe.explain_missing_layer(isolation.layer)):
        raise OSError(errno.ENOTSUP, f"isolation {isolation.layer!r} is unavailable: {why}")
    layer = probe.find_strongest_layer(isolation.layer)
    if layer == "none":
        return Box(player)
    return _BOXES[layer](player, isolation)


_BOXES: dict[Layer, type[LimitBox]] = {"bwrap": SandboxBox, "landlock": LandlockBox, "rlimit": LimitBox}


def explain_shared_user(player: Player, isolation: Isolation) -> str | None:
    """Why this bot shares our user where other bots get one of their own; None if it does not.

    Raises:
        OSError: its program does not exist.
    """
    layer = probe.find_strongest_layer(isolation.layer)
    if layer == "none" or limits.explain_missing_uids():
        return None
    if layer == "bwrap":
        return make_view(player, isolation).explain_missing_user() if probe.sandbox_works(own_user=True) else None
    place = [Path(tempfile.gettempdir())] if layer == "landlock" else []
    unreadable = limits.find_unreadable([*list_needed(player), *place])
    return f"others may not read {unreadable}" if unreadable else None


def name_common_isolation(boxes: Iterable[tuple[str, ...]]) -> str:
    """The layers that all boxes have in common, joined by +; boxes that name none do not count."""
    first, *others = [words for words in boxes if words] or [("none",)]
    return "+".join(word for word in first if all(word in words for words in others)) or "none"
