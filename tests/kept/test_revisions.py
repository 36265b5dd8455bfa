"""Names with `@`: which part is what, and bots at a git revision, whatever their repository would like to run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries import names
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.names import Reference, find_revision, parse_reference
from tests.kept.folders import (
    commit,
    find_built,
    git,
    open_place,
    say_nothing,
    start_repository,
    write_bot,
    write_built_bot,
)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with two revisions of the bot `bots/mine`, of which the first is tagged v1."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    with open_place() as place:
        start_repository(place)
        write_bot(place / "bots" / "mine", "1")
        commit(place)
        git(place, "tag", "--annotate", "--message", "the first", "v1")
        write_bot(place / "bots" / "mine", "2")
        commit(place)
        yield place


def find(place: Path, words: str) -> Bot:
    return find_revision(words, place, KeptBots(place / "friday.db", say_nothing))


def version_of(bot: Bot) -> str:
    assert bot.folder is not None
    return "12"["'2'" in (bot.folder / "bot.py").read_text()]


# which part is what


@pytest.mark.parametrize(
    ("words", "label", "selector"),
    [
        ("mybot@2", "mybot", 2),
        ("mybot@last", "mybot", "last"),
        ("mybot@HEAD~3", "mybot", "HEAD~3"),
        ("./bots/mybot@v1.2", "./bots/mybot", "v1.2"),
        ("mybot@a1b2c3", "mybot", "a1b2c3"),
        ("mybot@999999", "mybot", 999999),
        ("mybot@1000000", "mybot", "1000000"),
        ("mybot@0", "mybot", "0"),
        ("mybot@02", "mybot", "02"),
        ("mybot@²", "mybot", "²"),
        ("mybot@HEAD@{1}", "mybot", "HEAD@{1}"),
        ("mybot@v1@2", "mybot@v1", 2),
        ("mybot@@", "mybot@", ""),
        ("mybot", "", ""),
        ("mybot@", "", ""),
        ("@2", "", ""),
        ("@", "", ""),
        ("", "", ""),
    ],
)
def test_a_name_has_a_label_and_what_stands_behind_its_last_at(words: str, label: str, selector: str | int) -> None:
    if words == "mybot@@":
        label, selector = "mybot", "@"

    assert parse_reference(words) == (Reference(label, selector) if label else None)


@given(st.text(), st.text(st.characters(exclude_characters="@{"), min_size=1))
def test_every_label_may_be_referred_to(label: str, selector: str) -> None:
    reference = parse_reference(f"{label}@{selector}")

    assert (reference is not None) == bool(label)
    if reference:
        assert (reference.label, str(reference.selector)) == (label, selector)


def test_versions_are_told_from_revisions() -> None:
    named = {
        words: reference.names_version for words in ("a@2", "a@last", "a@v2") if (reference := parse_reference(words))
    }

    assert named == {"a@2": True, "a@last": True, "a@v2": False}


# bots at a revision


@pytest.mark.parametrize("words", ["bots/mine@HEAD~1", "./bots/mine@v1", "bots/mine/@v1", "bots/../bots/mine@main^"])
def test_a_revision_is_the_bot_that_the_folder_held(place: Path, words: str) -> None:
    bot = find(place, words)

    assert version_of(bot) == "1"
    assert version_of(find(place, "bots/mine@HEAD")) == "2"
    assert version_of(find(place, "bots/mine@@")) == "2"
    assert version_of(find(place, "bots/mine@HEAD@{1}")) == "1"
    assert bot.manifest.name == f"mine@{words.rpartition('@')[2]}"
    assert bot.folder == place / "friday.bots" / bot.hash


def test_a_revision_has_the_content_of_the_folder_as_it_was(place: Path) -> None:
    folder = place / "bots" / "mine"
    (folder / "run").write_text("")
    (folder / "run").chmod(0o755)
    (folder / "ä \udcff\n").write_text("")
    (folder / "link").symlink_to("run")
    name = commit(place)
    there = find_bot(str(folder))
    write_bot(folder, "3")

    assert find(place, f"bots/mine@{name[:7]}").hash == there.hash
    assert KeptBots(place / "friday.db").load(there.hash).command == there.command


def test_a_revision_is_built_once(place: Path) -> None:
    write_built_bot(place / "built")
    commit(place)
    said: list[str] = []
    kept = KeptBots(place / "friday.db", said.append)

    first, again = (find_revision("built@HEAD", place, kept) for _ in range(2))

    assert first == again
    assert len(said) == 1
    assert first.folder is not None
    assert (first.folder / "out" / "bot").read_text() == "echo one\n"
    assert kept.keep(find_built(place / "built")).folder == first.folder


def test_a_revision_whose_build_adds_files_that_count_is_the_bot_that_the_folder_would_be(place: Path) -> None:
    folder = write_built_bot(place / "built")
    (folder / "bot.toml").write_text((folder / "bot.toml").read_text().replace('["out"]', '["out/log"]'))
    commit(place)
    bots = [find(place, "built@HEAD") for _ in range(2)]

    assert {bot.hash for bot in bots} == {find_built(folder).hash}


def test_a_revision_uses_the_virtual_environment_of_its_folder(place: Path) -> None:
    folder = write_bot(place / "bots" / "mine", more='python = ".venv/bin/python"\n')
    name = commit(place)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(shutil.which("python3") or "")

    bot = find(place, f"bots/mine@{name}")

    assert bot.command[0] == str(folder / ".venv/bin/python")
    assert KeptBots(place / "friday.db").load(bot.hash).command == bot.command


def test_the_folder_may_be_the_repository_and_a_bot_that_ships_may_be_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_repository(place / "alone")
    write_bot(place / "alone", "2")
    commit(place / "alone")
    monkeypatch.setattr(names, "list_shipped_bots", lambda: {"shipped": place / "alone"})

    assert version_of(find(place, "alone@HEAD")) == "2"
    assert find(place, "shipped@HEAD").manifest.name == "alone@HEAD"
    assert find(place / "alone", ".@HEAD").manifest.name == "alone@HEAD"


# literal names


def test_a_folder_and_a_program_with_an_at_in_their_names_come_first(place: Path) -> None:
    write_bot(place / "bots" / "mine@v1", "2")
    (place / "tool@v1").write_text("#!/bin/sh\n")
    (place / "tool@v1").chmod(0o755)
    write_bot(place / "tool")

    assert version_of(find(place, "bots/mine@v1")) == "2"
    assert find(place, "./tool@v1").command == ("./tool@v1",)
    assert find(place, "sh -c ann@example").command == ("sh", "-c", "ann@example")
    assert find(place, "greedy") == find_bot("greedy")


def test_a_folder_that_begins_with_the_name_of_a_program_may_have_a_revision(place: Path) -> None:
    write_bot(place / "test bots", "2")
    commit(place)

    assert version_of(find(place, "test bots@HEAD")) == "2"


# errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("bots/mine@v9", "no revision 'v9' in the git repository of PLACE/bots/mine"),
        ("bots/mine@--all", "no revision '--all' in the git repository of PLACE/bots/mine"),
        ("bots/mine@HEAD:bots", "no revision 'HEAD:bots' in the git repository of PLACE/bots/mine"),
        ("bots/mine@v1..main", "no revision 'v1..main' in the git repository of PLACE/bots/mine"),
        ("bots@HEAD", "PLACE/bots has no bot.toml at COMMIT"),
        ("new@HEAD", "PLACE/new has no bot.toml at COMMIT"),
        ("bots/mine/bot@HEAD", "PLACE/bots/mine/bot has no bot.toml at COMMIT"),
        ("/@HEAD", "/ is not in a git repository; use a copy, or keep versions there: git init, git commit"),
    ],
)
def test_each_error_is_one_clear_line(place: Path, words: str, sentence: str) -> None:
    (place / "bots/mine/bot").write_text("")
    commit(place)
    (place / "bots/mine/bot").unlink()
    (place / "bots/mine/bot").mkdir()
    write_bot(place / "new")
    sentence = sentence.replace("PLACE", str(place)).replace("COMMIT", git(place, "rev-parse", "HEAD")[:12])

    with pytest.raises(BotError) as caught:
        find(place, words)

    assert str(caught.value) == f"{words}: {sentence}"
    assert KeptBots(place / "friday.db").list_kept() == {}


def test_what_is_before_the_at_must_be_a_folder(place: Path) -> None:
    with pytest.raises(BotError, match=r"^no bot 'nobody@HEAD': expected a folder before the @, got 'nobody'$"):
        find(place, "nobody@HEAD")


def test_without_git_the_error_says_where_to_get_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(BotError, match=r"needs git, not on the PATH \(Debian: apt-get install git\)$"):
        find(place, "bots/mine@HEAD")


def test_a_bot_that_was_invalid_at_a_revision_is_an_error(place: Path) -> None:
    (place / "bots/mine/bot.toml").write_text("name")
    commit(place)

    with pytest.raises(DataError, match=rf"^bots/mine@HEAD: {place}/bots/mine/bot\.toml: not TOML: "):
        find(place, "bots/mine@HEAD")


def test_a_revision_that_does_not_build_says_why_and_is_not_kept(place: Path) -> None:
    folder = write_built_bot(place / "built")
    (folder / "bot.toml").write_text((folder / "bot.toml").read_text().replace("mkdir -p out", "echo no luck; exit 3"))
    commit(place)

    with pytest.raises(BotError, match=r"(?s)^built@HEAD: built: the build .* exited with status 3:.*no luck$"):
        find(place, "built@HEAD")
    assert list((place / "friday.bots").iterdir()) == []


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../x", "../.."])
def test_a_symlink_that_leaves_the_folder_is_refused(place: Path, target: str) -> None:
    (place / "bots/mine/link").symlink_to(target)
    commit(place)

    with pytest.raises(BotError, match=r"'link': expected a symlink that stays inside, got one to"):
        find(place, "bots/mine@HEAD")


def test_a_submodule_is_refused(place: Path) -> None:
    start_repository(place / "bots/mine/lib")
    commit(place / "bots/mine/lib")
    commit(place)

    with pytest.raises(BotError, match=r"expected only files, got a submodule, 'lib'$"):
        find(place, "bots/mine@HEAD")


# hostile repositories


def test_a_repository_runs_nothing_and_changes_nothing_of_what_it_stored(place: Path) -> None:
    folder, spy = place / "bots" / "mine", place / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {place}/ran\ncat\n")
    spy.chmod(0o755)
    (folder / "data").write_text("$Format:%H$\n")
    name, there = commit(place), find_bot(str(folder)).hash
    (place / ".git/info/attributes").write_text(
        "* filter=spy diff=spy text eol=crlf working-tree-encoding=UTF-16 export-subst\nbot.py export-ignore\n"
    )
    for key in (
        "filter.spy.smudge", "filter.spy.process", "diff.spy.textconv", "diff.external", "core.fsmonitor", "core.pager",
        "core.sshCommand", "core.editor", "alias.rev-parse", "alias.cat-file", "tar.tar.command", "gpg.program",
    ):  # fmt: skip
        git(place, "config", key, str(spy))
    git(place, "config", "core.hooksPath", str(place / "hooks"))
    (place / "hooks").mkdir()
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (place / "hooks" / hook).symlink_to(spy)
    git(place, "replace", name, "v1^{commit}")
    with contextlib.suppress(subprocess.CalledProcessError):
        git(place, "archive", "--output", "archive.tar", "main", "bots")
    (place / "ran").unlink()  # it was there: the trap works

    bot = find(place, "bots/mine@main")

    assert bot.hash == there
    assert not (place / "ran").exists()


def test_objects_that_are_missing_are_not_fetched(place: Path) -> None:
    spy = place / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {place}/ran\n")
    spy.chmod(0o755)
    git(place, "config", "uploadpack.allowFilter", "true")
    git(place, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{place}", "part")
    git(place / "part", "config", "remote.origin.uploadpack", str(spy))
    (place / "part/bots/mine").mkdir(parents=True)

    for url in (f"file://{place}", f"ext::{spy}", f"ssh://{spy}"):
        git(place / "part", "config", "remote.origin.url", url)
        git(place / "part", "config", "core.sshCommand", str(spy))
        with pytest.raises(BotError, match=r"part/bots/mine at [0-9a-f]{12} cannot be read: could not fetch"):
            find(place, "part/bots/mine@HEAD")
    assert not (place / "ran").exists()


def test_a_repository_that_git_distrusts_is_an_error_with_its_reason(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(
        "malice.tournaments.entries.names._make_environment", lambda: dict(os.environ) | {"LC_ALL": "C"}
    )

    with pytest.raises(BotError, match=r"is not in a git repository that can be read: detected dubious ownership"):
        find(place, "bots/mine@HEAD")


def test_the_environment_of_a_hook_leads_to_no_other_repository(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start_repository(place / "other")
    commit(place / "other")
    monkeypatch.setenv("GIT_DIR", str(place / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(place / "other"))

    assert version_of(find(place, "bots/mine@v1")) == "1"


def lead_by_a_file(folder: Path, private: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {private}/.git\n")


def lead_by_a_file_upwards(folder: Path, private: Path) -> None:
    (folder / ".git").write_text("gitdir: ../../.git\n")


def lead_by_a_link(folder: Path, private: Path) -> None:
    (folder / ".git").symlink_to(private / ".git")


def lead_by_an_alternate(folder: Path, private: Path) -> None:
    start_repository(folder)
    (folder / ".git/objects/info/alternates").write_text(f"{private}/.git/objects\n")
    (folder / ".git/refs/heads/main").write_text(git(private, "rev-parse", "HEAD"))


def lead_by_a_linked_folder(folder: Path, private: Path) -> None:
    lead_by_an_alternate(folder, private)
    shutil.rmtree(folder / ".git/objects")
    (folder / ".git/objects").symlink_to(private / ".git/objects")


def lead_by_linked_objects(folder: Path, private: Path) -> None:
    lead_by_an_alternate(folder, private)
    (folder / ".git/objects/info/alternates").unlink()
    for part in (private / ".git/objects").glob("??"):
        (folder / ".git/objects" / part.name).symlink_to(part)


def lead_by_a_common_folder(folder: Path, private: Path) -> None:
    start_repository(folder)
    (folder / ".git/commondir").write_text(f"{private}/.git\n")


@pytest.mark.parametrize(
    "lead",
    [
        lead_by_a_file,
        lead_by_a_file_upwards,
        lead_by_a_link,
        lead_by_an_alternate,
        lead_by_a_linked_folder,
        lead_by_linked_objects,
        lead_by_a_common_folder,
    ],
)
def test_a_folder_that_leads_to_another_repository_is_refused(place: Path, lead: Callable[[Path, Path], None]) -> None:
    write_bot(place, "3")  # what the repository around would show
    commit(place)
    private = place / "private"
    start_repository(private)
    write_bot(private, "the secret")
    commit(private)
    folder = write_bot(place / "bots" / "evil")
    lead(folder, private)

    with pytest.raises(BotError, match=rf"^bots/evil@main: {folder}/\.git\S* leads out of the repository around "):
        find(place, "bots/evil@main")


def test_a_repository_whose_work_tree_is_elsewhere_is_refused(place: Path) -> None:
    git(place, "config", "core.worktree", str(place / "bots"))

    with pytest.raises(BotError, match=rf"^bots/mine@main: {place}/bots/\.git leads out of the repository"):
        find(place, "bots/mine@main")


def test_a_tree_of_more_files_than_fit_into_memory_ends_at_the_limit(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = git(place, "rev-parse", "main:bots/mine/bot.py")
    lines = "\n".join(f"100644 blob {blob}\t{number}" for number in range(40))
    for _ in range(6):  # 40 to the sixth files
        command = ("git", "-C", str(place), "mktree")
        tree = subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout.strip()
        lines = "\n".join(f"040000 tree {tree}\t{number}" for number in range(40))
    name = git(place, "commit-tree", "-m", "many", tree)
    monkeypatch.setattr(names, "MOST_FILES", 1000)

    with pytest.raises(BotError, match=r"expected at most 1,000 files with .* bytes, got more$"):
        names.GitFolder(place).write(name, place / "written")


def test_a_list_of_files_that_would_fill_the_memory_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = bytes.fromhex(git(place, "rev-parse", "main:bots/mine/bot.py"))
    command = ("git", "-C", str(place), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    content = b"100644 " + b"a" * (64 << 20) + b"\0" + blob
    tree = subprocess.run(command, input=content, check=True, capture_output=True).stdout.decode().strip()
    name = git(place, "commit-tree", "-m", "large", tree)
    monkeypatch.setattr(names, "MOST_MEMORY", 48 << 20)

    with pytest.raises(BotError, match=r"cannot be read: Out of memory, malloc failed"):
        names.GitFolder(place).write(name, place / "written")


def test_an_object_that_a_repository_lacks_is_a_sentence(place: Path) -> None:
    blob = git(place, "rev-parse", "main:bots/mine/bot.py")
    (place / ".git/objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(
        BotError, match=r"^bots/mine@main: .* at [0-9a-f]{12}: the repository lacks the content of '.*'$"
    ):
        find(place, "bots/mine@main")


@pytest.mark.parametrize("name", ["HEAD", "objects/pack/x.pack"])
def test_a_fifo_in_a_repository_keeps_nobody_waiting(place: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fifo = place / ".git" / name
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    if name == "HEAD":
        monkeypatch.setattr(names, "MOST_WAIT_S", 1)

    with pytest.raises(BotError, match=r"git gave no answer on|expected a file or a folder of git"):
        find(place, "bots/mine@v1")
