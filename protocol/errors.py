"""The root of every error that malice raises on purpose, and the errors of broken lines.

MaliceError
├── ProtocolError        a line breaks the protocol
│   └── StrayLine        it is not a JSON object
└── (referee/errors.py and tournaments/errors.py add the rest)
"""

from __future__ import annotations

from typing import Self


class MaliceError(Exception):
    """A failure that malice expects; the message is for the user, its fields are for scripts.

    The message is put together from what is given: `where: sentence: expected ..., got ...; hint`.

    Args:
        sentence: what is wrong, if that is more than another value than the expected one.
        where: the file, field or option.
        expected: what is right there, without the word.
        got: what came; the message says it only beside what was expected.
        hint: what to do about it, or what there is instead.
    """

    def __init__(
        self,
        sentence: str = "",
        *,
        where: object = None,
        expected: str | None = None,
        got: object = None,
        hint: str | None = None,
    ) -> None:
        self.where, self.got = (None if each is None else str(each) for each in (where, got))
        self.expected, self.hint = expected, hint
        came = "" if got is None else f", got {got}"
        said = [self.where, sentence, f"expected {expected}{came}" if expected else ""]
        super().__init__(": ".join(filter(None, said)) + (f"; {hint}" if hint else ""))

    def within(self, place: object) -> Self:
        """The same error, which lies within a place: a field of a file, a file of a folder."""
        self.where = ": ".join(filter(None, (str(place), self.where)))
        self.args = (f"{place}: {self}",)
        return self

    def advise(self, hint: str) -> Self:
        """The same error, with one hint more."""
        self.hint = "; ".join(filter(None, (self.hint, hint)))
        self.args = (f"{self}; {hint}",)
        return self


class ProtocolError(MaliceError):
    """A line breaks the protocol; the message says what was expected and what came."""


class StrayLine(ProtocolError):
    """A line is not a JSON object: the bot printed something that is not a message."""
