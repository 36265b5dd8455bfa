"""What people can do whose tournament cannot go on as it is, in the words of the command in hand."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from malice.tournaments.league.league import League


class NextSteps(NamedTuple):
    """Says how to go on."""

    league: Path | None = None
    """The file of the league; None if nothing is kept."""
    by_file: bool = True
    """Whether a file describes the tournament; otherwise the words of a command line do."""

    def begin_anew(self, name: str) -> str:
        """Return how to play the tournament of this name under other terms."""
        database = "another --db" if self.league is None else f"another --db than {self.league}"
        if self.by_file:
            return f"give the tournament another name than {name!r}, or keep it in {database}"
        return f"keep these games in {database}"

    def explain_absence(self, league: League, name: str, label: str) -> str:
        """Return what to do about an entry of a tournament that its file or its command line lacks."""
        if not self.by_file:
            return f"{label!r}, who played before, is not among these bots: {self.begin_anew(name)}"
        words = ["malice", "entry", "withdraw", str(self.league), label]
        command = shlex.join([*words, *league.choose(name)])
        return f"{label!r} is gone from the file; to end its games, run: {command}; or {self.begin_anew(name)}"

    def allow_new_versions(self, cost: str) -> str:
        """Return how a bot that changed can play.

        Args:
            cost: what it takes.
        """
        if self.by_file:
            return f"--new-versions lets the new version play, {cost}; the games of the old one stay"
        return f"keep the games of the new version in another --db than {self.league}"

    def play_without(self) -> str:
        """Return how to go on without broken bots; who they are follows."""
        return "a run with --keep-going plays without" if self.by_file else "no game can be played without"
