"""The games that a bot plays: what its bot.toml says, and who is refused where another game is played."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from malice.referee.errors import BotError, DataError
from malice.referee.families import list_folders
from malice.referee.isolation.folders import MANIFEST
from malice.referee.rulesets import find_ruleset
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.manifests import Manifest


class UnfitBot(DataError):
    """A bot does not play a game, or is not made for a ruleset that is played."""

    def __init__(self, sentence: str, bot: Bot) -> None:
        super().__init__(sentence)
        self.bot = bot


def list_games(bot: Bot) -> tuple[str, ...]:
    """Return the games that a bot plays; none where its bot.toml leaves that open, as a command line does.

    Raises:
        BotError: bot.toml names an unknown game, or a ruleset of a game that it does not name.
        DataError: a ruleset in its folder is invalid.
    """
    manifest = bot.manifest
    where = bot.folder / MANIFEST if bot.folder else Path(MANIFEST)
    _require_games(manifest, where)
    base = bot.folder or Path()
    own = dict.fromkeys(find_ruleset(name, base).family for name in manifest.rulesets)
    if strange := [family for family in own if manifest.games and family not in manifest.games]:
        raise BotError(f"{where}: rulesets: {strange[0]} is not among its games, {', '.join(manifest.games)}")
    return tuple(own) or manifest.games


def _require_games(manifest: Manifest, where: Path) -> None:
    known = [name for name, _ in list_folders()]
    for name in manifest.games:
        if name not in known:
            raise BotError(f"{where}: games: no game {name!r}{suggest_name(name, known)}; known: {', '.join(known)}")


def require_games(bot: Bot, label: str, wanted: Iterable[str]) -> None:
    """Make sure that a bot plays all games that it will be asked to play.

    Raises:
        UnfitBot: it does not; the sentence names the bot, its games, and the other one.
        BotError, DataError: its bot.toml is invalid.
    """
    games = list_games(bot)
    others = [family for family in dict.fromkeys(wanted) if games and family not in games]
    if others:
        sentence = f"{label}: plays {', '.join(games)} (games or rulesets in its bot.toml), not {others[0]}"
        raise UnfitBot(sentence, bot)
