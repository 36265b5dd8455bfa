"""Games of the bot under examination against `greedy`; their cards are the same in every examination."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from protocol.errors import MaliceError
from protocol.messages import ClockRules
from referee.game_runner import GameRunner, Seat
from referee.records import Batch, GameOrder, Isolation, Key, Record
from referee.ruleset import DEFAULT, Parameters, Ruleset, find_ruleset, list_rulesets, load_ruleset
from referee.verdicts import Verdict
from tournaments.check.exam_log import ExamLog, Times, Trouble
from tournaments.check.seat import ExaminedSeat, Opponent
from tournaments.entries.bots import BotSpec, find_bot
from tournaments.league.schedule import Seeds

SEED = sha256(b"malice check").digest()
OPPONENT = "greedy"
PATIENCE_MS = 60_000
"""For the opponent, on however slow a machine."""


class Family(Struct, frozen=True, order=True):
    """Rulesets that show a bot the same kinds of things and let it say the same kinds of things."""

    name: str
    """The ruleset that stands for the others."""
    seats: int
    """As many as that one allows."""
    members: tuple[str, ...]


def list_families() -> tuple[Family, ...]:
    """Group the rulesets that ship by what a bot can see and say; the one with most seats stands for its group."""
    groups: dict[tuple[object, ...], list[Ruleset]] = defaultdict(list)
    for name in list_rulesets():
        ruleset = load_ruleset(name)
        groups[_kind(ruleset.rules)].append(ruleset)
    found = []
    for group in groups.values():
        most = max(ruleset.rules.players[1] for ruleset in group)
        first = next(ruleset.name for ruleset in group if ruleset.rules.players[1] == most)
        found.append(Family(first, most, tuple(ruleset.name for ruleset in group)))
    return tuple(sorted(found))


class Syllabus(Struct, frozen=True):
    """What a bot is examined on."""

    main: Ruleset
    """The ruleset that most games are played by, at its smallest table."""
    others: tuple[tuple[Ruleset, int], ...]
    """With the number of seats: what is played once."""
    whole: bool = True
    """Whether that stands for all rulesets that ship."""

    @property
    def seats(self) -> int:
        """How many sit at a table of the main ruleset."""
        return self.main.rules.players[0]

    @property
    def rulesets(self) -> dict[str, Ruleset]:
        """The rulesets by name; rare situations are those of all that ship, or of these."""
        return {ruleset.name: ruleset for ruleset, _ in self.others}


def everything() -> Syllabus:
    """Return what is asked of a bot that is made for all rulesets."""
    return Syllabus(
        load_ruleset(DEFAULT), tuple((load_ruleset(family.name), family.seats) for family in list_families())
    )


def only(rulesets: Sequence[Ruleset]) -> Syllabus:
    """Return what is asked of a bot that is made for some rulesets: each of them, mostly `standard` or the first."""
    main = next((ruleset for ruleset in rulesets if ruleset.name == DEFAULT), rulesets[0])
    return Syllabus(main, tuple((ruleset, ruleset.rules.players[1]) for ruleset in rulesets), whole=False)


def syllabus_of(bot: BotSpec, named: str | None = None) -> Syllabus:
    """Return what a bot is examined on.

    Args:
        bot: it may say what it is made for.
        named: rulesets that are to be played instead, separated by commas, or "all"; a file is seen from here.

    Raises:
        DataError: there is no such ruleset.
    """
    if named is None:
        wanted, base = bot.manifest.rulesets, bot.folder or Path()
    else:
        wanted, base = tuple(name.strip() for name in named.split(",")), Path()
    if not wanted or wanted == ("all",):
        return everything()
    return only([find_ruleset(name, base) for name in dict.fromkeys(wanted)])


def _kind(rules: Parameters) -> tuple[object, ...]:
    return (
        rules.teams,
        rules.players[1] > 2,
        rules.deck_kind,
        rules.jokers > 0,
        rules.centre_limit == "unlimited",
        rules.side_rule,
        rules.side_visible,
        rules.fill_empty_sides,
        rules.discard,
        rules.loading,
        rules.payoff_count,
    )


class Games:
    """Seats the bot and its opponents; ends all of them at the end.

    Args:
        bot: the one under examination.
        times: how long it may take.
        isolation: what is to be around every bot.
        syllabus: what is played.
    """

    def __init__(self, bot: BotSpec, times: Times, isolation: Isolation, syllabus: Syllabus) -> None:
        self.journal = ExamLog()
        self.syllabus = syllabus
        self.times = times
        self.clock = ClockRules(move_ms=times.move_ms)
        self._isolation = isolation
        self._player = bot.make_player(bot.manifest.name)
        self._opponent = find_bot(OPPONENT)
        self._opponents: list[Opponent] = []
        self._seeds = Seeds(SEED)
        self._stack = ExitStack()
        self.entry = (self._player.label, self._player.hash)
        """How the bot is called in records."""

    def __enter__(self) -> Games:
        return self

    def __exit__(self, *error: object) -> None:
        self.dismiss_opponents()
        self._stack.close()

    def seat(self) -> ExaminedSeat:
        """Return a seat whose process is still to be started; it is ended with this."""
        seat = ExaminedSeat(self._player, self.times, self._isolation, self.journal)
        self._stack.callback(seat.dismiss)
        return seat

    def play_main(self, seat: ExaminedSeat, deal: int) -> Record:
        """Play one game of the main ruleset, at its smallest table.

        Raises:
            Trouble: the bot broke a rule.
        """
        return self.play(seat, self.syllabus.main, self.syllabus.seats, deal)

    def play(self, seat: ExaminedSeat, ruleset: Ruleset, seats: int, deal: int) -> Record:
        """Play one game; the bot's seat moves on with the number of the deal.

        Args:
            seat: of the bot.
            ruleset: what is played.
            seats: how many sit at the table.
            deal: which cards; the same number gives the same game.

        Raises:
            Trouble: the bot broke a rule.
        """
        order = self._order(ruleset, seats, deal)
        place = order.seating.index(0)
        self.journal.ruleset, self.journal.deal_seed = ruleset.name, order.deal_seed
        self.journal.where = f"{ruleset.name}, {seats} seats, deal {deal}, seat {place}"
        at_table = self._seat_players(order, seat)
        players = (self._player, *(self._opponent.make_player(f"{OPPONENT}#{number}") for number in range(1, seats)))
        batch = Batch(
            ruleset.name, ruleset.rules, players, self.clock, self.times.init_ms, self._seeds.commit, (order,)
        )
        try:
            record = GameRunner(batch, order, at_table).play()
        except MaliceError:
            self.dismiss_opponents()  # they are in the middle of a game
            raise
        self._refuse_faults(record, place)
        return record

    def dismiss_opponents(self) -> None:
        """End the opponents; the next game starts others."""
        for opponent in self._opponents:
            opponent.dismiss()
        self._opponents.clear()

    def _order(self, ruleset: Ruleset, seats: int, deal: int) -> GameOrder:
        known = list_rulesets()  # a ruleset of the bot's own comes after those
        table = known.index(ruleset.name) if ruleset.name in known else len(known)
        return self._seeds.order(Key(table, deal, deal % seats), seats)

    def _seat_players(self, order: GameOrder, seat: ExaminedSeat) -> list[Seat]:
        while len(self._opponents) < len(order.seating) - 1:
            player = self._opponent.make_player(OPPONENT)
            self._opponents.append(Opponent(player, PATIENCE_MS, None, isolation=self._isolation))
        return [self._opponents[player - 1] if player else seat for player in order.seating]

    def _refuse_faults(self, record: Record, place: int) -> None:
        for fault in record.faults:
            if fault.seat != place:
                raise MaliceError(f"the opponent failed: {fault.sentence}")
            # Only a bot that declined the list comes so far: whether its action is legal, the table knows alone.
            verdict = Verdict("illegal", fault.sentence)
            raise Trouble("move", self.times.move_ms, verdict, fault.lines, fault.exit, fault.stderr)
