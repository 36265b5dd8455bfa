"""Creates the parts of a tournament again: the format must ask for the same ones, and only finished ones may close."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tournaments.errors import UnverifiedError
from tournaments.league.contents import Finished, Game, Readmission
from tournaments.league.formats import decide
from tournaments.league.formats.situation import Situation
from tournaments.league.journal import AnyEvent, PartClosed, PartCreated
from tournaments.league.judgement import judge
from tournaments.league.parts import Draft, Entrant, Part
from tournaments.league.suspension import is_left_out, list_suspensions
from tournaments.league.tournament import League, Tournament


class Recreation:
    """Goes through the events of a tournament, and refuses parts that do not follow from what was before.

    Args:
        league: as it was before the first event; it goes on with them.
        name: the tournament.
        finished: all its finished games, in playing order.
        list_games: returns the same games with their results.
    """

    def __init__(
        self, league: League, name: str, finished: Iterable[Finished], list_games: Callable[[], Iterable[Game]]
    ) -> None:
        self._league = league
        self._name = name
        self._finished = list(finished)
        self._list_games = list_games

    def check(self, tournament: str, event: AnyEvent, at: float) -> None:
        """Check an event, and let it happen.

        Raises:
            UnverifiedError: it does not follow from what happened before.
        """
        if tournament == self._name:
            match event:
                case PartCreated(part, suspended):
                    self._check_part(part, suspended)
                case PartClosed(part):
                    self._check_end(part)
        self._league.apply(tournament, event, at)

    def _check_part(self, part: Part, suspended: tuple[str, ...]) -> None:
        tournament = self._league.tournaments[self._name]
        expected = decide(make_situation(tournament, self._finished, suspended, self._list_games))
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

    def _check_end(self, number: int) -> None:
        """Check that no game of a part is open when it closes."""
        tournament = self._league.tournaments[self._name]
        mine = [game for game in self._finished if game.key.part == number]
        judgement = judge(tournament, mine)
        suspended, contest = judgement.by_part.get(number, {}), judgement.contests.get(number)
        done = {game.key for game in mine}
        schedule = tournament.schedules[number]
        for batch in schedule.batches():
            entrants = schedule.part.tables[batch.table].entrants
            if any(map(tournament.excuses, entrants)):
                continue
            for key in batch.games():
                if contest and contest.leaves_out(key.deal):
                    continue
                if key not in done and not is_left_out(schedule.number(key), _list_labels(entrants), suspended):
                    raise UnverifiedError(f"game {key}: is missing, although its part is closed")


def _describe_difference(draft: Draft, expected: Draft) -> str:
    """Name the part that was expected, and what else it says."""
    fields = [name for name in Draft.__struct_fields__ if getattr(draft, name) != getattr(expected, name)]
    return f"{expected.title!r} with other {' and '.join(fields)}"


def _list_labels(entrants: Iterable[Entrant]) -> list[str]:
    return [entrant.label for entrant in entrants]


def make_situation(
    tournament: Tournament,
    finished: Iterable[Finished],
    suspended: Iterable[str],
    list_games: Callable[[], Iterable[Game]],
) -> Situation:
    """Return what the format of a tournament decides by.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order; those of open parts are left out.
        suspended: entries that get no new games.
        list_games: returns its stored games with their results.
    """
    judgement = judge(tournament, (game for game in finished if game.key.part in tournament.closed))
    counted = {game.number for game in judgement.counted}
    return Situation(
        tournament, judgement, frozenset(suspended), lambda: (game for game in list_games() if game.number in counted)
    )
