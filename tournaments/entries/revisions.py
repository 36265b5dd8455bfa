"""Names with `@`: a bot's folder at a git revision, and the versions of an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import Bot, find_bot, find_folder, list_shipped_bots, names_program
from malice.tournaments.entries.git_trees import GitFolder
from malice.tournaments.entries.kept_bots import KeptBots

LAST = "last"
_NUMBER = re.compile("[1-9][0-9]{0,5}")
"""A version; longer numbers are abbreviated commits."""


class Reference(Struct, frozen=True):
    """A name with `@`, such as `mybot@2`, `mybot@last` or `mybot@HEAD~3`."""

    label: str
    """What stands before the `@`: the label of an entry, or a folder."""
    selector: int | str
    """The number of a version, `last`, or else a git revision."""

    @property
    def names_version(self) -> bool:
        """Whether it names a version that a league knows; if not, a git revision."""
        return isinstance(self.selector, int) or self.selector == LAST


def parse_reference(words: str) -> Reference | None:
    """Return the parts of a name with `@`, or None if it has none, or nothing on one side of it.

    A number of one to six digits is a version. The last `@` counts, but for git's own, as in `mybot@HEAD@{1}`.
    """
    label, selector = next(_split(words), ("", ""))
    if not label:
        return None
    return Reference(label, int(selector) if _NUMBER.fullmatch(selector) else selector)


def find_revision(words: str, base: Path, kept: KeptBots, *, guard: int | None = None) -> Bot:
    """Return the bot that a folder held at a git revision, such as `./bots/mybot@HEAD~3`, built and kept.

    A folder, a bot that ships or a program whose own name has an `@` comes first, and is found as by `find_bot`.

    Args:
        words: as the user wrote them.
        base: the folder that paths are relative to.
        kept: where the revision is kept, and plays from.
        guard: as in `build`.

    Returns:
        The bot, named after the folder and the revision: `mybot@HEAD~3`.

    Raises:
        BotError: there is no such folder, repository, revision or bot, or no git; or as `KeptBots.load`.
        DataError: the bot.toml of that revision is invalid.
        Abandoned: nobody waits for the build.
    """
    if _is_literal(words, base):
        return find_bot(words, base)
    place = _find_place(words, base)
    if place is None:
        if reference := parse_reference(words):
            raise BotError(f"no bot {words!r}: expected a folder before the @, got {reference.label!r}")
        return find_bot(words, base)
    folder, revision = place
    try:
        repository = GitFolder(folder)
        commit = repository.find_commit(revision)
        bot = kept.keep_tree(partial(repository.write, commit), folder, guard)
    except (BotError, DataError) as error:
        raise type(error)(f"{words}: {error}") from None
    return structs.replace(bot, manifest=structs.replace(bot.manifest, name=f"{folder.name}@{revision}"))


def _split(words: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a name at an `@`, from the last one to the first."""
    for match in reversed(list(re.finditer("@", words))):
        before, after = words[: match.start()], words[match.end() :]
        if before and after and not after.startswith("{"):
            yield before, after


def _is_literal(words: str, base: Path) -> bool:
    """Tell whether something has this very name, with its `@`."""
    if find_folder(words, base) or words in list_shipped_bots():
        return True
    return names_program(words, base) and (" " not in words or _find_place(words, base) is None)


def _find_place(words: str, base: Path) -> tuple[Path, str] | None:
    """Return the folder and the revision that a name means, or None if what is before the `@` is no folder."""
    shipped = list_shipped_bots()
    for before, after in _split(words):
        folder = find_folder(before, base) or shipped.get(before)
        if folder is not None:
            return folder.resolve(), after
    return None
