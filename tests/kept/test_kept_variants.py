"""Variants of kept bots: what is kept of them, and that they receive their parameters under every layer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.records import Isolation, Layer
from malice.referee.seat import BotSeat
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import find_and_build_bots
from malice.tournaments.entries.names import Names
from malice.tournaments.entries.variants import find_variant, give_parameters
from malice.tournaments.errors import LeagueError
from tests.boxes import every_layer
from tests.kept.folders import commit, find_built, open_place, say_nothing, start_repository, write_built_bot
from tests.tables import PATIENCE_MS
from tests.variants import MANIFEST, write_variable_bot


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as place:
        yield place


def greet(bot: Bot, layer: Layer) -> str:
    """Return what a bot received, as it tells at hello."""
    seat = BotSeat(bot.make_player("greeted"), PATIENCE_MS, None, isolation=Isolation(layer))
    try:
        seat.begin()
        return seat.version
    finally:
        seat.dismiss()


@every_layer
def test_a_bot_receives_its_parameters_and_not_ours(place: Path, monkeypatch: pytest.MonkeyPatch, layer: Layer) -> None:
    monkeypatch.setenv("MALICE_WEIGHT", "1")
    bot = find_built(write_variable_bot(place / "mybot"))
    kept = KeptBots(place / "friday.db", say_nothing)
    variant = kept.keep(give_parameters(bot, {"weight": "300", "mode": "--a b"}))

    assert greet(kept.keep(bot), layer) == "false slow & steady 0.5 250"
    assert greet(variant, layer) == greet(kept.load(variant.hash), layer) == "false --a b 0.5 300"


def test_all_variants_of_a_bot_share_what_is_kept(place: Path) -> None:
    bot = find_built(write_variable_bot(place / "mybot"))
    kept = KeptBots(place / "friday.db", say_nothing)

    variants = [kept.keep(give_parameters(bot, {"weight": str(weight)})) for weight in range(10)]

    assert list(kept.list_kept()) == [bot.content]
    assert kept.list_variants() == {variant.hash: bot.content for variant in variants}
    assert {variant.folder for variant in variants} == {kept.folder / bot.content}
    shutil.rmtree(kept.folder / bot.content)
    assert [kept.load(variant.hash) for variant in variants] == variants


def test_a_damaged_note_on_a_variant_is_found(place: Path) -> None:
    bot = give_parameters(find_built(write_variable_bot(place / "mybot")), {"weight": "300"})
    kept = KeptBots(place / "friday.db", say_nothing)
    kept.keep(bot)
    note = kept.folder / f"{bot.hash}.variant"
    assert note.stat().st_mode & 0o777 == 0o600

    for text in (note.read_text().replace("300", "301"), "{}", "\0"):
        note.write_text(text)
        with pytest.raises(LeagueError, match=rf"{bot.hash}\.variant: damaged"):
            kept.load(bot.hash)


def test_variants_are_built_once_and_in_turn(place: Path) -> None:
    folder = write_built_bot(place / "built")
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write("[parameters]\ndepth = 2\n")
    said: list[str] = []

    found = find_and_build_bots(
        [f"built?depth={depth}" for depth in range(6)],
        place,
        lambda words, base: find_variant(words, base, find_bot),
        said.append,
    )

    assert [each.bot.parameters["depth"] for each in found] == list("012345")
    assert [each.bot.manifest.name for each in found][1:4] == ["built?depth=1", "built", "built?depth=3"]
    assert (folder / "out/log").read_text() == "built\n"
    assert len(said) == 1, "nobody waits for another process"


def test_a_revision_has_the_parameters_that_it_had(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    start_repository(place)
    folder = write_variable_bot(place / "mybot")
    commit(place)
    write_variable_bot(folder, MANIFEST.replace("weight = 250", "depth = 2"))
    names = Names(place / "friday.db")

    bot = names.find("mybot@HEAD?weight=300", place)

    assert bot.manifest.name == "mybot@HEAD?weight=300"
    assert greet(bot, "none") == "false slow & steady 0.5 300"
    assert names.find("mybot@HEAD?weight=250", place) == names.find("mybot@HEAD", place)
    assert names.find("mybot?depth=3", place).parameters["depth"] == "3"
