"""Spite & Malice and its relatives: one engine, controlled by the parameters of a ruleset."""

from pathlib import Path
from random import Random
from typing import Any

from malice.referee.compiled import find_core
from malice.referee.families import Family
from malice.referee.games.spite import words, worlds
from malice.referee.games.spite.engine import SpiteAndMalice
from malice.referee.games.spite.features import FEATURES
from malice.referee.games.spite.learner import make_learner
from malice.referee.games.spite.luck import find_luck
from malice.referee.games.spite.messages import PUBLIC, Event, View, count_left
from malice.referee.games.spite.parameters import Parameters, classify, list_figures, match
from malice.referee.games.spite.state import check_state
from malice.referee.games.spite.words import SENTENCES
from malice.referee.rules import Events, Rules, World

__all__ = ["FAMILY", "SpiteAndMalice"]


def make_rules(parameters: Parameters, seats: int) -> Rules[Any]:
    """Make the game, compiled where the core plays: it does what `SpiteAndMalice` does, and has that beside it.

    Raises:
        RulesetError: the parameters do not make a game for that many seats.
        FamilyError: the core is to play, and cannot.
    """
    engine, core = SpiteAndMalice(parameters, seats), find_core()
    rules: Rules[Any] = engine if core is None else core.Rules(engine)
    return rules


def resample(rules: Any, view: View, heard: Events, rng: Random) -> World:
    return worlds.resample(getattr(rules, "reference", rules), view, heard, rng)


FAMILY = Family(
    name="spite",
    revision=2,
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    public=PUBLIC,
    match=match,
    rules=make_rules,
    describe_event=words.describe_event,
    describe_action=words.describe_action,
    sketch=words.sketch,
    figures=list_figures,
    reasons=SENTENCES.reasons,
    help=words.HELP,
    goal=words.GOAL,
    classify=classify,
    features=FEATURES,
    learner=make_learner,
    luck=find_luck,
    race=count_left,
    resample=resample,
    check_state=lambda rules, state: check_state(rules.derived, state),
    opponent="greedy",
)
