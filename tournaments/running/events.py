"""What happens in a run, as events: frozen structs that readers follow, and that `--events` writes as lines of JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from malice.tournaments.ratings.sprt import Verdict

VERSION = 1
"""The version of the events. It grows when a field goes or means something else; new fields and events do not count."""


def _tell_time() -> float:
    return round(time.time(), 3)


class RunEvent(Struct, frozen=True, tag_field="type", kw_only=True):
    """Something that happened in a run; `findings.py` has the results at its end."""

    at: float = field(default_factory=_tell_time)
    """When it happened, in seconds since 1970, UTC."""


class RunStarted(RunEvent, frozen=True, tag="run_started"):
    """A run begins: every bot has answered, and no game has begun. It is the first line of each run."""

    version: int
    """The version of the events: 1."""
    malice: str
    """The version of malice."""
    tournament: str
    """Its name in the league."""
    format: str
    """Who meets whom, such as `round-robin` or `comparison`."""
    rulesets: tuple[str, ...]
    """Their names."""
    entries: tuple[str, ...]
    """The labels of the entries, in the order of the file."""
    jobs: int
    """Games at a time; with `--dask`, those of the workers that are there when it begins."""
    done: int
    """Games that were finished before this run."""
    total: int
    """Those and the games that are open in the parts so far; a format may create further parts."""


class EventTable(Struct, frozen=True):
    """Entries that meet in a part."""

    ruleset: str
    """Under which rules."""
    labels: tuple[str, ...]
    """The labels of the entries, in the order of the table."""


class PartOpened(RunEvent, frozen=True, tag="part_created"):
    """A part of the tournament is created, such as a round of a Swiss: what is played at once and never changes."""

    part: int
    """Its number, which begins the keys of its games."""
    title: str
    """For people, such as `round 3 of 9`."""
    deals: int
    """Deals at each table; each is played in every rotation of seats, or once where all seats have the same deal."""
    games: int
    """All its games."""
    meetings: tuple[EventTable, ...]
    """By table."""
    byes: tuple[str, ...]
    """The labels of those that have no opponent in this round."""


class PartFinished(RunEvent, frozen=True, tag="part_closed"):
    """No game of a part is open any more."""

    part: int
    """Its number."""


class GameStarted(RunEvent, frozen=True, tag="game_started"):
    """A game begins; it begins again if the referee could not finish it."""

    key: str
    """Names the game: part, table, deal and rotation, as in `0.3.12.1`."""
    ruleset: str
    """Its name."""
    labels: tuple[str, ...]
    """By seat."""


class VerdictGiven(RunEvent, frozen=True, tag="verdict"):
    """The referee gave a verdict about a seat in a game that is finished; `game_finished` follows."""

    key: str
    """The game."""
    seat: int
    """From 0."""
    label: str
    """The label of the entry at that seat."""
    code: str
    """`crash`, `timeout`, `protocol` or `illegal`."""
    action: int
    """How many actions were played before."""
    sentence: str
    """What happened, for the author of the bot."""


class GameFinished(RunEvent, frozen=True, tag="game_finished", kw_only=True):
    """A game is finished and stored."""

    key: str
    """Names the game."""
    ruleset: str
    """Its name."""
    labels: tuple[str, ...]
    """By seat."""
    places: tuple[int, ...]
    """By seat: 1 is best, equal places are tied."""
    scores: tuple[int, ...]
    """By seat: points for a series of games."""
    reason: str
    """Why the game ended, in one word, such as `forfeit`."""
    actions: int
    """How many actions and verdicts it took."""
    ms: float
    """How long it took, in milliseconds."""
    digest: str | UnsetType = UNSET
    """SHA-256 of what decides a replay, hex; left out in an anonymous tournament."""
    done: int
    """Finished games of the tournament, with those of earlier runs."""
    total: int
    """Those and the open ones, as counted when the open parts began to be played in this run."""


class GameFailed(RunEvent, frozen=True, tag="game_failed"):
    """The referee could not finish a game, through no fault of a bot."""

    key: str
    """Names the game."""
    again: bool
    """Whether this run tries it again."""
    sentence: str
    """What happened; empty in an anonymous tournament."""


class EntrySuspended(RunEvent, frozen=True, tag="entry_suspended"):
    """An entry ended too many games in a row by a verdict, so what follows of its games in a part is left out.

    A resumed run tells it again. An earlier game that another job finishes later may undo it: `standings` has the end.
    """

    label: str
    """Its label."""
    part: int
    """The number of the part."""


class ComparisonState(RunEvent, frozen=True, tag="comparison_state"):
    """How a comparison stands: told when a run of it begins, and after each deal that is whole."""

    deals: int
    """Deals that count: whole ones, in order."""
    counts: tuple[int, ...]
    """These deals by what the new bot got, from nothing to everything in equal steps."""
    elo: float | None
    """The difference that fits the score; null if the games do not determine it."""
    llr: float | None
    """The logarithm of the likelihood ratio; null without a test."""
    lower: float | None
    """The test accepts H0 at this LLR; null without a test."""
    upper: float | None
    """The test accepts H1 at this LLR; null without a test."""
    accepted: Verdict | None
    """`H0` or `H1` once the test has its answer."""


Reason = Literal["complete", "time", "stopped", "failed"]


class RunEnded(RunEvent, frozen=True, tag="run_ended"):
    """A run is over. It is the last line of each run that was not killed."""

    reason: Reason
    """`complete`: no game is open; `time`: the time was up; `stopped`: resumable; `failed`: anything else."""
    exit: int
    """The exit code."""
    sentence: str
    """What `Error:` says on stderr; empty if the run did not fail, and in an anonymous tournament."""


Reader = Callable[[RunEvent], None]


class Events:
    """The events of a run: tells each of them to all who read along, as it happens.

    Args:
        readers: those who read from the beginning.
    """

    def __init__(self, *readers: Reader) -> None:
        self._readers = list(readers)

    def tell(self, event: RunEvent) -> None:
        """Tell an event to everybody; what a reader raises ends that, and the later ones do not hear of it."""
        for reader in tuple(self._readers):
            reader(event)

    @contextmanager
    def read_by(self, reader: Reader) -> Iterator[None]:
        """Let somebody read along inside of this context."""
        self._readers.append(reader)
        try:
            yield
        finally:
            self._readers.remove(reader)
