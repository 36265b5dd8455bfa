"""The process that plays: a referee beside the server, `python -P -m malice.tournaments.web.process`.

A referee waits in `poll`, and bots hang on the main thread of the process that starts them, so it is not the server's.
People sit here as guests, and the server answers for them over the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from malice.protocol.errors import MaliceError
from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.batch import BatchSeat
from malice.referee.bot import request_parent_death_signal
from malice.referee.connection import BotConnection
from malice.referee.errors import Abandoned
from malice.referee.records import Batch, GameOrder, Record, SeatReport
from malice.referee.replay import VERDICT
from malice.referee.seat import InProcessSeat, Played, Seat, Watch
from malice.referee.verdicts import Verdict
from malice.tournaments.entries.names import Names
from malice.tournaments.errors import Stopped
from malice.tournaments.league.opening import open_store
from malice.tournaments.running import in_process
from malice.tournaments.running.announcements import print_line
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.in_process import InProcess
from malice.tournaments.running.isolation import describe_shortcomings
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.orders import read_order
from malice.tournaments.running.run import run_tournament
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.web.messages import (
    GameDealt,
    GameEnded,
    NextGame,
    PersonAnswer,
    PersonAsked,
    PersonResigns,
    PlayedTogether,
    PlayFailed,
    Reply,
    TableOrder,
    Told,
    decode_order,
    decode_reply,
    encode,
)

RESIGNED = "resigned the game"


class Pipe:
    """The pipe to the server.

    Args:
        source: where its replies come from, line by line.
        out: where it reads.
    """

    def __init__(self, source: BinaryIO, out: BinaryIO) -> None:
        self._source = source
        self._out = out

    def tell(self, told: Told) -> None:
        self._out.write(encode(told) + b"\n")
        self._out.flush()

    def ask(self, told: Told) -> Reply:
        """Wait for the reply, however long that takes.

        Raises:
            Abandoned: the server has gone.
        """
        self.tell(told)
        line = self._source.readline()
        if not line.endswith(b"\n"):
            raise Abandoned("the server has gone")
        reply: Reply = decode_reply(line)
        return reply


class SeatAgain:
    """A seat that has played a part of the game before: a bot hears every request again, its old answers count.

    Args:
        seat: the seat itself.
        played: the actions that it played, the first first, or the verdict on it.
    """

    def __init__(self, seat: Seat, played: Sequence[Played]) -> None:
        self._seat = seat
        self._played = deque(played)
        self._id = 0
        self._failed: Verdict | None = None

    def begin(self) -> int:
        return self._seat.begin()

    def next_id(self) -> int:
        return self._seat.next_id()

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> BotConnection | None:
        """Ask, unless it is a person who has answered before, or a bot that could not repeat its part."""
        self._id = request.id
        if self._failed or (self._played and isinstance(self._seat, InProcessSeat)):
            return None
        return self._seat.send_move(request, limit, cpu_limit)

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Return the old answer while there is one."""
        if not self._played:
            if self._failed:
                raise self._failed
            return self._seat.collect_move()
        if not self._failed and not isinstance(self._seat, InProcessSeat):
            try:
                self._seat.collect_move()
            except Verdict as verdict:
                self._failed = verdict  # it counts when all is told again
        old = self._played.popleft()
        if old.action.startswith(VERDICT):
            raise Verdict(old.action.removeprefix(VERDICT), "as before", wall=old.micros * 1000)  # type: ignore[arg-type]
        return MoveAnswer(self._id, old.action, old.note), old.micros * 1000, old.cpu_micros * 1000

    def ask(self, request: GameStart | GameEnd) -> None:
        if not self._failed:
            self._seat.ask(request)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        return self._seat.dismiss()

    def report(self) -> SeatReport:
        return self._seat.report()


