"""Verifies a tournament: cards, actions, results, digests, and the parts that its journal creates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.digests import compute_tournament_sha
from malice.referee.records import Key
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.extent import count_games, measure_workload
from malice.tournaments.league.league import League
from malice.tournaments.league.recreation import PartCheck
from malice.tournaments.league.replayers import replay_rows
from malice.tournaments.league.revisions import Change
from malice.tournaments.league.store import Store

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
    recreation = PartCheck(League(), tournament.name, finished, lambda name: store.view(name).stored_games())
    for event_row, event in store.events():
        recreation.check(event_row.tournament, event, event_row.at)
    judgement = store.judgement()
    counted = {game.key: digests[game.key] for game in judgement.counted}
    return Verified(
        tournament=tournament.name,
        games=len(counted),
        left_out=len(digests) - len(counted),
        planned=measure_workload(tournament, count_games(digests)).games,
        complete=tournament.complete,
        sha=_compute_sha(counted.items()),
        parts=tuple(
            replace(
                _describe_part(store, number, counted),
                changes=recreation.changes.get(number, ()),
                unreplayed=unreplayed[number],
                differences=tuple(recreation.differences.get(number, ())),
            )
            for number in range(len(tournament.parts))
        ),
        suspended=tuple(judgement.suspended),
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
