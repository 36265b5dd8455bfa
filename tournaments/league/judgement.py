"""Which of the finished games count, and which entries are suspended: a pure function of journal and games."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from msgspec import Struct

from malice.tournaments.league.contents import Finished
from malice.tournaments.league.contest import SequentialTest, make_sequential_test
from malice.tournaments.league.suspension import find_suspended, is_left_out
from malice.tournaments.league.tournament import Tournament


class CountedGames(Struct, frozen=True):
    """What the finished games of a tournament amount to."""

    counted: tuple[Finished, ...]
    """In playing order."""
    left_out: frozenset[int]
    """The numbers of the games that do not count: one of their entries was suspended before them, or a test ended."""
    by_part: dict[int, dict[str, int]]
    """By part: the entries that it suspended, each with the number of the game that did."""
    contests: dict[int, SequentialTest]
    """By part, the contests of a comparison."""
    suspended: dict[str, int]
    """The entries that are suspended now, each with the number of the game that suspended it."""

    def count_deals(self, parts: Iterable[int]) -> Counter[tuple[int, int]]:
        """Return by part and table how many deals are complete, and count."""
        wanted = frozenset(parts)
        played: Counter[tuple[int, int, int]] = Counter()
        for game in self.counted:
            if game.key.part in wanted:
                played[game.key.part, game.key.table, game.key.deal] += 1
        rotations = {(game.key.part, game.key.table): game.rotations for game in self.counted}
        return Counter((part, table) for (part, table, _), count in played.items() if count == rotations[part, table])


def find_counted_games(tournament: Tournament, finished: Iterable[Finished]) -> CountedGames:
    """Return what the finished games of a tournament amount to.

    Args:
        tournament: its parts, and the suspensions that were lifted.
        finished: its games in playing order.
    """
    games: dict[int, list[Finished]] = defaultdict(list)
    for game in finished:
        games[game.key.part].append(game)
    after = tournament.config.suspend_after
    by_part = {part: find_suspended(played, after, tournament.lifted) for part, played in games.items()}
    counted: list[Finished] = []
    contests: dict[int, SequentialTest] = {}
    for part, played in sorted(games.items()):
        mine = played
        if by_part[part]:
            mine = [game for game in played if not is_left_out(game.number, game.labels, by_part[part])]
        if contest := make_sequential_test(tournament, part, mine):
            contests[part] = contest
            mine = [game for game in mine if not contest.leaves_out(game.key.deal)]
        counted += mine
    return CountedGames(
        tuple(counted),
        _find_left_out(games.values(), counted),
        by_part,
        contests,
        _find_suspended_now(tournament, by_part),
    )


def _find_left_out(games: Collection[Collection[Finished]], counted: Collection[Finished]) -> frozenset[int]:
    if sum(map(len, games)) == len(counted):
        return frozenset()
    kept = {game.number for game in counted}
    return frozenset(game.number for played in games for game in played if game.number not in kept)


def _find_suspended_now(tournament: Tournament, by_part: dict[int, dict[str, int]]) -> dict[str, int]:
    """Return the entries whose playing version is suspended, and was not readmitted."""
    current = tournament.current()
    found: dict[str, int] = {}
    for part, suspended in by_part.items():
        played = {entrant for table in tournament.parts[part].tables for entrant in table.entrants} if suspended else ()
        versions = {entrant.label: entrant.version for entrant in played}
        for label, number in suspended.items():
            if versions[label] == current.get(label) and (label, number) not in tournament.readmissions:
                found[label] = number
    return found
