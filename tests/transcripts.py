"""The dialogues of the golden transcripts, spoken anew by the real referee.

Each line of a file is one line of a dialogue:
`dir` is ">" for the referee, "<" for the bot, "!" for the verdict at the end. What is said is `line`, or,
where it is no message, `text`, said `times` over; a bot that ends says `exit`, one that closes its output `close`.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from malice.protocol import LINE_BYTES, PROTOCOL
from malice.protocol.codec import decode_answer, decode_request, encode
from malice.protocol.messages import (
    BareAnswer,
    Bye,
    ClockRules,
    GameEnd,
    GameStart,
    Hello,
    HelloAnswer,
    Limits,
    Move,
    MoveAnswer,
    Request,
)
from malice.referee.clock import Clock
from malice.referee.game_runner import GameRunner
from malice.referee.games.spite.messages import View
from malice.referee.records import Batch, GameOrder, Key, Player, SeatReport
from malice.referee.rulesets import load_ruleset
from malice.referee.seat import BYE_WAIT_NS, REFEREE, BotSeat, InProcessSeat
from malice.referee.verdicts import Verdict, judge_illegal_move

FOLDER = Path(__file__).parents[1] / "protocol/transcripts"
SEED = bytes(range(32))
CLOCK = ClockRules(move_ms=1000, bank_ms=30_000, increment_ms=50, margin_ms=100)
LIMITS = Limits(init_ms=5000, line_bytes=LINE_BYTES)
DECODERS: dict[type[Request], msgspec.json.Decoder[Any]] = {
    Hello: msgspec.json.Decoder(HelloAnswer),
    GameStart: msgspec.json.Decoder(BareAnswer),
    Move: msgspec.json.Decoder(MoveAnswer),
    GameEnd: msgspec.json.Decoder(BareAnswer),
}


class Entry(Struct, frozen=True, omit_defaults=True):
    """One line of a transcript file."""

    dir: Literal[">", "<", "!"]
    line: Raw | UnsetType = UNSET
    text: str | None = None
    times: int = 1
    exit: int | None = None
    close: bool = False
    code: str | None = None
    sentence: str | None = None


def entries(name: str) -> list[Entry]:
    """Return the lines of a transcript."""
    return [msgspec.json.decode(line, type=Entry) for line in (FOLDER / f"{name}.jsonl").read_bytes().splitlines()]


def said(entry: Entry) -> bytes:
    """Return the bytes that went over the pipe."""
    return bytes(entry.line) + b"\n" if entry.line else (entry.text or "").encode() * entry.times


def written(dialogue: list[Entry]) -> bytes:
    """Return the content of a transcript file."""
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in dialogue)


# Games: scripted seats at a real table, with a clock on which every action takes as long as any other.


class Script(InProcessSeat):
    """A seat that plays by a function and writes down what it would say to a bot."""

    def __init__(self, name: str, choose: Choose, hello: bytes = b'{"id":1,"protocol":1}') -> None:
        self._report = SeatReport(name, "1", wants_legal=b'"legal":false' not in hello)
        self._games = 0
        self.dialogue: list[Entry] = []
        self._choose = choose
        self._hello = hello
        self._requests = 0

    def begin(self) -> int:
        """Be greeted, once."""
        self._games += 1
        if self._games == 1:
            self._exchange(Hello(self.next_id(), (PROTOCOL, PROTOCOL), REFEREE, LIMITS), self._hello)
        return self._games

    def report(self) -> SeatReport:
        """Return who plays."""
        return self._report

    def next_id(self) -> int:
        """Number the next request."""
        self._requests += 1
        return self._requests

    def ask(self, request: GameStart | GameEnd) -> None:
        """Give the bare answer."""
        self._exchange(request, b'{"id":%d}' % request.id)

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Give the answer of the script, after 2.1 ms."""
        move, note = self._choose(request)
        answer = {"id": request.id, "move": move} | ({"note": note} if note else {})
        return self._exchange(request, msgspec.json.encode(answer)), 2_100_000, 1_000_000

    def leave(self) -> None:
        """Hear the last line."""
        self._hear(Bye())

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """Leave nothing behind."""
        return None, (), ""

    def _hear(self, request: Request) -> None:
        self.dialogue.append(Entry(">", Raw(encode(request).rstrip())))

    def _exchange(self, request: Hello | GameStart | Move | GameEnd, answer: bytes) -> Any:
        self._hear(request)
        self.dialogue.append(Entry("<", Raw(answer)))
        return decode_answer(answer, DECODERS[type(request)], request.id)


