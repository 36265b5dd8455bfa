"""What can go wrong with one request, before we know whose fault it is."""

from __future__ import annotations

from malice.protocol.errors import MaliceError
from malice.referee.clock import MS
from malice.referee.errors import MachineFault

STOOD_STILL_NS = 1000 * MS
"""If we notice a deadline this late, the bot is not to blame: the machine slept, or was stopped."""


class Abandoned(MaliceError):
    """The process that sent the batch is gone; nobody waits for the record."""


class TimeIsUp(BaseException):
    """The run has no time left for the game that is played; no handler of errors takes it for one."""


class Late(MaliceError):
    """The deadline has passed; the message says why."""


class OutOfCpu(MaliceError):
    """The CPU time for an answer is used up; the message says when we noticed."""


class Silent(Late):
    """The deadline has passed without any answer."""


class Gone(MaliceError):
    """The bot has exited or closed its end of a pipe; the message says which."""


def excuse_standstill(over: int) -> None:
    """Excuse the bot if we noticed its deadline far too late.

    Args:
        over: how much too late, in nanoseconds.

    Raises:
        MachineFault: we noticed it far too late.
    """
    if over > STOOD_STILL_NS:
        raise MachineFault(f"the machine stood still for {over / 1e9:.1f} s over a deadline")
