"""The deal of a day: somebody at a terminal plays it alone, keeps it where it stands, and goes on later.

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

from malice.protocol.messages import ClockRules
from malice.referee.course import Course, Dealer
from malice.referee.errors import DataError, IllegalAction
from malice.referee.families import Family, Statistic, load_family, make_rules
from malice.referee.nouns import format_count
from malice.referee.records import Batch, Count, Key
from malice.referee.requests import Requests
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset
from malice.tournaments.terminal.person import Person
from malice.tournaments.terminal.watching import write_now

T = TypeVar("T")

KEY = Key(0, 0, 0, 0)
BESTS = "bests.json"
"""The file of best values, by ruleset."""


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


class Best(Struct, frozen=True, forbid_unknown_fields=True):
    """What a player has reached under one ruleset."""

    played: Count = 0
    """Deals that came to their end."""
    shares: dict[str, Count] = {}
    """By statistic that is a share, in how many of them it was 1."""
    values: dict[str, int] = {}
    """By statistic, the best value."""


class Shelf:
    """Keeps games and best values of one person in a folder.

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

    def read_bests(self) -> dict[str, Best]:
        """Read the best values by ruleset.

        Raises:
            DataError: the file is damaged.
        """
        return _read(self._folder / BESTS, dict[str, Best]) or {}

    def keep_bests(self, bests: Mapping[str, Best]) -> None:
        """Keep the best values."""
        self._write(self._folder / BESTS, bests)

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
        raise DataError(f"{path}: expected what malice keeps of a daily game, got: {error}; remove the file") from None


class DailyGame:
    """The deal of a day under a ruleset, played by one person alone.

    Args:
        ruleset: one whose family tells whether a deal is winnable.
        day: the date.
        shelf: keeps the game.
    """

    def __init__(self, ruleset: Ruleset, day: date, shelf: Shelf) -> None:
        self._ruleset, self._day, self._shelf = ruleset, day, shelf
        self._family: Family = load_family(ruleset.family)
        seed = find_seed(ruleset, day)
        self._course = Course(make_rules(ruleset.family, ruleset.rules, 1), Dealer(seed))
        self._kept = shelf.read_game(ruleset.name, day)
        self._goes_on = bool(self._kept.actions)
        self._play_again()

    def _play_again(self) -> None:
        """Bring the table to where the game was kept."""
        for action in self._kept.actions:
            try:
                self._course.play({0: action})
            except IllegalAction as error:
                path = self._shelf.find(self._ruleset.name, self._day)
                raise DataError(f"{path}: the game that it keeps cannot be played again: {error}; remove it") from None

    def play(self, source: BinaryIO, out: TextIO) -> None:
        """Play on until the end, or until the player leaves; tell the result and the best values.

        Args:
            source: where the answers come from.
            out: shows the table.
        """
        player = DailyPlayer("you", source, out)
        player.sit_down(self._family, self._ruleset.name, ["you"])
        self._say(out, f"{self._ruleset.name}, the deal of {self._day}, {'as you left it' if self._goes_on else 'new'}")
        if isinstance(self._course.step, Result):
            self._say(out, "You have played it already.")
        else:
            try:
                self._ask(player)
            except Paused:
                self._say(out, "\nKept as it is: the same command goes on from here.")
                return
            self._count_end()
        for line in self._describe_end():
            self._say(out, line)

    def _ask(self, player: DailyPlayer) -> None:
        """Let the player act until the game is over; keep it after every action."""
        rules = self._course.rules
        requests = Requests(rules, self._make_terms(), KEY, (0,))
        if not self._goes_on:
            requests.post(self._course.dealt)
        while not isinstance(self._course.step, Result):
            legal = rules.legal(self._course.state, 0)
            request = requests.move(0, player.next_id(), self._course.state, legal, True)
            answer, nanoseconds, _ = player.ask_move(request, None)
            requests.post(self._course.play({0: answer.move}))
            actions, ms = (*self._kept.actions, answer.move), self._kept.ms + nanoseconds // 1_000_000
            self._kept = replace(self._kept, actions=actions, ms=ms)
            self._shelf.keep_game(self._kept, self._day)

    def _make_terms(self) -> Batch:
        clock = ClockRules(move_ms=None, bank_ms=None)
        ruleset = self._ruleset
        return Batch(ruleset.family, ruleset.name, ruleset.rules, (), clock, 0, "", ())

    def _list_values(self) -> dict[str, int]:
        """The statistics of the game that count."""
        assert isinstance(self._course.step, Result)
        figures = iter(self._course.step.figures[0])
        values = {each.name: self._kept.ms if each.timed else next(figures) for each in self._family.statistics}
        counted = (each for each in self._family.statistics if not each.within or values[each.within])
        return {each.name: values[each.name] for each in counted}

    def _count_end(self) -> None:
        """Add a game that has come to its end to the best values."""
        bests, values = self._shelf.read_bests(), self._list_values()
        best = bests.get(self._ruleset.name, Best())
        shares = [each.name for each in self._family.statistics if each.share]
        counts = {name: best.shares.get(name, 0) + values[name] for name in shares}
        measured = self._list_measured(values)
        better = {each.name: _choose(each, best.values.get(each.name), values[each.name]) for each in measured}
        bests[self._ruleset.name] = Best(best.played + 1, counts, best.values | better)
        self._shelf.keep_bests(bests)

    def _list_measured(self, values: Mapping[str, int]) -> list[Statistic]:
        return [each for each in self._family.statistics if not each.share and each.name in values]

    def _describe_end(self) -> Iterator[str]:
        """Yield how the game ended, and the best values so far."""
        assert isinstance(self._course.step, Result)
        reason = self._course.step.reason
        yield f"\nThe game is over: {self._family.reasons.get(reason, reason)}."
        values, best = self._list_values(), self._shelf.read_bests().get(self._ruleset.name, Best())
        for each in self._list_measured(values):
            value = values[each.name]
            yield f"  {each.caption}: {value:,} (your best: {best.values.get(each.name, value):,})"
        for each in self._family.statistics:
            if each.share:
                yield f"  {each.caption}: {best.shares.get(each.name, 0)} of {format_count(best.played, 'daily deal')}"

    def _say(self, out: TextIO, line: str) -> None:
        write_now(out, line + "\n")


def _choose(statistic: Statistic, before: int | None, value: int) -> int:
    if before is None:
        return value
    return max(before, value) if statistic.best == "most" else min(before, value)


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
