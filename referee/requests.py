"""The requests to the seats of one game, at the table and again from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import UNSET, Struct

from protocol.messages import Event, GameEnd, GameStart, Move, SeatName, View
from referee.clock import Clock
from referee.masks import mask_events
from referee.records import Batch, Key, Record
from referee.replay import VERDICT, VOID, Replay, replay_steps, start_replay
from referee.rules import Events, Result, Turn
from referee.spite import SpiteAndMalice
from referee.spite.state import State


class Requests:
    """Makes every request of one game; keeps the clocks, and the events that each seat has not received yet.

    Args:
        rules: the game.
        terms: the ruleset, the clock and the commitment to the seed of the tournament, of a batch or of a record.
        key: names the game.
        rngs: by seat, a seed for the bot's own randomness.
    """

    def __init__(self, rules: SpiteAndMalice, terms: Batch | Record, key: Key, rngs: Sequence[int]) -> None:
        self._rules = rules
        self._ruleset = terms.ruleset
        self._parameters = msgspec.to_builtins(terms.rules)
        self._key = str(key)
        self._rngs = rngs
        self._commit = terms.commit
        self._clock = terms.clock
        self._turn = 0
        self._unheard: list[list[Event]] = [[] for _ in rngs]
        self.clocks = [Clock(terms.clock) for _ in rngs]

    def post(self, events: Events) -> None:
        """Keep the events for every seat, masked, until its next `move`."""
        for seat, unheard in enumerate(self._unheard):
            unheard += mask_events(events, seat)

    def game_start(self, seat: int, id: int, game: int, names: Sequence[str]) -> GameStart:
        """Return the request that begins a game; `game` counts the games of the process."""
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
        """Return the request for an action; the first of a turn adds the increment to the clock.

        Args:
            seat: the seat to act.
            id: numbers the request.
            state: the table.
            legal: the legal actions.
            listed: whether the request lists them.
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
        """Return the request that tells a seat the result."""
        return GameEnd(
            id=id,
            place=result.places[seat],
            places=result.places,
            scores=result.scores,
            reason=result.reason,
            key=self._key,
        )


class ReplayedRequest(Struct, frozen=True):
    """A request to a seat of a recorded game, and its answer."""

    request: GameStart | Move | GameEnd
    legal: tuple[str, ...] = ()
    """The legal actions, even if the bot declined the list."""
    limit: int | None = None
    """Wall time for the answer to a move in nanoseconds, margin included; None for no limit."""
    cpu_limit: int | None = None
    """The same in CPU time, if the clock counts that."""
    index: int | None = None
    """Index, in the whole game, of the action that answered a move."""
    played: str = ""
    """That action, or `!` and the code of a verdict."""


def replay_requests(
    record: Record, rngs: Sequence[int], seat: int, next_id: Callable[[], int], *, listed: bool = True, game: int = 1
) -> Iterator[ReplayedRequest]:
    """Yield the requests to one seat again, up to the one that led to a verdict, if any.

    A seat that failed before anybody played may have failed at its greeting, at `game_start`, or at the first
    `move`: this yields every request that it may have received.

    Args:
        record: the game.
        rngs: by seat, the seeds that the bots received; they derive from the seed of the tournament.
        seat: the receiver of the requests.
        next_id: numbers them.
        listed: whether they list the legal actions.
        game: the number of the game in the process.

    Raises:
        RecordError: the record does not replay.
    """
    replay = start_replay(record)
    requests = Requests(replay.rules, record, record.key, rngs)
    clock = requests.clocks[seat]
    rest = replay_steps(record, replay=replay)
    requests.post(next(rest).events)
    yield ReplayedRequest(requests.game_start(seat, next_id(), game, [report.name for report in record.seats]))
    for index, (number, action) in enumerate(record.actions):
        if number == seat and _is_asked(record, replay, seat):
            legal = replay.rules.legal(replay.state)
            request = requests.move(seat, next_id(), replay.state, legal, listed)
            yield ReplayedRequest(request, legal, clock.time_limit_ns(), clock.cpu_limit_ns(), index, action)
            clock.spend(record.micros[index] * 1000, record.cpu_micros[index] * 1000)
        if number == seat and action.startswith(VERDICT):
            return
        requests.post(next(rest).events)
    for _ in rest:
        pass  # so that the end is checked too
    result = Result(record.places, record.scores, record.reason)
    yield ReplayedRequest(requests.game_end(seat, next_id(), result))


class Decision(Struct, frozen=True):
    """A moment of a recorded game at which a seat had to act."""

    index: int
    """Index of the action in the whole game."""
    seat: int
    view: View
    """The view of the seat."""
    legal: tuple[str, ...]
    """The legal actions, even if the bot declined the list."""
    played: str
    """The action, or `!` and the code of a verdict."""


def replay_decisions(record: Record) -> Iterator[Decision]:
    """Yield the decisions of all seats again, in order.

    Raises:
        RecordError: the record does not replay.
    """
    replay = start_replay(record)
    rest = replay_steps(record, replay=replay)
    next(rest)
    for index, (seat, action) in enumerate(record.actions):
        if _is_asked(record, replay, seat):
            yield Decision(index, seat, replay.rules.view(replay.state, seat), replay.rules.legal(replay.state), action)
        next(rest)
    for _ in rest:
        pass  # so that the end is checked too


def _is_asked(record: Record, replay: Replay, seat: int) -> bool:
    """Return whether the seat received a request for its next recorded action: some fail before their turn."""
    return record.reason != VOID and replay.next() == Turn(seat)
