"""`malice standings`, `report`, `feedback`, `export` and `verify`: what a league holds."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from malice.tournaments.commands.options import (
    compute_changes,
    database_argument,
    format_date,
    jobs_option,
    json_option,
    parse_date,
    print_people,
    print_standings,
    take_luck_off,
    tournament_option,
)
from malice.tournaments.commands.pages import url_option
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malice.tournaments.league.ranking import Choice
    from malice.tournaments.league.standings import Standings
    from malice.tournaments.league.store import Store
    from malice.tournaments.league.verify import Verified


@click.command()
@database_argument
@tournament_option
@click.option("--all", "everything", is_flag=True, help="Rate the games of all tournaments of the league together.")
@click.option("--versions", type=click.Choice(["newest", "all"]), default="newest", show_default=True)
@click.option("--since", metavar="DATE", help="Only games since 2030-01-31, monday, yesterday or today.")
@click.option("--without", multiple=True, metavar="LABEL", help="Leave out the games of this entry; may be repeated.")
@click.option("--changes-since", metavar="LAST.db|DATE", help="Print what changed since an older copy, or a day.")
@click.option("--pair", nargs=2, metavar="A B", help="Say whether A is better than B, as `malice compare` does.")
@click.option("--luck", is_flag=True, help="Print the Elo of every two entries with the luck of the cards and without.")
@json_option
@click.option("--csv", is_flag=True, help="Print CSV.")
def standings(
    db: Path,
    tournament: str | None,
    everything: bool,
    versions: Literal["newest", "all"],
    since: str | None,
    without: tuple[str, ...],
    changes_since: str | None,
    pair: tuple[str, str] | None,
    luck: bool,
    json: bool,
    csv: bool,
) -> None:
    """Print the ranking: Elo with its interval, results, points, time, forfeits.

    An entry has a row for the version that plays; older versions count for their opponents. A league with several
    tournaments shows all but comparisons, one after the other.

    Of a league of people it prints what each has reached in every game, unless --all asks for ratings.
    """
    from malice.tournaments.league.file import find_daily_deals
    from malice.tournaments.league.people import is_of_people
    from malice.tournaments.league.ranking import Choice

    _refuse_pairs({"--json": json, "--csv": csv}, {"--all": everything, "--tournament": tournament is not None})
    _refuse_pairs({"--all": everything, "--changes-since": changes_since is not None})
    choices = (everything, versions == "all", since is not None, bool(without), changes_since is not None)
    if pair is not None and (any(choices) or luck or csv):
        raise click.UsageError("--pair goes only with --tournament and --json")
    if luck and any(choices):
        raise click.UsageError("--luck goes only with --tournament, --json and --csv")
    begin = 0.0 if since is None else parse_date(since, datetime.fromtimestamp(time.time()).astimezone(), "--since")
    choice = Choice(versions, begin, without=without)
    several = pair is None and not luck and changes_since is None
    unplayed = find_daily_deals(db).exists()
    with open_store(db, tournament=tournament, several=several, unplayed=unplayed) as store, store.snapshot():
        if pair is not None:
            _print_pair(store, *pair, json=json)
        elif luck:
            _print_luck(store, json=json, csv=csv)
        elif changes_since is not None:
            _print_changes(store, changes_since, choice, json=json, csv=csv)
        elif (unplayed or is_of_people(store.league())) and not (csv or tournament or any(choices)):
            print_people(store, json=json)
        else:
            names = [] if everything else [tournament] if tournament else store.league().list_meant()
            _print_rankings(store, names, choice, json=json, csv=csv)


def _print_pair(store: Store, new: str, base: str, *, json: bool) -> None:
    import msgspec

    from malice.tournaments.league.comparison import compare_entries
    from malice.tournaments.running.progress import ReplayProgress
    from malice.tournaments.terminal.comparisons import format_comparison
    from malice.tournaments.terminal.results import describe_choice

    with ReplayProgress(sys.stderr) as progress:
        found = compare_entries(store, new, base, adjusted=True, watcher=progress)
    if json:
        click.echo(msgspec.json.encode(found))
        return
    for line in describe_choice(store.league(), store.tournament().name):
        click.echo(line)
    for number, comparison in enumerate(found):
        if number:
            click.echo()
        for line in format_comparison(comparison):
            click.echo(line)


def _print_luck(store: Store, *, json: bool, csv: bool) -> None:
    import msgspec

    from malice.tournaments.terminal.comparisons import encode_adjusted_csv, format_adjusted

    found = take_luck_off(store)
    if json:
        click.echo(msgspec.json.encode(found))
    elif csv:
        click.echo(encode_adjusted_csv(found, store.tournament().name), nl=False)
    else:
        for line in format_adjusted(found):
            click.echo(line)


def _refuse_pairs(*pairs: dict[str, bool]) -> None:
    for options in pairs:
        if all(options.values()):
            raise click.UsageError(f"{' and '.join(options)} contradict each other")


def _print_rankings(store: Store, names: Sequence[str], choice: Choice, *, json: bool, csv: bool) -> None:
    """Print the rankings of tournaments one after the other, or without names that of all of them together."""
    from malice.tournaments.terminal.results import (
        describe_choice,
        encode_standings_csv,
        encode_standings_json,
        format_standings,
    )

    if json:
        click.echo(encode_standings_json(list(_rank(store, names, choice))))
    elif csv:
        click.echo(encode_standings_csv(list(_rank(store, names, choice))), nl=False)
    elif not names:
        ((_, found),) = _rank(store, names, choice)
        for line in (*describe_choice(store.league(), None), *format_standings(found)):
            click.echo(line)
    for number, name in enumerate(() if json or csv else names):
        if number:
            click.echo()
        store.select(name)
        print_standings(store, choice)


def _rank(store: Store, names: Sequence[str], choice: Choice) -> Iterator[tuple[str | None, Sequence[Standings]]]:
    """Yield the standings of tournaments, and say on stderr what a choice does not change in them."""
    from malice.tournaments.league.ranking import compute_league_standings, explain_table, read_season

    if not names:
        yield None, compute_league_standings(read_season(store, keep=False), choice)
    for name in names:
        store.select(name)
        contents = store.read(keep=False)
        if note := explain_table(contents, choice):
            click.echo(note, err=True)
        yield name, compute_league_standings(contents, choice)


def _print_changes(store: Store, since: str, choice: Choice, *, json: bool, csv: bool) -> None:
    from malice.tournaments.terminal.results import (
        describe_choice,
        encode_progression_csv,
        encode_progression_json,
        format_progression,
    )

    found, name = compute_changes(store, since, choice).progressions, store.tournament().name
    if json:
        click.echo(encode_progression_json(found, name))
    elif csv:
        click.echo(encode_progression_csv(found, name), nl=False)
    else:
        for line in (*describe_choice(store.league(), name), *format_progression(found)):
            click.echo(line)


@click.command()
@database_argument
@tournament_option
@click.option("--views", is_flag=True, help="Print a line for every decision: what the seat saw, and what it played.")
@click.option(
    "--positions", "at", type=click.IntRange(1), metavar="N", help="Print the position of each game after N actions."
)
@jobs_option
def export(db: Path, tournament: str | None, views: bool, at: int | None, jobs: int | None) -> None:
    """Print every game as a line of JSON: who sat where, every action with its times and note, the result.

    A league with several tournaments prints those of all but comparisons.

    With --views each line is a decision, for programs that learn from games: key, ruleset, number of the action,
    seat, label, view and legal as the bot received them, the action played, and the seat's final place and score.
    Verdicts are not decisions and are left out.

    With --positions each line is a position, from which `malice play` and `malice compare` go on with --from. Games
    that were over by then, and those of parts that are not, have none.
    """
    from malice.referee.records import Key
    from malice.tournaments.league.replay_pool import count_processors, replay_rows
    from malice.tournaments.league.series import plays_series, score_league_series

    _refuse_pairs({"--views": views, "--positions": at is not None})
    # A decision names its game, but no tournament.
    with open_store(db, tournament=tournament, several=not views and at is None) as store, store.snapshot():
        for name in [store.tournament().name] if tournament or views or at else store.league().list_meant():
            store.select(name)
            series = score_league_series(store.read()) if plays_series(store.rulesets()) and not views else {}
            left_out = store.counted_games().left_out
            work = f"position {at}" if at else "decisions" if views else "games"
            pieces = (
                (row, series.get(Key(row.part, row.table, row.deal, row.rotation)))
                for row in store.list_recorded()
                if row.number not in left_out
            )
            with replay_rows(store, work, store.count_stored(), jobs or count_processors()) as replayers:
                for _, lines in replayers.replay(pieces):
                    click.echo(lines, nl=False)


@click.command()
@database_argument
@tournament_option
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write.")
@click.option("--changes-since", metavar="LAST.db|DATE", help="Say what changed since an older copy, or a day.")
@url_option
@json_option
def feedback(db: Path, tournament: str | None, out: Path, changes_since: str | None, url: str, json: bool) -> None:
    """Write a page for each bot, to hand to its author alone: as HTML, and the same as Markdown.

    A page bears the label of its bot, and needs neither the league nor another file. It tells its place and what
    changed, its faults with the line that caused them and what it wrote to stderr, its times, and its worst games,
    each as a replay of one file in the folder of its name. Of other bots it shows labels, results, cards and actions.
    Pages of entries that are gone are deleted. --url is the address of the public site, for links into it.
    """
    import msgspec

    from malice.site_pages.feedback import write_pages

    with open_store(db, tournament=tournament) as store:
        changes = None if changes_since is None else compute_changes(store, changes_since)
        paths = list(map(str, write_pages(store, out, url, changes)))
    click.echo(msgspec.json.encode(paths) if json else "\n".join(paths))


@click.command()
@database_argument
@tournament_option
@click.option("--since", default="yesterday", show_default=True, metavar="DATE", help="A date, monday, or today.")
@click.option("--html", is_flag=True, help="Print a page that needs no other file.")
@json_option
def report(db: Path, tournament: str | None, since: str, html: bool, json: bool) -> None:
    """Print what happened since a day, as Markdown: games, what became of each submission, who climbed, faults, what
    was decided, and what needs a decision.

    The same league and day give the same report, so it may be written again at any time.
    """
    import msgspec

    from malice.tournaments.terminal.report import format_report, make_report

    _refuse_pairs({"--json": json, "--html": html})
    begin = parse_date(since, datetime.fromtimestamp(time.time()).astimezone(), "--since")
    with open_store(db, tournament=tournament, several=True) as store, store.snapshot():
        found = make_report(store, begin, [tournament] if tournament else store.league().list_meant())
    if json:
        click.echo(msgspec.json.encode(found))
        return
    text = "\n".join(format_report(found, db.stem, format_date(begin)))
    if html:
        from malice.site_pages.feedback import render_alone

        text = render_alone(db.stem, text, "for organisers")
    click.echo(text)


@click.command()
@database_argument
@tournament_option
@click.option("--all", "everything", is_flag=True, help="Check all tournaments of the league, one after the other.")
@jobs_option
@json_option
def verify(db: Path, tournament: str | None, everything: bool, jobs: int | None, json: bool) -> None:
    """Replay every game of a league; check cards, actions, results and digests; exit 5 if a check fails.

    This also compares the stored summary of a tournament with the games. The line "not covered" names the fields that
    nothing else can contradict. Comparisons are checked only with --all, or by name; --json prints an array if
    several tournaments are checked, and with --all.
    """
    import msgspec

    from malice.tournaments.sanitizer import sanitize
    from malice.tournaments.terminal.league import describe_verified
    from malice.tournaments.terminal.results import describe_choice

    _refuse_pairs({"--all": everything, "--tournament": tournament is not None})
    with open_store(db, tournament=tournament, several=True) as store:
        league = store.league()
        names = list(league.tournaments) if everything else [tournament] if tournament else league.list_meant()
        found = [_verify(store, name, jobs) for name in names]
        several = everything or len(names) > 1
        choice = [] if several else list(describe_choice(store.league(), names[0]))
    if json:
        click.echo(msgspec.json.encode(found if several else found[0]))
        return
    for name, verified in zip(names, found, strict=True):
        heading = [f"tournament      {sanitize(name)}"] if several else choice
        for line in (*heading, *describe_verified(verified)):
            click.echo(line)


def _verify(store: Store, name: str, jobs: int | None) -> Verified:
    from malice.tournaments.league.replay_pool import count_processors
    from malice.tournaments.league.verify import verify_league
    from malice.tournaments.running.progress import Progress

    store.select(name)
    with Progress(len(store.keys()), 0, sys.stderr) as progress:
        return verify_league(store, progress.count_game, jobs or count_processors())
