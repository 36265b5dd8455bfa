"""The process that plays: a referee beside the server, `python -P -m malice.tournaments.web.process`.

A referee waits in `poll`, and bots hang on the main thread of the process that starts them, so it is not the server's.
People sit here as guests, and the server answers for them over the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.batch import BatchSeat
from malice.referee.bot import request_parent_death_signal
from malice.referee.connection import BotConnection
from malice.referee.errors import Abandoned, FamilyError, RecordError
from malice.referee.records import Batch, GameOrder, Record, SeatReport
from malice.referee.replay import VERDICT, VOID
from malice.referee.seat import InProcessSeat, Played, Seat, Watch
from malice.referee.verdicts import Verdict
from malice.tournaments.entries.lookup import Find
from malice.tournaments.entries.names import Names
from malice.tournaments.errors import Stopped
from malice.tournaments.league.opening import open_store
from malice.tournaments.league.people import PeopleList, call_people, read_careers
from malice.tournaments.league.store import Store
from malice.tournaments.running import in_process
from malice.tournaments.running.announcements import print_line
from malice.tournaments.running.hints import Hints, find_hints
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.in_process import InProcess
from malice.tournaments.running.isolation import describe_shortcomings
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.orders import read_order
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.run import run_tournament
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.people import describe_career
from malice.tournaments.terminal.remarks import Remark, SeatOpinion, remark_game
from malice.tournaments.web.messages import (
    BotHint,
    GameDealt,
    GameEnded,
    HintWanted,
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
NOTE = 300
"""The most characters that people see of what a bot says with a hint."""


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
        hear: receives the requests that a person has answered before.
    """

    def __init__(self, seat: Seat, played: Sequence[Played], hear: Callable[[Move], None] | None) -> None:
        self._seat = seat
        self._hear = hear
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
        if self._failed:
            return None
        if self._played and isinstance(self._seat, InProcessSeat):
            if self._hear:
                self._hear(request)
            return None
        return self._seat.send_move(request, limit, cpu_limit)

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Give the old answer while there is one."""
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


ReadCareer = Callable[[Record, str], str]
"""Says, when a game is over, what a person has reached with it; nothing if it counts for nobody."""


class Prompter:
    """Gives one person hints by any bot; each bot that was asked hears the whole game.

    Args:
        find: returns the bot that words name.
        plan: what is played.
    """

    def __init__(self, find: Find, plan: Plan) -> None:
        self._find = find
        self._plan = plan
        self._heard: list[GameStart | Move] = []
        self._bots: dict[str, Hints] = {}
        self._asked: Hints | None = None
        """Who was asked first in the game that is over."""

    def hear(self, request: GameStart | Move | GameEnd) -> None:
        """Keep a request to the person; a bot may be asked later."""
        if not isinstance(request, Move):
            self._end()
        if not isinstance(request, GameEnd):
            self._heard.append(request)
            for bot in self._bots.values():
                bot.hear(request)

    def _end(self) -> None:
        """End the bots of a game."""
        self._asked = next((bot.copy() for bot in self._bots.values()), None)
        for bot in self._bots.values():
            bot.end()
        self._bots.clear()
        self._heard.clear()

    def review(self, record: Record, rngs: Sequence[int], seat: int) -> SeatOpinion | None:
        """Ask who gave hints what it would have played in the game that is over; None if nobody did, or it fails."""
        if self._heard:
            self._end()  # who has resigned is not told the end
        if self._asked is None:
            return None
        try:
            rerun = self._asked.review(record, rngs, seat)
        except MaliceError:
            return None
        return SeatOpinion(sanitize(rerun.bot), seat, rerun.choices) if rerun.choices else None

    def prompt(self, seat: int, words: str) -> BotHint:
        """Say what a bot would play now, or why there is no hint."""
        try:
            if words not in self._bots:
                (ruleset,) = self._plan.tournament.rulesets.values()
                bot = find_hints(words, self._find, ruleset.family, self._plan.isolation, self._plan.config.init_ms)
                for request in self._heard:
                    bot.hear(request)
                self._bots[words] = bot
            hint = self._bots[words].give()
        except MaliceError as error:
            return BotHint(seat, sanitize(words), "", sanitize(str(error), NOTE))
        return BotHint(seat, sanitize(hint.bot), hint.action, sanitize(hint.note, NOTE))


class Telling:
    """Tells the server all that happens; in the place of the watcher at a terminal."""

    def __init__(
        self, line: Pipe, prompters: Mapping[str, Prompter], names: Mapping[str, str], read_career: ReadCareer | None
    ) -> None:
        self._line = line
        self._people = tuple(prompters)
        self._prompters = prompters
        self._rngs: tuple[int, ...] = ()
        self._names = names
        self._read_career = read_career

    def begin(self, batch: Batch, order: GameOrder) -> Watch:
        self._rngs = order.rngs
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
        seats = [seat for seat, (label, _) in enumerate(record.entries) if label in self._people]
        remarks = {seat: tuple(self._remark(record, seat)) for seat in seats}
        self._line.tell(GameEnded(str(record.key), record.places, record.scores, record.reason, verdicts, remarks))

    def _remark(self, record: Record, seat: int) -> list[Remark]:
        """Say to a person where the game turned; nothing if its family fails at that."""
        own = record.entries[seat][0]
        called = [sanitize(self._names.get(label, label)) for label, _ in record.entries]
        called[seat] = "you"
        try:
            remarks = remark_game(record, called, self._prompters[own].review(record, self._rngs, seat))
        except (FamilyError, RecordError):
            remarks = []
        if self._read_career and (career := self._read_career(record, own)):
            remarks.append(Remark(career))
        return remarks


class TablePlaying:
    """Plays the games that the server wants, as `InProcess` does.

    Args:
        table: what is played.
        line: the pipe to the server.
        guard: a descriptor whose hang-up means that nobody waits for the games.
        prompters: give people hints, by label.
        names: what to call people, by label.
        read_career: says what people have reached in the league that keeps the game.
    """

    def __init__(
        self,
        table: TableOrder,
        line: Pipe,
        guard: int,
        prompters: Mapping[str, Prompter],
        names: Mapping[str, str],
        read_career: ReadCareer | None = None,
    ) -> None:
        self._table = table
        self._line = line
        self._guard = guard
        self._people = tuple(prompters)
        self._prompters = prompters
        self._names = names
        self._read_career = read_career
        self._seats: tuple[str, ...] = ()

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        seats = {label: in_process.GuestSeat(label, label, self._ask) for label in self._people}
        watcher = Telling(self._line, self._prompters, self._names, self._read_career)
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
        return [
            SeatAgain(seat, own, self._prompters[label].hear if label in self._prompters else None) if own else seat
            for seat, own, label in zip(seats, played, self._seats, strict=True)
        ]

    def _ask(self, label: str, asked: in_process.Asked) -> in_process.Told:
        if asked is None:
            return in_process.Told()
        prompter, seat = self._prompters[label], self._seats.index(label)
        prompter.hear(asked)
        if not isinstance(asked, Move):
            return in_process.Told()
        reply = self._line.ask(PersonAsked(seat))
        while isinstance(reply, HintWanted):
            reply = self._line.ask(prompter.prompt(seat, reply.bot))
        match reply:
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
            find = Names(store.path, store, people=True, origin=table.order.find_origin()).find
            plan = read_order(store, table.order, find)
            names = call_people(plan.guests, PeopleList(path).names)
            read_career = partial(_read_career, store, plan, names) if table.league else None
            prompters = {label: Prompter(find, plan) for label in plan.guests}
            bots = [player for label, player in plan.players.items() if label not in plan.guests]
            for text in describe_shortcomings(plan.config.isolation, bots):
                print_line(text, sys.stderr)
            again = ["the", "same", "command"] if table.league else []
            terms = RunTerms(1, again, playing=TablePlaying(table, line, guard, prompters, names, read_career))
            run_tournament(store, plan, nowhere, terms)


def _read_career(store: Store, plan: Plan, names: Mapping[str, str], record: Record, label: str) -> str:
    """Say what a person has reached against these others; the game is about to be stored."""
    others = {each for each, _ in record.entries} - {label}
    rows = read_careers(store, plan.make_game(record))
    rows = [row for row in rows if row.label == label and row.ruleset == record.ruleset and {*row.against} <= others]
    shown = (replace(row, against=tuple(names.get(each, each) for each in row.against)) for row in rows)
    return next(map(describe_career, shown), "") if record.reason != VOID else ""


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
