"""Lines as bytes: what the buffer cuts out of a pipe, and what is said about a line that is no answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from malice.protocol import LINE_BYTES
from malice.protocol.codec import BACKLOG_BYTES, LineBuffer, decode_answer, decode_request, encode, excerpt
from malice.protocol.errors import ProtocolError, StrayLine
from malice.protocol.messages import BareAnswer, Bye, GameEnd, HelloAnswer, MoveAnswer

CAP = 32
READ = 24
DECODER = msgspec.json.Decoder(MoveAnswer)
HELLO = msgspec.json.Decoder(HelloAnswer)

repeatable = settings(derandomize=True, deadline=None)

lines = st.lists(st.binary(max_size=CAP - 1).map(lambda data: data.replace(b"\n", b" ")))
"""Lines that fit the cap with their LF."""

wild = st.binary() | st.text().map(str.encode) | st.lists(st.sampled_from(b'{}[]",:\\u0d8ie13.-+ntf \n')).map(bytes)
"""Bytes of any kind, more often than not nearly JSON."""

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    """Lines, and the same bytes as a pipe may deliver them."""
    wanted = draw(lines)
    data = b"".join(line + b"\n" for line in wanted)
    cuts = draw(st.lists(st.integers(0, len(data))))
    edges = sorted({0, len(data), *cuts, *range(0, len(data), READ)})
    return wanted, [data[start:end] for start, end in pairwise(edges)]


def complaint(decode: Callable[[], object]) -> str:
    """Return what is said about a line, nothing if it is understood."""
    try:
        decode()
    except ProtocolError as error:
        return str(error)
    return ""


def popped(buffer: LineBuffer) -> list[bytes]:
    """Take all whole lines out."""
    return list(iter(buffer.pop, None))


@repeatable
@given(chunked())
def test_any_chunking_gives_the_same_lines(case: tuple[list[bytes], list[bytes]]) -> None:
    wanted, chunks = case
    buffer = LineBuffer(CAP)
    got: list[bytes] = []

    for chunk in chunks:
        buffer.feed(chunk)
        got += popped(buffer)

    assert got == wanted
    assert not buffer


@repeatable
@given(chunked())
def test_lines_can_wait_in_the_buffer(case: tuple[list[bytes], list[bytes]]) -> None:
    wanted, chunks = case
    buffer = LineBuffer(CAP)

    for chunk in chunks:
        buffer.feed(chunk)

    assert popped(buffer) == wanted


@repeatable
@given(st.lists(st.binary(max_size=READ)))
def test_the_buffer_never_holds_more_than_the_cap_and_one_read(chunks: list[bytes]) -> None:
    buffer = LineBuffer(CAP)

    for chunk in chunks:
        try:
            buffer.feed(chunk)
            assert len(buffer) <= CAP + READ
            popped(buffer)
        except ProtocolError:
            assert len(buffer) <= CAP + READ
            return
        assert len(buffer) <= CAP


@repeatable
@given(st.integers(0, CAP - 1), st.integers(CAP, 3 * CAP), st.integers(1, READ))
def test_a_line_over_the_cap_is_refused_in_any_chunking(short: int, long: int, step: int) -> None:
    data = b"a" * short + b"\n" + b"b" * long + b"\n"
    buffer = LineBuffer(CAP)
    got: list[bytes] = []

    def read_on() -> None:
        for start in range(0, len(data), step):
            buffer.feed(data[start : start + step])
            while (line := buffer.pop()) is not None:
                got.append(line)

    with pytest.raises(ProtocolError, match=rf"expected lines of at most {CAP} bytes, got .*: 'b*"):
        read_on()
    assert got == [b"a" * short]


def test_a_line_may_be_as_long_as_the_cap_with_its_newline() -> None:
    buffer = LineBuffer()

    buffer.feed(b"x" * (LINE_BYTES - 1))
    assert buffer.pop() is None
    buffer.feed(b"\n")

    assert buffer.pop() == b"x" * (LINE_BYTES - 1)


def test_an_empty_buffer_is_false_and_half_a_line_is_not() -> None:
    buffer = LineBuffer()
    assert not buffer

    buffer.feed(b"half")
    assert buffer

    buffer.feed(b" a line\n")
    buffer.pop()
    assert not buffer


def test_a_backlog_that_nobody_takes_out_is_refused() -> None:
    buffer = LineBuffer()
    read = b"a line\n" * 9000

    for _ in range(BACKLOG_BYTES // len(read)):
        buffer.feed(read)

    with pytest.raises(ProtocolError, match="expected one line for each request"):
        buffer.feed(read)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":3,"move":"p-c0"}',
        b'{"id":3,"move":"p-c0"}\n',
        b' {"move" : "p-c0", "id" : 3 } \r',
        b'{"id":3,"move":"p-c0","note":null,"thought":{"depth":[1,2]}}',
        b'{"id":3,"move":"p\\u002dc0"}',
        b'{"id":3.0,"move":"p-c0"}',
        b'{"id":3e0,"move":"p-c0","note":"from Lua"}',
        b'{"id":2,"id":3,"move":"h4S-s0","move":"p-c0"}',
        b'{"id":3,"move":"p-c0","nodes":' + b"9" * 50_000 + b"}",
        b'{"id":3,"move":"p-c0","note":{"text":"no string"}}',
    ],
)
def test_an_answer_is_understood(line: bytes) -> None:
    answer = decode_answer(line, DECODER, 3)

    assert (answer.id, answer.move) == (3, "p-c0")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"{}", "expected the id 3, got an answer without id: '{}'"),
        (b'{"move":"p-c0"}', """expected the id 3, got an answer without id: '{"move":"p-c0"}'"""),
        (b'{"ID":3}', """expected the id 3, got an answer without id: '{"ID":3}'"""),
        (b'{"id":"3","move":"p-c0"}', """expected the number 3 as id, got: '{"id":"3","move":"p-c0"}'"""),
        (b'{"id":true}', """expected the number 3 as id, got: '{"id":true}'"""),
        (b'{"id":null}', """expected the number 3 as id, got: '{"id":null}'"""),
        (b'{"id":[3]}', """expected the number 3 as id, got: '{"id":[3]}'"""),
        (b'{"id":2,"move":"p-c0"}', "expected the id 3, got 2, which was answered or ran out before"),
        (b'{"id":4,"move":"p-c0"}', "expected the id 3, got 4"),
        (b'{"id":0}', "expected the id 3, got 0"),
        (b'{"id":-1}', "expected the id 3, got -1"),
        (b'{"id":2.5}', "expected the id 3, got 2.5, which was answered or ran out before"),
        (b'{"id":3,"id":4,"move":"p-c0"}', "expected the id 3, got 4"),
        (b'{"id":18446744073709551616}', "expected the id 3, got 18446744073709551616"),
        (b'{"id":' + b"9" * 4300 + b"}", "expected the id 3, got 99999999999999999999..."),
        (b'{"id":1e300}', "expected the id 3, got 1e+300"),
        (b'{"id":3}', """object missing required field `move`, got: '{"id":3}'"""),
        (b'{"id":3.0}', """object missing required field `move`, got: '{"id":3.0}'"""),
        (b'{"id":3,"move":4}', """expected `str`, got `int` - at `$.move`, got: '{"id":3,"move":4}'"""),
        (b'{"id":3,"move":null}', """expected `str`, got `null` - at `$.move`, got: '{"id":3,"move":null}'"""),
        (b'{"id":3.0,"move":[]}', """expected `str`, got `array` - at `$.move`, got: '{"id":3.0,"move":[]}'"""),
    ],
)
def test_an_object_that_is_no_answer_gets_a_sentence(line: bytes, sentence: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_answer(line, DECODER, 3)

    assert str(caught.value) == sentence
    assert not isinstance(caught.value, StrayLine)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=name)
        for name, line in {
            "nothing": b"",
            "spaces": b"  \r",
            "words": b"thinking...",
            "a move": b"p-c0",
            "array": b'[{"id":3}]',
            "number": b"3",
            "string": b'"{}"',
            "null": b"null",
            "python": b"{'id': 3, 'move': 'p-c0'}",
            "comma": b'{"id":3,"move":"p-c0",}',
            "half": b'{"id":3,"mo',
            "two on a line": b'{"id":3,"move":"p-c0"}{"id":4}',
            "NUL": b'{"id":3,"move":"p-c0"}\0',
            "byte order mark": b'\xef\xbb\xbf{"id":3,"move":"p-c0"}',
            "UTF-16": '{"id":3,"move":"p-c0"}'.encode("utf-16"),
            "words in Latin-1": b"na\xefve",
            "an array in Latin-1": b'["\xef"]',
            "half in Latin-1": b'{"id":3,"note":"\xef',
            "control character": b'{"id":3,"move":"p\x01"}',
            "lone surrogate": b'{"id":3,"move":"p-c0","note":"\\ud83d"}',
            "NaN": b'{"id":3,"move":"p-c0","value":NaN}',
            "NaN as id": b'{"id":NaN}',
            "infinity": b'{"id":3,"move":"p-c0","value":-Infinity}',
            "id without end": b'{"id":' + b"9" * 50_000 + b"}",
            "id over any float": b'{"id":1e999}',
            "open brackets": b"[" * 60_000,
            "open braces": b'{"a":' * 12_000,
            "deep note": b'{"id":3,"move":"p-c0","note":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        }.items()
    ],
)
def test_what_is_no_json_object_is_a_stray_line(line: bytes) -> None:
    with pytest.raises(StrayLine, match=r"^not (a )?JSON") as caught:
        decode_answer(line, DECODER, 3)

    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("line", "byte"),
    [
        pytest.param(line, byte, id=name)
        for name, (line, byte) in {
            "move": (b'{"id":3,"move":"\xff"}', "0xff as number 17"),
            "overlong": (b'{"id":3,"move":"\xc0\xaf"}', "0xc0 as number 17"),
            "surrogate": (b'{"id":3,"move":"\xed\xa0\x80"}', "0xed as number 17"),
            "note": (b'{"id":3,"move":"p-c0","note":"\xe9"}', "0xe9 as number 31"),
            "ignored field": (b'{"id":3,"move":"p-c0","x":"\xe9"}', "0xe9 as number 28"),
            "ignored surrogate": (b'{"id":3,"move":"p-c0","x":"\xed\xa0\x80"}', "0xed as number 28"),
            "name of a field": (b'{"id":3,"move":"p-c0","\xe9":1}', "0xe9 as number 24"),
            "deep": (b'{"id":3,"move":"p-c0","x":[{"y":["\xe9"]}]}', "0xe9 as number 35"),
            "id of another": (b'{"id":9,"x":"\xe9"}', "0xe9 as number 14"),
        }.items()
    ],
)
def test_an_object_that_is_not_utf8_anywhere_breaks_the_protocol(line: bytes, byte: str) -> None:
    with pytest.raises(ProtocolError, match=f"^expected UTF-8, got the byte {byte} of the line: ") as caught:
        decode_answer(line, DECODER, 3)

    assert not isinstance(caught.value, StrayLine)


@pytest.mark.parametrize("text", ["é", "♥", "\U0001f0a1", "\u2028"])
def test_utf8_beyond_ascii_is_an_answer_like_any_other(text: str) -> None:
    answer = decode_answer(f'{{"id":3,"move":"p-c0","note":"{text}","{text}":"{text}"}}'.encode(), DECODER, 3)

    assert answer.note == text


@pytest.mark.slow
@repeatable
@given(wild, st.sampled_from([DECODER, HELLO, msgspec.json.Decoder(BareAnswer)]))
@example(b'{"id":3.0,"note":' + b"9" * 4300 + b"}", DECODER)
def test_no_bytes_raise_anything_but_our_errors(line: bytes, decoder: msgspec.json.Decoder[Any]) -> None:
    said = complaint(lambda: decode_answer(line, decoder, 3))

    assert said.isascii()
    assert said.isprintable()


@repeatable
@given(wild)
def test_no_bytes_raise_anything_but_our_errors_as_a_request(line: bytes) -> None:
    assert complaint(lambda: decode_request(line)).isascii()


@pytest.mark.slow
@repeatable
@given(st.dictionaries(st.text(max_size=3), values), st.integers(1, 2**53 - 1), st.text())
def test_unknown_fields_of_an_answer_are_ignored(extra: dict[str, Any], id: int, move: str) -> None:
    line = msgspec.json.encode(extra | {"id": id, "move": move, "note": None})

    assert decode_answer(line, DECODER, id) == MoveAnswer(id, move)


def test_unknown_fields_of_a_request_are_ignored() -> None:
    assert decode_request(b'{"type":"bye","why":"the batch is over"}') == Bye()


def test_a_number_of_a_request_may_be_spelt_in_any_way() -> None:
    line = b'{"type":"game_end","id":7e0,"place":1.0,"places":[1,20E-1],"scores":[6.0,0.0],"reason":"x","key":"0.0.0"}'

    assert decode_request(line) == GameEnd(7, 1, (1, 2), (6, 0), "x", "0.0.0")
    with pytest.raises(ProtocolError, match="expected a message of the referee, got"):
        decode_request(line.replace(b"7e0", b"7.5"))


@pytest.mark.parametrize("line", [b'{"id":1,"protocol":1.0}', b'{"id":1e0,"protocol":10e-1}'])
def test_a_number_of_an_answer_may_be_spelt_in_any_way(line: bytes) -> None:
    assert decode_answer(line, msgspec.json.Decoder(HelloAnswer), 1) == HelloAnswer(1, 1)


def test_an_unknown_type_of_request_is_refused() -> None:
    with pytest.raises(ProtocolError, match="expected a message of the referee, got"):
        decode_request(b'{"type":"chat","id":9}')


def test_a_message_is_one_line() -> None:
    line = encode(GameEnd(9, 1, (1, 2), (6, 0), "payoff\nempty", "0.0.0"))

    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


def test_a_name_is_kept_short() -> None:
    assert decode_answer(b'{"id":1,"name":"%s"}' % (b"x" * 100), HELLO, 1).name == "x" * 100
    with pytest.raises(ProtocolError, match=r"length <= 100 - at `\$.name`"):
        decode_answer(b'{"id":1,"name":"%s"}' % (b"x" * 101), HELLO, 1)


def test_all_but_the_id_may_be_left_out_of_the_answer_to_hello() -> None:
    assert decode_answer(b'{"id":1}', HELLO, 1) == HelloAnswer(1, protocol=1, name=None, version=None, legal=True)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"plain\n", "'plain'"),
        (b"carriage\r\n", "'carriage'"),
        (b"\x1b[31mred\x07\t", r"'\x1b[31mred\x07\t'"),
        ("\u202eturned\u2066".encode(), r"'\u202eturned\u2066'"),
        ("ä\u2028♥\U0001f0a1".encode(), r"'\xe4\u2028\u2665\U0001f0a1'"),
        (b"\xff\xfe", r"'\\xff\\xfe'"),
        (b"it's", '''"it's"'''),
        (b"x" * 11, "'xxxxxxxxxx'..."),
        ("\U0001f0a1".encode() * 11, "'" + r"\U0001f0a1" * 10 + "'..."),
        ("\U0001f0a1".encode() * 10, "'" + r"\U0001f0a1" * 10 + "'"),
    ],
)
def test_an_excerpt_is_harmless(line: bytes, shown: str) -> None:
    assert excerpt(line, 10 if len(line) > 15 or line[:1] == b"x" else 200) == shown


@repeatable
@given(st.binary(max_size=3000), st.integers(1, 300))
def test_an_excerpt_is_short_printable_ascii(line: bytes, most: int) -> None:
    shown = excerpt(line, most)

    assert shown.isascii()
    assert shown.isprintable()
    assert len(shown) <= 10 * most + 5