Choose = Callable[[Move], tuple[str, str | None]]


def first(request: Move) -> tuple[str, str | None]:
    """Play the first legal action, and say so when it is the pay-off card."""
    assert request.legal
    return request.legal[0], "pay-off first" if request.legal[0].startswith("p-") else None


def curious(request: Move) -> tuple[str, str | None]:
    """Ask for the counts in the first turns."""
    assert request.legal
    return ("count" if "count" in request.legal and request.view.turn < 4 else request.legal[0]), None


def by_eye(request: Move) -> tuple[str, str | None]:
    """Find an action without the list: whatever fits in the centre, or the last card to the shortest side stack."""
    return _fitting(request.view) or _discard(request.view), None


def _fitting(view: View) -> str | None:
    own = view.seats[view.seat]
    tops = [("p", own.payoff.top)] + [(f"h{card}", card) for card in view.hand]
    tops += [(f"s{index}", pile[-1]) for index, pile in enumerate(own.side) if pile]
    fitting = (
        f"{source}-c{slot}"
        for source, card in tops
        for slot, stack in enumerate(view.centre)
        if card and card[0] in (stack.needs, "K")
    )
    return next(fitting, None)


def _discard(view: View) -> str:
    lengths = [len(pile) for pile in view.seats[view.seat].side]
    return f"h{view.hand[-1]}-s{lengths.index(min(lengths))}"


def gone(request: Move) -> tuple[str, str | None]:
    """Crash."""
    raise Verdict("crash", "the bot exited with status 1")


class Game(Struct, frozen=True):
    """Games of one process, told from seat 0."""

    ruleset: str
    changes: dict[str, Any]
    deals: tuple[int, ...]
    players: tuple[Choose, ...]
    hello: bytes = b'{"id":1,"protocol":1,"name":"alpha","version":"7"}'


GAMES = {
    "two-player": Game("standard", {"payoff_size": 2}, (49,), (first, first)),
    "two-games-without-list": Game(
        "standard", {"payoff_size": 2}, (65, 66), (by_eye, first), b'{"id":1,"name":"alpha","legal":false}'
    ),
    "counts-and-passes": Game(
        "catsatcards", {"payoff_size": 2, "payoff_source": "mixed"}, (16,), (curious, first), b'{"id":1}'
    ),
    "three-seats": Game("multi-3", {"payoff_size": 1}, (40,), (first, first, gone)),
}
"""Pay-off piles are short, so that the games are; the rest is the ruleset as it ships."""


def played(game: Game) -> bytes:
    """Play the games and return the transcript of seat 0."""
    ruleset = load_ruleset(game.ruleset)
    rules = replace(ruleset.rules, **game.changes)
    names = ("alpha", "beta", "gamma")[: len(game.players)]
    seats = [Script(name, player) for name, player in zip(names, game.players, strict=True)]
    seats[0] = Script(names[0], game.players[0], game.hello)
    players = tuple(Player(name, "", ()) for name in names)
    commit = f"sha256:{hashlib.sha256(SEED).hexdigest()}"
    batch = Batch(ruleset.family, ruleset.name, rules, players, CLOCK, LIMITS.init_ms, commit, ())
    for deal in game.deals:
        key = Key(0, 0, deal, 0)
        rngs = tuple(int.from_bytes(told("rng", key, seat)[:4], "big") >> 1 for seat in range(len(seats)))
        order = GameOrder(key, told("deal", 0, deal).hex(), tuple(range(len(seats))), rngs)
        GameRunner(batch, order, list(seats)).play()
    seats[0].leave()
    return written(seats[0].dialogue)


def told(*what: object) -> bytes:
    """Return what the seed of the part says about something."""
    return hmac.digest(SEED, "\0".join(map(str, what)).encode(), "sha256")


# Verdicts: a real process says the lines of a transcript to the real referee.

PUPPET = """
import json, os, sys
for entry in map(json.loads, open(sys.argv[1], encoding="utf-8")):
    if entry["dir"] == "!":
        break
    if entry["dir"] == ">":
        if json.loads(sys.stdin.buffer.readline()) != entry["line"]:
            os._exit(99)
    elif "exit" in entry:
        os._exit(entry["exit"])
    elif "close" in entry:
        os.close(1)
    else:
        text = json.dumps(entry["line"], separators=(",", ":")) + "\\n" if "line" in entry else entry["text"]
        data = text.encode() * entry.get("times", 1)
        while data:
            data = data[os.write(1, data):]
sys.stdin.read()
"""


