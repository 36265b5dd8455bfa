"""Games that break a promise: the game is named, never a bot, and what repeats it is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace

from malice.protocol.messages import Move
from malice.referee import game_runner
from malice.referee.checked_rules import CheckedRules
from malice.referee.course import Course, Dealer
from malice.referee.errors import FamilyError, GameFault
from malice.referee.families import Family, explain_failure, list_shipped, load_family
from malice.referee.game_runner import GameRunner
from malice.referee.records import Batch, GameOrder, Key, Player
from malice.referee.rules import Ask, Events, MatchTerms, Result, Shuffle
from malice.referee.rulesets import list_family_rulesets, load_ruleset
from malice.referee.sample_games import BrokenClaim, Subject
from malice.referee.testing import CLAIMS
from malice.referee.verdicts import Verdict
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.games.installed import installed
from tests.samples import sample
from tests.tables import FOR_EVER, PATIENCE_MS, Script

pytestmark = pytest.mark.slow

SHIPPED = [
    pytest.param(name, load_ruleset(name).match.players[0], id=name)
    for family in list_shipped()
    for name in list_family_rulesets(family)[:1]
]
"""Of each family one ruleset; the tests of a family play all of them."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


# The promises


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(("name", "seats"), SHIPPED)
def test_a_game_that_ships_keeps_its_promises(claim: Any, name: str, seats: int) -> None:
    ruleset = load_ruleset(name)

    claim(Subject(load_family(ruleset.family), ruleset.rules, seats, name), seed=1)


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    "game", ["prizes", *(pytest.param(name, marks=pytest.mark.whole) for name in ("stairs", "bidding", "tricks"))]
)
def test_the_games_of_the_page_and_of_these_tests_keep_their_promises(game: str) -> None:
    lines = malice("rules", "test", game, "--games", "1").stdout.splitlines()

    assert [line.split(":")[0].split(maxsplit=1) for line in lines] == [["ok", name] for name in CLAIMS]


class Broken:
    """The rules of a game, but for what an author got wrong."""

    def __init__(self, rules: Any) -> None:
        self._rules = rules

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)


def broken(game: str, **methods: Callable[..., Any]) -> Subject:
    """Return a game of a package with other methods; each receives the rules and its arguments."""
    found = load_ruleset(game)
    family = load_family(found.family)

    def make(parameters: Any, seats: int) -> Any:
        rules = family.rules(parameters, seats)
        bound = {name: lambda _, *given, method=method: method(rules, *given) for name, method in methods.items()}
        return type("Broken", (Broken,), bound)(rules)

    return Subject(replace(family, rules=make), found.rules, found.match.players[0])


def tell(rules: Any, event: Any, seat: int) -> Any:
    return event


def forget_to_check(rules: Any, state: Any, actions: Mapping[int, str]) -> tuple[Any, Events]:
    legal = {seat: rules.legal(state, seat) for seat in actions}
    return rules.play(state, {seat: act if act in legal[seat] else legal[seat][0] for seat, act in actions.items()})  # type: ignore[no-any-return]


def show_all_hands(rules: Any, state: Any, seat: int | None) -> Any:
    view = rules.view(state, seat)
    return view if seat is None else replace(view, hands=state.hands)


def count_up() -> Callable[..., Any]:
    calls = iter(range(10**9))
    return lambda rules, state: rules.turn(state) + next(calls) % 2


def remember(rules: Any) -> Any:
    """Count tricks from another number in each game of the same rules."""
    games = rules.__dict__["games"] = rules.__dict__.get("games", 0) + 1
    return replace(rules.start(), trick=games)


