"""A bot for Nuts that looks a few moves ahead, and knows what its partner will do if it thinks alike.

It counts what a move brings by itself: a Nuts card, a card in the centre, a card turned up, a column emptied; and what
the best moves of its team after that would bring. Partners share the columns, so the Nuts player chooses first, and the
Cards player chooses on the table that this leaves. Without a move that brings anything, the Cards player turns.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

View = dict[str, Any]
Pile = tuple[str, ...]

VALUE = {rank: value for value, rank in enumerate("A23456789TJQK", start=1)}
SUITS = "CDHS"
RED = "DH"
HIDDEN = "??"
FOUNDATION = "f"

NUTS = 2.5  # its penalty, and a step to the end of the hand
CENTRE = 1.3  # a point, and who waits may find the place taken
LOST = -6.0  # the last Nuts card of a team that has fewer points
HELP = -1.2  # a foundation that now takes the opponent's Nuts card
UNCOVER = 0.8
EMPTY = 0.7  # a column that is empty takes a Nuts card
WASTE = 0.25  # a card less to turn
SHIFT = -0.1  # a move for its own sake
TURN = 0.1
LATER = 0.8  # what the next move brings counts less: somebody may be faster
DEPTH = 3


class Table(NamedTuple):
    """What the bot knows of its team's cards, and the foundations."""

    nuts: str
    """The top of the Nuts pile; `??` if it is not known, empty if there is none."""
    left: int
    columns: tuple[Pile, ...]
    waste: Pile
    heights: tuple[int, ...]
    """By foundation, two for each suit."""
    lead: int
    """Points ahead of the opponents."""
    threat: str
    """The top of the opponents' Nuts pile."""


class Move(NamedTuple):
    """Some cards go from a pile to another: `n`, `w`, a column by its number, or a foundation."""

    source: str
    card: str
    count: int
    target: str

    def action(self) -> str:
        return f"{self.card}-{self.target if self.target == FOUNDATION else 't' + self.target}"


