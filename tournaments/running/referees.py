"""Referee processes as the coordinator sees them: a batch in, reports out, no process left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO

import msgspec
import trio

from malice.referee.bot import kill_group, prepare_parent_death_signal, read_start_time
from malice.referee.records import Batch, BatchDone, EndBatch, Report, Started
from malice.tournaments.running.leftovers import ProcessLedger

END_WAIT_S = 1.0
"""How long a referee may take to end its bots once its input is closed."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


class RefereeProcess:
    """One referee process; use it as an async context manager.

    Args:
        ledger: lists it and its bots while they live.
    """

    def __init__(self, ledger: ProcessLedger) -> None:
        self.alive = True
        self.gave_up = False
        """Whether its time was up, so that its end is nobody's failure."""
        self._has_begun = False
        self._ledger = ledger
        self._pending = b""
        self._bots: list[Started] = []
        self._sending = trio.Lock()

    async def __aenter__(self) -> RefereeProcess:
        # Not with trio, which starts processes in a thread: the parent-death signal comes when that thread ends. The
        # end of its input would not be enough either: the process reads it only after its imports.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "malice.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C in the terminal reaches only us; we end the referee in order
            preexec_fn=prepare_parent_death_signal(signal.SIGTERM),
        )
        self._ledger.add(Started(self._process.pid, read_start_time(self._process.pid) or 0))
        self._pidfd = os.pidfd_open(self._process.pid)
        self._stdin, self._stdout, self._stderr = map(
            _open_stream, (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        with trio.CancelScope(shield=True):
            await self._stdin.aclose()
            if not self._has_begun:  # it may still import its modules, and would read the end of its input only then
                self._process.terminate()
            with trio.move_on_after(END_WAIT_S):
                await self._wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._wait()
            await self._stdout.aclose()
            await self._stderr.aclose()
        os.close(self._pidfd)
        self._end_bots()
        self._ledger.remove(self._process.pid)

    async def _wait(self) -> int:
        """Wait for the process to end; return its exit status."""
        await trio.lowlevel.wait_readable(self._pidfd)
        return self._process.wait()

    async def send_batch(self, batch: Batch) -> None:
        """Send a batch; its reports follow."""
        await self._send(batch)

    async def end_batch(self) -> None:
        """Let the batch end after its running game; without a batch this has no effect."""
        await self._send(EndBatch())

    def give_up(self) -> None:
        """Let the process give up its game, tell of it and end."""
        self.gave_up = True
        self._signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the process at once; its bots end when this context does."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    async def _send(self, order: Batch | EndBatch) -> None:
        # Reading its reports shows that a process is dead.
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async with self._sending:
                await self._stdin.send_all(_encoder.encode(order) + b"\n")

    async def read_reports(self) -> list[Report]:
        """Return the reports that have arrived, at least one; none once the process is dead.

        What comes after the end of a batch belongs to the next one, which has not been sent yet.
        """
        while lines := await self._read_lines():
            self._has_begun = True
            reports = [report for line in lines if not self._notes_bot(report := _decoder.decode(line))]
            if any(isinstance(report, BatchDone) for report in reports):
                self._forget_bots()
            if reports:
                return reports
        self.alive = False
        return []

    def _notes_bot(self, report: Report) -> bool:
        """Tell whether a report is on a bot that was started; if so, note the bot."""
        if not isinstance(report, Started):
            return False
        self._bots.append(report)
        self._ledger.add(report)
        return True

    async def _read_lines(self) -> list[bytes]:
        """Return the whole lines that have arrived, at least one; none at the end."""
        while True:
            data = await self._stdout.receive_some()
            if not data:
                return []
            *lines, self._pending = (self._pending + data).split(b"\n")
            if lines:
                return lines

    async def explain_death(self) -> str:
        """Return why the process died: its exit status and the end of its stderr."""
        stderr = b""
        with trio.move_on_after(END_WAIT_S):
            async for data in self._stderr:
                stderr = (stderr + data)[-2000:]
            await self._wait()
        return f"the referee process ended ({self._process.returncode}): {stderr.decode('utf-8', 'replace').strip()}"

    def _end_bots(self) -> None:
        """Kill the bots that a dead referee left; skip a number that was reused, as its start time shows."""
        for bot in self._bots:
            # A group may outlive its leader; the kernel does not reuse its number before the group is empty.
            if read_start_time(bot.pid) in (bot.start_time, None):
                kill_group(bot.pid)
        self._forget_bots()

    def _forget_bots(self) -> None:
        for bot in self._bots:
            self._ledger.remove(bot.pid)
        self._bots.clear()


def _open_stream(pipe: IO[bytes] | None) -> trio.lowlevel.FdStream:
    """Return a stream that takes over the descriptor of a pipe."""
    assert pipe
    with pipe:
        return trio.lowlevel.FdStream(os.dup(pipe.fileno()))