class Telling:
    """Tells the server all that happens; in the place of the watcher at a terminal."""

    def __init__(self, line: Pipe, people: Sequence[str]) -> None:
        self._line = line
        self._people = people

    def begin(self, batch: Batch, order: GameOrder) -> Watch:
        labels = tuple(batch.players[player].label for player in order.seating)
        people = tuple(map(labels.index, self._people))
        self._line.tell(
            GameDealt(
                str(order.key),
                batch.family,
                batch.ruleset,
                batch.rules,
                labels,
                people,
                order.deal_seed,
                order.position,
            )
        )
        return lambda news: self._line.tell(PlayedTogether(tuple(news)))

    def end(self, record: Record) -> None:
        verdicts = {fault.seat: sanitize(fault.sentence, 500) for fault in record.faults}
        self._line.tell(GameEnded(str(record.key), record.places, record.scores, record.reason, verdicts))


class TablePlaying:
    """Plays the games that the server wants, as `InProcess` does.

    Args:
        table: what is played.
        line: the pipe to the server.
        guard: a descriptor whose hang-up means that nobody waits for the games.
        people: the labels of people.
    """

    def __init__(self, table: TableOrder, line: Pipe, guard: int, people: Sequence[str]) -> None:
        self._table = table
        self._line = line
        self._guard = guard
        self._people = people
        self._seats: tuple[str, ...] = ()

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        seats = {label: in_process.GuestSeat(label, label, self._ask) for label in self._people}
        watcher = Telling(self._line, self._people)
        play = InProcess(seats, watcher, guard=self._guard, reseat=self._reseat)
        return play(self._choose(batches), jobs, cpus_per_game, hooks)

    def _choose(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Leave out what was played before; wait before each other game until the server wants it."""
        begun = not self._table.key
        for batch in batches:
            (order,) = batch.games
            begun = begun or str(order.key) == self._table.key
            if begun:
                self._seats = tuple(batch.players[player].label for player in order.seating)
                self._line.ask(NextGame(str(order.key)))
                yield batch

    def _reseat(self, order: GameOrder, seats: Sequence[BatchSeat]) -> Sequence[Seat]:
        if str(order.key) != self._table.key:
            return seats
        played: list[list[Played]] = [[] for _ in seats]
        for news in self._table.played:
            for each in news:
                played[each.seat].append(each)
        return [SeatAgain(seat, own) if own else seat for seat, own in zip(seats, played, strict=True)]

    def _ask(self, label: str, asked: in_process.Asked) -> in_process.Told:
        if not isinstance(asked, Move):
            return in_process.Told()
        match self._line.ask(PersonAsked(self._seats.index(label))):
            case PersonAnswer(action, wall):
                return in_process.Told(action, wall)
            case PersonResigns(wall):
                raise Verdict("resigned", RESIGNED, wall=wall)
            case other:
                raise MaliceError(f"expected an answer, got {other}")


def play_table(table: TableOrder, line: Pipe, guard: int) -> None:
    """Play the games of a table until nobody wants another.

    Raises:
        MaliceError: as `malice play`.
    """
    folder = nullcontext("") if table.league else TemporaryDirectory(prefix="malice-")
    with folder as scratch:
        path = Path(table.league or Path(scratch, "play.db"))
        with open_store(path, create=True) as store, open(os.devnull, "w") as nowhere:
            plan = read_order(store, table.order, Names(store.path, store, people=True).find)
            bots = [player for label, player in plan.players.items() if label not in plan.guests]
            for text in describe_shortcomings(plan.config.isolation, bots):
                print_line(text, sys.stderr)
            again = ["the", "same", "command"] if table.league else []
            terms = RunTerms(1, again, playing=TablePlaying(table, line, guard, plan.guests))
            run_tournament(store, plan, nowhere, terms)


def main(words: Sequence[str]) -> int:
    """Play the table that comes on stdin, for the process with that number; return the exit status."""
    request_parent_death_signal(signal.SIGTERM)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if list(words) != [str(os.getppid())]:
        return 1
    source = sys.stdin.buffer
    # What is printed here goes to stderr: stdout is for the server.
    with open(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        line = Pipe(source, out)
        try:
            play_table(decode_order(source.readline()), line, source.fileno())
        except (BrokenPipeError, KeyboardInterrupt, Stopped, Abandoned):
            return 1
        except MaliceError as error:
            line.tell(PlayFailed(str(error)))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
