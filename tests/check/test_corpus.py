"""The rare situations: they are what they say, and legal; and the odd JSON is the same request."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import msgspec
import pytest
from tournaments.check.corpus import find_situations
from tournaments.check.features import FEATURES, list_features

from protocol import LINE_BYTES
from protocol.codec import decode_request, encode
from protocol.messages import Move
from referee.rulesets import list_rulesets, load_ruleset
from tournaments.check.games import list_families
from tournaments.check.odd_json import LATER, add_unknown, make_odd_writer
from tournaments.check.situations import LINE_BYTES as KEPT_BYTES
from tournaments.check.situations import (
    Position,
    Situation,
    list_situations,
    load_corpus,
    make_game_end,
    replay_situation,
)

CORPUS = load_corpus()


def told(situation: Situation) -> str:
    return f"{situation.ruleset}-{situation.seats}-{len(situation.actions.split())}"


@pytest.mark.slow
@pytest.mark.parametrize("situation", CORPUS, ids=told)
def test_a_situation_can_be_played_to_and_is_as_rare_as_it_says(situation: Situation) -> None:
    played = replay_situation(situation)

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

    assert {(name, load_ruleset(name).rules.players[1]) for name in list_rulesets()} <= opened


def test_more_situations_than_the_corpus_has_go_on_from_there_and_are_always_the_same() -> None:
    many = list(list_situations(len(CORPUS) + 10))

    assert tuple(many[: len(CORPUS)]) == CORPUS
    assert many == list(list_situations(len(CORPUS) + 10))
    for before, further in zip(CORPUS, many[len(CORPUS) :], strict=False):
        assert further.actions.startswith(before.actions)
        assert replay_situation(further).seat is not None


@pytest.mark.slow
def test_what_is_found_by_playing_is_kept_as_the_shortest_beginning_of_a_game() -> None:
    found = find_situations(("catsatcards", "multi-3"), deals=1)

    assert found == find_situations(("catsatcards", "multi-3"), deals=1)
    assert all(len(one.actions) <= len(other.actions) for one, other in pairwise(found))
    examples = [feature for situation in found for feature in situation.features]
    assert len(examples) == len(set(examples))
    for situation in found:
        assert set(situation.features) <= set(list_features(replay_situation(situation).request(1)))


def request() -> bytes:
    return encode(Position("partners-4", 4, 7).request(3))


@pytest.mark.parametrize("number", range(60))
def test_an_odd_request_says_the_same_and_has_one_line(number: int) -> None:
    plain = request()
    line = make_odd_writer(number)(plain)

    assert line == make_odd_writer(number)(plain)
    assert line.endswith(b"\n")
    assert not {b"\n", b"\r"} & {bytes([byte]) for byte in line[:-1]}
    assert len(line) <= LINE_BYTES
    assert decode_request(line) == decode_request(plain)
    assert json.loads(line).items() >= json.loads(plain).items()


def test_no_two_of_many_odd_requests_are_written_alike() -> None:
    assert len({make_odd_writer(number)(request()) for number in range(60)}) > 40


def test_numbers_are_spelt_in_every_way_that_the_protocol_allows() -> None:
    spelt = {
        text
        for number in range(60)
        for text in re.findall(rb'"[a-z]+"\s*:\s*(\d[\d.eE]*)', make_odd_writer(number)(request()))
    }

    assert any(re.fullmatch(rb"\d+\.0", text) for text in spelt)
    assert any(re.fullmatch(rb"\d+e\d+", text) for text in spelt)
    assert any(re.fullmatch(rb"\d+E[1-9]", text) for text in spelt)


def test_every_object_of_a_request_gets_a_field_that_nobody_knows() -> None:
    plain = msgspec.json.decode(request())
    later = msgspec.json.decode(add_unknown(request()))

    def objects(value: object) -> list[dict[str, object]]:
        if isinstance(value, list):
            return [found for each in value for found in objects(each)]
        if not isinstance(value, dict):
            return []
        return [value, *(found for key, inner in value.items() if key != "later" for found in objects(inner))]

    unknown = later.pop("later")
    assert unknown == LATER["later"]
    assert all("later" in each for each in objects(later["view"]) + objects(later["clock"]))
    assert len(later["events"]) == len(plain["events"]) + 1
    assert later["legal"] == plain["legal"]


def test_an_odd_request_is_never_longer_than_a_line_may_be() -> None:
    move = msgspec.json.decode(request())
    move["events"] = move["events"] * 100
    long = msgspec.json.encode(move)[:-1] + b"}\n"
    assert 20_000 < len(long) < LINE_BYTES

    assert all(len(make_odd_writer(number)(long)) <= LINE_BYTES for number in range(30))
    assert isinstance(decode_request(make_odd_writer(5)(long)), Move)


def test_every_ruleset_belongs_to_one_family() -> None:
    members = [member for family in list_families() for member in family.members]

    assert sorted(members) == list(list_rulesets())
    assert all(family.name in family.members for family in list_families())
    assert {"loading", "partners-4", "partners-6", "book"} <= {family.name for family in list_families()}
    assert max(family.seats for family in list_families()) == 8
