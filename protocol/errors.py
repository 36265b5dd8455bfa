"""The root of every error that malice raises on purpose, and the errors of broken lines.

MaliceError
├── ProtocolError        a line breaks the protocol
│   └── StrayLine        it is not a JSON object
└── (referee/errors.py and tournaments/errors.py add the rest)
"""

from __future__ import annotations


class MaliceError(Exception):
    """A failure that malice expects; the message is for the user."""


class ProtocolError(MaliceError):
    """A line breaks the protocol; the message says what was expected and what came."""


class StrayLine(ProtocolError):
    """A line is not a JSON object: the bot printed something that is not a message."""
