"""Pages for the authors of bots: all that helps them, nothing private of others, and no text that does harm."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import sys
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from malice.tournaments.entries.bots import list_shipped_bots
from malice.tournaments.league.store import Store
from malice.tournaments.sanitizer import escape_markdown as escape
from tests.command_line import malice
from tests.growing_leagues import GrowingLeague
from tests.leagues import replace_in_journal
from tests.runs import Run
from tests.samples import sample

pytestmark = pytest.mark.slow

EVIL_PAGE = "script-alert-1-script-x-javascript-1-_-e60b1e.md"
EVIL = "<script>alert(1)</script>[x](javascript:1) `*_"
DIES = """
import json, sys
sys.stderr.write("{secret}\\n<script>own()</script>\\n\\x1b[2Jgone\\n")
sys.stderr.flush()
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        sys.exit(3)
    print(json.dumps({{"id": request.get("id")}}), flush=True)
"""

ENDS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == sys.argv[1]:
        sys.exit(print("my last words", file=sys.stderr, flush=True) or 7)
    print(json.dumps({"id": request.get("id"), "move": (request.get("legal") or [""])[0]}), flush=True)
"""


def decode_scripts(page: str) -> str:
    """The data that a replay of one file holds."""
    packed = re.findall(r'malice\.receive\("[^"]*","([^"]*)"\)', page)
    return " ".join(gzip.decompress(base64.b64decode(each)).decode() for each in packed)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = Run(tmp_path_factory.mktemp("feedback"))
    for name in ("ann", "ben"):
        (run.folder / f"{name}.py").write_text(DIES.format(secret=f"secret of {name}"))
    entries = [
        {"bot": "uniform", "label": EVIL},
        {"bot": f"{sys.executable} ann.py", "label": "ann"},
        {"bot": f"{sys.executable} ben.py", "label": "ben"},
        {"bot": "false", "label": "gone"},
    ]
    lines = ", ".join(f"{{ bot = {json.dumps(each['bot'])}, label = {json.dumps(each['label'])} }}" for each in entries)
    run.write(f'name = "x<b>"\nentries = [{lines}]\nseed = "f"\ndeals = 2\nsuspend_after = 0\n')
    code, _, err = run.finish("--keep-going")
    assert code == 0, err
    return run


@pytest.fixture(scope="module")
def pages(run: Run) -> dict[str, str]:
    out = run.folder / "out"
    result = malice("feedback", run.db, "--out", out)
    assert result.exit_code == 0, result.output
    files = sorted(path for path in out.iterdir() if path.is_file())
    assert sorted(result.stdout.split()) == list(map(str, files))
    return {path.name: path.read_text() for path in files if path.suffix == ".md"}


@pytest.fixture(scope="module")
def out(run: Run, pages: dict[str, str]) -> Path:
    return run.folder / "out"


@pytest.mark.whole
def test_every_page_is_html_too_with_the_same_words_and_no_other_file(out: Path, pages: dict[str, str]) -> None:
    for name, page in pages.items():
        html = (out / name).with_suffix(".html").read_text()
        told = unescape(re.sub("<[^>]*>", "", html[html.index("<article") : html.index("</article>")]))
        assert re.search(r"(src=|<link|<script)", html) is None
        for line in (line.strip() for line in page.splitlines() if line.startswith("    ")):
            assert line in told


def test_the_worst_games_lie_beside_a_page_and_tell_nothing_private_of_others(out: Path, pages: dict[str, str]) -> None:
    for name, other in (("ann", "ben"), ("ben", "ann")):
        links = re.findall(rf"\]\(({name}/\S+?\.html)#(\S+?)/(\d+)\)", pages[f"{name}.md"])
        assert links
        for file, key, _ in links:
            page = (out / file).read_text()
            assert key in page
            assert f"secret of {other}" not in page + decode_scripts(page)


