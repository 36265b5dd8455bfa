"""Odd JSON is the same request: spaces, escapes, numbers and unknown fields in every way that the protocol allows."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from malice.protocol import LINE_BYTES
from malice.protocol.codec import decode_request, encode
from malice.protocol.messages import Move
from malice.tournaments.check.fuzz import LATER, RareGame, add_unknown, make_odd_writer


def request() -> bytes:
    return encode(RareGame("partners-4", 4, 7).request(3))


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
