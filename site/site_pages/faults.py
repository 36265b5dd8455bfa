"""The verdicts on each bot, kind by kind: how many games, and the evidence of the first ones.

Rows say which games failed; the records of a few of them, and of no others, have the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from malice.referee.records import Key, Record, RecordedVerdict
from malice.site_pages.evidence import Evidence, make_evidence
from malice.tournaments.league.contents import GameSummary

READ = 8
"""Games per code whose records are read."""
KINDS = 3
"""Different sentences shown per code, each with its evidence."""
LINE = 2000
"""Characters of a line shown."""
STDERR = 8000

Reader = Callable[[Iterable[Key]], Iterator[Record]]
"""Yields the records of some games, as far as they may be published."""


@dataclass
class VerdictGroup:
    """Verdicts about one bot in the same words."""

    words: str
    evidence: Evidence
    """That of the first."""
    key: str
    """The key of its game."""
    others: list[tuple[str, int]] = field(default_factory=list)
    """The keys of further games that were read, each with the seat of the verdict."""


class VerdictCode(Struct, frozen=True):
    """The verdicts of one code on a bot."""

    code: str
    games: int
    kinds: list[VerdictGroup]
    """Of the first games, in their order."""
    unread: int
    """Games whose words are not known here."""


class VerdictList:
    """Collects which games a bot ended by which verdict."""

    def __init__(self) -> None:
        self._games: Counter[str] = Counter()
        self._first: dict[str, list[tuple[Key, int]]] = {}

    def add(self, game: GameSummary, seat: int) -> None:
        """Add a game with a verdict on a seat, in the order of the schedule."""
        code = game.verdicts[seat]
        self._games[code] += 1
        first = self._first.setdefault(code, [])
        if len(first) < READ:
            first.append((game.key, seat))

    @property
    def games(self) -> int:
        """The number of games that ended for the bot by a verdict."""
        return self._games.total()

    def read(self, reader: Reader) -> list[VerdictCode]:
        """Return the verdicts, the most frequent code first; this reads at most `READ` records per code."""
        return [self._read_code(code, games, reader) for code, games in self._games.most_common()]

    def _read_code(self, code: str, games: int, reader: Reader) -> VerdictCode:
        kinds: dict[str, VerdictGroup] = {}
        first = self._first[code]
        known = 0
        for (key, seat), record in zip(first, reader([key for key, _ in first]), strict=True):
            fault = next(each for each in record.faults if each.seat == seat)
            known += _add_verdict(kinds, str(key), fault)
        return VerdictCode(code, games, list(kinds.values()), games - known)


def collect_verdicts(failed: Sequence[GameSummary]) -> dict[str, VerdictList]:
    """Return the verdicts on each bot, by label.

    Args:
        failed: the games with a verdict, in the order of the schedule.
    """
    found: dict[str, VerdictList] = {}
    for game in failed:
        for seat, verdict in enumerate(game.verdicts):
            if verdict:
                found.setdefault(game.labels[seat], VerdictList()).add(game, seat)
    return found


def _add_verdict(kinds: dict[str, VerdictGroup], key: str, fault: RecordedVerdict) -> bool:
    """Add a verdict to its kind; return whether it has one."""
    words = _drop_history(fault.sentence)
    if kind := kinds.get(words):
        kind.others.append((key, fault.seat))
    elif len(kinds) < KINDS:
        kinds[words] = VerdictGroup(words, make_evidence(fault, LINE, STDERR), key)
    return words in kinds


def _drop_history(sentence: str) -> str:
    """Cut off the bot's earlier answers, which differ from game to game, so that equal verdicts have equal words."""
    return sentence.partition(" (it had answered ")[0]
