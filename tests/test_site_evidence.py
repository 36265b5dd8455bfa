"""Which line brought a verdict on, and which byte of it is bad."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.protocol.codec import decode_answer
from malice.protocol.errors import ProtocolError
from malice.protocol.messages import MoveAnswer
from malice.referee.connection import SHOWN_BYTES
from malice.referee.records import RecordedVerdict
from malice.site_pages.evidence import Evidence, find_broken_json, make_evidence

REQUEST = '> {"type":"move","id":7,"view":{"turn":12},"legal":["p-c0"]}'
ANSWER = '{"id":7,"move":"p-c0","note":"x"}'
WIDTH = 80


def show(
    code: str, *lines: str, sentence: str = "", stderr: str = "", times: tuple[float, float] | None = None
) -> Evidence:
    took, limit = times or (None, None)
    return make_evidence(RecordedVerdict(1, code, 3, sentence, None, lines, stderr, took, limit), WIDTH, 400)


def test_the_byte_that_is_no_json_is_marked_and_named() -> None:
    found = show("protocol", REQUEST, "< {'id': 7}", sentence="a line that is not JSON").line

    assert found is not None
    assert (found.before, found.marked, found.after) == ("{", "'", "id': 7}")
    assert found.flaw == "byte 2: 0x27 (') where a double quote should begin a name"
    assert found.title.startswith("Line 2 of the last 2")


@pytest.mark.parametrize(
    ("line", "marked", "flaw"),
    [
        ("thinking", "t", "byte 1: 0x74 (t) where { should begin"),
        ("", "", "byte 1: the line ends where { should begin"),
        ('{"id":7', "", "byte 8: the line ends where a comma or the closing bracket"),
        ('{"id":7 "move":1}', '"', 'byte 9: 0x22 (") where a comma'),
        ('{"id":NaN}', "N", "byte 7: 0x4e (N), which begins no value of JSON"),
        ('{"é":7]', "]", "byte 8: 0x5d (]) where a comma"),
        ("{“id”:7}", "“", "byte 2: 0xe2 of U+201C (“) where a double quote"),
        ('{"a":"\t"}', "\\x09", "byte 7: 0x09, a control character in a string"),
        ('{"id":8,"move":"p-c0"}', "8", "byte 7: an id that should be 7"),
        ('{"id":"7","move":"p-c0"}', '"7"', "byte 7: an id that should be 7"),
        ('{"move":"p-c0"}', '{"move":"p-c0"}', "an object without id, which should be 7"),
        ('{"id":7.0,"move":5}', "5", "byte 18: a move that is not a string"),
        ('{"id":7}', '{"id":7}', "an object without move"),
    ],
)
def test_what_is_wrong_with_an_answer_is_marked(line: str, marked: str, flaw: str) -> None:
    found = show("protocol", "> {}", REQUEST, f"< {line}").line

    assert found is not None
    assert found.marked == marked
    assert found.flaw.startswith(flaw)


def test_of_several_lines_the_first_bad_one_counts() -> None:
    found = show("protocol", REQUEST, f"< {ANSWER}", "< oops", "< later").line
    assert found is not None
    assert found.title.startswith("Line 3 of the last 4")

    twice = show("protocol", REQUEST, f"< {ANSWER}", f"< {ANSWER}").line
    assert twice is not None
    assert (twice.title[:6], twice.marked, twice.flaw) == ("Line 3", "", "")


def test_a_byte_that_is_not_utf_8_is_marked() -> None:
    raw = b'{"id":7,"note":"\xc3\xa9 caf\xe9","move":"p-c0"}'
    with pytest.raises(ProtocolError) as caught:
        decode_answer(raw, msgspec.json.Decoder(MoveAnswer), 7)
    line = raw.decode("utf-8", "backslashreplace")

    found = show("protocol", REQUEST, f"< {line}", sentence=str(caught.value)).line

    assert found is not None
    assert found.marked == "\\xe9"
    place = int(found.flaw.partition(":")[0].removeprefix("byte "))
    assert raw[place - 1] == 0xE9


def test_an_illegal_action_is_marked_also_behind_a_note_about_it() -> None:
    line = '< {"note":"\\"move\\": \\"x\\"","id":7,"move" : "hQS-c9"}'

    found = show("illegal", REQUEST, line).line

    assert found is not None
    assert found.marked == '"hQS-c9"'


def test_a_late_answer_says_its_time_and_shows_the_request() -> None:
    silent = show("timeout", f"< {ANSWER}", REQUEST, times=(1100.64, 1100.0))
    late = show("timeout", REQUEST, f"< {ANSWER}", times=(1100.64, 1100.0))

    assert silent.time == "Cut off after 1,100.6 ms; the limit was 1,100 ms, so 0.6 ms over it."
    assert silent.line is not None
    assert late.line is not None
    assert silent.line.before == REQUEST[2:]
    assert late.line.before == ANSWER
    assert silent.line.flaw == late.line.flaw == ""


def test_a_crash_shows_the_last_words_of_the_bot_first() -> None:
    found = show("crash", REQUEST, stderr="Traceback ...\nValueError: no\n\n").line
    silent = show("crash", REQUEST, "< debug").line

    assert found is not None
    assert silent is not None
    assert found.before == "ValueError: no"
    assert silent.before == REQUEST[2:]


def test_without_evidence_there_is_no_line() -> None:
    found = show("protocol", sentence="expected the id 7")

    assert (found.line, found.lines, found.stderr, found.time) == (None, [], "", "")


def test_a_long_line_is_cut_around_its_flaw_and_its_lost_end_is_none() -> None:
    line = '{"note":"' + "n" * 3000 + '",}' + "x" * 2000
    found = show("protocol", REQUEST, f"< {line[:SHOWN_BYTES]}").line
    assert found is not None
    assert found.marked == "}"
    assert found.before.startswith("…")
    assert len(found.before + found.marked + found.after) <= 2 * WIDTH

    cut = show("protocol", REQUEST, "< " + ('{"id":7,"note":"' + "n" * 9000)[:SHOWN_BYTES]).line
    assert cut is not None
    assert cut.flaw == ""


@given(st.text(max_size=30) | st.text('{}[]":,\\1e. at', max_size=30).map("{{{}".format))
def test_the_flaw_lies_in_the_line_and_only_objects_have_none(line: str) -> None:
    flaw = find_broken_json(line)

    if flaw is None:
        assert isinstance(msgspec.json.decode(line), dict)
    else:
        assert 0 <= flaw.start <= flaw.end <= len(line)
