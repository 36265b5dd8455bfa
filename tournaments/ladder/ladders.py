"""The ladders that ship, and the reference bots on them, kept by content.

A ladder that was released never changes; it is followed by the next number.
"""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import msgspec
from msgspec import Struct

from malice.referee.errors import BotError, DataError
from malice.referee.rules import MatchTerms
from malice.referee.rulesets import Ruleset, list_family_rulesets, load_ruleset
from malice.referee.toml_files import convert, read_toml, suggest_name
from malice.tournaments.entries.bot_files import list_files, write_tar
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.variants import give_parameters
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.config import ClockLines

FOLDER = Path(__file__).parent
BOTS = FOLDER / "bots"
"""Each bot as a compressed tar file, named by its content hash."""
DEFAULT_LADDER = "standard-v1"


class Rung(Struct, frozen=True, forbid_unknown_fields=True):
    """A reference bot on a ladder."""

    label: str
    bot: str
    """Its content hash."""
    rating: float
    """Where every seat has the same deal: how many deals of 1,000 it wins alone."""
    parameters: dict[str, str] = {}
    """Those that differ from its bot.toml."""
    deals: tuple[int, ...] = ()
    """What fixed the rating: its deals against the rung below, by points: LL, LD, WL or DD, WD, WW."""


class LadderFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that the file of a ladder says."""

    ruleset: str
    rungs: tuple[Rung, ...]
    """The weakest first."""
    anchor: str = ""
    """The label of the rung that has a round rating."""
    clock: ClockLines = ClockLines(kind="cpu", cap_ms=30_000)
    """By CPU time, so that a busy machine weakens nobody."""
    init_ms: int = 30_000
    seed: str = ""
    """Where every seat has the same deal: determines the deals, the same for everybody."""


class Ladder(Struct, frozen=True):
    """A ladder that was read, with its ruleset."""

    name: str
    file: LadderFile
    ruleset: Ruleset

    @property
    def rungs(self) -> tuple[Rung, ...]:
        return self.file.rungs

    @property
    def match(self) -> MatchTerms:
        return self.ruleset.match

    @property
    def alone(self) -> bool:
        """Whether a bot plays its deals alone, so that the ladder counts deals and not wins."""
        return self.match.same_deal


def list_ladders() -> list[str]:
    """The names of the ladders that ship, the default first."""
    return sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda name: (name != DEFAULT_LADDER, name))


def find_ladder(family: str) -> str | None:
    """The first ladder of a game, if it has any; the games of the others may be missing here."""
    rulesets = list_family_rulesets(family)
    return next((name for name in list_ladders() if _read_file(FOLDER / f"{name}.toml").ruleset in rulesets), None)


def load_ladder(name: str) -> Ladder:
    """Load a ladder that ships.

    Raises:
        DataError: there is none of this name.
    """
    known = list_ladders()
    if name not in known:
        raise DataError(f"no ladder {name!r}{suggest_name(name, known)}; known: {', '.join(known)}")
    return read_ladder(FOLDER / f"{name}.toml")


def read_ladder(path: Path) -> Ladder:
    """Read the file of a ladder.

    Raises:
        DataError: it is not one.
    """
    file = _read_file(path)
    labels = [rung.label for rung in file.rungs]
    if not labels or len({*labels}) < len(labels):
        raise DataError(where=f"{path}: rungs", expected="different labels", got=", ".join(labels) or "no rung")
    return Ladder(path.stem, file, load_ruleset(file.ruleset))


def _read_file(path: Path) -> LadderFile:
    return convert(read_toml(path), LadderFile, str(path))


def load_rung(rung: Rung, kept: KeptBots) -> Bot:
    """Load the bot of a rung, built and verified.

    Args:
        rung: it names the bot by its content.
        kept: where the bot is unpacked and built, once.

    Raises:
        BotError: a program that it needs is missing here, or it does not build.
        UnverifiedError: its file is missing or damaged.
    """
    archive = BOTS / f"{rung.bot}.tar.gz"
    if not kept.has(rung.bot):
        try:
            tar = gzip.decompress(archive.read_bytes())
        except (OSError, EOFError, ValueError) as error:
            raise UnverifiedError(f"{archive}: expected the bot of rung {rung.label!r}, got: {error}") from None
        kept.make_folder()
        kept.receive(rung.bot, tar)
    bot = kept.load(rung.bot)
    return give_parameters(bot, rung.parameters) if rung.parameters else bot


def freeze_bot(bot: Bot, folder: Path = BOTS) -> str:
    """Write the files of a bot for a ladder; return the content hash that names them.

    Raises:
        BotError: it is a command line, whose files nobody knows.
    """
    if bot.folder is None or not bot.owns_folder:
        raise BotError(where=bot.manifest.name, expected="a folder with a bot.toml", got="a command line")
    tar = BytesIO()
    write_tar(bot.folder, list_files(bot.folder, bot.manifest.ignore), tar)
    folder.mkdir(exist_ok=True)
    (folder / f"{bot.content}.tar.gz").write_bytes(gzip.compress(tar.getvalue(), mtime=0))
    return bot.content


def describe_ladder(ladder: Ladder) -> str:
    """The rungs of a ladder in one line, the weakest first."""
    return f"{ladder.name}: " + ", ".join(f"{rung.label} {rung.rating:,.0f}" for rung in ladder.rungs)


def encode_toml(value: object) -> str:
    """A value as TOML writes it: texts, numbers, lists and tables of these in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {encode_toml(inner)}" for name, inner in value.items()) + " }"
    return msgspec.json.encode(value).decode().replace(",", ", ") if not isinstance(value, str) else f'"{value}"'
