"""What the server and the process that plays say to each other, a line of JSON each; a kept game is such lines too."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from malice.referee.game import Position
from malice.referee.records import Count
from malice.referee.seat import Played
from malice.tournaments.running.orders import MatchOrder
from malice.tournaments.terminal.remarks import Remark


class TableOrder(Struct, frozen=True, tag="table"):
    """What a process is to play: the games of one deal, in every rotation of seats."""

    order: MatchOrder
    """Its name is that of the tournament that it becomes in its league."""
    league: str = ""
    """The file that keeps its games; empty if nobody keeps them."""
    key: str = ""
    """The game to begin with; by default the first."""
    played: tuple[tuple[Played, ...], ...] = ()
    """What was played in it before, ask by ask: seats that answered so answer so again."""


class NextGame(Struct, frozen=True, tag="next"):
    """Asks the server whether a game is to begin; `GoAhead` answers."""

    key: str


class GameDealt(Struct, frozen=True, tag="begun"):
    """A game begins."""

    key: str
    family: str
    ruleset: str
    rules: Any
    labels: tuple[str, ...]
    """By seat."""
    people: tuple[int, ...]
    """Where each person sits, in the order of the command line."""
    deal_seed: str
    position: Position | UnsetType = UNSET
    """As in `GameOrder`."""


class PersonAsked(Struct, frozen=True, tag="asked"):
    """A person is asked for an action; `PersonAnswer`, `PersonResigns` or `HintWanted` answers."""

    seat: int


class BotHint(Struct, frozen=True, tag="hinted"):
    """What a bot would play in the place of a seat that was asked; what answers `PersonAsked` follows."""

    seat: int
    bot: str
    action: str
    """Empty if there is none."""
    note: str
    """What the bot says about it, or why there is no hint."""


class PlayedTogether(Struct, frozen=True, tag="played"):
    """What came of an ask: first the verdicts, then the actions, by seat."""

    news: tuple[Played, ...]


class GameEnded(Struct, frozen=True, tag="ended"):
    """A game is over, and its record is kept, if anything is."""

    key: str
    places: tuple[int, ...]
    scores: tuple[int, ...]
    reason: str
    verdicts: dict[int, str]
    """By seat: the sentence of its verdict."""
    remarks: dict[int, tuple[Remark, ...]] = {}
    """By seat of a person: where it turned, and why."""


class PlayFailed(Struct, frozen=True, tag="failed"):
    """The process gives up; the sentence is for people."""

    sentence: str


class GoAhead(Struct, frozen=True, tag="go"):
    """Lets a game begin."""


class PersonAnswer(Struct, frozen=True, tag="answer"):
    """The action of a person."""

    action: str
    wall: Count
    """Nanoseconds that it took."""


class PersonResigns(Struct, frozen=True, tag="resign"):
    """The person gives up."""

    wall: Count


class HintWanted(Struct, frozen=True, tag="hint"):
    """The person who is asked wants to know what a bot would play; `BotHint` says it."""

    bot: str


Told = NextGame | GameDealt | PersonAsked | BotHint | PlayedTogether | GameEnded | PlayFailed
"""What the process says."""
Reply = GoAhead | PersonAnswer | PersonResigns | HintWanted
"""What the server says, besides the `TableOrder` at first."""

encode = msgspec.json.Encoder().encode
decode_told = msgspec.json.Decoder(Told).decode
decode_reply = msgspec.json.Decoder(Reply).decode
decode_order = msgspec.json.Decoder(TableOrder).decode
