"""What a seat sees of a position: the same for all seats but for whose request it is."""

from __future__ import annotations

from malice.protocol.cards import CARDS, HIDDEN, VALUE, Cards
from malice.referee.games.nuts.messages import SideView
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.results import count_points
from malice.referee.games.nuts.state import PLACES, Side, State

TOPS = tuple(
    (None, *(card for card in CARDS if card[1] == "CDHS"[place // 2] and VALUE[card] <= 13)) for place in range(PLACES)
)
"""By foundation and height: its top card."""


def show_centre(state: State) -> tuple[str | None, ...]:
    """Return the top of each foundation."""
    return tuple([tops[height] for tops, height in zip(TOPS, state.heights, strict=True)])


def show_side(rules: Parameters, side: Side) -> SideView:
    """Return the cards of a team; what lies face down is hidden."""
    return SideView(
        side.nuts[-1] if side.nuts else None,
        len(side.nuts),
        tuple(
            [
                (HIDDEN,) * hidden + pile[hidden:] if hidden else pile
                for pile, hidden in zip(side.columns, side.hidden, strict=True)
            ]
        ),
        len(side.stock),
        side.waste if rules.waste_visible == "all" else hide_below(side.waste),
        side.centre,
        count_points(rules, side),
    )


def hide_below(pile: Cards) -> Cards:
    """Hide all cards of a pile but its top."""
    return (*(HIDDEN,) * (len(pile) - 1), *pile[-1:])
