"""The report as text: nothing that people need is left out of the table."""

from __future__ import annotations

from malice.tournaments.check.report import WIDTH, Finding, Report, Step, format_report

NAMES = [f"ruleset-{number}" for number in range(30)]
CAUSE = "protocol: expected the number 3 as id, " + " ".join(f"got-{number}" for number in range(60))


def report(*steps: Step) -> list[str]:
    return list(format_report(Report("mine", False, "none", steps, ())))


def test_the_table_wraps_what_was_seen_between_words() -> None:
    head, *lines = report(Step("families", "plays its rulesets", "passed", f"30 games: {', '.join(NAMES)}"))[:-2]

    column = head.index("what was seen")
    assert " ".join(line[column:] for line in lines) == f"30 games: {', '.join(NAMES)}"
    assert max(len(line) for line in lines) <= column + WIDTH


def test_the_table_ends_a_long_cause_after_a_word_and_the_finding_has_all_of_it() -> None:
    head, *lines = report(Step("answers", "answers", "failed", CAUSE, (), Finding(CAUSE, "an id", "copy it")))

    table = lines[: lines.index("")]
    told = " ".join(line[head.index("what was seen") :] for line in table)
    assert told.endswith(" ...")
    assert CAUSE.startswith(told.removesuffix("..."))
    assert CAUSE in " ".join(line.strip() for line in lines[len(table) :])


def test_a_line_loses_its_middle_only_if_that_saves_room() -> None:
    short, long = ("> " + "x" * length for length in (270, 2000))

    lines = report(Step("answers", "answers", "failed", "", (), Finding("c", "e", "h", lines=(short, long))))

    assert f"  lines     {short}" in lines
    (cut,) = (line for line in lines if "characters left out" in line)
    assert len(cut) < 300
