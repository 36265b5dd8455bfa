"""Errors of the rules and the table, and what can go wrong with one request before we know whose fault it is.

MaliceError              (protocol/errors.py)
├── IllegalAction        an action that is not in the legal list
├── DataError            a file or a record is not as expected
│   ├── FamilyError      a game is missing, or the package that brings it is broken
│   │   └── GameFault    the rules of a game failed while it was played, and no bot is to blame
│   ├── RulesetError     a ruleset is unknown, contradicts itself or cannot be played
│   └── RecordError      a record does not replay
│       └── ChangedRules it was played by rules that have changed since
├── BotError             a bot cannot be started at all
├── MachineFault         the machine failed, not a bot: the game must be played again
│   └── MemoryFault      the machine ran out of memory and killed a bot: the game is played again once
├── Verdict              (verdicts.py) a bot broke a rule of the table and leaves the game
├── Abandoned            nobody waits for the game any more
└── Late                 an answer did not come in time; becomes a verdict
"""

from __future__ import annotations

from malice.protocol.errors import MaliceError
from malice.referee.clock import MS


class IllegalAction(MaliceError):
    """An action is not legal in the state it was played in."""


class DataError(MaliceError):
    """A file or a record is not as expected; the message names the place and the expectation."""


class FamilyError(DataError):
    """A family of games is missing, or the package that brings it is broken."""


class GameFault(FamilyError):
    """The rules of a game failed while it was played: no bot is to blame.

    Args:
        sentence: which game, what it did, and where.
        report: what repeats it: the ruleset, the seed, the actions, the traceback.
    """

    def __init__(self, sentence: str, report: str) -> None:
        super().__init__(sentence)
        self.report = report


class RulesetError(DataError):
    """A ruleset is unknown, contradicts itself, or cannot be played."""


class RecordError(DataError):
    """A stored game does not replay to the recorded result."""


class ChangedRules(RecordError):
    """A stored game does not replay, but the rules that it was played by have changed since."""


class BotError(MaliceError):
    """A bot cannot be started, or its folder does not describe one."""


class MachineFault(MaliceError):
    """The machine failed, not a bot: a sandbox, memory, or a clock that jumped; the game must be played again."""


class MemoryFault(MachineFault):
    """The kernel killed a bot for lack of memory although the bot kept to its limit.

    Bots can exhaust a machine, so a game is played again only once for this.
    """


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
