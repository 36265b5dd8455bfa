"""The deal of a day: somebody plays it alone, keeps it where it stands, and goes on later.

Everybody gets the same deal: the first that the family's search can solve, of those that follow from ruleset and date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.messages import ClockRules, Move
from malice.referee.course import Course, Dealer
from malice.referee.errors import DataError, IllegalAction
from malice.referee.families import Family, Statistic, load_family, make_rules
from malice.referee.nouns import format_count
from malice.referee.records import Batch, Count, Key
from malice.referee.requests import Requests
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.people import Career, Ending, list_values
from malice.tournaments.terminal.person import Person
from malice.tournaments.terminal.watching import write_now

T = TypeVar("T")

KEY = Key(0, 0, 0, 0)
BESTS = "bests.json"
"""The file of careers, by ruleset."""


class Paused(Exception):
    """The player has left; the game is kept."""


class DailyPlayer(Person):
    """Somebody who plays alone, and may leave and come back."""

    LEAVE = "keep this game and leave"
    LEAVING = "q or quit  keep this game and leave; the same command goes on later, and Ctrl-D does the same"
    WORDS = ("q", "quit")

    def _resign(self, sentence: str) -> NoReturn:
        raise Paused


class Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """A game as it is kept on the disk."""

    ruleset: str
    day: str
    actions: tuple[str, ...] = ()
    ms: Count = 0
    """The time that the player took, in milliseconds."""


class Shelf:
    """Keeps the daily deals of one person in a folder, and what that person has reached in them.

    Args:
        folder: is made when something is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, ruleset: str, day: date) -> Path:
        return self._folder / f"{sha256(ruleset.encode()).hexdigest()[:8]}-{day.isoformat()}.json"

    def read_game(self, ruleset: str, day: date) -> Kept:
        """Read the game of a day as it was kept, or as it begins.

        Raises:
            DataError: the file is damaged.
        """
        return _read(self.find(ruleset, day), Kept) or Kept(ruleset, day.isoformat())

    def keep_game(self, game: Kept, day: date) -> None:
        """Keep a game; a crash leaves it as it was, or as it is."""
        self._write(self.find(game.ruleset, day), game)

    def read_careers(self) -> dict[str, Career]:
        """Read by ruleset what the person has reached.

        Raises:
            DataError: the file is damaged.
        """
        return _read(self._folder / BESTS, dict[str, Career]) or {}

    def keep_careers(self, careers: Mapping[str, Career]) -> None:
        self._write(self._folder / BESTS, careers)

    def _write(self, path: Path, content: object) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(msgspec.json.encode(content))
        draft.replace(path)


