"""Is one entry better than another? The answer of a comparison, or of any games of two, with luck and without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.nouns import format_count
from malice.referee.replay import find_luck
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import Contents, GameSummary
from malice.tournaments.league.counting import SequentialTest
from malice.tournaments.league.ranking import Picker
from malice.tournaments.league.rating_groups import collect_groups
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.replay_pool import count_processors, replay_rows
from malice.tournaments.ratings.anytime import AnyTime, measure_any_time
from malice.tournaments.ratings.comparison import (
    FEWEST,
    Adjustment,
    Advantage,
    Others,
    adjust_scores,
    compare_head_to_head,
    measure_advantage,
)
from malice.tournaments.ratings.fit import Lead, fit_ratings
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.sprt import Sprt, Verdict


def list_complete_deals(games: Iterable[GameSummary], label: str) -> list[tuple[float, float]]:
    """What an entry got in both games of each deal; nothing where a deal is one game."""
    complete = [deal for deal in group_complete_deals(games) if len(deal) == 2]
    return [(get_score(one, label), get_score(other, label)) for one, other in complete]


def group_complete_deals(games: Iterable[GameSummary]) -> list[list[GameSummary]]:
    """Group games by deal, and leave out the deals that lack one."""
    deals: dict[tuple[int, int, int], list[GameSummary]] = defaultdict(list)
    for game in games:
        deals[game.key.part, game.key.table, game.key.deal].append(game)
    return [deal for deal in deals.values() if len(deal) == deal[0].rotations]


def compute_score(games: Iterable[GameSummary], label: str) -> float:
    """The share of the points that an entry got in its games; one half without games."""
    scores = [get_score(game, label) for game in games if label in game.labels]
    return sum(scores) / len(scores) if scores else 0.5


def get_score(game: GameSummary, label: str) -> float:
    """The share of the points of a game that an entry got."""
    return game.finish().points[game.labels.index(label)] / 2


MOST_GAMES = 2_000
"""More than these are not played again: a game takes about 20 ms of CPU, and somebody waits."""

_lucks = msgspec.msgpack.Decoder(tuple[float, ...])


class ReplayListener(Protocol):
    """Whoever waits while games are played again."""

    def expect(self, games: int) -> None:
        """Learn that so many more games are to be played again."""

    def count_game(self) -> None:
        """Learn that one of them was."""


class Compared(NamedTuple):
    """What a side of a comparison played."""

    deals: Sequence[Sequence[GameSummary]]
    """The games of each."""
    sides: tuple[str, str]
    """The side, and the other one; either plays in every game."""
    others: Others | None = None
    """The opponents of both, if the two do not meet each other."""


def adjust_deals(
    league: LeagueReader, compared: Sequence[Compared], watcher: ReplayListener | None = None
) -> list[Adjustment | None]:
    """Adjust the score of one side of each comparison; many games are played again on all processors.

    None if luck cannot be measured under each of the rulesets, if there are more than `MOST_GAMES` games, or if
    it is not certain that the adjusted score is the sharper one.

    Args:
        league: holds the records.
        compared: the comparisons.
        watcher: is told of each game; first how many there are of all comparisons.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    planned = [(each, _find_functions(league, each.deals)) for each in compared]
    keys = [game.key for each, hashes in planned if hashes for deal in each.deals for game in deal]
    if watcher:
        watcher.expect(len(keys))
    with replay_rows(league, "luck", len(keys), count_processors()) as replayers:
        lucks = _watch(replayers.replay((league.find_row(key), None) for key in keys), watcher)
        return [_adjust(each, lucks, hashes) if hashes else None for each, hashes in planned]


def _find_functions(league: LeagueReader, deals: Sequence[Sequence[GameSummary]]) -> tuple[str, ...]:
    """The hashes of the functions that measure luck; none if one is missing, or the games are too few or too many."""
    if len(deals) < FEWEST or sum(map(len, deals)) > MOST_GAMES:
        return ()
    played = {game.ruleset for deal in deals for game in deal}
    lucks = [find_luck(ruleset) for ruleset in league.rulesets() if ruleset.name in played]
    return tuple(luck.hash for luck in lucks if luck) if all(lucks) else ()


