"""Tables of the site as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from malice.site_pages.files import Folder, write_table


def list_files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_csv_is_defused_and_json_is_as_it_is(tmp_path: Path) -> None:
    rows: list[list[str | int | float | None]] = [["=1+1", 3, -1.5], ["é\n<b>", 0, None]]

    write_table(Folder(tmp_path), "ranking", ["bot", "games", "elo"], rows)

    text = (tmp_path / "data/ranking.csv").read_text("utf-8")
    assert list(csv.reader(io.StringIO(text)))[1:] == [["'=1+1", "3", "-1.5"], ["é\\x0a<b>", "0", ""]]
    assert json.loads((tmp_path / "data/ranking.json").read_bytes()) == [
        {"bot": label, "games": games, "elo": elo} for label, games, elo in rows
    ]


@pytest.mark.parametrize(("head", "row"), [(["bot", "bot"], [1, 2]), (["bot"], [1, 2])])
def test_a_table_that_no_object_could_hold_is_refused(tmp_path: Path, head: list[str], row: list[int]) -> None:
    with pytest.raises(ValueError, match=r"columns|shorter|longer"):
        write_table(Folder(tmp_path), "ranking", head, [row])

    assert not list_files(tmp_path)


def test_what_a_rendering_no_longer_has_is_deleted_and_strange_files_stay(tmp_path: Path) -> None:
    first, second = Folder(tmp_path), Folder(tmp_path)
    for name in ("old", "both"):
        write_table(first, name, ["bot"], [["a"]])
    first.delete_stale()
    (tmp_path / "data/mine.csv").write_text("mine")
    with (tmp_path / "data/downloads.txt").open("a") as file:
        file.write("../outside.csv\ndata/../index.csv\n")
    outside = tmp_path.parent / "outside.csv"
    outside.write_text("not ours")

    write_table(second, "both", ["bot"], [["a"]])
    second.delete_stale()

    assert outside.exists()
    assert list_files(tmp_path) == ["data/both.csv", "data/both.json", "data/downloads.txt", "data/mine.csv"]
