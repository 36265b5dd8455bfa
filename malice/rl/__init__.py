"""Environments for learning: every ruleset in the forms of PettingZoo and Gymnasium.

`malice.rl.standard_v0.env()` is PettingZoo's environment of the ruleset `standard`, as its own modules have it, and so
for each ruleset that ships (a hyphen of its name becomes `_`); `malice.rl.env("book")` is that of any. Once this is
imported, Gymnasium knows them as `malice/standard-v0`.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

try:
    import gymnasium
    import pettingzoo  # noqa: F401 - here, for the sentence below
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: malice.rl needs the extra malice-arena[rl]", name=error.name) from None

from malice.referee.rulesets import list_rulesets
from malice.rl.parallel import SimultaneousEnv, parallel_env
from malice.rl.sequential import SequentialEnv, env, raw_env
from malice.rl.single import SeatEnv
from malice.rl.vector import GamesEnv, vector_env

__all__ = [
    "GamesEnv",
    "SeatEnv",
    "SequentialEnv",
    "SimultaneousEnv",
    "env",
    "parallel_env",
    "raw_env",
    "vector_env",
]

VERSION = 0
"""Of all environments; it changes when observations, choices or rewards do."""


def __getattr__(name: str) -> ModuleType:
    modules = {f"{ruleset.replace('-', '_')}_v{VERSION}": ruleset for ruleset in list_rulesets()}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ModuleType(f"{__name__}.{name}", f"The environments of the ruleset `{modules[name]}`.")
    for make in (env, raw_env, parallel_env):
        setattr(module, make.__name__, partial(make, modules[name]))
    globals()[name] = module
    return module


for _ruleset in list_rulesets():
    if (_id := f"malice/{_ruleset}-v{VERSION}") not in gymnasium.registry:
        # Without the checks at every step, which take longer than the game.
        gymnasium.register(_id, "malice.rl:SeatEnv", kwargs={"ruleset": _ruleset}, disable_env_checker=True)
