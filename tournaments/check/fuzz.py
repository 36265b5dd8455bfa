"""Rare but legal positions of all rulesets, and requests in unusual JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from malice.protocol import LINE_BYTES
from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, Out, SeatClock, SeatName
from malice.referee.clock import MS
from malice.referee.course import Course, choose_dealer, list_asked
from malice.referee.families import load_family, make_rules
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.nouns import format_count
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset, load_ruleset
from malice.referee.verdicts import judge_illegal_move
from malice.tournaments.check.games import ExamGames
from malice.tournaments.check.seat import ExaminedSeat, Trouble

HIGHEST = 2**53 - 1
"""The highest integer of the protocol; every language can represent it."""

LATER: dict[str, Any] = {"later": {"a": [1, 2.5, None, True, {"b": "c"}], "text": 'šŷ 😀 \\ " /', "": []}}
"""A field that no bot knows."""
LATER_EVENT: dict[str, Any] = {"type": "weather", "seat": 0, "from": "sky", "cards": [], "sky": ["blue", "grey"]}
"""An event that no bot knows."""
LATER_TYPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("forecast", {}),
    ("chat", {"seat": 0, "text": "your move", "legal": []}),
    ("adjourn", {"view": None, "until": {"minutes": 90}}),
)
"""Types of requests that no bot knows, with their fields."""

ODD_FIELDS: tuple[dict[str, Any], ...] = (
    {"zz": 12345678901234567890123456789},
    {"zz": -1e308, "zy": 5e-324, "zx": -0.0},
    {"zz": 9007199254740993, "zy": -9223372036854775808},
    {"zz": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]},
    {"": "", " ": None, "zz zz": {"id": 0, "type": "bye", "legal": ["all"]}},
    {"zz": '}]",\\\\" {"id":0}\u0001\u007f\u2028 é😀 \u200f'},
    {"zz": "x" * 3000},
)
"""Fields that no bot knows; all valid, and hard to skip for a hand-written parser."""


def add_unknown(line: bytes) -> bytes:
    """A request with an unknown field in every object, and an unknown event."""
    request = _add_fields(msgspec.json.decode(line))
    if "events" in request:
        request["events"] = [*request["events"], LATER_EVENT]
    return msgspec.json.encode(request) + b"\n"


def _add_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _add_fields(inner) for key, inner in value.items()} | LATER
    if isinstance(value, list):
        return [_add_fields(inner) for inner in value]
    return value


def make_odd_writer(number: int) -> Callable[[bytes], bytes]:
    """Make a function that rewrites a request in an odd way; each number always gives the same way."""

    def dress(line: bytes) -> bytes:
        random = Random(number)
        request: dict[str, Any] = msgspec.json.decode(line)
        if number % 3 == 0:
            request |= ODD_FIELDS[number // 3 % len(ODD_FIELDS)]
        escapes = random.choice((0.0, 0.0, 0.05, 1.0))
        for share in (escapes, 0.0):
            rewritten = _Writer(random, share).write(request).encode() + b"\n"
            if len(rewritten) <= LINE_BYTES:
                return rewritten
        return line

    return dress


class _Writer:
    """Writes JSON in one of many ways.

    Args:
        random: chooses the way.
        escapes: the share of characters to write as escapes.
    """

    def __init__(self, random: Random, escapes: float) -> None:
        self._random = random
        self._escapes = escapes
        self._space = random.choice(("", "", " ", "\t", "  \t "))
        self._order = random.choice(("as is", "reversed", "sorted", "mixed"))
        self._upper = random.random() < 0.5
        self._write_integer = random.choice((str, str, self._with_fraction, self._with_exponent, self._mixed))

    def write(self, value: Any) -> str:
        space = self._space
        if isinstance(value, dict):
            inner = f"{space},{space}".join(
                f"{self._write_string(key)}{space}:{space}{self.write(value[key])}"
                for key in self._order_keys(list(value))
            )
            return f"{{{space}{inner}{space}}}"
        if isinstance(value, list):
            return f"[{space}{f'{space},{space}'.join(map(self.write, value))}{space}]"
        if isinstance(value, str):
            return self._write_string(value)
        if isinstance(value, float):
            return self._write_float(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= HIGHEST:
            return self._write_integer(value)
        return json.dumps(value)

    def _order_keys(self, keys: list[str]) -> list[str]:
        if self._order == "reversed":
            return keys[::-1]
        if self._order == "sorted":
            return sorted(keys)
        if self._order == "mixed":
            self._random.shuffle(keys)
        return keys

    def _write_string(self, text: str) -> str:
        return '"' + "".join(map(self._write_character, text)) + '"'

    def _write_character(self, character: str) -> str:
        if not (character in '"\\' or character < " " or self._random.random() < self._escapes):
            return character
        if character == "/" and self._random.random() < 0.5:
            return "\\/"
        return self._escape(character)

    def _escape(self, character: str) -> str:
        digits = character.encode("utf-16-be").hex()
        units = (digits[i : i + 4] for i in range(0, len(digits), 4))
        return "".join("\\u" + (unit.upper() if self._upper else unit) for unit in units)

    def _write_float(self, value: float) -> str:
        if self._random.random() < 0.5 and abs(value) < 1e15:
            mantissa, _, exponent = f"{value:.17e}".partition("e")
            return f"{mantissa}{'E' if self._upper else 'e'}{int(exponent):+03d}"
        return repr(value)

    def _with_fraction(self, value: int) -> str:
        return f"{value}.0"

    def _with_exponent(self, value: int) -> str:
        digits = str(value).rstrip("0") or "0"
        zeros = len(str(value)) - len(digits) if value else 0
        return f"{digits}{'E' if self._upper else 'e'}{zeros}"

    def _mixed(self, value: int) -> str:
        write: Callable[[int], str] = self._random.choice((str, self._with_fraction, self._with_exponent))
        return write(value)


OUT = "!"
"""The mark before the number of a seat that leaves the game, in place of an action."""
REQUEST_BYTES = 40_000
"""The longest request that is kept; it leaves room for spaces and escapes."""
MORE_ACTIONS = 12
"""The most actions that a situation adds to one of the corpus."""

Find = Callable[[str], Ruleset]


class RarePosition(Struct, frozen=True):
    """A game up to a request."""

    ruleset: str
    seats: int
    deal: int
    actions: str
    """The actions, separated by spaces."""
    features: tuple[str, ...] = ()
    """What is rare about it."""


class RareGame:
    """A game that advances action by action, and the events that each seat has seen.

    Args:
        ruleset: its name.
        seats: the number of seats.
        deal: the number of the deal, which determines the cards.
        find: returns the ruleset of a name.
    """

    def __init__(self, ruleset: str, seats: int, deal: int, find: Find = load_ruleset) -> None:
        found = find(ruleset)
        self.rules = make_rules(found.family, found.rules, seats)
        seed = sha256(f"malice check {ruleset} {seats} {deal}".encode())
        self.deal_seed = seed.hexdigest()
        self._course = Course(self.rules, choose_dealer(seed.digest()))
        self._answers: dict[int, str] = {}
        """By seat: the actions of an ask of several seats that still lacks others."""
        self._out: list[int] = []
        self.events: list[Struct] = [*self._course.dealt]

    @property
    def seat(self) -> int | None:
        """The seat to act, or the first of several without an answer; None when the game is over."""
        return next((seat for seat in list_asked(self._course.step) if seat not in self._answers), None)

    def legal(self) -> tuple[str, ...]:
        assert self.seat is not None
        return self.rules.legal(self._course.state, self.seat)

    def list_playing(self) -> list[int]:
        return [seat for seat in range(self.rules.seats) if seat not in self._out]

    def play(self, action: str) -> None:
        """Play an action, or let a seat leave."""
        if action.startswith(OUT):
            seat = int(action[len(OUT) :])
            self._out.append(seat)
            self._answers.pop(seat, None)
            self.events += self._course.withdraw({seat: "crash"})
        else:
            assert self.seat is not None
            self._answers[self.seat] = action
        if self.seat is None and self._answers:
            asked = list_asked(self._course.step)
            actions = {seat: self._answers[seat] for seat in asked if seat in self._answers}
            self._answers = {}
            if actions:
                self.events += self._course.play(actions)

    def request(self, id: int) -> Move:
        """The request to the seat to act, with all events since the deal."""
        seat = self.seat
        assert seat is not None
        masked = (event if isinstance(event, Out) else self.rules.mask(event, seat) for event in self.events)
        return Move(
            id=id,
            view=self.rules.view(self._course.state, seat),
            events=tuple(event for event in masked if event is not None),
            legal=self.legal(),
            clock=SeatClock(30_000.0, 2.25, 1.0),
        )

    def result(self) -> Result:
        """How the game ends if every other team leaves it now; everybody ties if they cannot all leave."""
        state, seat = self._course.state, self.seat
        assert seat is not None
        for other, team in enumerate(self.rules.teams):
            if team != self.rules.teams[seat] and other not in self._out:
                if isinstance(result := self.rules.next(state), Result):
                    return result
                state, _ = self.rules.withdraw(state, (other,))
        result = self.rules.next(state)
        assert isinstance(result, Result)
        return result


def replay_rare_position(rare: RarePosition, find: Find = load_ruleset) -> RareGame:
    """Play a game up to a situation."""
    position = RareGame(rare.ruleset, rare.seats, rare.deal, find)
    for action in rare.actions.split():
        position.play(action)
    return position


def load_corpus(family: str = DEFAULT_FAMILY) -> tuple[RarePosition, ...]:
    """The situations that a family brings; none if it has no `corpus.jsonl`."""
    file = load_family(family).folder / "corpus.jsonl"
    lines = file.read_bytes().splitlines() if file.exists() else ()
    return tuple(msgspec.json.decode(line, type=RarePosition) for line in lines)


def list_rare_positions(count: int, rulesets: Mapping[str, Ruleset] | None = None) -> Iterator[RarePosition]:
    """Yield `count` situations, always the same ones: first the corpus, then continuations of it.

    Args:
        count: how many.
        rulesets: the rulesets to choose from, by name; by default those of the default family.
    """
    known = load_corpus() if rulesets is None else tuple(_select(rulesets))
    find = load_ruleset if rulesets is None else rulesets.__getitem__
    for number in range(count):
        rare = known[number % len(known)]
        yield rare if number < len(known) else _continue(rare, Random(number), find)


def _select(rulesets: Mapping[str, Ruleset]) -> Iterator[RarePosition]:
    """Yield the situations of these rulesets, and the start of a game for a ruleset that the corpus lacks."""
    families = dict.fromkeys(ruleset.family for ruleset in rulesets.values())
    known = [rare for family in families for rare in load_corpus(family)]
    yield from (rare for rare in known if rare.ruleset in rulesets)
    missing = rulesets.keys() - {rare.ruleset for rare in known}
    yield from (RarePosition(name, rulesets[name].match.players[1], 0, "") for name in sorted(missing))


def _continue(rare: RarePosition, random: Random, find: Find) -> RarePosition:
    position, actions = replay_rare_position(rare, find), rare.actions.split()
    for _ in range(random.randint(1, MORE_ACTIONS)):
        action = random.choice(position.legal())
        position.play(action)
        if position.seat is None or len(encode(position.request(1))) > REQUEST_BYTES:
            break
        actions.append(action)
    return msgspec.structs.replace(rare, actions=" ".join(actions))


def make_game_start(
    rare: RarePosition, position: RareGame, id: int, number: int, clock: ClockRules, find: Find = load_ruleset
) -> GameStart:
    seat, teams, ruleset = position.seat, position.rules.teams, find(rare.ruleset)
    assert seat is not None
    return GameStart(
        id=id,
        game=number,
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=msgspec.to_builtins(ruleset.rules),
        seat=seat,
        seats=tuple(SeatName(f"player {other}", team) for other, team in enumerate(teams)),
        rng=number,
        commit="sha256:" + "0" * 64,
        clock=clock,
    )


def make_game_end(position: RareGame, id: int) -> GameEnd:
    """The request that ends the game: everybody else has left."""
    seat, result = position.seat, position.result()
    assert seat is not None
    return GameEnd(id, result.places[seat], result.places, result.scores, result.reason, "0.0.0")


COMMENT = "the request may be rare or look unusual, but it is legal, and valid JSON"
"""What the author of a bot that fails here must know too."""


def ask_all(games: ExamGames, count: int) -> str:
    """Ask for an action in each of `count` situations, each in a game of its own; return the number, in words.

    Raises:
        Trouble: an answer is missing, invalid or not legal.
    """
    seat, syllabus = games.seat(), games.syllabus
    rulesets: Counter[str] = Counter()
    find = load_ruleset if syllabus.every_ruleset else syllabus.rulesets.__getitem__
    for number, rare in enumerate(list_rare_positions(count, None if syllabus.every_ruleset else syllabus.rulesets)):
        rulesets[rare.ruleset] += 1
        games.log.where = f"situation {number}: {_describe_game(rare)}"
        _ask(games, seat, number, rare, replay_rare_position(rare, find), find)
    seat.retire()
    return f"{format_count(count, 'situation')} of {format_count(len(rulesets), 'ruleset')}"


def _ask(games: ExamGames, seat: ExaminedSeat, number: int, rare: RarePosition, position: RareGame, find: Find) -> None:
    games.log.ruleset, games.log.deal_seed = rare.ruleset, position.deal_seed
    seat.dress = make_odd_writer(number)
    seat.begin()
    seat.ask(make_game_start(rare, position, seat.next_id(), seat.games, games.clock, find))
    request = position.request(seat.next_id())
    legal = request.legal or ()
    if not seat.wants_legal:
        request = replace(request, legal=UNSET)
    limit = games.times.move_ms + games.clock.margin_ms
    answer, _, _ = seat.ask_move(request, limit * MS)
    if answer.move not in legal:
        exit, lines, stderr = seat.dismiss()
        raise Trouble("move", limit, judge_illegal_move(answer.move, legal), lines, exit, stderr)
    seat.ask(make_game_end(position, seat.next_id()))


def _describe_game(rare: RarePosition) -> str:
    features = f" ({', '.join(rare.features)})" if rare.features else ""
    actions = format_count(len(rare.actions.split()), "action")
    return f"{rare.ruleset}, {rare.seats} seats, deal {rare.deal}, after {actions}{features}"