def _watch(replayed: Iterable[tuple[object, bytes]], watcher: ReplayListener | None) -> Iterator[tuple[float, ...]]:
    """Yield the luck of the seats of each game."""
    for _, measured in replayed:
        if watcher:
            watcher.count_game()
        yield _lucks.decode(measured)


def _adjust(compared: Compared, lucks: Iterator[tuple[float, ...]], functions: tuple[str, ...]) -> Adjustment | None:
    scores, measured = [], []
    for deal in compared.deals:
        results = [_compare(game, next(lucks), compared.sides) for game in deal]
        scores.append(sum(score for score, _ in results) / len(results))
        measured.append(sum(luck for _, luck in results) / len(results))
    others = compared.others
    found = adjust_scores(scores, measured, others.convert_to_elo if others else convert_to_elo)
    return found and replace(found, functions=functions)


def _compare(game: GameSummary, lucks: Sequence[float], sides: tuple[str, str]) -> tuple[float, float]:
    """The score and the luck of the first side; where only the other one plays, what that one left of both."""
    ours = sides[0] in game.labels
    seat = game.labels.index(sides[0] if ours else sides[1])
    score, lucky = game.finish().points[seat] / 2, lucks[seat]
    return (score, lucky) if ours else (1 - score, -lucky)


Finding = Literal["better", "not better", "worse", "undecided"]


class ComparedEntry(Struct, frozen=True):
    """One of the two."""

    label: str
    games: int
    faults: int
    """Games that it ended by a verdict."""
    seconds: float
    """Thinking time in all games."""
    cpu_seconds: float
    """CPU time on turn."""
    ms: float | None
    """Thinking time for an action."""
    cpu_ms: float | None
    """CPU time for an action."""


class RulesetScore(Struct, frozen=True):
    """The games of two entries under one ruleset."""

    ruleset: str
    first: str
    second: str
    games: int
    score: float | None
    """The share of the points that the first got, 0..1."""
    luck: float | None
    """The share of a game's variance that deal and seat explain; below 0 if they help one player twice."""
    luck_low: float | None
    luck_high: float | None


class SprtAnswer(Struct, frozen=True):
    """What a test says."""

    test: Sprt
    llr: float
    lower: float
    upper: float
    accepted: Verdict | None


class FittedLead(Struct, frozen=True):
    """What the fit of all games of a league says of two entries, as of a pair that somebody asks for."""

    finding: Finding
    sentence: str
    games: int
    lead: Lead


class Comparison(Struct, frozen=True):
    """What the games of two entries say."""

    finding: Finding
    sentence: str
    """To quote."""
    new: ComparedEntry
    base: ComparedEntry
    rulesets: tuple[str, ...]
    opponents: tuple[str, ...]
    """Whom both met on the same cards; none if they met each other."""
    advantage: Advantage
    answer: SprtAnswer | None
    """None without a test."""
    exact: bool
    """Whether the intervals hold in 95 % of all comparisons. They do after a test, for which they are corrected; not
    if a test chose when to stop the games of which these are a part."""
    meetings: tuple[RulesetScore, ...]
    adjusted: Adjustment | None = None
    """The score without luck; None if it was not asked for, or is not sharper than the plain one."""
    anytime: AnyTime | None = None
    """While deals are still missing; None without deals."""
    fit: FittedLead | None = None
    """What all games of the league say of the two; None if these are all games, or say nothing of the two."""


