"""The compiled core: rules of games that ship once more, in a distribution of its own, and whether they play here."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self

from malice.referee.errors import FamilyError

if TYPE_CHECKING:
    from msgspec import Struct

    from malice.referee.rules import Ask, Result

VERSION = "0.1.0"
"""Of the core that goes with this malice; of malice itself, too."""
VARIABLE = "MALICE_ENGINE"
"""Names the engine in the environment, for this process and those that it starts: `python` or `core`."""
ADVICE = f"make core in a checkout of malice {VERSION}, or pip install a wheel malice_core-{VERSION}-*.whl"


class CompiledCourse(Protocol):
    """A `Course` that compiled rules play in place, as long as no seat has left; events are made when asked for."""

    rules: Any
    step: Ask | Result
    state: Any
    events: list[Struct]
    dealer: Any

    def legal(self, seat: int, /) -> tuple[str, ...]: ...
    def view(self, seat: int | None, /) -> Any: ...
    def encode(self, seat: int, /) -> bytes:
        """The view as the vector of the family's `Learner`, in the floats of this machine."""

    def play(self, actions: dict[int, str], /) -> None: ...
    def advance(self, policy: str, seed: int, turns: int | None, /) -> list[tuple[int, str]]:
        """Play on by a policy for so many turns, or to the end; the seats that acted, and their actions."""

    def copy(self) -> Self: ...
    def replace_dealer(self, dealer: Any, /) -> None: ...


@cache
def find_core() -> Any | None:
    """The module of the core if it plays, None if Python does.

    Raises:
        FamilyError: it is to play, but is missing, of another version, or cannot be loaded.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "python", "core"):
        raise FamilyError(f"{VARIABLE}: expected python or core, got {wanted!r}")
    if wanted == "python":
        return None
    try:
        core = import_module("malice_core")
    except ImportError as error:
        if not isinstance(error, ModuleNotFoundError):
            raise FamilyError(f"malice-core cannot be loaded ({error}); {VARIABLE}=python plays without it") from None
        if wanted == "core":
            raise FamilyError(f"{VARIABLE}=core: malice-core is not here: {ADVICE}") from None
        return None
    if core.__version__ != VERSION:
        raise FamilyError(
            f"expected malice-core {VERSION}, got {core.__version__}: {ADVICE}; {VARIABLE}=python plays without it"
        )
    return core


def explain_missing_core() -> str | None:
    """Say why the core does not play, and how to get it; None if it does."""
    try:
        core = find_core()
    except FamilyError as error:
        return str(error)
    if core is not None:
        return None
    return f"{VARIABLE}=python" if os.environ.get(VARIABLE) == "python" else ADVICE


def name_engine() -> str:
    """Name the engine that plays, for people; nothing that is stored tells it."""
    return "rules in Python" if explain_missing_core() else f"rules compiled by malice-core {VERSION}"
