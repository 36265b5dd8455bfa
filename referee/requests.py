"""The requests to the seats of one game, at the table and again from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from malice.protocol.messages import GameEnd, GameStart, Move, Out, SeatName
from malice.referee.clock import Clock
from malice.referee.course import list_asked
from malice.referee.families import load_family
from malice.referee.game import Position
from malice.referee.records import Batch, Key, Record
from malice.referee.replay import VERDICT, RecordedAsk, find_rules, is_unplayed, replay_asks
from malice.referee.rules import Events, Result, Rules


class Requests:
    """Makes every request of one game; keeps the clocks, and the events that each seat has not received yet.

    Args:
        rules: the game.
        terms: the ruleset, the clock and the commitment to the seed of the tournament, of a batch or of a record.
        key: names the game.
        rngs: by seat, a seed for the bot's own randomness.
        position: where the game begins, if not with its deal.
    """

    def __init__(
        self,
        rules: Rules[Any],
        terms: Batch | Record,
        key: Key,
        rngs: Sequence[int],
        position: Position | UnsetType = UNSET,
    ) -> None:
        self._rules = rules
        self._encode_view: Callable[[Any, int], bytes] | None = getattr(rules, "encode_view", None)
        self._family = terms.family
        family = load_family(terms.family)
        self._public = family.public | {Out}
        self._alone = family.match(terms.rules).same_deal
        self._ruleset = terms.ruleset
        self._parameters = msgspec.to_builtins(terms.rules)
        self._key = str(key)
        self._rngs = rngs
        self._begun = position.actions if position else UNSET
        self._commit = terms.commit
        self._clock = terms.clock
        self._turns = [0] * len(rngs)
        """By seat: the turn in which it was last asked."""
        self._unheard: list[list[Struct]] = [[] for _ in rngs]
        self.clocks = [Clock(terms.clock, terms.speed) for _ in rngs]

    def post(self, events: Events) -> None:
        """Keep the events for every seat, masked, until its next `move`."""
        public, mask = self._public, self._rules.mask
        if self._alone:
            events = self._post_alone(events)
        for event in events:
            if type(event) in public:
                for unheard in self._unheard:
                    unheard.append(event)
                continue
            for seat, unheard in enumerate(self._unheard):
                if (masked := mask(event, seat)) is not None:
                    unheard.append(masked)

    def _post_alone(self, events: Events) -> Events:
        """Keep what happened to a seat for that seat alone; return what happened to all."""
        common = []
        for event in events:
            if (seat := getattr(event, "seat", None)) is None:
                common.append(event)
            elif (masked := self._rules.mask(event, seat)) is not None:
                self._unheard[seat].append(masked)
        return tuple(common)

    def game_start(self, seat: int, id: int, game: int, names: Sequence[str]) -> GameStart:
        """The request that begins a game; `game` counts the games of the process."""
        return GameStart(
            id=id,
            game=game,
            family=self._family,
            ruleset=self._ruleset,
            rules=self._parameters,
            seat=seat,
            seats=tuple(map(SeatName, names, self._rules.teams)),
            rng=self._rngs[seat],
            commit=self._commit,
            clock=self._clock,
            begun=self._begun,
        )

    def move(
        self, seat: int, id: int, state: Any, legal: tuple[str, ...], listed: bool, *, for_line: bool = False
    ) -> Move:
        """The request for an action; the first of a turn adds the increment to the clock.

        Args:
            seat: the seat to act.
            id: numbers the request.
            state: the table.
            legal: the legal actions.
            listed: whether the request lists them.
            for_line: whether nobody reads the request but the line that it becomes: then its view may be JSON already.
        """
        if for_line and self._encode_view:
            view: Any = msgspec.Raw(self._encode_view(state, seat))
        else:
            view = self._rules.view(state, seat)
        clock = self.clocks[seat]
        if (turn := self._rules.turn(state)) != self._turns[seat]:
            self._turns[seat] = turn
            clock.begin_turn()
        events = tuple(self._unheard[seat])
        self._unheard[seat] = []
        return Move(id=id, view=view, events=events, legal=legal if listed else UNSET, clock=clock.to_message())

    def game_end(self, seat: int, id: int, result: Result) -> GameEnd:
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
    """Index, in the whole game, of the action that answered a move; None if the answer was not played."""
    turn: int = 0
    """The turn, counted from 1, in which a move was asked for."""
    played: str = ""
    """That action, or `!` and the code of a verdict; empty if the answer was not played."""


def replay_requests(
    record: Record, rngs: Sequence[int], seat: int, next_id: Callable[[], int], *, listed: bool = True, game: int = 1
) -> Iterator[ReplayedRequest]:
    """Yield the requests to one seat again, up to the one that led to a verdict, if any.

    A seat that failed before anybody played may have failed at its greeting, at `game_start`, or at the first
    `move`: this yields every request that it may have received. An answer is not played, nor recorded, if another
    seat failed in the same ask, and the seat was not asked any more without it.

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
    rules = find_rules(record)
    requests = Requests(rules, record, record.key, rngs, record.position)
    clock = requests.clocks[seat]
    yield ReplayedRequest(requests.game_start(seat, next_id(), game, [report.name for report in record.seats]))
    for ask in replay_asks(record):
        moves = {number: (index, action) for index, (number, action) in enumerate(ask.moves, start=ask.first)}
        index, action = moves.get(seat, (None, ""))
        if seat in _list_requested(record, ask, rules):
            legal = rules.legal(ask.before, seat)
            request = requests.move(seat, next_id(), ask.before, legal, listed)
            limits = clock.time_limit_ns(), clock.cpu_limit_ns()
            yield ReplayedRequest(request, legal, *limits, index, rules.turn(ask.before), action)
            if index is not None:
                clock.spend(record.micros[index] * 1000, record.cpu_micros[index] * 1000)
        if action.startswith(VERDICT):
            return
        requests.post(ask.events)
    result = Result(record.places, record.scores, record.reason)
    yield ReplayedRequest(requests.game_end(seat, next_id(), result))


def _list_requested(record: Record, ask: RecordedAsk, rules: Rules[Any]) -> tuple[int, ...]:
    """The seats that received a request in an ask, or may have."""
    asked = list_asked(rules.next(ask.before))
    if not ask.moves or ask.moves[0][0] not in asked:
        return ()  # the deal, or a seat that could not start and leaves alone
    # Where one seat acts at a time, a game is void only if no seat could start.
    return () if len(asked) == 1 and is_unplayed(record) else asked


class ReplayedDecision(Struct, frozen=True):
    """A moment of a recorded game at which a seat had to act."""

    index: int
    """Index of the action in the whole game."""
    seat: int
    view: Struct
    """The view of the seat."""
    legal: tuple[str, ...]
    """The legal actions, even if the bot declined the list."""
    played: str
    """The action, or `!` and the code of a verdict."""


def replay_decisions(record: Record) -> Iterator[ReplayedDecision]:
    """Yield the decisions of all seats again, in order.

    Raises:
        RecordError: the record does not replay.
    """
    rules = find_rules(record)
    unplayed = is_unplayed(record)
    for ask in replay_asks(record):
        asked = () if unplayed else list_asked(rules.next(ask.before))
        for index, (seat, action) in enumerate(ask.moves, start=ask.first):
            if seat in asked:
                yield ReplayedDecision(index, seat, rules.view(ask.before, seat), rules.legal(ask.before, seat), action)
