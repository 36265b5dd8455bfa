"""The lines on stdout that are not JSON objects: they are skipped and counted, up to a limit."""

from __future__ import annotations

from collections.abc import Callable

from malice.protocol.codec import excerpt
from malice.protocol.errors import ProtocolError
from malice.referee.nouns import format_count, inflect

STRAY_LINES = 100
STRAY_BYTES = 1 << 20
"""How many stray lines, and bytes in them, a game tolerates."""


class StrayLines:
    """The stray lines of one bot in one game.

    Args:
        on_stray: receives each of them before it is judged.
    """

    def __init__(self, on_stray: Callable[[bytes], None] | None = None) -> None:
        self._on_stray = on_stray
        self._bytes = 0
        self.count = 0
        self.first = ""
        """The start of the first one, for people."""

    def add(self, raw: bytes) -> None:
        """Count a line.

        Raises:
            ProtocolError: there are too many.
        """
        if self._on_stray:
            self._on_stray(raw)
        if not self.count:
            self.first = excerpt(raw)
        self.count += 1
        self._bytes += len(raw)
        if self.count > STRAY_LINES or self._bytes > STRAY_BYTES:
            lines, are = format_count(self.count, "line"), inflect(self.count, "is", "are")
            raise ProtocolError(
                f"{lines} ({self._bytes} bytes) that {are} not JSON:"
                f" print what is not an answer to stderr; the last one: {excerpt(raw)}"
            )
