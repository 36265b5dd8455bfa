"""Creates the parts of a tournament again: the format must ask for the same ones, and only finished ones may close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from malice.referee.errors import DataError
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.closing import OpenGame, find_absent
from malice.tournaments.league.contents import Finished, Readmission
from malice.tournaments.league.formats import decide
from malice.tournaments.league.formats.situation import make_format_input
from malice.tournaments.league.journal import AnyEvent, PartClosed, PartCreated, Revisions, Seeded
from malice.tournaments.league.league import League, ListGames
from malice.tournaments.league.parts import Draft, Part
from malice.tournaments.league.revisions import Change, list_changes
from malice.tournaments.league.suspension import list_suspensions
from malice.tournaments.league.tournament import Tournament


class PartCheck:
    """Goes through the events of a tournament, and refuses parts that do not follow from what was before.

    Args:
        league: as it was before the first event; it goes on with them.
        name: the tournament.
        finished: all its finished games, in playing order.
        list_games: returns the stored games, with their results, of a tournament of the league.
    """

    def __init__(self, league: League, name: str, finished: Iterable[Finished], list_games: ListGames) -> None:
        self._league = league
        self._name = name
        self._finished = list(finished)
        self._list_games = list_games
        self.changes: dict[int, tuple[Change, ...]] = {}
        """By part, what decides about it that has another revision today; only parts of which something has."""
        self.differences: dict[int, list[str]] = {}
        """By part of that kind, what today's revision would do otherwise."""

    def check(self, tournament: str, event: AnyEvent, at: float) -> None:
        """Check an event, and let it happen.

        Raises:
            UnverifiedError: it does not follow from what happened before, and today's revisions have created its part.
        """
        if tournament == self._name:
            match event:
                case Seeded(labels):
                    self._check_seeds(labels)
                case PartCreated(part, suspended):
                    self._note_changes(part, event.revisions)
                    with self._excuse(part.number):
                        self._check_part(part, suspended)
                case PartClosed(number, absent):
                    with self._excuse(number):
                        self._check_end(number, absent)
        self._league.apply(tournament, event, at)

    def _note_changes(self, part: Part, revisions: Revisions) -> None:
        if changes := list_changes(self._league.tournaments[self._name], revisions, part):
            self.changes[part.number] = changes

    @contextmanager
    def _excuse(self, part: int) -> Iterator[None]:
        """Note what is wrong with a part whose rules or format have changed, and go on."""
        try:
            yield
        except (UnverifiedError, DataError) as error:
            if part not in self.changes:
                raise
            self.differences.setdefault(part, []).append(str(error))

    def _check_seeds(self, labels: tuple[str, ...]) -> None:
        from malice.tournaments.league.seeding import rank_by_rating  # it needs numpy, and few tournaments need it

        expected = rank_by_rating(self._league, self._name, self._list_games)
        if labels != expected:
            asked = ", ".join(expected) or "none"
            raise UnverifiedError(f"seeds: the ratings ask for {asked}, the journal says {', '.join(labels)}")

    def _check_part(self, part: Part, suspended: tuple[str, ...]) -> None:
        tournament = self._league.tournaments[self._name]
        expected = decide(
            make_format_input(tournament, self._finished, suspended, lambda: self._list_games(self._name))
        )
        draft = Draft(**{name: getattr(part, name) for name in Draft.__struct_fields__})
        if draft != expected:
            asked = _describe_difference(draft, expected) if isinstance(expected, Draft) else "no part"
            raise UnverifiedError(f"part {part.number} ({part.title!r}): the format asks for {asked} there")
        for label in suspended:
            if not any(label == known for known, _ in self._list_suspensions(tournament)):
                raise UnverifiedError(f"part {part.number}: leaves out {label!r}, which no game suspended")

    def _list_suspensions(self, tournament: Tournament) -> Iterator[Readmission]:
        for part in tournament.parts:
            games = (game for game in self._finished if game.key.part == part.number)
            yield from list_suspensions(games, tournament.config.suspend_after, tournament.lifted)

    def _check_end(self, number: int, absent: tuple[str, ...]) -> None:
        """Check that no game of a part is open when it closes, and who left games in it unplayed."""
        try:
            found = find_absent(self._league.tournaments[self._name], number, self._finished)
        except OpenGame as open:
            raise UnverifiedError(f"game {open.key}: is missing, although its part is closed") from None
        if found != absent:
            raise UnverifiedError(
                f"part {number}: expected that {', '.join(found) or 'nobody'} left games unplayed,"
                f" got {', '.join(absent) or 'nobody'}"
            )


def _describe_difference(draft: Draft, expected: Draft) -> str:
    """Name the part that was expected, and what else it says."""
    fields = [name for name in Draft.__struct_fields__ if getattr(draft, name) != getattr(expected, name)]
    return f"{expected.title!r} with other {' and '.join(fields)}"
