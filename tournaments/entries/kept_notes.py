"""Notes beside the kept bots of a league: where what a copy lacks is found, and which bot with which parameters plays.

`HASH.home` names the folder that holds what a copy lacks, such as an interpreter in `.venv`; most bots need none.
`HASH.variant` says which kept bot plays under this hash, and which of its parameters differ from its bot.toml: the
files of a bot are kept once, however many variants of it play.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from malice.tournaments.entries.built_copies import sync
from malice.tournaments.entries.parameters import hash_variant
from malice.tournaments.entries.workplaces import open_workplace
from malice.tournaments.errors import LeagueError

VARIANT = ".variant"


class Variant(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot with parameters that differ from its bot.toml."""

    content: str
    """The hash of its files."""
    given: dict[str, str]


class KeptNotes:
    """The notes in a folder of kept bots; each appears whole, and is on the disk.

    Args:
        folder: the folder, which may not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note_home(self, hash: str, home: Path) -> None:
        """Note the home of a kept bot."""
        if self.read_home(hash) != home:
            self._write(f"{hash}.home", str(home))

    def read_home(self, hash: str) -> Path | None:
        """Return the home of a kept bot, if it has one.

        Raises:
            LeagueError: the note is damaged.
        """
        path = self._folder / f"{hash}.home"
        try:
            home = path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            home = ""
        if not home.startswith("/") or "\0" in home:
            raise LeagueError(f"{path}: damaged: expected the path of a folder")
        return Path(home)

    def note_variant(self, hash: str, variant: Variant) -> None:
        """Note what plays under a hash; nothing if that is a bot with the parameters of its bot.toml."""
        if variant.given and self.read_variant(hash) != variant:
            self._write(f"{hash}{VARIANT}", msgspec.json.encode(variant).decode())

    def read_variant(self, hash: str) -> Variant:
        """Return what plays under a hash.

        Raises:
            LeagueError: the note is damaged.
        """
        path = self._folder / f"{hash}{VARIANT}"
        try:
            variant = msgspec.json.decode(path.read_bytes(), type=Variant)
        except FileNotFoundError:
            return Variant(hash, {})
        except msgspec.MsgspecError as error:
            raise LeagueError(f"{path}: damaged: {error}") from None
        if hash_variant(variant.content, variant.given) != hash:
            raise LeagueError(f"{path}: damaged: expected the variant {hash[:12]}, got another")
        return variant

    def list_variants(self) -> dict[str, str]:
        """Return by hash which kept bot plays under it, if that is another hash."""
        hashes = [path.name.removesuffix(VARIANT) for path in sorted(self._folder.glob(f"*{VARIANT}"))]
        return {hash: self.read_variant(hash).content for hash in hashes}

    def _write(self, name: str, text: str) -> None:
        with open_workplace(self._folder) as work:
            draft = work / name
            draft.write_text(text, "utf-8")
            draft.chmod(0o600)
            sync(draft)
            draft.rename(self._folder / name)
            sync(self._folder)