def _read(path: Path, kind: type[T]) -> T | None:
    """Read what a file keeps; None if there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise DataError(
            where=path, expected="what malice keeps of a daily game", got=error, hint="remove the file"
        ) from None


class DailyDeal:
    """The deal of a day under a ruleset, as far as one person has played it; every action is kept.

    Args:
        ruleset: one whose family tells whether a deal is winnable.
        day: the date.
        shelf: keeps the game.

    Raises:
        DataError: the ruleset has no daily deal, or what was kept is damaged.
    """

    def __init__(self, ruleset: Ruleset, day: date, shelf: Shelf) -> None:
        self.ruleset, self.day = ruleset, day
        self.family: Family = load_family(ruleset.family)
        self._shelf = shelf
        self.seed = find_seed(ruleset, day)
        self._course = Course(make_rules(ruleset.family, ruleset.rules, 1), Dealer(self.seed))
        self._kept = shelf.read_game(ruleset.name, day)
        self.goes_on = bool(self._kept.actions)
        """Whether it was begun before."""
        self._play_again()
        clock = ClockRules(move_ms=None, bank_ms=None)
        terms = Batch(ruleset.family, ruleset.name, ruleset.rules, (), clock, 0, "", ())
        self._requests = Requests(self._course.rules, terms, KEY, (0,))
        if not self.goes_on:
            self._requests.post(self._course.dealt)

    def _play_again(self) -> None:
        """Bring the table to where the game was kept."""
        for action in self._kept.actions:
            try:
                self._course.play({0: action})
            except IllegalAction as error:
                path = self._shelf.find(self.ruleset.name, self.day)
                raise DataError(f"{path}: the game that it keeps cannot be played again: {error}; remove it") from None

    @property
    def actions(self) -> tuple[str, ...]:
        """What was played so far."""
        return self._kept.actions

    @property
    def result(self) -> Result | None:
        """How it ended; None while it goes on."""
        return self._course.step if isinstance(self._course.step, Result) else None

    def ask(self, id: int) -> Move:
        """The request for the next action."""
        legal = self._course.rules.legal(self._course.state, 0)
        return self._requests.move(0, id, self._course.state, legal, True)

    def play(self, action: str, ms: int) -> None:
        """Play an action and keep it, and at the end count the game.

        Args:
            action: a legal one.
            ms: how long the player took for it.
        """
        self._requests.post(self._course.play({0: action}))
        self._kept = replace(self._kept, actions=(*self._kept.actions, action), ms=self._kept.ms + ms)
        self._shelf.keep_game(self._kept, self.day)
        if self.result:
            careers = self._shelf.read_careers()
            careers[self.ruleset.name] = self.read_career().add(self.family.statistics, self._judge())
            self._shelf.keep_careers(careers)

    def read_career(self) -> Career:
        """What the player has reached in the daily deals of this ruleset."""
        return self._shelf.read_careers().get(self.ruleset.name, Career())

    def list_values(self) -> dict[str, int]:
        """The statistics of a game that is over, as far as they count."""
        assert self.result
        return list_values(self.family, self.result.figures[0], self._kept.ms)

    def _judge(self) -> Ending:
        """Alone, one wins what the first share of the family counts: the deal is solved."""
        values = self.list_values()
        shares = [values[each.name] for each in self.family.statistics if each.share]
        return Ending(bool(shares and shares[0]), False, None, values)


class DailyGame:
    """The deal of a day at a terminal.

    Args:
        deal: the deal.
        name: what to call the player.
    """

    def __init__(self, deal: DailyDeal, name: str = "you") -> None:
        self._deal, self._name = deal, name

    def play(self, source: BinaryIO, out: TextIO) -> None:
        """Play on until the end, or until the player leaves; tell the result and the best values.

        Args:
            source: where the answers come from.
            out: shows the table.
        """
        deal = self._deal
        player = DailyPlayer(self._name, source, out)
        player.sit_down(deal.family, deal.ruleset.name, [self._name])
        self._say(out, f"{deal.ruleset.name}, the deal of {deal.day}, {'as you left it' if deal.goes_on else 'new'}")
        if deal.result:
            self._say(out, "You have played it already.")
        else:
            try:
                while not deal.result:
                    answer, nanoseconds, _ = player.ask_move(deal.ask(player.next_id()), None)
                    deal.play(answer.move, nanoseconds // 1_000_000)
            except Paused:
                self._say(out, "\nKept as it is: the same command goes on from here.")
                return
        assert deal.result
        self._say(out, f"\nThe game is over: {deal.family.reasons.get(deal.result.reason, deal.result.reason)}.")
        for line in describe_daily_end(deal):
            self._say(out, f"  {line}")

    def _say(self, out: TextIO, line: str) -> None:
        write_now(out, line + "\n")


def describe_daily_end(deal: DailyDeal) -> Iterator[str]:
    """Yield what a deal that is over counted, and what its player has reached in all of them."""
    statistics, values, career = deal.family.statistics, deal.list_values(), deal.read_career()
    for each in statistics:
        if not each.share and each.name in values:
            value = values[each.name]
            yield f"{each.caption}: {value:,} (your best: {career.values.get(each.name, value):,})"
    yield from describe_shares(statistics, career, "daily deal")
    if career.longest > 1:
        yield f"in a row: {career.streak} (your longest: {career.longest})"


def describe_shares(statistics: tuple[Statistic, ...], career: Career, noun: str) -> Iterator[str]:
    """Yield in how many of somebody's games each share was 1."""
    for each in statistics:
        if each.share:
            yield f"{each.caption}: {career.shares.get(each.name, 0)} of {format_count(career.played, noun)}"


def find_seed(ruleset: Ruleset, day: date) -> bytes:
    """The seed of the deal of a day: the first of a sequence whose deal the family's search can solve.

    The sequence is SHA-256 of "malice daily", the ruleset, the date and a number from 0, with a null byte between
    them.

    Raises:
        DataError: the family has no such search.
    """
    winnable = load_family(ruleset.family).winnable
    if winnable is None:
        raise DataError(f"{ruleset.name}: there is no daily deal of this game")
    rules = make_rules(ruleset.family, ruleset.rules, 1)
    for number in count():
        seed = sha256("\0".join(("malice daily", ruleset.name, day.isoformat(), str(number))).encode()).digest()
        if winnable(ruleset.rules, Course(rules, Dealer(seed)).state):
            return seed
    raise AssertionError("unreachable")
