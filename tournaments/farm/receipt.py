"""Checks what comes from workers: who they are, what became of a task, and each record against what was asked for."""

from __future__ import annotations

import msgspec

from malice.referee.records import FORMAT, Batch, GameOrder, Key, Record
from malice.tournaments.farm.crew import Handed
from malice.tournaments.farm.work import Answer, ExamAnswer, Introduction, Need, Refusal
from malice.tournaments.league.stored_games import refuse_unreadable


def find_difference(record: Record, batch: Batch, order: GameOrder) -> str | None:
    """What is wrong with a record at first sight, if anything; only a replay shows whether its play is legal.

    Args:
        record: what a worker sent.
        batch: what it was to play.
        order: which game of it.
    """
    players = [batch.players[player] for player in order.seating]
    expected = {
        "format": FORMAT,
        "tournament": batch.tournament,
        "family": batch.family,
        "ruleset": batch.ruleset,
        "rules": batch.rules,
        "entries": tuple((player.label, player.hash) for player in players),
        "deal_seed": order.deal_seed,
        "commit": batch.commit,
        "clock": batch.clock,
        "speed": batch.speed,
    }
    for name, value in expected.items():
        if getattr(record, name) != value:
            return f"expected {name} {value}, got {getattr(record, name)}"
    if len(record.builds) not in (0, len(players)):
        return f"expected builds for {len(players)} seats, or none, got {len(record.builds)}"
    try:
        refuse_unreadable(record)
    except ValueError as error:
        return str(error)
    return None


def read_reply(raw: bytes, need: Need) -> Introduction | Refusal:
    """Read who a worker says that it is; one that says what cannot be is refused."""
    try:
        reply = msgspec.json.decode(raw, type=Introduction | Refusal)
    except (ValueError, RecursionError) as error:
        return Refusal("", f"expected an introduction: {error}")
    if isinstance(reply, Introduction) and (odd := sorted(set(reply.lacks) - set(need.contents))):
        return Refusal(reply.host, f"it asks for a bot that is none of this run: {odd[0]}")
    return reply


def read_exam_answer(raw: bytes) -> ExamAnswer:
    try:
        return msgspec.json.decode(raw, type=ExamAnswer)
    except (ValueError, RecursionError) as error:
        return ExamAnswer(trouble=f"the worker sent no report: {error}")


def read_answer(raw: bytes, handed: Handed) -> tuple[Answer, list[Record]]:
    """Read a worker's answer, and the records that are new.

    Raises:
        ValueError: it is no answer to this task, or a record is not of a game that was asked for.
    """
    if not raw:
        raise ValueError("its task raised an exception, or returned something else than bytes")
    answer = msgspec.json.decode(raw, type=Answer)
    if answer.task != handed.number:
        raise ValueError(f"expected an answer to task {handed.number}, got one to {answer.task}")
    asked = {order.key for batch in handed.block for order in batch.games}
    records: dict[Key, Record] = {}
    for line in answer.records:
        record = msgspec.json.decode(line, type=Record)
        key = record.key
        if key not in asked:
            raise ValueError(f"game {key} was not asked of it")
        if difference := find_difference(record, *handed.left[key]):
            raise ValueError(f"game {key}: {difference}")
        records[key] = record  # one that comes twice is the same, or differs in what no digest covers
    return answer, list(records.values())
