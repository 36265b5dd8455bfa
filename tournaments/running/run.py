"""A tournament from its plan to its last game: said, greeted, played, stored, resumable at any moment."""

from __future__ import annotations

import contextlib
import io
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TextIO

from referee.records import Batch, Key, Record
from tournaments.errors import DamagedLeague, LeagueError, LockedLeague, Stopped
from tournaments.league.contents import Game
from tournaments.league.draw import measure_spread
from tournaments.league.store import Store
from tournaments.league.suspension import (
    Suspensions,
    find_idle_readmissions,
    find_suspended_entries,
    is_left_out,
)
from tournaments.running.coordinator import Outcome, default_jobs, play_batches
from tournaments.running.isolation import shortcomings
from tournaments.running.leftovers import ProcessLedger, end_leftovers
from tournaments.running.plan import Plan, greet_entries
from tournaments.running.progress import Progress, format_duration
from tournaments.sanitizer import sanitize

NAMED = 20
"""Games that are named at the end of a run that could not play them."""


class Playing(Protocol):
    """A way to play batches, as `coordinator.play` does."""

    def __call__(
        self,
        batches: Iterator[Batch],
        jobs: int,
        cpus_per_game: int,
        on_record: Callable[[Record], None],
        running: ProcessLedger,
        wanted: Callable[[Key], bool],
        /,
    ) -> Outcome:
        """Play all batches and say how it went."""


def run_tournament(
    store: Store, plan: Plan, jobs: int, out: TextIO, again: Sequence[str], playing: Playing | None = None
) -> None:
    """Play what is still open of a tournament and complete it.

    Args:
        store: where its league is written.
        plan: the tournament, opened on that store.
        jobs: referee processes; 0 takes as many as there are processors for.
        out: where progress is told.
        again: the words of the command that goes on after a stop.
        playing: how batches are played, with a face of its own; by default in referee processes, with a bar.

    Raises:
        BotError: an entry does not greet; nothing was played then.
        Stopped: by a signal, a full disk, or games that could not be played; the message says how to go on.
    """
    if ended := end_leftovers(_account(store)):
        _print(f"an earlier run was killed: ended {ended} groups of processes that it left", out)
    jobs = jobs or default_jobs(plan.config.cpus_per_game)
    suspensions = Suspensions(store.games(), plan.config.suspend_after, store.readmissions())
    try:
        _play_all(store, plan, suspensions, jobs, out, again, playing)
    finally:
        for line in describe_suspensions(suspensions.suspended, plan.config.suspend_after, again):
            _print(line, out)
    if not store.tournament().complete:
        struck = {game.number for game in store.games() if _is_left_out(game, suspensions)}
        store.complete(struck, find_idle_readmissions(store, struck))


def readmit(store: Store, labels: Iterable[str], out: TextIO) -> None:
    """Let suspended bots play again; say so if the cards of their games are no secret any more.

    Raises:
        LeagueError: one of them is not suspended.
    """
    suspended = find_suspended_entries(store)
    told = store.tournament().seed is not None
    for label in labels:
        if label not in suspended:
            known = f"suspended: {', '.join(sorted(suspended))}" if suspended else "nobody is"
            raise LeagueError(f"{label}: is not suspended; {known}")
        store.readmit(label, suspended[label])
        if told:
            print(f"{sanitize(label)} plays again; the seed was told already: who read it knows every card", file=out)


def describe_suspensions(suspended: Iterable[str], after: int, again: Sequence[str]) -> Iterator[str]:
    """Say who plays no more, and how to let it in again."""
    for label in suspended:
        command = shlex.join([*(again or ("malice", "run", "TOURNAMENT.toml")), "--readmit", label])
        yield (
            f"{sanitize(label)} is suspended, it ended {after} games in a row by a verdict and plays no more;"
            f" let it in again with: {sanitize(command)}"
        )


def _play_all(
    store: Store,
    plan: Plan,
    suspensions: Suspensions,
    jobs: int,
    out: TextIO,
    again: Sequence[str],
    playing: Playing | None,
) -> None:
    """Play until nothing is open: what a suspension leaves out is known for sure only when all before it is played."""

    def wanted(key: Key) -> bool:
        return not is_left_out(plan.schedule.number(key), plan.labels(key), suspensions.suspended)

    greeted = False
    while True:
        done = store.keys()
        more = []
        if open_games := next(plan.open_batches(done, wanted), None) is not None:
            batches, planned = plan.open_batches(done, wanted), plan.schedule.total
        else:
            more = plan.more_batches(list(store.games()), suspensions.suspended)
            batches, planned = iter(more), len(done) + sum(len(batch.games) for batch in more)
        if not (open_games or more):
            return
        if not greeted:
            _say_plan(plan, len(done), jobs, out)
            greet_entries(plan, suspensions.suspended)
            greeted = True
        if more:
            store.plan(planned)
            _print(f"series are open: {planned} games by now", out)
        _play(store, batches, planned, plan, suspensions, wanted, jobs, out, again, playing)