class Player:
    """Plays one hand; it remembers for how long it has done nothing but turn."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.rules = rules
        self.turns = 0
        self.seen: set[tuple[Pile, ...]] = set()

    def choose(self, view: View, legal: list[str]) -> str:
        """Return the best action of the seat."""
        table = read_table(view)
        own = view["sides"][view["team"]]
        around = (own["stock"] + len(own["waste"])) // self.rules["turned"] + 2
        if view["part"] == "cards" and (partner := find_best(table, "nuts", self.rules)):
            table = play(table, partner)
        stuck = self.turns > around or (view["part"] == "nuts" and view["idle"] > 6)
        best = find_best(table, view["part"], self.rules, legal, -9.0 if stuck else TURN, self.seen)
        self.seen.add(table.columns)
        if best:
            self.turns = 0
            return best.action()
        self.turns += 1
        return "turn" if "turn" in legal else "wait"


def read_table(view: View) -> Table:
    own, other = view["sides"][view["team"]], view["sides"][1 - view["team"]]
    return Table(
        own["nuts"] or "",
        own["nuts_left"],
        tuple(map(tuple, own["columns"])),
        tuple(own["waste"]),
        tuple(VALUE[top[0]] if top else 0 for top in view["centre"]),
        own["points"] - other["points"],
        other["nuts"] or "",
    )


def find_best(table: Table, part: str, rules: dict[str, Any], legal: list[str] | None = None, turn=TURN, seen=()) -> Move | None:
    """Return the move of a seat that plays `part` which brings most, if that is more than a turn would."""
    best, most = None, turn + plan(table, rules, DEPTH - 1) * LATER
    for move in list_moves(table, part, rules):
        if (legal is None or move.action() in legal) and (not seen or play(table, move).columns not in seen):
            value = weigh(table, move) + LATER * plan(play(table, move), rules, DEPTH - 1)
            if value > most:
                best, most = move, value
    return best


def plan(table: Table, rules: dict[str, Any], depth: int) -> float:
    """Return what the team can bring about in a few moves."""
    most = 0.0
    if depth:
        for move in list_moves(table, "both", rules):
            value = weigh(table, move)
            if value + LATER * 4 > most:
                most = max(most, value + LATER * plan(play(table, move), rules, depth - 1))
    return most


def list_moves(table: Table, part: str, rules: dict[str, Any]) -> Iterator[Move]:
    """Yield the moves of a seat of the team."""
    if part != "cards" and table.nuts:
        yield from list_targets(table, "n", table.nuts, 1, rules)
    if part != "nuts" and table.waste:
        yield from list_targets(table, "w", table.waste[-1], 1, rules)
    for number, pile in enumerate(table.columns):
        for count in list_counts(pile, rules):
            yield from list_targets(table, str(number), pile[-count], count, rules)


def list_counts(pile: Pile, rules: dict[str, Any]) -> list[int]:
    """Return how many cards may leave a column together."""
    run = sum(card != HIDDEN for card in pile)
    if rules["runs"] == "whole":
        return sorted({1, run}) if run else []
    return list(range(1, run + 1))


def list_targets(table: Table, source: str, card: str, count: int, rules: dict[str, Any]) -> Iterator[Move]:
    if card == HIDDEN:
        return
    if count == 1 and find_foundation(card, table.heights) is not None:
        yield Move(source, card, 1, FOUNDATION)
    own = table.columns[int(source)] if source.isdigit() else ()
    if rules["runs"] == "whole" and own and count < sum(other != HIDDEN for other in own):
        return
    emptied = False
    for number, pile in enumerate(table.columns):
        if pile:
            if fits(card, pile[-1]):
                yield Move(source, card, count, str(number))
        elif not emptied and count != len(own) and (rules["empty_column"] == "any" or card[0] == "K"):
            emptied = True
            yield Move(source, card, count, str(number))


def fits(card: str, top: str) -> bool:
    """Tell whether `card` may lie on `top` in a column."""
    return top != HIDDEN and VALUE[top[0]] == VALUE[card[0]] + 1 and (top[1] in RED) != (card[1] in RED)


def find_foundation(card: str, heights: tuple[int, ...]) -> int | None:
    """Return the foundation that takes a card."""
    place = 2 * SUITS.index(card[1])
    for foundation in (place, place + 1):
        if heights[foundation] == VALUE[card[0]] - 1:
            return foundation
    return None


def play(table: Table, move: Move) -> Table:
    """Return the table after a move of the team; what is turned up then is not known."""
    columns = list(table.columns)
    cards: Pile = (move.card,)
    if move.source == "n":
        table = table._replace(nuts=HIDDEN if table.left > 1 else "", left=table.left - 1)
    elif move.source == "w":
        table = table._replace(waste=table.waste[:-1])
    else:
        pile = columns[int(move.source)]
        cards, columns[int(move.source)] = pile[-move.count :], pile[: -move.count]
    if move.target != FOUNDATION:
        columns[int(move.target)] += cards
        return table._replace(columns=tuple(columns))
    place = find_foundation(move.card, table.heights) or 0
    heights = (*table.heights[:place], table.heights[place] + 1, *table.heights[place + 1 :])
    return table._replace(columns=tuple(columns), heights=heights, lead=table.lead + 1)


def weigh(table: Table, move: Move) -> float:
    """Return what a move brings by itself."""
    value = SHIFT
    if move.source == "n":
        value += NUTS
        if table.left == 1 and table.lead + 2 + (move.target == FOUNDATION) < 0:
            value += LOST
    elif move.source == "w":
        value += WASTE
    else:
        value += weigh_column(table.columns[int(move.source)], move.count)
    if move.target == FOUNDATION:
        value += CENTRE + weigh_help(table, move.card)
    elif not table.columns[int(move.target)]:
        value -= EMPTY
    return value


def weigh_column(pile: Pile, count: int) -> float:
    """Return what it brings that cards leave a column."""
    if count == len(pile):
        return EMPTY
    return UNCOVER if pile[-count - 1] == HIDDEN else 0.0


def weigh_help(table: Table, card: str) -> float:
    """Return what it costs if the opponents' Nuts card fits onto `card`."""
    threat = table.threat
    if not threat or threat[1] != card[1] or VALUE[threat[0]] != VALUE[card[0]] + 1:
        return 0.0
    return 0.0 if find_foundation(threat, table.heights) is not None else HELP


def main() -> None:
    player = Player({})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            player = Player(request["rules"])
        elif request["type"] == "move":
            answer["move"] = player.choose(request["view"], request["legal"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
