"""The two engines, for tests that hold for either."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from malice.referee.compiled import VARIABLE, find_core
from malice.referee.families import make_rules
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Parameters


def compile_game(rules: Parameters, seats: int) -> Any:
    """Return the game as the compiled core plays it."""
    return compile_engine(SpiteAndMalice(rules, seats))


def compile_engine(engine: SpiteAndMalice) -> Any:
    """Return what the compiled core makes of an engine."""
    return import_module("malice_core").Rules(engine)


ENGINES = [pytest.param(SpiteAndMalice, id="python"), pytest.param(compile_game, id="core", marks=pytest.mark.core)]


@contextmanager
def playing(engine: str) -> Iterator[None]:
    """Let this engine play whatever is begun meanwhile."""
    caches = (find_core, make_rules)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(VARIABLE, engine)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()
