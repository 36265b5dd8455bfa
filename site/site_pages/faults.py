"""The verdicts on each bot: verdicts in the same words appear once, with the evidence of the first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from referee.records import Fault
from site_pages import text

KINDS = 3
"""Different sentences shown per code, each with its evidence."""
EVIDENCE = 8000
"""Characters of stderr shown."""
PLACES = 12
"""Further games listed per kind."""


@dataclass
class FaultKind:
    """Verdicts about one bot in the same words; the texts in `fault` are not sanitized yet."""

    fault: Fault
    """The first of these verdicts."""
    key: str
    """The key of its game."""
    stderr: str
    games: int = 1
    others: list[tuple[str, int]] = field(default_factory=list)
    """The keys of the next games, each with the seat of the verdict."""


class BotFaults:
    """Collects all verdicts about one bot."""

    def __init__(self) -> None:
        self.games = 0
        self._kinds: defaultdict[str, dict[str, FaultKind]] = defaultdict(dict)

    def add(self, key: str, fault: Fault) -> None:
        """Add the verdict of one more game, in the order of the schedule."""
        self.games += 1
        kinds = self._kinds[fault.code]
        words = _drop_history(fault.sentence)
        if kind := kinds.get(words):
            kind.games += 1
            if len(kind.others) < PLACES:
                kind.others.append((key, fault.seat))
        elif len(kinds) < KINDS:
            kinds[words] = FaultKind(fault, key, text.shorten(fault.stderr, EVIDENCE))

    @property
    def kinds(self) -> list[FaultKind]:
        """The kinds to show, the most frequent first."""
        kinds = [kind for by_words in self._kinds.values() for kind in by_words.values()]
        return sorted(kinds, key=lambda kind: -kind.games)

    @property
    def omitted(self) -> int:
        """The number of games whose verdicts are not shown."""
        return self.games - sum(kind.games for kind in self.kinds)


def _drop_history(sentence: str) -> str:
    """Cut off the bot's earlier answers, which differ from game to game, so that equal verdicts have equal words."""
    return sentence.partition(" (it had answered ")[0]
