"""Names of bots wherever one is named: folders, shipped bots, command lines, versions of a league, git revisions."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from referee.errors import BotError
from tournaments.entries.bots import PERSON, BotSpec, find_bot
from tournaments.entries.kept_bots import KeptBots
from tournaments.entries.revisions import LAST, find_revision, parse_reference
from tournaments.league.store import Store


class Names:
    """Finds the bots that a user names.

    Args:
        league: the database beside which bots are kept.
        store: the league itself, if it is open; without it, nothing is known of versions.
        people: whether `you` is the person at the terminal.
    """

    def __init__(self, league: Path, store: Store | None = None, *, people: bool = False) -> None:
        self._kept = KeptBots(league)
        # Copied here: entries are looked up in threads, and a database belongs to one.
        self._versions = dict(store.league().versions) if store else {}
        self._people = people

    def find(self, words: str, base: Path = Path()) -> BotSpec:
        """Return the bot that words name, also `mybot@2` or `mybot@last`, a version, and `mybot@HEAD~3`, a revision.

        Raises:
            BotError: there is no such bot, version or revision.
            DataError: its bot.toml is invalid.
        """
        if self._people and words == PERSON.manifest.name:
            return PERSON
        reference = parse_reference(words)
        if reference is None:
            return find_bot(words, base)
        if reference.names_version and (found := self._find_version(reference.label, reference.selector)):
            return found
        return find_revision(words, base, self._kept)

    def _find_version(self, label: str, selector: int | str) -> BotSpec | None:
        """Return a version of an entry; None if no entry has this label, so that it may be a folder."""
        versions = self._versions.get(Path(label).name, [])
        if not versions:
            return None
        if selector != LAST and not (isinstance(selector, int) and selector <= len(versions)):
            raise BotError(f"{label}@{selector}: the league knows versions 1 to {len(versions)} of {label!r}")
        version = versions[-1 if selector == LAST else int(selector) - 1]
        bot = self._kept.load(version.hash)
        return replace(bot, manifest=replace(bot.manifest, name=f"{version.label}@{version.number}"))
