"""Asks a bot what it would have played in stored games: a rerun, and opinions that are kept beside the league."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.errors import BotError, FamilyError, RecordError
from malice.referee.nouns import format_count
from malice.referee.records import Isolation, Key, Player, Record
from malice.referee.requests import replay_requests
from malice.referee.seat import BYE_WAIT_NS, BotSeat, SeatObserver, greet_bot
from malice.referee.verdicts import Verdict, judge_illegal_move
from malice.tournaments.league.file import find_opinions
from malice.tournaments.league.store import Store
from malice.tournaments.running.costs import Disagreement, SureCost, Weigher, read_kept, write_kept
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


FORMAT = 1
"""Part of every name of a kept opinion: a higher number asks anew."""
ABSENT = "absent"
"""The code of a bot that could not be started; it is asked again next time."""


class Adviser(Struct, frozen=True):
    """Who gives the opinion, as pages name it."""

    name: str
    version: str
    """As in its bot.toml."""
    hash: str
    """SHA-256 of what plays, hex; empty where it would tell whose bot it is."""


class Opinion(Struct, frozen=True):
    """What a bot would have played in a game, by seat."""

    key: Key
    seats: tuple[Rerun | None, ...]
    """None where it played itself."""
    costs: tuple[SureCost, ...] = ()
    """Of the choices that surely cost the seat something."""


class Counts(Protocol):
    """Counts games as the bot is asked about them."""

    def expect(self, games: int) -> None:
        """Learn that so many more games follow."""

    def count_game(self) -> None:
        """Count a game."""


class Opinions:
    """A bot that says what it would have played in the games of a league.

    Opinions are kept in a folder `friday.opinions` beside `friday.db`, by the content of the bot and of what it was
    asked; nothing is asked twice. A bot is not asked about itself.

    Args:
        store: the league.
        player: the bot.
        around: the conditions under which it plays.
        most: about how many games to ask it; None for all.
        counts: counts them.
        weigher: says what it costs to differ from the bot; None for nobody.
    """

    def __init__(
        self,
        store: Store,
        player: Player,
        around: Surroundings,
        most: int | None = None,
        counts: Counts | None = None,
        weigher: Weigher | None = None,
    ) -> None:
        self.most = most
        self.adviser = _name_adviser(store, player)
        self.games = self.moves = self.agreed = 0
        """What it was asked about so far, and in how many moves it agreed."""
        self.faults: list[Rerun] = []
        """What ended with a verdict on it."""
        self.weigher = weigher
        self._store = store
        self._player = player
        self._around = around
        self._counts = counts
        self._folder = find_opinions(store.path) / player.hash

    def ask(self, keys: Sequence[Key], games: int) -> Iterator[Opinion]:
        """Yield the opinion on each of these games, in this order; on one that does not replay there is none.

        A verdict on the bot ends its opinion on a seat, and nothing else.

        Args:
            keys: the games.
            games: how many it is asked about in all; the intervals of costs hold for all of them together.

        Raises:
            LeagueError: a kept opinion is damaged.
            OSError: an opinion cannot be kept.
        """
        if self._counts:
            self._counts.expect(len(keys))
        for record in self._store.read_records(keys):
            with suppress(FamilyError, RecordError):  # its own replay page tells what is wrong with it
                seats = tuple(self._ask_seats(record))
                costs = self.weigher.weigh(record, self._list_others(seats), games) if self.weigher else ()
                opinion = Opinion(record.key, seats, costs)
                self._count(opinion)
                yield opinion
            if self._counts:
                self._counts.count_game()

    def _count(self, opinion: Opinion) -> None:
        reruns = [rerun for rerun in opinion.seats if rerun is not None]
        self.games += 1
        self.moves += sum(rerun.moves for rerun in reruns)
        self.agreed += sum(rerun.agreed for rerun in reruns)
        self.faults += [replace(rerun, choices=()) for rerun in reruns if rerun.verdict]

    def _ask_seats(self, record: Record) -> Iterable[Rerun | None]:
        rngs = self._store.tournament().seeds(record.key.part).order(record.key, len(record.entries)).rngs
        for seat, (_, content) in enumerate(record.entries):
            if content == self._player.hash:
                yield None
                continue
            path = self._folder / f"{_hash_requests(record, rngs, seat)}.json"
            rerun = read_kept(path, Rerun, "the bot is asked again")
            if rerun is None:
                rerun = self._rerun(record, rngs, seat)
                if rerun.verdict != ABSENT:
                    write_kept(path, rerun)
            yield rerun

    @staticmethod
    def _list_others(seats: Sequence[Rerun | None]) -> list[Disagreement]:
        return [
            Disagreement(rerun.seat, choice.action, choice.played, choice.plays)
            for rerun in seats
            if rerun
            for choice in rerun.choices
            if not choice.agrees
        ]

    def _rerun(self, record: Record, rngs: Sequence[int], seat: int) -> Rerun:
        try:
            return rerun_game(record, rngs, seat, self._player, self._around)
        except BotError as error:
            names = str(record.key), record.ruleset, seat, record.entries[seat][0], self._player.label
            return Rerun(*names, 0, 0, (), ABSENT, "it did not start", str(error))


def _name_adviser(store: Store, player: Player) -> Adviser:
    """Name the bot; in an anonymous tournament, one that plays has its label there: its agreement tells who it is."""
    if not store.config().anonymous:
        return Adviser(player.label, player.version, player.hash)
    versions = (version for own in store.league().versions.values() for version in own)
    label = next((version.label for version in versions if version.hash == player.hash), player.label)
    return Adviser(label, "", "")


def _hash_requests(record: Record, rngs: Sequence[int], seat: int) -> str:
    """A digest of all that decides the requests to a seat: beside the game its clocks, which they state."""
    times = record.clock, record.micros, record.cpu_micros
    content = msgspec.json.encode((FORMAT, record.digest, times, rngs, seat))
    return hashlib.sha256(content).hexdigest()
