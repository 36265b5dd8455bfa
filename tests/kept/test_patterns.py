"""Entries that are patterns: which folders they stand for, under which labels, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.lookup import expand_entries, is_pattern
from malice.tournaments.league.config import Config, LabelledBot
from malice.tournaments.running.setup import MOST_REFUSED, read_setup
from tests.kept.folders import write_bot


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A course with three submissions, and much that is none."""
    for name in ("carol", "ann", "bob"):
        write_bot(tmp_path / "submissions" / name)
    for name in ("empty", ".hidden", "__pycache__"):
        (tmp_path / "submissions" / name).mkdir()
    write_bot(tmp_path / "submissions" / ".git")
    (tmp_path / "submissions" / "readme").write_text("")
    (tmp_path / "submissions" / "gone").symlink_to("nowhere")
    return tmp_path


ALL = ("submissions/ann", "submissions/bob", "submissions/carol")


@pytest.mark.parametrize(
    "pattern",
    ["submissions/*", "submissions/*/", "./submissions/*", "sub*/*", "submissions/[abc]*", "../{base}/submissions/*"],
)
def test_a_pattern_stands_for_every_bots_folder_by_name(base: Path, pattern: str) -> None:
    entries = expand_entries([pattern.format(base=base.name)], base)

    assert [Path(str(entry)).name for entry in entries] == ["ann", "bob", "carol"]
    assert [find_bot(str(entry), base).folder for entry in entries] == [base / each for each in ALL]


def test_an_absolute_pattern_and_one_of_the_home_folder_may_be_named(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(base))

    for pattern in (f"{base}/submissions/*", "~/submissions/*"):
        assert expand_entries([pattern], Path("/")) == tuple(f"{base}/{each}" for each in ALL)


def test_other_entries_stay_as_they_are_and_where_they_are(base: Path) -> None:
    line = LabelledBot("greedy", "rival")

    assert expand_entries(["first", "submissions/*", line], base) == ("first", *ALL, line)


@pytest.mark.parametrize("words", ["sh -c '*'", "./run*", "submissions/ann@HEAD^{/mend [a-z]*}"])
def test_a_command_and_a_revision_come_before_a_pattern(base: Path, words: str) -> None:
    (base / "run*").write_text("#!/bin/sh\n")
    (base / "run*").chmod(0o755)

    assert not is_pattern(words, base)
    assert expand_entries([words], base) == (words,)


@pytest.mark.parametrize("name", ["*", "[abc]*", "?"])
def test_a_folder_with_the_name_of_a_pattern_takes_nobodys_place_and_is_refused(base: Path, name: str) -> None:
    write_bot(base / "submissions" / name)

    entries = expand_entries([f"submissions/{'*' if name == '?' else name}"], base)

    assert set(ALL) <= set(entries)
    for entry in set(entries) - set(ALL):
        with pytest.raises(BotError, match=r"expected a folder's name without '[*?[]', which stands for others"):
            find_bot(str(entry), base)


def test_dot_folders_do_not_match_even_where_a_pattern_names_them(base: Path) -> None:
    with pytest.raises(DataError, match=r"got none$"):
        expand_entries(["submissions/.*"], base)


# labels


def test_every_bot_may_be_named_after_its_folder(base: Path) -> None:
    named = LabelledBot("submissions/*", "{folder}")

    assert expand_entries([named], base) == tuple(LabelledBot(each, Path(each).name) for each in ALL)
    assert expand_entries([LabelledBot(f"{base}/submissions/ann", "{folder}")], base)[0] == LabelledBot(
        f"{base}/submissions/ann", "ann"
    )
    assert expand_entries([LabelledBot("submissions/*")], base) == tuple(map(LabelledBot, ALL))


def test_one_folder_may_have_the_label_of_its_pattern(base: Path) -> None:
    assert expand_entries([LabelledBot("submissions/a*", "ada")], base) == (LabelledBot("submissions/ann", "ada"),)


def test_several_folders_cannot_have_one_label(base: Path) -> None:
    with pytest.raises(
        DataError, match=r"'submissions/\*' matches 3 folders, .* the label 'ada'; label = \"\{folder\}\""
    ):
        expand_entries([LabelledBot("submissions/*", "ada")], base)


def test_two_folders_of_one_name_cannot_be_named_after_it(base: Path) -> None:
    write_bot(base / "late" / "ann")
    lines = [LabelledBot("submissions/*", "{folder}"), LabelledBot("late/*", "{folder}")]

    with pytest.raises(DataError, match=r"submissions/ann and late/ann both get the label 'ann'$"):
        expand_entries(lines, base)


def test_only_a_folder_gives_its_name(base: Path) -> None:
    with pytest.raises(DataError, match=r"names a bot after its folder, and 'greedy' is none$"):
        expand_entries([LabelledBot("greedy", "{folder}")], base)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x" * 101, "its name is its label: expected at most 100 characters, got 101"),
        (os.fsdecode(b"x\xff"), "expected a name in UTF-8"),
    ],
)
def test_a_folder_whose_name_can_be_no_label_keeps_nobody_else_from_playing(base: Path, name: str, says: str) -> None:
    said: dict[str, str] = {}
    write_bot(base / "submissions" / name)

    entries = expand_entries([LabelledBot("submissions/*", "{folder}")], base, said.__setitem__)

    assert [entry.bot for entry in entries if isinstance(entry, LabelledBot)] == list(ALL)
    assert said[f"submissions/{name}"] == says


