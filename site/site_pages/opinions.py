"""What a bot would have played in some of the games: data files beside the shards, a block of games in each."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from malice.referee.families import load_family
from malice.referee.records import Key, Record
from malice.referee.replay import VOID
from malice.referee.requests import Decision, replay_decisions
from malice.site_pages import shards
from malice.site_pages.files import Folder
from malice.site_pages.source import PublishedContents
from malice.site_pages.survey import Survey
from malice.site_pages.text import format_label
from malice.site_pages.wishes import OpinionGiver
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from malice.tournaments.running.opinions import Opinion
from malice.tournaments.running.rerun import Rerun, RerunAction
from malice.tournaments.sanitizer import sanitize

NOTE = 500


def choose_games(survey: Survey, first: Iterable[Key | None], most: int | None) -> list[GameSummary]:
    """Return the games that people open first: those named, then the latest, the newest first.

    Args:
        survey: all games.
        first: the games to begin with.
        most: how many; None for all.
    """
    games = {game.key: game for own in survey.blocks.values() for game in own if game.actions and game.reason != VOID}
    latest = reversed(games)
    order = dict.fromkeys([*(key for key in first if key in games), *latest])
    return [games[key] for key in list(order)[:most]]


def write_opinions(
    folder: Folder, source: PublishedContents, advice: OpinionGiver, games: Sequence[GameSummary]
) -> dict[str, Any]:
    """Ask a bot about games, and write what it says; return what the index of the site tells of it.

    Raises:
        LeagueError, OSError: as `malice.tournaments.running.opinions.Opinions.ask`.
    """
    blocks: defaultdict[int, list[Key]] = defaultdict(list)
    for game in sorted(games, key=lambda game: game.number):
        blocks[game.number // shards.SIZE].append(game.key)
    for block, keys in blocks.items():
        _write_block(folder, f"opinions-{block}", source, list(advice.ask(keys)))
    who = advice.adviser
    return {"bot": sanitize(who.name), "version": sanitize(who.version), "hash": who.hash[:12], "blocks": [*blocks]}


def _write_block(folder: Folder, name: str, source: PublishedContents, opinions: Sequence[Opinion]) -> None:
    header = shards.make_header(name, (opinions, source.publication))
    path = f"data/{name}.js"
    if folder.read_first_line(path) == header:
        folder.keep(path)
        return
    records = source.read_records([opinion.key for opinion in opinions])
    payload = {}
    for opinion, record in zip(opinions, records, strict=True):
        words = _Words(record)
        payload[str(record.key)] = [_make_seat(seat, source.publication, words) for seat in opinion.seats]
    folder.write(path, shards.make_script(name, header, shards.pack(payload)))


class _Words:
    """Says what actions are that were not played in a game, to people."""

    def __init__(self, record: Record) -> None:
        self._describe = load_family(record.family).describe_action
        self._names = [format_label(label) for label, _ in record.entries]
        self._decisions: dict[int, Decision] = {each.index: each for each in replay_decisions(record)}

    def describe(self, choice: RerunAction) -> str:
        return self._describe(choice.plays, self._decisions[choice.action].view, self._names)


def _make_seat(rerun: Rerun, publication: Publication, words: _Words) -> dict[str, Any]:
    host = platform.node()
    others = [
        (
            choice.action,
            choice.plays,
            sanitize(words.describe(choice), NOTE),
            sanitize(publication.redact_note(choice.note, host), NOTE, lines=True),
        )
        for choice in rerun.choices
        if not choice.agrees
    ]
    sentence = sanitize(publication.redact_sentence(rerun.sentence, host), NOTE)
    fault = {"code": rerun.verdict, "sentence": sentence} if rerun.verdict else None
    return {"moves": rerun.moves, "others": others, "fault": fault}
