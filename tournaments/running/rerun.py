"""A stored game put before a bot: where would it have played otherwise?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from protocol.messages import Move
from referee.errors import BotError
from referee.records import Isolation, Player, Record
from referee.requests import replay_requests
from referee.seat import BYE_WAIT_NS, BotSeat, SeatObserver, greet_bot
from referee.verdicts import Verdict, judge_illegal_move
from tournaments.sanitizer import sanitize
from tournaments.terminal.tables import format_table
from tournaments.terminal.transcript import excerpt_stderr

HEAD = ("action", "turn", "played", "would play", "note")


class Choice(Struct, frozen=True):
    """One move of the seat, as it was and as it would be."""

    action: int
    """Among all of the game, from 0."""
    turn: int
    played: str
    """The recorded action, or `!` and the code of the verdict that fell instead."""
    plays: str
    """What the bot answers now."""
    note: str
    agrees: bool


class Rerun(Struct, frozen=True):
    """How a bot played through a recorded game."""

    key: str
    ruleset: str
    seat: int
    label: str
    """Who sat there."""
    bot: str
    """Who was asked now."""
    moves: int
    """How many it answered."""
    agreed: int
    choices: tuple[Choice, ...]
    """All of them."""
    verdict: str | None
    """The code of the verdict that ended it, if one did."""
    sentence: str
    stderr: str
    """Kept with a verdict."""


def rerun_game(
    record: Record,
    rngs: Sequence[int],
    seat: int,
    player: Player,
    init_ms: int,
    isolation: Isolation,
    on_stderr: Callable[[str], None] | None = None,
) -> Rerun:
    """Send a bot every request that a seat got, and go on with what was played then.

    Every answer has the time that the seat had then.

    Args:
        record: the game.
        rngs: by seat, the seeds that the bots were told.
        seat: whose requests.
        player: the bot.
        init_ms: the time for every answer that is no action.
        isolation: what is to be around the bot.
        on_stderr: takes each line that it writes to stderr.

    Raises:
        BotError: it cannot be started, or does not greet.
        RecordError: the record does not replay.
    """
    try:
        greet_bot(player, init_ms, isolation)
    except Verdict as verdict:
        raise BotError(f"{player.label}: {verdict.code}: {verdict}") from None
    bot = BotSeat(player, init_ms, None, isolation=isolation, observer=SeatObserver(on_stderr=on_stderr))
    choices: list[Choice] = []
    code, sentence, stderr = None, "", ""
    try:
        for choice in _choices(bot, record, rngs, seat):
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


def _choices(bot: BotSeat, record: Record, rngs: Sequence[int], seat: int) -> Iterator[Choice]:
    bot.begin()
    for each in replay_requests(record, rngs, seat, bot.next_id, listed=bot.wants_legal):
        if not isinstance(each.request, Move):
            bot.ask(each.request)
            continue
        assert each.index is not None
        answer, _, _ = bot.ask_move(each.request, each.limit, each.cpu_limit)
        if answer.move not in each.legal:
            raise judge_illegal_move(answer.move, each.legal)
        note = answer.note if isinstance(answer.note, str) else ""
        turn = each.request.view.turn
        yield Choice(each.index, turn, each.played, answer.move, note, answer.move == each.played)


def format_rerun(found: Rerun, *, everything: bool) -> Iterator[str]:
    """Tell where a bot would have played otherwise, or with `everything` every move."""
    bot = sanitize(found.bot)
    who = f"seat {found.seat}, played by {sanitize(found.label)}"
    yield f"game {found.key} · {sanitize(found.ruleset)} · {who}, put before {bot}"
    rows = [
        (
            str(choice.action),
            str(choice.turn),
            choice.played,
            "the same" if choice.agrees else choice.plays,
            sanitize(choice.note),
        )
        for choice in found.choices
        if everything or not choice.agrees
    ]
    if rows:
        yield from format_table(HEAD, rows, left=(2, 3, 4))
    if found.verdict:
        yield f"{bot}: {found.verdict} after {found.moves} moves: {sanitize(found.sentence)}"
        for line in excerpt_stderr(found.stderr):
            yield f"  | {line}"
    yield f"agrees in {found.agreed} of {found.moves} moves"
