"""A bot for Klondike that searches: it guesses the cards that it does not know, and solves the deal as if they were so.

1. It first turns through the stock once, where redeals allow that, so that only the cards face down in the columns are
   unknown: 21 of 52.
2. It lays the unknown cards out at random and searches for a solution; several guesses vote on the first step. It
   follows the best plan until a card turns up that it did not expect, and plans again.
3. If no guess has a solution from here, it looks from earlier positions, to which `undo` leads back: what it has seen
   stays known, so guesses get better, and in the end it knows the deal.
4. If that fails too, it turns up another card wherever it can; then it puts as many cards on the foundations as it
   finds, and stops.

The search is best-first over positions, where a step is a card or a run that moves: turning the stock until the card
lies on top is part of the step. All chance comes from the `rng` of `game_start`, and searches count positions instead
of time, so the same game is played the same way again, unless the machine is so slow that the time runs out.
"""

import heapq
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import inf
from random import Random
from time import monotonic, process_time
from typing import Any, NamedTuple

NODES = int(os.environ.get("MALICE_NODES", "1500"))  # malice hands over the parameter; by hand there is none
GUESSES = 3  # for each position that it plans from
GAME_NODES = 50  # times NODES: what it looks at in one game
DETOUR = 4  # how many actions it takes rather than a position that is worse by one
MOVE_NODES = 6  # times NODES: what it looks at for one answer
HOME_NODES = 300  # for the last search, which always takes place
NODE_MS = 0.06  # what a position costs on a machine that is not fast

CARDS = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
NUMBER = {card: number for number, card in enumerate(CARDS)}
KING = 12
RED = [13 <= card < 39 for card in range(52)]
ONTO = [
    [other for other in range(52) if other % 13 == card % 13 + 1 and RED[other] != RED[card]] for card in range(52)
]  # by card: the two cards that it may lie on
OTHERS = ((1, 2), (0, 3), (0, 3), (1, 2))  # by suit: those of the other colour
TOP = tuple(f"t{column}-f" for column in range(7))

Pile = tuple[int, ...]
Piles = tuple[Pile, ...]


class Position(NamedTuple):
    """A table of which all cards are known, or guessed."""

    found: Pile  # by suit: how many cards lie on the foundation
    downs: Piles  # by column: the cards that lie face down
    ups: Piles
    talon: Pile  # waste and stock, in the order in which they are turned up
    turned: int  # how many of them lie in the waste
    redeals: int  # how many redeals are left


class Step(NamedTuple):
    """A move of a card or a run."""

    turned: int  # how many cards lie in the waste when it is played; only for moves from the waste
    action: str


class Path(NamedTuple):
    """Steps from the start of a search, the last one first."""

    step: Step
    before: "Path | None"
    actions: int  # how many it takes, turns of the stock included


PLENTY = 10**6  # redeals, where they are unlimited


