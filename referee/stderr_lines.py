"""What a bot writes to stderr, line by line, for whoever wants to read along."""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 4096
"""Bytes after which a line is told though it has no end yet."""


class StderrLines:
    """Cuts a stream into lines.

    Args:
        tell: takes each line, without its line feed; what is not UTF-8 in it is replaced.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._pending = b""

    def add(self, data: bytes) -> None:
        """Add what came, and tell the lines that are whole."""
        *lines, rest = (self._pending + data).split(b"\n")
        while len(rest) >= LONGEST:
            lines.append(rest[:LONGEST])
            rest = rest[LONGEST:]
        self._pending = rest
        for line in lines:
            self._tell(line.decode("utf-8", "replace").rstrip("\r"))

    def end(self) -> None:
        """Tell what is left without a line feed."""
        if self._pending:
            self.add(b"\n")
