"""Errors of tournaments; the command line turns each into one line and an exit code.

MaliceError              (protocol/errors.py)
├── DataError            (referee/errors.py) a file that people wrote is not valid
├── LeagueError          the database is not a league, or holds another tournament
├── IsolationError       the required isolation is unavailable
├── LockedLeague         another program keeps the database locked
├── UnverifiedError      a stored game does not replay, or the seed did not deal its cards
│   └── DamagedLeague    a stored value cannot be read, or contradicts another
└── Stopped              the tournament stopped before its end and can be resumed
"""

from __future__ import annotations

from malice.protocol.errors import MaliceError


class LeagueError(MaliceError):
    """The database cannot be used: it is not a league, or has a newer schema or another tournament."""


class IsolationError(MaliceError):
    """The required isolation of bots is unavailable; the message says what is missing."""


class UnverifiedError(MaliceError):
    """A stored game contradicts its record, its seed or its tournament; the message names its key."""


class DamagedLeague(UnverifiedError):
    """A stored value cannot be read or contradicts another; the message names the file, table, row and column."""


class LockedLeague(MaliceError):
    """Another program kept the database locked for too long; nothing is lost, and another try may succeed."""


class Stopped(MaliceError):
    """The tournament stopped before its end; finished games are stored."""
