"""Rare features of a request; each has a name, and an example in the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from malice.protocol.cards import HIDDEN, Cards
from malice.protocol.codec import encode
from malice.protocol.messages import Move, Out
from malice.referee.games.spite.messages import CardMoved, Count, Event, Pass, Shuffled, View

WILD = "KW"
"""Ranks that are wild in most rulesets."""
SIZES = (4096, 8192, 16_384, 32_768)
"""Lengths of a request that may overflow a bot's buffer."""
LISTS = (40, 60)
"""Numbers of legal actions that make a long list."""

Test = Callable[[Move], bool]


def _legal(request: Move) -> tuple[str, ...]:
    return request.legal or ()


def _actions(expression: str) -> Test:
    pattern = re.compile(expression)
    return lambda request: any(map(pattern.fullmatch, _legal(request)))


def _view(condition: Callable[[View], bool]) -> Test:
    return lambda request: condition(request.view)


def _sides(condition: Callable[[tuple[Cards, ...]], bool]) -> Test:
    return lambda request: condition(request.view.seats[request.view.seat].side)


def _payoff(condition: Callable[[str | None, int | None], bool]) -> Test:
    def test(request: Move) -> bool:
        pile = request.view.seats[request.view.seat].payoff
        return condition(pile.top, pile.left)

    return test


def _events(kind: type[Event], condition: Callable[[str], bool] = lambda piles: True) -> Test:
    """Test the events of a type; those that move cards pass `from` and `to` with a space between."""

    def test(request: Move) -> bool:
        return any(isinstance(event, kind) and condition(_piles(event)) for event in request.events)

    return test


def _piles(event: Event) -> str:
    return f"{event.source} {event.target}" if isinstance(event, CardMoved | Shuffled) else ""


def _shuffled(expression: str) -> Test:
    pattern = re.compile(expression)
    return _events(Shuffled, lambda piles: pattern.fullmatch(piles) is not None)


def _has_wild_start(request: Move) -> bool:
    slots = (match[1] for action in _legal(request) if (match := re.fullmatch(f"h[{WILD}].-c([0-9]+)", action)))
    centre = request.view.centre
    return any(int(slot) >= len(centre) or centre[int(slot)].height == 0 for slot in slots)


def _is_loaded(request: Move) -> bool:
    pile = f"{request.view.seat}p"
    return any(isinstance(event, CardMoved) and event.target == pile for event in request.events)


def _is_as_long(size: int) -> Test:
    return lambda request: len(encode(request)) >= size


def _has_as_many(count: int) -> Test:
    return lambda request: len(_legal(request)) >= count


FEATURES: dict[str, Test] = {
    # legal actions
    "one legal action": lambda request: len(_legal(request)) == 1,
    "nothing but pass": lambda request: _legal(request) == ("pass",),
    "nothing but pass and count": lambda request: _legal(request) == ("pass", "count"),
    "pass is legal": _actions("pass"),
    "count is legal": _actions("count"),
    "no discard": lambda request: not any("-s" in action for action in _legal(request)),
    "the pay-off card has several places": lambda request: sum(action[0] == "p" for action in _legal(request)) > 2,
    "a wild card starts a stack": _has_wild_start,
    "an opponent's pay-off pile takes a card": _actions(".*-[0-9]p"),
    "an opponent's pay-off pile takes the own one": _actions("p-[0-9]p"),
    "a partner's pay-off card fits": _actions("[0-9]p-.*"),
    "a partner's side stack fits": _actions("[0-9]s[0-9]-.*"),
    "a fifth centre stack": _actions(".*-c4"),
    "an eighth centre stack": _actions(".*-c7"),
    # the hand
    "an empty hand": _view(lambda view: not view.hand),
    "one card in hand": _view(lambda view: len(view.hand) == 1),
    "a hand of wild cards": _view(lambda view: len(view.hand) > 1 and all(card[0] in WILD for card in view.hand)),
    "three equal cards": _view(lambda view: any(view.hand.count(card) > 2 for card in view.hand)),
    # piles
    "the stock is empty": _view(lambda view: view.stock == 0),
    "cards lie aside": _view(lambda view: view.aside > 0),
    "all side stacks are long": _sides(lambda side: min(map(len, side)) >= 6),
    "a side stack of 15": _sides(lambda side: max(map(len, side)) >= 15),
    "a wild card in a side stack": _sides(lambda side: any(card[0] in WILD for pile in side for card in pile)),
    "a buried card is hidden": _sides(lambda side: any(HIDDEN in pile for pile in side)),
    "hidden counts": _payoff(lambda top, left: left is None),
    "the own pay-off pile is empty": _payoff(lambda top, left: top is None),
    "one pay-off card left": _payoff(lambda top, left: left == 1),
    "a wild pay-off card": _payoff(lambda top, left: top is not None and top[0] in WILD),
    "a stack is higher than its cards": _view(
        lambda view: any(stack.height > len(stack.cards) for stack in view.centre)
    ),
    "an empty slot before a stack": _view(
        lambda view: any(not low.cards and high.cards for low, high in pairwise(view.centre))
    ),
    "nine centre stacks": _view(lambda view: len(view.centre) >= 9),
    # events
    "a stack went to the stock": _shuffled("c[0-9]+ stock"),
    "a stack was set aside": _shuffled("c[0-9]+ aside"),
    "the stock was made anew": _shuffled("aside stock"),
    "a pay-off pile was shuffled": _shuffled("[0-9]p [0-9]p"),
    "hands were dealt anew": _shuffled("[0-9]h stock"),
    "somebody passed": _events(Pass),
    "somebody counted": _events(Count),
    "the own pay-off pile was loaded": _is_loaded,
    "somebody is out": _events(Out),
    "two are out": lambda request: sum(isinstance(event, Out) for event in request.events) == 2,
    # numbers
    "the last of eight seats": _view(lambda view: view.seat == 7),
    "turn 100": _view(lambda view: view.turn >= 100),
    **{f"a list of {count}": _has_as_many(count) for count in LISTS},
    **{f"a request of {size} bytes": _is_as_long(size) for size in SIZES},
}
