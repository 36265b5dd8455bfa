"""What can still be heard from a bot that did not answer in time, or that was told to go."""

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

from referee.bot import READ_BYTES, BotProcess
from referee.clock import MS

BUSY_SHARE = 0.05
"""The share of a wait that a bot spends on a processor at least if it thinks."""


class Response(NamedTuple):
    """What came in some time."""

    said: bytes
    """On stdout, up to 64 KiB or a little more."""
    gone: bool
    """Whether the process has exited."""
    ns: int
    """How long that took."""


class Silence(Struct, frozen=True):
    """What a bot did after it had missed a deadline."""

    unread: bool
    """The request still waits to be read."""
    busy: bool
    """It goes on thinking."""
    late: bytes = b""
    """What it wrote when it was given more time."""
    late_ms: float = 0
    flushed: bytes = b""
    """What it wrote only when its input was closed."""
    gone: bool = False
    """It exited when its input was closed."""


def listen(bot: BotProcess, wait_ms: int, close_ms: int) -> Silence:
    """Find out why nothing came: give the bot more time, then close its input.

    Args:
        bot: it was asked, and not frozen.
        wait_ms: how much more time it gets.
        close_ms: how long it may take to exit after its input was closed.
    """
    unread = _unread(bot)
    before = bot.cpu_ns()
    more = hear(bot, wait_ms, _is_line)
    if more.said:
        return Silence(unread, False, more.said, more.ns / MS)
    if more.gone or unread or _unread(bot):
        return Silence(unread, False, gone=more.gone)
    if bot.cpu_ns() - before > BUSY_SHARE * wait_ms * MS:
        return Silence(unread, True)
    bot.close_input()
    rest = hear(bot, close_ms, _is_line)
    return Silence(unread, False, flushed=rest.said, gone=rest.gone)


def hear(bot: BotProcess, wait_ms: int, enough: Callable[[bytes], bool] = lambda said: False) -> Response:
    """Listen until the bot has exited, has said enough, or the time is over."""
    begin = time.monotonic_ns()
    deadline = begin + wait_ms * MS
    poll = select.poll()
    for descriptor in (bot.stdout, bot.stderr, bot.pidfd):
        poll.register(descriptor, select.POLLIN)
    said = b""
    gone = False
    while not gone and not enough(said) and (left := deadline - time.monotonic_ns()) > 0:
        ready = {descriptor for descriptor, _ in poll.poll(-(-left // MS))}
        gone = bot.pidfd in ready
        if bot.stderr in ready and not bot.drain_stderr():
            poll.unregister(bot.stderr)
        if gone or bot.stdout in ready:
            data = _read(bot)
            if data == b"" and bot.stdout in ready:
                poll.unregister(bot.stdout)
            said = (said + data)[: 2 * READ_BYTES]
    return Response(said, gone, time.monotonic_ns() - begin)


def _is_line(said: bytes) -> bool:
    return b"\n" in said or len(said) >= READ_BYTES


def _read(bot: BotProcess) -> bytes:
    try:
        return os.read(bot.stdout, READ_BYTES)
    except BlockingIOError:
        return b""  # it is gone, but another process holds its output open


def _unread(bot: BotProcess) -> bool:
    """Tell whether bytes of the request still wait in the pipe."""
    waiting = fcntl.ioctl(bot.stdin, termios.FIONREAD, struct.pack("i", 0))
    return bool(struct.unpack("i", waiting)[0])
