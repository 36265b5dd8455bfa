"""Families of games: those in `referee/games/`, and those of installed packages.

A package brings a family by an entry point of the group `malice.games`. Only the family that is asked for is loaded.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from malice.protocol.messages import Move
from malice.referee.errors import FamilyError
from malice.referee.learning import Learner
from malice.referee.rules import Events, Luck, MatchTerms, Rules, World
from malice.referee.toml_files import suggest_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "malice.games"
"""The group of entry points; the name of a point is the name of its family, its object a `Family`."""
GAMES = Path(__file__).parent / "games"
OURS = Path(__file__).parent.parent
CHECKS = OURS / "referee" / "checked_rules.py"
"""Calls the methods of a game, and nothing else that may raise."""

Names = Sequence[str]
"""By seat: the name to call it by, safe to print."""
Figures = Mapping[str, str]
"""What follows from parameters for a number of seats: by caption, a number in words."""


def _print_event(event: Struct, names: Names, viewer: int | None) -> str:
    return msgspec.json.encode(event).decode()


def _print_action(action: str, view: Struct, names: Names) -> str:
    return action


def _print_view(view: Struct, names: Names) -> Iterator[str]:
    for field, value in msgspec.to_builtins(view).items():
        yield f"{field}: {msgspec.json.encode(value).decode()}"


def _tell_no_figures(parameters: Any, seats: int) -> Figures:
    return {}


def _know_no_luck(parameters: Any, seats: int) -> Luck | None:
    return None


def _keep_apart(parameters: Any) -> object:
    return parameters


def _trust_state(rules: Any, state: Any) -> None: ...


class Statistic(Struct, frozen=True, kw_only=True):
    """Something that is counted for each seat of a game, and shown for each bot with its best value."""

    name: str
    """A word, for scripts."""
    caption: str
    """For people: "deals solved"."""
    share: bool = False
    """Whether it is 1 or 0: then rankings show in how many games it was 1."""
    best: Literal["least", "most"] = "least"
    """Which value is the best; a share has none."""
    within: str = ""
    """The name of a share: only games in which that is 1 count."""
    timed: bool = False
    """Whether it is the thinking time in ms; the figures of a `Result` have no place for it."""


class Family(Struct, frozen=True, kw_only=True):
    """A game with all its rulesets.

    Everything below `rules` has a default that works for any game; a family replaces what it can do better.
    """

    name: str
    """As in rulesets, in `game_start` and in records."""
    revision: int = 1
    """Of the rules, counted from 1: one more whenever a deal and actions may lead to another list, event or result than
    before, or the parameters change. A league plays no part on that began under another revision."""
    folder: Path
    """Holds `rulesets/*.toml`, and may hold `page/*.js` and `page/*.css` for replays, `starter/` for new bots, and
    `corpus.jsonl` for examinations."""
    parameters: type[Struct]
    """The parameters of a ruleset: frozen, and refuses unknown fields."""
    view: type[Struct]
    event: Any
    """The union of its events."""
    public: frozenset[type] = frozenset()
    """The types of events that every seat may see whole: `mask` is not asked about them, which saves time."""
    match: Callable[[Any], MatchTerms]
    """Returns what a tournament must know of parameters."""
    rules: Callable[[Any, int], Rules[Any]]
    """Returns the game under parameters for a number of seats; raises `RulesetError` if they make no game."""
    describe_event: Callable[[Any, Names, int | None], str] = _print_event
    """Describes an event in a phrase to a seat, or to a spectator (None); an empty text if there is nothing to say."""
    describe_action: Callable[[str, Any, Names], str] = _print_action
    """Describes a legal action to the seat that may play it and sees that view."""
    sketch: Callable[[Any, Names], Iterator[str]] = _print_view
    """Draws a view in lines of text."""
    figures: Callable[[Any, int], Figures] = _tell_no_figures
    """Returns what follows from parameters for a number of seats, for `malice rules show`."""
    reasons: Mapping[str, str] = {}
    """Why a game ended, in words, by the reason of its `Result`."""
    help: str = ""
    """A few lines for a person at the table."""
    goal: str = ""
    """What is played here and how one wins, in a sentence or two, for the front page of a site."""
    final: frozenset[str] = frozenset()
    """Actions after which a seat plays no more: a person is asked twice before one of them."""
    classify: Callable[[Any], object] = _keep_apart
    """Returns equal values for parameters under which a bot sees and plays the same kinds of things."""
    features: Mapping[str, Callable[[Move], bool]] = {}
    """Rare features of requests, for examinations: a name, and whether a request has it."""
    learner: Callable[[Any, int], Learner] | None = None
    """Returns what a program that learns needs of parameters for a number of seats; None if it must do without."""
    luck: Callable[[Any, int], Luck | None] = _know_no_luck
    """Returns how to measure luck under parameters for a number of seats; None if nothing can."""
    race: Callable[[Any], Sequence[int]] | None = None
    """Returns from a spectator's view, by seat, how much is left until it has won: less is better, and partners have
    the same figure. Pages use it to tell where a game turned; None if a view does not tell who is ahead."""
    statistics: tuple[Statistic, ...] = ()
    """What rankings and the pages of bots show beside places: the figures of a `Result`, in their order."""
    winnable: Callable[[Any, Any], bool] | None = None
    """Returns for parameters and the state after the deal whether a search that sees all cards solves it for one seat
    alone, and always returns the same. With it the game has a daily deal, for a person alone; None if it has none."""
    resample: Callable[[Any, Any, Events, Random], World] | None = None
    """Returns, from the rules, the view of a seat, and all that it heard since the game began, a world drawn uniformly
    from those in which it would have heard and seen just that; raises `DataError` if there is none. None if the family
    cannot do so."""
    check_state: Callable[[Any, Any], None] = _trust_state
    """Raises `ValueError` if a game cannot go on by the rules from a state that somebody has written."""
    opponent: str = "uniform"
    """The bot that ships and sits at the other seats of an examination."""
    package: str = ""
    """The distribution that brings the family; empty if it ships."""

    def draw(self, view: Any, names: Names) -> list[str]:
        """Call `sketch`, and check its lines.

        Raises:
            FamilyError: they are no lines of text.
        """
        lines: Any = self.sketch(view, names)
        drawn = list(lines) if isinstance(lines, Iterable) else lines
        if not isinstance(drawn, list) or not all(isinstance(line, str) for line in drawn):
            raise FamilyError(f"the game {self.name!r}: sketch: expected lines of text, got {drawn!r}")
        return drawn

    def measure_race(self, view: Any, seats: int) -> Sequence[int]:
        """Call `race`, and check its numbers; empty without it.

        Raises:
            FamilyError: it has not a number for each seat.
        """
        if self.race is None:
            return ()
        figures: object = self.race(view)
        if not isinstance(figures, Sequence) or [type(each) for each in figures] != [int] * seats:
            raise FamilyError(
                f"the game {self.name!r}: race: expected a number for each of {seats} seats, got {figures!r}"
            )
        return figures


@cache
def list_shipped() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name.replace("_", "-") for path in GAMES.glob("*/__init__.py")))


def name_shipped_folder(name: str) -> str:
    """The folder in `GAMES` of a family that ships; its name is that of a module too."""
    return name.replace("-", "_")


def list_folders() -> Iterator[tuple[str, Path]]:
    """Yield every family with its folder, without loading it: first those that ship, then those of packages.

    Of several packages that claim one name, this yields the first; to load the family is an error then.
    """
    for name in list_shipped():
        yield name, GAMES / name_shipped_folder(name)
    for name, points in sorted(_find_points().items()):
        if folder := _find_folder(points[0].module):
            yield name, folder


def _find_folder(module: str) -> Path | None:
    """Find the folder of a package without running any of it."""
    top, *below = module.split(".")
    spec = find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0], *below)
    return folder if folder.is_dir() else folder.parent


def _read_points() -> Iterable[EntryPoint]:
    # Imported here: a referee of a game that ships needs none of it, and starts a seventh sooner.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _find_points() -> dict[str, list[EntryPoint]]:
    """The entry points by name of the family; a name that ships cannot be taken."""
    points: dict[str, list[EntryPoint]] = {}
    for point in _read_points():
        others = points.setdefault(point.name, [])
        if all(other.value != point.value for other in others):
            others.append(point)
    return {name: points[name] for name in points if name not in list_shipped()}


def list_clashes() -> Iterator[str]:
    """Yield a sentence for each name that a package must not take, or that several packages claim."""
    for point in _read_points():
        if point.name in list_shipped():
            yield (
                f"the package {_name_package(point)!r} claims the game {point.name!r}, which ships with malice;"
                " uninstall the package"
            )
    for name, points in _find_points().items():
        if len(points) > 1:
            yield _describe_clash(name, points)


def _describe_clash(name: str, points: Sequence[EntryPoint]) -> str:
    packages = ", ".join(sorted(map(_name_package, points)))
    return f"several packages claim the game {name!r}: {packages}; uninstall all but one"


def _name_package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


@cache
def load_family(name: str) -> Family:
    """Load the family of that name, and no other.

    Raises:
        FamilyError: there is none, or the package that brings it is broken.
    """
    if name in list_shipped():
        family: Family = importlib.import_module(f"malice.referee.games.{name_shipped_folder(name)}").FAMILY
        return family
    points = _find_points()
    if name not in points:
        known = [*list_shipped(), *points]
        raise FamilyError(
            f"unknown game {name!r}{suggest_name(name, known)}; games: {', '.join(known)}; another one needs a package"
            f" with the entry point {name!r} of the group {GROUP}"
        )
    if len(points[name]) > 1:
        raise FamilyError(_describe_clash(name, points[name]))
    return _load_point(points[name][0])


def _load_point(point: EntryPoint) -> Family:
    package = _name_package(point)
    try:
        family = point.load()
    except Exception as error:  # whatever somebody else's module raises
        what = f"{type(error).__name__}: {error}"
        raise FamilyError(f"the game {point.name!r} of the package {package!r} cannot be loaded: {what}") from error
    if not isinstance(family, Family) or family.name != point.name:
        raise FamilyError(
            f"the package {package!r}: expected a Family with the name {point.name!r} at {point.value}, got"
            f" {f'the name {family.name!r}' if isinstance(family, Family) else repr(family)}"
        )
    if not family.parameters.__struct_config__.frozen:
        kind = family.parameters.__name__
        raise FamilyError(
            f"the package {package!r}: expected frozen parameters: class {kind}(Struct, frozen=True, ...)"
        )
    return msgspec.structs.replace(family, package=package)


def explain_failure(error: BaseException, playing: str | None = None) -> str | None:
    """One sentence on an error that a package's game raised: the game, the error and its place; else None.

    Args:
        error: of a `SystemExit`, only one that the game itself raised counts.
        playing: the game that is played, if one is; it may use the rules of another package.
    """
    found = ((folder, name) for name, folder in list_folders() if name not in list_shipped())
    folders = dict(sorted(found, reverse=True))  # a game inside of another's package comes first
    what = f"has failed with {type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    for frame in frames:
        if isinstance(error, SystemExit) and Path(frame.filename).is_relative_to(OURS):
            return None  # a signal ended the process in the middle of a game
        for folder, name in folders.items():
            if Path(frame.filename).is_relative_to(folder):
                return f"the game {playing or name!r} {what} ({frame.filename}, line {frame.lineno})"
    # A method or an attribute that the game lacks, or a method that takes other arguments.
    lacks = isinstance(error, AttributeError | TypeError) and frames and Path(frames[0].filename) == CHECKS
    return f"the game {playing!r} {what}" if playing and lacks else None


def has_family(name: str) -> bool:
    """Whether a family ships, or an installed package brings it."""
    return name in list_shipped() or name in _find_points()


def parse_parameters(family: str, rules: object) -> Any:
    """Convert plain data to a family's parameters; typed parameters pass unchanged.

    Raises:
        FamilyError: the family is missing.
        msgspec.ValidationError: the data are not its parameters.
    """
    kind = load_family(family).parameters
    return rules if isinstance(rules, kind) else msgspec.convert(rules, kind)


@cache
def make_rules(family: str, parameters: Struct, seats: int) -> Rules[Any]:
    """Make a family's game under `parameters` with that many seats.

    Raises:
        FamilyError: the family is missing.
        RulesetError: the parameters do not make a game of that many seats.
    """
    return load_family(family).rules(parameters, seats)
