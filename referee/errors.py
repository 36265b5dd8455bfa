"""Errors of the rules and the table.

MaliceError              (protocol/errors.py)
├── IllegalAction        an action that is not in the legal list
├── DataError            a file or a record that people or programs wrote does not fit
│   ├── RulesetError     a ruleset is unknown, contradicts itself or is not played
│   └── RecordError      a record does not replay
├── BotError             a bot cannot be started at all
├── MachineFault         the machine failed, not a bot: the game is to be played again
│   └── MemoryFault      a bot was killed as the machine ran out of memory: it is played again for that once
├── Verdict              (verdicts.py) a bot broke a rule of the table and is withdrawn
├── Abandoned            (exchange.py) nobody waits for the game any more
└── Late                 (exchange.py) an answer did not come in time; becomes a verdict
"""

from __future__ import annotations

from protocol.errors import MaliceError


class IllegalAction(MaliceError):
    """An action is not legal in the state it was played in."""


class DataError(MaliceError):
    """A file or a record does not fit; the message names the place and what would."""


class RulesetError(DataError):
    """A ruleset is unknown, contradicts itself, or asks for what is not played."""


class RecordError(DataError):
    """A stored game does not replay to what it says."""


class BotError(MaliceError):
    """A bot cannot be started, or its folder does not describe one."""


class MachineFault(MaliceError):
    """The machine failed, not a bot: a sandbox, memory, or time itself; the game is to be played again."""


class MemoryFault(MachineFault):
    """A bot was killed for want of memory though it had used no more than it may.

    Bots can bring a machine there, so a game is played again for that once only.
    """
