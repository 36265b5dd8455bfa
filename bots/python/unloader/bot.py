"""A bot for Double Solitaire that plans its turn: it looks for the plays that leave it best off.

It sees each card once, and forgets none: a discard pile that is turned over is a stock whose order it knows. From the
position it searches all that this turn can come to, each position once whatever the order of the plays, up to `LIMIT`
of them. The worth of a position is the lead in cards, and what both seats can hope for: how likely the next card of
each stock finds a place, and how many cards of each discard pile do. Then it imagines the opponent's best reply to the
few positions that look best, with the card that it knows or some that it may be. Between the best of these it decides
by playing on: `GAMES` times it deals the cards that nobody has seen, and both seats play `DEPTH` turns in the simplest
way. The best way is played action by action.

No clock, and all chance is fixed: the same requests have the same answers.
"""

import json
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

LIMIT = 1500  # positions looked at in a turn of its own
REPLY_LIMIT = 40  # and in an imagined turn of the opponent
FINALISTS = 6  # positions for which the reply is imagined
SAMPLES = 6  # cards that the opponent may draw, if its next card is unknown
PLAYED_OUT = 4  # of the finalists those from which it plays on
GAMES, DEPTH = 6, 30  # how often, and for how many turns
CARD, WIN = 100, 100_000
FINISH = 300  # what it is worth to win a game that is played on, beside the cards
# By how soon a card comes: what it is worth if it finds a place, in hundredths of a card.
HOPE = (40, 20, 10)
FEAR = (60, 30, 15)
TOPS = (40, 20, 10)  # the same for the cards of a discard pile, from its top

