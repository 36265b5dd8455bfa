"""The HTML pages: the values that each template receives, and templates that are compiled once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from msgspec import Struct

from malice.referee.rules_text import RulesetText
from malice.site_pages import text
from malice.site_pages.bot_details import BotResult, Details, Note
from malice.site_pages.chart import Histogram
from malice.site_pages.docs import DocPage
from malice.site_pages.evidence import Farewell, VerdictCode
from malice.site_pages.front import Front
from malice.site_pages.game_list import GameRow
from malice.site_pages.last_table import LastTable
from malice.site_pages.opinions import CostlyChoice, Diagnosis
from malice.site_pages.rankings import Marks, make_name
from malice.site_pages.share_image import SHARE_IMAGE
from malice.site_pages.survey import KeptMarkup
from malice.tournaments.league.contents import Entry
from malice.tournaments.league.parts import Part
from malice.tournaments.league.standings import State
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.sanitizer import sanitize


class CompiledTemplates(BytecodeCache):
    """Keeps what the templates compile to; a template whose text changes is compiled again."""

    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill in what is known of a template."""
        if known := self._compiled.get(bucket.key):
            bucket.bytecode_from_string(known)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template."""
        self._compiled[bucket.key] = bucket.bytecode_to_string()


COMPILED = CompiledTemplates()


TEMPLATES = Path(__file__).parent / "templates"

STYLES = ("site.css", "colours.css", "charts.css")
"""The style sheets of every page, in their order."""
REPLAY_STYLES = ("cards.css", "tableau.css", "replay.css", "race.css", "mirror.css", "evidence.css")
"""Those of a replay on top."""
_SCRIPTS = (
    *("elements", "cards", "faces", "tableau", "families", "shards", "opinion", "game"),
    *(
        "words",
        "table",
        "log",
        "address",
        "share",
        "lead",
        "race",
        "moments",
        "summary",
        "mirror",
        "controls",
        "stage",
        "arrow",
    ),
)
REPLAY_SCRIPTS = tuple(f"{name}.js" for name in _SCRIPTS)
"""The scripts of a replay, in their order; `controls.js` opens the game."""


class BotPage(Struct, frozen=True):
    """What the page of an entry shows."""

    entry: Entry
    results: Sequence[BotResult]
    details: Mapping[str, Details]
    """More of each result, by its anchor."""
    fault_games: int
    faults: Sequence[VerdictCode]
    withheld: bool
    """Whether the evidence of its verdicts is not published."""
    times: Histogram | None
    notes: Sequence[Note]
    games: Sequence[GameRow]
    """The latest."""
    slug: str
    """Part of the names of its tables to download."""
    diagnosis: Diagnosis | None = None
    """What a second opinion on games found."""
    costs: Sequence[CostlyChoice] | None = None
    """Its own choices that surely cost it something; None if nobody asked."""
    machines: str = ""
    """How fast the workers were that played its games elsewhere, in words."""
    farewell: Farewell | None = None
    """How it failed once games were over."""


class PartRow(Struct, frozen=True):
    """A part of the tournament: its commit, and its seed once it is told."""

    number: int
    title: str
    games: int
    """Those that were planned: of a bot that was suspended or left, some are never played."""
    played: int
    commit: str
    seed: str | None
    """32 bytes, hex."""


def make_part_row(tournament: Tournament, part: Part, played: int) -> PartRow:
    seed = tournament.seeds(part.number).seed.hex() if part.number in tournament.closed else None
    return PartRow(part.number, part.title, tournament.schedules[part.number].total, played, part.commit, seed)


def _call_away(state: State) -> str:
    """What the front page counts an entry as that does not play, or plays in an older version."""
    return "in an older version" if state == "playing" else state


def make_template_environment() -> Environment:
    """Templates escape all text, and fail at a name that they do not know."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        bytecode_cache=COMPILED,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class GameCount(NamedTuple):
    """How many games there are."""

    played: int
    planned: int
    """Those that were played, and those that are open."""
    by_part: Mapping[int, int] = MappingProxyType({})
    """Those that were played of each part."""


