"""The journal of a league: a chain in which no event changes unnoticed, and none contradicts those before it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import MsgspecError
from msgspec.structs import replace

from malice.referee.families import load_family
from malice.tournaments.errors import DamagedLeague
from malice.tournaments.league.config import Config
from malice.tournaments.league.journal import (
    ROOT,
    Absence,
    AnyEvent,
    Begun,
    FileEntry,
    FileRead,
    PartClosed,
    PartCreated,
    Readmitted,
    Revisions,
    ShareChosen,
    StateChanged,
    Version,
    chain_event,
    decode_event,
    encode_event,
    store_ruleset,
)
from malice.tournaments.league.parts import Draft, PartTable, VersionKey
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournaments
from malice.tournaments.running.plan import Plan, read_plan
from tests.leagues import change, play_small_league, write_events

SEED = "ab" * 32
GREEDY = Version("greedy", 1, "1" * 64, "greedy", "1.0", "somebody", "c", ("./greedy",), ("standard",))
UNIFORM = replace(GREEDY, label="uniform", hash="2" * 64)
CONFIG = Config(entries=("greedy", "uniform"), name="t", deals=2)
STANDARD = store_ruleset(Plan.prepare(CONFIG, Path()).setup.rulesets[0])
FILE = FileRead(CONFIG, (STANDARD,), (FileEntry("greedy", 1), FileEntry("uniform", 1)))
TABLE = PartTable("standard", (VersionKey("greedy", 1), VersionKey("uniform", 1)))


REVISIONS = Revisions(families={"spite": load_family("spite").revision})


def begin(*more: AnyEvent) -> Tournaments:
    """A league with a tournament of two entries, in which nothing was played."""
    league = Tournaments()
    for event in (Begun(SEED), GREEDY, UNIFORM, FILE, *more):
        league.apply("t", event, 1.5)
    return league


def make_part(league: Tournaments, *tables: PartTable) -> PartCreated:
    draft = Draft("a part", 2, tables or (TABLE,))
    return PartCreated(league.tournaments["t"].make_part(draft, league.games), revisions=REVISIONS)


PART = make_part(begin())


# The chain


def test_a_digest_covers_the_one_before_and_the_whole_row() -> None:
    row = json.dumps([ROOT, 7, "friday", 1.5, '{"event":"x"}'], separators=(",", ":"))

    assert chain_event(ROOT, 7, "friday", 1.5, '{"event":"x"}') == hashlib.sha256(row.encode()).hexdigest()


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return play_small_league(tmp_path_factory.mktemp("league")).read_bytes()


SWAPPED = """
    UPDATE journal SET number = 99 WHERE number = {row};
    UPDATE journal SET number = {row} WHERE number = {row} + 1;
    UPDATE journal SET number = {row} + 1 WHERE number = 99