def read_comparison(
    league: LeagueReader, *, adjusted: bool = False, watcher: ReplayListener | None = None
) -> Comparison:
    """Read the answer of the chosen tournament, which is a comparison that has begun.

    Args:
        league: holds it.
        adjusted: whether to play the games again, to take luck off the score.
        watcher: is told of these.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    contents = league.read()
    sequential, games = contents.tests.get(0) or SequentialTest(contents.tournament, 0), list(contents.games)
    complete = [game for game in games if game.key.deal < sequential.deals]
    others = None
    if sequential.weight != sequential.games:
        scores = [compute_score(complete, side) for side in sequential.sides]
        others = Others(sequential.weight, sum(scores) / 2)
    stopped = (sequential.test, sequential.verdict) if sequential.test else None
    advantage = measure_advantage(sequential.counts, sequential.games, others, stopped)
    found = _conclude(sequential.sides, advantage, games, _read_answer(sequential))
    if not league.tournament().complete:
        convert = others.convert_to_elo if others else convert_to_elo
        found = _add_anytime(found, [cell / (len(sequential.counts) - 1) for cell in sequential.cells], convert)
    if not games:  # they would name the rulesets and the opponents
        tournament = league.tournament()
        others_met = tuple(entry.label for entry in tournament.file_entries[2:])
        found = replace(found, rulesets=tuple(tournament.rulesets), opponents=others_met)
    if not adjusted:
        return found
    by_deal: dict[int, list[GameSummary]] = defaultdict(list)
    for game in complete:
        by_deal[game.key.deal].append(game)
    (sharper,) = adjust_deals(league, [Compared(list(by_deal.values()), sequential.sides, others)], watcher)
    return replace(found, adjusted=sharper)


def compare_entries(
    league: LeagueReader, new: str, base: str, *, adjusted: bool = False, watcher: ReplayListener | None = None
) -> tuple[Comparison, ...]:
    """Compare two entries by their games, for each ruleset; a comparison of the two gives its own answer.

    Raises:
        LeagueError: there is no such entry, or the two did not play a whole deal against each other.
    """
    contents = league.read()
    if contents.tests and contents.tests[0].sides == (new, base):
        return (read_comparison(league, adjusted=adjusted, watcher=watcher),)
    exact, picker = not contents.ended_by_test, Picker(contents)
    for label in (new, base):
        if label not in picker.names:
            hint = f"entries: {', '.join(picker.names)}"
            raise LeagueError(f"no entry {label!r}", where=league.path, got=label, hint=hint)
    by_ruleset: dict[str, list[GameSummary]] = defaultdict(list)
    for game in picker.list_games():
        if sorted(game.labels) == sorted((new, base)):
            by_ruleset[game.ruleset].append(game)
    pairs = [Pair((new, base), games) for games in by_ruleset.values()]
    found = tuple(compare_pairs(league, pairs, exact=exact, adjusted=adjusted, watcher=watcher))
    if not found:
        raise LeagueError(f"{league.path}: {new!r} and {base!r} played no whole deal against each other")
    if not exact:
        return found
    return tuple(replace(each, fit=_fit_all(contents, picker, each)) for each in found)


def _add_anytime(found: Comparison, scores: Sequence[float], convert: Callable[[float], float | None]) -> Comparison:
    """Add what holds at any time, of deals in the order in which they count; a test aside, it decides so far."""
    if not scores:
        return found
    ends = measure_any_time(scores, convert)
    if found.answer:
        return replace(found, anytime=ends)
    finding = _find_beyond(0.5, ends.score_low, ends.score_high)
    elo = _phrase_elo(found.advantage.elo, ends.elo_low, ends.elo_high)
    sentence = f"{finding} so far: {elo} after {format_count(found.advantage.deals, 'deal')}"
    return replace(found, finding=finding, sentence=sentence, anytime=ends)


def _fit_all(contents: Contents, picker: Picker, found: Comparison) -> FittedLead | None:
    """Measure by how much one leads by all games of the ruleset; None if only the two played."""
    groups = collect_groups(picker.list_games(), picker.names, picker.common, contents.clocks)
    pair = found.new.label, found.base.label
    for kind, games in groups.items():
        if (kind.ruleset, kind.seats) == (found.rulesets[0], 2) and any(
            set(pair) != {*labels} for labels, *_ in games.count_outcomes()
        ):
            fit = fit_ratings(games.complete.rated, len(picker.names))
            if lead := fit.compare(*(picker.names.index(label) for label in pair)):
                finding = _find_beyond(0.0, lead.low, lead.high)
                ends = f"{lead.elo:+z.0f} Elo ({lead.low:z.0f}..{lead.high:z.0f})"
                return FittedLead(finding, f"{finding}: {ends} by the fit of all {fit.games} games", fit.games, lead)
    return None


class Pair(NamedTuple):
    """Two entries under one ruleset."""

    sides: tuple[str, str]
    """The new one, and the base."""
    games: Sequence[GameSummary]
    """All that they played against each other."""


def compare_pairs(
    league: LeagueReader, pairs: Iterable[Pair], *, exact: bool, adjusted: bool, watcher: ReplayListener | None = None
) -> Iterator[Comparison]:
    """Yield what the games of each pair say that played a whole deal.

    Args:
        league: holds their records.
        pairs: the pairs.
        exact: whether no test chose when to stop.
        adjusted: whether to play the games again, to take luck off the scores.
        watcher: hears of these; first how many there are of all pairs.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    complete = [(pair, deals) for pair in pairs if (deals := group_complete_deals(pair.games))]
    live = not league.tournament().complete
    sharper: list[Adjustment | None] = [None] * len(complete)
    if adjusted:
        sharper = adjust_deals(league, [Compared(deals, pair.sides) for pair, deals in complete], watcher)
    for (pair, deals), without_luck in zip(complete, sharper, strict=True):
        yield replace(_compare_pair(pair, deals, live=live), exact=exact, adjusted=without_luck)


