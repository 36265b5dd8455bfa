"""`malice rate`: a ladder that never moves, and how sure a bot's rating on it is."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import random
from pathlib import Path

import pytest

from malice.referee.errors import DataError
from malice.referee.records import Player
from malice.tournaments.entries.bot_files import hash_bot, hash_files, unpack_tar
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.ladder import ladders, making
from malice.tournaments.ladder.climb import Climb, ClimbTerms, count_won
from malice.tournaments.ladder.ladders import FOLDER, Rung, freeze_bot, list_ladders, load_ladder, load_rung
from malice.tournaments.ladder.report import write_artifacts
from malice.tournaments.ratings.comparison import estimate_score
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.placement import Meeting, choose_opponent, place_player
from tests.command_line import malice
from tests.simulated_rungs import measure_rungs

RELEASED = {
    "standard-v1": "9f48dc21d6ba3839b10e0668645795c06d2962a393dc4562ff304cc88e1e049a",
    "partners-4-v1": "7252d5f7603435a23d84f090dc6f9401b67b32f3bcaffe7c5cb27054f9feeae1",
    "klondike-3-v1": "36e6189f8c81df7af642e3596950485dc8fe00cd8ba67f4db6d56517a100c484",
    "skipbo-v1": "a6ae031b6951a71943cd1984ece9d03f345914f4d146c2aec9c14a391467f6dd",
}
"""The SHA-256 of each file: never change one of these lines, but add the next ladder."""
FAST = ("--jobs", "1", "--isolation", "none")
SEED = bytes(32)


# The ladders that ship


def test_a_released_ladder_never_changes() -> None:
    files = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.toml")}

    assert files == RELEASED


@pytest.mark.parametrize("name", RELEASED)
def test_a_ladder_holds_its_bots_and_the_games_that_fixed_its_ratings(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ladder = load_ladder(name)

    ratings = [rung.rating for rung in ladder.rungs]
    assert ratings == sorted(ratings)
    for hash in {rung.bot for rung in ladder.rungs}:
        (tmp_path / "tar").write_bytes(gzip.decompress((ladders.BOTS / f"{hash}.tar.gz").read_bytes()))
        unpack_tar(tmp_path / "tar", tmp_path / hash)
        assert hash_bot(hash_files(tmp_path / hash)) == hash
    assert making.main([name]) == 0  # all pairs have played: it only computes
    assert capsys.readouterr().out == (FOLDER / f"{name}.toml").read_text()


# The rating


def test_against_one_opponent_the_interval_is_that_of_a_comparison() -> None:
    counts = (3, 2, 20, 4, 11)

    found = place_player([Meeting(1000, counts)])

    low, high = estimate_score(counts, 2)
    assert low is not None
    assert high is not None
    expected = [1000 + (convert_to_elo(score) or 0) for score in (low, 49 / 80 + 5e-13, high)]
    assert [found.low, found.elo, found.high] == pytest.approx(expected, abs=0.5)


def test_who_wins_or_loses_every_game_has_a_bound_on_one_side() -> None:
    best = place_player([Meeting(1000, (0, 0, 0, 0, 10)), Meeting(400, (0, 0, 0, 0, 5))])
    worst = place_player([Meeting(1000, (10, 0, 0, 0, 0))])

    assert (best.elo, best.high, worst.elo, worst.low) == (None,) * 4
    assert best.low is not None
    assert worst.high is not None
    assert best.low > 1000 > worst.high


def test_more_deals_never_make_a_rating_worse_than_unknown() -> None:
    chance = random.Random(5)
    for _ in range(200):
        meetings = [Meeting(rating, tuple(chance.choices(range(9), k=5))) for rating in (400, 1000, 1300)]
        found = place_player(meetings)
        if found.elo is not None and found.low is not None and found.high is not None:
            assert found.low <= found.elo <= found.high


def test_the_next_opponent_is_the_one_whose_deal_tells_most_for_its_cost() -> None:
    strong = [Meeting(rating, (0, 0, 0, 0, 0)) for rating in (400, 1000)] + [Meeting(1300, (2, 0, 8, 0, 2))]

    assert choose_opponent(strong, [1, 1, 1]) == 2
    assert choose_opponent(strong, [1, 1, 50]) == 1


def test_who_has_not_played_meets_the_middle_of_the_ladder_and_who_loses_there_the_weakest() -> None:
    ratings = [rung.rating for rung in load_ladder("standard-v1").rungs]
    new = [Meeting(rating, (0, 0, 0, 0, 0)) for rating in ratings]
    lost = [Meeting(rating, (2 * (rating == 1000), 0, 0, 0, 0)) for rating in ratings]

    assert ratings[choose_opponent(new, [1.0] * len(new))] == 1000
    assert choose_opponent(lost, [1.0] * len(lost)) == 0


@pytest.mark.slow
def test_the_interval_holds_the_true_rating_in_95_percent_of_climbs() -> None:
    shares = [share for _, share in itertools.islice(measure_rungs(60), 4)]

    assert 0.90 <= sum(shares) / len(shares) <= 0.99


def test_deals_won_alone_count_of_a_thousand() -> None:
    found = count_won(30, 100)

    assert found.elo == 300
    assert [found.low, found.high] == pytest.approx([219, 396], abs=1)
    assert count_won(0, 10).low == 0
    assert count_won(10, 10).high == 1000


# Games


def climb(name: str, words: str, **terms: object) -> Climb:
    ladder = load_ladder(name)
    low = ladder.rungs[0]
    opponent = Player(low.label, low.bot, find_bot("first").command, str(find_bot("first").folder))
    found = Climb(ladder, find_bot(words).make_player("mybot"), [(low, opponent)], ClimbTerms(SEED, **terms))  # type: ignore[arg-type]
    found.play()
    return found


CRASHES = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print("no idea", file=sys.stderr)
        sys.exit(7)
    if "id" in request:
        print(json.dumps({"id": request["id"]}), flush=True)
"""


