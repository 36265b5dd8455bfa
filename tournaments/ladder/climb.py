"""Plays a bot against the rungs of a ladder, deal by deal, until its rating is known well enough."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from malice.referee.errors import FamilyError
from malice.referee.families import load_family, make_rules
from malice.referee.records import Batch, GameOrder, Isolation, Key, Player, Record
from malice.tournaments.ladder.ladders import Ladder, Rung
from malice.tournaments.league.parts import Seeds
from malice.tournaments.ratings.placement import Meeting, Placement, choose_opponent, place_player
from malice.tournaments.ratings.scores import compute_wilson
from malice.tournaments.running.announcements import find_first_error
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks

BATCH = 5
"""Deals between two choices of an opponent, at most."""
LEAST = 20
"""Fewer deals do not tell how wide their interval is."""
THOUSAND = 1000
"""What the deals won alone are counted of."""


class ClimbTerms(Struct, frozen=True):
    """How a bot is measured, and when that is over."""

    seed: bytes
    """32 bytes; on a ladder whose deals are played alone, the ladder decides them instead."""
    deals: int
    """At most so many."""
    jobs: int = 1
    within: float | None = None
    """Stop as soon as half the interval is no wider."""
    until: float = math.inf
    """No game begins later, in seconds since 1970."""
    isolation: Isolation = Isolation()


class Opposition(Struct):
    """A rung, and what the bot did against it so far."""

    rung: Rung
    player: Player
    counts: list[int]
    begun: int = 0
    """Deals handed out."""
    spoilt: int = 0
    """Deals in which the rung itself failed: they count for nobody."""
    faults: int = 0
    """Of the bot."""
    used_ms: float = 0.0
    """Thinking time of the bot."""
    actions: int = 0
    elapsed_ms: float = 0.0
    games: int = 0

    @property
    def meeting(self) -> Meeting:
        return Meeting(self.rung.rating, tuple(self.counts))


class Climb:
    """Measures one bot on a ladder.

    Args:
        ladder: says what is played.
        bot: the bot.
        rungs: those of its rungs that can play here, with their bots.
        terms: when to stop.
        on_deal: called after each complete deal.
    """

    def __init__(
        self,
        ladder: Ladder,
        bot: Player,
        rungs: Sequence[tuple[Rung, Player]],
        terms: ClimbTerms,
        on_deal: Callable[[Climb], None] = lambda climb: None,
    ) -> None:
        self._ladder, self._bot, self._terms, self._on_deal = ladder, bot, terms, on_deal
        self._seats = ladder.match.players[0]
        family = ladder.ruleset.family
        self._teams = make_rules(family, ladder.ruleset.rules, self._seats).teams
        self._games = 1 if ladder.alone else 2
        """In a deal."""
        steps = 2 if ladder.alone else 2 * self._games + 1
        self.oppositions = [Opposition(rung, player, [0] * steps) for rung, player in rungs]
        if ladder.alone:
            self.oppositions = self.oppositions[:1]  # somebody must sit at the other seat
            shares = [statistic.share for statistic in load_family(family).statistics]
            self._share = shares.index(True)
        self._seeds = Seeds(terms.seed)
        self._open: dict[Key, dict[int, Record]] = {}
        """By a deal's first game: the games of the deal that have come."""
        self._handed = 0
        self._done = False
        self.worst: Record | None = None
        """The game to look at first: one that a verdict ended, or else one lost to the weakest rung."""
        self._worst_rank = (math.inf, math.inf)
        self.stopped = False
        """Whether a signal ended it."""

    def play(self) -> None:
        """Play until the terms say that it is enough.

        Raises:
            FamilyError: the rules of the game failed.
        """
        hooks = Hooks(self._take, self._wants, latest_begin=lambda batch: self._terms.until)
        jobs = max(1, min(self._terms.jobs, self._games * -(-self._terms.deals // BATCH)))
        try:
            outcome = play_batches(self._list_batches(), jobs, 1, hooks)
        except* FamilyError as errors:
            raise find_first_error(errors) from None
        self.stopped = outcome.stopped is not None

    @property
    def deals(self) -> int:
        """Complete deals that count."""
        return sum(sum(each.counts) for each in self.oppositions)

    def place(self) -> Placement:
        """What the deals say so far: a rating, or how many deals of 1,000 the bot wins alone."""
        if not self._ladder.alone:
            return place_player([each.meeting for each in self.oppositions])
        ((lost, won),) = [each.counts for each in self.oppositions]
        return count_won(won, lost + won)

    def _list_batches(self) -> Iterator[Batch]:
        while not self._done and self._handed < self._terms.deals and time.time() < self._terms.until:
            table = self._choose()
            chosen = self.oppositions[table]
            first, chosen.begun = chosen.begun, chosen.begun + size_batch(self._handed, self._terms.deals)
            self._handed += chosen.begun - first
            for rotation in range(self._games):
                yield self._make_batch(table, range(first, chosen.begun), rotation)

    def _choose(self) -> int:
        """Choose the next opponent: by what a second tells if time is short, and else by what a deal tells."""
        costs = [1.0] * len(self.oppositions)
        if self._terms.until < math.inf:
            played = [each.elapsed_ms / each.games for each in self.oppositions if each.games]
            usual = sum(played) / len(played) if played else 1.0
            costs = [each.elapsed_ms / each.games if each.games else usual for each in self.oppositions]
        if self._ladder.alone:
            return 0
        return choose_opponent([each.meeting for each in self.oppositions], costs)

    def _make_batch(self, table: int, deals: range, rotation: int) -> Batch:
        players = (self._bot, self.oppositions[table].player)
        ruleset, file = self._ladder.ruleset, self._ladder.file
        return Batch(
            family=ruleset.family,
            ruleset=ruleset.name,
            rules=ruleset.rules,
            players=tuple(players[team % 2] for team in self._teams),
            clock=file.clock,
            init_ms=file.init_ms,
            commit=self._seeds.commit,
            games=tuple(self._order(Key(0, table, deal, rotation)) for deal in deals),
            isolation=self._terms.isolation,
        )

    def _order(self, key: Key) -> GameOrder:
        """The order of a game: in the second rotation everybody sits one seat farther, around the same table."""
        order = self._seeds.order(key, self._seats)
        seating = tuple((seat + key.rotation) % self._seats for seat in range(self._seats))
        return GameOrder(key, order.deal_seed, seating, order.rngs)

    def _wants(self, key: Key) -> bool:
        return not self._done

    def find_own(self, record: Record) -> list[int]:
        """The seats of the bot."""
        moved = (record.key.rotation + seat for seat in range(self._seats))
        return [seat for seat, place in enumerate(moved) if self._teams[place % self._seats] % 2 == 0]

    def _take(self, record: Record) -> None:
        key = record.key
        opposition = self.oppositions[key.table]
        own = self.find_own(record)
        opposition.games += 1
        opposition.elapsed_ms += record.elapsed_ms
        opposition.faults += len({fault.seat for fault in record.faults} & {*own})
        opposition.used_ms += sum(record.seats[seat].used_ms for seat in own)
        opposition.actions += sum(seat in own for seat, _ in record.actions)
        self._note_worst(record, own, opposition.rung)
        games = self._open.setdefault(Key(key.part, key.table, key.deal, 0), {})
        games[key.rotation] = record
        if len(games) == self._games:
            del self._open[Key(key.part, key.table, key.deal, 0)]
            self._count(opposition, list(games.values()))

    def _count(self, opposition: Opposition, games: Sequence[Record]) -> None:
        """Count a complete deal, unless the rung itself failed in it."""
        if self._ladder.alone:
            (record,) = games
            opposition.counts[not self._is_lost(record, self.find_own(record))] += 1
        elif any(fault.seat not in self.find_own(record) for record in games for fault in record.faults):
            opposition.spoilt += 1
        else:
            opposition.counts[sum(self._score(record) for record in games)] += 1
        placement = self.place()
        wide = placement.half is None or self._terms.within is None or placement.half > self._terms.within
        self._done = self.deals >= LEAST and not wide
        self._on_deal(self)

    def _score(self, record: Record) -> int:
        """The half points of the bot."""
        own = self.find_own(record)
        mine = min(record.places[seat] for seat in own)
        theirs = min(place for seat, place in enumerate(record.places) if seat not in own)
        return 1 + (mine < theirs) - (mine > theirs)

    def _is_lost(self, record: Record, own: Sequence[int]) -> bool:
        if self._ladder.alone:
            return not (record.figures and record.figures[own[0]][self._share])
        return not self._score(record)

    def _note_worst(self, record: Record, own: Sequence[int], rung: Rung) -> None:
        if any(fault.seat in own for fault in record.faults):
            rank = (0.0, 0.0)
        elif self._is_lost(record, own):
            rank = (1.0, rung.rating)
        else:
            return
        if rank < self._worst_rank:
            self._worst_rank, self.worst = rank, record


def size_batch(handed: int, most: int) -> int:
    """Deals of the next batch: few as long as little is known, since they may be against the wrong opponent.

    Args:
        handed: deals handed out before.
        most: deals in all.
    """
    return min(max(1, handed // 2), BATCH, most - handed)


def count_won(won: int, deals: int) -> Placement:
    """How many deals of 1,000 are won, with Wilson's interval."""
    if not deals:
        return Placement(None, None, None, 0)
    share = won / deals
    # What the formula divides by is 0 where all went one way; half a deal is far inside the interval then.
    inner = min(max(share, 0.5 / deals), 1 - 0.5 / deals) if deals > 1 else 0.5
    low, high = compute_wilson(inner, inner * (1 - inner) / deals, 1.959963984540054)
    return Placement(
        share * THOUSAND, 0.0 if not won else low * THOUSAND, THOUSAND if won == deals else high * THOUSAND, deals
    )
