"""What a bot's page says of its verdicts: each once in its words, with the evidence of the first."""

from __future__ import annotations

from pathlib import Path

import msgspec

import site_pages
from referee import rulesets as ruleset
from referee.records import Fault, Key
from referee.verdicts import describe_answers, judge_late_answer
from site_pages.faults import KINDS, PLACES, BotFaults
from tests.test_site import Page
from tests.test_site_league import LABELS, League, play
from tournaments.league.publication import Publication


def fault(sentence: str = "the bot exited with status 1", code: str = "crash", action: int = 0) -> Fault:
    return Fault(0, code, action, sentence, "exited with status 1", ("> asked", "< told"), "oh no\n")


def test_verdicts_in_the_same_words_are_one_kind_with_the_evidence_of_the_first() -> None:
    told = BotFaults()
    for number in range(20):
        told.add(f"0.0.{number}.0", fault(action=number))

    (kind,) = told.kinds
    assert (told.games, told.omitted, kind.games, kind.key, kind.fault.action) == (20, 0, 20, "0.0.0.0", 0)
    assert kind.others == [(f"0.0.{number}.0", 0) for number in range(1, PLACES + 1)]


def test_timeouts_after_different_answers_are_one_kind() -> None:
    told = BotFaults()
    for answers in range(5):
        told.add(
            "0.0.0.0",
            fault(str(judge_late_answer("move", "9 ms", 0, describe_answers("move", answers + 1, None))), "timeout"),
        )

    assert [kind.games for kind in told.kinds] == [5]


def test_the_same_words_under_another_code_are_another_kind() -> None:
    told = BotFaults()
    for code in ("crash", "timeout"):
        told.add("0.0.0.0", fault("so it was", code))

    assert [kind.fault.code for kind in told.kinds] == ["crash", "timeout"]


def test_what_comes_most_is_told_first() -> None:
    told = BotFaults()
    for sentence in ("a", "b", "b"):
        told.add("0.0.0.0", fault(sentence))

    assert [kind.fault.sentence for kind in told.kinds] == ["b", "a"]


def test_of_many_kinds_the_first_of_each_code_are_shown_and_the_rest_is_counted() -> None:
    told = BotFaults()
    for number in range(100):
        told.add(f"0.0.{number}.0", fault(f"expected {number}", "illegal"))
    told.add("0.0.100.0", fault())

    assert [kind.fault.code for kind in told.kinds] == ["illegal"] * KINDS + ["crash"]
    assert told.omitted == 100 - KINDS


def test_a_page_opens_the_first_evidence_and_links_to_all_games_of_a_kind(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=0)
    rules = ruleset.load_ruleset("standard").rules
    for number in range(20):
        record = play(rules, LABELS[:2], Key(0, 0, number, 0), (0, "crash"))
        league.add(number, "standard", msgspec.structs.replace(record, faults=(fault(),)))
    league.add(20, "standard", play(rules, LABELS[:2], Key(0, 0, 20, 0), (0, "timeout")))

    site_pages.render(league, tmp_path, publication=Publication(evidence=None))

    whole = "".join(path.read_text() for path in (tmp_path / "bots").iterdir())
    words = "".join(Page(path).words for path in (tmp_path / "bots").iterdir())
    assert "20 games, the first shown" in words
    assert f"and {19 - PLACES} more" in words
    assert whole.count("the bot exited with status 1") == 1
    assert whole.count("oh no") == 1
    assert whole.count("<details open>") >= 2
    assert all(f'href="../replay.html#0.0.{number}.0/!0"' in whole for number in range(PLACES + 1))


def test_every_verdict_in_a_list_of_games_links_to_its_evidence(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=2, faulty=1)

    site_pages.render(league, tmp_path)

    page = (tmp_path / "games.html").read_text()
    for record in league.records():
        assert f'<a class="verdict" href="replay.html#{record.key}"' in page
