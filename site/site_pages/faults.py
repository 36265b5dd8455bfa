"""The verdicts about each bot: those in the same words are told once, with the evidence of the first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from referee.records import Fault
from site_pages import text

KINDS = 3
"""Of each code, so many different sentences are shown with their evidence."""
EVIDENCE = 8000
"""Characters of stderr."""
PLACES = 12
"""Games that a kind names beside its first."""


@dataclass
class FaultKind:
    """Verdicts about one bot in the same words; the fault's own words are not yet fit to be shown."""

    fault: Fault
    """The first of them."""
    key: str
    """Its game."""
    stderr: str
    games: int = 1
    others: list[tuple[str, int]] = field(default_factory=list)
    """The next games, and where in them the verdict came."""


class BotFaults:
    """All verdicts about one bot."""

    def __init__(self) -> None:
        self.games = 0
        self._kinds: defaultdict[str, dict[str, FaultKind]] = defaultdict(dict)

    def add(self, key: str, fault: Fault) -> None:
        """Take in the verdict of one more game, after those before it."""
        self.games += 1
        kinds = self._kinds[fault.code]
        words = _without_history(fault.sentence)
        if kind := kinds.get(words):
            kind.games += 1
            if len(kind.others) < PLACES:
                kind.others.append((key, fault.action))
        elif len(kinds) < KINDS:
            kinds[words] = FaultKind(fault, key, text.excerpt(fault.stderr, EVIDENCE))

    @property
    def kinds(self) -> list[FaultKind]:
        """What is shown of them, the most frequent first."""
        shown = [kind for kinds in self._kinds.values() for kind in kinds.values()]
        return sorted(shown, key=lambda kind: -kind.games)

    @property
    def unshown(self) -> int:
        """Games whose verdicts have words that are not shown."""
        return self.games - sum(kind.games for kind in self.kinds)


def _without_history(sentence: str) -> str:
    """Return the words that several verdicts can have in common: how a bot answered before differs each time."""
    return sentence.partition(" (it had answered ")[0]
