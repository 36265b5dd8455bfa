"""The progress on stderr while stored games are played again."""

from __future__ import annotations

from typing import TextIO

from malice.tournaments.running.progress import Progress


class ReplayProgress(Progress):
    """Counts games as they are played again.

    Without a terminal there is a plain line now and then, and none if it is over before the first: nothing changes in
    the league, so nobody needs a last word.

    Args:
        out: where to write.
        doing: what they are played again for.
    """

    def __init__(self, out: TextIO, doing: str = "taking luck off") -> None:
        super().__init__(0, 0, out)
        self._doing = doing

    def __exit__(self, *error: object) -> None:
        if self._bar and self._total:
            super().__exit__(*error)

    def expect(self, games: int) -> None:
        """Learn that so many more games are to be played again."""
        self._total += games

    def describe(self, seconds: float) -> str:
        """Return the text beside the bar."""
        return f"{self._doing}: {super().describe(seconds)}"
