"""Shares of a tournament on copies of its league: together they are the tournament, whoever plays which."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.referee.errors import BotError, DataError
from malice.referee.records import Key
from malice.tournaments.entries.names import Names
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.desk import decide
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.parts import Share, parse_share
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import Verified, verify_league
from malice.tournaments.running.hooks import Hooks
from tests.command_line import malice
from tests.sharing import Puppets, copy_league, crash_uniform, found_league, merge, play, play_fairly, recall

pytestmark = pytest.mark.slow


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return found_league(tmp_path)


def verify(league: Path) -> Verified:
    with Store(league) as store:
        return verify_league(store)


@given(st.integers(1, 9), st.integers(0, 3), st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 20))
def test_every_game_belongs_to_one_share_and_deals_stay_whole(
    of: int, part: int, rotations: list[int], deals: int
) -> None:
    shares = [Share(number, of) for number in range(1, of + 1)]
    for table, count in enumerate(rotations):
        sizes: Counter[Share] = Counter()
        for deal in range(deals):
            owners = [[share for share in shares if share.has(Key(part, table, deal, each))] for each in range(count)]
            assert len(owners[0]) == 1
            assert owners == [owners[0]] * count
            sizes[owners[0][0]] += 1

        found = [sizes[share] for share in shares]
        assert found == [share.count_deals(part, table, deals) for share in shares]
        assert max(found) - min(found) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/3", "a/b", "1/9999999"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="expected a share such as 2/3"):
        parse_share(text)


def test_three_shares_are_the_tournament_and_merging_again_changes_nothing(league: Path, tmp_path: Path) -> None:
    copies = [play(copy_league(league, f"copy-{number}"), f"{number}/3") for number in (1, 2, 3)]
    play(copies[0], "1/3")  # resumed, there is nothing left to play

    taken = merge(league, *copies, copies[1])

    assert [(each.taken, each.known) for each in taken] == [(8, 0), (8, 0), (8, 0), (0, 8)]
    found, alone = verify(league), verify(found_league(tmp_path / "alone", choose=play_fairly))
    assert (found.games, found.complete, found.sha) == (24, True, alone.sha)


def test_a_league_of_which_copies_are_played_does_not_begin_anew(league: Path) -> None:
    with Store(league, create=True) as store:
        store.forget_unplayed("shares")

        assert list(store.league().tournaments) == ["shares"]


def test_suspensions_are_judged_after_the_merge(tmp_path: Path) -> None:
    league = found_league(tmp_path, suspend_after=3)
    copies = [play(copy_league(league, f"copy-{number}"), f"{number}/2", crash_uniform) for number in (1, 2)]
    with Store(copies[0]) as store:
        assert store.count_stored() == 12, "verdicts in a row may have games between them on another machine"

    merge(league, *copies)

    found = verify(league)
    alone = verify(found_league(tmp_path / "alone", choose=crash_uniform, suspend_after=3))
    assert found.suspended == alone.suspended == ("uniform",)
    assert found.left_out > alone.left_out
    assert (found.sha, found.complete) == (alone.sha, True)


def test_what_the_league_knew_before_it_was_copied_suspends(tmp_path: Path) -> None:
    league = found_league(tmp_path, suspend_after=3)
    with Store(league, create=True) as store:
        plan = recall(store, "1/1")
        first = [key for batch in store.tournament().schedules[0].batches() for key in batch.games()][:8]
        hooks = Hooks(lambda record: store.add(plan.make_game(record), record), wants=lambda key: key in first)
        Puppets(crash_uniform)(plan.open_batches(set()), 1, 1, hooks)
        assert list(store.suspended()) == ["uniform"]

    copy = play(copy_league(league, "copy"), "2/2", crash_uniform)

    with Store(copy) as store:
        new = [game for game in store.stored_games() if game.key not in first]
    assert new
    assert not any("uniform" in game.labels for game in new)


def test_a_round_follows_when_all_shares_of_the_last_one_are_there(tmp_path: Path) -> None:
    league = found_league(tmp_path, format="swiss", rounds=2, deals=2)
    for number in (1, 2):
        for share in (1, 2):
            with Store(league) as store:
                assert len(store.parts()) == number
            merge(league, play(copy_league(league, f"copy-{number}-{share}"), f"{share}/2"))

    found = verify(league)
    assert (found.complete, len(found.parts)) == (True, 2)


def test_copies_of_before_and_after_a_rename_are_merged_under_the_new_label(league: Path) -> None:
    early, late = play(copy_league(league, "early"), "1/3"), copy_league(league, "late")
    with Store(league, create=True) as store:
        decide(store, Ruling("rename", "uniform", new="zoe"))
    after = copy_league(league, "after")

    taken = merge(league, early, play(late, "2/3"), play(after, "3/3"))

    assert [each.taken for each in taken] == [8, 8, 8]
    found = verify(league)
    assert (found.games, found.complete) == (24, True)
    with Store(league) as store:
        assert {label for game in store.games() for label in game.labels} == {"greedy", "zoe", "first"}
        then = [label for record in store.records() for label, _ in record.entries]
    assert (then.count("uniform") > 0, then.count("zoe") > 0) == (True, True)


def test_a_copy_remembers_its_share_and_refuses_another(league: Path) -> None:
    copy = play(copy_league(league, "copy"), "2/3")
    with Store(copy) as store:
        before = list(store.events())

    with Store(copy) as store, pytest.raises(LeagueError, match=r"--shard 2/3, .* got 2/4; .* a fresh copy"):
        recall(store, "2/4")
    play(copy, "2/3")

    with Store(copy) as store:
        assert list(store.events()) == before


def test_the_league_may_play_a_share_itself_and_another_one_in_the_next_round(tmp_path: Path) -> None:
    league = found_league(tmp_path, format="swiss", rounds=2, deals=2)
    for mine, *others in (("1/2", "2/2"), ("2/3", "1/3", "3/3")):
        copies = [copy_league(league, f"copy-{other.replace('/', '-')}") for other in others]
        play(league, mine)
        merge(league, *map(play, copies, others))

    assert verify(league).complete


def test_a_share_whose_bots_were_not_copied_says_which(league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(*_: object) -> None:
        raise BotError("no bot")

    copy = league.with_name("bare.db")
    shutil.copy(league, copy)
    with Store(copy, create=True) as store:
        assert recall(store, "1/2").bots.keys() == {"greedy", "uniform", "first"}, "those that ship are here, too"
        monkeypatch.setattr(Names, "find", find_nothing)

        with pytest.raises(BotError, match=r"greedy: expected the bot with the content [0-9a-f]{12} in .*bare\.bots"):
            recall(store, "1/2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Missing argument 'TOURNAMENT'"),
        (("x.toml", "--shard", "1/2", "--db", "x.db"), "--shard does not go with TOURNAMENT"),
        (("--shard", "1/2"), "--shard: expected the copy of a league, with --db"),
        (("--shard", "3/2", "--db", "x.db"), "expected a share such as 2/3"),
        (("x.toml", "--tournament", "x"), "--tournament: only with --shard"),
        (("x.toml", "--create-only", "--for", "1h"), "--create-only does not go with --for"),
    ],
)
def test_words_that_contradict_each_other_are_refused(words: tuple[str, ...], said: str) -> None:
    result = malice("run", *words)

    assert result.exit_code == 2
    assert said in result.stderr