class Pages:
    """Renders pages from the templates, with the values that all pages share.

    Args:
        tournament: what they are about.
        states: of its entries, by label.
        games: how many there are.
        stamp: the state of the league.
        url: the address that the site will have on the web, with a slash at its end; empty if unknown.
        kept: rows of earlier renderings of the same league.
    """

    def __init__(
        self,
        tournament: Tournament,
        states: Mapping[str, State],
        games: GameCount,
        stamp: str,
        *,
        url: str = "",
        kept: KeptMarkup | None = None,
    ) -> None:
        self._url = url
        self._env = make_template_environment()
        self._env.filters |= {
            "shown": sanitize,
            "lines": lambda words: sanitize(words, lines=True),
            "label": text.format_label,
            "signed": text.format_signed,
            "ms": text.format_milliseconds,
            "counted": text.format_count,
        }
        self._states = states
        self.marks = Marks(states)
        """The discs of the bots."""
        kept = kept or KeptMarkup()
        kept.begin(tuple(states))
        self._env.globals |= {
            "title": sanitize(tournament.name, 80),
            "tournament": tournament,
            "parts": [make_part_row(tournament, part, games.by_part.get(part.number, 0)) for part in tournament.parts],
            "states": states,
            "mark_bot": self.marks.find,
            "created": datetime.fromtimestamp(tournament.created, UTC).strftime("%Y-%m-%d"),
            "played": games.played,
            "planned": games.planned,
            "make_games_address": text.make_games_address,
            "stamp": stamp,
            "common_styles": STYLES,
            "kept": kept.make,
        }

    def render_front(
        self, front: Front, entries: Sequence[Entry], opened: GameRow | None, *, picture: bool = False
    ) -> bytes:
        """Render index.html.

        Args:
            front: what it shows.
            entries: as far as they are published.
            opened: the row of its game to open.
            picture: whether there is one to show beside a link to it.
        """
        away = [entry for entry in entries if self._states[entry.label] != "playing" or entry.absence]
        return self._render(
            "index.html",
            "",
            front=front,
            sections=front.sections,
            course=front.course,
            overall=front.overall,
            warning=next((section.ranking.warning for section in front.sections if section.ranking.warning), ""),
            entries=[(make_name(entry.label), entry) for entry in entries],
            away=[(make_name(entry.label), entry) for entry in away],
            away_counts=Counter(_call_away(self._states[entry.label]) for entry in away),
            changes=front.changes,
            opened=opened,
            picture=picture and SHARE_IMAGE,
        )

    def render_bot(self, page: BotPage) -> bytes:
        fields = {name: getattr(page, name) for name in page.__struct_fields__}
        return self._render("bot.html", f"bots/{page.slug}.html", bot=make_name(page.entry.label), **fields)

    def render_ruleset(self, rules: RulesetText) -> bytes:
        return self._render("ruleset.html", f"rules/{text.make_slug(rules.name)}.html", rules=rules)

    def render_doc(self, place: int, docs: Sequence[DocPage]) -> bytes:
        """Render the documentation page at `place` in reading order."""
        return self._render(
            "doc.html",
            f"docs/{docs[place].name}.html",
            doc=docs[place],
            docs=docs,
            before=docs[place - 1] if place > 0 else None,
            after=docs[place + 1] if place + 1 < len(docs) else None,
        )

    def render_games(self, rows: Sequence[GameRow], blocks: Sequence[int]) -> bytes:
        """Render games.html with the latest games as a table; its script reads all from data/list-BLOCK.js."""
        return self._render("games.html", "games.html", rows=rows, blocks=blocks)

    def render_head_to_head(self) -> bytes:
        """Render the page of any two bots; its script reads all from data/meetings.js and data/meetings-ENTRY.js."""
        return self._render("head_to_head.html", "head-to-head.html")

    def render_replay(self, last_table: LastTable | None) -> bytes:
        """Without a script the page shows the last table of the game that it opens by itself."""
        files = {"scripts": REPLAY_SCRIPTS, "styles": REPLAY_STYLES}
        return self._render("replay.html", "replay.html", **files, alone=False, last_table=last_table)

    def _render(self, template: str, path: str, **values: Any) -> bytes:
        """Render the page that will lie at this path; that of the front page is empty."""
        values |= {"root": "../" * path.count("/"), "address": self._url and self._url + path}
        return self._env.get_template(template).render(**values).encode("utf-8", "replace")