def test_of_rivals_a_replay_has_no_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talks = "import json, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    a = {'id': r.get('id')}\n"
    talks += "    if r['type'] == 'move': a |= {'move': r['legal'][0], 'note': 'idea of ' + sys.argv[1]}\n"
    talks += "    if r['type'] != 'bye': print(json.dumps(a), flush=True)\n"
    (tmp_path / "talks.py").write_text(talks)
    bots = [f"{sys.executable} {tmp_path / 'talks.py'} {name}" for name in ("ann", "ben")]
    lines = ", ".join(f"{{ bot = {json.dumps(bot)}, label = {json.dumps(bot[-3:])} }}" for bot in bots)
    (tmp_path / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    file = f'name = "n"\nentries = [{lines}]\nseed = "f"\ndeals = 2\nisolation = "none"\nrulesets = ["./short.toml"]'
    (tmp_path / "t.toml").write_text(file)
    monkeypatch.chdir(tmp_path)
    malice("run", "t.toml", code=0)

    malice("feedback", "t.db", "--out", "out", "--url", "https://example.org/n", code=0)

    for own, other in (("ann", "ben"), ("ben", "ann")):
        replays = sorted((tmp_path / f"out/{own}").glob("*.html"))
        scripts = [decode_scripts(path.read_text()) for path in replays]
        assert any(f"idea of {own}" in script for script in scripts)
        assert not any(f"idea of {other}" in script for script in scripts)
        assert "https://example.org/n/replay.html#" in (tmp_path / f"out/{own}.md").read_text()
    (command, *_) = re.findall(
        r"^    malice play \S+ greedy --from (\S+)$", (tmp_path / "out/ann.md").read_text(), re.M
    )
    malice("play", "first", "greedy", "--from", f"out/{command}", "--quiet", "--isolation", "none", code=0)


def test_every_entry_has_a_page_with_a_safe_name(pages: dict[str, str]) -> None:
    assert list(pages) == ["ann.md", "ben.md", "gone.md", EVIL_PAGE]


def test_a_page_tells_its_own_faults_and_stderr_and_no_other(run: Run, pages: dict[str, str]) -> None:
    with Store(run.db) as store:
        verdicts = Counter(
            label
            for game in store.games()
            for label, code in zip(game.labels, game.verdicts, strict=True)
            if code == "crash"
        )
    for name, own, other in (("ann.md", "ann", "ben"), ("ben.md", "ben", "ann")):
        assert f"secret of {own}" in pages[name]
        assert f"secret of {other}" not in pages[name]
        assert f"against {other}: " in pages[name]
        assert f"by a verdict: crash {verdicts[own]}." in pages[name]
    assert "secret" not in pages[EVIL_PAGE]


def test_hostile_text_is_code_or_escaped(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert "\x1b" not in page
        outside = [line for line in page.splitlines()[:-1] if not line.startswith("    ")]
        assert not any(re.search(r"(?<!\\)[<>]", line) for line in outside)
        assert "<script" not in MarkdownIt("commonmark", {"html": True}).render(page)
    assert f"# {escape(EVIL)} in " in pages[EVIL_PAGE]


def test_an_absent_bot_reads_why(pages: dict[str, str]) -> None:
    assert "It is absent: `crash`." in pages["gone.md"]
    assert "    the bot exited with status 1" in pages["gone.md"]


def test_the_commands_for_the_worst_games_work(run: Run, pages: dict[str, str]) -> None:
    commands = re.findall(r"^    malice (\w+) t\.db (\S+)(?: (\./mybot))?(?: --seat (\d))?$", pages["ann.md"], re.M)
    assert {command for command, *_ in commands} == {"replay", "log", "rerun"}
    reasons = re.findall(r"^Place .* \((.*)\)\.$", pages["ann.md"], re.M)
    assert reasons
    assert not [each for each in reasons if "_" in each], "they are words, not codes"
    with Store(run.db) as store:
        labels = {str(game.key): game.labels for game in store.games()}
    for command, key, bot, seat in commands[:3]:
        if seat:
            assert labels[key][int(seat)] == "ann"
        words = [*([list_shipped_bots()["first"]] if bot else []), *(["--seat", seat] if seat else [])]
        assert malice(command, run.db, key, *words).exit_code in (0, 10)


def test_the_slowest_moves_are_its_own(run: Run, pages: dict[str, str]) -> None:
    page = pages[EVIL_PAGE]
    slowest = re.findall(r"game (\S+), action (\d+), (\S+)$", page, re.M)
    assert 1 <= len(slowest) <= 5
    with Store(run.db) as store:
        for key, place, action in slowest:
            record = next(record for game, record in store.rows() if str(game.key) == key)
            seat, played = record.actions[int(place)]
            assert (record.entries[seat][0], escape(played)) == (EVIL, action)


def test_a_bot_that_left_reads_why(run: Run, tmp_path: Path) -> None:
    copy = Path(shutil.copy(run.db, tmp_path / "copy.db"))
    assert malice("entry", "withdraw", copy, "ben", "--reason", "it <b>moved").exit_code == 0

    assert malice("feedback", copy, "--out", tmp_path / "out").exit_code == 0

    assert r"It is withdrawn: it \<b\>moved." in (tmp_path / "out/ben.md").read_text()


def test_a_page_bears_its_label_and_goes_with_its_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "t.db", monkeypatch)
    league.play({"my_bot": 1, "zoe": 1})
    feedback = ("feedback", league.path, "--out", tmp_path / "out")
    assert malice(*feedback).exit_code == 0
    mine = (tmp_path / "out/my_bot.md").read_text()
    stale = tmp_path / "out/gone.md"
    stale.write_text(mine)
    notes = tmp_path / "out/notes.md"
    notes.write_text("mine\n")
    league.play({"ann": 1, "my_bot": 1, "zoe": 1})

    assert malice(*feedback).exit_code == 0
    again = sorted(path.name for path in (tmp_path / "out").glob("*.md"))
    GrowingLeague(tmp_path / "next.db", monkeypatch, name="next").play({"my_bot": 1, "zoe": 1})
    other = malice("feedback", tmp_path / "next.db", "--out", tmp_path / "out")

    assert mine.startswith("# my_bot in course\n")
    assert again == ["ann.md", "my_bot.md", "notes.md", "zoe.md"]
    assert (other.exit_code, "is no page of this tournament" in other.stderr) == (2, True)


def test_a_page_tells_no_path_of_the_organiser(run: Run, tmp_path: Path) -> None:
    copy = Path(shutil.copy(run.db, tmp_path / "copy.db"))
    replace_in_journal(copy, "the bot exited with status 1", "cc: /home/prof/course/secret/bot.c: no such file")

    assert malice("feedback", copy, "--out", tmp_path / "out").exit_code == 0

    page = (tmp_path / "out/gone.md").read_text()
    assert "    cc: (path)/bot.c: no such file" in page
    assert "prof" not in page


@pytest.mark.parametrize("when", sample(["game_end", "bye"], 2))
def test_a_crash_after_a_game_costs_none_and_is_told_with_its_stderr(when: str, tmp_path: Path) -> None:
    bot = tmp_path / "ends.py"
    bot.write_text(ENDS)
    words = f"{sys.executable} {bot} {when}"

    played = malice("play", words, "first", "--deals", "1", "--db", tmp_path / "t.db", "--isolation", "none")
    assert malice("feedback", tmp_path / "t.db", "--out", tmp_path / "out").exit_code == 0

    told = f"crash at {when}: the bot exited with status 7"
    assert told in played.output
    assert "| my last words" in played.output
    with Store(tmp_path / "t.db") as store:
        assert not any(any(game.verdicts) for game in store.games())
    (page,) = [page for path in (tmp_path / "out").glob("*.md") if told in (page := path.read_text())]
    assert "which costs no game" in page
    assert "    my last words" in page
    for options, shown in ((), False), (("--with-stderr",), True):
        malice("site", tmp_path / "t.db", "--out", tmp_path / "site", *options, code=0)
        (page,) = [page for path in (tmp_path / "site/bots").iterdir() if told in (page := path.read_text())]
        assert "After 2 games something was wrong with this bot, which costs no game." in page
        assert ("my last words" in page) == shown
    assert "all of them replay" in malice("verify", tmp_path / "t.db", code=0).output
