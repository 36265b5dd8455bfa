"""Players, seats and batches for the tests of the referee."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, MoveAnswer, SeatClock
from malice.referee.batch import play_batch
from malice.referee.clock import MS
from malice.referee.families import make_rules
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.records import Batch, GameOrder, Key, Player, Record, Report, SeatReport
from malice.referee.rules import Shuffle
from malice.referee.rulesets import load_ruleset
from malice.referee.seat import BotSeat, InProcessSeat, Seat
from malice.referee.verdicts import Verdict

BOTS = Path(__file__).parent / "bots"
RULES = replace(load_ruleset(DEFAULT_RULESET).rules, first_player="seat")
"""The standard game, but seat 0 always begins: the bot under test is asked first."""
FOR_EVER = ClockRules(move_ms=None, bank_ms=None, increment_ms=0, margin_ms=0)
PATIENCE_MS = 60_000
"""For what a bot does right, on however slow a machine."""


def player(name: str, *arguments: str) -> Player:
    """Return the player for a bot of `tests/bots`."""
    return Player(name, "00", (sys.executable, "-I", str(BOTS / f"{name}.py"), *arguments))


def batch(*players: Player, games: int = 1, clock: ClockRules = FOR_EVER, init_ms: int = PATIENCE_MS) -> Batch:
    """Return so many games in which the first player begins."""
    everybody = tuple(range(len(players)))
    orders = tuple(
        GameOrder(Key(0, 0, deal, 0), deal.to_bytes(32, "big").hex(), everybody, everybody) for deal in range(games)
    )
    return Batch(DEFAULT_FAMILY, DEFAULT_RULESET, RULES, players, clock, init_ms, "sha256:00", orders)


def first_legal(request: Move) -> str:
    """Choose the first legal action."""
    assert isinstance(request.legal, tuple)
    return request.legal[0]


class Script(InProcessSeat):
    """A seat without a process: a function answers for it, and a script sets its times and its failures.

    Args:
        choose: from a request to the action, or to a whole answer; it may raise `Verdict`.
        wall_ms: the time that each answer takes.
        fails: by "begin", "game_start" or "game_end" the verdict that falls there.
    """

    def __init__(
        self,
        choose: Callable[[Move], str | MoveAnswer] = first_legal,
        *,
        wall_ms: int = 0,
        fails: dict[str, Verdict] | None = None,
        wants_legal: bool = True,
    ) -> None:
        self.name = "script"
        self._wants_legal = wants_legal
        self._games = 0
        self.requests: list[GameStart | Move | GameEnd] = []
        self.limits: list[int | None] = []
        self.dismissals = 0
        self._choose = choose
        self._wall = wall_ms * MS
        self._fails = fails or {}
        self._ids = 1

    def begin(self) -> int:
        self._games += 1
        if "begin" in self._fails:
            raise self._fails["begin"]
        return self._games

    def report(self) -> SeatReport:
        return SeatReport(self.name, "1", wants_legal=self._wants_legal)

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        self.requests.append(request)
        self.limits.append(limit)
        chosen = self._choose(request)
        answer = MoveAnswer(request.id, chosen) if isinstance(chosen, str) else chosen
        return answer, self._wall, self._wall

    def ask(self, request: GameStart | GameEnd) -> None:
        self.requests.append(request)
        when = "game_start" if isinstance(request, GameStart) else "game_end"
        if when in self._fails:
            raise self._fails[when]

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        self.dismissals += 1
        return "exited with status 9", ("> asked", "< told"), "oh no"

    @property
    def moves(self) -> list[Move]:
        """What it was asked, without the frame."""
        return [request for request in self.requests if isinstance(request, Move)]


def play(*seats: Seat, clock: ClockRules = FOR_EVER, deal: int = 0) -> Record:
    """Play one game between these seats; the first begins."""
    told = batch(*(Player(f"seat{number}", "00", ()) for number in range(len(seats))), games=deal + 1, clock=clock)
    return GameRunner(told, told.games[deal], list(seats)).play()


@contextmanager
def seated(name: str, *arguments: str, init_ms: int = PATIENCE_MS) -> Iterator[BotSeat]:
    """Give a seat to a bot of `tests/bots`, and end the bot."""
    seat = BotSeat(player(name, *arguments), init_ms, None)
    try:
        yield seat
    finally:
        seat.dismiss()


def move_request(seat: Seat) -> Move:
    """Return the request that opens a game, numbered for this seat."""
    rules = make_rules(DEFAULT_FAMILY, RULES, 2)
    state = rules.start()
    while isinstance(step := rules.next(state), Shuffle):
        state, _ = rules.shuffled(state, range(step.size))
    return Move(
        id=seat.next_id(),
        view=rules.view(state, 0),
        events=(),
        legal=rules.legal(state, 0),
        clock=SeatClock(None, None, None),
    )


def reports(told: Batch) -> list[Report]:
    """Play a batch in this process."""
    found: list[Report] = []
    play_batch(told, None, found.append)
    return found


def records(told: Batch) -> list[Record]:
    return [report for report in reports(told) if isinstance(report, Record)]
