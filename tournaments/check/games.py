"""Games of the bot under examination against bots that ship; their cards are the same in every examination."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.protocol.messages import ClockRules
from malice.referee.errors import GameFault
from malice.referee.families import load_family
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.records import Batch, GameOrder, Isolation, Key, Record
from malice.referee.replay import is_endless
from malice.referee.rulesets import Ruleset, find_ruleset, list_rulesets, load_ruleset
from malice.referee.seat import Seat
from malice.referee.verdicts import Verdict
from malice.tournaments.check.seat import ExaminedSeat, ExamLog, Opponent, Times, Trouble
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.lookup import list_games
from malice.tournaments.league.parts import Seeds
from malice.tournaments.running.announcements import describe_endless_game

SEED = sha256(b"malice check").digest()
PATIENCE_MS = 60_000
"""The time for the opponent to start, enough for a slow machine."""


class RulesetGroup(Struct, frozen=True, order=True):
    """Rulesets in which a bot sees and plays the same kinds of things."""

    name: str
    """The ruleset that represents the others."""
    seats: int
    """The most seats that this ruleset allows."""
    members: tuple[str, ...]


def group_rulesets(family: str = DEFAULT_FAMILY) -> tuple[RulesetGroup, ...]:
    """Group a family's rulesets by what a bot can see and play; the one with most seats represents its group."""
    groups: dict[object, list[Ruleset]] = defaultdict(list)
    for ruleset in map(load_ruleset, list_rulesets(family)):
        groups[load_family(family).classify(ruleset.rules)].append(ruleset)
    return tuple(sorted(map(_make_group, groups.values())))


def _make_group(members: Sequence[Ruleset]) -> RulesetGroup:
    most = max(ruleset.match.players[1] for ruleset in members)
    first = next(ruleset.name for ruleset in members if ruleset.match.players[1] == most)
    return RulesetGroup(first, most, tuple(ruleset.name for ruleset in members))


class Syllabus(Struct, frozen=True):
    """The games of an examination."""

    main: Ruleset
    """The ruleset of most games, with its fewest seats."""
    others: tuple[tuple[Ruleset, int], ...]
    """Rulesets that are played once, each with its number of seats."""
    every_ruleset: bool = True
    """Whether these rulesets represent all that ship."""

    @property
    def seats(self) -> int:
        """The number of seats in the main ruleset."""
        return self.main.match.players[0]

    @property
    def rulesets(self) -> dict[str, Ruleset]:
        """The rulesets by name; unless `whole`, rare situations come from these alone."""
        return {ruleset.name: ruleset for ruleset, _ in self.others}


def cover_everything() -> Syllabus:
    """The syllabus of a bot that is made for all rulesets."""
    return Syllabus(
        load_ruleset(DEFAULT_RULESET), tuple((load_ruleset(group.name), group.seats) for group in group_rulesets())
    )


def cover_only(rulesets: Sequence[Ruleset]) -> Syllabus:
    """A syllabus of all these rulesets; most games are of `standard`, or else of the first one."""
    main = next((ruleset for ruleset in rulesets if ruleset.name == DEFAULT_RULESET), rulesets[0])
    return Syllabus(main, tuple((ruleset, ruleset.match.players[1]) for ruleset in rulesets), every_ruleset=False)


def choose_syllabus(bot: Bot, names: str | None = None) -> Syllabus:
    """Choose the syllabus of a bot.

    Args:
        bot: its manifest may name the games that it plays and the rulesets that it is made for.
        names: other rulesets to play, separated by commas, or "all"; a path is relative to the working folder.

    Raises:
        DataError: there is no such game or ruleset.
    """
    if names is None:
        wanted, base = bot.manifest.rulesets, bot.folder or Path()
        games = list_games(bot)
        if not wanted and games and DEFAULT_FAMILY not in games:
            return cover_only([load_ruleset(group.name) for family in games for group in group_rulesets(family)])
    else:
        wanted, base = tuple(name.strip() for name in names.split(",")), Path()
    if not wanted or wanted == ("all",):
        return cover_everything()
    return cover_only([find_ruleset(name, base) for name in dict.fromkeys(wanted)])


