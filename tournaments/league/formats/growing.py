"""Formats without rounds: round-robin, gauntlet, comparison. Tables that are missing become a part at once.

The first part holds all tables of the schedule. Later ones hold the tables of a newcomer or of a new version, more
deals, and what a reinstated entry missed. When all parts are closed, tables with open series get blocks of deals until
every series is decided.

With the same cards at every table, which is the default of a gauntlet, chance is the same for all challengers.

With further entries, the two bots of a comparison meet only these, on the same cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.tournaments.league import series
from malice.tournaments.league.config import Config, find_seats
from malice.tournaments.league.formats import Format
from malice.tournaments.league.formats.decisions import Decision, Done, FormatInput, Place, Wait
from malice.tournaments.league.formats.draw import draw_newcomers, draw_tables, list_pairs
from malice.tournaments.league.parts import Draft, PartTable, VersionKey, draw_order, list_chain

BLOCK_DEALS = 5
"""Deals in a block for tables with open series."""
SERIES_BLOCKS = 40
"""Blocks of deals after which a series without a winner stays open."""

Meeting = tuple[str, tuple[VersionKey, ...]]
"""A ruleset and the versions that meet under it, in the order of the file."""
Meets = Callable[[tuple[VersionKey, ...]], bool]


def decide_growing(format_input: FormatInput, meets: Meets) -> Decision:
    """Decide the next part.

    Args:
        format_input: what the decision is based on.
        meets: says whether entries meet at a table.

    Raises:
        DataError: a ruleset needs more seats than there are entries, or does not allow them.
    """
    missing = _list_missing(format_input, meets)
    if missing:
        # Tables that lack the same number of deals form one part; the next decision is about the others.
        deals = max(deals for _, deals in missing)
        tables = tuple(table for table, lacking in missing if lacking == deals)
        return _draft(format_input, _describe(format_input, tables, deals), deals, tables)
    if not format_input.tournament.complete:
        return Wait()
    return _draft_block(format_input) or Done()


class Chain:
    """The tables, in all parts, at which the same versions meet under one ruleset; each continues the one before."""

    def __init__(self, first: Place) -> None:
        self.first = first
        self.last = first
        self.deals = 0
        """Deals of the schedule: played ones in closed parts, planned ones in open parts."""
        self.blocks = 0


def _list_missing(format_input: FormatInput, meets: Meets) -> list[tuple[PartTable, int]]:
    """List the tables that lack deals, in playing order, each with how many."""
    tournament, missing = format_input.tournament, []
    for meeting, chain in _list_meetings(format_input, _find_chains(format_input)):
        ruleset, versions = meeting
        if not meets(versions):
            continue
        lacking = tournament.config.deals - (chain.deals if chain else 0)
        if lacking > 0:
            missing.append((PartTable(ruleset, versions, chain.last if chain else None), lacking))
    return missing


def _find_chains(format_input: FormatInput) -> list[Chain]:
    """The chains of all parts, in the order of their first tables."""
    tournament = format_input.tournament
    played = format_input.counted_games.count_deals(tournament.closed)
    chains: dict[Place, Chain] = {}
    for part in tournament.parts:
        for number, table in enumerate(part.tables):
            place = (part.number, number)
            chain = chains.pop(table.after) if table.after else Chain(place)
            chain.last = place
            chain.blocks += part.block
            if not part.block:
                chain.deals += played[place] if part.number in tournament.closed else part.deals
            chains[place] = chain
    return sorted(chains.values(), key=lambda chain: chain.first)


def _list_meetings(format_input: FormatInput, chains: Sequence[Chain]) -> Iterator[tuple[Meeting, Chain | None]]:
    """Yield every table that should be played, in playing order, with what was played there so far."""
    tournament = format_input.tournament
    playing = list_playing(format_input)
    for ruleset in tournament.rulesets.values():
        mine = [(tournament.parts[chain.first[0]].tables[chain.first[1]], chain) for chain in chains]
        known = [(table.versions, chain) for table, chain in mine if table.ruleset == ruleset.name]
        if tournament.config.tables:
            found = _draw_meetings(format_input, ruleset.name, known, playing)
        else:
            found = _list_sets(find_seats(tournament.config, ruleset), known, playing)
        yield from (((ruleset.name, versions), chain) for versions, chain in found)


def list_playing(format_input: FormatInput) -> list[VersionKey]:
    """List the versions that get games, in the order of the file."""
    tournament = format_input.tournament
    versions = (VersionKey(each.label, each.version) for each in tournament.file_entries if each.version)
    return [each for each in versions if not tournament.excuses(each) and each.label not in format_input.suspended]


Known = Sequence[tuple[tuple[VersionKey, ...], Chain]]
Found = Iterator[tuple[tuple[VersionKey, ...], Chain | None]]


def _list_sets(seats: int, known: Known, playing: Sequence[VersionKey]) -> Found:
    """Yield every set of entries, pairs round by round, so that every prefix seats all alike."""
    chains = {frozenset(versions): (versions, chain) for versions, chain in known}
    places = list_pairs(len(playing)) if seats == 2 else combinations(range(len(playing)), seats)
    for each in places:
        versions = tuple(playing[place] for place in sorted(each))
        yield chains.get(frozenset(versions), (versions, None))


def _draw_meetings(format_input: FormatInput, ruleset: str, known: Known, playing: Sequence[VersionKey]) -> Found:
    """Yield the tables that were drawn, and those that are drawn for newcomers."""
    tournament = format_input.tournament
    config, seats = tournament.config, find_seats(tournament.config, tournament.rulesets[ruleset])
    order = draw_order(tournament.secret, ruleset, [tournament.call(version.label) for version in playing])
    if not known:
        for table in draw_tables(order, seats, config.tables):
            yield tuple(playing[place] for place in table), None
        return
    here = set(playing)
    yield from (each for each in known if here.issuperset(each[0]))
    sat = Counter(version for versions, _ in known for version in versions)
    newcomers = {place for place in order if not sat[playing[place]]}
    for table in draw_newcomers(order, newcomers, seats, max(sat.values())):
        yield tuple(playing[place] for place in table), None


def _describe(format_input: FormatInput, tables: Sequence[PartTable], deals: int) -> str:
    """The title of a part: the whole round-robin, who is new, or how many more deals."""
    tournament = format_input.tournament
    if not tournament.parts:
        return tournament.config.format
    seated = {version for part in tournament.parts for table in part.tables for version in table.versions}
    new = {version for table in tables for version in table.versions} - seated
    if new:
        named = sorted((tournament.call(each.label), each.number) for each in new)
        names = [label if number == 1 else f"{label}, version {number}" for label, number in named]
        return f"adds {'; '.join(names)}"
    rulesets = {table.ruleset for part in tournament.parts for table in part.tables}
    if added := sorted({table.ruleset for table in tables} - rulesets):
        return f"adds {', '.join(added)}"
    return f"{format_count(deals, 'more deal')} at {format_count(len(tables), 'table')}"


def _draft_block(format_input: FormatInput) -> Draft | None:
    """Draft the next block of deals for tables with open series; None if all are decided or had `SERIES_BLOCKS`."""
    tournament = format_input.tournament
    targets = {name: ruleset.match.target for name, ruleset in tournament.rulesets.items()}
    if not tournament.config.series or not any(targets.values()):
        return None
    undecided = series.list_undecided(format_input.list_games(), targets, tournament.parts)
    opened = {list_chain(tournament.parts, game.key.part, game.key.table)[0] for game, _ in undecided}
    playing = set(list_playing(format_input))
    tables, blocks = [], 0
    for chain in _find_chains(format_input):
        table = tournament.parts[chain.first[0]].tables[chain.first[1]]
        if chain.first in opened and chain.blocks < SERIES_BLOCKS and playing.issuperset(table.versions):
            tables.append(PartTable(table.ruleset, table.versions, chain.last))
            blocks = max(blocks, chain.blocks + 1)
    title = f"block {blocks} of deals for open series"
    return _draft(format_input, title, BLOCK_DEALS, tables, block=True) if tables else None


def _draft(
    format_input: FormatInput, title: str, deals: int, tables: Sequence[PartTable], *, block: bool = False
) -> Draft:
    return Draft(title, deals, tuple(tables), block, format_input.tournament.config.common_deals)


def decide_round_robin(format_input: FormatInput) -> Decision:
    """Decide the next part; raise DataError if a ruleset does not allow as many seats as there are."""
    return decide_growing(format_input, lambda versions: True)


def decide_gauntlet(format_input: FormatInput) -> Decision:
    config = format_input.tournament.config
    labels = [entry.label for entry in format_input.tournament.file_entries]
    challengers = find_challengers(config, labels)
    return decide_growing(format_input, lambda versions: sum(each.label in challengers for each in versions) == 1)


def find_challengers(config: Config, labels: Sequence[str]) -> frozenset[str]:
    """The labels of the challengers: those that the file lists, or all but the opponents that it lists."""
    return frozenset(config.challengers or (label for label in labels if label not in config.opponents))


def _refuse_gauntlet(config: Config, labels: Sequence[str]) -> None:
    if bool(config.challengers) == bool(config.opponents):
        raise DataError(where='format = "gauntlet"', expected="challengers = [...] or opponents = [...], and not both")
    field = "challengers" if config.challengers else "opponents"
    listed = config.challengers or config.opponents
    if unknown := [label for label in listed if label not in labels]:
        raise DataError(f"{field}: no entry {unknown[0]!r}; entries: {', '.join(labels)}")
    if len(set(listed)) == len(labels):
        raise DataError(where=field, expected="some of the entries", got="all of them")


def decide_comparison(format_input: FormatInput) -> Decision:
    """Decide the part, once.

    Raises:
        DataError: the tournament began with other bots, rulesets or deals.
    """
    tournament = format_input.tournament
    if any(not entry.version for entry in tournament.file_entries):
        return Wait()
    draft = Draft("comparison", tournament.config.deals, tuple(_list_tables(format_input)), common_deals=True)
    if not tournament.parts:
        return draft
    part = tournament.parts[0]
    if (part.deals, part.tables) != (draft.deals, draft.tables):
        raise DataError("a comparison keeps its bots, rulesets and deals: give the new one another name")
    return Done() if tournament.complete else Wait()


def _list_tables(format_input: FormatInput) -> Iterator[PartTable]:
    new, base, *others = (VersionKey(each.label, each.version) for each in format_input.tournament.file_entries)
    for ruleset in format_input.tournament.rulesets:
        if not others:
            yield PartTable(ruleset, (new, base))
        for other in others:
            yield PartTable(ruleset, (new, other))
            yield PartTable(ruleset, (base, other))


def _check_comparison(config: Config, where: str) -> None:
    if config.suspend_after:
        raise DataError(where=f"{where}: suspend_after", expected="0, since a comparison counts every game")
    if config.tables:
        raise DataError(where=f"{where}: tables", expected="none, since a comparison draws no tables")
    if config.sprt is not None:
        others = len(config.entries) - 2
        try:
            config.sprt.require(len(config.rulesets) * (others if others > 0 else 2))
        except ValueError as error:
            raise DataError(f"{where}: sprt.{error}") from None


ROUND_ROBIN = Format(decide_round_robin, fields=("tables",), pairs=False)
GAUNTLET = Format(
    decide_gauntlet,
    fields=("challengers", "opponents"),
    defaults={"common_deals": True},
    refuse=_refuse_gauntlet,
)
COMPARISON = Format(
    decide_comparison,
    fields=("sprt",),
    defaults={"suspend_after": 0},
    check=_check_comparison,
    takes_late_entries=False,
    compares=True,
)