def stay(rules: Any, state: Any, seats: Sequence[int]) -> tuple[Any, Events]:
    return state, ()


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("claim", "game", "methods", "sentence"),
    [
        (
            "types",
            "tricks",
            {"legal": lambda r, s, n: list(r.legal(s, n))},
            "legal: expected a tuple of distinct words",
        ),
        ("types", "tricks", {"legal": lambda r, s, n: frozenset(r.legal(s, n))}, "got frozenset"),
        ("types", "tricks", {"legal": lambda r, s, n: tuple(map(hash, r.legal(s, n)))}, "without blanks"),
        ("types", "tricks", {"legal": lambda r, s, n: (*r.legal(s, n),) * 2}, "twice"),
        ("types", "tricks", {"legal": lambda r, s, n: ("go up",)}, "got go up"),
        ("types", "tricks", {"legal": lambda r, s, n: ("!crash",)}, "begin with '!'"),
        ("types", "tricks", {"legal": lambda r, s, n: s.hands[n] if s.hands else ()}, "expected no action of seat"),
        ("types", "tricks", {"view": lambda r, s, n: replace(r.view(s, n), trick="one")}, "Expected `int`, got `str`"),
        ("types", "tricks", {"view": lambda r, s, n: s}, "declared as view (View), got State"),
        (
            "types",
            "tricks",
            {"mask": lambda r, e, n: Ask((0,))},
            "expected None, or a struct that is declared",
        ),
        ("types", "tricks", {"turn": lambda r, s: -r.turn(s)}, "turn: expected a whole number"),
        ("types", "tricks", {"play": lambda r, s, a: r.play(s, a)[0]}, "a state and a tuple of events"),
        ("types", "bidding", {"next": lambda r, s: _reverse(r.next(s))}, "in ascending order"),
        ("types", "tricks", {"next": lambda r, s: _widen(r, s)}, "Ask of one seat"),
        ("types", "tricks", {"next": lambda r, s: r.next(s) if not s.hands else None}, "an Ask, a Shuffle or a Result"),
        ("same again", "tricks", {"turn": count_up()}, "expected the same again at ask"),
        ("same again", "tricks", {"start": remember}, "expected the same again at ask 0"),
        ("states stay", "tricks", {"play": lambda r, s, a: _change(r, s, a)}, "play: expected it to leave the state"),
        ("actions", "tricks", {"play": forget_to_check}, "since `legal` does not list it"),
        ("withdrawals", "tricks", {"withdraw": stay}, "expected no seat of [0], which have left the game"),
        ("words", "tricks", {}, "describe_event: expected text"),
        ("secrets", "prizes", {"mask": tell}, "is told 26 of 26 hands at the deal, and its view hides them"),
        ("secrets", "prizes", {"mask": lambda r, e, n: _show_prizes(r, e, n)}, "told 13 of 13 prizes at the deal"),
        ("secrets", "tricks", {"view": show_all_hands}, "sees what a spectator does not at the deal"),
        ("worlds", "prizes", {"view": lambda r, s, n: replace(r.view(s, n), prize=s.prizes[-1])}, "the same view as"),
        ("worlds", "prizes", {"legal": lambda r, s, n: r.legal(s, n)[s.prizes[-1] > "7" :]}, "the same legal actions"),
        ("learner", "stairs", {"legal": lambda r, s, n: ("s7", *r.legal(s, n))}, "one of its choices for 's7' at the"),
        (
            "learner",
            "prizes",
            {"view": lambda r, s, n: replace(r.view(s, n), points=(999, 0))},
            "0 to 1 for 'me points'",
        ),
    ],
)
def test_a_broken_promise_is_found(claim: str, game: str, methods: Any, sentence: str) -> None:
    subject = broken(game, **methods)
    if claim == "words":
        subject = replace(subject, family=replace(subject.family, describe_event=lambda event, names, viewer: None))

    with pytest.raises((BrokenClaim, FamilyError), match=re.escape(sentence)):
        CLAIMS[claim](subject, 0)


def _reverse(step: Any) -> Any:
    return Ask(step.seats[::-1]) if isinstance(step, Ask) else step


def _widen(rules: Any, state: Any) -> Any:
    step = rules.next(state)
    return Ask(tuple(range(rules.seats))) if isinstance(step, Ask) else step


def _change(rules: Any, state: Any, actions: Mapping[int, str]) -> Any:
    after, events = rules.play(state, actions)
    force_setattr(state, "points", (9,) * rules.seats)
    return after, events


def _show_prizes(rules: Any, event: Any, seat: int) -> Any:
    masked = rules.mask(event, seat)
    return replace(masked, prizes=event.prizes) if hasattr(event, "prizes") else masked


# At the table


