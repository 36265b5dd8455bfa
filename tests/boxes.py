"""Bots in boxes: how tests put a bot under a layer of isolation and hear what it could do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from malice.referee.isolation import cgroups
from malice.referee.records import Isolation, Layer, Player
from malice.referee.seat import BotSeat
from tests.tables import PATIENCE_MS

BOT = Path(__file__).parent / "isolated_bot.py"
SANDBOX = pytest.param("bwrap", marks=pytest.mark.sandbox)
LANDLOCK = pytest.param("landlock", marks=pytest.mark.landlock)
LAYERS: list[object] = ["rlimit", SANDBOX]
every_layer = pytest.mark.parametrize("layer", LAYERS)
every_layer_and_landlock = pytest.mark.parametrize("layer", [*LAYERS, LANDLOCK])
"""For what Landlock could break; the rest it has from `rlimit`."""


@contextmanager
def boxed(layer: Layer, *code: str, cwd: Path | None = None, **asked: Any) -> Iterator[BotSeat]:
    """Seat a bot that runs `code`: the first piece at hello, the second with every move."""
    command = (sys.executable, "-I", str(BOT), *code)
    isolation = Isolation(layer, **asked)
    seat = BotSeat(Player("boxed", "00", command, str(cwd) if cwd else None), PATIENCE_MS, None, isolation=isolation)
    try:
        seat.begin()
        yield seat
    finally:
        seat.dismiss()


def run_in_box(layer: Layer, code: str, **asked: Any) -> str:
    """Run `code` in a box; return its `told`, or the name of its error."""
    with boxed(layer, code, **asked) as seat:
        return seat.version


def own_groups() -> Iterator[Path]:
    for folder in cgroups.find_parents().folders():
        yield from folder.glob(f"{cgroups.PREFIX}{os.getpid()}-*")
