"""Shards: what they hold, what is taken out of them, how large they get, and when they are written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from malice import site_pages
from malice.protocol.cards import CARDS, HIDDEN
from malice.referee import rulesets as ruleset
from malice.referee.packed_events import HOLE, SAME, TAKEN, decode_symbol, encode_symbol, take_cards_out
from malice.referee.records import Key
from malice.referee.replay import find_rules, replay_asks
from malice.site_pages import shards
from malice.site_pages.shards import FORMAT
from tests.site_files import contents, data, put_back
from tests.site_league import LABELS, League, play


def read(shard: Any, row: int) -> list[Any]:
    """Return the asks of a game: `[moves, events]`, then the number of turns begun, if any."""
    columns = shard["columns"]
    place = {encode_symbol(index): index for index in range(max(len(shard["shapes"]), len(shard["taken"])))}
    taken = re.findall("..", shard["taken"])
    cards = iter([taken[place[char]] for char in columns["cards"][row]])
    return [json.loads(put_back(shard["shapes"][place[char]], cards)) for char in columns["asks"][row]]


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        ("standard", 2),
        ("book", 2),
        ("loading", 2),
        ("partners-4", 4),
        pytest.param("skipbo", 3, marks=pytest.mark.slow),
    ],
)
def test_a_shard_holds_exactly_what_happened(name: str, seats: int, tmp_path: Path) -> None:
    labels = tuple(f"bot{seat}" for seat in range(seats))
    league = League(labels, deals=1, rulesets=(name,), seats=seats, faulty=2)

    site_pages.render(league, tmp_path)

    shard = data(tmp_path / "data/games-0.js")
    for row, record in enumerate(league.records()):
        turn, before = find_rules(record).turn, 0
        asks = read(shard, row)
        for ask, (moves, events, *turns) in zip(replay_asks(record), asks, strict=True):
            assert [moves, events] == json.loads(msgspec.json.encode((ask.moves, ask.events)))
            assert sum(turns) == turn(ask.after) - before
            before = turn(ask.after)
        assert shard["columns"]["key"][row] == str(record.key)
    assert shard["rulesets"][name]["family"] == "spite"
    assert shard["rulesets"][name]["rules"] == json.loads(msgspec.json.encode(ruleset.load_ruleset(name).rules))


def test_the_name_of_every_card_is_taken_out() -> None:
    names = json.dumps([*CARDS, HIDDEN])
    ask = f'[[[0,"h4S-c0"]],[{{"card":"4S","cards":{names}}}]]'

    shape, cards = take_cards_out(ask)

    holes = ", ".join([f'"{HOLE}"'] * (len(CARDS) + 1))
    assert shape == f'[[[0,"h{HOLE}-c0"]],[{{"card":"{SAME}","cards":[{holes}]}}]]'
    assert len(cards) == 1 + len(CARDS) + 1, "a card that follows itself is named once"


@pytest.mark.parametrize("words", ["\t\n", '"4S"', "JACKS and QSDX??", "\\u0009 4S4S\n", "?", "W? ?C WC AX"])
def test_what_only_looks_like_cards_or_holes_comes_back_as_it_was(words: str) -> None:
    ask = json.dumps([[[1, words]], [{"type": words, words: [words, "5D", 5]}], 1])

    shape, symbols = take_cards_out(ask)

    taken = {encode_symbol(place): card for place, card in enumerate(TAKEN)}
    assert put_back(shape, iter([taken[symbol] for symbol in symbols])) == ask


def test_a_shard_holds_times_notes_and_verdicts(league: League, out: Path) -> None:
    columns = data(out / "data/games-0.js")["columns"]

    for row, (game, record) in enumerate(zip(league.games(), league.records(), strict=True)):
        assert columns["number"][row] == game.number
        assert columns["places"][row] == list(game.places)
        assert len(columns["micros"][row]) == len(record.actions)
        assert all(
            abs(kept - real) <= 0.06 * real for kept, real in zip(columns["micros"][row], record.micros, strict=True)
        )
        assert columns["clock"][row] == [record.clock.bank_ms, record.clock.increment_ms]
        assert columns["cpu"][row] == [], "wall time counts"
        assert len(columns["notes"][row]) == len(record.notes)
        assert [fault["code"] for fault in columns["faults"][row]] == [fault.code for fault in record.faults]


def test_a_game_takes_less_than_two_kilobytes(league: League, out: Path) -> None:
    size = sum(path.stat().st_size for path in (out / "data").glob("games-*.js"))

    assert size / len(list(league.games())) < 2000


def test_symbols_are_all_different_and_never_break_a_string() -> None:
    symbols = [encode_symbol(index) for index in range(60_000)]

    assert len(set(symbols)) == len(symbols)
    assert not set('"\\\n') & set(symbols)
    assert list(map(decode_symbol, symbols)) == list(range(len(symbols)))
    assert len(TAKEN) < 91, "every card is one byte"
    "".join(symbols).encode("utf-8")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit that a few games of two kilobytes reach."""
    monkeypatch.setattr(shards, "LIMIT", 20_000)
    return shards.LIMIT


