"""A bot for Nuts that plays each of its actions to an end in its head, on cards as they may lie, and takes the best.

It remembers its team's stock from the first pass on, and which of its cards went to the centre. What it has not seen it
deals at random, the same way for every action that it compares, and then plays alone, quickly and simply: Nuts cards
and cards to the centre first, then what turns up a card, then the waste, then a turn. An action is worth the points
that follow on average. Partners share the columns: the Cards player leaves them to a Nuts player without a Nuts card to
play, so that two of these bots do not reach for the same card.
"""

import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

VALUE = {rank: value for value, rank in enumerate("A23456789TJQK", start=1)}
PACK = [rank + suit for suit in "CDHS" for rank in VALUE]
HEIGHT = {card: VALUE[card[0]] for card in PACK}
PLACE = {card: 2 * "CDHS".index(card[1]) for card in PACK}
"""The first foundation of a card's suit."""
BASES = {
    card: [rank + suit for rank in VALUE if VALUE[rank] == HEIGHT[card] + 1 for suit in ("CS", "DH")[card[1] in "CS"]]
    or ["", ""]
    for card in PACK
}
"""By card: the two that it may lie on in a column; none for a king."""
HIDDEN = "??"

GAMES = 16
"""How often each action is played to an end."""
STEPS = 70
"""How many actions at most that takes."""
NUTS = 2.0
SHOWN = 0.4
"""What a Nuts card is worth that is gone, and a card of a column that is turned up; one in the centre is worth 1."""
LATER = 0.98
"""What a point is worth one action later: the hand may end."""
MORE = 0.02
"""By how much an action must be better than a turn, or than to wait."""
KEEP = 0.3
"""The chance that a waste card that fits onto a column is not played there."""


class Memory:
    """What the bot has seen of its team's cards; piles from bottom to top."""

    def __init__(self, team: int) -> None:
        self.team = str(team)
        self.stock: list[str] = []
        self.waste: list[str] = []
        self.gone: set[str] = set()
        """Cards of the team in the centre."""

    def follow(self, event: dict[str, Any]) -> None:
        """Take note of an event."""
        if event["type"] == "deal":
            self.stock = list(event["sides"][int(self.team)]["stock"])
        elif event["type"] == "burn":
            self._burn(int(self.team) in event["redealt"])
        elif event["type"] == "move" and event["from"][0] == self.team:
            if event["from"][1] == "w":
                del self.waste[-1:]
            if event["to"][0] == "f":
                self.gone.update(event["cards"])
        elif event["type"] in ("turn", "redeal") and str(event["seat"] % 2) == self.team:
            if event["type"] == "redeal":
                self.stock, self.waste = self.waste[::-1], []
            else:
                cards = event.get("cards", [])
                del self.stock[len(self.stock) - len(cards) :]
                self.waste += cards

    def _burn(self, redealt: bool) -> None:
        if redealt:
            self.stock, self.waste = self.waste[::-1] + self.stock, []
        self.stock = self.stock[-1:] + self.stock[:-1]


