"""The hidden cards of Nuts, dealt anew: those of each pack that nobody has seen face up.

What lay on top of a waste, if a ruleset hides the rest of it, counts as seen only if an event names it, or the view
that the seat has now.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, Cards
from malice.protocol.messages import Out
from malice.referee.errors import DataError
from malice.referee.games.nuts.engine import TEAMS, Nuts
from malice.referee.games.nuts.messages import Burned, CardsMoved, Deal, Flip, Lapse, Redeal, Turned, View
from malice.referee.games.nuts.moves import CENTRE, PACK, burn
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import TOPS, Side, State, deal_side, tell_deal
from malice.referee.rules import Events, World
from malice.referee.worlds import fill_unseen


def resample(rules: Nuts, view: View, heard: Events, rng: Random) -> World:
    """Deal a world in which the seat heard just this; all orders of the cards that nobody saw are equally likely.

    Raises:
        DataError: there is none.
    """
    table = Table(rules.parameters, rules.teams)
    for event in heard:
        table.follow(event)
    for team, shown in enumerate(view.sides):
        table.learn(table.sides[team].waste, shown.waste)
    packs = [fill_unseen(known, PACK, rng) for known in table.known]
    names = dict(zip(sum(table.packs, ()), sum(packs, ()), strict=True))
    state = State(
        busy=tuple(view.tick + left if left else 0 for left in view.busy),
        sides=tuple(_name_side(side, names) for side in table.sides),
        heights=tuple(tops.index(top) for tops, top in zip(TOPS, view.centre, strict=True)),
        tick=view.tick,
        idle=view.idle,
        burned=table.burned,
    )
    deal = tell_deal(tuple(deal_side(rules.parameters, pack) for pack in packs))
    told = (
        Turned(event.seat, tuple(names[place] for place in table.turned.pop(0))) if isinstance(event, Turned) else event
        for event in heard[1:]
    )
    return World(state, (deal, *told), sum(isinstance(event, CardsMoved | Turned | Lapse) for event in heard))


class Table:
    """Follows where each card of the deal went; cards are called by their places in the packs.

    Args:
        rules: the parameters.
        teams: by seat.
    """

    def __init__(self, rules: Parameters, teams: Sequence[int]) -> None:
        self._rules = rules
        self._teams = teams
        self.packs = [tuple(f"{team} {place}" for place in range(len(PACK))) for team in range(TEAMS)]
        self.known: list[list[str | None]] = [[None] * len(PACK) for _ in range(TEAMS)]
        """By team and place: the card, if the seat has seen it."""
        self.sides = [deal_side(rules, pack) for pack in self.packs]
        self.turned: list[Cards] = []
        """The cards of all turns so far."""
        self.burned = False

    def learn(self, places: Sequence[str], cards: Sequence[str]) -> None:
        """Take down which cards were seen in these places."""
        for place, card in zip(places, cards, strict=True):
            if card != HIDDEN:
                team, number = map(int, place.split())
                self.known[team][number] = card

    def follow(self, event: Struct) -> None:
        """Move the cards as an event says, and learn what it shows."""
        if isinstance(event, Deal):
            for side, dealt in zip(self.sides, event.sides, strict=True):
                for pile, cards in zip((side.nuts, *side.columns), (dealt.nuts, *dealt.columns), strict=True):
                    self.learn(pile, cards)
        elif isinstance(event, CardsMoved):
            self._move(event)
        elif isinstance(event, Flip):
            self._flip(event)
        elif isinstance(event, Turned):
            self._turn(event)
        elif isinstance(event, Redeal):
            team = self._teams[event.seat]
            side = self.sides[team]
            self.sides[team] = replace(side, stock=side.waste[::-1], waste=())
        elif isinstance(event, Burned):
            self.sides = [burn(side, team in event.redealt) for team, side in enumerate(self.sides)]
            self.burned = True
        elif isinstance(event, Out):
            raise DataError("events: expected those of a hand that goes on, got a seat that left")

    def _move(self, event: CardsMoved) -> None:
        team, source, target = int(event.source[0]), event.source[1:], event.target
        pile = self._get(team, source)
        size = len(event.cards)
        self.learn(pile[-size:], event.cards)
        self._set(team, source, pile[:-size])
        if target[0] == CENTRE:
            self.sides[team] = replace(self.sides[team], centre=self.sides[team].centre + 1)
        else:
            self._set(team, target[1:], self._get(team, target[1:]) + pile[-size:])
        if target[0] == CENTRE or source[0] in "nw":
            self._progress()

    def _flip(self, event: Flip) -> None:
        team, name = int(event.pile[0]), event.pile[1:]
        pile = self._get(team, name)
        self.learn(pile[-1:], (event.card,))
        if name[0] == "t":
            side, column = self.sides[team], int(name[1:])
            hidden = (*side.hidden[:column], len(pile) - 1, *side.hidden[column + 1 :])
            self.sides[team] = replace(side, hidden=hidden)
        self._progress()

    def _turn(self, event: Turned) -> None:
        team, size = self._teams[event.seat], len(event.cards)
        side = self.sides[team]
        places = side.stock[: -size - 1 : -1]
        self.learn(places, event.cards)
        self.turned.append(places)
        self.sides[team] = replace(side, stock=side.stock[:-size], waste=side.waste + places)

    def _progress(self) -> None:
        """Take down that the tick is not idle."""
        self.burned &= self._rules.burn == "once"

    def _get(self, team: int, name: str) -> Cards:
        side = self.sides[team]
        return {"n": side.nuts, "w": side.waste}.get(name) or (side.columns[int(name[1:])] if name[0] == "t" else ())

    def _set(self, team: int, name: str, pile: Cards) -> None:
        side = self.sides[team]
        if name[0] == "t":
            column = int(name[1:])
            self.sides[team] = replace(side, columns=(*side.columns[:column], pile, *side.columns[column + 1 :]))
        else:
            self.sides[team] = replace(side, nuts=pile) if name == "n" else replace(side, waste=pile)


def _name_side(side: Side, names: dict[str, str]) -> Side:
    def name(pile: Cards) -> Cards:
        return tuple(names[place] for place in pile)

    columns = tuple(map(name, side.columns))
    return replace(side, nuts=name(side.nuts), columns=columns, stock=name(side.stock), waste=name(side.waste))
