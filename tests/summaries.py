"""Summaries of games of which only the results matter."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.league.contents import GameSummary


def played(
    key: tuple[int, int, int, int],
    labels: tuple[str, ...],
    places: tuple[int, ...],
    *,
    reason: str = "payoff_empty",
    verdicts: tuple[str, ...] = ("", ""),
    teams: tuple[int, ...] = (0, 1),
    ruleset: str = "standard",
) -> GameSummary:
    seats = len(labels)
    return GameSummary(
        key=Key(*key),
        number=0,
        ruleset=ruleset,
        labels=labels,
        versions=(1,) * seats,
        teams=teams,
        places=places,
        scores=(0,) * seats,
        reason=reason,
        actions=100,
        used_ms=(30.0, 60.0) if seats == 2 else (10.0,) * seats,
        asked=(30, 20) if seats == 2 else (10,) * seats,
        verdicts=verdicts,
        digest="",
    )


def pair(deal: int, first: tuple[int, int], second: tuple[int, int]) -> list[GameSummary]:
    """One deal of a against b in both seats; places are given as (a, b)."""
    return [played((0, 0, deal, 0), ("a", "b"), first), played((0, 0, deal, 1), ("b", "a"), (second[1], second[0]))]


def islands() -> list[GameSummary]:
    """Two bots that met, three others that met one another, with a better best; nobody met across."""

    def deal(table: int, winner: str, loser: str) -> list[GameSummary]:
        return [played((0, table, 0, 0), (winner, loser), (1, 2)), played((0, table, 0, 1), (loser, winner), (2, 1))]

    return [*deal(0, "a", "b"), *deal(1, "c", "d"), *deal(2, "c", "e"), *deal(3, "e", "d")]


def game(
    labels: tuple[str, ...],
    places: tuple[int, ...],
    key: Key,
    teams: tuple[int, ...] = (),
    reason: str = "payoff_empty",
) -> GameSummary:
    """A game of which only the result matters."""
    none = (0,) * len(labels)
    return GameSummary(
        key=key,
        number=0,
        ruleset="standard",
        labels=labels,
        versions=(1,) * len(labels),
        teams=teams or tuple(range(len(labels))),
        places=places,
        scores=none,
        reason=reason,
        actions=1,
        used_ms=(0.0,) * len(labels),
        asked=none,
        verdicts=("",) * len(labels),
        digest="",
    )


def rename(game: GameSummary, labels: Mapping[str, str]) -> GameSummary:
    """Return a game of others, at another table."""
    key = replace(game.key, table=game.key.table + 1)
    return replace(game, key=key, labels=tuple(labels[label] for label in game.labels))
