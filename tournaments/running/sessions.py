"""Plays what a Python program asks for: in its process, or in a child of it.

A program may be a notebook: it has threads, an event loop and signal handlers of its own, and bots hang on the main
thread of the process that starts them. So where a bot plays, all is done by a child, `python -P -m
malice.tournaments.running.sessions`, and the program only answers for its own players. Both speak in pickles: neither
says anything to the other that a bot wrote, unless as text.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.bot import request_parent_death_signal
from malice.referee.errors import Abandoned
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.names import Names
from malice.tournaments.league.opening import open_store
from malice.tournaments.league.replays import read_frame, write_frame
from malice.tournaments.league.store import Store
from malice.tournaments.running.announcements import print_line
from malice.tournaments.running.in_process import Ask, Asked, Guests, GuestSeat, InProcess, Told, seat_guests
from malice.tournaments.running.isolation import describe_shortcomings
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.orders import ComparisonOrder, MatchOrder, read_order
from malice.tournaments.running.run import run_tournament

END_WAIT_S = 10.0
"""How long a child may take to end its bots."""


class Session(Struct, frozen=True):
    """What is to be played."""

    order: MatchOrder | ComparisonOrder
    guests: Mapping[str, str]
    """By the words that the order has for a guest, its name."""
    league: str
    """The file."""
    kept: bool = False
    """Whether somebody keeps it: then the same call goes on with it."""
    until: float = math.inf
    """When it is to be over, in seconds since 1970."""


def play_session(session: Session, ask: Ask, guard: int | None = None) -> str:
    """Play what is open of a session, and return the name of its tournament.

    Args:
        session: what to play.
        ask: asks its guests.
        guard: a descriptor whose hang-up means that nobody waits for the games, where guests play.

    Raises:
        MaliceError: as the commands; Stopped also if a guest failed.
    """
    order, kept = session.order, session.kept
    path = Path(session.league)
    with open_store(path, create=True) if kept else Store(path, create=True) as store, open(os.devnull, "w") as nowhere:
        find = seat_guests(Names(store.path, store).find, session.guests)
        plan = read_order(store, order, find)
        strangers = [player for label, player in plan.players.items() if label not in plan.guests]
        for line in describe_shortcomings(plan.config.isolation, strangers):
            print_line(line, sys.stderr)
        seats = {label: GuestSeat(label, plan.bots[label].command[0], ask) for label in plan.guests}
        terms = RunTerms(
            plan.config.jobs,
            ["the", "same", "call"] if kept else [],
            session.until,
            kept=KeptBots(store.path) if kept and isinstance(order, ComparisonOrder) else None,
            playing=InProcess(seats, guard=guard) if seats else None,
        )
        run_tournament(store, plan, nowhere, terms)
        return plan.config.name


def play_in_child(session: Session, guests: Guests) -> str:
    """Let a child play a session while this process answers for the guests; no process is left when this returns.

    Returns:
        The name of the tournament.

    Raises:
        MaliceError: as `play_session`; of a class of its own that does not travel, a class above it.
        Exception: what a guest raised.
    """
    # No `preexec_fn`: the program may have threads. The child asks for its end with this thread, which waits for it.
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "malice.tournaments.running.sessions", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches only the program, which ends the child in order
    )
    result: str | Exception | None = None
    try:
        result = _serve_child(child, session, guests)
    finally:
        _end(child, done=result is not None)
    if isinstance(result, str):
        return result
    raise result or guests.error or MaliceError(f"the process that plays the games ended ({child.returncode})")


def _serve_child(child: subprocess.Popen[bytes], session: Session, guests: Guests) -> str | Exception | None:
    """Answer what a child asks; return the tournament or the error that it told last, None if it told nothing."""
    assert child.stdin
    assert child.stdout
    with suppress(Abandoned, BrokenPipeError):
        write_frame(child.stdin, pickle.dumps(session))
        while frame := read_frame(child.stdout):
            match pickle.loads(frame):
                case (words, asked):
                    write_frame(child.stdin, pickle.dumps(guests.ask(words, asked)))
                case str() | Exception() as result:
                    return result
    return None


def _end(child: subprocess.Popen[bytes], *, done: bool) -> None:
    """Wait for the end of a child; one that is not done is told to stop first."""
    assert child.stdin
    assert child.stdout
    try:
        if not done:
            child.terminate()
        with suppress(BrokenPipeError):
            child.stdin.close()
        child.wait(END_WAIT_S)
    finally:
        child.kill()  # its referees and bots end with it
        child.wait()
        child.stdout.close()


def main(words: list[str]) -> int:
    """Play the session that comes on stdin, for the process with that number; return the exit status."""
    request_parent_death_signal(signal.SIGTERM)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if words != [str(os.getppid())]:
        return 1
    source = sys.stdin.buffer
    # What is printed here goes to stderr: stdout is for the program.
    with open(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

        def ask(words: str, asked: Asked) -> Told:
            write_frame(out, pickle.dumps((words, asked)))
            frame = read_frame(source)
            if frame is None:
                raise Abandoned("the program has gone")
            told: Told = pickle.loads(frame)
            return told

        try:
            frame = read_frame(source)
            if frame is None:
                return 1
            write_frame(out, _pickle_result(pickle.loads(frame), ask, source.fileno()))
        except (BrokenPipeError, KeyboardInterrupt):
            return 1
    return 0


def _pickle_result(session: Session, ask: Ask, guard: int) -> bytes:
    try:
        return pickle.dumps(play_session(session, ask, guard))
    except MaliceError as error:
        return pickle.dumps(_make_portable(error))
    except Exception as error:
        told = RuntimeError(f"the process that plays the games failed: {error!r}")
        told.add_note(traceback.format_exc())
        return pickle.dumps(told)


def _make_portable(error: MaliceError) -> MaliceError:
    """Keep the words of an error, and its class or the first above it that takes nothing but words."""
    for kind in type(error).__mro__:
        with suppress(TypeError):
            made = kind(str(error))
            if isinstance(made, MaliceError):
                return made
    return MaliceError(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
