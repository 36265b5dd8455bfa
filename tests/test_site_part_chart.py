"""Elo by part on the front page: the chart, its text alternative, and the styles that it shares."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

import site_pages
from site_pages import chart
from site_pages.part_chart import PartChart, make_part_chart
from tests.growing_leagues import GrowingLeague
from tests.test_site import Page
from tests.test_site_league import HOSTILE
from tournaments.league.part_ratings import PartRatings, Step, compute_part_ratings
from tournaments.league.ranking import compute_league_standings
from tournaments.league.standings import Standings
from tournaments.league.store import Store
from tournaments.ratings.fit import Rating
from tournaments.sanitizer import sanitize


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> GrowingLeague:
    """Three parts: two bots, a third with a name that means harm, and more deals."""
    path = tmp_path_factory.mktemp("parts") / "course.db"
    with pytest.MonkeyPatch.context() as patch:
        league = GrowingLeague(path, patch, name="Spring <cup>", slips={"ann": 0.0, HOSTILE: 0.6})
        league.play({"ann": 1, "bob": 1}, 2)
        league.play({"ann": 1, "bob": 1, HOSTILE: 1}, 2)
        league.play({"ann": 1, "bob": 1, HOSTILE: 1}, 3)
    return league


@pytest.fixture(scope="module")
def front(league: GrowingLeague, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    with Store(league.path) as store:
        site_pages.render(store, out)
    return out / "index.html"


@pytest.fixture(scope="module")
def computed(league: GrowingLeague) -> tuple[PartRatings, Standings]:
    with Store(league.path) as store:
        return compute_part_ratings(store)[0], compute_league_standings(store)[0]


def lay_out(found: PartRatings, standings: Standings) -> PartChart:
    laid_out = make_part_chart(found, standings)
    assert laid_out is not None
    return laid_out


def find_styles(svg: str) -> dict[str, str]:
    """Return the style of each name that a chart shows."""
    groups = re.split(r'<g class="line (?=\w+">)', svg)[1:]
    return {
        name[1]: group.partition('"')[0] for group in groups if (name := re.search(r'class="name"[^>]*>([^<]*)', group))
    }


def test_a_name_has_one_style_in_both_charts(front: Path) -> None:
    history, by_part = (find_styles(svg) for svg in front.read_text("utf-8").split("<figure")[1:])

    assert sorted(history.values()) == ["l0", "l1", "l2"]
    assert by_part == history


def test_every_entry_has_a_mark_for_each_part_since_it_came(computed: tuple[PartRatings, Standings]) -> None:
    lines = {line.label: line for line in lay_out(*computed).chart.lines}

    assert {label[:4]: len(line.marks) for label, line in lines.items()} == {"ann": 3, "bob": 3, "<img": 2}
    assert all(line.points.count(",") == len(line.marks) for line in lines.values())


def test_the_table_tells_the_figures_of_the_chart_and_the_parts_by_name(
    front: Path, computed: tuple[PartRatings, Standings]
) -> None:
    rows = Page(front).rows
    head = next(row for row in rows if len(row) > 1 and row[1].startswith("Part 0"))

    titles = [sanitize(step.titles[0]) for step in computed[0].steps]
    assert HOSTILE not in head[2]
    assert [cell.rpartition(", ")[0] for cell in head[1:]] == [
        f"Part {number} {title}" for number, title in enumerate(titles)
    ]
    told = {row[0]: row[1:] for row in rows[rows.index(head) + 1 :][:3]}
    hostile = next(label for label in told if label not in ("ann", "bob"))
    assert told[hostile][0] == "–"
    elo = computed[0].steps[2].ratings["ann"].elo
    assert elo is not None
    assert told["ann"][2].startswith(f"{elo:+.0f} ".replace("-", "−"))


def test_every_column_has_the_name_of_its_part_to_hover(computed: tuple[PartRatings, Standings]) -> None:
    columns = lay_out(*computed).chart.columns

    assert [column.title.partition(":")[0] for column in columns] == ["Part 0", "Part 1", "Part 2"]
    for column, step in zip(columns, computed[0].steps, strict=True):
        assert sanitize(step.titles[0]) in column.title


def test_a_name_that_means_harm_does_none(front: Path) -> None:
    text = front.read_text("utf-8")

    assert "Elo by part" in text
    assert "<img" not in text
    assert "{{7*7}}" in text
    assert "\u202e" not in text


def test_one_part_has_no_second_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "one.db", monkeypatch)
    league.play({"ann": 1, "bob": 1})
    with Store(league.path) as store:
        site_pages.render(store, tmp_path / "out")

    text = (tmp_path / "out/index.html").read_text("utf-8")
    assert text.count("<figure") == 1
    assert "Elo by part" not in text


def make_rating(elo: float, low: float | None, high: float | None) -> Rating:
    return Rating(
        elo=elo, low=low, high=high, games=2, wins=1, draws=0, losses=1, score=0.5, average_opponent=0.0, pool=0
    )


def make_steps(computed: tuple[PartRatings, Standings], count: int, rating: Rating) -> PartRatings:
    found = computed[0]
    others = {"bob": make_rating(-10.0, -40.0, 20.0), HOSTILE: make_rating(0.0, -30.0, 30.0)}
    steps = (Step((100 + at,), ("more",), 2 * at, {**others, "ann": rating}, 1) for at in range(count))
    return replace(found, steps=tuple(steps))


@pytest.mark.parametrize(
    ("low", "high", "open_bottom", "open_top"),
    [
        (-20.0, 40.0, False, False),
        (None, 40.0, True, False),
        (-20.0, None, False, True),
        (None, None, True, True),
        (-4000.0, 4000.0, True, True),
    ],
)
def test_intervals_stay_in_the_chart_and_open_ends_have_no_cap(
    computed: tuple[PartRatings, Standings], low: float | None, high: float | None, open_bottom: bool, open_top: bool
) -> None:
    found = make_steps(computed, 3, make_rating(10.0, low, high))

    laid_out = lay_out(found, computed[1]).chart

    bars = [mark.bar for line in laid_out.lines if line.label == "ann" for mark in line.marks]
    assert [(bar.open_bottom, bar.open_top) for bar in bars if bar] == [(open_bottom, open_top)] * 3
    for mark in (mark for line in laid_out.lines for mark in line.marks):
        assert mark.bar is not None
        assert laid_out.top <= mark.bar.top <= mark.y <= mark.bar.bottom <= laid_out.bottom
        assert laid_out.left <= mark.x <= laid_out.right


@pytest.mark.parametrize("count", [2, 7, 30])
def test_the_numbers_of_parts_do_not_lie_on_each_other(computed: tuple[PartRatings, Standings], count: int) -> None:
    ticks = lay_out(make_steps(computed, count, make_rating(10.0, 0.0, 20.0)), computed[1]).chart.x_ticks

    assert ticks[0].text == "100"
    assert all(one.at + 7 * len(one.text) <= other.at for one, other in pairwise(ticks))
    assert len(ticks) > count / 3


def test_points_after_one_part_stand_side_by_side(computed: tuple[PartRatings, Standings]) -> None:
    lines = lay_out(make_steps(computed, 30, make_rating(10.0, 0.0, 20.0)), computed[1]).chart.lines

    after_first = sorted(line.marks[0].x for line in lines)
    assert len(set(after_first)) == 3
    assert after_first[-1] < min(line.marks[1].x for line in lines)


def test_the_chart_warns_of_groups_that_had_not_met(computed: tuple[PartRatings, Standings]) -> None:
    found, standings = computed
    apart = replace(found, steps=(found.steps[0], replace(found.steps[1], groups=2), found.steps[2]))

    assert lay_out(found, standings).chart.warning == ""
    assert "part 1" in lay_out(apart, standings).chart.warning


def test_lines_beyond_the_styles_are_grey_in_both_charts(computed: tuple[PartRatings, Standings]) -> None:
    found, standings = computed
    rows = tuple(replace(standings.rows[0], label=f"bot {number}", rank=number) for number in range(12))
    many = replace(standings, rows=rows, history={row.label: ((0, 1500.0), (1, 1510.0)) for row in rows})
    ratings = {row.label: make_rating(float(row.rank or 0), -50.0, 50.0) for row in rows}
    steps = tuple(replace(step, ratings=ratings) for step in found.steps)

    history = chart.make_chart(many)
    assert history is not None
    for laid_out in (history, lay_out(replace(found, steps=steps), many).chart):
        assert laid_out.grey_lines == 2
        assert [line.label for line in laid_out.lines if line.style is None] == ["bot 10", "bot 11"]