def test_a_link_that_nobody_can_follow_keeps_nobody_else_from_playing(base: Path) -> None:
    (base / "submissions" / "eve").symlink_to("x" * 300)
    (base / "submissions" / "fay").mkdir()
    (base / "submissions" / "fay" / "bot.toml").symlink_to("x" * 300)

    assert expand_entries(["submissions/*"], base, lambda _, __: None) == ALL


# one folder, several times


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["submissions/*", "submissions/a*"], ALL),
        (["submissions/*", "submissions/bob/"], ("submissions/ann", "submissions/carol", "submissions/bob/")),
        (["./submissions/bob", "submissions/*"], ("./submissions/bob", "submissions/ann", "submissions/carol")),
        (["submissions/ann", "submissions/a*"], ("submissions/ann",)),
        (["submissions/ann", "submissions/ann"], ("submissions/ann", "submissions/ann")),
    ],
)
def test_a_folder_counts_once_however_it_matches(base: Path, entries: list[str], expected: tuple[str, ...]) -> None:
    assert expand_entries(entries, base) == expected


def test_a_symlink_to_another_submission_takes_nothing_from_it(base: Path) -> None:
    (base / "submissions" / "a-thief").symlink_to("bob")

    assert expand_entries(["submissions/*"], base) == ALL


def test_a_symlink_within_the_searched_folder_is_followed(base: Path) -> None:
    write_bot(base / "submissions" / ".versions" / "7")
    (base / "submissions" / "dan").symlink_to(".versions/7")

    assert expand_entries(["submissions/*"], base) == (*ALL, "submissions/dan")


def test_a_symlink_that_leaves_the_searched_folder_must_be_named_by_itself(base: Path) -> None:
    write_bot(base / "private")
    (base / "submissions" / "eve").symlink_to("../private")
    said: dict[str, str] = {}

    assert expand_entries(["submissions/*"], base, said.__setitem__) == ALL
    assert said["submissions/eve"] == (
        f"it is a symlink that leads out of {base}/submissions, to {base}/private; name it in `entries` if it may play"
    )
    assert expand_entries(["submissions/*", "submissions/eve"], base) == (*ALL, "submissions/eve")


# nothing


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("nothing/*", ""),
        ("submissions/[", ""),
        ("submissions/e*", "; the first folder that matches, submissions/empty, has no bot.toml"),
    ],
)
def test_a_pattern_without_a_bot_is_an_error(base: Path, pattern: str, more: str) -> None:
    with pytest.raises(DataError) as caught:
        expand_entries(["greedy", pattern], base)

    assert str(caught.value) == f"entries: expected bots' folders that match {pattern!r} in {base}, got none{more}"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["one", "two", "tree"]), unique=True, min_size=1), st.data())
def test_whatever_patterns_there_are_every_folder_counts_once(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("base")
    for name in names:
        write_bot(base / name)
    chosen = data.draw(st.lists(st.sampled_from(["*", "./*", "t*", "?", f"{base}/*", *names]), min_size=1, unique=True))
    try:
        entries = expand_entries(chosen, base)
    except DataError as error:
        assert "got none" in str(error)  # noqa: PT017
        return

    folders = [find_bot(str(entry), base).folder for entry in entries]
    assert len(set(folders)) == len(folders)
    if any(pattern.endswith("*") and "t" not in pattern[-2:] for pattern in chosen):
        assert set(folders) == {base / name for name in names}


def test_a_folder_that_is_no_bots_is_named_and_a_bot_inside_it_too(base: Path) -> None:
    write_bot(base / "submissions" / "empty" / "mybot")
    said: dict[str, str] = {}

    assert expand_entries(["submissions/*"], base, said.__setitem__) == ALL
    assert said == {"submissions/empty": "it has no bot.toml; found one in submissions/empty/mybot"}
    said.clear()
    assert len(expand_entries(["submissions/*", "submissions/*/*"], base, said.__setitem__)) == 4
    assert said == {}


def test_of_many_folders_that_are_no_bots_the_first_are_named_and_the_others_counted(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(MOST_REFUSED + 41):
        (base / "submissions" / f"x{number:03}").mkdir()
    for number in range(7):
        write_bot(base / "submissions" / "empty" / f"bot{number}")

    refused = read_setup(Config(entries=("submissions/*",)), base).refused

    assert list(refused)[-2:] == [f"x{MOST_REFUSED - 2:03}", "and 42 more"]
    assert len(refused) == MOST_REFUSED + 1
    assert refused["empty"].endswith("/empty/bot0, submissions/empty/bot1, submissions/empty/bot2 and 4 more")
    assert len(capsys.readouterr().err.splitlines()) == MOST_REFUSED + 1
