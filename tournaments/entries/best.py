"""Entries by rank: `{ top = 8, from = "course" }` stands for the best eight of another tournament of the league."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.tournaments.entries.builds import Say
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config, LabelledBot
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.standings import Row, Standings
from malice.tournaments.sanitizer import sanitize


def choose_best(store: LeagueReader, config: Config, say: Say) -> Config:
    """Put the best entries of a tournament in the place of each line that asks for them.

    They are chosen once, when the tournament begins, and stay, whatever becomes of the ranking.

    Args:
        store: the league.
        config: the content of the tournament file.
        say: receives a line on what the ranking does not settle.

    Raises:
        DataError: a line asks for what the ranking does not say, or for others than when the tournament began.
        LeagueError: there is no such tournament.
    """
    begun = store.league().tournaments.get(config.name)
    known = [line for line in begun.config.entries if isinstance(line, LabelledBot) and line.top] if begun else []
    entries: list[str | LabelledBot] = []
    for line in config.entries:
        if isinstance(line, str) or not line.top:
            entries.append(line)
        elif fixed := [each for each in known if (each.top, each.source) == (line.top, line.source)]:
            entries += fixed
        elif known:
            raise DataError(
                where="entries: top",
                expected=f"{known[0].top} from {known[0].source!r}, as when the tournament began",
                got=f"{line.top} from {line.source!r}",
            )
        else:
            entries += _list_best(store, config, line, say)
    return replace(config, entries=tuple(entries))


def _list_best(store: LeagueReader, config: Config, line: LabelledBot, say: Say) -> Iterator[LabelledBot]:
    reader = store.view(line.source)
    contents, source = reader.read(), sanitize(line.source)
    if config.anonymous or contents.config.anonymous:
        raise DataError(where="entries: top", expected="named entries, since an anonymous tournament must list its own")
    standings = _choose_standings(compute_league_standings(contents), config, line.source)
    ranked = [row for row in standings.rows if row.rank is not None]
    if len(ranked) < line.top:
        most = f"{len(ranked)}, the entries that {source!r} ranks"
        raise DataError(where="entries: top", expected=f"at most {most}", got=line.top)
    if contents.live:
        say(f"{source} is not over: its best {line.top} are those of its ranking by now")
    if _is_torn(ranked, line.top):
        tied = [sanitize(row.label) for row in ranked if row.rank == ranked[line.top - 1].rank]
        say(f"{source}: {', '.join(tied)} share a place at the end of the best {line.top}: those listed first play")
    versions = {entry.label: entry.version for entry in contents.entries}
    words = dict(zip((each.label for each in contents.entries), contents.config.entries, strict=False))
    kept = KeptBots(reader.path)
    for row in ranked[: line.top]:
        bot = f"{row.label}@{versions[row.label].number}"
        if not kept.has(versions[row.label].hash):  # a command line
            own = words[row.label]
            bot = own if isinstance(own, str) else own.bot
        yield LabelledBot(bot, row.label, line.top, line.source)
    names = ", ".join(sanitize(row.label) for row in ranked[: line.top])
    say(f"the best {format_count(line.top, 'entry', 'entries')} of {source}: {names}")


def _is_torn(ranked: list[Row], top: int) -> bool:
    """Whether the last of the best shares its rank with the first who is not among them."""
    return len(ranked) > top and ranked[top - 1].rank == ranked[top].rank


def _choose_standings(found: tuple[Standings, ...], config: Config, source: str) -> Standings:
    """The ranking under the ruleset that will be played, or the only one."""
    wanted = Path(config.rulesets[0]).stem if config.rulesets[0].endswith(".toml") else config.rulesets[0]
    fit = [each for each in found if each.ruleset == wanted] or list(found)
    if len(fit) == 1:
        return fit[0]
    if not fit:
        raise LeagueError(f"entries: top: {source!r} has no finished game")
    names = ", ".join(f"{each.ruleset} with {each.seats} seats" for each in fit)
    raise DataError(where="entries: top", expected=f"one ranking of {source!r} under {wanted!r}", got=names)
