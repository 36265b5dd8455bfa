"""Draws tables when not every set of entries can meet, so that all sit equally often and stay comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations, cycle, islice
from math import comb

from msgspec import Struct

Table = tuple[int, ...]

SWAPS = 100_000
"""How many exchanges of two seats to try so that entries meet more evenly; all of them take half a second."""


class Spread(Struct, frozen=True):
    """How evenly a list of tables lets the entries meet."""

    fewest: int
    """Tables shared by the two entries that meet least often."""
    most: int
    groups: int
    """Sets of entries that never meet, not even through others; 1 if all can be compared."""


def draw_tables(order: Sequence[int], seats: int, tables: int) -> tuple[Table, ...]:
    """Draw `tables` tables of `seats` entries; the same order gives the same tables.

    The numbers of tables at which two entries sit differ by at most one. The tables connect all entries if that many
    tables can, and otherwise leave as few groups as possible. At tables of two, any two entries meet equally often, to
    within one table; with more seats, as nearly so as a search achieves.

    Args:
        order: the entries, shuffled.
        seats: entries at a table, at least 2 and at most all.
        tables: how many.
    """
    entries = len(order)
    if seats == 2:
        drawn: Sequence[Sequence[int]] = list(islice(cycle(list_pairs(entries)), tables))
    else:
        sets = comb(entries, seats)
        whole = chain.from_iterable(combinations(range(entries), seats) for _ in range(tables // sets))
        drawn = [*whole, *_draw_sets(entries, seats, tables % sets)]
    return tuple(tuple(order[place] for place in sorted(table)) for table in drawn)


def draw_newcomers(order: Sequence[int], newcomers: Collection[int], seats: int, share: int) -> Iterator[Table]:
    """Draw tables until every newcomer sits at as many as the others do: those it met least sit with it.

    Args:
        order: all entries, shuffled.
        newcomers: those that have no table yet.
        seats: entries at a table.
        share: how many tables each newcomer gets at least.
    """
    sat: Counter[int] = Counter()
    met: Counter[frozenset[int]] = Counter()
    place = {entry: number for number, entry in enumerate(order)}
    while short := [entry for entry in order if entry in newcomers and sat[entry] < share]:
        host = min(short, key=lambda entry: sat[entry])
        others = sorted(
            (entry for entry in order if entry != host),
            key=lambda entry: (met[frozenset((host, entry))], sat[entry], place[entry]),
        )
        table = [host, *others[: seats - 1]]
        sat.update(table)
        met.update(frozenset(pair) for pair in combinations(table, 2))
        yield tuple(sorted(table, key=lambda entry: place[entry]))


def measure_spread(tables: Sequence[Table], entries: int) -> Spread:
    """Count how often two entries meet, and in how many groups the tables leave them."""
    met = Counter(pair for table in tables for pair in combinations(sorted(table), 2))
    fewest = min(met.values()) if len(met) == comb(entries, 2) else 0
    return Spread(fewest, max(met.values(), default=0), len(set(_find_groups(tables, entries))))


def list_pairs(entries: int) -> Iterator[tuple[int, int]]:
    """List every pair once, so that each prefix seats all alike, and connects all as soon as possible."""
    return _list_pairs_of_even(entries) if entries % 2 == 0 else _list_pairs_of_odd(entries)


def _list_pairs_of_even(entries: int) -> Iterator[tuple[int, int]]:
    """List the rounds of a round-robin: one entry stays, the others rotate around it.

    Two consecutive rounds form one cycle through all entries.
    """
    last = entries - 1
    for turn in range(last):
        yield turn, last
        for step in range(1, entries // 2):
            yield (turn - step) % last, (turn + step) % last


def _list_pairs_of_odd(entries: int) -> Iterator[tuple[int, int]]:
    """List cycles through all entries (Walecki's): a zigzag across a circle and back over the entry at its centre.

    Each cycle lists every other pair first, then the two pairs of the entry left over, then the rest.
    """
    around = entries - 1
    for turn in range(around // 2):
        zigzag = [(turn + (step + 1) // 2 * (-1) ** step) % around for step in range(around)]
        ring = [*zigzag, around]
        pairs = list(zip(ring, [*ring[1:], ring[0]], strict=True))
        yield from (*pairs[0:-1:2], pairs[-2], *pairs[1:-2:2], pairs[-1])


def _draw_sets(entries: int, seats: int, tables: int) -> list[list[int]]:
    """Fill table after table, then exchange seats until the meetings are even."""
    met = [[0] * entries for _ in range(entries)]
    sat = [0] * entries
    group = list(range(entries))
    joining, drawn = [], []
    for _ in range(tables):
        table = _fill_table(seats, sat, met, group)
        for entry in table:
            sat[entry] += 1
        for one, other in combinations(table, 2):
            met[one][other] = met[other][one] = met[one][other] + 1
        joined = {group[entry] for entry in table}
        if len(joined) > 1:
            group = [min(joined) if each in joined else each for each in group]
            joining.append(table)
        else:
            drawn.append(table)
    filled = drawn + joining
    _even_out(filled, len(drawn), met)
    return filled[len(drawn) :] + filled[: len(drawn)]


def _fill_table(seats: int, sat: Sequence[int], met: Sequence[Sequence[int]], group: Sequence[int]) -> list[int]:
    """Seat the entries that sat least; among equals, those that met the others least, then those that join groups."""
    table: list[int] = []
    cost = [0] * len(sat)
    while len(table) < seats:
        here = {group[entry] for entry in table}
        least = min(count for entry, count in enumerate(sat) if entry not in table)
        free = (entry for entry, count in enumerate(sat) if count == least and entry not in table)
        table.append(min(free, key=lambda entry: (cost[entry], group[entry] in here)))
        cost = [before + more for before, more in zip(cost, met[table[-1]], strict=True)]
    return table


def _even_out(tables: list[list[int]], free: int, met: list[list[int]]) -> None:
    """Exchange two entries of two tables while this lowers the sum of the squares of the meetings.

    The tables from number `free` on connect the groups: an exchange with them must not split any.
    """
    groups = len(set(_find_groups(tables, len(met))))
    ideal = -(-sum(map(sum, met)) // (2 * comb(len(met), 2)))
    left = SWAPS
    better = True
    while better:
        better = False
        for here, seat in _list_crowded_seats(tables, met, ideal):
            for there, other in _list_seats(tables):
                left -= 1
                if left < 0:
                    return
                if _compute_gain(tables[here], seat, tables[there], other, met) <= 0:
                    continue
                _exchange(tables[here], seat, tables[there], other, met)
                if max(here, there) < free or len(set(_find_groups(tables, len(met)))) == groups:
                    better = True
                    break
                _exchange(tables[here], seat, tables[there], other, met)


def _list_seats(tables: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    return ((number, seat) for number, table in enumerate(tables) for seat in range(len(table)))


def _list_crowded_seats(
    tables: Sequence[Sequence[int]], met: Sequence[Sequence[int]], ideal: int
) -> Iterator[tuple[int, int]]:
    """List the seats of entries that meet another too often at that table; tables may change meanwhile."""
    for number, seat in _list_seats(tables):
        if any(met[tables[number][seat]][other] > ideal for other in tables[number]):
            yield number, seat


def _compute_gain(
    here: Sequence[int], seat: int, there: Sequence[int], other: int, met: Sequence[Sequence[int]]
) -> int:
    """By how much an exchange lowers half the sum of squares; 0 or less if it is impossible."""
    mine, yours = here[seat], there[other]
    if mine in there or yours in here:
        return 0
    ahead, behind = met[mine], met[yours]
    gain = sum(ahead[each] - behind[each] - 1 for each in here if each != mine and each not in there)
    return gain + sum(behind[each] - ahead[each] - 1 for each in there if each != yours and each not in here)


def _exchange(here: list[int], seat: int, there: list[int], other: int, met: list[list[int]]) -> None:
    mine, yours = here[seat], there[other]
    for table, leaves, enters in ((here, mine, yours), (there, yours, mine)):
        for each in table:
            if each != leaves:
                met[each][leaves] = met[leaves][each] = met[each][leaves] - 1
                met[each][enters] = met[enters][each] = met[each][enters] + 1
    here[seat], there[other] = yours, mine


def _find_groups(tables: Sequence[Sequence[int]], entries: int) -> list[int]:
    """For each entry, the first entry that it meets, directly or through others."""
    first = list(range(entries))

    def find(entry: int) -> int:
        while first[entry] != entry:
            first[entry] = first[first[entry]]
            entry = first[entry]
        return entry

    for table in tables:
        for entry in table[1:]:
            one, other = sorted((find(table[0]), find(entry)))
            first[other] = one
    return [find(entry) for entry in range(entries)]
