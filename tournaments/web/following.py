"""A game that is played elsewhere, followed for those who look at it: each gets what they may see, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from malice.protocol.cards import HIDDEN
from malice.protocol.messages import Out
from malice.referee.course import Dealer, list_asked
from malice.referee.families import load_family, make_rules, parse_parameters
from malice.referee.game import start_course
from malice.referee.replay import VERDICT, VOID, is_void
from malice.referee.rules import Events, Result
from malice.referee.seat import Played
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.remarks import Remark
from malice.tournaments.terminal.transcript import describe_event
from malice.tournaments.web.messages import GameDealt, GameEnded

NOTE = 300
"""The most characters that people see of a note."""


class SeenMove(Struct, frozen=True):
    """What a seat did in a step, as far as those who look may know."""

    seat: int
    action: str
    """Empty for the action of another seat: what may be seen of it, the events say."""
    micros: int
    note: str


class SeenStep(Struct, frozen=True):
    """An ask as one who looks gets it; the first is the deal."""

    number: int
    """That of its first action in the game; -1 for the deal."""
    turn: int
    moves: tuple[SeenMove, ...]
    events: tuple[Any, ...]
    words: tuple[str, ...]
    """What happened, in phrases."""


class Offer(Struct, frozen=True):
    """What a seat may do now."""

    ask: int
    """Names the request: how many steps there were."""
    actions: tuple[tuple[str, str], ...]
    """Each action, and in words."""
    sketch: tuple[str, ...] = ()
    """The table in lines of text, of a game that brings no drawing."""
    final: tuple[str, ...] = ()
    """Those after which the seat plays no more: a person is asked again."""


class GameOver(Struct, frozen=True):
    """How a game ended."""

    places: tuple[int, ...]
    scores: tuple[int, ...]
    reason: str
    """In words."""
    verdicts: dict[int, str] = {}


class _Step(NamedTuple):
    number: int
    turn: int
    news: tuple[Played, ...]
    events: Events
    own: dict[int, str]
    """By seat, its action in words."""


class LiveGame:
    """One game, as it goes.

    Args:
        begun: how it began.
        names: what to call people, by label.
    """

    def __init__(self, begun: GameDealt, names: Mapping[str, str]) -> None:
        self.begun = begun
        self.remarks: dict[int, tuple[Remark, ...]] = {}
        """By seat, when it is over: where it turned."""
        self.family = load_family(begun.family)
        parameters = parse_parameters(begun.family, begun.rules)
        self.rules = make_rules(begun.family, parameters, len(begun.labels))
        self.names = [sanitize(names.get(label, label)) for label in begun.labels]
        self.over: GameOver | None = None
        self.played: list[tuple[Played, ...]] = []
        """Ask by ask."""
        self._alone = self.family.match(parameters).same_deal
        self._public = self.family.public | {Out}
        self._bare = not any((self.family.folder / "page").glob("*.js"))
        self._course = start_course(self.rules, Dealer(bytes.fromhex(begun.deal_seed)), begun.position or None)
        self._steps: list[_Step] = []
        self._actions = 0
        self._add((), self._course.dealt, {})

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self._steps)

    @property
    def to_act(self) -> tuple[int, ...]:
        return () if self.over else list_asked(self._course.step)

    def play(self, news: tuple[Played, ...]) -> None:
        """Follow what came of an ask."""
        self.played.append(news)
        course = self._course
        moves = [(each.seat, each.action) for told in self.played for each in told]
        if is_void(moves, self.rules.teams):
            self._add(news, tuple(Out(each.seat, each.action.removeprefix(VERDICT)) for each in news), {})
            return  # the table stays as it was
        codes = {each.seat: each.action[1:] for each in news if each.action.startswith(VERDICT)}
        actions = {each.seat: each.action for each in news if each.seat not in codes}
        own = {seat: self._describe_action(seat, action) for seat, action in actions.items()}
        events = course.withdraw(codes) if codes else ()
        events += course.play(actions) if actions else ()
        self._add(news, events, own)
        if isinstance(course.step, Result):
            self._end(course.step.places, course.step.scores, course.step.reason)

    def end(self, ended: GameEnded) -> None:
        """Learn how the referee says that it ended."""
        self._end(ended.places, ended.scores, ended.reason, ended.verdicts)
        self.remarks = ended.remarks

    def _end(
        self, places: tuple[int, ...], scores: tuple[int, ...], reason: str, verdicts: dict[int, str] | None = None
    ) -> None:
        words = "it counts for nobody" if reason == VOID else self.family.reasons.get(reason, reason)
        self.over = GameOver(places, scores, words, verdicts or {})

    def _add(self, news: tuple[Played, ...], events: Events, own: dict[int, str]) -> None:
        number = self._actions if news else -1
        self._steps.append(_Step(number, self.rules.turn(self._course.state), news, events, own))
        self._actions += len(news)

    def _describe_action(self, seat: int, action: str) -> str:
        return self.family.describe_action(action, self.rules.view(self._course.state, seat), self.names)

    def describe(self) -> dict[str, Any]:
        """Tell what all may know from the beginning, as the page takes it."""
        begun = self.begun
        return {
            "key": begun.key,
            "ruleset": begun.ruleset,
            "family": begun.family,
            "rules": msgspec.to_builtins(begun.rules),
            "teams": self.rules.teams,
            "seats": self.names,
            "people": begun.people,
        }

    def steps(self, seat: int | None, first: int = 0, *, notes: bool = False) -> Iterator[SeenStep]:
        """Yield the steps from `first` on as a seat sees them, or as all others may (None).

        Args:
            seat: who looks.
            first: how many to leave out.
            notes: whether what bots noted is shown; a note may tell cards.
        """
        for step in self._steps[first:]:
            moves = tuple(
                SeenMove(
                    each.seat, each.action if each.seat == seat else "", each.micros, _cut(each.note) if notes else ""
                )
                for each in step.news
                if seat is None or not self._alone or each.seat == seat
            )
            events = tuple(self._mask(step.events, seat))
            words = (describe_event(self.family, event, self.names, seat) for event in events)
            own = (f"you: {step.own[seat]}",) if seat in step.own else ()
            yield SeenStep(step.number, step.turn, moves, events, (*own, *filter(None, words)))

    def _mask(self, events: Events, seat: int | None) -> Iterator[Struct]:
        for event in events:
            if type(event) in self._public and not self._alone:
                yield event
            elif seat is None:
                yield from self._mask_for_all(event)
            elif not self._alone or getattr(event, "seat", seat) == seat:
                masked = self.rules.mask(event, seat)
                if masked is not None:
                    yield masked

    def _mask_for_all(self, event: Struct) -> Iterator[Struct]:
        """Yield what every seat may see of an event, if that is anything: who watches could tell any of them."""
        if self._alone and len(self.names) > 1 and hasattr(event, "seat"):
            return
        masked = [event if isinstance(event, Out) else self.rules.mask(event, seat) for seat in range(len(self.names))]
        common = reduce(merge_masked, map(msgspec.to_builtins, masked))
        with suppress(msgspec.ValidationError):  # nothing of its kind is left
            yield msgspec.convert(common, self.family.event | Out)

    def choice(self, seat: int) -> Offer | None:
        """Offer what a seat may do now; None if it is not asked."""
        if seat not in self.to_act:
            return None
        state = self._course.state
        view = self.rules.view(state, seat)
        legal = self.rules.legal(state, seat)
        words = tuple((action, self.family.describe_action(action, view, self.names)) for action in legal)
        sketch = tuple(self.family.draw(view, self.names)) if self._bare else ()
        return Offer(len(self), words, sketch, tuple(action for action in legal if action in self.family.final))


def _cut(note: str) -> str:
    return sanitize(note, NOTE)


def merge_masked(one: Any, other: Any) -> Any:
    """Keep what two seats see alike of an event, as plain data; `??` or None where they do not.

    A mask hides a card, or all of an event: what differs otherwise is hidden whole.
    """
    if one == other:
        return one
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {name: merge_masked(value, other[name]) for name, value in one.items()}
    if _are_lists(one, other) and len(one) == len(other):
        return [merge_masked(*pair) for pair in zip(one, other, strict=True)]
    return HIDDEN if isinstance(one, str) and isinstance(other, str) else None


def _are_lists(one: object, other: object) -> bool:
    return isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str)
