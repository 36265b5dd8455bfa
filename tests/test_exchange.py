"""One request, one answer, one deadline, with real processes: crashes, delays, and what is kept of them."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.bot import BotProcess, StreamExcerpt, read_start_time
from malice.referee.clock import MS
from malice.referee.connection import BotConnection
from malice.referee.errors import Abandoned
from malice.referee.records import Player
from malice.referee.seat import BotSeat, greet_bot
from malice.referee.verdicts import Verdict
from tests.exchanges import SHORT_MS, ask, game_end, move_verdict
from tests.tables import PATIENCE_MS, move_request, player, seated

pytestmark = pytest.mark.slow


@pytest.fixture
def line() -> Iterator[BotConnection]:
    """A line to a program that reads nothing and says nothing."""
    bot = BotProcess(Player("sleep", "00", ("sleep", "1000")))
    yield BotConnection(bot, None)
    bot.kill()


# crash


def test_a_bot_that_exits_as_it_starts_crashes() -> None:
    with seated("vanishes") as seat, pytest.raises(Verdict) as caught:
        seat.begin()

    assert (caught.value.code, caught.value.sentence) == ("crash", "the bot exited with status 5")


def test_the_exit_status_is_told() -> None:
    assert move_verdict("dies", "move", "3", "0") == ("crash", "the bot exited with status 3")


def test_the_signal_that_killed_it_is_told() -> None:
    assert move_verdict("dies", "move", "SIGSEGV", "0") == ("crash", "the bot was killed by signal 11 (SIGSEGV)")


def test_a_bot_that_closes_its_output_and_lives_on_crashes() -> None:
    found = move_verdict("closes", "move", "1")

    assert found == ("crash", "the bot closed its output, and its process lives on")


def test_a_bot_that_closes_its_input_and_lives_on_crashes() -> None:
    found = move_verdict("closes", "hello", "0")

    assert found == ("crash", "the bot closed its input, and its process lives on")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("/nowhere/bot", "No such file or directory: '/nowhere/bot'"),
        ("/etc/passwd", "Permission denied: '/etc/passwd'"),
    ],
)
def test_a_bot_that_cannot_be_started_crashes(command: str, reason: str) -> None:
    seat = BotSeat(Player("gone", "00", (command,)), PATIENCE_MS, None)

    with pytest.raises(Verdict) as caught:
        seat.begin()

    assert (caught.value.code, caught.value.sentence) == ("crash", f"the bot cannot be started: {reason}")
    assert seat.dismiss() == (None, (), "")


def test_a_bot_is_not_blamed_when_there_are_no_descriptors_left() -> None:
    seat = BotSeat(player("honest"), PATIENCE_MS, None)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        with pytest.raises(OSError, match="Too many open files"):
            seat.begin()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_good_answer_is_read_before_the_exit_that_follows_is_judged() -> None:
    with seated("leaves") as seat:
        seat.begin()
        answer, _, cpu = seat.ask_move(move_request(seat), None)
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), None)

    assert answer.move == "h8C-s0"
    assert cpu >= 0
    assert (caught.value.code, caught.value.sentence) == ("crash", "the bot exited with status 0")


def test_an_exit_is_seen_though_a_child_holds_the_output_open() -> None:
    seat = BotSeat(Player("sh", "00", ("/bin/sh", "-c", "sleep 1000 & exit 7")), PATIENCE_MS, None)

    with pytest.raises(Verdict) as caught:
        seat.begin()
    exit, _, _ = seat.dismiss()

    assert (caught.value.code, caught.value.sentence) == ("crash", "the bot exited with status 7")
    assert exit == "exited with status 7"


# timeout


def test_a_bot_that_never_answers_runs_out_of_time() -> None:
    with seated("stops", "move") as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), SHORT_MS * MS)

    assert (caught.value.code, caught.value.silent) == ("timeout", True)
    assert caught.value.sentence == "no answer to move within 250 ms (it had answered a request before)"
    assert SHORT_MS * MS <= caught.value.wall < PATIENCE_MS * MS


def test_a_bot_that_falls_silent_is_told_how_it_answered_before() -> None:
    bot = BotProcess(player("honest"))
    line = BotConnection(bot, None)
    try:
        for id in range(1, 7):
            ask(line, id)
        os.kill(bot.pid, signal.SIGSTOP)
        with pytest.raises(Verdict) as caught:
            ask(line, 7, limit_ms=SHORT_MS)
    finally:
        bot.kill()

    assert re.search(r"\(it had answered 6 requests before, the slowest hello in \d+\.\d ms\)$", caught.value.sentence)


def test_the_cpu_time_until_a_bot_was_cut_off_is_told() -> None:
    with seated("spins") as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), SHORT_MS * MS)

    assert 0 < caught.value.cpu <= caught.value.wall


@pytest.mark.parametrize(
    ("name", "arguments"), [("dies", ("move", "3", "0")), ("closes", ("move", "1")), ("latin", ())]
)
def test_every_verdict_on_an_answer_has_its_time(name: str, arguments: tuple[str, ...]) -> None:
    with seated(name, *arguments) as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), PATIENCE_MS * MS)

    assert 0 < caught.value.wall < PATIENCE_MS * MS


def test_what_breaks_the_protocol_before_anything_was_asked_took_no_time() -> None:
    with seated("says", "move", '{"id":ID,"move":"p-c0"}', '{"id":3,"move":"p-c0"}') as seat:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), None)

    assert (caught.value.wall, caught.value.cpu) == (0, 0)


def test_a_bot_that_does_not_flush_its_first_answer_runs_out_of_time() -> None:
    with seated("buffers", init_ms=SHORT_MS) as seat, pytest.raises(Verdict) as caught:
        seat.begin()

    assert caught.value.code == "timeout"
    assert "did you flush" in caught.value.sentence


def test_a_slow_drip_does_not_move_the_deadline() -> None:
    found = move_verdict("drips", limit_ms=1000)

    assert found == ("timeout", "no answer to move within 1000 ms (the last line has no newline)")


def test_a_bot_that_writes_to_stderr_for_ever_runs_out_of_time_and_is_ended() -> None:
    found = move_verdict("shouts", limit_ms=SHORT_MS)

    assert found[0] == "timeout"


def test_a_bot_that_does_not_read_while_the_pipe_is_full_runs_out_of_time(line: BotConnection) -> None:
    fcntl.fcntl(line.bot.stdin, fcntl.F_SETPIPE_SZ, 4096)

    with pytest.raises(Verdict) as caught:
        ask(line, 1, size=10_000, limit_ms=SHORT_MS)

    assert caught.value.code == "timeout"
    assert caught.value.sentence == "no answer to hello within 250 ms (it does not read its input)"


# what is kept, and how a bot is ended


def test_a_verdict_comes_with_the_last_five_messages_the_exit_and_both_ends_of_stderr() -> None:
    with seated("dies", "move", "SIGABRT", "100000") as seat:
        seat.begin()
        for _ in range(2):
            seat.ask(game_end(seat.next_id()))
        with pytest.raises(Verdict):
            seat.ask_move(move_request(seat), None)
        exit, lines, stderr = seat.dismiss()

    assert exit == "killed by signal 6 (SIGABRT)"
    assert [line[:2] for line in lines] == ["> ", "< ", "> ", "< ", "> "]
    assert ['"id":2' in lines[0], '"id": 2' in lines[1], '"id":4' in lines[4]] == [True] * 3
    assert stderr == "a" * 8192 + "\n... 83616 bytes left out ...\n" + "z" * 8192


def test_the_number_of_a_bot_is_its_own_until_it_is_killed_and_its_last_words_are_kept() -> None:
    bot = BotProcess(Player("sh", "00", ("/bin/sh", "-c", "echo oh >&2; exit 1")))
    try:
        assert bot.exit_status(PATIENCE_MS / 1000) == bot.exit_status() == "exited with status 1"
        assert read_start_time(bot.pid)
    finally:
        bot.kill()
        bot.kill()

    assert bot.stderr_excerpt.text() == "oh\n"
    assert not Path(f"/proc/{bot.pid}").exists()


def test_last_words_are_kept_and_those_of_earlier_games_are_not() -> None:
    with seated("grumbles") as seat:
        seat.begin()
        seat.ask(game_end(seat.next_id()))
        seat.begin()
        seat.ask(game_end(seat.next_id()))
        _, _, stderr = seat.dismiss()

    assert stderr == "grumble 3\n"


def test_the_exit_is_unknown_while_the_bot_lives() -> None:
    with seated("stops", "move") as seat:
        seat.begin()
        with pytest.raises(Verdict):
            seat.ask_move(move_request(seat), SHORT_MS * MS)
        exit, lines, stderr = seat.dismiss()

    assert (exit, stderr) == (None, "")
    assert len(lines) == 3


def test_what_a_bot_logs_off_turn_does_not_stop_it() -> None:
    with seated("logs") as seat:
        seat.begin()
        for _ in range(5):
            seat.ask_move(move_request(seat), None)


def test_a_request_is_abandoned_when_the_guard_hangs_up() -> None:
    ours, theirs = os.pipe()
    os.close(theirs)
    seat = BotSeat(player("stops", "hello"), PATIENCE_MS, ours)
    try:
        with pytest.raises(Abandoned):
            seat.begin()
    finally:
        seat.dismiss()
        os.close(ours)


def test_a_bot_that_ignores_bye_is_killed_at_the_deadline() -> None:
    with seated("stays") as seat:
        seat.begin()
        begin = time.monotonic_ns()
        seat.leave()
        seat.end(begin + 200 * MS)

        assert 200 * MS <= time.monotonic_ns() - begin < PATIENCE_MS * MS
        assert seat.dismiss() == (None, (), "")


def test_a_bot_may_close_its_output_after_bye_and_take_its_time(tmp_path: Path) -> None:
    with seated("lingers", str(tmp_path / "done"), "0.7") as seat:
        seat.begin()
        seat.leave()
        seat.end(time.monotonic_ns() + PATIENCE_MS * MS)

    assert (tmp_path / "done").exists()


def test_a_bot_that_keeps_its_name_is_called_as_it_was_entered() -> None:
    with seated("stops", "move") as seat:
        seat.begin()

        assert (seat.name, seat.version, seat.wants_legal) == ("stops", "", True)


def test_a_greeting_is_a_hello_and_nothing_else() -> None:
    greet_bot(player("dies", "game_start", "1", "0"), PATIENCE_MS)


def test_a_failed_greeting_has_the_stderr_of_the_bot() -> None:
    with pytest.raises(Verdict) as caught:
        greet_bot(player("dies", "hello", "4", "6"), PATIENCE_MS)

    assert caught.value.sentence == "the bot exited with status 4"
    assert caught.value.quote_stderr() == "the bot exited with status 4; its stderr ends: aaazzz"


def test_an_excerpt_keeps_all_of_what_is_short_and_both_ends_of_what_is_long() -> None:
    excerpt = StreamExcerpt(4)
    for letter in b"abcdefgh":
        excerpt.add(bytes([letter]))
    assert excerpt.text() == "abcdefgh"

    excerpt.add(b"ijkl")
    assert excerpt.text() == "abcd\n... 4 bytes left out ...\nijkl"

    excerpt.clear()
    assert excerpt.text() == ""
