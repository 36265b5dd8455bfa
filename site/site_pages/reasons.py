"""Why the games of a tournament ended, in words."""

from __future__ import annotations

from collections.abc import Mapping

from malice.referee.families import load_family
from malice.referee.replay import VOID
from malice.referee.rulesets import Ruleset
from malice.site_pages import text
from malice.tournaments.league.contents import GameSummary

ENDLESS = "endless"
"""The code of the words for a game that is void although somebody played."""


class Reasons:
    """The words of the families that are played.

    Raises:
        FamilyError: a family is missing.
    """

    def __init__(self, rulesets: Mapping[str, Ruleset]) -> None:
        self.words: Mapping[str, Mapping[str, str]] = {
            name: load_family(ruleset.family).reasons for name, ruleset in rulesets.items()
        }
        """By ruleset and code."""

    def describe(self, game: GameSummary) -> str:
        """Return why a game ended."""
        endless = game.reason == VOID and game.actions > sum(map(bool, game.verdicts))
        return text.describe_reason(ENDLESS if endless else game.reason, self.words[game.ruleset])
