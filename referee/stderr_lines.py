"""The stderr of a bot, line by line."""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 4096
"""The number of bytes after which an unfinished line is reported."""


class StderrLines:
    """Cuts a stream into lines.

    Args:
        report: receives each line, without its line feed; bytes that are not UTF-8 are replaced.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._pending = b""

    def add(self, data: bytes) -> None:
        """Add the next bytes, and report the lines that are complete."""
        *lines, rest = (self._pending + data).split(b"\n")
        while len(rest) >= LONGEST:
            lines.append(rest[:LONGEST])
            rest = rest[LONGEST:]
        self._pending = rest
        for line in lines:
            self._report(line.decode("utf-8", "replace").rstrip("\r"))

    def end(self) -> None:
        """Report the rest that has no line feed."""
        if self._pending:
            self.add(b"\n")
