"""The two engines, for tests that hold for either."""

from typing import Any

import pytest

from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Parameters


def compile_game(rules: Parameters, seats: int) -> Any:
    """Return the game as the compiled core plays it."""
    return compile_engine(SpiteAndMalice(rules, seats))


def compile_engine(engine: SpiteAndMalice) -> Any:
    """Return what the compiled core makes of an engine."""
    import malice_core  # type: ignore[import-not-found, unused-ignore]  # absent where nobody has built it

    return malice_core.Rules(engine)


ENGINES = [pytest.param(SpiteAndMalice, id="python"), pytest.param(compile_game, id="core", marks=pytest.mark.core)]