def run_broken(game: str, *seats: Script, **methods: Callable[..., Any]) -> None:
    """Play a game of a package with an author's mistake in its rules."""
    subject, numbers = broken(game, **methods), tuple(range(len(seats)))
    players = tuple(Player(f"player{number}", "00", ()) for number in numbers)
    order = GameOrder(Key(0, 0, 0, 0), "00" * 32, numbers, numbers)
    rules = replace(subject.parameters, late=1) if game == "bidding" else subject.parameters
    batch = Batch(game, game, rules, players, FOR_EVER, PATIENCE_MS, "sha256:00", (order,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(game_runner, "make_rules", lambda family, rules, seats: subject.family.rules(rules, seats))
        GameRunner(batch, order, seats).play()


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("game", "methods", "sentence"),
    [
        ("bidding", {"legal": lambda r, s, n: ()}, "expected an action of seat 0, which is asked, got none"),
        ("bidding", {"legal": lambda r, s, n: [7, 8]}, "expected a tuple of distinct words for seat 0"),
        ("bidding", {"withdraw": lambda r, s, n: _ask_more(r, s, n)}, "withdraw: expected that it asks no more seats"),
        ("tricks", {"next": lambda r, s: _widen(r, s)}, "simultaneous"),
        (
            "tricks",
            {"legal": lambda r, s, n: ("x" * 70_000, *r.legal(s, n))},
            "requests of at most 65,536 bytes, got 7",
        ),
        ("tricks", {"legal": lambda r, s, n: ("a\ud83d", *r.legal(s, n))}, r"got a\\ud83d"),
    ],
)
def test_a_game_that_errs_is_at_fault_and_no_bot(game: str, methods: Any, sentence: str) -> None:
    def crash(request: Move) -> str:
        raise Verdict("crash", "it is gone")

    with pytest.raises(GameFault, match=sentence) as caught:
        run_broken(game, Script(crash), Script(), Script(), Script(), **methods)

    assert f"'{game}'".encode() in str(caught.value).encode(), "a line of JSON holds it"
    assert "deal seed: 0000" in caught.value.report
    assert "Traceback" in caught.value.report


def _ask_more(rules: Any, state: Any, seats: Sequence[int]) -> tuple[Any, Events]:
    state, events = rules.withdraw(state, seats)
    return replace(state, round=2), events


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (Result((0, 1, 2), (1, 0, 0), "odd"), "expected a place for each of 3 seats"),
        (Result((1, 2, 2), (0.5, 0.5, 0), "odd"), "expected a place for each of 3 seats"),  # type: ignore[arg-type]
        (Result((1, 2, 3), (2**60, 0, 0), "odd"), "whole scores up to 9,007,199,254,740,992"),
        ("over", "expected an Ask, a Shuffle or a Result"),
        (Shuffle(2), "shuffles in a row"),
    ],
)
def test_what_no_league_can_store_is_refused_in_every_game(result: Any, sentence: str) -> None:
    subject = broken("tricks", next=lambda r, s: result, shuffled=lambda r, s, o: (s, ()))

    with pytest.raises(FamilyError, match=sentence):
        Course(subject.make(), Dealer(bytes(32)))


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ((2, 4), "expected MatchTerms"),
        (MatchTerms((2.0, 4)), "Expected `int`"),  # type: ignore[arg-type]
        (MatchTerms((2, 4), max_actions=0), "max_actions"),
    ],
)
def test_a_match_of_other_types_is_refused(match: Any, sentence: str) -> None:
    subject = broken("tricks")
    family: Family = replace(subject.family, match=lambda parameters: match)

    with pytest.raises(FamilyError, match=sentence):
        CheckedRules(subject.make(), family, subject.parameters, 3)


class Lacking:
    """Rules without anything."""


@pytest.mark.usefixtures("games")
def test_what_rules_lack_is_their_fault() -> None:
    subject = broken("tricks")

    with pytest.raises(AttributeError) as caught:
        CheckedRules(Lacking(), subject.family, subject.parameters, 3)  # type: ignore[arg-type]

    assert (
        explain_failure(caught.value, "tricks") == f"the game 'tricks' has failed with AttributeError: {caught.value}"
    )


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"sketch": lambda view, names: None}, "sketch: expected lines of text, got None"),
        ({"race": lambda view: (1, 2)}, "race: expected a number for each of 3 seats"),
        ({"race": lambda view: ("1", "2", "3")}, "race: expected a number for each of 3 seats"),
    ],
)
def test_words_and_figures_of_other_types_are_refused(words: Any, sentence: str) -> None:
    subject = broken("tricks")

    with pytest.raises(FamilyError, match=f"the game 'tricks': {sentence}"):
        CLAIMS["words"](replace(subject, family=replace(subject.family, **words)), 0)


# In a command


def spoil(packages: Path, old: str, new: str) -> Path:
    """Change a line in the installed rules of Stairs."""
    (module,) = (path for path in packages.rglob("rules.py") if "class Stairs" in path.read_text("utf-8"))
    text = module.read_text("utf-8")
    assert old in text
    module.write_text(text.replace(old, new, 1))
    return module


FIND_ACTIONS = 'return tuple(f"s{place}" for place in self._list_open(state, seat))'


def write_tournament(folder: Path) -> None:
    (folder / "t.toml").write_text(
        'entries = ["uniform", "first"]\nrulesets = ["stairs"]\nisolation = "none"\ndeals = 2\n'
    )


