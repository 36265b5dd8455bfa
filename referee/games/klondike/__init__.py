"""Klondike: two to eight seats play the same deal, each alone and unseen."""

from pathlib import Path

from malice.referee.families import Family
from malice.referee.games.klondike import words
from malice.referee.games.klondike.engine import Klondike
from malice.referee.games.klondike.learner import make_learner
from malice.referee.games.klondike.messages import Event, View, count_left
from malice.referee.games.klondike.parameters import Parameters, match
from malice.referee.games.klondike.plays import DONE
from malice.referee.games.klondike.table import STATISTICS, list_figures
from malice.referee.games.klondike.winnable import is_winnable
from malice.referee.games.klondike.words import SENTENCES
from malice.referee.games.klondike.worlds import resample

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
    goal=words.GOAL,
    final=frozenset({DONE}),
    learner=make_learner,
    race=count_left,
    resample=resample,
    statistics=STATISTICS,
    winnable=is_winnable,
    opponent="dabbler",
)
