"""`malice site` and `serve`: the pages of a league, written once or while somebody plays it, and served to browsers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import database_argument, isolation_options, open_store, tournament_option
from malice.tournaments.commands.pages import Asking, Extras, replace_site_option, url_option, write_game, write_site

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.commands.pages import SiteProgram
    from malice.tournaments.league.store import Store

GAMES = 12


def _check_games(_: click.Context, __: click.Parameter, words: str | None) -> str | None:
    """Return a number of games, or `all`, as it was given."""
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
@isolation_options
@url_option
@replace_site_option
@click.option("--follow", is_flag=True, help="Write what changes while another process plays, until it is complete.")
@click.option("--ordered", is_flag=True, hidden=True, help="Follow the run that started this, and end with it.")
@click.pass_obj
def site(
    site: SiteProgram,
    db: Path,
    tournament: str | None,
    out: Path,
    key: str | None,
    evidence: tuple[str, ...],
    changes_since: str | None,
    luck: bool,
    opinion: str | None,
    opinion_games: str | None,
    isolation: Layer | None,
    required: bool,
    url: str,
    replace_site: bool,
    follow: bool,
    ordered: bool,
) -> None:
    """Write the pages: standings, bots, games, replays. They work from the disk and on any web server.

    The pages may be published: they hold no stderr, no absolute path and no host name. With --follow they are written
    again at most every 10 seconds, until the tournament is complete or you press Ctrl-C.

    With --second-opinion a bot receives the requests of every seat again, exactly as `malice rerun` puts them, and
    replays show where it would have played something else. Its answers are kept beside the league, in friday.opinions
    for friday.db, by the content of the bot and of what it was asked: nothing is asked twice. Pages that are written
    without the option do not have the opinion, and have it again with the next one that gives it.

    A folder that holds the site of one tournament keeps it: the command writes that one again, and no other over it
    without --replace-site. Into another folder, a league with several tournaments needs --tournament.

    With --game the replay of one game becomes one file, to open from the disk or to send. KEY is as for `malice
    replay`.
    """
    from malice.tournaments.commands.following import follow_league, follow_run
    from malice.tournaments.league.publication import require_own_site
    from malice.tournaments.league.store import is_played

    _check_out(out, "file" if key is not None else "folder")
    if key is not None and (follow or luck or changes_since is not None or opinion is not None):
        raise click.UsageError(
            "--game contradicts --follow, --luck, --changes-since and --second-opinion: these are for whole sites"
        )

    if ordered:
        follow_run(site, db, tournament or "", out, url)
        return
    if follow and luck:
        raise click.UsageError("--follow and --luck contradict each other: luck plays all games again each time")
    if follow and opinion is not None:
        raise click.UsageError("--follow and --second-opinion contradict each other: write the opinion when it is over")
    if opinion is None and (opinion_games or isolation or required):
        raise click.UsageError("--opinion-games and the isolation of a bot need --second-opinion BOT")
    most = None if opinion_games == "all" else int(opinion_games or GAMES)
    asking = None if opinion is None else Asking(opinion, most, isolation, required)
    extras = Extras(evidence, changes_since, luck, asking, url)
    running = follow and db.is_file() and is_played(db)
    with open_store(db, tournament=tournament, several=True) as store:
        if key is not None:
            write_game(site, store, key, out, extras)
            return
        _select_tournament(store, tournament, out)
        if not replace_site:
            require_own_site(out, store.tournament())
        if follow:
            follow_league(site, store, out, extras, running=running)
        else:
            write_site(site, store, out, extras)


def _select_tournament(store: Store, name: str | None, out: Path) -> None:
    """Choose the tournament that is named, or else that whose site the folder holds, or the only one that can be meant.

    Raises:
        LeagueError: several can be meant.
    """
    from malice.tournaments.league.publication import find_site_owner, read_site_owner

    owner, tournaments = read_site_owner(out), store.league().tournaments
    if name is None and owner and owner.tournament in tournaments:
        found = tournaments[owner.tournament]
        name = found.name if find_site_owner(found) == owner else None
    store.select(name or store.tournament().name)


def _check_out(out: Path, kind: Literal["file", "folder"]) -> None:
    """Make sure that what is there, if anything, can be replaced by this kind; raise BadParameter otherwise."""
    if out.is_dir() if kind == "file" else out.exists() and not out.is_dir():
        raise click.BadParameter(f"expected a {kind}, got: {out}", param_hint="'--out'")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The name or address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.pass_obj
def serve(site: SiteProgram, folder: Path, host: str, port: int) -> None:
    """Serve a site that `malice site` or `malice run --site` wrote, and print its address; Ctrl-C ends it.

    Nothing but the files of the folder is served, for reading, by default to this machine alone. A run may go on
    writing the site meanwhile.
    """
    interrupt_on_signals()
    with suppress(KeyboardInterrupt), site.open_server(folder, host, port) as server:
        if not server.loopback:
            click.echo(f"{host} is not this machine alone: whoever can reach it can read these pages", err=True)
        click.echo(server.url)
        server.serve_forever()
