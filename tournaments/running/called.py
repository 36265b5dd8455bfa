"""`malice.match` and `malice.compare`: what the commands do, for Python programs and with their players."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.game import Position, decode_position
from malice.referee.games import DEFAULT_RULESET
from malice.referee.records import Layer
from malice.tournaments.errors import Stopped
from malice.tournaments.league.comparison import Comparison, read_comparison
from malice.tournaments.league.opened import League
from malice.tournaments.league.positions import require_one_table
from malice.tournaments.league.replays import ExportedGame
from malice.tournaments.league.standings import Row
from malice.tournaments.league.store import Store
from malice.tournaments.ratings.sprt import Model
from malice.tournaments.running.in_process import Factory, Guests, name_factory
from malice.tournaments.running.orders import ComparisonOrder, MatchOrder
from malice.tournaments.running.sessions import Session, play_in_child, play_session

DEALS = 20
"""Of a match, if the caller does not say."""
Seated = str | os.PathLike[str] | Factory


class MatchResult(Struct, frozen=True):
    """The games at one table, and what they say of those who played."""

    games: tuple[ExportedGame, ...]
    """In the order of play."""
    ranking: tuple[Row, ...]
    """The best first."""


def match(
    *players: Seated,
    ruleset: str | None = None,
    deals: int | None = None,
    series: bool = False,
    move_ms: int | None = None,
    timed: bool = True,
    seed: str | int | None = None,
    jobs: int | None = None,
    isolation: Layer | None = None,
    require_isolation: bool = False,
    db: str | os.PathLike[str] | None = None,
    positions: Sequence[bytes | str] = (),
) -> MatchResult:
    """Let players meet at one table, as `malice play` does.

    A player is named as on the command line: a folder, a bot that ships, a command line. Or it is a factory, which is
    called for a fresh player at the beginning of each rotation of seats: see `Factory`. It plays in this process and
    thread, and has no deadline.

    Args:
        players: one for each seat.
        ruleset: its name or file; by default `standard`.
        deals: how many, by default 20; each is played in every rotation of seats.
        series: whether to play until every series has a winner, if the ruleset plays series.
        move_ms: the time of a bot for each action, without a bank; by default the clock of every tournament.
        timed: whether bots have a clock at all.
        seed: determines every card.
        jobs: games at a time, by default one for each processor; with a factory always one.
        isolation: of the bots; by default the strongest that there is. A weaker one is said on stderr.
        require_isolation: whether a game is refused under a weaker one.
        db: the league to keep the games in; only for bots, since nobody can tell whether a function has changed.
        positions: begin in each of these, as `Game.position` returns them, and not with a deal; they say the ruleset.

    Raises:
        BotError, DataError: there is no such bot, ruleset or position, or it cannot be started.
        IsolationError: the isolation is required, but unavailable.
        ValueError: arguments contradict each other.
        IllegalAction: a player of this program chose an action that is not legal.
        Exception: whatever a player of this program raises.
    """
    if move_ms is not None and not timed:
        raise ValueError("timed=False and move_ms contradict each other")
    if positions and (ruleset, deals, series, db) != (None, None, False, None):
        raise ValueError("positions say what is played: they contradict ruleset, deals, series and db")
    words, factories = _split(players)
    begun = _decode_all(positions, len(words))
    order = MatchOrder(
        bots=words,
        rulesets=(begun[0].ruleset if begun else ruleset or DEFAULT_RULESET,),
        deals=len(begun) or (DEALS if deals is None else deals),
        positions=begun,
        series=series,
        move_ms=move_ms,
        timed=timed,
        seed=_name_seed(seed),
        jobs=jobs,
        isolation=isolation,
        required=require_isolation,
    )
    with _keep(db, factories) as path:
        name = _play(order, factories, path, kept=db is not None)
        with League(path) as league:
            rows = (row for standings in league.standings(name) for row in standings.rows)
            return MatchResult(tuple(league.games(name)), tuple(rows))


def compare(
    new: Seated,
    base: Seated,
    *,
    opponents: Sequence[Seated] = (),
    rulesets: Sequence[str] = (),
    max_deals: int | None = None,
    deals: int | None = None,
    elo0: float | None = None,
    elo1: float | None = None,
    model: Model | None = None,
    timed: bool = True,
    seconds: float | None = None,
    seed: str | int | None = None,
    jobs: int | None = None,
    isolation: Layer | None = None,
    require_isolation: bool = False,
    db: str | os.PathLike[str] | None = None,
    positions: Sequence[bytes | str] = (),
) -> Comparison:
    """Say whether one player is better than another, as `malice compare` does.

    Args:
        new: a player, as of `match`.
        base: the other.
        opponents: let both play against these, on the same cards.
        rulesets: their names or files; by default `standard`.
        max_deals: give up after so many deals; by default 20,000, or as many as there are positions.
        deals: play exactly so many, without a test.
        elo0: not better means this much; by default 0.
        elo1: better means this much; by default 20.
        model: the kind of Elo; by default `normalised`.
        timed: whether bots have a clock at all.
        seconds: stop after this time, whatever the answer.
        seed: as of `match`, and so are the others.

    Raises:
        ValueError: `deals` is given, and what belongs to a test, too; or `positions`, and a ruleset.
        Exception: as `match`.
    """
    if positions and rulesets:
        raise ValueError("positions say what is played: they contradict rulesets")
    words, factories = _split([new, base, *opponents])
    begun = _decode_all(positions, 2)
    order = ComparisonOrder(
        bots=words,
        rulesets=(begun[0].ruleset,) if begun else tuple(rulesets) or (DEFAULT_RULESET,),
        deals=deals,
        positions=begun,
        max_deals=max_deals,
        elo0=elo0,
        elo1=elo1,
        model=model,
        timed=timed,
        seed=_name_seed(seed),
        jobs=jobs,
        isolation=isolation,
        required=require_isolation,
    )
    if order.contradicts_itself:
        raise ValueError("deals plays without a test: it contradicts max_deals, elo0, elo1 and model")
    until = math.inf if seconds is None else time.time() + seconds
    with _keep(db, factories) as path:
        name = _play(order, factories, path, kept=db is not None, until=until)
        with Store(path) as store:
            store.select(name)
            return read_comparison(store, adjusted=True)


def _split(players: Sequence[Seated]) -> tuple[tuple[str, ...], dict[str, Factory]]:
    """Name every player by words, and keep by these the factories among them."""
    words: list[str] = []
    factories: dict[str, Factory] = {}
    for number, player in enumerate(players):
        if isinstance(player, str | os.PathLike):
            words.append(os.fspath(player))
        else:
            words.append(f"{number}:{name_factory(player)}()")
            factories[words[-1]] = player
    return tuple(words), factories


def _decode_all(positions: Sequence[bytes | str], seats: int) -> tuple[Position, ...]:
    """Decode positions that are played at one table."""
    decoded = []
    for index, position in enumerate(positions):
        try:
            decoded.append(decode_position(position))
        except DataError as error:
            raise error.within(f"positions[{index}]") from None
    require_one_table("positions", decoded, seats)
    return tuple(decoded)


def _name_seed(seed: str | int | None) -> str | None:
    return None if seed is None else str(seed)


@contextmanager
def _keep(db: str | os.PathLike[str] | None, factories: dict[str, Factory]) -> Iterator[Path]:
    """Yield the file of the league; it goes away again if nobody named it."""
    if db is None:
        with TemporaryDirectory(prefix="malice-") as folder:
            yield Path(folder, "games.db")
    elif factories:
        names = ", ".join(map(name_factory, factories.values()))
        raise ValueError(f"db: expected bots alone, since a league cannot tell whether {names} has changed")
    else:
        yield Path(db)


def _play(
    order: MatchOrder | ComparisonOrder,
    factories: dict[str, Factory],
    path: Path,
    *,
    kept: bool,
    until: float = math.inf,
) -> str:
    """Play, and return the name of the tournament."""
    names = {words: name_factory(factory) for words, factory in factories.items()}
    guests = Guests(factories)
    if len(factories) < len(order.bots):
        return play_in_child(Session(order, names, str(path), kept, until), guests)
    order = replace(order, isolation="none", required=False)  # there is no process
    try:
        return play_session(Session(order, names, str(path), kept, until), guests.ask)
    except Stopped:
        if guests.error is None:
            raise
    raise guests.error
