"""Rare situations, each in unusual JSON."""

from __future__ import annotations

from collections import Counter

from msgspec import UNSET
from msgspec.structs import replace

from malice.referee.clock import MS
from malice.referee.nouns import format_count
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import judge_illegal_move
from malice.tournaments.check.exam_log import Trouble
from malice.tournaments.check.games import ExamGames
from malice.tournaments.check.odd_json import make_odd_writer
from malice.tournaments.check.seat import ExaminedSeat
from malice.tournaments.check.situations import (
    Find,
    Position,
    RarePosition,
    list_rare_positions,
    make_game_end,
    make_game_start,
    replay_rare_position,
)

ADVICE = "the request may be rare or look unusual, but it is legal, and valid JSON"
"""What the author of a bot that fails here must know too."""


def ask_all(games: ExamGames, count: int) -> str:
    """Ask for an action in each of `count` situations, each in a game of its own; return the number, in words.

    Raises:
        Trouble: an answer is missing, invalid or not legal.
    """
    seat, syllabus = games.seat(), games.syllabus
    rulesets: Counter[str] = Counter()
    find = load_ruleset if syllabus.whole else syllabus.rulesets.__getitem__
    for number, situation in enumerate(list_rare_positions(count, None if syllabus.whole else syllabus.rulesets)):
        rulesets[situation.ruleset] += 1
        games.log.where = f"situation {number}: {_describe_game(situation)}"
        _ask(games, seat, number, situation, replay_rare_position(situation, find), find)
    seat.retire()
    return f"{format_count(count, 'situation')} of {format_count(len(rulesets), 'ruleset')}"


def _ask(
    games: ExamGames, seat: ExaminedSeat, number: int, situation: RarePosition, position: Position, find: Find
) -> None:
    games.log.ruleset, games.log.deal_seed = situation.ruleset, position.deal_seed
    seat.dress = make_odd_writer(number)
    seat.begin()
    seat.ask(make_game_start(situation, position, seat.next_id(), seat.games, games.clock, find))
    request = position.request(seat.next_id())
    legal = request.legal or ()
    if not seat.wants_legal:
        request = replace(request, legal=UNSET)
    limit = games.times.move_ms + games.clock.margin_ms
    answer, _, _ = seat.ask_move(request, limit * MS)
    if answer.move not in legal:
        exit, lines, stderr = seat.dismiss()
        raise Trouble("move", limit, judge_illegal_move(answer.move, legal), lines, exit, stderr)
    seat.ask(make_game_end(position, seat.next_id()))


def _describe_game(situation: RarePosition) -> str:
    rare = f" ({', '.join(situation.features)})" if situation.features else ""
    actions = format_count(len(situation.actions.split()), "action")
    return f"{situation.ruleset}, {situation.seats} seats, deal {situation.deal}, after {actions}{rare}"
