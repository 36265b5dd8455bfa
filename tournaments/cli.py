"""The command line: parses, calls, prints. Data goes to stdout, everything else to stderr.

Exit codes: 0 done · 1 an error of ours · 2 usage, configuration, a bot that cannot start · 3 stopped or
incomplete, resumable · 4 isolation asked for is not to be had · 5 data does not verify · 10 a bot failed
its check · 130 interrupted outside a run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tournaments.check.command import check
from tournaments.doctor import doctor
from tournaments.endings import Commands, interrupt_on_signals
from tournaments.errors import LeagueError, Stopped
from tournaments.rules_commands import rules

if TYPE_CHECKING:
    from referee.records import Layer
    from tournaments.config import Config
    from tournaments.store import Store

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="malice")
def main() -> None:
    """Run tournaments between bots that play Spite & Malice and its relatives.

    A BOT is a folder with bot.toml, the name of a bot that ships, or a quoted command line. A DB is the
    league that `malice run` writes.
    """


main.add_command(check)
main.add_command(doctor)
main.add_command(rules)


def database(command: F) -> F:
    """Add the argument that names an existing league."""
    return click.argument("db", type=click.Path(dir_okay=False, path_type=Path))(command)


def as_json(command: F) -> F:
    """Add the option that prints for scripts."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(command)


def isolated(command: F) -> F:
    """Add the options that say what is put around the bots."""
    layers = click.Choice(["auto", "bwrap", "rlimit", "none"])
    required = click.option(
        "--require-isolation", "required", is_flag=True, help="End with 4 when that isolation is not to be had."
    )
    return click.option("--isolation", type=layers, help="What is put around each bot [default: auto].")(
        required(command)
    )


@main.command()
@click.argument("tournament", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The league [default: like the TOML file, .db].",
)
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--site", type=click.Path(file_okay=False, path_type=Path), help="Write the pages here at the end.")
@click.option("--readmit", multiple=True, metavar="LABEL", help="Let this suspended bot play again; may be repeated.")
@isolated
def run(
    tournament: Path,
    db: Path | None,
    jobs: int | None,
    site: Path | None,
    readmit: tuple[str, ...],
    isolation: Layer | None,
    required: bool,
) -> None:
    """Play the tournament that a TOML file describes, or go on with it.

    What is finished is on the disk; the same command goes on after Ctrl-C, a crash or a power cut.
    """
    from tournaments.config import read_config

    interrupt_on_signals()
    config = _isolated(read_config(tournament), isolation, required)
    db = db or Path(f"{tournament.stem}.db")
    again = ["malice", "run", str(tournament), "--db", str(db)]
    again += ["--jobs", str(jobs)] if jobs else []
    again += ["--site", str(site)] if site else []
    again += ["--isolation", isolation] if isolation else []
    again += ["--require-isolation"] if required else []
    with _open(db, create=True) as store:
        _play(store, config, tournament.parent.resolve(), jobs or config.jobs, again, required, readmit)
        click.echo(f"{db}: {len(store.keys())} games", err=True)
        _print_standings(store)
        if site:
            _write_site(store, site)


