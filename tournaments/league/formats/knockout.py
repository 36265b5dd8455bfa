"""The knockout: whoever loses a match is out. The order of the file seeds it, or the ratings do.

A round is a part; drawn matches play off, each play-off being a part of its own, over five deals at least: after one
deal equal bots are as often level as not. After the third drawn play-off the higher seed advances. The last round has
the final and the match for third place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from malice.tournaments.league.contents import TablePlace
from malice.tournaments.league.formats import Format
from malice.tournaments.league.formats.decisions import (
    MATCH_DEALS,
    Decision,
    Done,
    FormatInput,
    Match,
    Wait,
    list_matches,
)
from malice.tournaments.league.formats.growing import list_playing
from malice.tournaments.league.parts import Draft, Part, PartTable, VersionKey

PLAY_OFFS = 3
"""Play-offs of a drawn match, before the higher seed advances."""
PLAY_OFF_DEALS = 5
"""Fewest deals of a play-off."""


class Tie(Struct, frozen=True):
    """A place in the bracket where two entries meet, or one has no opponent."""

    labels: tuple[str, ...]
    """The higher seed first."""
    matches: tuple[Match, ...]
    """The match and its play-offs, as far as they are over."""
    winner: str | None
    """None while it is open; or if both were absent or suspended."""
    loser: str | None
    over: bool
    barred: bool = False
    """Whether it ended without a match, since a side was suspended."""


class Round(Struct, frozen=True):
    """A round of the bracket."""

    title: str
    ties: tuple[Tie, ...]
    """In the order of the bracket; in the last round the final, and then the match for third place."""


FINAL = "final and third place"
"""The title of the last round."""


class _Course:
    """Walks through the parts of a tournament in the order of the bracket; the first that is missing is drafted."""

    def __init__(self, format_input: FormatInput) -> None:
        self.tournament = format_input.tournament
        self.matches = list_matches(format_input)
        self.parts = list(self.tournament.parts)
        self.suspended = format_input.suspended
        self.draft: Draft | None = None
        self.seeds = list_seeds(format_input)

    def seed(self, label: str) -> int:
        return self.seeds.index(label)

    def take_part(self, title: str, deals: int, tables: Sequence[PartTable], byes: Sequence[str]) -> Part | None:
        """The part that holds these tables; None if it is not over yet, or missing: then draft it."""
        if self.parts:
            part = self.parts.pop(0)
            return part if part.number in self.tournament.closed else None
        if self.draft is None:
            self.draft = Draft(
                title,
                deals,
                tuple(tables),
                common_deals=self.tournament.config.common_deals,
                byes=tuple(self.find_version(label) for label in byes),
            )
        return None

    def find_barred(self) -> Collection[str]:
        """Who is suspended when the next part is created, and so loses its tie without a match."""
        return self.tournament.barred[self.parts[0].number] if self.parts else self.suspended

    def find_version(self, label: str) -> VersionKey:
        return VersionKey(label, self.tournament.current()[label])

    def make_table(self, labels: Sequence[str]) -> PartTable:
        (ruleset,) = self.tournament.rulesets
        return PartTable(ruleset, tuple(map(self.find_version, labels)))


def decide_knockout(format_input: FormatInput) -> Decision:
    """Decide the next round, or the next play-offs."""
    if format_input.tournament.open_parts:
        return Wait()
    course = _Course(format_input)
    if len(course.seeds) < 2:
        return Done()
    for _ in _play_rounds(course):
        if course.draft:
            return course.draft
    return Done()


def draw_bracket(format_input: FormatInput) -> list[Round]:
    """The rounds so far; the last one may have open ties."""
    course = _Course(format_input)
    return list(_play_rounds(course)) if len(course.seeds) > 1 else []


def list_seeds(format_input: FormatInput) -> list[str]:
    """The labels in the bracket, the best first: those that could play when it began.

    The order is that of the ratings then, or else of the file.
    """
    tournament = format_input.tournament
    order = tournament.seeding or tuple(entry.label for entry in tournament.file_entries)
    labels = _list_first(tournament.parts[0]) if tournament.parts else list_playing(format_input)
    playing = {version.label for version in labels}
    return [label for label in order if label in playing]


def _list_first(part: Part) -> list[VersionKey]:
    return [*(version for table in part.tables for version in table.versions), *part.byes]


def rank_knockout(format_input: FormatInput) -> list[tuple[str, int]]:
    """Rank every entry of the bracket, the best first; those who are still in share the first place.

    The last round gives the first four places, and of a match that nobody won the lower one to both; those who
    lost in the same round share a place.
    """
    rounds = draw_bracket(format_input)
    beaten = {label for each in rounds for tie in each.ties for label in _list_beaten(tie)}
    last = rounds[-1] if rounds and rounds[-1].title == FINAL else None
    won = last.ties[0].winner if last else None
    ranked = [(label, 1) for label in list_seeds(format_input) if rounds and label not in beaten | {won}]
    for each in reversed(rounds):
        if each is last:
            for lower, tie in zip((2, 4), each.ties, strict=False):
                sides = sorted(tie.labels, key=lambda label: label != tie.winner) if tie.over else ()
                ranked += [(label, lower - (label == tie.winner)) for label in sides]
        else:
            known = {label for label, _ in ranked}
            next_place = 1 + max([len(ranked), *(place for _, place in ranked)])
            ranked += [(label, next_place) for tie in each.ties for label in _list_beaten(tie) if label not in known]
    return ranked


def _list_beaten(tie: Tie) -> list[str]:
    """Who is out by a tie: the loser, or both if nobody won."""
    return [label for label in tie.labels if label != tie.winner] if tie.over else []


def list_slots(seeds: int) -> list[int]:
    """The seeds, from 0, in the order of the bracket, so that the best meet last; some may be missing."""
    slots = [0]
    while len(slots) < seeds:
        slots = [each for slot in slots for each in (slot, 2 * len(slots) - 1 - slot)]
    return slots


def _play_rounds(course: _Course) -> Iterator[Round]:
    slots = [course.seeds[slot] if slot < len(course.seeds) else None for slot in list_slots(len(course.seeds))]
    losers: list[str | None] = []
    while len(slots) > 1:
        pairs = list(zip(slots[::2], slots[1::2], strict=True))
        if len(slots) == 2 and losers:
            pairs.append((losers[0], losers[1]))
        played = _play_round(course, _name_round(len(slots)), pairs)
        yield played
        if not all(tie.over for tie in played.ties):
            return
        main = played.ties[: len(slots) // 2]
        slots, losers = [tie.winner for tie in main], [tie.loser for tie in main]


def _name_round(slots: int) -> str:
    names = {2: FINAL, 4: "semi-finals", 8: "quarter-finals"}
    return names.get(slots, f"round of {slots}")


def _play_round(course: _Course, title: str, pairs: Sequence[tuple[str | None, str | None]]) -> Round:
    ties = [_open_tie(course, pair) for pair in pairs]
    for play_off in range(PLAY_OFFS + 1):
        barred = course.find_barred()
        ties = [tie if tie.over else _bar(tie, barred) for tie in ties]
        opened = [number for number, tie in enumerate(ties) if not tie.over]
        if not opened:
            break
        tables = [course.make_table(ties[number].labels) for number in opened]
        byes = [tie.labels[0] for tie in ties if len(tie.labels) == 1 and not play_off]
        deals = course.tournament.config.deals
        if play_off:
            part = course.take_part(f"{title}, play-off {play_off}", max(deals, PLAY_OFF_DEALS), tables, byes)
        else:
            part = course.take_part(title, deals, tables, byes)
        if part is None:
            break
        for table, number in enumerate(opened):
            ties[number] = _note_match(ties[number], course.matches[part.number, table], last=play_off == PLAY_OFFS)
    return Round(title, tuple(ties))


def _open_tie(course: _Course, pair: tuple[str | None, str | None]) -> Tie:
    labels = tuple(sorted((label for label in pair if label is not None), key=course.seed))
    over = len(labels) < 2
    return Tie(labels, (), labels[0] if over and labels else None, None, over)


def _bar(tie: Tie, barred: Collection[str]) -> Tie:
    """A tie that is over if one of its sides is suspended: the other wins it, or nobody."""
    here = [label for label in tie.labels if label not in barred]
    if len(here) == len(tie.labels):
        return tie
    winner = here[0] if here else None
    loser = next((label for label in tie.labels if label != winner), None) if winner else None
    return Tie(tie.labels, tie.matches, winner, loser, over=True, barred=True)


def _note_match(tie: Tie, match: Match, *, last: bool) -> Tie:
    """A tie after another match: it is over if somebody won, both were absent, or it was the last play-off."""
    matches = (*tie.matches, match)
    if not any(match.points):
        return Tie(tie.labels, matches, None, None, over=True)
    winner = match.winner or (tie.labels[0] if last else None)
    loser = next((label for label in tie.labels if label != winner), None) if winner else None
    return Tie(tie.labels, matches, winner, loser, over=winner is not None)


KNOCKOUT = Format(
    decide_knockout,
    fields=("seeding",),
    defaults={"deals": MATCH_DEALS},
    grows=False,
    takes_late_entries=False,
    revision=2,
    rank=lambda format_input: tuple(TablePlace(label, place) for label, place in rank_knockout(format_input)),
    bracket=draw_bracket,
    order="that of the bracket",
    order_title="By the bracket",
    absent="loses its next match unless it is mended before",
    absent_page="loses its next match unless it is mended before",
)