class Table:
    """The cards of a team and the foundations, as they are or may be; it changes as it is played."""

    def __init__(self, view: dict[str, Any], memory: Memory, rules: dict[str, Any]) -> None:
        own = view["sides"][view["team"]]
        self.nuts = [HIDDEN] * (own["nuts_left"] - 1) + [own["nuts"]] * bool(own["nuts_left"])
        self.columns = [list(pile) for pile in own["columns"]]
        self.down = [pile.count(HIDDEN) for pile in self.columns]
        self.stock = recall(memory.stock, [HIDDEN] * own["stock"])
        self.waste = recall(memory.waste, own["waste"])
        self.heights = [VALUE[top[0]] if top else 0 for top in view["centre"]]
        self.turned: int = rules["turned"]
        self.kings: bool = rules["empty_column"] == "king"
        self.points = 0.0
        self.worth = 1.0
        """What a point counts that is made now."""
        self.idle = 0
        """Turns since something else was done."""

    def copy(self) -> "Table":
        other = object.__new__(Table)
        other.__dict__.update(self.__dict__)
        other.nuts, other.stock, other.waste = self.nuts[:], self.stock[:], self.waste[:]
        other.columns = [pile[:] for pile in self.columns]
        other.down, other.heights = self.down[:], self.heights[:]
        return other

    def list_piles(self) -> Iterator[list[str]]:
        yield from (self.nuts, self.stock, self.waste, *self.columns)

    def deal(self, unseen: list[str], rng: Random) -> None:
        """Put cards that were not seen where cards lie that are not known."""
        cards = unseen[:]
        shuffle(cards, rng)
        for pile in self.list_piles():
            for place, card in enumerate(pile):
                if card == HIDDEN:
                    pile[place] = cards.pop()

    def act(self, action: str) -> None:
        """Play an action."""
        if action == "turn":
            self.turn()
        elif action != "wait":
            card, target = action.split("-")
            if [card] == self.nuts[-1:]:
                source = -1
            elif [card] == self.waste[-1:]:
                source = -2
            else:
                source = next(number for number, pile in enumerate(self.columns) if card in pile)
            self.move(card, source, None if target == "f" else int(target[1:]))

    def turn(self) -> None:
        self.idle += 1
        if not self.stock:
            self.stock, self.waste = self.waste[::-1], []
        self.waste += self.stock[: -self.turned - 1 : -1]
        del self.stock[-self.turned :]

    def move(self, card: str, source: int, target: int | None) -> None:
        """Move a card, with all that lies on it, from a column, the Nuts (-1) or the waste (-2)."""
        self.idle = 0
        cards = [card]
        if source == -1:
            self.nuts.pop()
            self.points += NUTS * self.worth
        elif source == -2:
            self.waste.pop()
        else:
            pile = self.columns[source]
            start = pile.index(card)
            cards = pile[start:]
            del pile[start:]
            if pile and self.down[source] == len(pile):
                self.down[source] -= 1
                self.points += SHOWN * self.worth
        if target is not None:
            self.columns[target] += cards
            return
        place = self.find_place(card)
        assert place is not None
        self.heights[place] += 1
        self.points += self.worth

    def find_place(self, card: str) -> int | None:
        """Return the foundation that takes a card."""
        place, below = PLACE[card], HEIGHT[card] - 1
        if self.heights[place] == below:
            return place
        return place + 1 if self.heights[place + 1] == below else None

    def play_on(self, rng: Random) -> float:
        """Play until nothing happens any more; return the points that this brings."""
        tops = self.list_tops()
        for _ in range(STEPS):
            self.worth *= LATER
            if not self.nuts:
                break
            if not self.idle:  # a turn changes nothing for the other piles
                tops = self.list_tops()
                if self.play_nuts(tops) or self.play_columns(tops) or self.uncover(tops):
                    continue
            if not self.play_waste(tops, rng):
                if self.idle * self.turned > len(self.stock) + len(self.waste) + self.turned:
                    break
                self.turn()
        return self.points

    def list_tops(self) -> dict[str, int]:
        """Return the columns by their tops."""
        return {pile[-1]: number for number, pile in enumerate(self.columns) if pile}

    def play_nuts(self, tops: dict[str, int]) -> bool:
        """Play the Nuts card, onto an empty column only if it fits nowhere else; return whether it went."""
        card = self.nuts[-1]
        column = None
        if self.find_place(card) is None:
            column = find_column(card, tops)
            if column is None:
                column = self.find_empty(card)
            if column is None:
                return False
        self.move(card, -1, column)
        return True

    def find_empty(self, card: str) -> int | None:
        """Return an empty column that takes a card."""
        if [] in self.columns and (not self.kings or card[0] == "K"):
            return self.columns.index([])
        return None

    def play_columns(self, tops: dict[str, int]) -> bool:
        """Play the top of a column to the centre."""
        for card, source in tops.items():
            if self.find_place(card) is not None:
                self.move(card, source, None)
                return True
        return False

    def uncover(self, tops: dict[str, int]) -> bool:
        """Move a whole run, if that turns up a card or empties a column."""
        for number, pile in enumerate(self.columns):
            if pile:
                card = pile[self.down[number]]
                column = find_column(card, tops)
                if column is not None:
                    self.move(card, number, column)
                    return True
        return False

    def play_waste(self, tops: dict[str, int], rng: Random) -> bool:
        """Play the top of the waste to the centre, or at most times onto a column."""
        if not self.waste:
            return False
        card, column = self.waste[-1], None
        if self.find_place(card) is None:
            column = find_column(card, tops)
            if column is None or rng.random() < KEEP:
                return False
        self.move(card, -2, column)
        return True


def find_column(card: str, tops: dict[str, int]) -> int | None:
    """Return the column whose top takes a card."""
    one, other = BASES[card]
    return tops[one] if one in tops else tops.get(other)


def recall(remembered: list[str], shown: list[str]) -> list[str]:
    """Return a pile as it is remembered, or as it shows if that cannot be true."""
    return list(remembered if len(remembered) == len(shown) else shown)


def shuffle(cards: list[str], rng: Random) -> None:
    """Shuffle; `random()` alone gives the same numbers in every version of Python."""
    for last in range(len(cards) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        cards[last], cards[other] = cards[other], cards[last]


class Player:
    """Plays one hand."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.rules = start["rules"]
        self.rng = Random(start["rng"])
        self.memory = Memory(start["seats"][start["seat"]]["team"])

    def choose(self, request: dict[str, Any]) -> str:
        """Return the action that brings most points on average."""
        for event in request["events"]:
            self.memory.follow(event)
        view = request["view"]
        table = Table(view, self.memory, self.rules)
        actions = list_sensible(table, view["part"], request["legal"])
        if len(actions) == 1:
            return actions[0]
        seen = self.memory.gone.union(*table.list_piles())
        values = self.weigh(table, actions, [card for card in PACK if card not in seen])
        values[-1] += MORE
        return actions[values.index(max(values))]

    def weigh(self, table: Table, actions: list[str], unseen: list[str]) -> list[float]:
        """Return the points that each action brings, on average."""
        values = [0.0] * len(actions)
        for _ in range(GAMES):
            dealt = table.copy()
            dealt.deal(unseen, self.rng)
            seed = int(self.rng.random() * 2**32)
            for number, action in enumerate(actions):
                after = dealt.copy()
                after.act(action)
                values[number] += after.play_on(Random(seed)) / GAMES
        return values


def list_sensible(table: Table, part: str, legal: list[str]) -> list[str]:
    """Return the actions to compare; the last of them is what to do without anything better."""
    *moves, rest = legal
    if "turn" in moves:
        moves, rest = moves[:-1], "turn"
    nuts = [move for move in moves if move[:2] == table.nuts[-1]]
    if part == "cards":
        if not table.copy().play_nuts(table.list_tops()):
            moves = [move for move in moves if [move[:2]] == table.waste[-1:]]
    elif nuts and nuts[0].endswith("f"):
        return nuts[:1]
    return [*moves, rest]


def main() -> None:
    player = None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            player = Player(request)
        elif request["type"] == "move" and player:
            answer["move"] = player.choose(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
