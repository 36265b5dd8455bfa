"""Elo by part on the front page: the chart, its text alternative, and the styles that it shares."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice import site_pages
from malice.site_pages import chart
from malice.site_pages.chart import shorten_name
from malice.site_pages.part_chart import PartChart, make_part_chart
from malice.site_pages.rankings import assign_colours
from malice.tournaments.league.progression import PartRatings, PartStep, compute_part_ratings
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.standings import Standings
from malice.tournaments.league.store import Store
from malice.tournaments.ratings.fit import Rating
from malice.tournaments.sanitizer import sanitize
from tests.growing_leagues import GrowingLeague
from tests.site_files import Page
from tests.site_league import HOSTILE


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
        return compute_part_ratings(store.read())[0], compute_league_standings(store.read())[0]


def lay_out(found: PartRatings, standings: Standings) -> PartChart:
    laid_out = make_part_chart(found, standings, assign_colours(row.label for row in standings.rows))
    assert laid_out is not None
    return laid_out


def find_styles(page: str) -> list[dict[str, str]]:
    """Return for each chart the classes of each line."""
    return [
        dict(reversed(line) for line in re.findall(r'<g class="line ([^"]+)" data-name="([^"]+)"', svg))
        for svg in page.split("<figure")[1:]
    ]


def test_a_bot_has_one_colour_wherever_it_is_drawn(front: Path) -> None:
    page = front.read_text("utf-8")

    history, by_part = find_styles(page)
    assert by_part == history
    assert sorted(history.values()) == [f"bot{number} shape{number} dash0" for number in range(3)]
    for name, classes in history.items():
        disc = classes.removesuffix(" dash0")
        assert len(re.findall(rf'<a class="marked {disc}" href="[^"]*"><bdi>{re.escape(name)}</bdi>', page)) >= 3


def test_a_line_is_flat_from_its_last_figure_to_the_edge(computed: tuple[PartRatings, Standings]) -> None:
    found, standings = computed
    gone = {label: rating for label, rating in found.steps[1].ratings.items() if label != "bob"}
    steps = (found.steps[0], *(replace(step, ratings=gone) for step in found.steps[1:]))
    history = {**standings.history, "bob": standings.history["bob"][:3]}

    by_part = lay_out(replace(found, steps=steps), standings).chart
    running = chart.make_chart(replace(standings, history=history), {"ann": 0, "bob": 1, HOSTILE: 2})

    assert running is not None
    for laid_out in (by_part, running):
        for line in laid_out.lines:
            corners = [tuple(map(float, corner.split(","))) for corner in line.points.split()]
            assert corners[-1] == (laid_out.right, line.end[1])
        (bob,) = [line for line in laid_out.lines if line.label == "bob"]
        assert bob.end[0] < laid_out.right / 2


def test_every_entry_has_a_mark_for_each_part_since_it_came(computed: tuple[PartRatings, Standings]) -> None:
    lines = {line.label: line for line in lay_out(*computed).chart.lines}

    assert {label[:4]: len(line.marks) for label, line in lines.items()} == {"ann": 3, "bob": 3, "<img": 2}
    assert all(line.points.count(",") == len(line.marks) + 1 for line in lines.values()), "and one at the edge"


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
    steps = (PartStep((100 + at,), ("more",), 2 * at, {**others, "ann": rating}, 1) for at in range(count))
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


def test_the_best_five_have_names_that_fit_and_the_others_are_faint(
    computed: tuple[PartRatings, Standings],
) -> None:
    found, standings = computed
    labels = ["W" * 100, "\U0001f0a1" * 50, "日" * 60, *(f"bot {number}" for number in range(57))]
    rows = tuple(replace(standings.rows[0], label=label, rank=60 - place) for place, label in enumerate(labels))
    many = replace(
        standings, rows=rows, history={label: tuple((at, 1500.0 + at) for at in range(400)) for label in labels}
    )
    ratings = {row.label: make_rating(float(-(row.rank or 0)), -50.0, 50.0) for row in rows}
    steps = tuple(replace(step, ratings=ratings) for step in found.steps)

    history = chart.make_chart(many, assign_colours(labels))
    assert history is not None
    for laid_out in (history, lay_out(replace(found, steps=steps), many).chart):
        named = [line for line in laid_out.lines if line.name]
        assert [line.name for line in named] == [f"{5 - place}. bot {52 + place}" for place in range(5)]
        assert laid_out.faint_lines == 55
        assert laid_out.lines[55:] == named
        heights = sorted(line.name_y for line in named)
        assert all(other - one >= 16.9 for one, other in pairwise(heights))
        assert laid_out.top <= heights[0]
        assert heights[-1] <= laid_out.bottom
        assert sum(len(line.points) for line in laid_out.lines) < 90_000
    assert {shorten_name(f"3. {label}", 170)[-1] for label in labels[:3]} == {"…"}
    assert shorten_name(labels[0], 170).count("W") * 12 < 170
