"""Errors of tournaments; the command line turns each into one line and an exit code.

MaliceError              (protocol/errors.py)
├── DataError            (referee/errors.py) a file that people wrote does not fit
├── LeagueError          the database is not ours, or holds another tournament
├── IsolationError       the isolation that was demanded is not to be had
├── LockedLeague         another program kept the database locked
├── UnverifiedError      a stored game does not replay, or its cards were not dealt by the seed
│   └── DamagedLeague    a stored value cannot be read, or contradicts another
└── Stopped              the tournament was stopped before its end and can be resumed
"""

from __future__ import annotations

from protocol.errors import MaliceError


class LeagueError(MaliceError):
    """The database cannot be used: not ours, of another schema, or of another tournament."""


class IsolationError(MaliceError):
    """Bots cannot be isolated as it was demanded; the message says what is missing."""


class UnverifiedError(MaliceError):
    """A stored game is not what it claims to be; the message names its key."""


class DamagedLeague(UnverifiedError):
    """A stored value cannot be read, or contradicts another; the message names the file, the table, row and column."""


class LockedLeague(MaliceError):
    """Another program kept the database locked for longer than we wait; nothing was lost, try again."""


class Stopped(MaliceError):
    """The tournament was stopped before its end; what was finished is stored."""