@pytest.mark.parametrize(
    ("wrong", "error"),
    sample([("7 / 0", "ZeroDivisionError"), ("__import__('sys').exit(3)", "SystemExit"), ("exit(3)", "SystemExit")], 3),
)
def test_rules_that_raise_stop_a_run_and_leave_what_repeats_it(
    wrong: str, error: str, stairs: Path, folder: Path
) -> None:
    module = spoil(stairs, "place = int(action[1:])", f"place = (state.turn > 3 and {wrong}) or int(action[1:])")
    write_tournament(folder)
    with installed(stairs):
        output = malice("run", "t.toml", code=2).output

    assert output.count(error) == 1
    assert re.search(rf"the game 'stairs' has failed with {error}: .*{module.name}, line \d+", output)
    assert "suspended" not in output
    (kept,) = folder.glob("malice-fault-*.txt")
    assert kept.name in output
    assert kept.stat().st_mode & 0o777 == 0o600
    report = kept.read_text("utf-8")
    assert re.search(r"^key: 0\.0\.\d\.\d$", report, re.MULTILINE)
    assert re.search(r"^deal seed: [0-9a-f]{64}$", report, re.MULTILINE)
    assert len(re.search(r"^actions: (.*)$", report, re.MULTILINE)[1].split("],[")) == 4  # type: ignore[index]
    assert module.name in report.split("Traceback")[1]


@pytest.mark.parametrize(
    "wrong", sample(["tuple(self._list_open(state, seat))", "{*map(str, self._list_open(state, seat))}"], 2)
)
@pytest.mark.parametrize("command", ["run t.toml", "check uniform --rulesets stairs --isolation none"])
def test_actions_that_are_no_words_blame_no_bot(wrong: str, command: str, stairs: Path, folder: Path) -> None:
    spoil(stairs, FIND_ACTIONS, f"return {wrong}")
    write_tournament(folder)
    with installed(stairs):
        output = malice(*command.split(), code=2).output

    assert re.search(r"^Error: the game 'stairs': legal: expected a tuple of distinct words", output, re.MULTILINE)
    assert "illegal" not in output
    assert "suspended" not in output


def test_a_game_of_wrong_types_is_tested_to_the_end(stairs: Path) -> None:
    spoil(stairs, FIND_ACTIONS, "return {*map(str, self._list_open(state, seat))}")
    with installed(stairs):
        lines = malice("rules", "test", "stairs", "--games", "1", code=10).stdout.splitlines()

    assert [line.split(":")[0] for line in lines] == [f"FAIL {name}" for name in CLAIMS]
    assert "expected a tuple of distinct words" in lines[0]


def test_a_game_without_an_end_is_void_and_named(stairs: Path, folder: Path) -> None:
    spoil(stairs, "*left, card = state.piles[seat]", "*left, card = (state.piles[seat][-1], *state.piles[seat])")
    spoil(stairs, "if (VALUE[stack[-1]] > card if stack else place == empty)]", "]")
    init = next(stairs.glob("malice_stairs/__init__.py"))
    init.write_text(init.read_text("utf-8").replace("max_turns=parameters.size", "max_actions=50"))
    write_tournament(folder)
    with installed(stairs):
        run = malice("run", "t.toml").output
        verified = malice("verify", "t.db").output
        shown = malice("replay", "t.db", "0.0.0").output
        malice("site", "t.db", "--out", "site")
        with Store(folder / "t.db") as store:
            ends = {(record.reason, len(record.actions), record.places) for record in store.records()}
        refused = malice("check", "uniform", "--rulesets", "stairs", "--isolation", "none", code=2).output

    assert "the game 'stairs' was not over after 50 actions, so these count for nobody: 0.0.0.0, 0.0.0.1" in run
    assert "all of them replay" in verified
    assert "void after 50 actions" in shown
    assert "void: it had no end" in (folder / "site" / "games.html").read_text("utf-8")
    assert "the game 'stairs' was not over after 50 actions" in refused
    assert ends == {("void", 50, (1, 1))}


def test_a_leak_fails_the_test_of_a_game(games: Path) -> None:
    module = games / "malice_prizes" / "__init__.py"
    module.write_text(module.read_text("utf-8").replace("(event.prizes[0], *hidden[1:])", "event.prizes"))

    output = malice("rules", "test", "prizes", "--games", "1", code=10).output

    assert "FAIL secrets: prizes, 2 seats, game 0: seat 0 is told 13 of 13 prizes at the deal" in output
    assert "FAIL worlds" in output
    assert output.count("ok  ") == len(CLAIMS) - 2
