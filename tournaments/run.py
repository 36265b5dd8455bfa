"""A tournament from its plan to its last game: said, greeted, played, stored, resumable at any moment."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TextIO

from referee.records import Batch, Record
from tournaments.coordinator import default_jobs, play
from tournaments.errors import Stopped
from tournaments.plan import Plan, greet
from tournaments.progress import Progress, clock
from tournaments.store import Store


def run(store: Store, plan: Plan, jobs: int, out: TextIO, again: Sequence[str]) -> None:
    """Play what is still open of a tournament and complete it.

    Args:
        store: where its league is written.
        plan: the tournament, opened on that store.
        jobs: referee processes; 0 takes as many as there are processors for.
        out: where progress is told.
        again: the words of the command that goes on after a stop.

    Raises:
        BotError: an entry does not greet; nothing was played then.
        Stopped: by a signal, a full disk, or games that could not be played; the message says how to go on.
    """
    jobs = jobs or default_jobs(plan.config.cpus_per_game)
    done = store.keys()
    missing = plan.schedule.missing(done)
    more = [] if missing else plan.more_batches(list(store.games()))
    if missing or more:
        _say_plan(plan, len(done), jobs, out)
        greet(plan)
    if missing:
        _play(store, plan.open_batches(done), missing, plan, jobs, out, again)
        more = plan.more_batches(list(store.games()))
    while more:
        missing = sum(len(batch.games) for batch in more)
        planned = len(store.keys()) + missing
        store.plan(planned)
        _say(f"series are open: {planned} games by now", out)
        _play(store, iter(more), missing, plan, jobs, out, again)
        more = plan.more_batches(list(store.games()))
    if not store.tournament().complete:
        store.complete()


def _play(
    store: Store, batches: Iterator[Batch], missing: int, plan: Plan, jobs: int, out: TextIO, again: Sequence[str]
) -> None:
    done = len(store.keys())
    planned = done + missing
    go_on = f"go on with: {shlex.join(again)}" if again else "nothing of it was kept"
    with Progress(planned, done, out) as progress:

        def on_record(record: Record) -> None:
            store.add(plan.game(record), record)
            progress.game(len(record.faults))

        try:
            outcome = play(batches, min(jobs, missing), plan.config.cpus_per_game, on_record)
        except* sqlite3.Error as errors:
            raise Stopped(f"{store.path}: cannot store a game: {_first(errors)}; {go_on}") from None
        except* OSError as errors:
            raise Stopped(f"cannot go on: {_first(errors)}; {go_on}") from None
    if outcome.stopped:
        finished = len(store.keys())
        raise Stopped(f"stopped by {outcome.stopped.name} after {finished} of {planned} games; {go_on}")
    if outcome.given_up:
        told = "\n".join(f"  {key}: {why}" for key, why in sorted(outcome.given_up.items()))
        raise Stopped(f"{len(outcome.given_up)} games could not be played:\n{told}\n{go_on}")


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what went wrong first, out of the groups that concurrent tasks wrap it in."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _say(text: str, out: TextIO) -> None:
    """Tell something to whoever still listens; a closed terminal ends no tournament."""
    with contextlib.suppress(OSError):
        print(text, file=out, flush=True)


def _say_plan(plan: Plan, done: int, jobs: int, out: TextIO) -> None:
    schedule = plan.schedule
    longest = plan.longest_ms()
    at_most = "no limit by the clocks" if longest is None else f"at most {clock(longest / 1000 / jobs)} by the clocks"
    _say(
        f"{plan.config.name}: {len(plan.players)} entries, {len(schedule.tables)} tables,"
        f" {schedule.deals} deals in every rotation of seats: {schedule.total} games in"
        f" {schedule.batch_count()} batches, {jobs} at a time, {at_most}",
        out,
    )
    if done:
        _say(f"{done} games are played already", out)
    if plan.config.seed is not None:
        _say("the seed is given by hand: who knows it knows every card, bots too", out)
