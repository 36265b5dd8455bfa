"""The rare situations of the corpus: they are what they say, and legal, and every feature has one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from malice.protocol.codec import encode
from malice.referee.games.spite.features import FEATURES
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.tournaments.check.fuzz import REQUEST_BYTES as KEPT_BYTES
from malice.tournaments.check.fuzz import (
    RarePosition,
    list_rare_positions,
    load_corpus,
    make_game_end,
    replay_rare_position,
)
from malice.tournaments.check.games import group_rulesets

from .corpus import find_situations, list_features

CORPUS = load_corpus()


def told(situation: RarePosition) -> str:
    return f"{situation.ruleset}-{situation.seats}-{len(situation.actions.split())}"


@pytest.mark.slow
@pytest.mark.parametrize("situation", CORPUS, ids=told)
def test_a_situation_can_be_played_to_and_is_as_rare_as_it_says(situation: RarePosition) -> None:
    played = replay_rare_position(situation)

    request = played.request(1)
    assert set(situation.features) <= set(list_features(request))
    assert played.seat == request.view.seat
    assert request.legal
    assert len(encode(request)) <= KEPT_BYTES
    assert make_game_end(played, 2).place == 1


def test_the_corpus_has_an_example_of_every_feature() -> None:
    assert {feature for situation in CORPUS for feature in situation.features} == set(FEATURES)


def test_the_corpus_opens_every_ruleset_with_as_many_seats_as_it_allows() -> None:
    opened = {(situation.ruleset, situation.seats) for situation in CORPUS if not situation.actions}

    assert {(name, load_ruleset(name).match.players[1]) for name in list_rulesets("spite")} <= opened


def test_more_situations_than_the_corpus_has_go_on_from_there_and_are_always_the_same() -> None:
    many = list(list_rare_positions(len(CORPUS) + 10))

    assert tuple(many[: len(CORPUS)]) == CORPUS
    assert many == list(list_rare_positions(len(CORPUS) + 10))
    for before, further in zip(CORPUS, many[len(CORPUS) :], strict=False):
        assert further.actions.startswith(before.actions)
        assert replay_rare_position(further).seat is not None


@pytest.mark.slow
def test_what_is_found_by_playing_is_kept_as_the_shortest_beginning_of_a_game() -> None:
    found = find_situations(("catsatcards", "multi-3"), deals=1)

    assert found == find_situations(("catsatcards", "multi-3"), deals=1)
    assert all(len(one.actions) <= len(other.actions) for one, other in pairwise(found))
    examples = [feature for situation in found for feature in situation.features]
    assert len(examples) == len(set(examples))
    for situation in found:
        assert set(situation.features) <= set(list_features(replay_rare_position(situation).request(1)))


def test_every_ruleset_belongs_to_one_group() -> None:
    members = [member for group in group_rulesets() for member in group.members]

    assert sorted(members) == list(list_rulesets("spite"))
    assert all(group.name in group.members for group in group_rulesets())
    assert {"loading", "partners-4", "partners-6", "book"} <= {group.name for group in group_rulesets()}
    assert max(group.seats for group in group_rulesets()) == 8
