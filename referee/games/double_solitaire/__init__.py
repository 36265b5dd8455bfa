"""Double Solitaire: two packs, one table, and whoever is rid of their pack first wins."""

from pathlib import Path

from malice.referee.families import Family
from malice.referee.games.double_solitaire import words
from malice.referee.games.double_solitaire.engine import DoubleSolitaire
from malice.referee.games.double_solitaire.learner import make_learner
from malice.referee.games.double_solitaire.messages import PUBLIC, Event, View, count_left, list_figures
from malice.referee.games.double_solitaire.parameters import Parameters, match
from malice.referee.games.double_solitaire.words import SENTENCES
from malice.referee.games.double_solitaire.worlds import resample

__all__ = ["FAMILY", "DoubleSolitaire"]

FAMILY = Family(
    name="double-solitaire",
    revision=2,
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    public=PUBLIC,
    match=match,
    rules=DoubleSolitaire,
    describe_event=words.describe_event,
    describe_action=words.describe_action,
    sketch=words.sketch,
    figures=list_figures,
    reasons=SENTENCES.reasons,
    help=words.HELP,
    goal=words.GOAL,
    learner=make_learner,
    race=count_left,
    resample=resample,
    opponent="unloader",
)
