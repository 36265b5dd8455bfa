"""The root of every error that malice raises on purpose, and what a broken line is.

MaliceError
├── ProtocolError        a line breaks the protocol
│   └── StrayLine        it is no JSON object at all
└── (referee/errors.py and tournaments/errors.py grow the rest)
"""

from __future__ import annotations


class MaliceError(Exception):
    """Something that malice expects to go wrong; the message is written for the user."""


class ProtocolError(MaliceError):
    """A line breaks the protocol; the message says what was expected and what came."""


class StrayLine(ProtocolError):
    """A line is no JSON object: something was printed that is no message."""
