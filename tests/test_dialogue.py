"""The dialogue of a stored game is the one that took place; where a verdict fell, its evidence comes with it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.codec import encode
from malice.referee.records import Record, RecordedVerdict
from malice.referee.requests import replay_requests
from malice.referee.verdicts import Verdict
from malice.tournaments.terminal.dialogue import Message, format_dialogue, rebuild_dialogue
from tests.command_line import malice
from tests.samples import sample
from tests.tables import Script, play

SCRIBE = Path(__file__).parent / "bots" / "scribe.py"
CRASH = Verdict("crash", "the bot exited with status 3")


def unnumbered(line: str) -> str:
    return re.sub(r'"(id|game)": ?\d+', r'"\1":0', line)


def league(folder: Path, ruleset: str, *how: str) -> Path:
    """Let a scribe play against greedy, without a sandbox, so that it can write."""
    bot = f"{sys.executable} -I {SCRIBE} {folder}/0.log {' '.join(how)}"
    # One game at a time: two processes of a scribe would write into one file.
    told = {
        "entries": [bot, "greedy"],
        "rulesets": [ruleset],
        "seed": "log",
        "isolation": "none",
        "deals": 1,
        "jobs": 1,
    }
    (folder / "t.toml").write_text("\n".join(f"{field} = {json.dumps(value)}" for field, value in told.items()))
    result = malice("run", folder / "t.toml", "--db", folder / "t.db")
    assert result.exit_code == 0, result.output
    return folder / "t.db"


def logged(folder: Path, game: int) -> list[str]:
    """Return what a scribe wrote down in a game, from game_start to game_end or to its own end."""
    games: list[list[str]] = []
    for line in (folder / "0.log").read_text("utf-8").split("\n"):
        if '"type":"game_start"' in line:
            games.append([])
        if games and line and '"type":"bye"' not in line and '"type":"hello"' not in line:
            games[-1].append(line)
    return games[game]


@pytest.mark.slow
@pytest.mark.parametrize(("ruleset", "how"), sample([("book", ""), ("standard", ""), ("standard", "declines")], 3))
def test_the_log_holds_the_lines_that_were_exchanged(ruleset: str, how: str, tmp_path: Path) -> None:
    db = league(tmp_path, ruleset, *how.split())

    lines = [json.loads(line) for line in malice("log", db, "0.0.1", "--seat", "1", "--json").stdout.splitlines()]

    exchanged = logged(tmp_path, 1)
    requests = [line[2:] for line in exchanged if line.startswith(">")]
    answers = [json.loads(line[2:]) | {"id": 0} for line in exchanged if line.startswith("<")]
    assert [unnumbered(line["line"]) for line in lines if line["direction"] == ">"] == [*map(unnumbered, requests)]
    # All but the answer to game_end, of which nothing is recorded; and in another spelling.
    again = [json.loads(line["line"]) | {"id": 0} for line in lines if line["direction"] == "<"]
    assert again == answers[: len(requests) - 1]
    assert {line["seat"] for line in lines} == {1}
    assert not any(line["raw"] for line in lines)


@pytest.mark.slow
def test_a_verdict_comes_with_the_raw_messages_and_stderr(tmp_path: Path) -> None:
    db = league(tmp_path, "standard", "fails", "3")

    lines = [json.loads(line) for line in malice("log", db, "0.0.0", "--seat", "0", "--json").stdout.splitlines()]
    text = malice("log", db, "0.0.0", "--seat", "0").stdout.splitlines()

    exchanged = [line for line in logged(tmp_path, 0) if line.startswith(">")]
    rebuilt = [line for line in lines if not line["raw"] and line["direction"] == ">"]
    assert [unnumbered("> " + line["line"]) for line in rebuilt] == [*map(unnumbered, exchanged)]
    assert [line["direction"] for line in lines if line["raw"]] == [
        "verdict",
        "time",
        "<",
        ">",
        "<",
        ">",
        "<",
        "stderr",
    ]
    assert "nonsense" in lines[-2]["line"]
    assert text[-1] == "| it went wrong"
    assert any(line.startswith("# verdict: illegal: expected one of ") for line in text)


@pytest.mark.slow
def test_without_a_seat_every_seat_is_told_in_turn(tmp_path: Path) -> None:
    db = league(tmp_path, "standard")

    heads = [line for line in malice("log", db, "0.0.0").stdout.splitlines() if line.startswith("# game")]

    assert heads == ["# game 0.0.0.0 · standard · seat 0, scribe", "# game 0.0.0.0 · standard · seat 1, greedy"]
    assert malice("log", db, "0.0.0", "--seat", "2").exit_code == 2


def told(record: Record, seat: int) -> list[Message]:
    return list(rebuild_dialogue(record, (0, 1), seat))


def test_where_no_verdict_fell_it_is_said_that_no_stderr_was_kept() -> None:
    record = play(Script(), Script())

    *_, last = format_dialogue(record, 0, told(record, 0))

    assert last == "# this seat got no verdict, so neither raw messages nor stderr were kept"


def failed_at_once(lines: tuple[str, ...]) -> Record:
    """Return a game whose first seat failed before it played, with these messages as evidence."""
    record = play(Script(fails={"game_start": CRASH}), Script())
    (fault,) = record.faults
    return replace(record, faults=(replace(fault, lines=lines),))


def test_a_request_that_nobody_may_have_sent_is_left_out() -> None:
    hello = '> {"type":"hello","id":1}'

    assert [said.direction for said in told(failed_at_once((hello,)), 0) if not said.raw] == []


def test_a_request_is_told_when_the_evidence_shows_it_by_whatever_number() -> None:
    record = failed_at_once(())
    start = encode(next(replay_requests(record, (0, 1), 0, lambda: 2)).request).decode().strip()
    kept = start.replace('"id":2,"game":1', '"id":2040,"game":17')

    found = told(failed_at_once((f"> {kept}", "< what?")), 0)

    assert [(said.direction, said.line) for said in found if not said.raw] == [(">", start)]


def test_a_request_that_was_cut_is_recognised() -> None:
    record = failed_at_once(())
    start = encode(next(replay_requests(record, (0, 1), 0, lambda: 2)).request).decode().strip()
    long = start.replace('"ruleset":"standard"', f'"ruleset":"{"x" * 5000}"')

    found = told(replace(failed_at_once((f"> {long[:4096]}",)), ruleset="x" * 5000), 0)

    assert [said.line for said in found if not said.raw] == [long]


def test_hostile_text_is_spelled_out() -> None:
    fault = RecordedVerdict(0, "illegal", 0, "got \x1b[2J", None, ("< \x9b2J",), "\u202eoops\x07")
    record = replace(failed_at_once(()), faults=(fault,), entries=(("\x1bX", ""), ("fine", "")))

    text = "\n".join(format_dialogue(record, 0, told(record, 0)))

    assert not set("\x1b\x9b\u202e\x07") & set(text)
    assert r"| \u202eoops\x07" in text
