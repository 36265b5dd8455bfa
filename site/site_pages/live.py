"""What pages tell of the moment: the one file that depends on the time of the rendering, so that no page does."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from malice.site_pages.pages import GameCount
from malice.site_pages.text import format_count
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Contents, Entry
from malice.tournaments.league.formats import load_format
from malice.tournaments.league.standings import State
from malice.tournaments.running.progress import format_duration

NAME = "data/live.js"
WINDOW_S = 60.0
"""The speed is that of the last minute."""


class Live(Struct, frozen=True):
    """What the pages say of the moment."""

    updated: float | None = None
    """When the league was read, in seconds since 1970; None if pages must not depend on the time."""
    running: bool = False
    """Whether it is played, so that more will come."""
    words: tuple[str, ...] = ()
    """How far it is, how fast, and how long it will take."""


class LiveFile(Live, frozen=True, kw_only=True):
    """The content of the file."""

    stamp: str
    """The state of the league that the pages show; each of them carries it, too."""


NEVER = Live()
MakeLive = Callable[[GameCount], Live]
"""Returns what pages say of the moment, given how many games there are."""


class Speed:
    """How many games are finished in a second, as far as looks at a league tell."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, int]] = deque()

    def add(self, at: float, played: int) -> None:
        """Add a look: its time in seconds, and the number of finished games."""
        # The last look before the window begins stays, since the next one may be the only other.
        while len(self._looks) > 1 and self._looks[1][0] <= at - WINDOW_S:
            self._looks.popleft()
        self._looks.append((at, played))

    def measure(self) -> float | None:
        """Games per second over the last minute; None after a single look."""
        (begin, before), (end, after) = self._looks[0], self._looks[-1]
        return max(0, after - before) / (end - begin) if end > begin else None


def list_live_lines(games: GameCount, config: Config, rate: float | None) -> tuple[str, ...]:
    """Say how far a tournament is that is played now, how fast it is, and how long it will take.

    Args:
        games: how many were played, and are planned.
        config: its configuration.
        rate: games per second; None if it is not known yet.
    """
    words = [f"{games.played:,} of {format_count(games.planned, 'game')}"]
    if rate is not None:
        words.append(f"{rate:.1f} games/s")
    if rate and games.planned > games.played:
        left = format_duration((games.planned - games.played) / rate)
        words.append(f"{'at most' if config.sprt else 'about'} {left} left{_name_round(config)}")
    return tuple(words)


def _name_round(config: Config) -> str:
    """Say what of a tournament is planned so far, if that is not all of it."""
    return "" if load_format(config.format).grows else " in this round"


def make_stamp(source: Contents, index: Mapping[str, object], states: Mapping[str, State]) -> str:
    """A short digest of the state of a league, from what is finished and who plays.

    Args:
        source: the league.
        index: the index of its games.
        states: by label.
    """
    tournament = source.tournament
    parts = len(tournament.parts), sorted(tournament.closed)
    content = msgspec.json.encode((index, parts, states, [_list_facts(entry) for entry in source.entries]))
    return hashlib.sha256(content).hexdigest()[:16]


FACTS = (
    *("label", "hash", "name", "version", "author", "language", "command", "rulesets", "absence", "number", "state"),
    *("reason", "waits", "parameters", "overruns"),
)
"""What a stamp covers of an entry and its version, in an order that stays, so that no page changes without need."""


def _list_facts(entry: Entry) -> dict[str, object]:
    facts = asdict(entry) | asdict(entry.version) | {"label": entry.label, "name": entry.version.name or entry.label}
    return {name: facts[name] for name in FACTS}


def make_live_script(stamp: str, live: Live) -> bytes:
    """Write what `live.js` receives."""
    content = LiveFile(stamp=stamp, updated=live.updated, running=live.running, words=live.words)
    return b"malice.tell(" + msgspec.json.encode(content) + b");\n"
