"""Spite & Malice and its relatives: one engine, controlled by the parameters of a ruleset."""

from pathlib import Path

from malice.referee.families import Family
from malice.referee.games.spite import words
from malice.referee.games.spite.engine import SpiteAndMalice
from malice.referee.games.spite.features import FEATURES
from malice.referee.games.spite.learner import make_learner
from malice.referee.games.spite.luck import find_luck
from malice.referee.games.spite.messages import PUBLIC, Event, View, count_left
from malice.referee.games.spite.parameters import Parameters, classify, list_figures, match
from malice.referee.games.spite.words import SENTENCES
from malice.referee.games.spite.worlds import resample

__all__ = ["FAMILY", "SpiteAndMalice"]

FAMILY = Family(
    name="spite",
    revision=2,
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    public=PUBLIC,
    match=match,
    rules=SpiteAndMalice,
    describe_event=words.describe_event,
    describe_action=words.describe_action,
    sketch=words.sketch,
    figures=list_figures,
    reasons=SENTENCES.reasons,
    help=words.HELP,
    classify=classify,
    features=FEATURES,
    learner=make_learner,
    luck=find_luck,
    race=count_left,
    resample=resample,
    opponent="greedy",
)
