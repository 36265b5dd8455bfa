"""Seeds a knockout or a Swiss by rating: by what the league held when it began."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.counting import find_counted_games
from malice.tournaments.league.rating_groups import collect_groups
from malice.tournaments.league.tournament import ListGames, Tournament, Tournaments
from malice.tournaments.ratings.fit import fit_ratings


def rank_by_rating(league: Tournaments, name: str, list_games: ListGames) -> tuple[str, ...]:
    """The entries of a tournament by their rating, the best first; nothing if none of them has one.

    They are rated by one fit over the closed parts of all other tournaments of the league, as far as they played
    by the same rules with two seats. What is equal to a whole Elo, and what has no rating, is in the order of the
    file.

    Args:
        league: as its journal describes it by now.
        name: the tournament, which has one ruleset.
        list_games: returns the games of another tournament.
    """
    tournament = league.tournaments[name]
    elos = _rate_versions(_list_rated(league, tournament, list_games))
    places = {
        entry.label: elo
        for entry in tournament.file_entries
        if (elo := elos.get(_name(entry.label, entry.version))) is not None
    }
    if not places:
        return ()
    # The sort is stable, so that the order of the file decides between equals.
    labels = [entry.label for entry in tournament.file_entries]
    return tuple(sorted(labels, key=lambda label: (label not in places, -places.get(label, 0))))


def _rate_versions(games: list[tuple[GameSummary, bool]]) -> dict[str, int]:
    """The whole Elo of every version that has one.

    Args:
        games: each with whether all tables of its part have the same cards.
    """
    common = {game.key.part for game, shared in games if shared}
    names = sorted({label for game, _ in games for label in game.labels})
    groups = collect_groups((game for game, _ in games), names, common)
    if not groups:
        return {}
    ((_, group),) = groups.items()
    fit = fit_ratings(group.complete.rated, len(names))
    return {name: round(rating.elo) for name, rating in zip(names, fit.ratings, strict=True) if rating.elo is not None}


def _list_rated(league: Tournaments, tournament: Tournament, list_games: ListGames) -> list[tuple[GameSummary, bool]]:
    """The games that rate, with names of versions as labels, and with parts numbered through the league."""
    (ruleset,) = tournament.rulesets.values()
    found: list[tuple[GameSummary, bool]] = []
    first = 0
    for other in league.tournaments.values():
        names = {each.name for each in other.rulesets.values() if _plays_same(each, ruleset)}
        if other.name != tournament.name and names:
            for game in _list_counted(other, list_games):
                if game.ruleset in names and len(game.labels) == 2:
                    found.append((_rename(game, first), other.parts[game.key.part].common_deals))
        first += len(other.parts)
    return found


def _plays_same(one: Ruleset, other: Ruleset) -> bool:
    return (one.family, one.rules) == (other.family, other.rules)


def _list_counted(tournament: Tournament, list_games: ListGames) -> Iterator[GameSummary]:
    """Yield the games of closed parts that count, without those of disqualified entries."""
    games = [game for game in list_games(tournament.name) if game.key.part in tournament.closed]
    left_out = find_counted_games(tournament, (game.finish() for game in games)).left_out
    for game in games:
        gone = any(tournament.state(label).state == "disqualified" for label in game.labels)
        if game.number not in left_out and not gone:
            yield game


def _rename(game: GameSummary, first: int) -> GameSummary:
    labels = tuple(map(_name, game.labels, game.versions))
    return replace(game, labels=labels, ruleset="", key=replace(game.key, part=first + game.key.part))


def _name(label: str, version: int) -> str:
    return f"{label}@{version}"