RANKS = "A23456789TJQK"
SUITS = "CDHS"
NONE = -1  # no card
NAMES = [rank + suit for suit in SUITS for rank in RANKS]
NUMBER = {name: number for number, name in enumerate(NAMES)}
RANK = [number % 13 for number in range(52)]
SUIT = [number // 13 for number in range(52)]
RED = [SUIT[number] in (1, 2) for number in range(52)]
FITS = [
    {other for other in range(52) if RANK[other] == RANK[card] + 1 and RED[other] != RED[card]} for card in range(52)
]
LOADS = [
    {other for other in (card - 1, card + 1) if 0 <= other < 52 and SUIT[other] == SUIT[card]} for card in range(52)
]

Pile = tuple[int, ...]
Stocks = tuple[list[int], list[int]]  # its own and the opponent's, bottom to top, NONE for an unknown card


class Position(NamedTuple):
    """What changes within a turn."""

    hand: int
    own: Pile  # discard pile
    other: Pile
    table: tuple[Pile, ...]
    heights: Pile


End = tuple[Position, list[str]]  # of a turn, and the actions that lead there


class Rules:
    """What the ruleset allows."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.moves = rules["table_moves"]
        self.empty = {"any": set(range(52)), "king": {12, 25, 38, 51}, "none": set[int]()}[rules["empty_pile"]]
        self.loads_pack = rules["loading"] != "none"
        self.loads_table = rules["loading"] == "all"


def list_plays(position: Position, rules: Rules) -> Iterator[tuple[str, Position]]:
    """Yield every play, and the position after it; those that end the turn are left out."""
    hand, own, other, table, heights = position
    if hand != NONE:
        after = position._replace(hand=NONE)
        yield from place_card("h", hand, after, rules.loads_pack, rules)
    if own:
        after = position._replace(own=own[:-1])
        yield from place_card("d", own[-1], after, rules.loads_pack, rules)
    for index, pile in enumerate(table):
        if not pile:
            continue
        card = pile[-1]
        if heights[SUIT[card]] == RANK[card]:
            yield f"t{index}-f", build(position._replace(table=put(table, index, pile[:-1])), card)
        if rules.loads_table and other and other[-1] in LOADS[card]:
            yield f"t{index}-o", position._replace(table=put(table, index, pile[:-1]), other=other + (card,))
        size = len(pile)
        counts = (
            range(1, size + 1) if rules.moves == "run" else (1, size) if rules.moves != "top" and size > 1 else (1,)
        )
        for count in counts:
            for target in list_targets(pile[-count], table, rules):
                if target != index and (table[target] or count < size):
                    moved = put(put(table, index, pile[:-count]), target, table[target] + pile[-count:])
                    name = f"t{index}x{count}" if count > 1 else f"t{index}"
                    yield f"{name}-t{target}", position._replace(table=moved)


def place_card(name: str, card: int, after: Position, loads: bool, rules: Rules) -> Iterator[tuple[str, Position]]:
    """Yield the plays of a single card that has left its place in `after`."""
    if after.heights[SUIT[card]] == RANK[card]:
        yield f"{name}-f", build(after, card)
    for target in list_targets(card, after.table, rules):
        yield f"{name}-t{target}", after._replace(table=put(after.table, target, after.table[target] + (card,)))
    if loads and after.other and after.other[-1] in LOADS[card]:
        yield f"{name}-o", after._replace(other=after.other + (card,))


def list_targets(card: int, table: tuple[Pile, ...], rules: Rules) -> Iterator[int]:
    """Yield the table piles that take a card, of the empty ones the first."""
    fits, empty = FITS[card], card in rules.empty
    for index, pile in enumerate(table):
        if pile:
            if pile[-1] in fits:
                yield index
        elif empty:
            yield index
            empty = False


def put(piles: tuple[Pile, ...], index: int, pile: Pile) -> tuple[Pile, ...]:
    return piles[:index] + (pile,) + piles[index + 1 :]


def build(position: Position, card: int) -> Position:
    suit = SUIT[card]
    heights = position.heights
    return position._replace(heights=heights[:suit] + (heights[suit] + 1,) + heights[suit + 1 :])


class Memory:
    """The stocks of both seats as far as they are known, and the cards that nobody has seen yet."""

    def __init__(self) -> None:
        self.stocks: list[list[int]] = [[], []]  # bottom to top, NONE for an unknown card
        self.discards: list[list[int]] = [[], []]
        self.unseen = set(range(52))

    def follow(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            seat = event.get("seat", 0)
            if event["type"] == "deal":
                self.unseen -= {NUMBER[card] for pile in event["table"] for card in pile}
                self.stocks = [[NONE] * int(size) for size in event["stocks"]]
            elif event["type"] == "draw":
                self.stocks[seat].pop()
                self.unseen.discard(NUMBER[event["card"]])
            elif event["type"] == "turn_over":
                self.stocks[seat] = self.discards[seat][::-1]
                self.discards[seat] = []
            elif event["type"] == "move":
                source, target = event["from"], event["to"]
                if source[-1] == "d":
                    self.discards[int(source[0])].pop()
                if target[-1] == "d":
                    self.discards[int(target[0])].append(NUMBER[event["cards"][0]])


class Turn:
    """Plans a turn."""

    def __init__(self, view: dict[str, Any], rules: Rules, memory: Memory) -> None:
        seat = view["seat"]
        self.rules = rules
        self.unseen = sorted(memory.unseen)
        self.stocks: Stocks = (memory.stocks[seat], memory.stocks[1 - seat])
        own, other = (tuple(NUMBER[card] for card in view["seats"][each]["discard"]) for each in (seat, 1 - seat))
        table = tuple(tuple(NUMBER[card] for card in pile) for pile in view["table"])
        hand = NUMBER[view["card"]] if view["card"] else NONE
        self.position = Position(hand, own, other, table, tuple(view["foundations"]))

    def plan(self) -> list[str]:
        """Return the actions of the turn, the one that ends it among them."""
        ends = search(self.position, self.rules, len(self.stocks[0]), LIMIT)
        scored = sorted(((self.estimate(end), number) for number, (end, _) in enumerate(ends)), reverse=True)
        finalists = [number for _, number in scored[:FINALISTS]]
        if scored[0][0] < WIN:
            finalists = self.keep_best(finalists, ends, self.imagine_reply, PLAYED_OUT)
            finalists = self.keep_best(finalists, ends, self.play_on, 1)
        return ends[finalists[0]][1]

    def keep_best(
        self, numbers: list[int], ends: list[End], judge: Callable[[Position], float], count: int
    ) -> list[int]:
        """Return the few ends that `judge` finds best, the best one first; it is not asked if there are no more."""
        if len(numbers) <= count:
            return numbers
        return sorted(numbers, key=lambda number: (-judge(ends[number][0]), number))[:count]

    def estimate(self, end: Position) -> float:
        """Return the worth of a position before the opponent's turn."""
        return self.weigh(end, self.stocks, HOPE, FEAR)

    def weigh(self, end: Position, stocks: Stocks, hope: tuple[int, ...], fear: tuple[int, ...]) -> float:
        """Return the worth of a position between two turns, by what each seat can hope for."""
        stock, other_stock = stocks
        own, other = len(end.own) + len(stock), len(end.other) + len(other_stock)
        if not own:
            return WIN
        if not other:
            return -WIN
        accepted = accept(end, self.rules)
        mine = accepted | LOADS[end.other[-1]] if end.other and self.rules.loads_pack else accepted
        theirs = accepted | LOADS[end.own[-1]] if end.own and self.rules.loads_pack else accepted
        worth: float = CARD * (other - own)
        worth += self.count_hopes(stock, end.own, mine, hope) - self.count_hopes(other_stock, end.other, theirs, fear)
        return worth

    def count_hopes(self, stock: list[int], discard: Pile, accepted: set[int], weights: tuple[int, ...]) -> float:
        """Return what the next cards of a pack are worth if they find a place."""
        coming = stock[-1 : -1 - len(weights) : -1] if stock else list(discard[: len(weights)])
        unknown = sum(card in accepted for card in self.unseen) / max(1, len(self.unseen))
        worth = sum(
            weight * (unknown if card == NONE else card in accepted)
            for card, weight in zip(coming, weights, strict=False)
        )
        for card, weight in zip(reversed(discard), TOPS, strict=False):
            if card not in accepted:
                break
            worth += weight
        return worth

    def imagine_reply(self, end: Position) -> float:
        """Return the mean worth of a position after the opponent's best turn."""
        stock, discard = self.stocks[1], end.other
        if not stock:  # it turns its discard pile over
            stock, discard = list(reversed(discard)), ()
        *left, top = stock
        worths = []
        for card in self.list_samples() if top == NONE else [top]:
            mirrored = Position(card, discard, end.own, end.table, end.heights)
            replies = search(mirrored, self.rules, len(left), REPLY_LIMIT)
            worths.append(min(self.judge_reply(reply, left) for reply, _ in replies))
        return sum(worths) / len(worths)

    def play_on(self, end: Position) -> float:
        """Return the mean lead after some turns that both seats play simply."""
        total = 0.0
        for sample in range(GAMES):
            hidden = list(self.unseen)
            Random(sample).shuffle(hidden)
            stocks = [[hidden.pop() if card == NONE else card for card in stock] for stock in self.stocks]
            total += play_simply(end, stocks, self.rules)
        return total / GAMES

    def list_samples(self) -> list[int]:
        """Return some of the cards that nobody has seen, spread over all of them."""
        step = max(1, len(self.unseen) // SAMPLES)
        return self.unseen[step // 2 :: step][:SAMPLES]

    def judge_reply(self, reply: Position, left: list[int]) -> float:
        """Return the worth of a position after the opponent's turn, seen from this seat, which moves next."""
        position = Position(NONE, reply.other, reply.own, reply.table, reply.heights)
        return self.weigh(position, (self.stocks[0], left), FEAR, HOPE)


def play_simply(end: Position, stocks: list[list[int]], rules: Rules) -> float:
    """Play some turns, the first of them the opponent's; return the lead of this seat."""
    _, theirs, mine, table, heights = end  # `mine` is the discard pile of the seat to move
    other, own = stocks
    sign = -1
    for _ in range(DEPTH):
        if not own:
            own.extend(reversed(mine))
            mine = ()
        after = play_turn(Position(own.pop(), mine, theirs, table, heights), rules)
        if after.hand != NONE:
            after = after._replace(hand=NONE, own=after.own + (after.hand,))
        elif not after.own and not own:
            return sign * (FINISH + CARD * (len(after.other) + len(other)))
        _, theirs, mine, table, heights = after
        own, other, sign = other, own, -sign
    return sign * CARD * (len(theirs) + len(other) - len(mine) - len(own))


def play_turn(position: Position, rules: Rules) -> Position:
    """Play cards of the pack, and what lies on the table where it rids it of a card or opens such a play."""
    while after := next(play_pack(position, rules), None) or find_opening(position, rules):
        position = after
    return position


def play_pack(position: Position, rules: Rules) -> Iterator[Position]:
    """Yield the positions after a play of the card in hand, or of the top of the discard pile."""
    hand, own = position.hand, position.own
    if hand != NONE:
        for _, after in place_card("h", hand, position._replace(hand=NONE), rules.loads_pack, rules):
            yield after
    if own:
        for _, after in place_card("d", own[-1], position._replace(own=own[:-1]), rules.loads_pack, rules):
            yield after


def find_opening(position: Position, rules: Rules) -> Position | None:
    """Return the position after a play of the table that leaves it for good, or after which a card of the pack fits."""
    for name, after in list_plays(position, rules):
        if name[-1] in "fo" or next(play_pack(after, rules), None):
            return after
    return None


def accept(position: Position, rules: Rules) -> set[int]:
    """Return the cards that find a place on a foundation or on the table."""
    accepted = {13 * suit + height for suit, height in enumerate(position.heights) if height < 13}
    for pile in position.table:
        if not pile:
            return accepted | rules.empty
        accepted |= BELOW[pile[-1]]
    return accepted


BELOW = [{other for other in range(52) if card in FITS[other]} for card in range(52)]


def search(start: Position, rules: Rules, stock: int, limit: int) -> list[End]:
    """Return the ends of a turn, each once, with the actions that lead there; breadth first, up to a limit.

    Args:
        start: the position.
        rules: what is allowed.
        stock: how many cards the stock of the seat holds: with none left anywhere it has won, and its turn is over.
        limit: how many positions are looked at.
    """
    reached: dict[Any, End] = {identify(start): (start, [])}
    queue = [(start, list[str]())]
    ends = []
    for position, way in queue:
        if position.hand != NONE:
            ended = position._replace(hand=NONE, own=position.own + (position.hand,))
            ends.append((ended, [*way, "h-d"]))
        elif not position.own and not stock:
            return [(position, way)]
        else:
            ends.append((position, [*way, "end"]))
        if len(reached) > limit:
            continue
        for action, after in list_plays(position, rules):
            key = identify(after)
            if key not in reached:
                reached[key] = (after, [*way, action])
                queue.append(reached[key])
    return ends


def identify(position: Position) -> Any:
    """Return what is equal for positions that differ only by the places of table piles."""
    return position.hand, position.own, position.other, tuple(sorted(position.table)), position.heights


class Bot:
    """Plays one game."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.rules = Rules(rules)
        self.memory = Memory()
        self.turn = 0
        self.plan: list[str] = []

    def choose(self, request: dict[str, Any]) -> str:
        self.memory.follow(request["events"])
        view, legal = request["view"], request["legal"]
        if view["turn"] != self.turn or not self.plan:
            self.turn, self.plan = view["turn"], Turn(view, self.rules, self.memory).plan()
        action = self.plan.pop(0)
        if action not in legal:  # a rule that it does not know of, such as a compulsory foundation
            self.plan = []
            return str(legal[0])
        return action


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    bot: Bot | None = None
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            bot = Bot(request["rules"])
        elif request["type"] == "move" and bot:
            answer["move"] = bot.choose(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
