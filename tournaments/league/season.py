"""A season: all tournaments of a league together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as alter

from msgspec.structs import replace

from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import Contents, Entry, GameSummary
from malice.tournaments.league.reader import LeagueReader


def read_season(league: LeagueReader) -> Contents:
    """Read the entries and games of all tournaments; their parts are counted through, unlike inside.

    An entry has the version and the state of the newest tournament in which it takes part. The games of an entry that
    one tournament disqualified count in the others. Where tournaments have different rules under one name, they
    are different games: the newest keeps the name, the others are named after a tournament, too. There is no table:
    only ratings compare tournaments.
    """
    found = [league.view(name).read() for name in league.league().tournaments]
    rulesets, renamed = _name_rulesets(found)
    parts = (part for each in found for part in each.parts)
    return alter(
        found[-1],
        rulesets=tuple(rulesets.values()),
        entries=tuple(_list_entries(found)),
        parts=tuple(replace(part, number=number) for number, part in enumerate(parts)),
        clocks=tuple(clock for each in found for clock in each.clocks),
        games=list(_list_games(found, renamed)),
        live=any(each.live for each in found),
        ended_by_test=any(each.ended_by_test for each in found),
        tests={},
        table=(),
    )


def _name_rulesets(found: Sequence[Contents]) -> tuple[dict[str, Ruleset], list[dict[str, str]]]:
    """Name the rulesets in the season, and by tournament, by the names that they have there."""
    rulesets: dict[str, Ruleset] = {}
    renamed: list[dict[str, str]] = []
    for each in reversed(found):
        renamed.insert(0, {known.name: _name(known, each.tournament.name, rulesets) for known in each.rulesets})
    return rulesets, renamed


def _name(ruleset: Ruleset, tournament: str, rulesets: dict[str, Ruleset]) -> str:
    """Find or make the name of a ruleset in the season, given the newest tournaments first."""
    later = f"{ruleset.name} of "
    for known, each in rulesets.items():
        same = (ruleset.family, ruleset.rules) == (each.family, each.rules)
        if same and (known == ruleset.name or known.startswith(later)):
            return known
    name = f"{later}{tournament}" if ruleset.name in rulesets else ruleset.name
    rulesets[name] = replace(ruleset, name=name)
    return name


def _list_entries(found: Sequence[Contents]) -> Iterator[Entry]:
    """Yield the entries, each in the order of the first tournament in which it took part."""
    entries: dict[str, Entry] = {}
    for each in found:
        # A tournament in which no version could be started says nothing about the others.
        entries |= {entry.label: entry for entry in each.entries if entry.version.number or entry.label not in entries}
    for entry in entries.values():
        yield replace(entry, state="playing") if entry.state == "disqualified" else entry


def _list_games(found: Sequence[Contents], renamed: Sequence[Mapping[str, str]]) -> Iterator[GameSummary]:
    before = 0
    for each, names in zip(found, renamed, strict=True):
        out = {entry.label for entry in each.entries if entry.state == "disqualified"}
        for game in each.games:
            if out.isdisjoint(game.labels):
                key = replace(game.key, part=before + game.key.part)
                yield replace(game, key=key, ruleset=names[game.ruleset])
        before += len(each.parts)
