"""The cards of the games with engines of their own, made again from the deal seed by what their pages say.

Nothing of the games is used here but the table that they show after the deal.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import cycle
from typing import Any

import pytest

from malice.referee.course import Course, Dealer
from malice.referee.families import make_rules
from malice.referee.rules import Ask
from malice.referee.rulesets import load_ruleset

SEEDS = [sha256(f"deal {number}".encode()).digest() for number in range(5)]
PACK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]


def stream(seed: bytes) -> Iterator[int]:
    """Yield the words of a game, as the protocol says."""
    block = 0
    while True:
        digest = sha256(seed + block.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(digest[start : start + 4], "big") for start in range(0, 32, 4))
        block += 1


def shuffle(items: list[Any], words: Iterator[int]) -> list[Any]:
    """Return a list in the next order of the stream, as the protocol says."""
    items = list(items)
    for last in range(len(items) - 1, 0, -1):
        size = last + 1
        word = next(word for word in words if word < 2**32 // size * size)
        items[last], items[word % size] = items[word % size], items[last]
    return items


def begin(ruleset: str, seats: int, seed: bytes) -> Course:
    loaded = load_ruleset(ruleset)
    return Course(make_rules(loaded.family, loaded.rules, seats), Dealer(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_double_solitaire_is_dealt_from_the_end_of_the_list_to_the_table_and_then_by_turns(seed: bytes) -> None:
    pack = shuffle(PACK, stream(seed))
    table = [pack.pop() for _ in range(4)]
    stocks: list[list[str]] = [[], []]
    for stock in cycle(stocks):
        if not pack:
            break
        stock.append(pack.pop())

    state = begin("double-solitaire-exchange", 2, seed).state

    assert [list(pile) for pile in state.table] == [[card] for card in table]
    assert [list(stock) for stock in state.stocks] == stocks, "seat 0 takes the last card of its list first"
    assert begin("double-solitaire", 2, seed).state.card == stocks[0][-1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("ruleset", "seats"), [("nuts", 4), ("nuts-2", 2)])
def test_nuts_is_dealt_team_by_team_and_each_tick_plays_by_the_next_lot(ruleset: str, seats: int, seed: bytes) -> None:
    words = stream(seed)
    expected = []
    for pack in [shuffle(PACK, words), shuffle(PACK, words)]:
        nuts = [pack.pop() for _ in range(11)]
        columns: list[list[str]] = [[] for _ in range(5)]
        for row in range(5):
            for column, height in enumerate((5, 4, 3, 2, 1)):
                if row < height:
                    columns[column].append(pack.pop())
        expected.append((nuts, columns, pack))

    course = begin(ruleset, seats, seed)

    dealt = [(list(side.nuts), [list(pile) for pile in side.columns], list(side.stock)) for side in course.state.sides]
    assert dealt == expected
    for _ in range(30):
        assert isinstance(course.step, Ask)
        legal = {seat: course.rules.legal(course.state, seat) for seat in course.step.seats}
        actions = {seat: "turn" if "turn" in own else own[0] for seat, own in legal.items()}
        acting = [seat for seat in sorted(actions) if actions[seat] != "wait"]
        lot = shuffle(acting, words) if len(acting) > 1 else acting
        events: tuple[Any, ...] = course.play(actions)
        told = [event.seat for event in events if event.__struct_config__.tag in ("move", "turn", "lapse")]
        assert told == lot


@pytest.mark.parametrize("seed", SEEDS)
def test_klondike_is_dealt_from_the_end_of_the_list_row_by_row(seed: bytes) -> None:
    pack = shuffle(PACK, stream(seed))
    columns: list[list[str]] = [[] for _ in range(7)]
    for row in range(7):
        for column in range(row, 7):
            columns[column].append(pack.pop())

    dealt: Any = begin("klondike-1", 2, seed).dealt[0]

    assert [list(column) for column in dealt.columns] == columns
    assert list(dealt.stock) == pack
