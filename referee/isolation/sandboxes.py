"""What surrounds a bot in a sandbox made by bubblewrap, from its start to its end."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from malice.referee.isolation import bwrap, kills, limits, probe, seccomp
from malice.referee.isolation.boxes import LimitBox, choose_filter, find_program
from malice.referee.isolation.copies import Copies
from malice.referee.isolation.views import SandboxView
from malice.referee.records import Isolation, Player


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
        if seccomp.explain_missing_filter() is None:
            descriptors.append(seccomp.open_filter(**choose_filter(isolation)))
            self.words += ("seccomp",)
        self.descriptors = tuple(descriptors)
        program = find_program(player, view.folder)
        sandbox = bwrap.Sandbox(player.command, program, view, isolation.memory_mb, player.environment)
        uid = limits.next_uid() if own_user else None
        self.command = sandbox.build_command(uid, *descriptors, disable=probe.can_disable_nested_users())
        self.environment = {}
        if uid:
            self.words += ("uid",)
        self._sealed = own_user or seccomp.explain_missing_filter() is None

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
        """Return the child of the first process of the sandbox; None until it exists."""
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
        """Return the kernel's report, or else the sandbox's, which encodes a signal as a shell does; undo that."""
        if (report := kills.read_wait_status(self._bot_pidfd)) is not None:
            return os.waitstatus_to_exitcode(report)
        return 128 - status if 128 < status < 128 + signal.NSIG else status

    def exit_is_sure(self) -> bool:
        """Ask whether the kernel reports it."""
        return kills.read_wait_status(self._bot_pidfd) is not None

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
