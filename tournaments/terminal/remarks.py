"""What to say about a game that is over: where it turned, what the cards did, and what a bot would have played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from msgspec import Struct

from malice.referee.families import load_family
from malice.referee.nouns import format_count
from malice.referee.records import Record
from malice.referee.replay import VERDICT, VOID, RecordedAsk, find_rules, replay_asks
from malice.tournaments.league.race import find_leads, find_turn, list_left

LUCKY = 0.02
"""Less luck than that, in games won, is not worth a sentence."""


class Remark(Struct, frozen=True):
    """A sentence about a game."""

    words: str
    action: int | None = None
    """The action that it is about, as replays count them."""


class BotChoice(Protocol):
    """What a bot would have played, as a `RerunAction`."""

    @property
    def action(self) -> int: ...
    @property
    def plays(self) -> str: ...
    @property
    def agrees(self) -> bool: ...


class SeatOpinion(Struct, frozen=True):
    """What a bot would have played in the place of a seat."""

    bot: str
    seat: int
    choices: Sequence[BotChoice]


def remark_game(record: Record, names: Sequence[str], opinion: SeatOpinion | None = None) -> list[Remark]:
    """Say where a game turned and why.

    Args:
        record: the game.
        names: by seat, safe to print; `you` for who reads it.
        opinion: of a bot.

    Raises:
        RecordError, FamilyError: the game does not replay, or its family fails.
    """
    if record.reason == VOID:
        return []
    remarker = Remarker(record, names)
    turn = remarker.find_turn()
    remarks = [*remarker.remark_lead(turn), *remarker.remark_luck()]
    if opinion:
        remarks += remarker.remark_opinion(opinion, turn)
    return remarks


class Remarker:
    """A game that is over, as `remark_game` goes through it."""

    def __init__(self, record: Record, names: Sequence[str]) -> None:
        self._record = record
        self._names = names
        self._family = load_family(record.family)
        self._rules = find_rules(record)
        self._asks = list(replay_asks(record))
        self._left = list_left(record, (ask.after for ask in self._asks))
        self._leads = find_leads(self._left)

    def find_turn(self) -> int | None:
        """The place of the ask in which the side that led at the end took the lead for good; None without one."""
        turn = find_turn(self._leads, self._rules.teams)
        return None if turn is None or len(self._asks) < 2 else turn.action + 1

    def remark_lead(self, turn: int | None) -> Iterator[Remark]:
        """Say who took the lead, and with what."""
        if turn is None:
            return
        sides = [{self._rules.teams[seat] for seat in lead} for lead in self._leads]
        alone = [min(side) for side in sides if len(side) == 1]
        changes = sum(one != other for one, other in pairwise(alone))
        lead = sorted(self._leads[turn])
        ask = self._asks[turn]
        own = next((move for move in ask.moves if move[0] in lead), ask.moves[0] if ask.moves else None)
        by = f" with {self._describe_move(ask, *own)}" if own and own[0] in lead and own[1][0] != VERDICT else ""
        if own and own[0] not in lead:
            by = f", when {self._names[own[0]]} {self._tell(ask, *own)}"
        who = _join([self._names[seat] for seat in lead])
        end = self._measure_margin(len(self._asks) - 1)
        margin = f", and {_were(who)} ahead by {end} at the end" if end else ""
        if changes:
            often = "once" if changes == 1 else f"{changes} times"
            yield Remark(
                f"The lead changed {often}: {who} took it for good at action {ask.first}{by}{margin}.", ask.first
            )
        else:
            yield Remark(f"{_begin(who)} led from action {ask.first} on{by}{margin}.", ask.first)

    def _measure_margin(self, place: int) -> int:
        """By how much the leading side is ahead of the next one."""
        sides = dict(zip(self._rules.teams, self._left[place], strict=True))
        first, *others = sorted(sides.values())
        return others[0] - first if others else 0

    def remark_luck(self) -> Iterator[Remark]:
        """Say what the cards were worth to the luckier of two seats, and where they fell."""
        luck = self._family.luck(self._record.rules, len(self._names)) if len(self._names) == 2 else None
        if luck is None:
            return
        meter = luck.start(self._asks[0].after)
        totals = [meter.total()]
        for ask in self._asks[1:]:
            meter.follow(ask.events)
            totals.append(meter.total())
        seat = max((0, 1), key=lambda each: totals[-1][each])
        gains = [after[seat] - before[seat] for before, after in pairwise(totals)]
        if totals[-1][seat] < LUCKY or not gains:
            return
        place = max(range(len(gains)), key=lambda each: gains[each])
        ask = self._asks[place + 1]
        words = f"The cards were kinder to {self._names[seat]}: they were worth {totals[-1][seat]:.2f} of a game"
        yield Remark(f"{words}, and {gains[place]:.2f} of it fell at action {ask.first}.", ask.first)

    def remark_opinion(self, opinion: SeatOpinion, turn: int | None) -> Iterator[Remark]:
        """Say how often a bot would have played otherwise, and where it did so for the last time before the turn."""
        others = [choice for choice in opinion.choices if not choice.agrees]
        who = self._names[opinion.seat]
        whose = "your" if who == "you" else f"{who}'s"
        moves = format_count(len(opinion.choices), "action")
        words = f"{opinion.bot} would have played otherwise in {len(others)} of {whose} {moves}"
        if not others:
            yield Remark(f"{opinion.bot} would have played every one of {whose} {moves}.")
            return
        before = [each for each in others if turn is not None and each.action <= self._asks[turn].first]
        choice = before[-1] if before else others[0]
        ask = next(ask for ask in self._asks if ask.first <= choice.action < ask.first + len(ask.moves))
        when = "the last before the game turned" if before else "first"
        played = dict(ask.moves)[opinion.seat]
        instead = "" if played[0] == VERDICT else f" and not {self._describe_move(ask, opinion.seat, played)}"
        plays = self._describe_move(ask, opinion.seat, choice.plays)
        yield Remark(f"{words}; {when} at action {choice.action}: {plays}{instead}.", choice.action)

    def _tell(self, ask: RecordedAsk, seat: int, action: str) -> str:
        return "left the game" if action[0] == VERDICT else f"played {self._describe_move(ask, seat, action)}"

    def _describe_move(self, ask: RecordedAsk, seat: int, action: str) -> str:
        return self._family.describe_action(action, self._rules.view(ask.before, seat), self._names)


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _begin(who: str) -> str:
    """Begin a sentence; names stay as they are."""
    return f"Y{who[1:]}" if who == "you" or who.startswith("you and ") else who


def _were(who: str) -> str:
    return "were" if who == "you" or " and " in who else "was"
