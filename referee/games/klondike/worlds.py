"""The hidden cards of Klondike, dealt anew for a seat: those that it has never seen face up.

Of the others' play a seat hears nothing. In its worlds they have played as it has itself; where it came to its end
before them, they then play at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from malice.protocol.cards import HIDDEN
from malice.protocol.messages import Out
from malice.referee.games.klondike.engine import Klondike
from malice.referee.games.klondike.messages import Dealt, Ended, Flip, Moved, Redealt, Turned, Undone, View
from malice.referee.games.klondike.plays import DONE, REDEAL, TURN, UNDO
from malice.referee.games.klondike.table import NUMBER, PACK, deal
from malice.referee.rules import Events, World
from malice.referee.worlds import Playback, fill_unseen


def resample(rules: Klondike, view: View, heard: Events, rng: Random) -> World:
    """Deal a world in which the seat heard just this; all orders of the cards that it never saw are equally likely.

    Raises:
        DataError: there is none.
    """
    seat = view.seat
    assert seat is not None
    order = fill_unseen(_list_dealt(heard), range(len(PACK)), rng)
    playback = Playback(rules, lambda state: order)
    own, plays = list(_list_actions(heard)), view.turn - 1
    for number, what in enumerate(own):
        if isinstance(what, Out):
            playback.withdraw([what])
        elif number < plays - 1 and number == len(own) - 1:
            _play_at_random(playback, rules, rng, {seat: what})
        else:
            playback.play(dict.fromkeys(playback.asked, what))
    for _ in range(plays - sum(not isinstance(what, Out) for what in own)):
        _play_at_random(playback, rules, rng, {})
    return playback.finish()


def _play_at_random(playback: Playback, rules: Klondike, rng: Random, own: dict[int, str]) -> None:
    """Let the other seats play something, but not come to their ends by themselves."""
    actions = {seat: own.get(seat) or rng.choice(rules.legal(playback.state, seat)[:-1]) for seat in playback.asked}
    playback.play(actions)


def _list_dealt(heard: Events) -> list[int | None]:
    """List the cards in the order of the shuffle, from the bottom; None for one that the seat has never seen."""
    places = deal(tuple(range(len(PACK))))
    downs, stock, waste = [list(pile) for pile in places.downs], list(places.stock), list[int]()
    seen: dict[int, str] = {}
    before: list[tuple[list[list[int]], list[int], list[int]]] = []
    for event in heard:
        if isinstance(event, Dealt):
            for pile, up, cards in zip(places.downs, places.ups, event.columns, strict=True):
                seen |= zip((*pile, *up), cards, strict=True)
        elif isinstance(event, Undone):
            downs, stock, waste = before.pop()
        elif isinstance(event, Flip):
            seen[downs[int(event.column[1:])].pop()] = event.card
        elif isinstance(event, Moved | Turned | Redealt):
            before.append(([pile.copy() for pile in downs], stock.copy(), waste.copy()))
        if isinstance(event, Turned):
            turned = [stock.pop() for _ in event.cards]
            seen |= zip(turned, event.cards, strict=True)
            waste += turned
        elif isinstance(event, Redealt):
            stock, waste = waste[::-1], []
        elif isinstance(event, Moved) and event.source == "w":
            waste.pop()
    return _name(seen, len(PACK))


def _name(seen: dict[int, str], size: int) -> list[int | None]:
    return [NUMBER[card] if (card := seen.get(place, HIDDEN)) != HIDDEN else None for place in range(size)]


def _list_actions(heard: Sequence[object]) -> Iterator[str | Out]:
    for event in heard:
        if isinstance(event, Moved):
            yield f"{event.source}-{event.target if event.target[0] == 't' else 'f'}"
        elif isinstance(event, Turned):
            yield TURN
        elif isinstance(event, Redealt):
            yield REDEAL
        elif isinstance(event, Undone):
            yield UNDO
        elif isinstance(event, Ended) and event.how == DONE:
            yield DONE
        elif isinstance(event, Out):
            yield event
