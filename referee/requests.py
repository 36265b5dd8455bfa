"""What the seats of one game are told: made at the table, and made again from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import UNSET, Struct

from protocol.messages import ClockRules, Event, GameEnd, GameStart, Move, SeatName, View
from referee.clock import Clock
from referee.masks import mask_events
from referee.records import Key, Record
from referee.replay import VERDICT, VOID, Replay, replay_steps, start_replay
from referee.rules import Events, Result, Turn
from referee.ruleset import Parameters
from referee.spite import SpiteAndMalice
from referee.spite.state import State


class Requests:
    """Makes every request of one game; it keeps the clocks, and what each seat has not heard yet.

    Args:
        rules: the game.
        ruleset: its name.
        parameters: what the ruleset says.
        key: names the game.
        rngs: by seat, a seed for the bot's own randomness.
        commit: to the seed of the tournament.
        clock: time control.
    """

    def __init__(
        self,
        rules: SpiteAndMalice,
        *,
        ruleset: str,
        parameters: Parameters,
        key: Key,
        rngs: Sequence[int],
        commit: str,
        clock: ClockRules,
    ) -> None:
        self._rules = rules
        self._ruleset = ruleset
        self._parameters = msgspec.to_builtins(parameters)
        self._key = str(key)
        self._rngs = rngs
        self._commit = commit
        self._clock = clock
        self._turn = 0
        self._unheard: list[list[Event]] = [[] for _ in rngs]
        self.clocks = [Clock(clock) for _ in rngs]

    def post(self, events: Events) -> None:
        """Keep for every seat what it may know of these events, until it is asked."""
        for seat, unheard in enumerate(self._unheard):
            unheard += mask_events(events, seat)

    def game_start(self, seat: int, id: int, game: int, names: Sequence[str]) -> GameStart:
        """Tell a seat that a game begins; `game` counts those of its process."""
        return GameStart(
            id=id,
            game=game,
            ruleset=self._ruleset,
            rules=self._parameters,
            seat=seat,
            seats=tuple(map(SeatName, names, self._rules.teams)),
            rng=self._rngs[seat],
            commit=self._commit,
            clock=self._clock,
        )

    def move(self, seat: int, id: int, state: State, legal: tuple[str, ...], listed: bool) -> Move:
        """Ask a seat for an action; with the first of a turn its clock gets the increment.

        Args:
            seat: whose turn it is.
            id: numbers the request.
            state: the table.
            legal: what it may play.
            listed: whether it is told so.
        """
        view = self._rules.view(state, seat)
        clock = self.clocks[seat]
        if view.turn != self._turn:
            self._turn = view.turn
            clock.begin_turn()
        events = tuple(self._unheard[seat])
        self._unheard[seat] = []
        return Move(id=id, view=view, events=events, legal=legal if listed else UNSET, clock=clock.to_message())

    def game_end(self, seat: int, id: int, result: Result) -> GameEnd:
        """Tell a seat how the game ended."""
        return GameEnd(
            id=id,
            place=result.places[seat],
            places=result.places,
            scores=result.scores,
            reason=result.reason,
            key=self._key,
        )


class Asked(Struct, frozen=True):
    """A request that a seat got in a recorded game, and what came of it."""

    request: GameStart | Move | GameEnd
    legal: tuple[str, ...] = ()
    """What it might play, also where it declined the list."""
    limit: int | None = None
    """Nanoseconds for the answer to a move, margin included; None for ever."""
    cpu_limit: int | None = None
    """The same in CPU time, where the clock counts that."""
    index: int | None = None
    """Of the action that answered a move, among all of the game."""
    played: str = ""
    """That action, or `!` and the code of the verdict that fell instead."""


def replay_requests(
    record: Record, rngs: Sequence[int], seat: int, next_id: Callable[[], int], *, listed: bool = True, game: int = 1
) -> Iterator[Asked]:
    """Make the requests of one seat again, from those that were answered to the one that a verdict fell over.

    A seat that failed before anybody played may have done so at its greeting, at `game_start`, or at the first
    `move`: this goes as far as it can have come.

    Args:
        record: the game.
        rngs: by seat, the seeds that the bots were told; they come from the tournament's seed.
        seat: whose requests.
        next_id: numbers them.
        listed: whether the list of legal actions is in them.
        game: the number of the game in the process.

    Raises:
        RecordError: the record does not replay.
    """
    again = start_replay(record)
    requests = Requests(
        again.rules,
        ruleset=record.ruleset,
        parameters=record.rules,
        key=record.key,
        rngs=rngs,
        commit=record.commit,
        clock=record.clock,
    )
    clock = requests.clocks[seat]
    rest = replay_steps(record, again=again)
    requests.post(next(rest).events)
    yield Asked(requests.game_start(seat, next_id(), game, [each.name for each in record.seats]))
    for index, (number, action) in enumerate(record.actions):
        if number == seat and _was_asked(record, again, seat):
            legal = again.rules.legal(again.state)
            request = requests.move(seat, next_id(), again.state, legal, listed)
            yield Asked(request, legal, clock.time_limit_ns(), clock.cpu_limit_ns(), index, action)
            clock.spend(record.micros[index] * 1000, record.cpu_micros[index] * 1000)
        if number == seat and action.startswith(VERDICT):
            return
        requests.post(next(rest).events)
    for _ in rest:
        pass  # the end is checked too
    result = Result(record.places, record.scores, record.reason)
    yield Asked(requests.game_end(seat, next_id(), result))


class Decision(Struct, frozen=True):
    """A moment of a recorded game in which a seat was asked for an action."""

    index: int
    """Of the action, among all of the game."""
    seat: int
    view: View
    """What it was shown."""
    legal: tuple[str, ...]
    """What it might play, also where it declined the list."""
    played: str
    """The action, or `!` and the code of the verdict that fell instead."""


def replay_decisions(record: Record) -> Iterator[Decision]:
    """Make the decisions of all seats again, in the order in which they were taken.

    Raises:
        RecordError: the record does not replay.
    """
    again = start_replay(record)
    rest = replay_steps(record, again=again)
    next(rest)
    for index, (seat, action) in enumerate(record.actions):
        if _was_asked(record, again, seat):
            yield Decision(index, seat, again.rules.view(again.state, seat), again.rules.legal(again.state), action)
        next(rest)
    for _ in rest:
        pass  # the end is checked too


def _was_asked(record: Record, again: Replay, seat: int) -> bool:
    """Tell whether the seat was asked for what the record says next: some fail before it is their turn."""
    return record.reason != VOID and again.next() == Turn(seat)
