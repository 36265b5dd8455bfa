"""The link between the server and the process that plays, from the server's side."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from malice.tournaments.web.messages import Reply, TableOrder, Told, decode_told, encode

END_WAIT_S = 10.0
"""How long the process may take to end its bots."""


class ProcessLink:
    """What a process says, line by line, and what it is told; who was cancelled while reading may read on."""

    def __init__(self, out: trio.lowlevel.FdStream, source: trio.lowlevel.FdStream) -> None:
        self._out = out
        self._source = source
        self._rest = b""

    async def read(self) -> Told | None:
        """Wait for what it says next; None if no more comes."""
        while b"\n" not in self._rest:
            piece = await self._source.receive_some(1 << 16)
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        told: Told = decode_told(line)
        return told

    async def send(self, message: TableOrder | Reply) -> None:
        """Tell it something.

        Raises:
            trio.BrokenResourceError: it has ended.
        """
        await self._out.send_all(encode(message) + b"\n")


@asynccontextmanager
async def start_process() -> AsyncIterator[ProcessLink]:
    """Start a process that plays; when the context ends, so has it, with all its bots."""
    # From this thread: a process asks for its end with the thread that started it.
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "malice.tournaments.web.process", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches only the server, which ends it in order
    )
    assert child.stdin
    assert child.stdout
    with child.stdin, child.stdout:
        out, source = (trio.lowlevel.FdStream(os.dup(pipe.fileno())) for pipe in (child.stdin, child.stdout))
    try:
        async with out, source:
            yield ProcessLink(out, source)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(_await_end, child)


def _await_end(child: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process whose pipes are closed."""
    try:
        child.wait(END_WAIT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
