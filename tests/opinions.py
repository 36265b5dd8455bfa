"""A bot that would have played the last legal action of every list, without a process; to differ at first costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from malice.referee.records import Key, Record
from malice.referee.requests import replay_decisions
from malice.site_pages.contents import SiteContents
from malice.tournaments.running.costs import SureCost
from malice.tournaments.running.rerun import Adviser, Opinion, Opinions, Rerun, RerunAction

NOTE = "last is best"


class LastAction(Opinions):
    """Says what it would have played in the games of a league.

    Args:
        source: the league.
        name: what it is called.
        fault: a seat at which it fails after its third move; None for none.
    """

    def __init__(self, source: SiteContents, name: str = "last", fault: int | None = None) -> None:
        self.adviser = Adviser(name, "7", "ab" * 32)
        self.most: int | None = None
        self.weigher = None
        self._source = source
        self._fault = fault

    def ask(self, keys: Sequence[Key], games: int) -> Iterator[Opinion]:
        """Yield its opinions."""
        for record in self._source.read_records(keys):
            seats = tuple(self._ask_seat(record, seat) for seat in range(len(record.entries)))
            others = [each for rerun in seats for each in rerun.choices if not each.agrees]
            yield Opinion(record.key, seats, (SureCost(0, others[0].action, 0.093, 0.041),) if others else ())

    def _ask_seat(self, record: Record, seat: int) -> Rerun:
        choices = list(list_choices(record, seat))
        fault = ("illegal", "expected one of p-c0, got: 'x'") if seat == self._fault else (None, "")
        told = tuple(choices[:3] if seat == self._fault else choices)
        agreed = sum(choice.agrees for choice in told)
        return Rerun(
            key=str(record.key),
            ruleset=record.ruleset,
            seat=seat,
            label=record.entries[seat][0],
            bot=self.adviser.name,
            moves=len(told),
            agreed=agreed,
            choices=told,
            verdict=fault[0],
            sentence=fault[1],
            stderr="",
        )


def list_choices(record: Record, seat: int) -> Iterator[RerunAction]:
    """Yield what the bot says of the actions of a seat."""
    for each in replay_decisions(record):
        if each.seat == seat and each.legal and not each.played.startswith("!"):
            plays = each.legal[-1]
            yield RerunAction(each.index, 0, each.played, plays, NOTE, plays == each.played)
