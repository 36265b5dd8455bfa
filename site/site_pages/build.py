"""Renders the site of a league, once or again and again, and rewrites only the files whose content changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from malice.referee import rules_text
from malice.referee.records import Key
from malice.site_pages import live, shards, text
from malice.site_pages.bot_pages import BotPages
from malice.site_pages.contents import DEFAULTS, PublishedContents, SiteContents, SiteOptions
from malice.site_pages.crosstable import write_crosstables
from malice.site_pages.docs import LLMS, list_attachments, make_llms_text, render_docs
from malice.site_pages.files import Folder
from malice.site_pages.front import Front, make_front, write_front_downloads
from malice.site_pages.game_list import GameRows, Reasons, write_list
from malice.site_pages.game_pages import GamePage, write_game_pages
from malice.site_pages.head_to_head import write_meetings
from malice.site_pages.last_table import LastTable, draw_last_table
from malice.site_pages.live import NEVER, Live, MakeLive, make_stamp
from malice.site_pages.opinions import Diagnosis, choose_games, write_opinions
from malice.site_pages.pages import GameCount, Pages
from malice.site_pages.rankings import assign_colours
from malice.site_pages.sections import make_rankings
from malice.site_pages.shard_files import Packers, ShardFiles
from malice.site_pages.share_image import SHARE_IMAGE, draw_share_image
from malice.site_pages.survey import Memory, Survey
from malice.site_pages.turning_point import Dramas
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.progression import GameRatings
from malice.tournaments.league.publication import SITE_OWNER, SiteSize, choose_publication, find_site_owner
from malice.tournaments.league.ranking import compute_league_standings, find_state
from malice.tournaments.league.standings import Standings, State
from malice.tournaments.league.tournament import measure_workload

STATIC = Path(__file__).parent / "static"


class SiteWriter:
    """Renders the site of one league as often as it is told; it keeps what it found out about games seen before.

    Args:
        source: the league.
        out: the folder of the site.
    """

    def __init__(self, source: SiteContents, out: Path) -> None:
        self._source = source
        self._out = out
        self._memory = Memory()
        self._stamp = ""
        self._dramas = Dramas()
        self._by_games = GameRatings()

    def render(self, options: SiteOptions = DEFAULTS, make_live: MakeLive | None = None) -> SiteSize:
        """Write the site as the league stands now; rewrite only files whose content changes.

        Args:
            options: what it shows beyond what every site does.
            make_live: what the pages say of the moment; by default nothing, so that the same league gives the same
                files.

        Raises:
            OSError: a file cannot be written.
            LeagueError: as `malice.tournaments.running.rerun.Opinions.ask`.
        """
        with self._source.snapshot():
            contents = self._source.read()
        publication = options.publication or choose_publication(contents.tournament)
        published = PublishedContents(self._source, contents, publication)
        survey = Survey(contents, self._memory)
        rendering = _Rendering(
            Folder(self._out), self._source, contents, published, survey, options, self._dramas, self._by_games
        )
        self._stamp = rendering.stamp
        return rendering.write(make_live)

    def tell(self, now: Live) -> None:
        """Write what the pages say of the moment, and nothing else, after a rendering.

        Raises:
            OSError: the file cannot be written.
        """
        Folder(self._out).write(live.NAME, live.make_live_script(self._stamp, now))


def render(source: SiteContents, out: Path, options: SiteOptions = DEFAULTS) -> SiteSize:
    """Write the site of a league to the folder `out`, as `SiteWriter.render` does."""
    return SiteWriter(source, out).render(options)


class _Rendering:
    """One rendering: what all its pages share."""

    def __init__(
        self,
        folder: Folder,
        source: SiteContents,
        contents: Contents,
        published: PublishedContents,
        survey: Survey,
        options: SiteOptions,
        dramas: Dramas,
        by_games: GameRatings,
    ) -> None:
        self._folder = folder
        self._by_games = by_games
        self._source = source
        self._contents = contents
        self._published = published
        self._survey = survey
        self._options = options
        self._dramas = dramas
        self._watch: Key | None = None
        self._opens = ""
        self._tournament = contents.tournament
        self._reasons = Reasons(self._tournament.rulesets)
        self._rows = GameRows(survey, self._reasons)
        planned = measure_workload(self._tournament, survey.tables).games
        self._games = GameCount(survey.games, planned, survey.count_by_part())
        self._index = survey.index.make_payload()
        states = _find_states(contents)
        self.stamp = make_stamp(contents, self._index, states)
        """Stands on every page, and changes with what they show."""
        kept = survey.memory.rows
        self._pages = Pages(self._tournament, states, self._games, self.stamp, url=options.url, kept=kept)

    def write(self, make_live: MakeLive | None) -> SiteSize:
        """Write all files, and delete those that the site no longer has."""
        folder = self._folder
        folder.write(SITE_OWNER, msgspec.json.encode(find_site_owner(self._tournament)))
        all_standings = compute_league_standings(self._contents)
        rankings = make_rankings(all_standings)
        read_records, deals = self._source.read_records, self._survey.deals
        front = make_front(self._contents, read_records, deals, all_standings, rankings, self._options, self._by_games)
        self._choose_game(front)
        diagnosis = self._write_opinions(front)
        for path in sorted(STATIC.iterdir()):
            folder.write(f"static/{path.name}", path.read_bytes())
        families = {ruleset.family for ruleset in self._tournament.rulesets.values()}
        games = write_game_pages(folder, families)
        self._write_index(self._write_shards(), games, diagnosis)
        blocks = write_list(folder, self._survey, self._reasons, self._pages.marks)
        folder.write("games.html", self._pages.render_games(self._rows.make_latest(), blocks))
        self._write_results(all_standings, front, diagnosis)
        self._write_rulesets()
        folder.write("replay.html", self._pages.render_replay(self._draw_last_table()))
        self._write_docs(frozenset(games))
        folder.delete_stale()
        # Last, since it sends readers to the new pages.
        folder.write(live.NAME, live.make_live_script(self.stamp, make_live(self._games) if make_live else NEVER))
        withheld = self._published.count_withheld(self._survey.failed)
        return SiteSize(folder.pages, self._survey.games, folder.size, folder.written, withheld)

    def _choose_game(self, front: Front) -> None:
        """Choose the game that a replay page opens when it is not told which: that of the front page, at its turn."""
        if front.game is not None:
            self._watch, self._opens = front.game.game.key, front.game.place
        else:
            self._watch = self._dramas.find(self._contents, self._source.read_records)
            self._opens = "" if self._watch is None else str(self._watch)

    def _draw_last_table(self) -> LastTable | None:
        """Of the game that a replay page opens when it is not told which."""
        if self._watch is None:
            return None
        (record,) = self._published.read_records([self._watch])
        game = next(game for game in self._contents.games if game.key == self._watch)
        return draw_last_table(game, record, self._reasons)

    def _write_opinions(self, front: Front) -> Diagnosis | None:
        """Ask a bot about the games that people open first; return what other files tell of its answers."""
        bot = self._options.opinions
        if bot is None:
            return None
        games = choose_games(self._survey, (self._watch,), bot.most)
        return write_opinions(self._folder, self._published, bot, games)

    def _write_shards(self) -> ShardFiles:
        rulesets = self._tournament.rulesets
        with Packers() as packers:
            files = ShardFiles(self._folder, self._published, self._survey, self._reasons, rulesets, packers)
            for number in self._survey.blocks:
                files.write(number)
        return files

    def _write_index(self, files: ShardFiles, games: dict[str, GamePage], diagnosis: Diagnosis | None) -> None:
        payload = self._index | {
            "size": shards.SIZE,
            "watch": self._opens or None,
            "splits": files.splits,
            "families": games,
            "bots": [text.make_slug(entry.label) for entry in self._contents.entries],  # in the order of their colours
        }
        if diagnosis is not None:
            payload["opinions"] = diagnosis.index
        script = shards.make_script("index", shards.make_header("index", payload), shards.pack(payload))
        self._folder.write("data/index.js", script)

    def _write_results(self, all_standings: Sequence[Standings], front: Front, diagnosis: Diagnosis | None) -> None:
        """Write the front page, and the page of each bot."""
        entries = self._published.entries()
        opened = None if front.game is None else self._rows.make(front.game.game)
        front = replace(front, machines=self._survey.describe_machines())
        if picture := bool(self._options.url and all_standings):
            colours = assign_colours(entry.label for entry in self._contents.entries)
            self._folder.write(SHARE_IMAGE, draw_share_image(all_standings[0], colours))
        self._folder.write("index.html", self._pages.render_front(front, entries, opened, picture=picture))
        write_front_downloads(self._folder, front, all_standings)
        crossings = [section.crossings for section in front.sections]
        write_crosstables(self._folder, zip(all_standings, crossings, strict=True))
        ranked = list(zip(all_standings, front.sections, strict=True))
        write_meetings(self._folder, self._contents, self._survey, ranked, self._pages.marks)
        self._folder.write("head-to-head.html", self._pages.render_head_to_head())
        bots = BotPages(self._published, self._survey, self._rows, all_standings, front.sections, diagnosis)
        bots.write(self._folder, self._pages)

    def _write_rulesets(self) -> None:
        for ruleset in self._contents.rulesets:
            page = self._pages.render_ruleset(rules_text.make_ruleset_text(ruleset))
            self._folder.write(f"rules/{text.make_slug(ruleset.name)}.html", page)

    def _write_docs(self, families: frozenset[str]) -> None:
        docs = render_docs(families)
        for place, doc in enumerate(docs):
            self._folder.write(f"docs/{doc.name}.html", self._pages.render_doc(place, docs))
        for name, path in list_attachments():
            self._folder.write(f"docs/{name}", path.read_bytes())
        bots = [(entry.label, f"bots/{text.make_slug(entry.label)}.html") for entry in self._published.entries()]
        told = make_llms_text(self._tournament.name, bots, self._folder.downloads, docs)
        self._folder.write(LLMS, told.encode("utf-8", "replace"))


def _find_states(contents: Contents) -> dict[str, State]:
    return {entry.label: find_state(entry, contents.suspended) for entry in contents.entries}
