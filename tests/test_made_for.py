"""A bot that says which rulesets it is made for: seated at no other, examined on these, shown with them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from malice.referee.errors import BotError
from malice.referee.rulesets import list_rulesets
from malice.tournaments.check.fuzz import list_rare_positions, replay_rare_position
from malice.tournaments.check.games import choose_syllabus, cover_everything
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.lookup import list_games
from malice.tournaments.league.config import Config
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan
from tests.command_line import malice

PLAYS = """\
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    if request["type"] == "game_start":
        assert request["ruleset"] in ("partners-4", "mine"), "not made for this"
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot that can play one ruleset that ships and one of its own; we stand beside it."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "bot.py").write_text(PLAYS)
    (mine / "mine.toml").write_text('about = "A short game."\nextends = "standard"\n[rules]\npayoff_size = 3\n')
    (mine / "bot.toml").write_text(
        'name = "mine"\nrun = ["{python}", "bot.py"]\nrulesets = ["partners-4", "./mine.toml"]\n'
    )
    monkeypatch.chdir(tmp_path)
    return mine


@pytest.mark.parametrize("rulesets", [("standard",), ("partners-4", "book")])
def test_a_bot_is_absent_where_another_ruleset_is_played(folder: Path, rulesets: tuple[str, ...]) -> None:
    config = Config(entries=("mine", *["uniform"] * 3), rulesets=rulesets)

    plan = Plan.prepare(config, folder.parent)

    says = f"is made for partners-4, mine (rulesets in its bot.toml), not for {rulesets[-1]}"
    assert {label: why.sentence for label, why in plan.list_broken().items()} == {"mine": says}


def test_a_bot_that_is_refused_at_a_table_is_shown_the_rulesets_that_it_can_play(folder: Path) -> None:
    refused = malice("play", "mine", "uniform")

    assert refused.exit_code == 2
    assert refused.stderr.endswith("; play it with --ruleset NAME, where NAME is partners-4 or mine/mine.toml\n")


def test_a_bot_that_says_nothing_plays_every_ruleset(folder: Path) -> None:
    Plan.prepare(Config(entries=("greedy", "uniform"), rulesets=("standard", "book")), folder.parent)


@pytest.mark.slow
def test_what_a_bot_is_made_for_is_kept_and_shown_on_its_page(folder: Path) -> None:
    played = malice("play", "mine", "uniform", "--ruleset", "mine/mine.toml", "--db", "x.db", "--isolation", "none")
    assert played.exit_code == 0, played.output
    assert malice("site", "x.db", "--out", "site").exit_code == 0

    with Store(Path("x.db")) as store:
        mine, uniform = store.entries()
    assert (mine.version.rulesets, uniform.version.rulesets) == (("partners-4", "mine"), ())
    shown = [text for path in Path("site").rglob("*.html") if "<dt>Made for</dt>" in (text := path.read_text())]
    assert len(shown) == 1
    assert "<dd><bdi>partners-4</bdi>, <bdi>mine</bdi></dd>" in shown[0]


@pytest.mark.slow
def test_it_is_examined_on_what_it_is_made_for_and_rarely_asked_of_anything_else(folder: Path) -> None:
    (folder / "bot.toml").write_text(
        'name = "mine"\nrun = ["{python}", "bot.py"]\nrulesets = ["./mine.toml", "partners-4"]\n'
    )
    result = malice(
        "check", "mine", "--fuzz", "8", "--json", "--isolation", "none", "--move-ms", "60000", "--init-ms", "60000"
    )

    assert result.exit_code == 0, result.output
    steps = {step["step"]: step for step in json.loads(result.stdout)["steps"]}
    assert steps["games"]["title"] == "plays 20 games of mine against greedy"
    assert steps["families"]["line"] == "2 games, of 2 to 4 seats: mine, partners-4"
    assert steps["fuzz"]["line"] == "8 situations of 2 rulesets"