def list_shards(folder: Path) -> dict[str, list[int]]:
    """Return the numbers of the games in every shard."""
    return {path.stem: data(path)["columns"]["number"] for path in (folder / "data").glob("games-*.js")}


def test_a_shard_ends_before_it_is_too_large(league: League, tmp_path: Path, small: int) -> None:
    site_pages.render(league, tmp_path)

    found = list_shards(tmp_path)
    numbers = sorted(number for shard in found.values() for number in shard)
    assert numbers == [game.number for game in league.games()]
    assert len(found) > 2
    assert all((tmp_path / f"data/{name}.js").stat().st_size < small + 200 for name in found)
    others = [found[f"games-0-{place}"][0] for place in range(1, len(found))]
    assert data(tmp_path / "data/index.js")["splits"] == {"0": others}


def test_a_game_larger_than_a_shard_has_one_of_its_own(
    league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "LIMIT", 1)

    site_pages.render(league, tmp_path)

    assert [len(shard) for shard in list_shards(tmp_path).values()] == [1] * len(list(league.games()))


def test_shards_of_a_block_are_kept_together_or_made_anew_together(league: League, tmp_path: Path, small: int) -> None:
    site_pages.render(league, tmp_path)
    whole = contents(tmp_path)
    assert site_pages.render(league, tmp_path).written == 0

    (tmp_path / "data/games-0-1.js").unlink()
    rendered = site_pages.render(league, tmp_path)

    assert rendered.written == 1
    assert contents(tmp_path) == whole


@pytest.mark.slow
def test_a_league_that_grows_has_the_bytes_of_one_rendered_at_once(tmp_path: Path, small: int) -> None:
    league = League(LABELS[:2], deals=1, faulty=1)
    for count in (30, 101, 130):
        league.repeat(count)
        site_pages.render(league, tmp_path / "grown")

    site_pages.render(league, tmp_path / "fresh")

    assert contents(tmp_path / "grown") == contents(tmp_path / "fresh")


@pytest.mark.slow
def test_new_games_touch_only_the_last_shard_and_list(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=1, faulty=1)
    league.repeat(205)
    site_pages.render(league, tmp_path)
    before = contents(tmp_path)

    league.repeat(207)
    site_pages.render(league, tmp_path)

    changed = {name for name, content in contents(tmp_path).items() if before.get(name) != content}
    assert "data/games-2.js" in changed
    assert not {"data/games-0.js", "data/games-1.js", "replay.html"} & {
        name for name in changed if name.startswith("data/")
    }


def test_a_record_that_does_not_replay_is_shown_as_such(tmp_path: Path) -> None:
    rules = ruleset.load_ruleset("standard").rules
    record = play(rules, LABELS[:2], Key(0, 0, 0, 0))
    broken = msgspec.structs.replace(record, actions=(*record.actions[:9], (0, "hXX-c9")))
    league = League(LABELS[:2], deals=0)
    league.add(0, "standard", broken)

    site_pages.render(league, tmp_path)

    shard = data(tmp_path / "data/games-0.js")
    assert "action 9" in shard["columns"]["broken"][0]
    assert len(shard["columns"]["asks"][0]) == 10


def test_the_format_is_part_of_the_digest(out: Path) -> None:
    assert FORMAT == 7, "a change of what a shard says needs a new number here, or old shards stay"
    assert re.match(r"// malice games-0 [0-9a-f]{64}\n", (out / "data/games-0.js").read_text())
