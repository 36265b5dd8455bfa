"""`malice site` and `serve`: the pages of a league, written once or while somebody plays it, and served to browsers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import (
    database_argument,
    find_game,
    isolation_options,
    json_option,
    take_luck_off,
    tournament_option,
    with_isolation,
)
from malice.tournaments.commands.pages import (
    Extras,
    follow_league,
    follow_run,
    print_size,
    print_withheld,
    replace_site_option,
    url_option,
)
from malice.tournaments.league.opening import open_store
from malice.tournaments.sanitizer import sanitize

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.league.publication import SiteSize
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.rerun import Opinions

GAMES = 12
STDOUT = Path("-")


def _check_games(_: click.Context, __: click.Parameter, words: str | None) -> str | None:
    if words in (None, "all") or (words.isascii() and words.isdigit() and int(words) > 0):
        return words
    raise click.BadParameter(f"expected a number of games from 1, or all, got: {words}")


@click.command()
@database_argument
@tournament_option
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write; the file, for --game; - is stdout.",
)
@click.option("--game", "key", metavar="KEY", help="Write only this game, as one file that needs no other.")
@click.option(
    "--with-stderr",
    "evidence",
    metavar="[LABEL]",
    multiple=True,
    is_flag=False,
    flag_value="",
    help="Publish also what bots wrote to stderr before a verdict, or what this one wrote; may be repeated.",
)
@click.option(
    "--changes-since", metavar="LAST.db|DATE", help="Show what changed since an older copy, or a day, in a box."
)
@click.option("--luck", is_flag=True, help="Show every two entries without luck, too; this plays all games again.")
@click.option(
    "--second-opinion",
    "opinion",
    metavar="BOT",
    help="Show in replays what this bot would have played; without the option, no page says so.",
)
@click.option(
    "--opinion-games",
    metavar="N|all",
    callback=_check_games,
    help="How many games it is asked about: those that the pages open first, then the latest [default: 12].",
)
@click.option(
    "--opinion-costs",
    "costs",
    is_flag=True,
    help="Say where it surely cost part of a win to differ; both actions are played on, which takes seconds a game.",
)
@isolation_options
@url_option
@replace_site_option
@click.option("--follow", is_flag=True, help="Write what changes while another process plays, until it is complete.")
@json_option
@click.option("--ordered", is_flag=True, hidden=True, help="Follow the run that started this, and end with it.")
def site(
    db: Path,
    tournament: str | None,
    out: Path,
    key: str | None,
    evidence: tuple[str, ...],
    changes_since: str | None,
    luck: bool,
    opinion: str | None,
    opinion_games: str | None,
    costs: bool,
    isolation: Layer | None,
    required: bool,
    url: str,
    replace_site: bool,
    follow: bool,
    json: bool,
    ordered: bool,
) -> None:
    """Write the pages: standings, bots, games, replays. They work from the disk and on any web server.

    The pages may be published: they hold no stderr, no absolute path and no host name. With --follow they are written
    again at most every 10 seconds, until the tournament is complete or you press Ctrl-C.

    With --second-opinion a bot receives the requests of every seat again, exactly as `malice rerun` puts them, and
    replays show where it would have played something else. Its answers are kept beside the league, in friday.opinions
    for friday.db, by the content of the bot and of what it was asked: nothing is asked twice. Pages that are written
    without the option do not have the opinion, and have it again with the next one that gives it. --opinion-costs tells
    on the pages of bots, and in replays, where it surely cost part of a win to differ from it.

    A league with several tournaments has one site for all of them, but for comparisons: a front page that lists them,
    and a page for each bot. --tournament writes the site of one. A folder that holds the site of one tournament keeps
    it: the command writes that one again, and no other over it without --replace-site.

    With --game the replay of one game becomes one file, to open from the disk or to send. KEY is as for `malice
    replay`.
    """
    from malice.tournaments.league.publication import find_site_owner, require_own_site
    from malice.tournaments.league.store import is_played

    _check_out(out, "file" if key is not None else "folder")
    if key is not None and (follow or luck or changes_since is not None or opinion is not None):
        raise click.UsageError(
            "--game contradicts --follow, --luck, --changes-since and --second-opinion: these are for whole sites"
        )

    if ordered:
        follow_run(db, tournament or "", out, url)
        return
    if json and (follow or key is not None):
        raise click.UsageError("--json contradicts --follow and --game")
    if follow and luck:
        raise click.UsageError("--follow and --luck contradict each other: luck plays all games again each time")
    if follow and opinion is not None:
        raise click.UsageError("--follow and --second-opinion contradict each other: write the opinion when it is over")
    if opinion is None and (opinion_games or costs or isolation or required):
        raise click.UsageError("--opinion-games, --opinion-costs and the isolation of a bot need --second-opinion BOT")
    most = None if opinion_games == "all" else int(opinion_games or GAMES)
    asking = None if opinion is None else Asking(opinion, most, costs, isolation, required)
    extras = Extras(evidence, changes_since, url)
    running = follow and db.is_file() and is_played(db)
    with open_store(db, tournament=tournament, several=True) as store:
        if key is not None:
            write_game(store, key, out, extras)
            return
        if (name := _choose_tournament(store, tournament, out)) is None:
            if follow or changes_since is not None or any(evidence):
                raise click.UsageError("--follow, --changes-since and --with-stderr LABEL need --tournament")
            size = write_league_site(store, out, extras, asking, luck=luck, replace_site=replace_site)
            print_size(None, out, size, json=json)
            return
        store.select(name)
        if not replace_site:
            require_own_site(out, find_site_owner(store.tournament()))
        if follow:
            follow_league(store, out, extras, running=running)
        else:
            print_size(store, out, write_site(store, out, extras, asking, luck=luck), json=json)


@dataclass(frozen=True)
class Asking:
    """Which bot to ask for a second opinion, and how."""

    words: str
    """What names it."""
    most: int | None
    """About how many games to ask it; None for all."""
    costs: bool
    """Whether to weigh what it costs to differ from it."""
    isolation: Layer | None
    """Its isolation; None for the strongest that works."""
    required: bool
    """Whether that isolation is required."""


@contextmanager
def open_opinions(store: Store, asking: Asking | None) -> Iterator[Opinions | None]:
    """Lend a bot to be asked about games of a league, or none; say afterwards on stderr what came of it.

    Raises:
        BotError: there is no such bot, it cannot be built, or it does not play the game of the league.
        IsolationError: its isolation is required, but unavailable.
        RulesetError: nobody can weigh what it costs to differ from it.
    """
    if asking is None:
        yield None
        return
    from malice.referee.records import Isolation
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.lookup import require_games
    from malice.tournaments.entries.names import Names
    from malice.tournaments.league.file import list_league_files
    from malice.tournaments.running.costs import Weigher, require_policy
    from malice.tournaments.running.isolation import describe_shortcomings
    from malice.tournaments.running.progress import ReplayProgress
    from malice.tournaments.running.rerun import Opinions, Surroundings

    interrupt_on_signals()
    config = with_isolation(store.config(), asking.isolation, asking.required)
    found = Names(store.path, store).find(asking.words)
    rulesets = store.tournament().rulesets.values()
    require_games(found, found.manifest.name, [ruleset.family for ruleset in rulesets])
    for ruleset in rulesets if asking.costs else ():
        require_policy(ruleset)
    bot = ensure_built(found)
    player = bot.make_player(bot.manifest.name)
    for line in describe_shortcomings(config.isolation, [player]):
        click.echo(line, err=True)
    layers = Isolation(
        config.isolation, config.memory_mb, config.freeze, list_league_files(store.path), asking.required
    )
    with ReplayProgress(sys.stderr, "second opinion") as progress:
        weigher = Weigher(store.path) if asking.costs else None
        opinions = Opinions(store, player, Surroundings(config.init_ms, layers), asking.most, progress, weigher)
        yield opinions
    _print_opinions(opinions)


def _print_opinions(opinions: Opinions) -> None:
    from malice.site_pages.opinions import format_cost
    from malice.tournaments.terminal.transcript import excerpt_stderr

    bot = sanitize(opinions.adviser.name)
    others = f"{opinions.moves - opinions.agreed:,} of {format_count(opinions.moves, 'move')}"
    games = format_count(opinions.games, "game")
    click.echo(f"second opinion: {bot} would have played otherwise in {others}, in {games}", err=True)
    if opinions.weigher:
        told = sorted(opinions.weigher.told, key=lambda each: -each[1].cost)
        most = f"; the most, {format_cost(told[0][1])} of a win, game {told[0][0]}/{told[0][1].action}" if told else ""
        tried = f"{len(told)} of the {format_count(opinions.weigher.tried, 'choice')} that looked worst"
        click.echo(f"  {tried} surely cost part of a win{most}", err=True)
    for fault in opinions.faults:
        place = f"game {fault.key}, seat {fault.seat}, after {format_count(fault.moves, 'move')}"
        click.echo(f"  {bot}: {fault.verdict} in {place}: {sanitize(fault.sentence)}", err=True)
        for line in excerpt_stderr(fault.stderr):
            click.echo(f"    | {line}", err=True)


def write_league_site(
    store: Store, out: Path, extras: Extras, asking: Asking | None, *, luck: bool, replace_site: bool
) -> SiteSize:
    """Write one site for all tournaments that are meant: their own sites in folders, and the league's pages.

    Raises:
        LeagueError: a folder holds another site; and what `write_site` raises.
    """
    from dataclasses import replace as alter

    from msgspec.structs import replace

    from malice.site_pages.league_site import find_league_owner, name_folders, write_league_pages
    from malice.tournaments.league.publication import SiteSize, find_site_owner, require_own_site

    tournaments, folders = store.league().tournaments, name_folders(store.league().list_meant())
    if not replace_site:
        require_own_site(out, find_league_owner(store))
        for name, folder in folders.items():
            require_own_site(out / folder, find_site_owner(tournaments[name]))
    total = SiteSize(0, 0, 0, 0, 0)
    for name, folder in folders.items():
        store.select(name)
        url = extras.url and f"{extras.url}{folder}/"
        size = write_site(store, out / folder, alter(extras, url=url), asking, luck=luck)
        total = SiteSize(*(getattr(total, field) + getattr(size, field) for field in SiteSize.__struct_fields__))
    return replace(total, pages=total.pages + write_league_pages(store, out, list(folders)))


def write_site(store: Store, out: Path, extras: Extras, asking: Asking | None, *, luck: bool) -> SiteSize:
    """Write the pages of a tournament, and return their size.

    Args:
        store: the league, with the tournament chosen.
        out: the folder.
        extras: what they show beyond what every site does.
        asking: which bot is asked what it would have played; None for none.
        luck: whether to play the games again, to show every two entries without luck.

    Raises:
        LeagueError, DataError: as `Extras.make_options`.
        DamagedLeague, RecordError: as `take_luck_off`.
        BotError, IsolationError: as `open_opinions`.
        OSError: a file cannot be written.
    """
    from msgspec.structs import replace

    from malice.site_pages import Follower

    options = extras.make_options(store)
    sharper = take_luck_off(store) if luck else None
    follower = Follower(store, out)
    with open_opinions(store, asking) as opinions:
        return follower.look(replace(options, sharper=sharper, opinions=opinions), running=False)


def write_game(store: Store, key: str, out: Path, extras: Extras) -> None:
    """Write the replay of a game as one file, `-` for stdout; print its address, and say what it leaves out.

    Raises:
        DataError: the key is none, or the file is part of the league.
        LeagueError: there is no such game; a label is no entry, or the tournament is anonymous.
        OSError: the file cannot be written.
    """
    from malice.site_pages import render_lone_game
    from malice.tournaments.league.file import list_league_files

    if str(out.resolve()) in list_league_files(store.path):
        raise DataError(where=f"--out {out}", expected="another file than those of the league")
    game, record = find_game(store, key)  # this chooses the tournament
    lone = render_lone_game(store, game, record, extras.choose_publication(store), extras.url)
    print_withheld(store, lone.withheld, ["--game", key, "--out", str(out)])
    if out == STDOUT:
        sys.stdout.buffer.write(lone.page)
        return
    out.write_bytes(lone.page)
    click.echo(out.resolve().as_uri())


def _choose_tournament(store: Store, name: str | None, out: Path) -> str | None:
    """The tournament that is named, or else that whose site the folder holds, or the only one that can be meant.

    None if several can be meant: then the site is that of the league.
    """
    from malice.tournaments.league.publication import find_site_owner, read_site_owner

    owner, league = read_site_owner(out), store.league()
    if name is None and owner and owner.tournament in league.tournaments:
        found = league.tournaments[owner.tournament]
        name = found.name if find_site_owner(found) == owner else None
    meant = league.list_meant()
    return name or (meant[0] if len(meant) == 1 else None)


def _check_out(out: Path, kind: Literal["file", "folder"]) -> None:
    """Make sure that what is there, if anything, can be replaced by this kind; raise BadParameter otherwise."""
    if out.is_dir() if kind == "file" else out.exists() and not out.is_dir():
        raise click.BadParameter(f"expected a {kind}, got: {out}", param_hint="'--out'")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The name or address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "--play",
    "league",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="LEAGUE.db",
    help="Let replays of its closed parts be played on from, at a table in the browser; on this machine alone.",
)
def serve(folder: Path, host: str, port: int, league: Path | None) -> None:
    """Serve a site that `malice site` or `malice run --site` wrote, and print its address; Ctrl-C ends it.

    Nothing but the files of the folder is served, for reading, by default to this machine alone. A run may go on
    writing the site meanwhile.
    """
    from malice.site_pages.server import SiteServer
    from malice.tournaments.web.replay_tables import ReplayTables

    interrupt_on_signals()
    with (
        suppress(KeyboardInterrupt),
        ReplayTables(league, folder) if league else nullcontext() as tables,
        SiteServer(folder, host, port, tables.open if tables else None) as server,
    ):
        if tables and not server.loopback:
            raise click.UsageError("--play starts bots on this machine: it needs --host 127.0.0.1, or another loopback")
        if not server.loopback:
            click.echo(f"{host} is not this machine alone: whoever can reach it can read these pages", err=True)
        click.echo(server.url)
        server.serve_forever()
