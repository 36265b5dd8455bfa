"""What is an answer, what is a stray line, and what breaks the protocol."""

from __future__ import annotations

import re

import pytest

from malice.referee.bot import BotProcess
from malice.referee.connection import BotConnection
from malice.referee.verdicts import Verdict
from tests.exchanges import ask, game_end, move_verdict
from tests.tables import move_request, player, seated

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['{"move":"p-c0"}'], r"expected the id 2, got an answer without id: .*"),
        (['{"id":4,"move":"p-c0"}'], r"expected the id 2, got 4"),
        (['{"id":1,"move":"p-c0"}'], r"expected the id 2, got 1, which was answered or ran out before"),
        (['{"id":"ID","move":"p-c0"}'], r"expected the number 2 as id, got: .*"),
        (['{"id":null,"move":"p-c0"}'], r"expected the number 2 as id, got: .*"),
        (['{"id":true,"move":"p-c0"}'], r"expected the number 2 as id, got: .*"),
        (['{"id":ID}'], r"object missing required field `move`, got: .*"),
        (['{"id":ID,"move":5}'], r"expected `str`, got `int` - at `\$.move`, got: .*"),
        (['{"id":ID,"move":null}'], r"expected `str`, got `null` - at `\$.move`, got: .*"),
        (["LONG"], r"expected lines of at most 65536 bytes, got a longer one: .*"),
    ],
)
def test_what_is_no_answer_breaks_the_protocol(lines: list[str], sentence: str) -> None:
    code, said = move_verdict("says", "move", *lines)

    assert code == "protocol"
    assert re.fullmatch(sentence, said), said


@pytest.mark.parametrize("second", ["ID", "3"])
def test_an_answer_before_its_request_breaks_the_protocol(second: str) -> None:
    with seated("says", "move", '{"id":ID,"move":"p-c0"}', f'{{"id":{second},"move":"p-c0"}}') as seat:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), None)

    assert caught.value.code == "protocol"
    assert caught.value.sentence.startswith('expected one answer to each request, got another line: \'{"id":')


@pytest.mark.parametrize("line", ["[3]", "3", "thinking", "", "{debug}", "null"])
def test_lines_that_are_no_object_until_the_deadline_break_the_protocol(line: str) -> None:
    found = move_verdict("says", "move", line, line, line, limit_ms=500)

    assert found == ("protocol", "3 lines that are not JSON, and no answer to move: did you print to stdout?")


def test_a_few_stray_lines_are_skipped_and_counted() -> None:
    with seated("chatters", "50", "10") as seat:
        seat.begin()
        moves = [seat.ask_move(move_request(seat), None)[0].move for _ in range(2)]

        assert moves == ["h8C-s0"] * 2
        assert seat.report().stray_lines == 100


def test_a_stray_line_that_waits_before_a_request_is_skipped_and_counted() -> None:
    with seated("says", "move", '{"id":ID,"move":"p-c0"}', "{debug}", "[1]") as seat:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        assert seat.report().stray_lines == 0

        seat.ask_move(move_request(seat), None)
        assert seat.report().stray_lines == 2


def test_stray_lines_are_counted_anew_in_each_game() -> None:
    with seated("chatters", "100", "10") as seat:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        seat.begin()
        assert seat.report().stray_lines == 0

        seat.ask_move(move_request(seat), None)
        assert seat.report().stray_lines == 100


def test_over_a_hundred_stray_lines_break_the_protocol() -> None:
    code, sentence = move_verdict("chatters", "101", "3")

    assert code == "protocol"
    assert sentence == (
        "101 lines (303 bytes) that are not JSON: print what is not an answer to stderr; the last one: 'xxx'"
    )


def test_over_a_mebibyte_of_stray_lines_breaks_the_protocol() -> None:
    code, sentence = move_verdict("chatters", "20", "60000")

    assert code == "protocol"
    assert sentence.startswith("18 lines (1080000 bytes) that are not JSON")


def test_stray_lines_that_wait_before_a_request_are_counted_too() -> None:
    with seated("babbles", "101", "3") as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask(game_end(seat.next_id()))

    assert caught.value.code == "protocol"
    assert caught.value.sentence.startswith("101 lines (303 bytes) that are not JSON")


def test_a_bot_that_talks_while_it_is_asked_is_read_and_nobody_waits_for_ever() -> None:
    bot = BotProcess(player("babbles", "90", "10000"))
    line = BotConnection(bot, None)
    try:
        ask(line, 1)
        ask(line, 2, size=1_000_000)

        assert line.stray.count == 90
    finally:
        bot.kill()


def test_a_protocol_version_that_does_not_exist_is_refused() -> None:
    with seated("says", "hello", '{"id":ID,"protocol":2}') as seat, pytest.raises(Verdict) as caught:
        seat.begin()

    assert (caught.value.code, caught.value.sentence) == ("protocol", "expected protocol 1, the bot chose 2")


@pytest.mark.parametrize(
    "answer", ['{"id":ID.0,"move":"p-c0"}', '{"x":{},"id":ID,"move":"p-c0","note":7}', '{"id":ID,"move":"p-c0"}\r']
)
def test_an_answer_may_have_a_float_id_unknown_fields_and_a_carriage_return(answer: str) -> None:
    with seated("says", "move", answer) as seat:
        seat.begin()

        assert seat.ask_move(move_request(seat), None)[0].move == "p-c0"
