"""A tournament from its plan to its last game: said, greeted, played, stored, resumable at any moment."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from referee.records import Batch, Record
from tournaments.coordinator import default_jobs, play
from tournaments.errors import Stopped
from tournaments.isolation import short_of
from tournaments.plan import Plan, greet
from tournaments.progress import Progress, clock
from tournaments.running import Running, end_leftovers
from tournaments.store import Store

NAMED = 20
"""Games that are named at the end of a run that could not play them."""


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
    if ended := end_leftovers(_account(store)):
        print(f"an earlier run was killed: ended {ended} groups of processes that it left", file=out)
    jobs = jobs or default_jobs(plan.config.cpus_per_game)
    done = store.keys()
    open_games = plan.schedule.total - len(done)
    more = plan.more_batches(list(store.games())) if open_games <= 0 else []
    if open_games > 0 or more:
        _say_plan(plan, len(done), jobs, out)
        greet(plan)
    if open_games > 0:
        _play(store, plan.open_batches(done), plan.schedule.total, plan, jobs, out, again)
        more = plan.more_batches(list(store.games()))
    while more:
        planned = len(store.keys()) + sum(len(batch.games) for batch in more)
        store.plan(planned)
        print(f"series are open: {planned} games by now", file=out)
        _play(store, iter(more), planned, plan, jobs, out, again)
        more = plan.more_batches(list(store.games()))
    if not store.tournament().complete:
        store.complete()
    store.finish_writing()


def _play(
    store: Store, batches: Iterator[Batch], planned: int, plan: Plan, jobs: int, out: TextIO, again: Sequence[str]
) -> None:
    go_on = f"go on with: {shlex.join(again)}" if again else "nothing of it was kept"
    with Progress(planned, len(store.keys()), out) as progress:

        def on_record(record: Record) -> None:
            store.add(plan.game(record), record)
            progress.game(len(record.faults))

        running = Running(_account(store))
        try:
            outcome = play(batches, jobs, plan.config.cpus_per_game, on_record, running)
        except* sqlite3.Error as errors:
            raise Stopped(f"{store.path}: cannot store a game: {errors.exceptions[0]}; {go_on}") from None
        finally:
            running.close()
    if outcome.stopped:
        finished = len(store.keys())
        raise Stopped(f"stopped by {outcome.stopped.name} after {finished} of {planned} games; {go_on}")
    if outcome.given_up:
        told = [f"  {key}: {why}" for key, why in sorted(outcome.given_up.items())]
        told[NAMED:] = [f"  and {len(told) - NAMED} more"] if len(told) > NAMED else []
        whole = "\n".join(told)
        raise Stopped(f"{len(outcome.given_up)} games could not be played:\n{whole}\n{go_on}")


def _account(store: Store) -> Path:
    return store.path.with_name(f"{store.path.name}-running")


def _say_plan(plan: Plan, done: int, jobs: int, out: TextIO) -> None:
    schedule = plan.schedule
    longest = plan.longest_ms()
    at_most = "no limit by the clocks" if longest is None else f"at most {clock(longest / 1000 / jobs)} by the clocks"
    print(
        f"{plan.config.name}: {len(plan.players)} entries, {len(schedule.tables)} tables,"
        f" {schedule.deals} deals in every rotation of seats: {schedule.total} games in"
        f" {schedule.batch_count()} batches, {jobs} at a time, {at_most}",
        file=out,
    )
    if done:
        print(f"{done} games are played already", file=out)
    if weaker := short_of(plan.config.isolation):
        print(weaker, file=out)
    if plan.config.seed is not None:
        print("the seed is given by hand: who knows it knows every card, bots too", file=out)
