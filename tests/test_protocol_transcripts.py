"""The golden transcripts in protocol/transcripts: games played anew, verdicts provoked from the real referee.

`python tests/test_protocol_transcripts.py` writes them anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from malice.protocol import LINE_BYTES
from malice.protocol.codec import decode_answer, decode_request, encode
from malice.protocol.messages import Answer, Bye, Move, Request
from tests.transcripts import DECODERS, FOLDER, GAMES, Entry, ending, entries, judged, played, said, verdicts, written

NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
VERDICTS = [name for name in NAMES if name not in GAMES]
UNHURRIED = [pytest.param(name, marks=pytest.mark.slow if name == "crash-closed-output" else ()) for name in VERDICTS]


def test_every_transcript_is_known_and_there() -> None:
    assert sorted([*GAMES, *verdicts()]) == NAMES


@pytest.mark.parametrize("name", GAMES)
def test_a_game_played_again_gives_its_transcript(name: str) -> None:
    assert (FOLDER / f"{name}.jsonl").read_bytes() == played(GAMES[name])


@pytest.mark.parametrize("name", UNHURRIED)
def test_the_referee_judges_a_dialogue_as_its_transcript_says(name: str) -> None:
    verdict = judged(FOLDER / f"{name}.jsonl")

    assert ending(verdict) == [entry for entry in entries(name) if entry.dir == "!"]


def test_every_verdict_has_a_transcript() -> None:
    codes = {entry.code for name in VERDICTS for entry in entries(name) if entry.dir == "!"}

    assert codes == {"crash", "timeout", "protocol", "illegal"}


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_referee_survives_decoding(name: str) -> None:
    lines = [said(entry) for entry in entries(name) if entry.dir == ">"]

    assert [encode(decode_request(line)) for line in lines] == lines


def pairs(name: str) -> Iterator[tuple[Request, Entry | None]]:
    """Every line of the referee with the bot's answer to it."""
    dialogue = entries(name)
    for entry, following in zip(dialogue, [*dialogue[1:], None], strict=True):
        if entry.dir == ">":
            yield decode_request(said(entry)), following


@pytest.mark.parametrize("name", GAMES)
def test_every_request_but_bye_has_exactly_one_answer_with_its_id(name: str) -> None:
    ids = []
    for request, following in pairs(name):
        if isinstance(request, Bye):
            assert following is None
        else:
            assert following
            assert following.line
            answer: Answer = decode_answer(bytes(following.line), DECODERS[type(request)], request.id)
            ids.append(answer.id)

    assert ids == list(range(1, len(ids) + 1))


@pytest.mark.parametrize("name", GAMES)
def test_every_action_of_a_game_was_legal(name: str) -> None:
    for request, following in pairs(name):
        if isinstance(request, Move) and request.legal:
            assert following
            assert following.line
            assert msgspec.json.decode(following.line)["move"] in request.legal


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_the_referee_is_over_the_limit(name: str) -> None:
    assert all(len(said(entry)) <= LINE_BYTES for entry in entries(name) if entry.dir == ">")


def main() -> None:
    """Write all transcripts anew."""
    for name, game in GAMES.items():
        (FOLDER / f"{name}.jsonl").write_bytes(played(game))
    for name, dialogue in verdicts().items():
        path = FOLDER / f"{name}.jsonl"
        path.write_bytes(written(dialogue))
        path.write_bytes(written([*dialogue, *ending(judged(path))]))
    for path in FOLDER.glob("*.jsonl"):
        if path.stem not in {*GAMES, *verdicts()}:
            path.unlink()


if __name__ == "__main__":
    main()
