"""Rulesets as data: the parameters of a family, with a name and a source."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import FamilyError, RulesetError
from malice.referee.families import list_folders, list_shipped, load_family, parse_parameters
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.rules import MatchTerms
from malice.referee.toml_files import convert, read_toml, suggest_name

SUGGESTIONS = 3
"""How many names an error about an unknown ruleset suggests, at most."""
MOST_SEATS = 10
"""A league stores each seat as one digit."""


class Ruleset(Struct, frozen=True):
    """Parameters of a family, with their name and source."""

    name: str
    family: str
    about: str
    source: str
    rules: Any
    """The family's `Parameters`."""

    @property
    def match(self) -> MatchTerms:
        """What a tournament must know of the parameters."""
        return load_family(self.family).match(self.rules)


class RulesetFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A handwritten ruleset: its differences from the one it extends."""

    family: str = ""
    """The game; by default that of the ruleset it extends, of the folder it lies in, or else the default."""
    about: str = ""
    source: str = ""
    extends: str | None = None
    """A ruleset that ships with malice, or another file, relative to this one."""
    rules: dict[str, Any] = {}


class _Found(Struct, frozen=True):
    """A file of a ruleset that belongs to a family."""

    family: str
    path: Path
    also: tuple[str, ...] = ()
    """Other families with a ruleset of this name, if the first does not ship."""


@cache
def _find_files() -> dict[str, _Found]:
    """The rulesets of all families by name; nobody can take the name of one that ships."""
    files: dict[str, _Found] = {}
    for family, folder in list_folders():
        for path in sorted(folder.glob("rulesets/*.toml")):
            other = files.get(path.stem)
            if other is None:
                files[path.stem] = _Found(family, path)
            elif other.family not in list_shipped():
                files[path.stem] = replace(other, also=(*other.also, family))
    return files


@cache
def list_rulesets(family: str | None = None) -> tuple[str, ...]:
    """The names of the rulesets of all families, or of one, in alphabetical order."""
    return tuple(sorted(name for name, found in _find_files().items() if family in (None, found.family)))


def suggest_ruleset(name: str) -> str:
    """The rulesets that an unknown name may stand for, and how to see all; it follows the name in a message."""
    return f"{suggest_name(name, list_rulesets(), most=SUGGESTIONS)}; `malice rules` lists all"


def list_family_rulesets(family: str) -> tuple[str, ...]:
    """The names of a family's rulesets, the one that is named like the family first.

    Raises:
        FamilyError: there is no such family, or it has no ruleset.
    """
    load_family(family)
    names = list_rulesets(family)
    if not names:
        raise FamilyError(f"the game {family!r} has no ruleset: expected rulesets/*.toml in its package")
    return tuple(sorted(names, key=lambda name: name != family))


@cache
def load_ruleset(name: str) -> Ruleset:
    """Load the ruleset `name`; if there is none, raise a RulesetError that suggests others."""
    return read_ruleset(_find_file(name).path)


def ships(ruleset: Ruleset) -> bool:
    """Whether a ruleset ships: its name alone brings it back."""
    try:
        return load_ruleset(ruleset.name) == ruleset
    except RulesetError:
        return False


def make_ruleset(name: str, family: str, rules: Any) -> Ruleset:
    """Make a ruleset of parameters, as messages and positions hold them.

    Raises:
        RulesetError: these are none of the family.
    """
    try:
        return Ruleset(name, family, "", "", parse_parameters(family, rules))
    except msgspec.ValidationError as error:
        raise RulesetError(f"{name}: {error}") from None


def _find_file(name: str) -> _Found:
    files = _find_files()
    if name not in files:
        raise RulesetError(f"unknown ruleset {name!r}{suggest_ruleset(name)}", got=name)
    found = files[name]
    if found.also:
        raise RulesetError(f"several games have a ruleset {name!r}: {', '.join((found.family, *found.also))}")
    return found


def read_ruleset(path: Path) -> Ruleset:
    """Read the ruleset in the TOML file at `path`.

    Raises:
        DataError: the file is not a ruleset, extends an unknown one, or names an unknown game.
    """
    file = convert(read_toml(path), RulesetFile, str(path))
    family, merged = _merge_rules(file, path)
    try:
        kind = load_family(family).parameters
    except FamilyError as error:
        raise FamilyError(f"{path}: {error}") from None
    ruleset = Ruleset(path.stem, family, file.about, file.source, convert(merged, kind, f"{path}: rules"))
    match = ruleset.match
    if not isinstance(match, MatchTerms):
        raise FamilyError(f"{path}: the game {family!r}: match: expected MatchTerms, got {match!r}")
    least, most = match.players
    if not 2 <= least <= most <= MOST_SEATS:
        raise RulesetError(where=path, expected=f"2 to {MOST_SEATS} seats", got=f"{least} to {most}")
    return ruleset


def find_ruleset(name: str, base: Path) -> Ruleset:
    """Load the ruleset that ships under `name`, or read the one in the TOML file of that name.

    Raises:
        DataError: there is none, the file is not a ruleset, or its name is that of one that ships.
    """
    if not name.endswith(".toml"):
        return load_ruleset(name)
    ruleset = read_ruleset(base / name)
    if ruleset.name in list_rulesets():
        raise RulesetError(f"{name}: {ruleset.name!r} is a ruleset that ships; rename the file")
    return ruleset


def _merge_rules(file: RulesetFile, path: Path, below: tuple[Path, ...] = ()) -> tuple[str, dict[str, Any]]:
    """The family of a file, and its rules with those that it extends."""
    if file.extends is None:
        return file.family or _name_own_family(path), dict(file.rules)
    own = file.extends.endswith(".toml")
    parent = path.parent / file.extends if own else _find_extended(file.extends, path)
    if parent.resolve() in (path.resolve(), *below):
        raise RulesetError(f"{path}: extends itself through {file.extends!r}")
    extended = convert(read_toml(parent), RulesetFile, str(parent))
    family, rules = _merge_rules(extended, parent, (*below, path.resolve()))
    if file.family not in ("", family):
        raise RulesetError(f"{path}: family = {file.family!r}, but it extends {file.extends!r} of the game {family!r}")
    return family, rules | file.rules


def _find_extended(name: str, path: Path) -> Path:
    try:
        return _find_file(name).path
    except RulesetError as error:
        raise RulesetError(f"{path}: extends {error}") from None


def _name_own_family(path: Path) -> str:
    """The family in whose folder a file lies, or the default."""
    found = _find_files().get(path.stem)
    return found.family if found and found.path == path else DEFAULT_FAMILY
