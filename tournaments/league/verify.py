"""Verifies a tournament: cards, actions, results, digests, and the parts that its journal creates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import astuple, replace

from malice.referee.errors import DataError
from malice.referee.records import Key, compute_tournament_sha
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.contents import Finished, Readmission
from malice.tournaments.league.counting import list_suspensions
from malice.tournaments.league.formats.decisions import (
    Change,
    OpenGame,
    decide,
    find_absent,
    list_changes,
    make_format_input,
)
from malice.tournaments.league.journal import (
    AnyEvent,
    DealsOver,
    PartClosed,
    PartCreated,
    Revisions,
    Seeded,
    StateChanged,
    relabel_event,
)
from malice.tournaments.league.parts import Draft, Part
from malice.tournaments.league.replay_pool import replay_rows
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import ListGames, Tournament, Tournaments, count_games, measure_workload


class PartCheck:
    """Goes through the events of a tournament, and refuses parts that do not follow from what was before.

    Args:
        league: as it was before the first event; it goes on with them.
        name: the tournament.
        finished: all its finished games, in playing order.
        list_games: returns the stored games, with their results, of a tournament of the league.
    """

    def __init__(self, league: Tournaments, name: str, finished: Iterable[Finished], list_games: ListGames) -> None:
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
        event = relabel_event(event, self._league.names)
        if tournament == self._name:
            match event:
                case Seeded(labels):
                    self._check_seeds(labels)
                case PartCreated(part, suspended):
                    self._note_changes(part, event.revisions)
                    with self._excuse(part.number):
                        self._check_part(part, suspended)
                case StateChanged(label, state, over=over):
                    self._check_point(label, state, over)
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

    def _check_point(self, label: str, state: str, over: tuple[DealsOver, ...]) -> None:
        """Check that the deals were played that were over when an organiser decided about an entry."""
        schedules, done = self._league.tournaments[self._name].schedules, {game.key for game in self._finished}
        for part, table, first, end in map(astuple, over):
            for deal in range(first, end):
                for rotation in range(schedules[part].rotations[table] if part < len(schedules) else 1):
                    if (key := Key(part, table, deal, rotation)) not in done:
                        raise UnverifiedError(f"game {key}: is missing, but was over when {label!r} was {state}")

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


NOT_COVERED = (
    "what bots say of themselves (name, version, author, language, command, parameters)",
    "texts of rulesets",
    "time of creation",
    "thinking and CPU times",
    "notes",
    "sentences and stderr of verdicts",
    "isolation and machine",
    "why bots are absent, withdrawn or disqualified",
    "settings that no game shows",
    "games that a run gave up when its time was over",
)
"""What nothing else in a league can contradict, so that whoever writes the journal anew goes unnoticed."""


class VerifiedPart(Struct, frozen=True):
    """The result of the verification of a part."""

    number: int
    title: str
    games: int
    """Games that count."""
    planned: int
    closed: bool
    commit: str
    seed: str | None
    """32 bytes, hex; None until the part is closed."""
    sha: str
    """SHA-256 of the digests of its games in key order."""
    changes: tuple[Change, ...] = ()
    """The rules and formats that have another revision than when it was created; it is not played on by them."""
    unreplayed: int = 0
    """How many of its stored games do not replay by the rules of today; all else about them is checked."""
    differences: tuple[str, ...] = ()
    """What the format of today would do otherwise about it."""


class Verified(Struct, frozen=True):
    """The result of a verification."""

    tournament: str
    games: int
    """Games that count."""
    left_out: int
    """Games that were played ahead of a suspension, or of the end of a test, and count for nobody."""
    planned: int
    complete: bool
    sha: str
    """The tournament SHA: SHA-256 of all digests in key order."""
    parts: tuple[VerifiedPart, ...]
    suspended: tuple[str, ...]
    """Bots whose open games stay unplayed."""
    absent: tuple[str, ...]
    """Bots that could not be built or started, and whose open games wait."""
    overruns: dict[str, int] = {}
    """By label: games that were given up when the time of a run was over, and in which it had used most of the time."""
    not_covered: tuple[str, ...] = NOT_COVERED
    """What was not checked, because nothing else in a league can contradict it."""


def verify_league(store: Store, on_game: Callable[[], None] = lambda: None, jobs: int = 1) -> Verified:
    """Replay every game of the chosen tournament, compare it with what is stored, and create its parts again.

    Args:
        store: the league.
        on_game: told of every game that was examined, in playing order.
        jobs: how many processes replay games, if there are many; 1 for this one alone.

    Raises:
        UnverifiedError: the file is damaged, a record is missing, a seed does not match its commitment, it did not deal
            a game's cards, a game does not replay, or the format asks for other parts; the message names the game's
            key or the place in the file. If the rules or the format have changed since, that is told of the part.
    """
    with store.snapshot():
        return _verify_snapshot(store, on_game, jobs)


def _verify_snapshot(store: Store, on_game: Callable[[], None], jobs: int) -> Verified:
    if problem := store.integrity():
        raise UnverifiedError(f"{store.path}: {problem}")
    store.refuse_strays()
    digests: dict[Key, str] = {}
    unreplayed: Counter[int] = Counter()
    with replay_rows(store, "examine", store.count_stored(), jobs) as replayers:
        for (row, _), why in replayers.replay((row, None) for row in store.list_recorded()):
            unreplayed[row.part] += bool(why)
            digests[Key(row.part, row.table, row.deal, row.rotation)] = row.digest
            on_game()
    tournament, finished = store.tournament(), store.finished()
    check = PartCheck(
        Tournaments(store.league().names), tournament.name, finished, lambda name: store.view(name).stored_games()
    )
    for event_row, event in store.events():
        check.check(event_row.tournament, event, event_row.at)
    counted_games = store.counted_games()
    counted = {game.key: digests[game.key] for game in counted_games.counted}
    return Verified(
        tournament=tournament.name,
        games=len(counted),
        left_out=len(digests) - len(counted),
        planned=measure_workload(tournament, count_games(counted)).games,
        complete=tournament.complete,
        sha=_compute_sha(counted.items()),
        parts=tuple(
            replace(
                _describe_part(store, number, counted),
                changes=check.changes.get(number, ()),
                unreplayed=unreplayed[number],
                differences=tuple(check.differences.get(number, ())),
            )
            for number in range(len(tournament.parts))
        ),
        suspended=tuple(counted_games.suspended),
        absent=tuple(entry.label for entry in store.entries() if entry.waits),
        overruns={entry.label: entry.overruns for entry in store.entries() if entry.overruns},
    )


def _describe_part(store: Store, number: int, counted: dict[Key, str]) -> VerifiedPart:
    tournament = store.tournament()
    part, closed = tournament.parts[number], number in tournament.closed
    mine = [(key, digest) for key, digest in counted.items() if key.part == number]
    return VerifiedPart(
        number=number,
        title=part.title,
        games=len(mine),
        planned=tournament.schedules[number].total,
        closed=closed,
        commit=part.commit,
        seed=tournament.seeds(number).seed.hex() if closed else None,
        sha=_compute_sha(mine),
    )


def _compute_sha(digests: Iterable[tuple[Key, str]]) -> str:
    return compute_tournament_sha(digest for _, digest in sorted(digests))
