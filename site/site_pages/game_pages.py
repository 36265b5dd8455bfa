"""The replay page: what the families of games bring for it, and a game as one file that needs no other."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.families import load_family
from malice.referee.records import Record
from malice.site_pages import shards, text
from malice.site_pages.contents import SiteContents
from malice.site_pages.files import Folder
from malice.site_pages.game_list import Reasons
from malice.site_pages.last_table import draw_last_table
from malice.site_pages.pages import REPLAY_SCRIPTS, REPLAY_STYLES, STYLES, make_template_environment
from malice.site_pages.series import describe_standing, score_played_series
from malice.site_pages.survey import KeyIndex
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from malice.tournaments.league.series import plays_series
from malice.tournaments.sanitizer import sanitize


class GamePage(Struct, frozen=True):
    """The files of a family on the site, in the order in which the page loads them."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]


class GameFiles(NamedTuple):
    """The files of a family by name, in the order in which a page loads them."""

    scripts: dict[str, bytes]
    """Its data, as scripts, and its scripts."""
    styles: dict[str, bytes]


def write_game_pages(folder: Folder, families: Iterable[str]) -> dict[str, GamePage]:
    """Copy the files `page/*.js`, `*.css` and `*.json` of each family; return them by family.

    A page opened from a folder cannot read JSON, so that each JSON file becomes a script.

    Raises:
        FamilyError: a family is missing.
        OSError: a file cannot be read or written.
    """
    return {name: _write_page(folder, name) for name in sorted(families)}


def read_game_files(family: str) -> GameFiles:
    """Read the files of a family.

    Raises:
        FamilyError: it is missing.
        OSError: a file cannot be read.
    """
    source = load_family(family).folder / "page"
    data = {f"{path.name}.js": _make_data_script(family, path) for path in sorted(source.glob("*.json"))}
    return GameFiles(
        scripts=data | {path.name: path.read_bytes() for path in sorted(source.glob("*.js"))},
        styles={path.name: path.read_bytes() for path in sorted(source.glob("*.css"))},
    )


def _write_page(folder: Folder, family: str) -> GamePage:
    target = f"static/games/{text.make_slug(family)}"
    files = read_game_files(family)
    for name, content in (files.scripts | files.styles).items():
        folder.write(f"{target}/{name}", content)
    return GamePage(
        scripts=tuple(f"{target}/{name}" for name in files.scripts),
        styles=tuple(f"{target}/{name}" for name in files.styles),
    )


def _make_data_script(family: str, path: Path) -> bytes:
    """A script that passes the content of a JSON file to the page."""
    content = msgspec.json.decode(path.read_bytes())
    arguments = b",".join(map(msgspec.json.encode, (family, path.stem, content)))
    return b"malice.keepData(%b);\n" % arguments


STATIC = Path(__file__).parent / "static"

# What would end an element, or begin a comment, where a script or a style sheet means text.
_SCRIPT_MARKUP = re.compile(r"<(?=!--|/?script)", re.IGNORECASE)
_STYLE_END = re.compile(r"</(?=style)", re.IGNORECASE)


class LoneGame(NamedTuple):
    """A game as one file."""

    page: bytes
    withheld: int
    """Verdicts that it shows without stderr and the last lines."""


def render_lone_game(
    source: SiteContents, game: GameSummary, record: Record, publication: Publication, url: str = ""
) -> LoneGame:
    """Render the replay of a game as one file.

    Its policy lets nothing run but the scripts and styles that it was made with, by their hashes, and nothing
    load.

    Args:
        source: the league of the game.
        game: its row.
        record: its whole record.
        publication: what may be shown.
        url: the address of the site, with a slash at its end, for links to its pages; empty for none.

    Raises:
        FamilyError: the game is missing.
        OSError: a file of it cannot be read.
    """
    game = replace(game, number=0)  # this file has no other
    family = read_game_files(record.family)
    shown = publication.redact_record(record)
    reasons = Reasons({game.ruleset: source.tournament().rulesets[game.ruleset]})
    data = _list_data(source, game, shown, reasons)
    scripts = [_make_script(content) for content in _list_scripts(family, data)]
    styles = [_make_style(content) for content in _list_styles(family)]
    page = (
        make_template_environment()
        .get_template("game.html")
        .render(
            title=sanitize(source.tournament().name, 80),
            key=str(game.key),
            players=" v ".join(text.format_label(label) for label, _ in record.entries),
            icon=b64encode((STATIC / "icon.svg").read_bytes()).decode(),
            policy=_make_policy(scripts, styles),
            scripts=map(Markup, scripts),
            styles=map(Markup, styles),
            url=url,
            alone=True,
            last_table=draw_last_table(game, shown, reasons),
        )
    )
    withheld = sum(publication.withholds(record.entries[fault.seat][0], fault) for fault in record.faults)
    return LoneGame(page.encode("utf-8", "replace"), withheld)


def _list_styles(family: GameFiles) -> Iterator[bytes]:
    for name in (*STYLES, *REPLAY_STYLES):
        yield (STATIC / name).read_bytes()
    yield from family.styles.values()


def _list_scripts(family: GameFiles, data: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the scripts in their order: the last ones open the game, so that family and data come before."""
    opening = REPLAY_SCRIPTS.index("controls.js")
    for name in REPLAY_SCRIPTS[:opening]:
        yield (STATIC / name).read_bytes()
    yield from family.scripts.values()
    yield from data
    for name in REPLAY_SCRIPTS[opening:]:
        yield (STATIC / name).read_bytes()


def _list_data(source: SiteContents, game: GameSummary, record: Record, reasons: Reasons) -> Iterator[bytes]:
    """Yield the data files of a site with no other game; of other bots it has no names."""
    index = KeyIndex()
    index.add(game.number, game.key)
    seated = {name for label in game.labels for name in (label, label.rpartition("@")[0])}
    bots = [
        text.make_slug(entry.label) if entry.label in seated else "" for entry in source.tournament().list_entries()
    ]
    rest: dict[str, Any] = {"size": shards.SIZE, "watch": str(game.key), "splits": {}, "families": {}, "bots": bots}
    yield shards.make_script("index", b"// the only game", shards.pack(index.make_payload() | rest))
    block = shards.Block()
    series = score_played_series(source.read()) if plays_series(source.tournament().rulesets.values()) else {}
    block.add(game, record, reasons.describe(game), describe_standing(series.get(game.key)))
    yield shards.make_script("games-0", b"// its events", block.pack())


def _make_script(content: bytes) -> str:
    return _SCRIPT_MARKUP.sub(r"\\x3c", _decode(content))


def _make_style(content: bytes) -> str:
    return _STYLE_END.sub(r"<\\/", _decode(content))


def _decode(content: bytes) -> str:
    """The text that a browser makes of a file within a page: the text that it hashes."""
    decoded = content.decode("utf-8-sig", "replace").replace("\0", "\ufffd")
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


def _make_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    allowed = {"script-src": scripts, "style-src": styles}
    lists = [f"{name} {' '.join(map(_hash, contents))}" for name, contents in allowed.items()]
    return "; ".join(["default-src 'none'", *lists, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