def _compare_pair(pair: Pair, deals: Iterable[Sequence[GameSummary]], *, live: bool) -> Comparison:
    sides = pair.sides
    games = pair.games[0].rotations
    # In the order in which deals ended, no deal comes later between those that somebody has seen.
    in_order = sorted(deals, key=lambda deal: max(map(_find_end, deal)))
    scores = [sum(get_score(game, sides[0]) for game in deal) / games for deal in in_order]
    counts = [0] * (2 * games + 1)
    for score in scores:
        counts[round(2 * games * score)] += 1
    found = _conclude(sides, measure_advantage(counts, games), pair.games, None)
    return _add_anytime(found, scores, convert_to_elo) if live else found


def _find_end(game: GameSummary) -> float:
    """When a game ended, nearly, in seconds since 1970."""
    return game.started + sum(game.used_ms) / 1000


def _read_answer(sequential: SequentialTest) -> SprtAnswer | None:
    test = sequential.test
    return (
        SprtAnswer(test, sequential.llr, test.lower, test.upper, sequential.verdict)
        if test and sequential.llr is not None
        else None
    )


def _conclude(
    sides: tuple[str, str], advantage: Advantage, games: Sequence[GameSummary], answer: SprtAnswer | None
) -> Comparison:
    finding = _find(advantage, answer)
    meetings = tuple(_list_meetings(sides, games))
    new, base = (_make_compared_entry(label, games) for label in sides)
    return Comparison(
        finding=finding,
        sentence=_phrase(finding, advantage, answer),
        new=new,
        base=base,
        rulesets=tuple(dict.fromkeys(meeting.ruleset for meeting in meetings)),
        opponents=tuple(dict.fromkeys(each.second for each in meetings if each.second not in sides)),
        advantage=advantage,
        answer=answer,
        exact=True,
        meetings=meetings,
    )


def _find(advantage: Advantage, answer: SprtAnswer | None) -> Finding:
    seen = _find_beyond(0.5, advantage.score_low, advantage.score_high)
    if not answer:
        return seen
    if answer.accepted == "H0":
        return "worse" if seen == "worse" else "not better"
    return "better" if answer.accepted else "undecided"


