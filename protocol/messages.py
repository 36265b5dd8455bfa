"""Every line of the protocol as a frozen struct; PROTOCOL.md says the same for people."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Cards = tuple[str, ...]

Label = Annotated[str, Meta(max_length=100)]
"""What a bot says of itself: it is shown to its opponents and to people, so it is kept short."""


class Limits(Struct, frozen=True):
    """What holds for every request that is not a move."""

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
    """Grace on top of each deadline, for the machine's sake; what is used of it still counts."""
    kind: Literal["wall", "cpu"] = "wall"
    """Which time counts: that on the wall, or the CPU time of the bot's process, all threads together."""
    cap_ms: int | None = None
    """With `cpu`: the longest that an action may take on the wall."""


class SeatName(Struct, frozen=True):
    """Who sits at a seat."""

    name: str
    """As the bot says in its answer to `hello`, or as it was entered."""
    team: int
    """Seats of one team win and lose together; without partners each seat is a team."""


class SeatClock(Struct, frozen=True):
    """The asked seat's clock: what is left, and what its last action took (null at first)."""

    bank_ms: float | None
    """What is left of the bank; null where there is none."""
    last_ms: float | None
    """Wall time of the last action, in milliseconds."""
    last_cpu_ms: float | None
    """CPU time of the last action, in milliseconds."""


class CentreStack(Struct, frozen=True, gc=False):
    """One centre stack, bottom to top."""

    cards: Cards
    """Wild cards are shown as themselves."""
    height: int
    """The value reached; it can exceed the number of cards where a ruleset takes cards out from below."""
    needs: str
    """The rank that fits next, as in `protocol.cards.RANKS`."""


class Payoff(Struct, frozen=True, gc=False):
    """The pay-off pile of a seat."""

    top: str | None
    """The card that is turned up; null when the pile is empty."""
    left: int | None
    """Cards in the pile, the top one included; null where the ruleset hides the count."""


class SeatView(Struct, frozen=True, gc=False):
    """What anybody sees of a seat."""

    payoff: Payoff
    hand: int
    """How many cards the hand holds."""
    side: tuple[Cards, ...]
    """Each side stack, bottom to top; `??` is a card that a ruleset hides."""
    team: int
    out: bool
    """Whether the seat has left the game."""


class View(Struct, frozen=True, gc=False):
    """The table as one seat sees it; seats and piles are absolute and count from 0."""

    turn: int
    """Counts the turns of the game, from 1."""
    seat: int
    """The seat that is asked."""
    hand: Cards
    """Its cards, by rank and suit."""
    stock: int
    """How many cards the stock holds."""
    aside: int
    """How many cards of completed stacks were set aside."""
    centre: tuple[CentreStack, ...]
    """By slot; an empty slot has height 0 and keeps its index."""
    seats: tuple[SeatView, ...]


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """Cards were dealt; `flip` events name the pay-off tops."""

    hands: tuple[Cards, ...]
    """By seat, in the order in which they were dealt; `??` in other hands."""
    payoffs: tuple[int, ...]
    """By seat: how many cards the pay-off pile has."""
    sides: tuple[tuple[Cards, ...], ...]
    """By seat and side stack, bottom to top."""
    stock: int
    """How many cards are left in the stock."""


class TurnBegins(Struct, frozen=True, tag="turn", tag_field="type"):
    """A turn of `seat` begins."""

    seat: int


class CardMoved(Struct, frozen=True, tag="move", tag_field="type", rename={"source": "from", "target": "to"}):
    """`seat` moved `card` between two piles, named absolutely: `0h 0p 0s2 c1`."""

    seat: int
    source: str
    """The pile that lost the card."""
    target: str
    """The pile that got it."""
    card: str


class Flip(Struct, frozen=True, tag="flip", tag_field="type"):
    """The next pay-off card of `seat` was turned up."""

    seat: int
    card: str


class Draw(Struct, frozen=True, tag="draw", tag_field="type"):
    """`seat` drew `cards` from the stock, in this order."""

    seat: int
    cards: Cards
    """`??` in other hands."""


class Shuffled(Struct, frozen=True, tag="shuffle", tag_field="type", rename={"source": "from", "target": "to"}):
    """`count` cards of pile `source` were put to pile `target`, and `target` was shuffled."""

    source: str
    """The pile that lost the cards; the same as `to` when a pile was only shuffled."""
    target: str
    """The pile that got them; `aside` is not shuffled before it is needed."""
    count: int
    """How many cards."""


class Count(Struct, frozen=True, tag="count", tag_field="type"):
    """`seat` asked for the counts of the pay-off piles."""

    seat: int
    left: tuple[int, ...] | None
    """By seat: how many cards each pile has, where all seats are told; null where only `seat` is, in its view."""


class Pass(Struct, frozen=True, tag="pass", tag_field="type"):
    """`seat` ended its turn without a discard."""

    seat: int


class Out(Struct, frozen=True, tag="out", tag_field="type"):
    """`seat` left the game by the referee's verdict `code`."""

    seat: int
    code: str
    """`crash`, `timeout`, `protocol`, `illegal`, or of a person `resigned`."""


Event = Deal | TurnBegins | CardMoved | Flip | Draw | Shuffled | Count | Pass | Out


class Hello(Struct, frozen=True, tag="hello", tag_field="type"):
    """The first line to a process: which protocol versions the referee speaks, and its limits."""

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
    ruleset: str
    """Its name."""
    rules: dict[str, Any]
    """Every parameter of the ruleset by its name."""
    seat: int
    """Where the bot sits in this game, from 0."""
    seats: tuple[SeatName, ...]
    """By seat."""
    rng: int
    """A seed for the randomness of the bot, 31 bits; whoever uses it plays the same game again."""
    commit: str
    """`sha256:` and the digest of the tournament seed, which is published at the end."""
    clock: ClockRules


class Move(Struct, frozen=True, tag="move", tag_field="type", kw_only=True):
    """The seat is asked for one action."""

    id: int
    view: View
    events: tuple[Event, ...]
    """What happened since this process was last asked, masked for this seat."""
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
    """How the game came to its end, in one word, such as `payoff_empty`."""
    key: str
    """Names the game: table, deal and rotation, as in `0.12.1`."""


class Bye(Struct, frozen=True, tag="bye", tag_field="type"):
    """The last line to a process; the only one without an `id`, and without an answer."""


Request = Hello | GameStart | Move | GameEnd | Bye


class HelloAnswer(Struct, frozen=True):
    """A bot's answer to `hello`; all but `id` may be left out."""

    id: int
    protocol: int = 1
    """The version that the bot speaks, within the range that `hello` offers."""
    name: Label | None = None
    """How the bot calls itself, at most 100 characters; null or empty leaves the name it was entered with."""
    version: Label | None = None
    """At most 100 characters; null or empty leaves the version it was entered with."""
    legal: bool = True
    """False declines the list of legal actions in every `move`."""


class BareAnswer(Struct, frozen=True):
    """A bot's answer to `game_start`, `game_end` and any type it does not know."""

    id: int


class MoveAnswer(Struct, frozen=True):
    """A bot's answer to `move`."""

    id: int
    move: str
    """One of the legal actions, letter for letter."""
    note: Any = None
    """A remark for the replay, kept when it is a string, cut at 500 characters."""


Answer = HelloAnswer | BareAnswer | MoveAnswer
