"""Names of bots wherever one is named: folders, shipped bots, command lines, versions of a league, git revisions."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from malice.referee.errors import BotError
from malice.tournaments.entries.bots import PERSON, Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.revisions import LAST, Reference, find_revision, parse_reference
from malice.tournaments.entries.variants import find_variant, give_query, list_splits
from malice.tournaments.league.store import Store


class Names:
    """Finds the bots that a user names.

    Args:
        league: the database beside which bots are kept.
        store: the league itself, if it is open; without it, nothing is known of versions.
        people: whether `you` is the person at the terminal.
        scratch: a database beside which git revisions are kept instead.
    """

    def __init__(
        self, league: Path, store: Store | None = None, *, people: bool = False, scratch: Path | None = None
    ) -> None:
        self._kept = KeptBots(league)
        self._revisions = self._kept if scratch is None else KeptBots(scratch)
        # Copied here: entries are looked up in threads, and a database belongs to one.
        self._versions = dict(store.league().versions) if store else {}
        self._people = people

    def find(self, words: str, base: Path = Path()) -> Bot:
        """Return the bot that words name, also `mybot@2` or `mybot@last`, a version, and `mybot@HEAD~3`, a revision.

        Each of them may have parameters: `mybot@2?weight=300`.

        Raises:
            BotError: there is no such bot, version or revision.
            ParameterError: the bot has no such parameter, or a value does not fit.
            DataError: its bot.toml is invalid.
        """
        # A label may have parameters of its own: mybot?weight=300@2 is the second version of that entry.
        for name, query in ((words, ""), *reversed(list_splits(words))):
            reference = parse_reference(name)
            if reference and reference.names_version and (found := self._find_version(reference)):
                return give_query(found, query, words) if query else found
        return find_variant(words, base, self._find)

    def _find(self, words: str, base: Path) -> Bot:
        if self._people and words == PERSON.manifest.name:
            return PERSON
        return find_revision(words, base, self._revisions) if parse_reference(words) else find_bot(words, base)

    def _find_version(self, reference: Reference) -> Bot | None:
        """Return a version of an entry; None if no entry has this label, so that it may be a folder."""
        label, selector = reference.label, reference.selector
        versions = self._versions.get(label) or self._versions.get(Path(label).name, [])
        if not versions:
            return None
        if selector != LAST and not (isinstance(selector, int) and selector <= len(versions)):
            raise BotError(f"{label}@{selector}: the league knows versions 1 to {len(versions)} of {label!r}")
        version = versions[-1 if selector == LAST else int(selector) - 1]
        bot = self._kept.load(version.hash)
        return replace(bot, manifest=replace(bot.manifest, name=f"{version.label}@{version.number}"))
