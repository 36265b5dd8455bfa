"""A league made up in process: the source that the tests of the site render from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import combinations, product
from random import Random
from typing import Any

import msgspec

from malice.protocol.messages import ClockRules
from malice.referee import rulesets as ruleset
from malice.referee.course import Course, Dealer
from malice.referee.families import make_rules
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.records import Key, Record, RecordedVerdict, SeatReport, compute_digest
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Contents, GameSummary, summarize_record
from malice.tournaments.league.formats.decisions import FormatInput, create_part, make_format_input, make_table
from malice.tournaments.league.journal import (
    Absence,
    AnyEvent,
    Begun,
    FileEntry,
    FileRead,
    PartClosed,
    State,
    StateChanged,
    Version,
    store_ruleset,
)
from malice.tournaments.league.parts import Draft, PartTable, VersionKey
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.league.tournament import Tournaments as JournalLeague

HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}\u202egnp.exe\x1b[31m"
LABELS = ("greedy", "careful", "greedy#2", "naïve Ünïcode", HOSTILE)
NAME = "Spring <cup>"
VERDICTS = {
    "crash": ("exited while it was asked for an action", "killed by signal 11 (SIGSEGV)"),
    "timeout": ("expected an answer within 1100 ms, got none", None),
    "protocol": ("3 lines that are not JSON, and no answer: did you print to stdout?", None),
    "illegal": ("expected one of 12 legal actions, got: 'hQS-c9'", None),
}


Chooser = Callable[[tuple[str, ...], str, Random], str]
"""Picks one of the legal actions for the entry with this label."""


def _choose(legal: tuple[str, ...], label: str, random: Random) -> str:
    if random.random() < 0.15 * (LABELS.index(label) if label in LABELS else 1):
        return random.choice(legal)
    payoff = [action for action in legal if action.startswith("p-")]
    centre = [action for action in legal if "-c" in action and action[1] != "K"]
    return (payoff or centre or [random.choice(legal)])[0]


def play(
    rules: Any,
    labels: tuple[str, ...],
    key: Key,
    fault: tuple[int, str] | None = None,
    choose: Chooser = _choose,
    family: str = DEFAULT_FAMILY,
) -> Record:
    """Play one game: the lower the entry's place in `LABELS`, the more often it plays at random.

    Args:
        rules: the parameters of the family.
        labels: the entries by seat.
        key: the game.
        fault: from which action on the next seat fails, and the code of its verdict.
        choose: picks the actions.
        family: the game.
    """
    random = Random(str(key))
    seed = hashlib.sha256(str((key.table, key.deal)).encode()).digest()
    course = Course(make_rules(family, rules, len(labels)), Dealer(seed))
    actions: list[tuple[int, str]] = []
    notes: dict[int, str] = {}
    faults = []
    while not isinstance(step := course.step, Result):
        if fault and len(actions) >= fault[0]:
            seat, code = step.seats[0], fault[1]
            faults.append(_fault(seat, code, len(actions)))
            actions.append((seat, f"!{code}"))
            course.withdraw({seat: code})
            fault = None
            continue
        moves = {seat: choose(course.rules.legal(course.state, seat), labels[seat], random) for seat in step.seats}
        for seat, action in moves.items():
            if action.startswith("p"):
                notes[len(actions)] = f"pay-off first {HOSTILE[:10]}" if seat else "pay-off first"
            actions.append((seat, action))
        course.play(moves)
    return _record(rules, labels, key, seed, actions, step, notes, faults, random, family)


def _fault(seat: int, code: str, action: int) -> RecordedVerdict:
    sentence, ended = VERDICTS[code]
    lines = (
        '> {"id":7,"type":"move","view":{"turn":12}}',
        "< Traceback (most recent call last):",
        f"< {HOSTILE}",
    )
    stderr = 'Traceback (most recent call last):\n  File "bot.py", line 7\n</pre><script>alert(1)</script>\x00\n' * 3
    return RecordedVerdict(seat, code, action, sentence, ended, lines, stderr)


def _record(
    rules: Any,
    labels: tuple[str, ...],
    key: Key,
    seed: bytes,
    actions: list[tuple[int, str]],
    end: Result,
    notes: dict[int, str],
    faults: list[RecordedVerdict],
    random: Random,
    family: str,
) -> Record:
    micros = tuple(int(random.lognormvariate(5.0 + seat, 0.5)) for seat, _ in actions)
    used = [
        sum(time for time, (seat, _) in zip(micros, actions, strict=True) if seat == own) for own in range(len(labels))
    ]
    record = Record(
        key=key,
        family=family,
        ruleset="",
        rules=rules,
        entries=tuple((label, hashlib.sha256(label.encode()).hexdigest()) for label in labels),
        deal_seed=seed.hex(),
        actions=tuple(actions),
        places=end.places,
        scores=end.scores,
        reason=end.reason,
        digest="",
        micros=micros,
        cpu_micros=micros,
        notes=notes,
        seats=tuple(SeatReport(label, "1", time / 1000, time / 1000) for label, time in zip(labels, used, strict=True)),
        faults=tuple(faults),
        commit="sha256:00",
        clock=ClockRules(),
        isolation="none",
        host="",
        versions="",
        started=1.7e9,
        elapsed_ms=100.0,
    )
    return msgspec.structs.replace(record, digest=compute_digest(record))


class League:
    """A round-robin, played when it is made; the schedule runs through the tables, deal by deal.

    Args:
        labels: the entries.
        deals: of each part, at each table.
        rulesets: their names, or rulesets.
        seats: at each table; more where a ruleset needs them.
        faulty: every so manieth game ends by a verdict; 0 for none.
        planned: deals of the last part, if it is not closed; 0 closes it.
        parts: how many; all have the same tables.
        others: games that other tournaments of the league plan before each part.
    """

    def __init__(
        self,
        labels: tuple[str, ...] = LABELS,
        deals: int = 2,
        rulesets: tuple[str | Ruleset, ...] = ("standard",),
        seats: int = 2,
        faulty: int = 0,
        *,
        planned: int = 0,
        parts: int = 1,
        others: int = 0,
    ) -> None:
        self._labels = labels
        told = [ruleset.load_ruleset(each) if isinstance(each, str) else each for each in rulesets]
        self._rulesets = {each.name: each for each in told}
        self._tables = [
            (name, seated)
            for name, each in self._rulesets.items()
            for seated in combinations(labels, max(seats, each.match.players[0]))
        ]
        self._deals = deals
        self._planned = planned
        self._parts = parts
        self._others = others
        self._decisions: list[StateChanged] = []
        self._absences: dict[str, Absence] = {}
        self._suspended: dict[str, int] = {}
        self._renewed: list[str] = []
        self._pairs: list[tuple[GameSummary, Record]] = []
        self._knows_series = True
        self._plays_series = True
        self._format_input: FormatInput | None = None
        codes = list(VERDICTS)
        for part, (table, (name, seated)) in product(range(parts), enumerate(self._tables)):
            each = self._rulesets[name]
            for rotation, deal in product(range(len(seated)), range(deals)):
                own = seated[rotation:] + seated[:rotation]
                number = len(self._pairs)
                bad = faulty and number % faulty == faulty - 1
                fault = (number % 90, codes[number // faulty % 4]) if bad else None
                key = Key(part, table, deal, rotation)
                self.add((part + 1) * others + number, name, play(each.rules, own, key, fault, family=each.family))

    def add(self, number: int, name: str, record: Record) -> None:
        """Take in a game."""
        record = msgspec.structs.replace(record, ruleset=name)
        teams = make_rules(record.family, record.rules, len(record.entries)).teams
        self._pairs.append((summarize_record(record, number, teams, (1,) * len(teams)), record))

    def keep(self, count: int) -> None:
        """Forget all games but the first ones."""
        del self._pairs[count:]

    def repeat(self, count: int) -> None:
        """Fill up to so many games with the first two of them, under new keys."""
        first = self._pairs[:2]
        while (number := len(self._pairs)) < count:
            game, record = first[number % 2]
            key = Key(0, game.key.table, number // 2, number % 2)
            replace = msgspec.structs.replace
            self._pairs.append((replace(game, key=key, number=number), replace(record, key=key)))

    def forget_series(self) -> None:
        """Say nothing of series from now on."""
        self._knows_series = False

    def play_no_series(self) -> None:
        """Take the rulesets as they are, but play on no series."""
        self._plays_series = False

    def decide(self, label: str, state: State, reason: str = "") -> None:
        """Decide something about an entry."""
        self._decisions.append(StateChanged(label, state, reason))

    def miss(self, label: str) -> None:
        """Let an entry be absent: its open games wait."""
        self._absences[label] = Absence("build", "the build failed", "")

    def renew(self, label: str) -> None:
        """Let an entry play in a second version, after the games that were played."""
        self._renewed.append(label)

    def suspend(self, label: str) -> None:
        """Suspend an entry."""
        self._suspended[label] = self._others

    def tournament(self) -> Tournament:
        """Return the tournament, as a journal tells it."""
        league = JournalLeague()
        events: list[AnyEvent] = [Begun(hashlib.sha256(b"a seed").hexdigest()), *self._versions(), self._file()]
        for event in events:
            league.apply(NAME, event, 1.7e9)
        tournament = league.tournaments[NAME]
        for number in range(self._parts):
            league.games += self._others
            league.apply(NAME, create_part(tournament, self._draft(number), league.games), 1.7e9)
            if not self._planned or number < self._parts - 1:
                league.apply(NAME, PartClosed(number), 1.7e9)
        for event in (*self._decisions, *self._renewals()):
            league.apply(NAME, event, 1.7e9)
        return tournament

    def _versions(self) -> list[Version]:
        command = ("python3", "bot.py")
        return [
            Version(
                label,
                1,
                hashlib.sha256(label.encode()).hexdigest(),
                label,
                "1.0",
                "A. Author",
                "Python",
                command,
                rulesets=(),
            )
            for label in self._labels
        ]

    def _renewals(self) -> list[AnyEvent]:
        """Return what a run tells that finds new versions."""
        hashes = {label: hashlib.sha256(f"{label} again".encode()).hexdigest() for label in self._renewed}
        first = {version.label: version for version in self._versions()}
        replace = msgspec.structs.replace
        versions = [replace(first[label], number=2, hash=hash) for label, hash in hashes.items()]
        file = self._file()
        entered = tuple(replace(each, version=2) if each.label in hashes else each for each in file.entries)
        return [*versions, replace(file, entries=entered)] if versions else []

    def _file(self) -> FileRead:
        config = msgspec.structs.replace(self.config(), name=NAME, rulesets=tuple(self._rulesets))
        absences = self._absences
        entered = (FileEntry(label, 1, absences.get(label), waits=label in absences) for label in self._labels)
        return FileRead(config, tuple(map(store_ruleset, self._rulesets.values())), tuple(entered))

    def _draft(self, number: int) -> Draft:
        played = [game.key.deal + 1 for game, _ in self._pairs if game.key.part == number]
        planned = self._planned if number == self._parts - 1 else 0
        deals = max(1, self._deals, planned, *played)
        tables = (PartTable(name, tuple(VersionKey(label, 1) for label in seated)) for name, seated in self._tables)
        return Draft("round-robin" if number == 0 else f"{deals} more deals", deals, tuple(tables))

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets; without their targets once series are forgotten."""
        if self._knows_series:
            return tuple(self._rulesets.values())
        replace = msgspec.structs.replace
        return tuple(replace(each, rules=replace(each.rules, match_target=0)) for each in self._rulesets.values())

    def games(self) -> Iterator[GameSummary]:
        """Yield the games."""
        return (row for row, _ in self._pairs)

    def records(self) -> Iterator[Record]:
        """Yield the records."""
        return (record for _, record in self._pairs)

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: nobody adds games meanwhile."""
        return nullcontext()

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order."""
        records = {record.key: record for _, record in self._pairs}
        return (records[key] for key in keys)

    def config(self) -> Config:
        """Return a configuration that suspends nobody, in the format of the tournament that is followed."""
        format = self._format_input.tournament.config.format if self._format_input else "round-robin"
        return Config(entries=self._labels, format=format, suspend_after=0, series=self._plays_series)

    def follow(self, format_input: FormatInput) -> None:
        """Show the course of another tournament between the same entries."""
        self._format_input = format_input

    def read(self) -> Contents:
        """Return what a league would hold: a format sees that nothing was played, or the course that is followed."""
        tournament = self.tournament()
        format_input = self._format_input or make_format_input(tournament, [], (), self.games)
        return Contents(
            tournament=tournament,
            rulesets=self.rulesets(),
            entries=tournament.list_entries(),
            parts=tuple(tournament.parts),
            clocks=(self.config().clock,) * len(tournament.parts),
            games=list(self.games()),
            suspended=self._suspended,
            ended_by_test=False,
            tests={},
            format_input=format_input,
            table=make_table(format_input),
        )
