"""Every line of the protocol as a frozen struct; PROTOCOL.md describes them for people."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

Label = Annotated[str, Meta(max_length=100)]
"""A bot's name or version: short, because opponents and people see it."""


class Limits(Struct, frozen=True):
    """Limits on the time for requests other than `move`, and on the length of a line."""

    init_ms: int
    """Time for the answer to `hello`, `game_start` and `game_end`, in milliseconds."""
    line_bytes: int
    """The longest line that the referee reads, LF included."""


class ClockRules(Struct, frozen=True):
    """Time control of a game, in milliseconds; null means no such limit."""

    move_ms: int | None = 1000
    """Time for one action."""
    bank_ms: int | None = 60_000
    """Time for all actions of one game."""
    increment_ms: int = 50
    """Given back to the bank when a turn of the seat begins, never above `bank_ms`."""
    margin_ms: int = 100
    """Grace on top of each deadline, for delays of the machine; the bank pays for time used within it."""
    kind: Literal["wall", "cpu"] = "wall"
    """Which time counts: wall time, or the CPU time of the bot's process, all threads together."""
    cap_ms: int | None = None
    """With `cpu`: the longest wall time of an action."""


class SeatName(Struct, frozen=True):
    """Who sits at a seat."""

    name: str
    """From the bot's answer to `hello`, or as it was entered."""
    team: int
    """Seats of one team win and lose together; without partners each seat is a team."""


class SeatClock(Struct, frozen=True):
    """The clock of the asked seat: the time left, and the time of its last action (null at first)."""

    bank_ms: float | None
    """Time left in the bank; null without a bank."""
    last_ms: float | None
    """Wall time of the last action, in milliseconds."""
    last_cpu_ms: float | None
    """CPU time of the last action, in milliseconds."""


class Out(Struct, frozen=True, tag="out", tag_field="type"):
    """The referee's verdict `code` took `seat` out of the game."""

    seat: int
    code: str
    """`crash`, `timeout`, `protocol` or `illegal`; `resigned` for a person."""


class Hello(Struct, frozen=True, tag="hello", tag_field="type"):
    """The first line to a process: the protocol versions and the limits of the referee."""

    id: int
    """1, the first of the process."""
    protocol: tuple[int, int]
    """The lowest and the highest version."""
    referee: str
    """Program and version, for the log."""
    limits: Limits


class GameStart(Struct, frozen=True, tag="game_start", tag_field="type"):
    """A game begins; `rules` holds every parameter of the ruleset."""

    id: int
    game: int
    """Counts the games of this process, from 1."""
    family: str
    """The game, with all its rulesets; it defines `view` and `events`."""
    ruleset: str
    """Its name."""
    rules: dict[str, Any]
    """Every parameter of the ruleset by its name."""
    seat: int
    """Where the bot sits in this game, from 0."""
    seats: tuple[SeatName, ...]
    """By seat."""
    rng: int
    """A seed for the bot's own randomness, 31 bits; a bot that uses no other randomness plays the same game again."""
    commit: str
    """`sha256:` and the digest of the tournament seed, published when the tournament ends."""
    clock: ClockRules
    begun: int | UnsetType = field(default=UNSET, name="from")
    """How many actions were played before the game was handed to the bots; absent if they play it from the deal.

    The events of those actions come with the first `move`, as the seat would have received them.
    """


class Move(Struct, frozen=True, tag="move", tag_field="type", kw_only=True):
    """Asks the seat for one action; the family of the game defines `view` and `events`."""

    id: int
    view: Any
    """The table as the seat sees it."""
    events: tuple[Any, ...]
    """Events since the previous `move` to this seat, masked for it; the first `move` has all so far."""
    legal: tuple[str, ...] | UnsetType = UNSET
    """Every legal action; absent when the bot declined the list in its answer to `hello`."""
    clock: SeatClock


class GameEnd(Struct, frozen=True, tag="game_end", tag_field="type"):
    """The game is over."""

    id: int
    place: int
    """Of this seat: 1 is best, equal places are tied."""
    places: tuple[int, ...]
    """By seat."""
    scores: tuple[int, ...]
    """By seat: points for a series of games."""
    reason: str
    """Why the game ended, in one word, such as `forfeit`."""
    key: str
    """Names the game: part, table, deal and rotation, as in `0.3.12.1`."""


class Bye(Struct, frozen=True, tag="bye", tag_field="type"):
    """The last line to a process; it has no `id` and no answer."""


Request = Hello | GameStart | Move | GameEnd | Bye


class HelloAnswer(Struct, frozen=True):
    """A bot's answer to `hello`; only `id` is required."""

    id: int
    protocol: int = 1
    """The version that the bot speaks, within the range that `hello` offers."""
    name: Label | None = None
    """The bot's own name, at most 100 characters; null or empty keeps the name it was entered with."""
    version: Label | None = None
    """At most 100 characters; null or empty keeps the version it was entered with."""
    legal: bool = True
    """False declines the list of legal actions in every `move`."""


class BareAnswer(Struct, frozen=True):
    """A bot's answer to `game_start`, `game_end` and any type that it does not know."""

    id: int


class MoveAnswer(Struct, frozen=True):
    """A bot's answer to `move`."""

    id: int
    move: str
    """One of the legal actions, letter for letter."""
    note: Any = None
    """A remark for the replay: kept if it is a string, cut at 500 characters."""


Answer = HelloAnswer | BareAnswer | MoveAnswer
