"""What people have reached, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.families import load_family
from malice.referee.nouns import format_count
from malice.referee.rulesets import load_ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import find_daily_deals
from malice.tournaments.league.journal import YOU
from malice.tournaments.league.people import CareerRow, PeopleList, read_careers
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.daily import Shelf, describe_shares
from malice.tournaments.terminal.tables import format_number, format_table

HEAD = ("who", "game", "against", "games", "won", "drawn", "lost", "in a row", "longest", "best score")
DAILY = "the daily deal"


def find_shelf(league: Path, label: str = YOU) -> Shelf:
    """The daily deals of somebody who plays in a league of people."""
    return Shelf(find_daily_deals(league) / label)


def list_people(league: LeagueReader) -> list[CareerRow]:
    """What everybody has reached in a league of people, in games and in daily deals, by name as far as it is known.

    Raises:
        DamagedLeague, DataError: what is kept cannot be read.
        LeagueError: the list of names is damaged, or nobody has played.
    """
    names = PeopleList(league.path).names
    games = read_careers(league)
    found = [*games, *_list_daily_deals(league.path)]
    if not found:
        raise LeagueError(f"{league.path}: nobody has finished a game")
    return sorted(
        (_show_names(each, names) for each in found), key=lambda each: (each.label, each.ruleset, each.against)
    )


def _list_daily_deals(league: Path) -> Iterator[CareerRow]:
    for folder in find_daily_deals(league).glob("*"):
        for ruleset, career in Shelf(folder).read_careers().items():
            yield CareerRow(folder.name, _find_family(ruleset), ruleset, (), career)


def _find_family(ruleset: str) -> str:
    """The family of a ruleset; nothing if it came from a file, which nobody kept."""
    try:
        return load_ruleset(ruleset).family
    except RulesetError:
        return ""


def _show_names(row: CareerRow, names: Mapping[str, str]) -> CareerRow:
    against = tuple(names.get(label, label) for label in row.against)
    return replace(row, label=names.get(row.label, row.label), against=against)


def format_people(rows: Sequence[CareerRow]) -> Iterator[str]:
    """Yield a table of what people have reached, and below it the best values of what their games count."""
    lines = [
        (
            sanitize(each.label),
            sanitize(each.ruleset),
            _name_others(each),
            *(str(figure) for figure in _list_figures(each)),
            format_number(career.best, 0),
        )
        for each in rows
        for career in [each.career]
    ]
    yield from format_table(HEAD, lines, left=(0, 1, 2))
    for each in rows:
        if words := "; ".join(_describe_values(each)):
            yield f"{sanitize(each.label)}, {sanitize(each.ruleset)}, {_name_others(each)}: {words}"


def _name_others(row: CareerRow) -> str:
    return ", ".join(map(sanitize, row.against)) or DAILY


def _list_figures(row: CareerRow) -> tuple[int, ...]:
    career = row.career
    lost = career.played - career.won - career.drawn
    return career.played, career.won, career.drawn, lost, career.streak, career.longest


def _describe_values(row: CareerRow) -> Iterator[str]:
    statistics, career = load_family(row.family).statistics if row.family else (), row.career
    yield from describe_shares(statistics, career, "game" if row.against else "daily deal")
    for each in statistics:
        if each.name in career.values:
            yield f"{each.caption}: {career.values[each.name]:,}"


def describe_career(row: CareerRow) -> str:
    """What somebody has reached against the same others, in one sentence."""
    played, won, drawn, _, streak, longest = _list_figures(row)
    words = [f"{won} of {format_count(played, 'game')} won"]
    words += [f"{drawn} drawn"] if drawn else []
    words += [f"{streak} in a row"] if streak > 1 else []
    words += [f"{longest} in a row at best"] if longest > max(1, streak) else []
    words += _describe_values(row)
    return f"{sanitize(row.ruleset)} against {_name_others(row)}: {', '.join(words)}."


def encode_people(rows: Sequence[CareerRow]) -> bytes:
    """Encode what people have reached as JSON; every career has all of its fields."""
    return msgspec.json.encode([_spell_out(each) for each in rows])


def _spell_out(row: CareerRow) -> dict[str, Any]:
    career = {name: getattr(row.career, name) for name in row.career.__struct_fields__}
    return {"who": row.label, "ruleset": row.ruleset, "against": row.against, **career}