"""


@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize(
    "statements",
    [
        "DELETE FROM journal WHERE number = {row}",
        "DELETE FROM journal WHERE number = {row}; UPDATE journal SET number = number - 1 WHERE number > {row}",
        "UPDATE journal SET event = event || ' ' WHERE number = {row}",
        "UPDATE journal SET tournament = 'other' WHERE number = {row}",
        "UPDATE journal SET at = at + 0.001 WHERE number = {row}",
        "UPDATE journal SET digest = (SELECT digest FROM journal WHERE number = 5) WHERE number = {row}",
        "INSERT INTO journal SELECT 6, tournament, at, event, digest FROM journal WHERE number = {row}",
        SWAPPED,
    ],
)
def test_an_event_that_was_changed_removed_copied_or_moved_is_found(
    league: bytes, statements: str, row: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.db"
    path.write_bytes(league)
    change(path, statements.format(row=row))

    with Store(path) as store, pytest.raises(DamagedLeague, match="table journal, number"):
        store.league()


def test_events_that_a_store_appends_continue_the_chain(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    path.write_bytes(league)

    with Store(path, create=True) as store:
        before = [row.digest for row, _ in store.events()]
        store.append("small", [StateChanged("greedy", "withdrawn", "ill"), StateChanged("greedy", "playing")])

    with Store(path) as store:
        rows = list(store.events())
        assert [row.digest for row, _ in rows[:6]] == before
        assert [event for _, event in rows[6:]] == [
            StateChanged("greedy", "withdrawn", "ill"),
            StateChanged("greedy", "playing"),
        ]
        assert store.tournament().state("greedy").state == "playing"


def test_events_of_which_one_contradicts_are_not_written_at_all(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    path.write_bytes(league)

    with Store(path, create=True) as store:
        with pytest.raises(ValueError, match="'nobody' is no entry"):
            store.append("small", [StateChanged("greedy", "withdrawn"), StateChanged("nobody", "withdrawn")])
        assert store.tournament().state("greedy").state == "playing"

    with Store(path) as store:
        assert len(list(store.events())) == 6


def test_an_unplayed_tournament_is_forgotten_only_if_nothing_followed(tmp_path: Path) -> None:
    with Store(tmp_path / "t.db", create=True) as store:
        for name in ("first", "second"):
            read_plan(store, replace(CONFIG, name=name), tmp_path).write(store)
        store.forget_unplayed("first")
        assert list(store.league().tournaments) == ["first", "second"]
        store.forget_unplayed("second")
        assert list(store.league().tournaments) == ["first"]


# Events as text

labels = st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable())
events: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(Begun, st.just(SEED)),
    st.builds(
        Version,
        labels,
        st.integers(1, 9),
        st.just("3" * 64),
        *[labels] * 4,
        st.tuples(labels, labels),
        st.just(("standard",)),
    ),
    st.builds(
        FileRead,
        st.builds(Config, st.tuples(labels, labels), deals=st.integers(1, 99)),
        st.just((STANDARD,)),
        st.tuples(st.builds(FileEntry, labels, st.integers(0, 9), st.builds(Absence, labels, labels, labels))),
    ),
    st.just(PART),
    st.builds(PartClosed, st.integers(0, 99)),
    st.builds(StateChanged, labels, st.sampled_from(["playing", "withdrawn", "disqualified"]), labels),
    st.builds(Readmitted, labels, st.integers(0, 2**53)),
    st.builds(ShareChosen, st.from_regex(r"[0-9]{1,6}/[0-9]{1,6}", fullmatch=True)),
)


@given(events)
def test_every_event_is_read_back_as_it_was_written(event: AnyEvent) -> None:
    assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize(
    "text", ["", "{}", '{"event":"party"}', '{"event":"close"}', '{"event":"close","part":-1}', "[]", "\ud800"]
)
def test_anything_else_is_no_event(text: str) -> None:
    with pytest.raises((MsgspecError, ValueError)):
        decode_event(text)


# Contradictions


@pytest.mark.parametrize(
    ("more", "event", "said"),
    [
        ((), Begun(SEED), "tournament 't' began before"),
        ((), replace(GREEDY, number=3, hash="4" * 64), "expected version 2 of 'greedy', got 3"),
        ((), replace(GREEDY, number=1, hash="4" * 64), "expected version 2 of 'greedy', got 1"),
        ((), replace(GREEDY, number=2), "'greedy' played under it before"),
        ((), replace(FILE, entries=(FileEntry("greedy", 2), FileEntry("uniform", 1))), "a version of 'greedy' up to 1"),
        ((), replace(FILE, entries=(FileEntry("greedy", 1), FileEntry("greedy", 1))), "distinct labels"),
        ((), replace(FILE, config=replace(CONFIG, name="u")), "the tournament is 't', the file says 'u'"),
        ((), replace(FILE, config=replace(CONFIG, anchor="ana")), "the anchor 'ana'"),
        ((), replace(FILE, config=replace(CONFIG, seed="mine")), "the seed is not the one"),
        ((), replace(FILE, rulesets=()), "rulesets: expected standard"),
        ((PART,), replace(FILE, entries=(FileEntry("greedy", 1),)), "expected 'uniform' among them, which has played"),
        ((PART,), PART, "number: expected 1, got 0"),
        ((), replace(PART, part=replace(PART.part, first=4)), "first: expected 0, got 4"),
        ((), replace(PART, part=replace(PART.part, commit="sha256:" + "0" * 64)), "commit: expected"),
        ((), PartClosed(0), "part 0 cannot close"),
        ((PART, PartClosed(0)), PartClosed(0), "part 0 cannot close"),
        ((), ShareChosen("2/3"), "share 2/3: expected an open part"),
        ((PART, ShareChosen("1/3")), ShareChosen("2/3"), "no share chosen before"),
        ((), StateChanged("nobody", "withdrawn"), "'nobody' is no entry"),
        ((PART,), Readmitted("nobody", 0), "'nobody' is no entry"),
        ((PART,), Readmitted("greedy", 4), "cannot be readmitted after game number 4"),
        ((PART, Readmitted("greedy", 3)), Readmitted("greedy", 3), "cannot be readmitted after game number 3"),
    ],
)
def test_an_event_that_contradicts_those_before_it_is_refused(
    more: tuple[AnyEvent, ...], event: AnyEvent, said: str
) -> None:
    league = begin(*more)

    with pytest.raises(ValueError, match=said):
        league.apply("t", event, 2.5)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (replace(TABLE, ruleset="duel"), "ruleset: expected one of standard, got 'duel'"),
        (replace(TABLE, versions=(VersionKey("greedy", 1), VersionKey("ana", 1))), "got 'ana' 1"),
        (replace(TABLE, versions=(VersionKey("greedy", 2), VersionKey("uniform", 1))), "got 'greedy' 2"),
        (replace(TABLE, versions=(VersionKey("greedy", 1), VersionKey("greedy", 1))), "distinct labels"),
        (replace(TABLE, versions=(VersionKey("greedy", 1),)), "standard: is played by|standard: "),
        (replace(TABLE, after=(0, 1)), r"there is no table 0\.1"),
        (replace(TABLE, after=(1, 0)), r"there is no table 1\.0"),
        (replace(TABLE, versions=TABLE.versions[::-1], after=(0, 0)), r"expected the entries of table 0\.0"),
    ],
)
def test_a_part_with_a_table_that_cannot_be_is_refused(table: PartTable, said: str) -> None:
    league = begin(PART)

    with pytest.raises(ValueError, match=said):
        league.apply("t", make_part(league, table), 2.5)


def test_a_tournament_must_begin_before_anything_happens_to_it() -> None:
    with pytest.raises(ValueError, match="'u' has not begun"):
        begin().apply("u", FILE, 2.5)


def test_the_games_of_two_tournaments_are_numbered_in_one_sequence() -> None:
    league = begin(PART)
    for event in (Begun(SEED), replace(FILE, config=replace(CONFIG, name="u"))):
        league.apply("u", event, 2.5)
    draft = Draft("a part", 2, (TABLE,))

    league.apply("u", PartCreated(league.tournaments["u"].make_part(draft, league.games)), 2.5)

    (part,) = league.tournaments["u"].parts
    assert (part.first, league.games) == (4, 8)
    assert part.commit != PART.part.commit, "the name of a tournament is part of its seeds"


def test_a_journal_of_which_the_end_is_gone_lacks_the_part_of_its_games(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    path.write_bytes(league)
    write_events(path, lambda events: events[:4])

    with Store(path) as store, pytest.raises(DamagedLeague, match="expected games below number 0"):
        list(store.games())
