"""The command line: parses, calls, prints. Data goes to stdout, everything else to stderr.

Exit codes: 0 done · 1 an error of ours · 2 usage, configuration, a bot that cannot start · 3 stopped or
incomplete, resumable, or locked by another program · 4 isolation asked for is not to be had · 5 data is damaged or
does not verify · 10 a bot failed its check · 130 interrupted outside a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tournaments.commands.check import check
from tournaments.commands.doctor import doctor
from tournaments.commands.exit_codes import ExitCodeGroup, interrupt_on_signals
from tournaments.commands.games import export, log, play, replay, rerun, verify
from tournaments.commands.kits import build, languages, new
from tournaments.commands.options import (
    database_argument,
    isolation_options,
    json_option,
    open_store,
    play_open,
    print_standings,
    with_isolation,
)
from tournaments.commands.rules import rules

if TYPE_CHECKING:
    from referee.records import Layer
    from tournaments.league.store import Store


@click.group(cls=ExitCodeGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="malice")
def main() -> None:
    """Run tournaments between bots that play Spite & Malice and its relatives.

    A BOT is a folder with bot.toml, the name of a bot that ships, or a quoted command line. A DB is the
    league that `malice run` writes.
    """


main.add_command(build)
main.add_command(check)
main.add_command(doctor)
main.add_command(export)
main.add_command(languages)
main.add_command(log)
main.add_command(new)
main.add_command(play)
main.add_command(replay)
main.add_command(rerun)
main.add_command(rules)
main.add_command(verify)


@main.command(short_help="Play a tournament, or go on with it.")
@click.argument("tournament", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The league [default: like the TOML file, .db].",
)
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--site", type=click.Path(file_okay=False, path_type=Path), help="Write the pages here at the end.")
@click.option("--readmit", multiple=True, metavar="LABEL", help="Let this suspended bot play again; may be repeated.")
@isolation_options
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
    from tournaments.league.config import read_config

    interrupt_on_signals()
    config = with_isolation(read_config(tournament), isolation, required)
    db = db or Path(f"{tournament.stem}.db")
    again = ["malice", "run", str(tournament), "--db", str(db)]
    again += ["--jobs", str(jobs)] if jobs else []
    again += ["--site", str(site)] if site else []
    again += ["--isolation", isolation] if isolation else []
    again += ["--require-isolation"] if required else []
    with open_store(db, create=True) as store:
        play_open(store, config, tournament.parent.resolve(), jobs or config.jobs, again, required, readmit)
        click.echo(f"{db}: {len(store.keys())} games", err=True)
        print_standings(store)
        if site:
            _write_site(store, site)


@main.command(short_help="Print the ranking.")
@database_argument
@json_option
@click.option("--csv", is_flag=True, help="Print CSV.")
def standings(db: Path, json: bool, csv: bool) -> None:
    """Print the ranking: Elo with its interval, results, points, time, forfeits."""
    from tournaments.league.standings import compute_league_standings
    from tournaments.terminal.tables import encode_standings_csv, encode_standings_json

    with open_store(db) as store:
        if json:
            click.echo(encode_standings_json(compute_league_standings(store)))
        elif csv:
            click.echo(encode_standings_csv(compute_league_standings(store)), nl=False)
        else:
            print_standings(store)


@main.command(short_help="Write the pages of a league.")
@database_argument
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write.")
def site(db: Path, out: Path) -> None:
    """Write the pages: standings, bots, games, replays. They work from the disk and on any web server."""
    with open_store(db) as store:
        _write_site(store, out)


@main.command(short_help="Measure what malice costs on this machine.")
@json_option
def bench(json: bool) -> None:
    """Measure what malice costs on this machine; every ratio is taken in one run. Takes a few minutes."""
    import msgspec

    from site_pages import render
    from tournaments import bench as benches
    from tournaments.bench.engine import engine
    from tournaments.bench.exchange import exchange
    from tournaments.bench.hostile import hostile
    from tournaments.bench.isolation import isolation
    from tournaments.bench.pages import pages
    from tournaments.bench.throughput import throughput
    from tournaments.terminal.tables import format_table

    rows = []
    for row in benches.rows([exchange, isolation, hostile, engine, throughput, lambda: pages(render)]):
        click.echo(f"{row.what}: {row.value:,.1f} {row.unit}", err=True)
        rows.append(row)
    if json:
        click.echo(msgspec.json.encode(rows))
        return
    for line in format_table(benches.HEAD, [benches.cells(row) for row in rows], benches.LEFT):
        click.echo(line)


def _write_site(store: Store, out: Path) -> None:
    from site_pages import render

    rendered = render(store, out)
    click.echo(f"{rendered.games} games on {rendered.pages} pages", err=True)
    click.echo((out.resolve() / "index.html").as_uri())
