"""Listening to a bot that missed a deadline, or that must exit."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from malice.referee.bot import READ_BYTES, BotProcess
from malice.referee.clock import MS

BUSY_SHARE = 0.05
"""The least share of a wait that a thinking bot spends on a processor."""

FLUSH_MS = 1000
"""A bot that only had to flush writes within this time after its input was closed; later, it was still at work."""


class Response(NamedTuple):
    """What a bot did while we listened."""

    output: bytes
    """Its stdout, up to 64 KiB or a little more."""
    gone: bool
    """Whether the process has exited."""
    ns: int
    """How long we listened."""


class Silence(Struct, frozen=True):
    """What a bot did after it had missed a deadline."""

    unread: bool
    """It has not read the whole request."""
    busy: bool
    """It is still thinking."""
    late: bytes = b""
    """Its output in the extra time."""
    late_ms: float = 0
    flushed: bytes = b""
    """Its output after its input was closed."""
    gone: bool = False
    """It exited after its input was closed."""


def listen(bot: BotProcess, wait_ms: int, close_ms: int) -> Silence:
    """Find out why no answer came: give the bot more time, then close its input.

    Args:
        bot: the bot, which has a request and is not frozen.
        wait_ms: the extra time.
        close_ms: the time to exit after its input is closed.
    """
    unread = _has_unread(bot)
    before = bot.cpu_ns()
    more = hear(bot, wait_ms, _is_line)
    if more.output:
        return Silence(unread, False, more.output, more.ns / MS)
    if more.gone or unread or _has_unread(bot):
        return Silence(unread, False, gone=more.gone)
    if bot.cpu_ns() - before > BUSY_SHARE * wait_ms * MS:
        return Silence(unread, True)
    bot.close_input()
    rest = hear(bot, close_ms, _is_line)
    if rest.output and rest.ns > FLUSH_MS * MS:
        return Silence(unread, False, rest.output, (more.ns + rest.ns) / MS)
    return Silence(unread, False, flushed=rest.output, gone=rest.gone)


def hear(bot: BotProcess, wait_ms: int, enough: Callable[[bytes], bool] = lambda output: False) -> Response:
    """Listen until the bot exits, has written enough, or the time is up."""
    begin = time.monotonic_ns()
    deadline = begin + wait_ms * MS
    poll = select.poll()
    for descriptor in (bot.stdout, bot.stderr, bot.pidfd):
        poll.register(descriptor, select.POLLIN)
    output = b""
    gone = False
    while not gone and not enough(output) and (left := deadline - time.monotonic_ns()) > 0:
        ready = {descriptor for descriptor, _ in poll.poll(-(-left // MS))}
        gone = bot.pidfd in ready
        if bot.stderr in ready and not bot.drain_stderr():
            poll.unregister(bot.stderr)
        if gone or bot.stdout in ready:
            data = _read(bot)
            if data == b"" and bot.stdout in ready:
                poll.unregister(bot.stdout)
            output = (output + data)[: 2 * READ_BYTES]
    return Response(output, gone, time.monotonic_ns() - begin)


def _is_line(output: bytes) -> bool:
    return b"\n" in output or len(output) >= READ_BYTES


def _read(bot: BotProcess) -> bytes:
    try:
        return os.read(bot.stdout, READ_BYTES)
    except BlockingIOError:
        return b""  # it has exited, but another process holds its output open


def _has_unread(bot: BotProcess) -> bool:
    """Return whether bytes of the request are still in the pipe."""
    waiting = fcntl.ioctl(bot.stdin, termios.FIONREAD, struct.pack("i", 0))
    return bool(struct.unpack("i", waiting)[0])
