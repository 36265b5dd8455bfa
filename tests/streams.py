"""What a referee says to a bot: real games as requests, and the same in JSON that is odd but right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from malice.protocol.messages import Bye, ClockRules, Hello, Limits, Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Player
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from tests.tables import Script, batch

Request = dict[str, Any]


class Recording(NamedTuple):
    """A game to be recorded."""

    ruleset: str
    seats: int
    seat: int
    """The one whose requests are kept."""
    leaves: int | None = None
    """A seat that leaves the game by a verdict."""


GAMES = (
    Recording("standard", 2, 0),
    Recording("skipbo", 4, 3, leaves=1),
    Recording("partners-4", 4, 1),
    Recording("loading", 2, 1),
    Recording("massachusetts", 2, 0),
    Recording("book", 2, 1),
    Recording("catsatcards", 2, 0),
    Recording("squared", 2, 1),
    Recording("unlimited", 2, 0),
    Recording("cats-multi", 3, 2),
)
"""Between them all that can happen: passes, counts, loading, fills, partners, hidden cards, a seat that leaves."""

HIGHEST = 2**53 - 1


def recorded() -> list[Request]:
    """Return what one process hears that plays all these games, one after the other."""
    hello = Hello(1, (1, 1), "malice/0.1", Limits(5000, 65536))
    games = [_game(told, Random(number)) for number, told in enumerate(GAMES)]
    for number, requests in enumerate(games, start=1):
        requests[0]["game"] = number
    requests = [msgspec.to_builtins(hello), *(request for game in games for request in game)]
    return [*numbered(requests), msgspec.to_builtins(Bye())]


def numbered(requests: Iterable[Request], first: int = 1) -> list[Request]:
    """Give the requests new ids, in a row."""
    return [request | {"id": id} for id, request in enumerate(requests, first)]


def _game(told: Recording, chance: Random) -> list[Request]:
    """Play by chance, but rather what stands first in the list: so games get on, and no two go alike."""

    def choose(request: Move) -> str:
        assert isinstance(request.legal, tuple)
        return request.legal[0] if chance.random() < 0.7 else chance.choice(request.legal)

    def leave(request: Move) -> str:
        if request.view.turn > 20:
            raise Verdict("crash", "it left")
        return choose(request)

    seats = [Script(leave if seat == told.leaves else choose, wall_ms=1) for seat in range(told.seats)]
    players = (Player(f"säat {seat} \U0001f0cf", "00", ()) for seat in range(told.seats))
    order = replace(batch(*players, clock=ClockRules()), ruleset=told.ruleset, rules=load_ruleset(told.ruleset).rules)
    GameRunner(order, order.games[0], list(seats)).play()
    return [json.loads(msgspec.json.encode(request)) for request in seats[told.seat].requests]


def from_the_future(requests: Sequence[Request], chance: Random) -> list[Request]:
    """Add what a later referee may say: requests, events and fields that nobody knows yet, and the longest ids."""
    *said, bye = requests
    more: list[Request] = []
    for request in said:
        if chance.random() < 0.1:
            more.append({"type": "weather", "legal": ["rain"], "view": {"seat": 9}, "game": [], "clock": 7})
        events = request.get("events", []) + [{"type": "weather", "seat": "all", "from": 7, "card": None}]
        more.append(request | ({"events": events} if "events" in request else {}))
    more[len(more) // 2]["long"] = "y" * 100_000
    return [_widened(request, chance) for request in [*numbered(more, HIGHEST + 1 - len(more)), bye]]


def _widened(value: Any, chance: Random) -> Any:
    """Add unknown fields to the objects in `value`, and change the order of all."""
    if isinstance(value, list):
        return [_widened(each, chance) for each in value]
    if not isinstance(value, dict):
        return value
    fields = [(name, _widened(each, chance)) for name, each in value.items()]
    fields += [each for each in _unknown() if chance.random() < 0.1]
    chance.shuffle(fields)
    return dict(fields)


def _unknown() -> Iterator[tuple[str, Any]]:
    nested: Any = {"id": -1, "type": "bye", "legal": ["no"], "view": None, 'a"b\\': [[], {}, ""]}
    for _ in range(20):
        nested = [{"nested": nested}]
    yield "later", nested
    yield "number", int("1234567890" * 5)
    yield "fraction", -1.5e-300
    yield "größe \U0001f0cf", ["\U0001f0cf", "\x7f\u2028", 'a\nb\t"\\/', True, False, None]
    yield "", '}]\\",{['


def written(value: Any, chance: Random) -> str:
    """Return `value` as JSON: blanks where they may be, escapes where they need not be, `1`, `1.0` and `1e0` alike."""

    def text(characters: str) -> str:
        odd = chance.random() < 0.2
        return '"' + "".join(escaped(each, odd and chance.random() < 0.5) for each in characters) + '"'

    def escaped(character: str, odd: bool) -> str:
        if odd and ord(character) < 0x80:
            return f"\\u{ord(character):04x}"
        return json.dumps(character, ensure_ascii=odd)[1:-1]

    def gap() -> str:
        return chance.choice(("", "", "", " ", "\t", "  "))

    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return "[" + gap() + ",".join(gap() + written(each, chance) + gap() for each in value) + "]"
    if isinstance(value, dict):
        fields = (f"{gap()}{text(name)}{gap()}:{gap()}{written(each, chance)}{gap()}" for name, each in value.items())
        return "{" + gap() + ",".join(fields) + "}"
    if isinstance(value, float) and value.is_integer() and chance.random() < 0.5:
        return str(int(value))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= HIGHEST and chance.random() < 0.2:
        return chance.choice((f"{value}.0", f"{value}e0", f"{10 * value}E-1"))
    return json.dumps(value)
