"""Who plays a league: a run notes itself there, others ask how far it is, and stop it."""

from __future__ import annotations

import math
import os
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from malice.referee.bot import read_start_time
from malice.referee.nouns import format_count, inflect
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.counting import measure_progress
from malice.tournaments.league.desk import Effect, name_user
from malice.tournaments.league.notes import Ruling, RunningRun
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.running.coordinator import STOP
from malice.tournaments.sanitizer import sanitize


class TournamentStatus(Struct, frozen=True):
    """How far a tournament is."""

    tournament: str
    games: int
    """Finished games that count."""
    planned: int
    complete: bool


class Status(Struct, frozen=True):
    """Who plays a league, and how far it is."""

    league: str
    running: bool
    """Whether anybody writes to it."""
    run: RunningRun | None
    """Who plays; None if nobody does, or if what writes to it is no run."""
    tournaments: tuple[TournamentStatus, ...]
    waiting: tuple[Ruling, ...]
    """Decisions that wait for the run."""


def make_note(tournament: str, games: int, until: float, now: float) -> RunningRun:
    """What this process notes of itself as the run that plays."""
    end = None if math.isinf(until) else until
    pid = os.getpid()
    return RunningRun(tournament, pid, read_start_time(pid) or 0, socket.gethostname(), name_user(), now, end, games)


def find_status(store: LeagueReader, *, running: bool) -> Status:
    """Read who plays a league.

    Args:
        store: the league.
        running: whether anybody holds its lock.
    """
    league, tournaments = store.league(), []
    for name in league.list_meant() if league.tournaments else ():
        reader = store.view(name)
        games, planned = measure_progress(reader.tournament(), reader.finished())
        tournaments.append(TournamentStatus(name, games, planned, reader.tournament().complete))
    waiting = tuple(decision for _, decision in store.list_waiting())
    run = store.find_run() if running else None
    if run and run.host == socket.gethostname() and read_start_time(run.pid) != run.started:
        run = None  # it was killed, and what writes now is no run
    return Status(str(store.path), running, run, tuple(tournaments), waiting)


def stop_run(store: LeagueReader, *, now: bool) -> RunningRun:
    """Tell the run that plays a league to stop, after its running games or at once; return which it is.

    Raises:
        LeagueError: no run plays it, or none that we may stop.
    """
    run = store.find_run()
    if run is None or (run.host == socket.gethostname() and read_start_time(run.pid) != run.started):
        raise LeagueError(f"{store.path}: no run plays it")
    if run.host != socket.gethostname():
        raise LeagueError(
            where=store.path, expected="a run on this machine", got=f"one on {run.host}", hint="stop it there"
        )
    try:
        os.kill(run.pid, signal.SIGTERM if now else STOP)
    except PermissionError:
        raise LeagueError(f"{store.path}: {run.user or 'another user'} plays it, and only they may stop it") from None
    except ProcessLookupError:
        raise LeagueError(f"{store.path}: no run plays it") from None
    return run


def describe_effects(effects: Sequence[Effect]) -> Iterator[str]:
    """Yield a line on what became of each decision, for people."""
    words = {"withdraw": "withdrawn from", "disqualify": "disqualified in", "reinstate": "plays again in"}
    for each in effects:
        label = sanitize(each.decision.label)
        if each.refusal:
            yield f"{label}: nothing is changed: {sanitize(each.refusal)}"
        if each.tournaments and each.decision.new:
            yield f"{label}: goes on as {sanitize(each.decision.new)}"
            continue
        for name in each.tournaments:
            yield f"{label}: {words[each.decision.what]} {sanitize(name)}"


def describe_status(status: Status, now: float | None = None) -> Iterator[str]:
    """Yield what people read of a status."""
    now = time.time() if now is None else now
    for each in status.tournaments:
        state = "complete" if each.complete else f"{each.games} of {format_count(each.planned, 'game')}"
        yield f"{sanitize(each.tournament)}: {state}"
    if run := status.run:
        who = f"{run.user or 'somebody'} on {run.host}, process {run.pid}"
        yield f"{sanitize(run.tournament)} is played by {sanitize(who)}, since {_format_time(run.since)}"
        done = next((each for each in status.tournaments if each.tournament == run.tournament), None)
        if run.until is not None:
            yield f"until {_format_time(run.until)}"
        if done and done.games > run.games and now > run.since:
            rest_s = (done.planned - done.games) * (now - run.since) / (done.games - run.games)
            yield f"at this rate the last game ends {_format_time(now + rest_s)}"
    else:
        yield "another malice writes to it" if status.running else "nobody plays it"
    for decision in status.waiting:
        yield f"waits: {sanitize(decision.what)} {sanitize(decision.label)}"
    if status.waiting and not status.running:
        waiting = len(status.waiting)
        yield f"the next run takes {inflect(waiting, 'it', 'them')} up"


def _format_time(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"