def test_partners_play_one_side_and_who_plays_alone_counts_deals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crashes.py").write_text(CRASHES)

    partners, alone = climb("partners-4-v1", "python3 crashes.py", deals=1), climb("klondike-3-v1", "first", deals=2)

    assert partners.worst
    own = partners.find_own(partners.worst)
    assert own in ([0, 2], [1, 3])
    assert [partners.worst.entries[seat][0] for seat in range(4) if seat in own] == ["mybot"] * 2
    assert partners.deals == 1
    assert alone.deals == alone.oppositions[0].games == 2
    assert (alone.place().low, alone.place().high) != (None, None)


def test_the_evidence_shows_how_a_bot_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crashes.py").write_text(CRASHES)

    found = climb("standard-v1", "python3 crashes.py", deals=1)

    kept = write_artifacts(found, tmp_path / "evidence")
    assert (found.deals, found.place().elo, found.oppositions[0].faults) == (1, None, 2)
    assert kept.game
    assert kept.record
    assert kept.verdict
    assert kept.stderr
    assert "the bot ended" in Path(kept.verdict).read_text() or "crash" in Path(kept.verdict).read_text()
    assert Path(kept.stderr).read_text() == "no idea\n"
    assert Path(kept.game).read_text()
    assert json.loads(Path(kept.record).read_text())["reason"]


@pytest.mark.whole
@pytest.mark.slow
def test_a_rating_is_the_same_with_the_same_cards_and_one_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ("rate", "greedy", "--ladder", "skipbo-v1", "--deals", "3", "--seed", "docs", *FAST)

    printed = json.loads(malice(*words, "--json", code=0).stdout)
    text = malice(*words, code=0).stdout

    assert printed["bot"] == "greedy"
    assert printed["deals"] == sum(rung["deals"] for rung in printed["rungs"]) == 3
    assert printed["low"] < printed["rating"] < printed["high"]
    assert printed["metrics"]["games"] == 6
    half = (printed["high"] - printed["low"]) / 2
    assert text.startswith(f"greedy: {printed['rating']:,.0f} ±{half:,.0f} on skipbo-v1, ")
    assert text.splitlines()[0].endswith("; 0 faults")


