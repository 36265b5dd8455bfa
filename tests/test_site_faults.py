"""What a bot's page says of its verdicts: each once in its words, with the evidence of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from malice import site_pages
from malice.referee import rulesets as ruleset
from malice.referee.records import Key, Record, RecordedVerdict
from malice.referee.verdicts import describe_answers, judge_late_answer
from malice.site_pages.evidence import GROUPS, READ, VerdictCode, collect_verdicts
from malice.tournaments.league.publication import Publication
from tests.site_files import Page
from tests.site_league import LABELS, League, play

PLAYED = play(ruleset.load_ruleset("standard").rules, LABELS[:2], Key(0, 0, 0, 0), (0, "crash"))


def fault(sentence: str = "the bot exited with status 1", code: str = "crash", action: int = 0) -> RecordedVerdict:
    return RecordedVerdict(0, code, action, sentence, "exited with status 1", ("> asked", "< told"), "oh no\n")


def read(*faults: RecordedVerdict) -> list[VerdictCode]:
    """Return the verdicts on the first bot, of which each game has one; of them all few records are read."""
    league = League(LABELS[:2], deals=0)
    for number, each in enumerate(faults):
        actions = ((0, f"!{each.code}"),)
        fields = {"key": Key(0, 0, number, 0), "faults": (each,), "actions": actions, "micros": (0,)}
        league.add(number, "standard", msgspec.structs.replace(PLAYED, **fields))
    asked: list[Key] = []

    def read_records(keys: Iterable[Key]) -> Iterator[Record]:
        wanted = list(keys)
        asked.extend(wanted)
        return league.read_records(wanted)

    found = collect_verdicts(list(league.games()))[LABELS[0]]
    assert found.games == len(faults)
    codes = found.read(read_records)
    assert len(asked) == len(set(asked)) <= READ * len({each.code for each in faults})
    assert sum(code.games for code in codes) == len(faults)
    return codes


def test_verdicts_in_the_same_words_are_one_kind_with_the_evidence_of_the_first() -> None:
    (code,) = read(*(fault(action=number) for number in range(20)))

    (kind,) = code.groups
    assert (code.games, code.unread, kind.key, kind.evidence.action) == (20, 20 - READ, "0.0.0.0", 0)
    assert kind.others == [(f"0.0.{number}.0", 0) for number in range(1, READ)]


def test_timeouts_after_different_answers_are_one_kind() -> None:
    late = (str(judge_late_answer("move", "9 ms", 0, describe_answers("move", answers, None))) for answers in (1, 2, 3))

    (code,) = read(*(fault(sentence, "timeout") for sentence in late))

    assert len(code.groups) == 1


def test_the_same_words_under_another_code_are_another_kind_and_the_most_frequent_code_comes_first() -> None:
    codes = read(fault("so it was", "crash"), fault("so it was", "timeout"), fault("so it was", "timeout"))

    assert [(code.code, code.games) for code in codes] == [("timeout", 2), ("crash", 1)]


def test_of_many_kinds_the_first_of_each_code_are_shown_and_the_rest_is_counted() -> None:
    illegal, crash = read(*(fault(f"expected {number}", "illegal") for number in range(50)), fault())

    assert [kind.evidence.sentence for kind in illegal.groups] == [f"expected {number}" for number in range(GROUPS)]
    assert illegal.unread == 50 - GROUPS
    assert crash.unread == 0


def test_faults_stand_above_the_games_with_the_line_first_and_the_rest_folded(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=0)
    rules = ruleset.load_ruleset("standard").rules
    for number in range(READ):
        record = play(rules, LABELS[:2], Key(0, 0, number, 0), (0, "crash"))
        league.add(number, "standard", msgspec.structs.replace(record, faults=(fault(),)))
    league.add(READ, "standard", play(rules, LABELS[:2], Key(0, 0, READ, 0), (0, "protocol")))

    site_pages.render(league, tmp_path, site_pages.SiteOptions(publication=Publication(evidence=None)))

    whole = (tmp_path / "bots" / f"{LABELS[0]}.html").read_text()
    words = Page(tmp_path / "bots" / f"{LABELS[0]}.html").words
    assert whole.count("the bot exited with status 1") == 1
    assert all(f'href="../replay.html#0.0.{number}.0/!0"' in whole for number in range(READ))
    assert "<details open>" not in whole
    places = [whole.index(f'id="{name}"') for name in ("faults", "fault-crash", "fault-crash-1", "games")]
    assert places == sorted(places)
    assert words.index("The last line of its stderr") < words.index("the bot exited") < words.index("What it wrote to")
    assert "<mark>T</mark>raceback" in whole
    assert "byte 1: 0x54 (T) where { should begin an object" in words


def test_what_is_not_published_is_not_marked_either(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=2, faulty=1)

    site_pages.render(league, tmp_path)

    whole = "".join(path.read_text() for path in (tmp_path / "bots").iterdir())
    assert "are not published" in whole
    assert 'class="marked"' not in whole
    assert "Traceback" not in whole


def test_every_verdict_in_a_list_of_games_links_to_its_evidence(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=2, faulty=1)

    site_pages.render(league, tmp_path)

    page = (tmp_path / "games.html").read_text()
    for record in league.records():
        assert f'<a class="verdict" href="replay.html#{record.key}"' in page