def _is_left_out(game: Game, suspensions: Suspensions) -> bool:
    return is_left_out(game.number, game.labels, suspensions.suspended)


def _play(
    store: Store,
    batches: Iterator[Batch],
    planned: int,
    plan: Plan,
    suspensions: Suspensions,
    wanted: Callable[[Key], bool],
    jobs: int,
    out: TextIO,
    again: Sequence[str],
    playing: Playing | None,
) -> None:
    done = len(store.keys())
    go_on = f"go on with: {shlex.join(again)}" if again else "nothing of it was kept"
    with Progress(planned, done, io.StringIO() if playing else out) as progress:

        def on_record(record: Record) -> None:
            game = plan.game(record)
            store.add(game, record)
            suspensions.add(game)
            progress.game(len(record.faults))

        running = ProcessLedger(_account(store))
        try:
            at_once = max(1, min(jobs, planned - done))
            outcome = (playing or play_batches)(batches, at_once, plan.config.cpus_per_game, on_record, running, wanted)
        except* sqlite3.Error as errors:
            raise Stopped(f"{store.path}: cannot store a game: {_find_first_error(errors)}; {go_on}") from None
        except* DamagedLeague as errors:
            raise _find_first_error(errors) from None
        except* LockedLeague as errors:
            raise Stopped(f"{_find_first_error(errors)}; {go_on}") from None
        except* OSError as errors:
            raise Stopped(f"cannot go on: {_find_first_error(errors)}; {go_on}") from None
        finally:
            running.close()
    if outcome.stopped:
        finished = len(store.keys())
        raise Stopped(f"stopped by {outcome.stopped} after {finished} of {planned} games; {go_on}")
    if outcome.given_up:
        told = [f"  {key}: {why}" for key, why in sorted(outcome.given_up.items())]
        told[NAMED:] = [f"  and {len(told) - NAMED} more"] if len(told) > NAMED else []
        whole = "\n".join(told)
        raise Stopped(f"{len(outcome.given_up)} games could not be played:\n{whole}\n{go_on}")


def _account(store: Store) -> Path:
    return store.path.with_name(f"{store.path.name}-running")


def _find_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what went wrong first, out of the groups that concurrent tasks wrap it in."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _print(text: str, out: TextIO) -> None:
    """Tell something to whoever still listens; a closed terminal ends no tournament."""
    with contextlib.suppress(OSError):
        print(text, file=out, flush=True)


def _say_plan(plan: Plan, done: int, jobs: int, out: TextIO) -> None:
    schedule = plan.schedule
    longest = plan.longest_ms()
    at_most = (
        "no limit by the clocks"
        if longest is None
        else f"at most {format_duration(longest / 1000 / jobs)} by the clocks"
    )
    _print(
        f"{plan.config.name}: {len(plan.players)} entries, {len(schedule.tables)} tables,"
        f" {schedule.deals} deals in every rotation of seats: {schedule.total} games in"
        f" {schedule.batch_count()} batches, {jobs} at a time, {at_most}",
        out,
    )
    for line in (*_drawn_tables(plan), *_describe_twins(plan)):
        _print(line, out)
    if done:
        _print(f"{done} games are played already", out)
    for line in shortcomings(plan.config.isolation, plan.players):
        _print(line, out)
    if plan.config.seed is not None:
        _print("the seed is given by hand: who knows it knows every card, bots too", out)


def _drawn_tables(plan: Plan) -> Iterator[str]:
    """Say how evenly drawn tables let the entries meet, and what it takes where they leave some apart."""
    for name in plan.teams if plan.config.tables else ():
        tables = [table.entries for table in plan.schedule.tables if table.ruleset.name == name]
        spread = measure_spread(tables, len(plan.players))
        often = f"{spread.fewest} to {spread.most}" if spread.fewest < spread.most else f"{spread.most}"
        yield f"{sanitize(name)}: any two entries meet at {often} of {len(tables)} drawn tables"
        if spread.groups > 1:
            enough = -(-(len(plan.players) - 1) // (len(tables[0]) - 1))
            yield (
                f"{sanitize(name)}: the tables leave {spread.groups} groups that never meet and cannot be compared;"
                f" tables = {enough} connects all"
            )


def _describe_twins(plan: Plan) -> Iterator[str]:
    """Say which entry is which where bots of one name are told apart by a number."""
    words = [entry if isinstance(entry, str) else entry.bot for entry in plan.config.entries]
    names = [player.label.partition("#")[0] for player in plan.players]
    for name, player, word in zip(names, plan.players, words, strict=True):
        if len({other for other, its in zip(words, names, strict=True) if its == name}) > 1:
            yield f"{sanitize(player.label)} is {sanitize(word)}"
