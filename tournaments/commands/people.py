"""People at a table: `malice forget`, and for `malice play` their names, hints, the deal of the day, and the page."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.options import database_argument, json_option
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.game import Position
    from malice.tournaments.entries.lookup import Find
    from malice.tournaments.league.contents import GameSummary
    from malice.tournaments.league.people import PeopleList
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.hints import Hints
    from malice.tournaments.running.orders import MatchOrder
    from malice.tournaments.running.plan import Plan

PlaceWords = tuple[str, int, bool, bool, str]
"""The fields of a `Place`, which only a command that serves a table imports."""
OWN = ("bots", "ruleset", "daily", "day", "db", "names", "web", "host", "port", "no_browser")
"""What `--daily` can be combined with."""


@click.command()
@database_argument
@click.argument("name")
@json_option
def forget(db: Path, name: str, json: bool) -> None:
    """Take a person's name off a league of people: the games stay, of somebody without a name.

    The name stood in one file beside the league, and nowhere else: journal, records and digests never held it.
    """
    import msgspec

    from malice.tournaments.league.people import PeopleList
    from malice.tournaments.sanitizer import sanitize

    with open_store(db, write=True, unplayed=True, several=True):  # a run that goes on would write the name again
        people = PeopleList(db)
        label = people.forget(name)
        people.write()
    if json:
        click.echo(msgspec.json.encode({"name": name, "label": label}))
        return
    click.echo(f"{sanitize(name)}: forgotten; the games stay, those of {label}", err=True)


def seat_people(db: Path | None, names: Sequence[str]) -> tuple[PeopleList | None, tuple[str, ...]]:
    """Find the labels of the people who play; somebody new gets one, which is not written yet.

    Raises:
        click.UsageError: a name is given twice.
        DataError: one is no name.
        LeagueError: the list of names is damaged, or the league cannot be read, or holds games of bots.
    """
    from malice.tournaments.league.people import PeopleList, is_of_people
    from malice.tournaments.league.store import Store

    if db is None:
        return None, ()
    if len({*names}) < len(names):
        raise click.UsageError(f"--as: expected different names, got {', '.join(map(repr, names))}")
    taken: Collection[str] = ()
    if names and db.exists():
        with Store(db) as store:
            league = store.league()
            if league.tournaments and not is_of_people(league):
                raise LeagueError(
                    where=db, expected="a league of people", got="one of bots", hint="keep these games in another --db"
                )
            taken = league.versions
    people = PeopleList(db)
    return people, tuple(people.find_label(name, taken) for name in names)


def deal_positions_anew(positions: Sequence[Position], seat: int, seed: str | None) -> tuple[Position, ...]:
    """Deal anew what a seat does not know in positions, as a seed decides, or else chance."""
    from random import Random

    from malice.tournaments.league.positions import deal_anew

    rng = Random(seed)
    return tuple(deal_anew(position, seat, rng) for position in positions)


def play_at_page(
    order: MatchOrder, count: int, place: PlaceWords, db: Path | None, people: PeopleList | None, sequel: str
) -> None:
    """Serve a table; `sequel` is told when a game is over."""
    from msgspec.structs import replace

    from malice.tournaments.web.opening import Place, play_in_browser

    league = str(db.resolve()) if db else ""
    if people:
        people.write()
    order = replace(order, deals=1, positions=order.positions[:1], jobs=1)
    play_in_browser(order, count, Place(*place), find_data_folder() / "tables", league, sequel)


def play_daily(
    given: Collection[str],
    bots: Sequence[str],
    ruleset: str,
    day: date | None,
    db: Path | None,
    names: Sequence[str],
    place: PlaceWords | None,
) -> None:
    """Play the deal of a day, or go on with it.

    Args:
        given: the options that were given.
        bots: must be `you` alone.
        ruleset: the ruleset.
        day: the date; None for today's, in UTC, so that everybody has the same.
        db: the league of people beside which it is kept; None for the folder of this user.
        names: that of the player, if there is one.
        place: where to play it in the browser; None for this terminal.

    Raises:
        click.UsageError: something else was asked for too.
        DataError: the ruleset has no daily deal, or what was kept is damaged.
    """
    from malice.referee.rulesets import find_ruleset, load_ruleset
    from malice.tournaments.entries.bots import PERSON
    from malice.tournaments.league.store import Store
    from malice.tournaments.terminal.daily import DailyDeal, DailyGame, Shelf
    from malice.tournaments.terminal.people import find_shelf

    if tuple(bots) != (PERSON.manifest.name,):
        raise click.UsageError(
            "--daily is for a person alone, since a bot could work the deal out: malice play you --daily"
        )
    if strange := sorted(set(given) - set(OWN)):
        got = strange[0].replace("_", "-")
        raise click.UsageError(f"--daily takes only --ruleset, --day, --db, --as and --web, got --{got}")
    chosen = find_ruleset(ruleset, Path()) if "ruleset" in given else load_ruleset(_choose_ruleset())
    people, labels = seat_people(db, names)
    if db and people:
        with Store(db, create=True):  # a league of people, even if nobody plays anything else
            people.write()
    shelf = find_shelf(db, *labels) if db else Shelf(find_data_folder() / "daily")
    deal = DailyDeal(chosen, day or datetime.now(UTC).date(), shelf)
    if place:
        from malice.tournaments.web.opening import Place, play_daily_in_browser

        label = labels[0] if labels else PERSON.manifest.name
        play_daily_in_browser(deal, label, Place(*place), str(db.resolve()) if db else "")
        return
    DailyGame(deal, *names).play(sys.stdin.buffer, sys.stdout)


def _choose_ruleset() -> str:
    """The first ruleset that has a daily deal."""
    from malice.referee.families import list_shipped, load_family
    from malice.referee.rulesets import list_family_rulesets

    family = next(name for name in list_shipped() if load_family(name).winnable)
    return list_family_rulesets(family)[0]


def find_data_folder() -> Path:
    """The folder for what malice keeps for its user: XDG_DATA_HOME, or ~/.local/share."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local/share") / "malice"


def find_plan_hints(plan: Plan, find: Find, words: str) -> Hints:
    """Find the bot that people may ask.

    Raises:
        BotError, DataError: there is no such bot, or it does not play this game.
    """
    from malice.tournaments.running.hints import find_hints

    (ruleset,) = plan.tournament.rulesets.values()
    return find_hints(words, find, ruleset.family, plan.isolation, plan.config.init_ms)


def describe_course(store: Store, game: GameSummary, names: Mapping[str, str], hints: Hints | None) -> Iterator[str]:
    """Yield sentences on where a game of a person turned, and why."""
    from malice.tournaments.league.people import list_people_seats
    from malice.tournaments.sanitizer import sanitize
    from malice.tournaments.terminal.remarks import SeatOpinion, remark_game

    seats = list_people_seats(game, store.tournament())
    if not seats:
        return
    record = store.record(game.key)
    called = [sanitize(names.get(label, label)) for label in game.labels]
    opinion = None
    if len(seats) == 1:
        called[seats[0]] = "you"
        if hints:
            order = store.tournament().seeds(game.key.part).order(game.key, len(game.labels))
            rerun = hints.review(record, order.rngs, seats[0])
            opinion = SeatOpinion(sanitize(rerun.bot), seats[0], rerun.choices)
    yield from (remark.words for remark in remark_game(record, called, opinion))
