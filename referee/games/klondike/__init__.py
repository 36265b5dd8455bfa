"""Klondike: two to eight seats play the same deal, each alone and unseen."""

from pathlib import Path

from referee.families import Family
from referee.games.klondike import words
from referee.games.klondike.actions import DONE
from referee.games.klondike.engine import Klondike
from referee.games.klondike.figures import list_figures
from referee.games.klondike.messages import Event, View
from referee.games.klondike.parameters import Parameters, match
from referee.games.klondike.race import count_left
from referee.games.klondike.results import STATISTICS
from referee.games.klondike.sentences import SENTENCES
from referee.games.klondike.winnable import is_winnable

__all__ = ["FAMILY", "Klondike"]

FAMILY = Family(
    name="klondike",
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    match=match,
    rules=Klondike,
    describe_event=words.describe_event,
    describe_action=words.describe_action,
    sketch=words.sketch,
    figures=list_figures,
    reasons=SENTENCES.reasons,
    help=words.HELP,
    final=frozenset({DONE}),
    race=count_left,
    statistics=STATISTICS,
    winnable=is_winnable,
    opponent="dabbler",
)