@pytest.mark.slow
def test_a_bot_that_fails_its_check_is_not_rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crashes.py").write_text(CRASHES)

    printed = json.loads(malice("rate", "python3 crashes.py", "--json", *FAST, code=10).stdout)

    assert (printed["passed"], printed["rating"]) == (False, None)
    assert printed["failed"]


@pytest.mark.slow
def test_a_rung_that_cannot_be_built_here_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bot = tmp_path / "rusty"
    bot.mkdir()
    (bot / "bot.toml").write_text(
        'name = "rusty"\nrun = ["./rusty"]\nneeds = ["no-such-compiler"]\nbuild = ["no-such-compiler"]\n'
    )
    folder = tmp_path / "ladder"
    folder.mkdir()
    hash = freeze_bot(find_bot(str(bot)), folder / "bots")
    low = freeze_bot(find_bot("first"), folder / "bots")
    (folder / "mine-v1.toml").write_text(
        f'ruleset = "standard"\nrungs = [{{ label = "first", bot = "{low}", rating = 400 }},'
        f' {{ label = "rusty", bot = "{hash}", rating = 2000 }}]\n'
    )
    monkeypatch.setattr(ladders, "FOLDER", folder)
    monkeypatch.setattr(ladders, "BOTS", folder / "bots")

    done = malice("rate", "uniform", "--ladder", "mine-v1", "--deals", "1", *FAST, code=0)

    assert "without rusty: " in done.stderr
    assert "no-such-compiler" in done.stderr


@pytest.mark.slow
def test_the_games_of_a_ladder_go_on_where_they_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine-v1.toml"
    # A few deals may rate rungs in the wrong order.
    path.write_text(
        'ruleset = "massachusetts"\nanchor = "greedy"\nrungs = ['
        + ", ".join(
            f'{{ label = "{rung.label}", bot = "{rung.bot}", rating = {-rung.rating} }}'
            for rung in load_ladder("standard-v1").rungs[1:3]
        )
        + "]\n"
    )

    def make(deals: int) -> str:
        assert making.main([str(path), "--deals", str(deals), "--seed", "steps"]) == 0
        return capsys.readouterr().out

    at_once = make(4)
    path.write_text(make(2))
    assert make(4) == at_once


def test_a_damaged_reference_bot_is_no_opponent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladders, "BOTS", tmp_path)
    hash = freeze_bot(find_bot("first"), tmp_path)
    (tmp_path / f"{'0' * 64}.tar.gz").write_bytes((tmp_path / f"{hash}.tar.gz").read_bytes())
    (tmp_path / f"{'1' * 64}.tar.gz").write_bytes(b"nothing")
    kept = KeptBots(tmp_path / "kept.db", lambda line: None)

    assert load_rung(Rung("first", hash, 1), kept).hash == hash
    with pytest.raises(Exception, match="damaged"):
        load_rung(Rung("first", "0" * 64, 1), kept)
    for wrong in ("1" * 64, "2" * 64):
        with pytest.raises(UnverifiedError, match="expected the bot of rung 'first'"):
            load_rung(Rung("first", wrong, 1), kept)


# Words


def test_the_command_lists_the_ladders_and_names_them_for_a_typo() -> None:
    listed = malice("rate", "--list", code=0).stdout.splitlines()

    assert [line.partition(":")[0] for line in listed] == list_ladders()
    assert [each["ladder"] for each in json.loads(malice("rate", "--list", "--json", code=0).stdout)] == list_ladders()
    assert "did you mean 'standard-v1'" in malice("rate", "first", "--ladder", "standart-v1", code=2).stderr
    assert malice("rate", code=2).stderr
    with pytest.raises(DataError, match="no ladder"):
        load_ladder("../standard-v1")
