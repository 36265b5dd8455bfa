"""A rerun: a bot gets the requests of a stored game, to show where it would have played differently."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from malice.protocol.messages import Move
from malice.referee.bot_seat import BYE_WAIT_NS, BotSeat, SeatObserver, greet_bot
from malice.referee.errors import BotError
from malice.referee.nouns import format_count
from malice.referee.records import Isolation, Player, Record
from malice.referee.requests import replay_requests
from malice.referee.verdicts import Verdict, judge_illegal_move
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import format_table
from malice.tournaments.terminal.transcript import excerpt_stderr

HEAD = ("action", "turn", "played", "would play", "note")


class RerunAction(Struct, frozen=True):
    """One move of the seat, as recorded and as the bot would play it."""

    action: int
    """The number of the action in the game, from 0."""
    turn: int
    played: str
    """The recorded action, or `!` and the code of the verdict that took its place."""
    plays: str
    """The action that the bot answers."""
    note: str
    agrees: bool


class Rerun(Struct, frozen=True):
    """The answers of a bot to the requests of a recorded game."""

    key: str
    ruleset: str
    seat: int
    label: str
    """Who played the seat."""
    bot: str
    """Who answered in the rerun."""
    moves: int
    """How many requests for a move it answered."""
    agreed: int
    choices: tuple[RerunAction, ...]
    """All its answers."""
    verdict: str | None
    """The code of the verdict that ended the rerun, if one did."""
    sentence: str
    stderr: str
    """Kept with a verdict."""


class Surroundings(NamedTuple):
    """The conditions under which the bot plays."""

    init_ms: int
    """The time for every answer that is not an action."""
    isolation: Isolation
    on_stderr: Callable[[str], None] | None = None
    """Receives each line that the bot writes to stderr."""


def rerun_game(
    record: Record,
    rngs: Sequence[int],
    seat: int,
    player: Player,
    around: Surroundings,
) -> Rerun:
    """Send a bot every request that a seat got; the game goes on with the recorded actions.

    For each answer the bot has the time that the seat had.

    Args:
        record: the game.
        rngs: by seat, the random seeds that the bots received.
        seat: whose requests.
        player: the bot.
        around: the conditions under which it plays.

    Raises:
        BotError: it cannot be started, or does not answer `hello`.
        RecordError: the record does not replay.
    """
    try:
        greet_bot(player, around.init_ms, around.isolation)
    except Verdict as verdict:
        raise BotError(f"{player.label}: {verdict.code}: {verdict.quote_stderr()}") from None
    observer = SeatObserver(on_stderr=around.on_stderr)
    bot = BotSeat(player, around.init_ms, None, around.isolation, observer)
    choices: list[RerunAction] = []
    code, sentence, stderr = None, "", ""
    try:
        for choice in _ask_all(bot, record, rngs, seat):
            choices.append(choice)
        bot.leave()
        bot.end(time.monotonic_ns() + BYE_WAIT_NS)
    except Verdict as verdict:
        code, sentence = verdict.code, verdict.sentence
        _, _, stderr = bot.dismiss()
    finally:
        bot.dismiss()
    agreed = sum(choice.agrees for choice in choices)
    return Rerun(
        key=str(record.key),
        ruleset=record.ruleset,
        seat=seat,
        label=record.entries[seat][0],
        bot=player.label,
        moves=len(choices),
        agreed=agreed,
        choices=tuple(choices),
        verdict=code,
        sentence=sentence,
        stderr=stderr,
    )


def _ask_all(bot: BotSeat, record: Record, rngs: Sequence[int], seat: int) -> Iterator[RerunAction]:
    bot.begin()
    for each in replay_requests(record, rngs, seat, bot.next_id, listed=bot.wants_legal):
        if not isinstance(each.request, Move):
            bot.ask(each.request)
            continue
        answer, _, _ = bot.ask_move(each.request, each.limit, each.cpu_limit)
        if answer.move not in each.legal:
            raise judge_illegal_move(answer.move, each.legal)
        if each.index is None:
            continue
        note = answer.note if isinstance(answer.note, str) else ""
        yield RerunAction(each.index, each.turn, each.played, answer.move, note, answer.move == each.played)


def format_rerun(rerun: Rerun, *, everything: bool) -> Iterator[str]:
    """Yield a table of the moves that a bot would have played differently; with `everything`, of all moves."""
    bot = sanitize(rerun.bot)
    who = f"seat {rerun.seat}, played by {sanitize(rerun.label)}"
    yield f"game {rerun.key} · {sanitize(rerun.ruleset)} · {who}, rerun with {bot}"
    rows = [
        (
            str(choice.action),
            str(choice.turn),
            choice.played,
            "the same" if choice.agrees else choice.plays,
            sanitize(choice.note),
        )
        for choice in rerun.choices
        if everything or not choice.agrees
    ]
    if rows:
        yield from format_table(HEAD, rows, left=(2, 3, 4))
    if rerun.verdict:
        yield f"{bot}: {rerun.verdict} after {format_count(rerun.moves, 'move')}: {sanitize(rerun.sentence)}"
        for line in excerpt_stderr(rerun.stderr):
            yield f"  | {line}"
    yield f"agrees in {rerun.agreed} of {format_count(rerun.moves, 'move')}"