def _find_beyond(even: float, low: float | None, high: float | None) -> Finding:
    if low is None or high is None:
        return "undecided"
    return "better" if low > even else "worse" if high < even else "undecided"


def _phrase(finding: Finding, advantage: Advantage, answer: SprtAnswer | None) -> str:
    if not advantage.deals:
        return f"{finding}: no deal was finished"
    accepted = f", {answer.accepted} accepted" if answer and answer.accepted else ""
    elo = _phrase_elo(advantage.elo, advantage.elo_low, advantage.elo_high)
    return f"{finding}: {elo}{accepted} after {format_count(advantage.deals, 'deal')}"


def _phrase_elo(elo: float | None, low: float | None, high: float | None) -> str:
    """Say how much better the new bot is; a bound if it won or lost every deal."""
    if elo is None:
        bounds = [f"at {word} {bound:+z.0f}" for word, bound in (("least", low), ("most", high)) if bound is not None]
        return f"{bounds[0] if bounds else 'n/a'} Elo"
    ends = ("n/a" if each is None else f"{each:z.0f}" for each in (low, high))
    return f"{elo:+z.0f} Elo ({'..'.join(ends)})"


def _make_compared_entry(label: str, games: Iterable[GameSummary]) -> ComparedEntry:
    seats = [(game, game.labels.index(label)) for game in games if label in game.labels]
    asked = sum(game.asked[seat] for game, seat in seats)
    used = sum(game.used_ms[seat] for game, seat in seats)
    cpu = sum(game.cpu_ms[seat] for game, seat in seats if game.cpu_ms)
    return ComparedEntry(
        label=label,
        games=len(seats),
        faults=sum(bool(game.verdicts[seat]) for game, seat in seats),
        seconds=used / 1000,
        cpu_seconds=cpu / 1000,
        ms=used / asked if asked else None,
        cpu_ms=cpu / asked if asked else None,
    )


def _list_meetings(sides: tuple[str, str], games: Iterable[GameSummary]) -> Iterable[RulesetScore]:
    """Yield the games of each table, with the side that comes first in the comparison as the first."""
    tables: dict[tuple[str, str, str], list[GameSummary]] = defaultdict(list)
    for game in games:
        first = next(side for side in sides if side in game.labels)
        second = next(label for label in game.labels if label != first)
        tables[game.ruleset, first, second].append(game)
    for (ruleset, first, second), played in tables.items():
        both = compare_head_to_head(list_complete_deals(played, first))
        yield RulesetScore(
            ruleset=ruleset,
            first=first,
            second=second,
            games=len(played),
            score=compute_score(played, first),
            luck=both.luck,
            luck_low=both.luck_low,
            luck_high=both.luck_high,
        )


def compare_without_luck(league: LeagueReader, watcher: ReplayListener | None = None) -> Iterator[Comparison]:
    """Yield what the games of every two entries say, wherever the score without luck is the sharper one.

    The entries come in the order of the tournament file. This plays the games again, at about 20 ms of CPU for each;
    `watcher` hears of them.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    contents = league.read()
    exact, picker = not contents.ended_by_test, Picker(contents)
    places = {name: place for place, name in enumerate(picker.names)}
    played: dict[tuple[int, int, str], list[GameSummary]] = defaultdict(list)
    for game in picker.list_games():
        if len(game.labels) == len(set(game.labels)) == 2 and picker.shown.issuperset(game.labels):
            one, other = sorted(places[label] for label in game.labels)
            played[one, other, game.ruleset].append(game)
    pairs = [
        Pair((picker.names[one], picker.names[other]), games)
        for (one, other, _), games in sorted(played.items(), key=lambda item: item[0])
    ]
    for found in compare_pairs(league, pairs, exact=exact, adjusted=True, watcher=watcher):
        if found.adjusted:
            yield found
