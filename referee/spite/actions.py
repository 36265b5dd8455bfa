"""The legal list: one string per distinct card and place, in canonical order."""

from __future__ import annotations

from referee.spite.setting import Setting
from referee.spite.state import State


def legal(setting: Setting, state: State) -> tuple[str, ...]:
    """List the actions of the seat to act: the pay-off top, the hand, the side tops; to the centre, to a side stack."""
    if state.phase != "turn":
        return ()
    centre = _centre_targets(setting, state)
    sides = state.sides[state.seat]
    discards = _discard_targets(sides)
    found: list[str] = []
    payoff = state.payoffs[state.seat]
    if payoff:
        top = payoff[-1]
        found += ["p" + target for target, fits in centre if top in fits]
    previous = ""
    for card in state.hands[state.seat]:
        if card == previous:
            continue
        previous = card
        source = "h" + card
        for target, fits in centre:
            if card in fits:
                found.append(source + target)
        for target in discards:
            found.append(source + target)
    for index, pile in enumerate(sides):
        if pile:
            top = pile[-1]
            found += [f"s{index}{target}" for target, fits in centre if top in fits]
    return tuple(found)


def _centre_targets(setting: Setting, state: State) -> list[tuple[str, frozenset[str]]]:
    """List each centre stack that can be played on with the cards that fit; of empty slots only the first."""
    targets = []
    seen_empty = False
    for slot, height in enumerate(state.heights):
        if height:
            targets.append((f"-c{slot}", setting.fits[height]))
        elif not seen_empty:
            seen_empty = True
            targets.append((f"-c{slot}", setting.fits[0]))
    if not seen_empty and setting.centre_slots is None:
        targets.append((f"-c{len(state.heights)}", setting.fits[0]))
    return targets


def _discard_targets(sides: tuple[tuple[str, ...], ...]) -> list[str]:
    """List the side stacks; of empty ones only the first."""
    first_empty = next((index for index, pile in enumerate(sides) if not pile), None)
    return [f"-s{index}" for index, pile in enumerate(sides) if pile or index == first_empty]
