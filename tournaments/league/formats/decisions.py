"""What formats share: what they base a decision on, what they decide, who was absent, and the matches of rounds.

A part keeps the revisions of its format and of its rules, so that one that others decided about is known.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct

from malice.referee.errors import DataError
from malice.referee.families import load_family
from malice.referee.records import Key
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config, find_seats
from malice.tournaments.league.contents import Finished, GameSummary, TablePlace
from malice.tournaments.league.counting import CountedGames, find_counted_games, is_left_out, split_parts
from malice.tournaments.league.formats import find_owner, load_format
from malice.tournaments.league.journal import PartCreated, Revisions
from malice.tournaments.league.parts import Draft, Schedule
from malice.tournaments.league.tournament import Tournament


class Wait:
    """The next part, if there is one, depends on games that are still open."""


class Done:
    """No part is missing."""


Decision = Draft | Wait | Done


class FormatInput(NamedTuple):
    """What a format bases its decisions on.

    Open parts still change, so it has only the results of closed ones: the same parts follow, whenever one asks.
    """

    tournament: Tournament
    counted_games: CountedGames
    """Of the games of closed parts."""
    suspended: Collection[str]
    """Entries that get no new games until they are readmitted."""
    list_games: Callable[[], Iterable[GameSummary]]
    """Returns the games of closed parts that count, in playing order."""


def make_format_input(
    tournament: Tournament,
    finished: Iterable[Finished],
    suspended: Iterable[str],
    list_games: Callable[[], Iterable[GameSummary]],
) -> FormatInput:
    """Gather what the format of a tournament bases its decisions on.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order; those of open parts are ignored.
        suspended: entries that get no new games.
        list_games: returns its stored games with their results.
    """
    closed = frozenset(tournament.closed)
    mine = (game for game in finished if game.key.part in closed) if closed else ()
    counted_games = find_counted_games(tournament, mine)
    left_out = counted_games.left_out

    def list_counted() -> Iterable[GameSummary]:
        return (game for game in list_games() if game.key.part in closed and game.number not in left_out)

    return FormatInput(tournament, counted_games, frozenset(suspended), list_counted)


def decide(format_input: FormatInput) -> Decision:
    """Decide the next part of a tournament, by its format; raise DataError if its tables cannot be formed."""
    return format_input.tournament.format.decide(format_input)


def refuse_misfit(config: Config, labels: Sequence[str], rulesets: Sequence[Ruleset]) -> None:
    """Refuse a file that its format cannot play.

    Raises:
        DataError: it cannot; the message names the field.
    """
    format = load_format(config.format)
    plain = Config(entries=())
    for field in Config.__struct_fields__:
        if getattr(config, field) != getattr(plain, field) and (owner := find_owner(field, config.format)):
            raise DataError(f'{field}: belongs to format = "{owner}", got format = "{config.format}"')
    if format.pairs:
        for ruleset in rulesets:
            if (seats := find_seats(config, ruleset)) != 2:
                raise DataError(
                    where=f'format = "{config.format}"',
                    expected="tables of two seats",
                    got=f"{seats} under {ruleset.name}",
                )
    if not format.grows and len(rulesets) > 1:
        raise DataError(where=f'format = "{config.format}"', expected="one ruleset", got=len(rulesets))
    format.refuse(config, labels)


def make_table(format_input: FormatInput) -> tuple[TablePlace, ...]:
    """The table of a format after its closed parts, the best first; nothing for formats without one."""
    return format_input.tournament.format.rank(format_input)


def make_table_before(format_input: FormatInput, part: int) -> tuple[TablePlace, ...]:
    """The table as it was before this part and all later ones; nothing if no part had closed by then."""
    earlier = copy(format_input.tournament)
    earlier.closed = {number for number in earlier.closed if number < part}
    return make_table(format_input._replace(tournament=earlier)) if earlier.closed else ()


class OpenGame(Exception):
    """A game of a part is open, and nobody is to blame for that."""

    def __init__(self, key: Key) -> None:
        super().__init__(str(key))
        self.key = key


def find_absent(tournament: Tournament, number: int, finished: Iterable[Finished]) -> tuple[str, ...]:
    """The labels of those who left games in a part unplayed, sorted.

    They left, or another version of them plays, or, in a format of rounds, their bot cannot be started. Suspended
    entries are not among them.

    Args:
        tournament: the tournament.
        number: the part.
        finished: the finished games of the tournament.

    Raises:
        OpenGame: a game is open.
    """
    schedule = tournament.schedules[number]
    mine = split_parts(tournament, finished).get(number, ())
    counted_games = find_counted_games(tournament, mine)
    if (test := counted_games.tests.get(number)) and test.end is not None:
        return ()  # its test has an answer
    suspended = counted_games.by_part.get(number, {})
    played = Counter(game.key.table for game in mine)
    waiting = set() if tournament.format.grows else tournament.waiting()
    absent: set[str] = set()
    done = array("q", sorted(game.number for game in mine))
    for place, table in enumerate(schedule.part.tables):
        if played[place] == schedule.deals * schedule.rotations[place]:
            continue
        away = {each.label for each in table.versions if tournament.excuses(each) or each.label in waiting}
        if not away and (key := _find_open(schedule, place, done, suspended)):
            raise OpenGame(key)
        absent |= away
    return tuple(sorted(absent))


def _find_open(schedule: Schedule, table: int, done: Sequence[int], suspended: dict[str, int]) -> Key | None:
    """An open game at a table; None if a suspension leaves out all that were not played.

    Args:
        schedule: the part.
        table: the table.
        done: the numbers of the finished games of the part, in order.
        suspended: whom it suspends.
    """
    labels = schedule.labels[table]
    for deal in range(schedule.deals):
        for rotation in range(schedule.rotations[table]):
            key = Key(schedule.part.number, table, deal, rotation)
            at = bisect_left(done, number := schedule.number(key))
            is_done = at < len(done) and done[at] == number
            if not is_done and not is_left_out(number, labels, suspended):
                return key
    return None


HALF = Fraction(1, 2)
MATCH_DEALS = 10
"""The default deals of a match in a format of rounds."""
Place = tuple[int, int]
"""A part, and a table in it."""


class Match(Struct, frozen=True):
    """The result of two entries at a table of a closed part."""

    labels: tuple[str, str]
    """In the order of the table."""
    score: tuple[Fraction, Fraction]
    """Games won, and half of those drawn, in the deals that count."""
    points: tuple[Fraction, Fraction]
    """One for the winner, a half each in a draw; an absent entry loses, and if both are absent, both do."""
    complete: bool
    """Whether all its games were played; if not, absence decided it."""

    @property
    def winner(self) -> str | None:
        """The label of the winner; None if there is none."""
        one, other = self.points
        return None if one == other else self.labels[one < other]


def format_points(points: Fraction) -> str:
    """Points with a half where there is one: 0, ½, 1, 2½."""
    whole, half = divmod(points, 1)
    return f"{whole or '' if half else whole}{'½' if half else ''}"


def list_matches(format_input: FormatInput) -> dict[Place, Match]:
    """The matches of all closed parts, by part and table."""
    tournament, counted_games = format_input.tournament, format_input.counted_games
    scores = _add_up(format_input.list_games())
    played = counted_games.count_deals(tournament.closed)
    matches = {}
    for part in tournament.parts:
        if part.number not in tournament.closed:
            continue
        away = tournament.absent[part.number] | set(counted_games.by_part.get(part.number, ()))
        for number, table in enumerate(part.tables):
            one, other = (version.label for version in table.versions)
            score = tuple(scores[part.number, number, label] for label in (one, other))
            complete = played[part.number, number] == part.deals
            points = _compute_points(score) if complete else (Fraction(one not in away), Fraction(other not in away))
            matches[part.number, number] = Match((one, other), (score[0], score[1]), points, complete)
    return matches


def _add_up(games: Iterable[GameSummary]) -> dict[tuple[int, int, str], Fraction]:
    scores: dict[tuple[int, int, str], Fraction] = defaultdict(Fraction)
    for game in games:
        shared = min(game.places) == max(game.places)
        for label, place in zip(game.labels, game.places, strict=True):
            scores[game.key.part, game.key.table, label] += HALF if shared else Fraction(place == 1)
    return scores


def _compute_points(score: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
    one, other = score
    if one == other:
        return HALF, HALF
    return Fraction(one > other), Fraction(other > one)


class Change(Struct, frozen=True):
    """Something that decides about a part, and has another revision than when the part was created."""

    kind: str
    """`format` or `rules`."""
    name: str
    """Of the format, or of the game."""
    then: int
    now: int


def create_part(tournament: Tournament, draft: Draft, first: int, suspended: tuple[str, ...] = ()) -> PartCreated:
    """Create a part by today's revisions.

    Args:
        tournament: the one whose part it is.
        draft: what its format asks for.
        first: the number of its first game.
        suspended: the entries that it leaves out.
    """
    return PartCreated(tournament.make_part(draft, first), suspended, revisions=_name_revisions(tournament, draft))


def _name_revisions(tournament: Tournament, draft: Draft) -> Revisions:
    """Name today's revisions that decide about a part."""
    games = sorted({tournament.rulesets[table.ruleset].family for table in draft.tables})
    return Revisions(tournament.format.revision, {game: load_family(game).revision for game in games})


def list_changes(tournament: Tournament, revisions: Revisions, draft: Draft) -> tuple[Change, ...]:
    """List what has changed since a part was created by these revisions."""
    today = _name_revisions(tournament, draft)
    found = [Change("format", tournament.config.format, revisions.format, today.format)]
    found += [Change("rules", game, revisions.families.get(game, 1), now) for game, now in today.families.items()]
    return tuple(change for change in found if change.then != change.now)


def describe_changes(changes: Sequence[Change]) -> str:
    """Say which revisions there were, and which there are today."""
    names = {"format": "the format", "rules": "the rules of"}
    return ", ".join(
        f"{names[each.kind]} {each.name!r} (revision {each.then} then, {each.now} today)" for each in changes
    )