def opening(**clock: int) -> list[Entry]:
    """Return a dialogue up to the first action, without the rules, from the transcript of the two-player game."""
    hello, greeted, start, ready, move, *_ = entries("two-player")
    changes: dict[str, Any] = {"rules": {}, "clock": replace(CLOCK, **clock)}
    start = Entry(">", Raw(encode(replace(decode_request(said(start)), **changes)).rstrip()))
    return [hello, greeted, start, ready, move]


def answering(*answers: Entry) -> list[Entry]:
    """Return a dialogue in which the first action is answered so."""
    return [*opening(), *answers]


def message(text: str) -> Entry:
    """Return what a bot says."""
    return Entry("<", Raw(text.encode()))


BYE = Entry(">", Raw(b'{"type":"bye"}'))
RIGHT = message('{"id":3,"move":"h4S-s0"}')
LATE = {"move_ms": 150, "margin_ms": 50}


def verdicts() -> dict[str, list[Entry]]:
    """Return the dialogues that end by a verdict, and a few that look as if they would."""
    text = '{"id":3,"move":"h4S-s0"}\n'
    return {
        "crash-exit": answering(Entry("<", exit=3)),
        "crash-closed-output": answering(Entry("<", close=True)),
        "timeout": opening(**LATE),
        "timeout-no-newline": [*opening(**LATE), Entry("<", text=text.rstrip())],
        "protocol-no-id": answering(message('{"move":"h4S-s0"}')),
        "protocol-id-is-a-string": answering(message('{"id":"3","move":"h4S-s0"}')),
        "protocol-used-id": answering(message('{"id":2,"move":"h4S-s0"}')),
        "protocol-wrong-id": answering(message('{"id":4,"move":"h4S-s0"}')),
        "protocol-no-move": answering(message('{"id":3,"action":"h4S-s0"}')),
        "protocol-move-is-no-string": answering(message('{"id":3,"move":["h4S","s0"]}')),
        "protocol-unasked": [*opening()[:3], Entry("<", text='{"id":2}\n' + text), opening()[4]],
        "protocol-printed": [*opening(**LATE), Entry("<", text="thinking...\nbest: h4S-s0\n")],
        "protocol-not-quite-json": [*opening(**LATE), Entry("<", text="{'id': 3, 'move': 'h4S-s0'}\n")],
        "protocol-many-stray-lines": answering(Entry("<", text="thinking...\n", times=101)),
        "protocol-long-line": answering(Entry("<", text="x", times=LINE_BYTES + 1)),
        "protocol-version": [entries("two-player")[0], message('{"id":1,"protocol":2}')],
        "protocol-long-name": [entries("two-player")[0], message('{"id":1,"name":"%s"}' % ("x" * 101))],
        "illegal": answering(message('{"id":3,"move":"h4S-c0"}')),
        "no-verdict-stray-lines": answering(Entry("<", text="thinking...\n\n[3]\n"), RIGHT, BYE),
        "no-verdict-odd-but-right": answering(
            Entry("<", text=' { "note" : null , "move" : "\\u0068\\u0034S-s0" , "extra" : [ 1 ] , "id" : 3.0 } \r\n'),
            BYE,
        ),
    }


def judged(path: Path) -> Verdict | None:
    """Let the referee have the dialogue of a transcript with a process; return the verdict."""
    seat = BotSeat(Player("puppet", "", (sys.executable, "-I", "-S", "-c", PUPPET, str(path))), LIMITS.init_ms, None)
    heard = [decode_request(said(entry)) for entry in entries(path.stem) if entry.dir == ">"]
    try:
        converse(seat, heard)
    except Verdict as verdict:
        return verdict
    finally:
        seat.dismiss()
    return None


def converse(seat: BotSeat, requests: list[Request]) -> None:
    """Say all requests to a seat as a table would."""
    clock = Clock(CLOCK)
    for request in requests:
        if isinstance(request, Hello):
            seat.begin()
        elif isinstance(request, Bye):
            seat.leave()
            seat.end(time.monotonic_ns() + BYE_WAIT_NS)
        else:
            assert request.id == seat.next_id()
            if isinstance(request, Move):
                answer, _, _ = seat.ask_move(request, clock.time_limit_ns())
                assert request.legal
                if answer.move not in request.legal:
                    raise judge_illegal_move(answer.move, request.legal)
            else:
                seat.ask(request)
                clock = Clock(request.clock) if isinstance(request, GameStart) else clock


def ending(verdict: Verdict | None) -> list[Entry]:
    """Return the last line of a transcript."""
    return [Entry("!", code=verdict.code, sentence=verdict.sentence)] if verdict else []