class ExamGames:
    """Seats the bot and its opponents, and ends all of them on exit.

    Args:
        bot: the bot under examination.
        times: how long it may take.
        isolation: the isolation of every bot.
        syllabus: the games to play.
    """

    def __init__(self, bot: Bot, times: Times, isolation: Isolation, syllabus: Syllabus) -> None:
        self.log = ExamLog()
        self.syllabus = syllabus
        self.times = times
        self.clock = ClockRules(move_ms=times.move_ms)
        self._isolation = isolation
        self._player = bot.make_player(bot.manifest.name)
        self._opponents: list[Opponent] = []
        self._family = syllabus.main.family
        """The game whose opponents are seated."""
        self._seeds = Seeds(SEED)
        self._stack = ExitStack()
        self.entry = (self._player.label, self._player.hash)
        """The entry of the bot in records."""

    def __enter__(self) -> ExamGames:
        return self

    def __exit__(self, *error: object) -> None:
        self.dismiss_opponents()
        self._stack.close()

    def seat(self) -> ExaminedSeat:
        """Seat a new process, which ends at the latest when these games do."""
        seat = ExaminedSeat(self._player, self.times, self._isolation, self.log)
        self._stack.callback(seat.dismiss)
        return seat

    def play_main(self, seat: ExaminedSeat, deal: int) -> Record:
        """Play one game of the main ruleset, with its fewest seats; raise Trouble if the bot breaks a rule."""
        return self.play(seat, self.syllabus.main, self.syllabus.seats, deal)

    def play(self, seat: ExaminedSeat, ruleset: Ruleset, seats: int, deal: int) -> Record:
        """Play one game; the number of the deal also decides where the bot sits.

        Args:
            seat: the seat of the bot.
            ruleset: the ruleset to play.
            seats: the number of seats.
            deal: determines the cards; the same number gives the same game.

        Raises:
            Trouble: the bot broke a rule.
            GameFault: the rules of the game failed, or found no end.
        """
        order = self._order(ruleset, seats, deal)
        place = order.seating.index(0)
        self.log.ruleset, self.log.deal_seed = ruleset.name, order.deal_seed
        self.log.where = f"{ruleset.name}, {seats} seats, deal {deal}, seat {place}"
        opponent = find_bot(load_family(ruleset.family).opponent)
        table_seats = self._seat_players(order, seat, opponent, ruleset.family)
        name = opponent.manifest.name
        players = (self._player, *(opponent.make_player(f"{name}#{number}") for number in range(1, seats)))
        batch = Batch(
            family=ruleset.family,
            ruleset=ruleset.name,
            rules=ruleset.rules,
            players=players,
            clock=self.clock,
            init_ms=self.times.init_ms,
            commit=self._seeds.commit,
            games=(order,),
        )
        try:
            record = GameRunner(batch, order, table_seats).play()
        except MaliceError:
            self.dismiss_opponents()  # their game was cut short
            raise
        if is_endless(record):
            raise GameFault(describe_endless_game(record), f"{record.ruleset}, deal {deal}: {record.actions}\n")
        self._refuse_faults(record, place)
        return record

    def dismiss_opponents(self) -> None:
        """End the opponents; the next game starts new ones."""
        for opponent in self._opponents:
            opponent.dismiss()
        self._opponents.clear()

    def _order(self, ruleset: Ruleset, seats: int, deal: int) -> GameOrder:
        known = list_rulesets(ruleset.family)  # the bot's own rulesets come after them
        table = known.index(ruleset.name) if ruleset.name in known else len(known)
        return self._seeds.order(Key(0, table, deal, deal % seats), seats)

    def _seat_players(self, order: GameOrder, seat: ExaminedSeat, opponent: Bot, family: str) -> list[Seat]:
        if family != self._family:
            self.dismiss_opponents()
            self._family = family
        while len(self._opponents) < len(order.seating) - 1:
            player = opponent.make_player(opponent.manifest.name)
            self._opponents.append(Opponent(player, PATIENCE_MS, None, isolation=self._isolation))
        return [self._opponents[player - 1] if player else seat for player in order.seating]

    def _refuse_faults(self, record: Record, place: int) -> None:
        for fault in record.faults:
            if fault.seat != place:
                raise MaliceError(f"the opponent failed: {fault.sentence}")
            # The bot declined the list of legal actions: only the game knew that its action was illegal.
            verdict = Verdict("illegal", fault.sentence)
            raise Trouble("move", self.times.move_ms, verdict, fault.lines, fault.exit, fault.stderr)
