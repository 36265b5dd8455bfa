"""Games of Klondike for tests: a course, choosers that are random or stubborn, and the card piles of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random

from malice.referee.course import Course, Dealer
from malice.referee.games.klondike import Klondike
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.table import NUMBER, Layout
from malice.referee.rules import Result

Chooser = Callable[[tuple[str, ...]], str]


def make_course(parameters: Parameters | None = None, seats: int = 2, seed: object = 0) -> Course:
    """A game whose cards follow from a seed."""
    rules = Klondike(parameters or Parameters(), seats)
    return Course(rules, Dealer(sha256(str(seed).encode()).digest()))


def make_choosers(seed: object) -> list[Chooser]:
    """Ways to play: any action, never an end, the last action but `done`, the first, and an end at once."""
    random = Random(str(seed))
    return [
        random.choice,
        lambda legal: random.choice(legal[:-1] or legal),
        lambda legal: legal[-2 if len(legal) > 1 else -1],
        lambda legal: legal[0],
        lambda legal: legal[-1],
    ]


def play_out(course: Course, choosers: list[Chooser]) -> Iterator[dict[int, str]]:
    """Play a game to its end; yield the actions of every ask before they are played."""
    while not isinstance(course.step, Result):
        state, rules = course.state, course.rules
        actions = {seat: choosers[seat % len(choosers)](rules.legal(state, seat)) for seat in course.step.seats}
        yield actions
        course.play(actions)


def list_cards(layout: Layout) -> list[int]:
    """All cards of a layout, sorted."""
    on_foundations = [13 * suit + rank for suit, height in enumerate(layout.foundations) for rank in range(height)]
    return sorted([*on_foundations, *layout.stock, *layout.waste, *sum((*layout.downs, *layout.ups), ())])


def number_cards(cards: str) -> tuple[int, ...]:
    return tuple(NUMBER[card] for card in cards.split())


def lay_out(columns: dict[int, tuple[str, str]], foundations: tuple[int, int, int, int], **piles: str) -> Layout:
    """A layout: by column what lies face down and face up; piles are stock and waste."""
    pairs = [columns.get(column, ("", "")) for column in range(7)]
    downs, ups = (tuple(number_cards(pair[side]) for pair in pairs) for side in (0, 1))
    return Layout(downs, ups, foundations, number_cards(piles.get("stock", "")), number_cards(piles.get("waste", "")))