def test_a_bot_of_another_game_is_examined_in_that_and_an_unknown_game_is_refused(folder: Path) -> None:
    file = Path("mine/bot.toml")
    text = re.sub(r"(?m)^(rulesets|games) = .*\n", "", file.read_text())

    file.write_text('games = ["klondike"]\n' + text)
    assert {each.family for each, _ in choose_syllabus(find_bot("mine")).others} == {"klondike"}
    file.write_text('games = ["spit"]\n' + text)
    assert "no game 'spit' (did you mean 'spite'?)" in malice("check", "mine", code=2).stderr


def test_the_command_line_says_otherwise(folder: Path) -> None:
    bot = find_bot("mine")

    assert choose_syllabus(bot, "all") == cover_everything()
    assert [ruleset.name for ruleset, _ in choose_syllabus(bot, "book, standard,book").others] == ["book", "standard"]
    assert choose_syllabus(bot, "book,standard").main.name == "standard"
    assert choose_syllabus(find_bot("greedy")).every_ruleset
    result = malice("check", "mine", "--rulesets", "book,standrad")
    assert result.exit_code == 2
    assert "unknown ruleset 'standrad' (did you mean 'standard'?)" in result.stderr


def test_rare_situations_are_those_of_the_rulesets_asked_for(folder: Path) -> None:
    own = choose_syllabus(find_bot("mine")).rulesets

    found = list(list_rare_positions(12, own))

    assert found == list(list_rare_positions(12, own))
    assert {situation.ruleset for situation in found} == {"partners-4", "mine"} != set(list_rulesets())
    assert all(replay_rare_position(situation, own.__getitem__).seat is not None for situation in found)
    assert len(set(found)) > 8


COMMANDS = (
    ("run", "t.toml", "--db", "t.db"),
    ("play", "greedy", "mine", "--ruleset", "klondike-1"),
    ("compare", "greedy", "first", "--ruleset", "klondike-1"),
    ("site", "klondike.db", "--out", "site", "--second-opinion", "greedy"),
    ("rerun", "klondike.db", "0.0.0", "greedy"),
)


def test_a_bot_is_refused_wherever_another_game_is_played(folder: Path) -> None:
    (folder / "bot.toml").write_text('name = "mine"\nrun = ["{python}", "bot.py"]\ngames = ["klondike"]\n')
    lines = 'entries = ["greedy", "mine"]\nrulesets = ["klondike-1"]\ndeals = 1\n'
    Path("t.toml").write_text(f'name = "t"\n{lines}')
    played = malice("play", "first", "mine", "--ruleset", "klondike-1", "--db", "klondike.db", "--isolation", "none")
    assert played.exit_code == 0, played.output

    told = [malice(*words) for words in COMMANDS]

    ends = [(each.exit_code, each.stderr.splitlines()[-1].replace("  greedy: bot:", "Error: greedy:")) for each in told]
    assert ends == [(2, "Error: greedy: plays spite (games or rulesets in its bot.toml), not klondike")] * 5


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('games = ["klondyke"]', "games: no game 'klondyke' (did you mean 'klondike'?)"),
        ('games = ["klondike"]\nrulesets = ["./mine.toml"]', "rulesets: spite is not among its games, klondike"),
    ],
)
def test_games_that_cannot_be_are_errors(folder: Path, lines: str, problem: str) -> None:
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = ["{{python}}", "bot.py"]\n{lines}\n')

    with pytest.raises(BotError) as caught:
        list_games(find_bot("mine"))

    assert problem in str(caught.value)


def test_who_plays_what_follows_from_games_or_rulesets(folder: Path) -> None:
    games = {name: list_games(find_bot(name)) for name in ("mine", "uniform", "planner", "patience", "c/starter")}

    assert games == {
        "mine": ("spite",),
        "uniform": (),
        "planner": ("spite",),
        "patience": ("klondike",),
        "c/starter": ("spite",),
    }
