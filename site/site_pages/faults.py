"""The verdicts on each bot, kind by kind: how many games, and the evidence of the first ones.

Rows say which games failed; the records of a few of them, and of no others, have the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from malice.referee.records import Fault, Key, Record
from malice.site_pages.evidence import Evidence, make_evidence
from malice.tournaments.league.contents import Game

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
class FaultKind:
    """Verdicts about one bot in the same words."""

    words: str
    evidence: Evidence
    """That of the first."""
    key: str
    """The key of its game."""
    others: list[tuple[str, int]] = field(default_factory=list)
    """The keys of further games that were read, each with the seat of the verdict."""


class FaultCode(Struct, frozen=True):
    """The verdicts of one code on a bot."""

    code: str
    games: int
    kinds: list[FaultKind]
    """Of the first games, in their order."""
    unread: int
    """Games whose words are not known here."""


class FaultList:
    """Collects which games a bot ended by which verdict."""

    def __init__(self) -> None:
        self._games: Counter[str] = Counter()
        self._first: dict[str, list[tuple[Key, int]]] = {}

    def add(self, game: Game, seat: int) -> None:
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

    def read(self, reader: Reader) -> list[FaultCode]:
        """Return the verdicts, the most frequent code first; this reads at most `READ` records per code."""
        return [self._read_code(code, games, reader) for code, games in self._games.most_common()]

    def _read_code(self, code: str, games: int, reader: Reader) -> FaultCode:
        kinds: dict[str, FaultKind] = {}
        first = self._first[code]
        known = 0
        for (key, seat), record in zip(first, reader([key for key, _ in first]), strict=True):
            fault = next(each for each in record.faults if each.seat == seat)
            known += _add_fault(kinds, str(key), fault)
        return FaultCode(code, games, list(kinds.values()), games - known)


def collect_faults(failed: Sequence[Game]) -> dict[str, FaultList]:
    """Return the verdicts on each bot, by label.

    Args:
        failed: the games with a verdict, in the order of the schedule.
    """
    found: dict[str, FaultList] = {}
    for game in failed:
        for seat, verdict in enumerate(game.verdicts):
            if verdict:
                found.setdefault(game.labels[seat], FaultList()).add(game, seat)
    return found


def _add_fault(kinds: dict[str, FaultKind], key: str, fault: Fault) -> bool:
    """Add a verdict to its kind; return whether it has one."""
    words = _drop_history(fault.sentence)
    if kind := kinds.get(words):
        kind.others.append((key, fault.seat))
    elif len(kinds) < KINDS:
        kinds[words] = FaultKind(words, make_evidence(fault, LINE, STDERR), key)
    return words in kinds


def _drop_history(sentence: str) -> str:
    """Cut off the bot's earlier answers, which differ from game to game, so that equal verdicts have equal words."""
    return sentence.partition(" (it had answered ")[0]
