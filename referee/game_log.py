"""What happened in a game, and the record that comes of it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence

import msgspec

from malice.referee.clock import MS, Clock
from malice.referee.digests import compute_digest
from malice.referee.errors import FamilyError
from malice.referee.packed_events import AskContent, encode_events, pack_asks
from malice.referee.records import Batch, GameOrder, Record, RecordedVerdict, SeatReport
from malice.referee.replay import VERDICT, is_unplayed, replay_contents
from malice.referee.rules import Events, Result
from malice.referee.seat import Played, Seat


class GameLog:
    """The actions and the verdicts of one game, in order; whoever runs the game appends to them."""

    def __init__(self, batch: Batch, order: GameOrder) -> None:
        self._batch = batch
        self._order = order
        self.played: list[Played] = []
        self.faults: list[RecordedVerdict] = []
        self._asks: list[AskContent] = []
        self._turns = 0

    def add_ask(self, moves: Sequence[Played], events: Events, turns: int) -> None:
        """Add what the seats did in one ask, none for the deal that opens the game, and what followed.

        Args:
            moves: first the verdicts, then the actions, by seat.
            events: unmasked, up to the next ask.
            turns: how many turns have begun by then.
        """
        content = (tuple((each.seat, each.action) for each in moves), events)
        self._asks.append((*content, turns - self._turns) if turns != self._turns else content)
        self._turns = turns

    def make_record(
        self, result: Result, reports: Iterable[SeatReport], *, started: float, elapsed_ms: float
    ) -> Record:
        """Return the record of the finished game.

        Args:
            result: how it ended.
            reports: what each seat did, by seat.
            started: when the game began, in seconds of the wall clock.
            elapsed_ms: how long it took.

        Raises:
            FamilyError: no league could store the actions.
        """
        batch, played = self._batch, self.played
        self._refuse_actions()
        record = Record(
            key=self._order.key,
            family=batch.family,
            ruleset=batch.ruleset,
            rules=batch.rules,
            entries=tuple((batch.players[player].label, batch.players[player].hash) for player in self._order.seating),
            deal_seed=self._order.deal_seed,
            actions=tuple((each.seat, each.action) for each in played),
            places=result.places,
            scores=result.scores,
            reason=result.reason,
            figures=result.figures,
            digest="",
            micros=tuple(each.micros for each in played),
            cpu_micros=tuple(each.cpu_micros for each in played),
            notes={index: each.note for index, each in enumerate(played) if each.note},
            seats=tuple(reports),
            faults=tuple(self.faults),
            commit=batch.commit,
            clock=batch.clock,
            isolation="none",
            host=platform.node(),
            versions=f"python {platform.python_version()}",
            started=started,
            elapsed_ms=round(elapsed_ms, 3),
            speed=batch.speed,
            tournament=batch.tournament,
        )
        return msgspec.structs.replace(record, digest=compute_digest(record), events=self._pack_events(record))

    def _pack_events(self, record: Record) -> bytes:
        # Whether seats that fail before anybody plays do so together only a replay tells, and it is a short one.
        asks = list(replay_contents(record)) if is_unplayed(record) else self._asks
        return encode_events(pack_asks(asks))

    def _refuse_actions(self) -> None:
        """Make sure that a league can store the actions.

        Raises:
            FamilyError: the rules listed one with a blank in it, or one that looks like a verdict.
        """
        actions = [each.action for each in self.played]
        marked = sum(action.startswith(VERDICT) for action in actions)
        if len(" ".join(actions).split()) != len(actions) or marked != len(self.faults):
            raise FamilyError(f"expected actions without blanks that do not begin with {VERDICT!r}, got: {actions}")


def report_seats(seats: Sequence[Seat], clocks: Sequence[Clock]) -> Iterable[SeatReport]:
    """Return what each seat did, with the times on its clock."""
    return map(_add_times, seats, clocks)


def _add_times(seat: Seat, clock: Clock) -> SeatReport:
    used_ms, cpu_ms = round(clock.used / MS, 3), round(clock.cpu / MS, 3)
    return msgspec.structs.replace(seat.report(), used_ms=used_ms, cpu_ms=cpu_ms)
