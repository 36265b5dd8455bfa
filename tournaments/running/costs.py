"""What it cost to differ from a second opinion: both actions played on in worlds that the seat could not tell apart."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from malice.referee.errors import DataError, RulesetError
from malice.referee.families import load_family
from malice.referee.game import Game
from malice.referee.records import Record
from malice.referee.replay import VERDICT
from malice.referee.rollouts import Policy
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset, make_ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import find_opinions

POLICY: Policy = "greedy"
"""How every seat plays on."""
KEPT = 3
"""Of the choices of a game, so many that look worst are tried again in fresh worlds, which did not choose them."""
ERROR = 0.05
"""The chance that any of the costs told is none."""
FORMAT = 1
"""Part of every name of kept costs: a higher number weighs anew."""

Kept = TypeVar("Kept")


class Trial(NamedTuple):
    """How often two actions are compared."""

    worlds: int
    tries: int
    """In each world, with other shuffles to come."""


LOOK = Trial(worlds=6, tries=32)
PROOF = Trial(worlds=50, tries=64)
"""On two actions that are alike, the standard error is about 1 % of a win."""


class Disagreement(NamedTuple):
    """Where a bot would have played something else than a seat did."""

    seat: int
    action: int
    """The number of the action in the game, from 0."""
    played: str
    plays: str


class Weighed(Struct, frozen=True):
    """An action, compared with the one that a bot would have played."""

    seat: int
    action: int
    mean: float
    """How much less of a win it was worth."""
    error: float
    """The standard error of that."""
    worlds: int


class SureCost(Struct, frozen=True):
    """What an action surely cost."""

    seat: int
    action: int
    """The number of the action in the game, from 0."""
    cost: float
    """In wins: with several opponents, the share of them that would have been beaten."""
    margin: float
    """Half of its interval, which does not reach 0."""


class Weigher:
    """Weighs what a bot would have played against what was played; what it finds is kept beside the league.

    The worlds are those in which the seat would have received all that it did. In each, both actions meet the same
    cards, and all seats play on as `greedy` does. What looks worst in a few worlds is tried in many fresh ones, and
    told if its interval there excludes 0, at a level that allows for everything that is tried there.

    Args:
        league: the file of the league.
    """

    def __init__(self, league: Path) -> None:
        self._folder = find_opinions(league) / "costs"
        self.tried = 0
        """How many choices were tried in many worlds so far."""
        self.told: list[tuple[str, SureCost]] = []
        """What was told so far, with the key of the game."""

    def weigh(self, record: Record, differences: Sequence[Disagreement], games: int) -> tuple[SureCost, ...]:
        """Tell which differences of a game surely cost the seat something, most first.

        Args:
            record: the game.
            differences: where a bot would have played otherwise.
            games: how many games are weighed in all.

        Raises:
            LeagueError: kept costs are damaged.
            OSError: they cannot be kept.
            RecordError: the record does not replay.
        """
        asked = [each for each in differences if each.played[0] != VERDICT]
        revision = load_family(record.family).revision
        name = hashlib.sha256(msgspec.json.encode((FORMAT, LOOK, PROOF, KEPT, record.digest, revision, asked)))
        path = self._folder / f"{name.hexdigest()}.json"
        weighed = read_kept(path, tuple[Weighed, ...], "the game is weighed again")
        if weighed is None:
            weighed = tuple(_weigh_game(record, asked))
            write_kept(path, weighed)
        self.tried += len(weighed)
        costs = [bound(each, games * KEPT) for each in weighed]
        told = sorted((each for each in costs if each.cost > each.margin), key=lambda each: -each.cost)
        self.told += [(str(record.key), each) for each in told]
        return tuple(told)


def require_policy(ruleset: Ruleset) -> None:
    """Make sure that games of a ruleset can be played on.

    Raises:
        RulesetError: they cannot.
    """
    try:
        Game(ruleset).advance(POLICY, Random(0), turns=0)
    except RulesetError as error:
        raise RulesetError(f"{ruleset.name}: what choices cost cannot be said: {error}") from None


def bound(weighed: Weighed, trials: int) -> SureCost:
    """Bound a cost so that the bounds of so many trials hold together."""
    from malice.tournaments.ratings.bradley_terry import student_quantile  # numpy, for those alone who ask for costs

    margin = weighed.error * student_quantile(weighed.worlds - 1, ERROR / 2 / trials)
    return SureCost(weighed.seat, weighed.action, weighed.mean, margin)


def _weigh_game(record: Record, asked: Sequence[Disagreement]) -> Iterator[Weighed]:
    looks = [(found.mean, place) for place, each in enumerate(asked) if (found := _compare(record, each, LOOK))]
    worst = sorted(looks, key=lambda look: (-look[0], look[1]))[:KEPT]
    for mean, place in worst:
        if mean > 0 and (found := _compare(record, asked[place], PROOF)):
            yield found


def _compare(record: Record, difference: Disagreement, trial: Trial) -> Weighed | None:
    """Compare what was played with what a bot would have played; None where it cannot be done."""
    costs = list_costs(record, difference, trial)
    if len(costs) < trial.worlds / 2:
        return None
    # One more, in which both are worth the same: costs that are equal in all worlds would else seem to be exact.
    costs.append(0.0)
    error = stdev(costs) / math.sqrt(len(costs))
    return Weighed(difference.seat, difference.action, fmean(costs), error, len(costs))


def list_costs(record: Record, difference: Disagreement, trial: Trial) -> list[float]:
    """What an action cost, by world; none where worlds cannot be played on."""
    seat, action, played, plays = difference
    game = Game.from_record(record, make_ruleset(record.ruleset, record.family, record.rules), action)
    if game.to_act != (seat,):
        return []
    seed = hashlib.sha256(msgspec.json.encode((record.digest, difference, trial))).digest()
    rng, costs = Random(int.from_bytes(seed)), []
    for _ in range(trial.worlds):
        world = game.copy()
        try:
            world.resample(seat, rng)
        except DataError:
            continue  # now and then none is found
        chance = rng.getrandbits(64)
        try:
            costs.append(_play_on(world, plays, seat, chance, trial) - _play_on(world, played, seat, chance, trial))
        except RulesetError:
            return []  # a seat has left the game
    return costs


def _play_on(world: Game, action: str, seat: int, chance: int, trial: Trial) -> float:
    """The share of a win that a seat gets; the same `chance` leads to the same shuffles."""
    after = world.copy()
    after.play(action)
    results = (after.result,) if after.result else after.rollout(POLICY, trial.tries, Random(chance))
    return fmean(_count_win(result, seat, after.teams) for result in results)


def _count_win(result: Result, seat: int, teams: Sequence[int]) -> float:
    """The share of the other teams that did worse; a tie is half."""
    others = {team: place for team, place in zip(teams, result.places, strict=True) if team != teams[seat]}
    own = result.places[seat]
    return fmean((place > own) + (place == own) / 2 for place in others.values())


def read_kept(path: Path, kind: type[Kept], then: str) -> Kept | None:
    """Read what `write_kept` wrote; None if it did not.

    Raises:
        LeagueError: the file is damaged; `then` says what comes of deleting it.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise LeagueError(f"{path}: damaged: {error}; delete it, and {then}") from None


def write_kept(path: Path, what: object) -> None:
    """Write what is kept beside a league, whole or not at all; nobody else may read what a bot wrote there."""
    path.parent.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(msgspec.json.encode(what))
        os.replace(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