@main.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--ruleset", default="standard", show_default=True, help="The rules to play by.")
@click.option(
    "--deals",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Deals; each is played in every rotation of seats.",
)
@click.option("--seed", help="Fixes every card.")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep the games in this league.")
@click.option("--replay", "replays", is_flag=True, help="Print every game action by action.")
@isolated
@as_json
def play(
    bots: tuple[str, ...],
    ruleset: str,
    deals: int,
    seed: str | None,
    db: Path | None,
    replays: bool,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Let bots play at one table and show how it went.

    Example: malice play greedy "node mybot.js" --deals 10
    """
    from tempfile import TemporaryDirectory

    from tournaments.config import Config

    interrupt_on_signals()
    config = Config(
        entries=bots, name="play", suspend_after=0, rulesets=(ruleset,), seats=len(bots), deals=deals, seed=seed
    )
    config = _isolated(config, isolation, required)
    with TemporaryDirectory(prefix="malice-") as folder, _open(db or Path(folder, "play.db"), create=True) as store:
        try:
            _play(store, config, Path.cwd(), 0, sys.argv if db else [], required)
        except Stopped:
            if not store.is_empty():
                _print_games(store, replays, json)
            raise
        _print_games(store, replays, json)


@main.command()
@database
@as_json
@click.option("--csv", is_flag=True, help="Print CSV.")
def standings(db: Path, json: bool, csv: bool) -> None:
    """Print the ranking: Elo with its interval, results, points, time, forfeits."""
    from tournaments.text_tables import standings_csv, standings_json

    with _open(db) as store:
        if json:
            click.echo(standings_json(store.standings()))
        elif csv:
            click.echo(standings_csv(store.standings()), nl=False)
        else:
            _print_standings(store)


@main.command()
@database
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write.")
def site(db: Path, out: Path) -> None:
    """Write the pages: standings, bots, games, replays. They work from the disk and on any web server."""
    with _open(db) as store:
        _write_site(store, out)


@main.command()
@database
@click.argument("key")
def replay(db: Path, key: str) -> None:
    """Print a game action by action; KEY is table.deal.rotation, such as 0.12.1."""
    from referee.records import Key
    from tournaments.transcript import transcript

    with _open(db) as store:
        for line in transcript(store.record(Key.parse(key))):
            click.echo(line)


@main.command()
@database
def export(db: Path) -> None:
    """Print every game as a line of JSON."""
    from tournaments.export import exported

    with _open(db) as store:
        series = store.series()
        for record in store.records():
            click.echo(exported(record, series.get(record.key)), nl=False)


@main.command()
@database
@as_json
def verify(db: Path, json: bool) -> None:
    """Replay every game, check cards, actions, results and digests; exit 5 if something does not hold."""
    import msgspec

    from tournaments.progress import Progress
    from tournaments.verify import verify as verify_league

    with _open(db) as store, Progress(len(store.keys()), 0, sys.stderr) as progress:
        verified = verify_league(store, progress.game)
    if json:
        click.echo(msgspec.json.encode(verified))
        return
    state = f"of {verified.planned}, not complete"
    if verified.complete:
        state = "complete but for the games of suspended bots" if verified.suspended else "complete"
    click.echo(f"games           {verified.games} ({state}), all of them replay")
    click.echo(f"commit          {verified.commit}")
    click.echo(f"seed            {verified.seed or 'told when the tournament is complete'}")
    click.echo(f"tournament SHA  {verified.sha}")


@main.command()
@as_json
def bench(json: bool) -> None:
    """Measure what malice costs on this machine; every ratio is taken in one run. Takes a few minutes."""
    import msgspec

    from site_pages import render
    from tournaments import bench as benches
    from tournaments.bench.engine import engine
    from tournaments.bench.exchange import exchange
    from tournaments.bench.isolation import isolation
    from tournaments.bench.pages import pages
    from tournaments.bench.throughput import throughput
    from tournaments.text_tables import table

    rows = []
    for row in benches.rows([exchange, isolation, engine, throughput, lambda: pages(render)]):
        click.echo(f"{row.what}: {row.value:,.1f} {row.unit}", err=True)
        rows.append(row)
    if json:
        click.echo(msgspec.json.encode(rows))
        return
    for line in table(benches.HEAD, [benches.cells(row) for row in rows], benches.LEFT):
        click.echo(line)


@contextmanager
def _open(db: Path, *, create: bool = False) -> Iterator[Store]:
    from tournaments.store import Store

    new = create and not db.exists()
    unused = new
    try:
        with Store(db, create=create) as store:
            if not create and store.is_empty():
                raise LeagueError(f"{db}: holds no tournament with games")
            try:
                yield store
            finally:
                unused = new and store.is_empty()
    finally:
        if unused:
            db.unlink(missing_ok=True)


def _isolated(config: Config, isolation: Layer | None, required: bool) -> Config:
    from msgspec.structs import replace

    from tournaments.isolation import require

    config = replace(config, isolation=isolation or config.isolation)
    if required:
        require(config.isolation)
    return config


def _play(
    store: Store,
    config: Config,
    base: Path,
    jobs: int,
    again: list[str],
    required: bool,
    readmitted: tuple[str, ...] = (),
) -> None:
    from msgspec.structs import replace

    from tournaments.plan import open_league
    from tournaments.run import readmit
    from tournaments.run import run as run_tournament

    plan = open_league(store, config, base)
    plan.isolation = replace(plan.isolation, required=required)
    readmit(store, readmitted, sys.stderr)
    run_tournament(store, plan, jobs, sys.stderr, again)


def _print_standings(store: Store) -> None:
    from tournaments.text_tables import standings_text
    from tournaments.transcript import harmless

    for line in standings_text(store.standings()):
        click.echo(line)
    tournament = store.tournament()
    if tournament.suspended:
        played = "complete but for" if tournament.complete else "left out are"
        who = ", ".join(map(harmless, tournament.suspended))
        click.echo(f"{played} the games of suspended bots: {who} (malice run TOURNAMENT.toml --readmit LABEL)")


def _print_games(store: Store, replays: bool, json: bool) -> None:
    import msgspec

    from tournaments.text_tables import faults, game_line
    from tournaments.transcript import transcript

    series = store.series()
    by_key = sorted(store.games(), key=lambda game: game.key)
    if json:
        games = [
            msgspec.to_builtins(game) | {"key": str(game.key), "series": score.points if score else None}
            for game in by_key
            for score in [series.get(game.key)]
        ]
        ranking = [row for each in store.standings() for row in msgspec.to_builtins(each.rows)]
        click.echo(msgspec.json.encode({"games": games, "ranking": ranking}))
        return
    if replays:
        for record in store.records():
            for line in transcript(record):
                click.echo(line)
            click.echo()
    for game in by_key:
        click.echo(game_line(game, series.get(game.key)))
        if any(game.verdicts):
            for line in faults(store.record(game.key)):
                click.echo(line)
    _print_standings(store)


def _write_site(store: Store, out: Path) -> None:
    from site_pages import render

    rendered = render(store, out)
    click.echo(f"{rendered.games} games on {rendered.pages} pages", err=True)
    click.echo((out.resolve() / "index.html").as_uri())
