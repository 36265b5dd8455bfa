"""Errors of tournaments; the command line turns each into one line and an exit code.

MaliceError              (protocol/errors.py)
├── DataError            (referee/errors.py) a file that people wrote does not fit
├── LeagueError          the database is not ours, or holds another tournament
├── IsolationError       the isolation that was demanded is not to be had
├── UnverifiedError      a stored game does not replay, or its cards were not dealt by the seed
│   └── BrokenRecord     it cannot even be read
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


class BrokenRecord(UnverifiedError):
    """A stored game cannot even be read."""


class Stopped(MaliceError):
    """The tournament was stopped before its end; what was finished is stored."""
