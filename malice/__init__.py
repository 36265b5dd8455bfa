"""Tournaments between bots that play Spite & Malice and its relatives.

The packages below lie beside this folder in the source tree, which holds a link to each of them. The names of `__all__`
are loaded when they are asked for.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; to import `typing` would take longer than all else here
if TYPE_CHECKING:
    from malice.protocol.errors import MaliceError
    from malice.referee.game import Game
    from malice.tournaments.league.opened import League
    from malice.tournaments.running.called import compare, match

__all__ = ["Game", "League", "MaliceError", "compare", "match"]

_ROOMS = {
    "Game": "malice.referee.game",
    "League": "malice.tournaments.league.opened",
    "MaliceError": "malice.protocol.errors",
    "compare": "malice.tournaments.running.called",
    "match": "malice.tournaments.running.called",
}


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)
