"""A second opinion on the pages: its data files, and for the pages of bots what it cost to differ from it."""

from __future__ import annotations

import math
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from malice.referee.families import load_family
from malice.referee.records import Key, Record
from malice.referee.replay import VOID
from malice.referee.requests import ReplayedDecision, replay_decisions
from malice.site_pages import shards
from malice.site_pages.contents import PublishedContents
from malice.site_pages.files import Folder
from malice.site_pages.survey import Survey
from malice.site_pages.text import format_label
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from malice.tournaments.running.costs import KEPT, POLICY, PROOF, SureCost
from malice.tournaments.running.rerun import Opinion, Opinions, Rerun
from malice.tournaments.sanitizer import sanitize

NOTE = 500


def choose_games(survey: Survey, first: Iterable[Key | None], most: int | None) -> list[GameSummary]:
    """Choose the games that people open first: those named, then the latest, the newest first.

    Args:
        survey: all games.
        first: the games to begin with.
        most: how many; None for all.
    """
    games = {game.key: game for own in survey.blocks.values() for game in own if game.actions and game.reason != VOID}
    latest = reversed(games)
    order = dict.fromkeys([*(key for key in first if key in games), *latest])
    return [games[key] for key in list(order)[:most]]


class CostlyChoice(Struct, frozen=True):
    """An action that surely cost its bot something."""

    address: str
    """Of the action in a replay, from the key on."""
    played: str
    """In words."""
    instead: str
    """What the other bot would have played, in words."""
    cost: str
    """With its margin, in percent of a win."""


class Diagnosis(Struct, frozen=True):
    """What pages tell of a second opinion."""

    index: dict[str, Any]
    """What the index of the site tells."""
    bot: str
    tried: int
    """How many choices were tried in many worlds; 0 if nobody asked what they cost."""
    choices: Mapping[str, Sequence[CostlyChoice]]
    """By label of a bot that it was asked about, its costly choices, most first; empty without costs."""
    kept: int = KEPT
    """Of each game, so many choices at most were tried in many worlds."""
    worlds: int = PROOF.worlds
    tries: int = PROOF.tries
    policy: str = POLICY


def write_opinions(folder: Folder, source: PublishedContents, bot: Opinions, games: Sequence[GameSummary]) -> Diagnosis:
    """Ask a bot about games, and write what it says; return what other files tell of it.

    Raises:
        LeagueError, OSError: as `malice.tournaments.running.rerun.Opinions.ask`.
    """
    blocks: defaultdict[int, list[Key]] = defaultdict(list)
    for game in sorted(games, key=lambda game: game.number):
        blocks[game.number // shards.SIZE].append(game.key)
    found: defaultdict[str, list[tuple[float, CostlyChoice]]] = defaultdict(list)
    for block, keys in blocks.items():
        opinions = list(bot.ask(keys, len(games)))
        _write_block(folder, f"opinions-{block}", source, opinions)
        if bot.weigher:
            _list_costs(source, opinions, found)
    who = bot.adviser
    index = {"bot": sanitize(who.name), "version": sanitize(who.version), "hash": who.hash[:12], "blocks": [*blocks]}
    choices = {label: [each for _, each in sorted(own, key=lambda one: -one[0])] for label, own in found.items()}
    return Diagnosis(index, sanitize(who.name), bot.weigher.tried if bot.weigher else 0, choices)


def _list_costs(
    source: PublishedContents, opinions: Sequence[Opinion], found: defaultdict[str, list[tuple[float, CostlyChoice]]]
) -> None:
    """Add the costly choices of some games, by label; who was asked about without any has an empty list."""
    for opinion in opinions:
        for rerun in opinion.seats:
            if rerun is not None:
                found[rerun.label] += []
    weighed = [opinion for opinion in opinions if opinion.costs]
    for opinion, record in zip(weighed, source.read_records([each.key for each in weighed]), strict=True):
        words = _Words(record)
        for each in opinion.costs:
            rerun = opinion.seats[each.seat]
            assert rerun is not None
            choice = next(choice for choice in rerun.choices if choice.action == each.action)
            told = CostlyChoice(
                f"{record.key}/{each.action}",
                sanitize(words.describe(each.action, choice.played), NOTE),
                sanitize(words.describe(each.action, choice.plays), NOTE),
                format_cost(each),
            )
            found[rerun.label].append((each.cost, told))


def format_cost(cost: SureCost) -> str:
    """A cost and its margin in percent, with a digit more where whole figures would seem to reach 0."""
    share, margin = 100 * cost.cost, 100 * cost.margin
    digits = 0 if round(share) > math.ceil(margin) else 1
    return f"{share:.{digits}f} ± {margin:.{digits}f} %"


def _write_block(folder: Folder, name: str, source: PublishedContents, opinions: Sequence[Opinion]) -> None:
    header = shards.make_header(name, (opinions, source.publication))
    path = f"data/{name}.js"
    if folder.read_first_line(path) == header:
        folder.keep(path)
        return
    records = source.read_records([opinion.key for opinion in opinions])
    payload = {}
    for opinion, record in zip(opinions, records, strict=True):
        words, costs = _Words(record), {cost.action: format_cost(cost) for cost in opinion.costs}
        payload[str(record.key)] = [
            None if seat is None else _make_seat(seat, source.publication, words, costs) for seat in opinion.seats
        ]
    folder.write(path, shards.make_script(name, header, shards.pack(payload)))


class _Words:
    """Says what actions are that were not played in a game, to people."""

    def __init__(self, record: Record) -> None:
        self._describe = load_family(record.family).describe_action
        self._names = [format_label(label) for label, _ in record.entries]
        self._decisions: dict[int, ReplayedDecision] = {each.index: each for each in replay_decisions(record)}

    def describe(self, place: int, action: str) -> str:
        """Describe an action in the place of one that was played."""
        return self._describe(action, self._decisions[place].view, self._names)


def _make_seat(rerun: Rerun, publication: Publication, words: _Words, costs: Mapping[int, str]) -> dict[str, Any]:
    host = platform.node()
    others = [
        (
            choice.action,
            choice.plays,
            sanitize(words.describe(choice.action, choice.plays), NOTE),
            sanitize(publication.redact_note(choice.note, host), NOTE, lines=True),
            costs.get(choice.action),
        )
        for choice in rerun.choices
        if not choice.agrees
    ]
    sentence = sanitize(publication.redact_sentence(rerun.sentence, host), NOTE)
    fault = {"code": rerun.verdict, "sentence": sentence} if rerun.verdict else None
    return {"moves": rerun.moves, "others": others, "fault": fault}
