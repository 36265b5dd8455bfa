"""Nuts: two teams race at once to play their piles onto common foundations, in ticks instead of turns."""

from pathlib import Path

from malice.referee.families import Family
from malice.referee.games.nuts import words
from malice.referee.games.nuts.engine import Nuts
from malice.referee.games.nuts.learner import make_learner
from malice.referee.games.nuts.messages import PUBLIC, Event, View, count_missing
from malice.referee.games.nuts.parameters import Parameters, classify, match
from malice.referee.games.nuts.words import SENTENCES
from malice.referee.games.nuts.worlds import resample

__all__ = ["FAMILY", "Nuts"]

FAMILY = Family(
    name="nuts",
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    public=PUBLIC,
    match=match,
    rules=Nuts,
    describe_event=words.describe_event,
    describe_action=words.describe_action,
    sketch=words.sketch,
    reasons=SENTENCES.reasons,
    help=words.HELP,
    goal=words.GOAL,
    classify=classify,
    learner=make_learner,
    race=count_missing,
    resample=resample,
)