class Search:
    """Searches a position for a solution.

    After `solve`, `best` is the path to the position with most cards on the foundations.
    """

    def __init__(
        self, draw: int, back: bool, limit: int, until: float = inf, now: Callable[[], float] = monotonic
    ) -> None:
        self.draw, self.back, self.limit, self.until, self.now = draw, back, limit, until, now
        self.nodes = 0
        self.best: Path | None = None

    def solve(self, start: Position, hidden: int = 0) -> list[Step] | None:
        """Return the steps to a position with at most `hidden` cards face down; with 0, to the end of the game."""
        heap: list[tuple[int, int, Position, Path | None]] = [(worth(start), 0, start, None)]
        seen = {key_of(start, self.draw)}
        count, most = 0, sum(start.found)
        while heap and self.nodes < self.limit and (self.nodes % 64 or self.now() < self.until):
            _, _, position, path = heapq.heappop(heap)
            self.nodes += 1
            down = sum(map(len, position.downs))
            if hidden and down <= hidden:
                return unroll(path)
            if not down and self.is_open(position):
                return unroll(path) + list(self.finish(position))
            if sum(position.found) > most:
                most, self.best = sum(position.found), path
            for step, child in self.follow(position):
                key = key_of(child, self.draw)
                if key not in seen:
                    seen.add(key)
                    count -= 1  # of equally good positions the latest comes first
                    actions = 1 + (path.actions if path else 0)
                    if step.turned:
                        actions += self.count_turns(position, step.turned)
                    rank = DETOUR * worth(child) + actions
                    heapq.heappush(heap, (rank, count, child, Path(step, path, actions)))
        return None

    def count_turns(self, position: Position, held: int) -> int:
        """Return how many actions it takes until the waste holds so many cards."""
        size, turned, draw = len(position.talon), position.turned, self.draw
        straight = held - turned
        if straight >= 0 and (straight % draw == 0 or held == size):
            return -(-straight // draw)
        return -(-(size - turned) // draw) + 1 + -(-held // draw)

    def is_open(self, position: Position) -> bool:
        """Return whether every card can be reached, once none lies face down: then the deal is as good as solved."""
        return not position.talon or (self.draw == 1 and position.redeals == PLENTY)

    def finish(self, position: Position) -> Iterator[Step]:
        """Yield the steps that bring all cards to the foundations."""
        while sum(position.found) < 52:
            step, position = min(
                ((step, child) for step, child in self.follow(position, forced=False) if step.action[-1] == "f"),
                key=lambda each: max(each[1].found) - min(each[1].found),
            )
            yield step

    def reach(self, position: Position) -> Iterator[tuple[int, int]]:
        """Yield what the waste may come to hold by turning alone, each with the redeals that are left then."""
        size, turned, left = len(position.talon), position.turned, position.redeals
        if turned:
            yield turned, left
        known, held = {turned}, turned
        for redeals in (left, left if left == PLENTY else left - 1):
            while held < size:
                held = min(size, held + self.draw)
                if held not in known:
                    known.add(held)
                    yield held, redeals
            held = 0
            if not left:
                return

    def follow(self, position: Position, *, forced: bool = True) -> Iterator[tuple[Step, Position]]:
        """Yield the moves of cards with what they lead to; a move to a foundation that cannot harm stands alone."""
        found, ups = position.found, position.ups
        if forced:
            for column, run in enumerate(ups):
                if run and is_safe(found, run[-1]):
                    yield Step(0, TOP[column]), raise_card(position, column)
                    return
        where = {run[-1]: column for column, run in enumerate(ups) if run}
        empty = ups.index(()) if () in ups else -1
        for column, run in enumerate(ups):
            if run:
                if found[run[-1] // 13] == run[-1] % 13:
                    yield Step(0, TOP[column]), raise_card(position, column)
                yield from self.move_runs(position, column, where, empty)
        yield from self.play_talon(position, where, empty)
        if self.back:
            yield from take_down(position, where)

    def move_runs(
        self, position: Position, source: int, where: dict[int, int], empty: int
    ) -> Iterator[tuple[Step, Position]]:
        """Move what lies face up in a column; a part of it only if that frees a card for its foundation."""
        run = position.ups[source]
        for place, card in enumerate(run):
            if place:
                freed = run[place - 1]
                if position.found[freed // 13] != freed % 13:
                    continue
            elif card % 13 == KING:
                if position.downs[source] and empty >= 0:
                    yield Step(0, f"t{source}-t{empty}"), move_run(position, source, empty, 0)
                continue
            for onto in ONTO[card]:
                if (target := where.get(onto, source)) != source:
                    yield Step(0, f"t{source}-t{target}"), move_run(position, source, target, place)

    def play_talon(self, position: Position, where: dict[int, int], empty: int) -> Iterator[tuple[Step, Position]]:
        found, downs, ups, talon, _, _ = position
        for held, redeals in self.reach(position):
            card = talon[held - 1]
            rest = talon[: held - 1] + talon[held:]
            if found[card // 13] == card % 13:
                raised = add(found, card // 13, 1)
                yield Step(held, "w-f"), Position(raised, downs, ups, rest, held - 1, redeals)
            targets = [empty] if card % 13 == KING else [where.get(onto, -1) for onto in ONTO[card]]
            for target in targets:
                if target >= 0:
                    longer = put(ups, target, (*ups[target], card))
                    yield Step(held, f"w-t{target}"), Position(found, downs, longer, rest, held - 1, redeals)


def is_safe(found: Pile, card: int) -> bool:
    """Return whether a card can go to its foundation, and no card will ever want to lie on it."""
    suit, rank = divmod(card, 13)
    one, other = OTHERS[suit]
    return found[suit] == rank and rank <= min(found[one], found[other]) + 1


def take_down(position: Position, where: dict[int, int]) -> Iterator[tuple[Step, Position]]:
    """Move cards from the foundations back to columns."""
    found, downs, ups, talon, turned, redeals = position
    for suit, height in enumerate(found):
        if height > 1:
            card = 13 * suit + height - 1
            for onto in ONTO[card]:
                if (target := where.get(onto, -1)) >= 0:
                    lower, longer = add(found, suit, -1), put(ups, target, (*ups[target], card))
                    action = f"f{'CDHS'[suit]}-t{target}"
                    yield Step(0, action), Position(lower, downs, longer, talon, turned, redeals)


def put(piles: Piles, place: int, pile: Pile) -> Piles:
    return (*piles[:place], pile, *piles[place + 1 :])


def add(found: Pile, suit: int, by: int) -> Pile:
    return (*found[:suit], found[suit] + by, *found[suit + 1 :])


def turn_up(downs: Piles, ups: Piles, column: int) -> tuple[Piles, Piles]:
    """Turn up the last card of a column that has none face up."""
    if ups[column] or not downs[column]:
        return downs, ups
    *rest, card = downs[column]
    return put(downs, column, tuple(rest)), put(ups, column, (card,))


def raise_card(position: Position, column: int) -> Position:
    """Move the last card of a column to its foundation."""
    found, downs, ups, talon, turned, redeals = position
    *run, card = ups[column]
    downs, ups = turn_up(downs, put(ups, column, tuple(run)), column)
    return Position(add(found, card // 13, 1), downs, ups, talon, turned, redeals)


def move_run(position: Position, source: int, target: int, place: int) -> Position:
    """Move the cards of a run from a place on to another column."""
    found, downs, ups, talon, turned, redeals = position
    run = ups[source]
    ups = put(put(ups, target, ups[target] + run[place:]), source, run[:place])
    downs, ups = turn_up(downs, ups, source)
    return Position(found, downs, ups, talon, turned, redeals)


def worth(position: Position) -> int:
    """Return how far a position seems to be from its end: by cards off the foundations, in the talon, in columns."""
    found, downs, ups, talon, _, _ = position
    return 52 - sum(found) + len(talon) + sum(map(weigh_column, downs, ups))


@lru_cache(1 << 16)
def weigh_column(down: Pile, up: Pile) -> int:
    """Return what a column costs: five for each card face down, and one for each card on a lower one of its suit."""
    if not down:
        return 0
    far = 5 * len(down)
    lowest = [13, 13, 13, 13]
    for card in down + up:
        suit, rank = divmod(card, 13)
        if rank > lowest[suit]:
            far += 1
        else:
            lowest[suit] = rank
    return far


def key_of(position: Position, draw: int) -> tuple[object, ...]:
    """Return what equal positions share: the order of columns does not matter, nor where the stock stands in turn 1."""
    found, downs, ups, talon, turned, redeals = position
    return found, frozenset(ups), frozenset(downs), talon, 0 if draw == 1 and redeals == PLENTY else (turned, redeals)


def unroll(path: Path | None) -> list[Step]:
    steps = []
    while path:
        steps.append(path.step)
        path = path.before
    return steps[::-1]


class Table(NamedTuple):
    """What lies on the table; of cards that lie face down only how many there are."""

    found: Pile
    heights: Pile  # by column: cards face down
    ups: Piles
    talon: Pile
    turned: int
    redeals: int


UNKNOWN = -1
STOCK = 7


def read_table(view: dict[str, Any], redeals: int) -> Table:
    """Return the table of a view."""
    columns = view["columns"]
    talon = [NUMBER.get(card, UNKNOWN) for card in (*view["waste"], *view["stock"][::-1])]
    return Table(
        tuple(0 if top is None else NUMBER[top] % 13 + 1 for top in view["foundations"]),
        tuple(len(column["down"]) for column in columns),
        tuple(tuple(NUMBER[card] for card in column["up"]) for column in columns),
        tuple(talon),
        len(view["waste"]),
        redeals,
    )


# A column, and a place in it from the bottom: the card that was dealt there lies there until it is turned up.
# Or `STOCK`, and a place in waste and stock, from the end.
Place = tuple[int, int]


class Player:
    """Plays one game."""

    def __init__(self, rules: dict[str, Any], rng: Random, clock: dict[str, Any] | None = None) -> None:
        self.rules, self.rng = rules, rng
        self.move_ms: float | None = clock["move_ms"] if clock else None
        self.now = process_time if clock and clock["kind"] == "cpu" else monotonic
        self.unlimited = rules["redeals"] == "unlimited"
        self.redeals = PLENTY if self.unlimited else int(rules["redeals"])
        self.known: dict[Place, int] = {}
        self.guess: dict[Place, int] = {}
        self.trail: list[Table] = []  # the tables before all actions that can be taken back
        self.plan: list[str] = []  # actions
        self.left = GAME_NODES * NODES  # positions that it may still look at
        self.budget = 0  # those for this answer
        self.until = inf  # when it must have answered
        self.stopping = False
        self.last: Table | None = None  # the table of the request before
        self.best: list[Step] = []  # to the most cards on the foundations, in the last search
        self.record = 0  # the most cards that the foundations ever held

    def choose(self, view: dict[str, Any], legal: Sequence[str], clock: dict[str, Any]) -> str:
        """Return the next action."""
        self.until = self.now() + (inf if self.move_ms is None else 0.5 * self.move_ms / 1000)
        table = read_table(view, self.redeals)
        self.learn(view, table)
        self.record = max(self.record, sum(table.found))
        if not self.plan and self.explores(table):
            self.plan = ["turn" if table.turned < len(table.talon) else "redeal"]
        if not self.plan:
            self.make_plan(view, table, clock)
        action = self.plan.pop(0) if self.plan else "done" if self.stopping else wait(legal)
        if action not in legal:
            action = "done"
        self.note(action, table)
        return action

    def note(self, action: str, table: Table) -> None:
        """Keep what an action needs to be taken back."""
        if action == "undo":
            self.redeals = self.trail.pop().redeals
        elif self.rules["undo"] != "none":
            self.trail.append(table)
        if action == "redeal" and not self.unlimited:
            self.redeals -= 1

    def learn(self, view: dict[str, Any], table: Table) -> None:
        """Keep what the table shows of the deal; forget the plan if a card is not what it was thought to be."""
        for column, height in enumerate(table.heights):
            if self.last and height < self.last.heights[column]:
                self.see((column, height), table.ups[column][0])
        for held, card in enumerate(table.talon):
            if card != UNKNOWN:
                self.see((STOCK, len(table.talon) - held), card)
        self.last = table

    def see(self, place: Place, card: int) -> None:
        if place[0] != STOCK:
            self.known[place] = card
        if self.guess.get(place, card) != card:
            self.plan, self.guess = [], {}

    def explores(self, table: Table) -> bool:
        """Return whether to turn through the stock before anything else."""
        return self.unlimited and UNKNOWN in table.talon

    # Plans

    def make_plan(self, view: dict[str, Any], table: Table, clock: dict[str, Any]) -> None:
        """Plan from here, or from an earlier table; at last turn up what can be turned up, or bring cards home."""
        spare = min(self.rules["idle"] - view["idle"], self.rules["max_actions"] - view["actions"]) - 1
        self.budget = self.bound(clock)
        if not self.stopping and self.budget:
            if self.plan_from(table, 0, GUESSES, spare):
                return
            depth = len(self.trail)
            for back in dict.fromkeys((depth // 4, depth // 2, min(depth, spare * 2 // 3), depth)):
                if 0 < back < spare and self.plan_from(self.trail[-back], back, 2, spare):
                    return
            if self.unveil(table, spare) or self.retreat(spare):
                return
        if self.now() > self.until and not self.stopping:
            return  # a slow moment of the machine says nothing about the deal
        self.stopping = True
        self.bring_home(table)

    def bound(self, clock: dict[str, Any]) -> int:
        """Return how many positions it may look at for this answer: few when the time runs out."""
        budget = min(self.left, MOVE_NODES * NODES)
        bank = clock.get("bank_ms")
        if self.move_ms is not None:
            budget = min(budget, int(0.7 * self.move_ms / NODE_MS))
        if bank is not None:
            budget = min(budget, int(bank / 8 / NODE_MS))
        return max(0, budget)

    def retreat(self, spare: int) -> bool:
        """Plan to go back where all cards are known, and to look for a solution from there; return whether it may."""
        depth = len(self.trail)
        back = min(max(1, depth // 3), depth)
        if self.is_uncertain() or not 0 < back < spare // 2:
            return False
        self.plan = ["undo"] * back
        return True

    def is_uncertain(self) -> bool:
        return len(self.known) < 21

    def plan_from(self, table: Table, back: int, guesses: int, spare: int) -> bool:
        """Plan from a table that lies `back` actions back; return whether there is a plan."""
        plans: list[tuple[list[Step], dict[Place, int]]] = []
        for _ in range(guesses if self.is_uncertain() else 1):
            guess = self.make_guess(table)
            steps = self.search(self.fill(table, guess), NODES if self.is_uncertain() else 5 * NODES)
            if steps:
                plans.append((steps, guess))
        if not plans:
            return False
        votes = [steps[0] for steps, _ in plans]
        steps, guess = max(plans, key=lambda plan: (votes.count(plan[0][0]), -len(plan[0])))
        actions = list(self.spell_out(table, steps))
        if back + self.count_until_new(table, actions) > spare:
            return False
        self.plan, self.guess = ["undo"] * back + actions, guess
        return True

    def search(self, position: Position, limit: int, hidden: int = 0) -> list[Step] | None:
        """Search, and count what that costs."""
        searching = Search(
            self.rules["draw"], self.rules["foundation_back"], min(limit, self.budget), self.until, self.now
        )
        steps = searching.solve(position, hidden)
        self.left -= searching.nodes
        self.budget -= searching.nodes
        self.best = unroll(searching.best)
        return steps

    def make_guess(self, table: Table) -> dict[Place, int]:
        """Lay out the cards that nobody has seen at random."""
        places = [
            (column, place) for column in range(7) for place in range(column) if (column, place) not in self.known
        ]
        places += [(STOCK, len(table.talon) - held) for held, card in enumerate(table.talon) if card == UNKNOWN]
        seen = {*self.known.values(), *table.talon, *(card for run in table.ups for card in run)}
        seen |= {13 * suit + rank for suit, height in enumerate(table.found) for rank in range(height)}
        cards = [card for card in range(52) if card not in seen]
        for place in range(len(cards) - 1, 0, -1):
            other = int(self.rng.random() * (place + 1))
            cards[place], cards[other] = cards[other], cards[place]
        return dict(zip(places, cards, strict=True))

    def fill(self, table: Table, guess: dict[Place, int]) -> Position:
        """Return a table with its unknown cards as guessed."""
        cards, size = guess | self.known, len(table.talon)
        columns = enumerate(table.heights)
        downs = tuple(tuple(cards[column, place] for place in range(height)) for column, height in columns)
        pairs = enumerate(table.talon)
        talon = tuple(cards[STOCK, size - held] if card == UNKNOWN else card for held, card in pairs)
        return Position(table.found, downs, table.ups, talon, table.turned, table.redeals)

    def spell_out(self, table: Table, steps: Sequence[Step]) -> Iterator[str]:
        """Yield the actions of steps, with the turns of the stock between them."""
        size, turned = len(table.talon), table.turned
        for held, action in steps:
            if action[0] == "w":
                while turned != held:
                    if turned == size:
                        turned = 0
                        yield "redeal"
                    else:
                        turned = min(size, turned + self.rules["draw"])
                        yield "turn"
                size, turned = size - 1, turned - 1
            yield action

    def count_until_new(self, table: Table, actions: Sequence[str]) -> int:
        """Return after how many actions at most there is a new card, or a new record of the foundations."""
        cards = sum(table.found)
        for count, action in enumerate(actions, 1):
            cards += action.endswith("-f")
            cards -= action[0] == "f"
            if cards > self.record:
                return count
        return len(actions)

    def unveil(self, table: Table, spare: int) -> bool:
        """Plan to turn up another card that nobody knows; return whether that is possible."""
        hidden = sum(table.heights)
        if not self.is_uncertain() or not hidden:
            return False
        guess = self.make_guess(table)
        steps = self.search(self.fill(table, guess), NODES, hidden - 1)
        actions = list(self.spell_out(table, steps or ()))
        if not actions or len(actions) > spare:
            return False
        self.plan, self.guess = actions, guess
        return True

    def bring_home(self, table: Table) -> None:
        """Plan to put as many cards on the foundations as a last search finds."""
        self.budget = HOME_NODES
        self.search(self.fill(table, self.make_guess(table)), HOME_NODES)
        self.plan = list(self.spell_out(table, self.best))


def wait(legal: Sequence[str]) -> str:
    """Return an action that changes little, to think on with the next request."""
    return next((action for action in legal if action in ("turn", "redeal")), legal[0])


def number(text: str) -> float:
    """Read 7.0 as 7: the protocol lets a number be spelt either way, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def main() -> None:
    player = None
    seat = 0
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=number)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "game_start":
            player, seat = (
                Player(request["rules"], Random(request["rng"]), request["clock"]),
                request["seat"],
            )
        elif request["type"] == "move" and player:
            answer["move"] = player.choose(request["view"]["tables"][seat], request["legal"], request["clock"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
