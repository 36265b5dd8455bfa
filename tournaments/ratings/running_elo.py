"""The running Elo: one curve per player for the history plot.

It depends on the order of the games, so it is never the ranking: that is the joint fit in `fit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from malice.tournaments.ratings.rated_games import RatedGame, RatedGames, gather

try:
    from elo import Elo
except ImportError:
    from malice.tournaments.ratings._elo import Elo

Point = tuple[int, float]


def compute_history(
    games: Sequence[RatedGame] | RatedGames,
    players: int,
    *,
    k: float = 16.0,
    initial: float = 1500.0,
    at_most: int | None = None,
) -> list[list[Point]]:
    """For each player, the points (number of the game in the schedule, rating after it).

    Games are in the order of the schedule and count from 1; every curve begins with (0, initial). A game of n
    teams is n(n-1)/2 pairings with k/(n-1), all against the ratings before the game. A team of partners plays
    with the mean of its members' ratings, and each member gets the team's gain in full. With `at_most`, the
    points of each player are thinned as `thin_points` does.
    """
    found, elo = gather(games), Elo(k)
    ratings = [float(initial)] * players
    curves: list[list[Point]] = [[(0, ratings[player])] for player in range(players)]
    duels = [_find_duel(*outcome) for outcome in found.outcomes]
    # Few points of a large league are shown, so only those are kept.
    wanted = [
        (place for place in _choose_places(1 + count, at_most or 1 + count) if place)
        for count in _count_played(found, players)
    ]
    following = [next(places, 0) for places in wanted]
    played = [0] * players
    for number, outcome in enumerate(found.numbers, 1):
        if duel := duels[outcome]:
            gains: Iterable[tuple[int, float]] = _rate_duel(*duel, ratings, elo)
        else:
            gains = _rate_teams(*found.outcomes[outcome], ratings, k)
        for player, gain in gains:
            ratings[player] += gain
            played[player] += 1
            if played[player] == following[player]:
                curves[player].append((number, ratings[player]))
                following[player] = next(wanted[player], 0)
    return curves


def _count_played(games: RatedGames, players: int) -> list[int]:
    """By player, the number of its games."""
    played = [0] * players
    for (teams, _), count in zip(games.outcomes, games.count_outcomes(), strict=True):
        for player in {player for team in teams for player in team}:
            played[player] += count
    return played


def _find_duel(teams: Sequence[Sequence[int]], places: Sequence[int]) -> tuple[int, int, float] | None:
    """The two players who met and the score of the first, as in nearly all games of large leagues; else nothing."""
    if len(teams) == 2 and len(teams[0]) == len(teams[1]) == 1 and teams[0] != teams[1]:
        return teams[0][0], teams[1][0], _compute_score(*places)
    return None


def _rate_duel(
    one: int, other: int, score: float, ratings: Sequence[float], elo: Elo
) -> tuple[tuple[int, float], tuple[int, float]]:
    """The same as `_rate_teams`, to the last bit, in a third of the time."""
    mine, theirs = ratings[one], ratings[other]
    gain = mine + elo.k_factor * (score - elo.expect(mine, theirs)) - mine
    return (one, gain), (other, theirs + elo.k_factor * (1 - score - elo.expect(theirs, mine)) - theirs)


def _rate_teams(
    teams: Sequence[Sequence[int]], places: Sequence[int], ratings: Sequence[float], k: float
) -> Iterable[tuple[int, float]]:
    """Yield what each player gains in a game."""
    gains: dict[int, float] = {}
    for team, gain in zip(teams, _compute_gains(teams, places, ratings, k), strict=True):
        for player in set(team):
            gains[player] = gains.get(player, 0.0) + gain
    return gains.items()


def thin_points(points: Sequence[Point], at_most: int) -> list[Point]:
    """Up to `at_most` of the points, evenly spread, with the first and the last."""
    if at_most < 2:
        raise ValueError(f"expected room for 2 points or more, got: {at_most}")
    return [points[place] for place in _choose_places(len(points), at_most)]


def _choose_places(count: int, at_most: int) -> Iterable[int]:
    """Up to `at_most` of so many places, evenly spread, with the first and the last."""
    if count <= at_most:
        return range(count)
    return (step * (count - 1) // (at_most - 1) for step in range(at_most))


def _compute_gains(
    teams: Sequence[Sequence[int]], places: Sequence[int], ratings: Sequence[float], k: float
) -> list[float]:
    count = len(teams)
    if count < 2:
        return [0.0] * count
    elo = Elo(k / (count - 1))
    strengths = [sum(ratings[player] for player in team) / len(team) for team in teams]
    gains = []
    for seat, strength in enumerate(strengths):
        series = [
            (_compute_score(places[seat], places[other]), strengths[other]) for other in range(count) if other != seat
        ]
        gains.append(float(elo.rate(strength, series)) - strength)
    return gains


def _compute_score(place: int, other: int) -> float:
    return 0.5 if place == other else float(place < other)
