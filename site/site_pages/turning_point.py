"""Games worth opening: where the lead of one changed for the last time, and the most dramatic of the latest."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import FamilyError, RecordError
from malice.referee.records import Key, Record
from malice.referee.replay import VOID, find_rules, replay_asks
from malice.site_pages.contents import ReadRecords
from malice.tournaments.league.contents import Contents, GameSummary
from malice.tournaments.league.race import Turn, find_leads, find_turn, list_left
from malice.tournaments.league.standings import Standings

RECENT = 20
"""The latest games of two among which the longest is chosen."""


class FrontGame(Struct, frozen=True):
    """A game to open from the front page."""

    game: GameSummary
    turn: Turn | None
    """None if the game does not tell who is ahead."""
    last: int
    """The last action, as replays count them."""
    mirror: tuple[int, int] | None = None
    """Where the same deal, swapped, had another winner: its rotation, and the first action that differs."""

    @property
    def action(self) -> int:
        """The action at which it opens: where it turned, but never its last, whose result would cover the table."""
        return min(self.turn.action if self.turn else self.last, max(self.last - 1, 0))

    @property
    def place(self) -> str:
        """The address of that action in replays."""
        return f"{self.game.key}/{self.action}"


def find_front_game(
    source: Contents, read_records: ReadRecords, all_standings: Sequence[Standings]
) -> FrontGame | None:
    """The game to open from the front page; None if the leader of the largest ranking has no game to show.

    It is the longest of the latest games of the leader and the best that it met, as far as one of them won by
    play. This plays one game again.
    """
    best_first = sorted(all_standings, key=lambda each: -each.games)
    game = _choose_game(source, best_first[0]) if best_first else None
    if game is None:
        return None
    (record,) = read_records([game.key])
    try:
        return replace(open_game(game, record), mirror=_find_upset(source, read_records, game, record))
    except (FamilyError, RecordError):
        return None  # its own replay page tells what is wrong with it


def _find_upset(
    source: Contents, read_records: ReadRecords, game: GameSummary, record: Record
) -> tuple[int, int] | None:
    """Where the other winner of the same deal, swapped, played otherwise; None if there is none."""
    if len(game.labels) != 2:
        return None
    deal = (game.key.part, game.key.table, game.key.deal)
    for other in source.games:
        if (other.key.part, other.key.table, other.key.deal) != deal or other.key == game.key or any(other.verdicts):
            continue
        if other.places != game.places or other.labels == game.labels:
            continue  # the other bot has the winning cards, and wins where their seat wins again
        (swapped,) = read_records([other.key])
        pairs = zip(record.actions, swapped.actions, strict=False)
        return other.key.rotation, next((place for place, (one, two) in enumerate(pairs) if one != two), 0)
    return None


def _choose_game(source: Contents, standings: Standings) -> GameSummary | None:
    ranked = [row.label for row in standings.list_tables()[0].active if row.rank is not None]
    if len(ranked) < 2:
        return None
    leader, *others = ranked
    numbers = {entry.label: entry.version.number for entry in source.entries}
    recent: defaultdict[str, deque[GameSummary]] = defaultdict(lambda: deque(maxlen=RECENT))
    for game in source.games:
        if leader in game.labels and (game.ruleset, len(game.labels)) == (standings.ruleset, standings.seats):
            for other in _list_decided(game, leader, numbers):
                recent[other].append(game)
    opponent = next((other for other in others if other in recent), None)
    return None if opponent is None else max(recent[opponent], key=lambda game: (game.actions, game.number))


def _list_decided(game: GameSummary, leader: str, numbers: Mapping[str, int]) -> list[str]:
    """Whom the leader beat or lost to by play, both of them in the versions that play."""
    if any(game.verdicts) or game.reason == VOID:
        return []
    seats = zip(game.labels, game.versions, game.places, strict=True)
    places = {label: place for label, version, place in seats if numbers.get(label) == version}
    own = places.get(leader)
    return [] if own is None else [label for label, place in places.items() if place != own]


def open_game(game: GameSummary, record: Record) -> FrontGame:
    """Play a game again to find where it turned.

    Raises:
        FamilyError, RecordError: it does not replay.
    """
    asks = list(replay_asks(record))
    turn = find_turn(find_leads(list_left(record, [ask.after for ask in asks])), game.teams)
    if turn and len(asks) > 1:
        turn = replace(turn, action=asks[turn.action + 1].first)
    return FrontGame(game, turn, asks[-1].first)


DRAMA_GAMES = 12
"""The latest games to choose from: a bounded number, since each of them is played again, once."""


class Dramas:
    """How dramatic games were; computed once for each game, since that plays it again."""

    def __init__(self) -> None:
        self._known: dict[Key, float] = {}

    def find(self, source: Contents, read_records: ReadRecords) -> Key | None:
        """The most dramatic of the latest games that were decided by play; None if none was."""
        decided = (game.key for game in source.games if not any(game.verdicts) and game.reason != VOID)
        latest = deque(decided, maxlen=DRAMA_GAMES)
        missing = [key for key in latest if key not in self._known]
        for key, record in zip(missing, read_records(missing), strict=True):
            self._known[key] = _measure(record)
        self._known = {key: self._known[key] for key in latest}
        return max(latest, key=lambda key: self._known[key], default=None)


def _measure(record: Record) -> float:
    try:
        race = list_left(record, [ask.after for ask in replay_asks(record)])
    except (FamilyError, RecordError):
        return 0  # its own replay page tells what is wrong with it
    return measure_drama(race, find_rules(record).teams) if race else 0


def measure_drama(race: Sequence[Sequence[int]], teams: Sequence[int]) -> float:
    """How dramatic a race was: each change of the lead counts by how late it came, and a close end up to 1.

    Args:
        race: by seat how much was left, after the deal and then after each action.
        teams: by seat.
    """
    sides = [{teams[seat] for seat in lead} for lead in find_leads(race)]
    alone = [(place, side) for place, side in enumerate(sides) if len(side) == 1]
    changes = [place for (_, before), (place, after) in pairwise(alone) if before != after]
    ends = sorted(dict(zip(teams, race[-1], strict=True)).values())
    close = 1 / (1 + ends[1] - ends[0]) if len(ends) > 1 else 0
    return sum(place / len(race) for place in changes) + close
