"""What a package of a game needs: the interface that it implements, and what it says of itself.

Whatever is named here stays; [Adding a game](../docs/adding-a-game.md) explains it.
"""

from malice.protocol.cards import (
    CARDS,
    HIDDEN,
    JOKER,
    ORDER,
    RANKS,
    SUITS,
    VALUE,
    Cards,
    make_french_pack,
    make_skipbo_pack,
)
from malice.protocol.messages import Move, Out
from malice.referee.errors import DataError, IllegalAction, RulesetError
from malice.referee.families import Family, Statistic
from malice.referee.learning import Learner, keep_action, make_units
from malice.referee.rules import (
    Ask,
    Events,
    Luck,
    LuckMeter,
    MatchTerms,
    Result,
    Rules,
    Shuffle,
    Step,
    World,
)
from malice.referee.worlds import Playback, arrange_cards, fill_unseen

__all__ = [
    "CARDS",
    "HIDDEN",
    "JOKER",
    "ORDER",
    "RANKS",
    "SUITS",
    "VALUE",
    "Ask",
    "Cards",
    "DataError",
    "Events",
    "Family",
    "IllegalAction",
    "Learner",
    "Luck",
    "LuckMeter",
    "MatchTerms",
    "Move",
    "Out",
    "Playback",
    "Result",
    "Rules",
    "RulesetError",
    "Shuffle",
    "Statistic",
    "Step",
    "World",
    "arrange_cards",
    "fill_unseen",
    "keep_action",
    "make_french_pack",
    "make_skipbo_pack",
    "make_units",
]
