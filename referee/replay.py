"""Plays a record again without bots, and measures what chance did for its seats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from msgspec import Struct

from malice.protocol.messages import Out
from malice.referee.course import Course, choose_dealer, find_acting, list_asked
from malice.referee.errors import ChangedRules, DataError, FamilyError, IllegalAction, RecordError, RulesetError
from malice.referee.families import load_family, make_rules
from malice.referee.game import start_course
from malice.referee.packed_events import AskContent, PackedEvents, decode_events, pack_asks
from malice.referee.records import FORMAT, Record, compute_digest
from malice.referee.rules import Events, Luck, Result, Rules, Step
from malice.referee.rulesets import Ruleset
from malice.referee.verdicts import Code

VERDICT = "!"
"""The first character of an action that is a verdict."""
VERDICTS = tuple(VERDICT + code for code in get_args(Code))

VOID = "void"
"""The reason of a game that counts for nobody: every team failed before anybody played, or the game had no end."""

Moves = tuple[tuple[int, str], ...]
"""By seat an action, or `!` and the code of a verdict."""


def make_void_result(seats: int) -> Result:
    """For a game that no team could begin, or that had no end."""
    return Result((1,) * seats, (0,) * seats, VOID)


def is_void(moves: Sequence[tuple[int, str]], teams: Sequence[int]) -> bool:
    """Whether these moves, all of a game so far, make it void: every team failed, and nobody played."""
    return all(action.startswith(VERDICT) for _, action in moves) and {teams[seat] for seat, _ in moves} == set(teams)


def is_unplayed(record: Record) -> bool:
    """Whether a game is void because every team failed before anybody played."""
    return record.reason == VOID and all(action.startswith(VERDICT) for _, action in record.actions)


def is_endless(record: Record) -> bool:
    """Whether a game is void because it was not over after the most actions that its family allows."""
    return record.reason == VOID and not is_unplayed(record)


class RecordedAsk(Struct, frozen=True):
    """One ask of a recorded game: what came in, and what followed."""

    first: int
    """The index of its first action in the record."""
    moves: Moves
    """First the verdicts, then the actions, by seat; none for the deal that opens the game."""
    events: Events
    """Unmasked, up to the next ask."""
    before: Any
    """The state in which the seats were asked."""
    after: Any


def replay_asks(record: Record) -> Iterator[RecordedAsk]:
    """Play the recorded game ask by ask: first the deal, then what the seats did.

    This trusts only the rules, the deal seed and the actions of the record.

    Raises:
        RecordError: an action is not legal, or the game ends at another action or with another result than recorded.
        ChangedRules: the same, of a game that was played by other rules than today's.
    """
    try:
        yield from _replay_asks(record)
    except RecordError as error:
        raise _excuse(record, error) from None


def _excuse(record: Record, error: RecordError) -> RecordError:
    """If the rules have changed since the game, say so instead of the error."""
    if not record.old_rules:
        return error
    then, now = record.old_rules.revision, load_family(record.family).revision
    return ChangedRules(
        f"game {record.key}: was played by revision {then} of the rules of {record.family!r}, and does not replay by"
        f" revision {now}, which this malice plays"
    )


def _replay_asks(record: Record) -> Iterator[RecordedAsk]:
    course = start_recorded_course(record)
    yield RecordedAsk(0, (), course.dealt, course.state, course.state)
    first, most = 0, load_family(record.family).match(record.rules).max_actions
    while first < len(record.actions):
        if first >= most:
            raise RecordError(f"{_locate_action(record, first)}: expected none after {most:,} actions")
        before = course.state
        try:
            moves, events = _replay_ask(record, first, course)
        except FamilyError as error:
            raise RecordError(f"game {record.key}: {error}") from None
        yield RecordedAsk(first, moves, events, before, course.state)
        first += len(moves)
    endless = first >= most and not isinstance(course.step, Result)
    _check_end(record, make_void_result(course.rules.seats) if endless else course.step, course.rules.teams)


def replay_contents(record: Record) -> Iterator[AskContent]:
    """Play the recorded game, and yield of each ask what is packed of it.

    Raises:
        RecordError: as `replay_asks`.
    """
    turn, turns = find_rules(record).turn, 0
    for ask in replay_asks(record):
        before, turns = turns, turn(ask.after)
        yield (ask.moves, ask.events, turns - before) if turns != before else (ask.moves, ask.events)


def replay_packed(record: Record) -> PackedEvents:
    """Play the recorded game, and pack what happened.

    Raises:
        RecordError: as `replay_asks`.
    """
    pack_game = getattr(find_rules(record), "pack_game", None)
    most = load_family(record.family).match(record.rules).max_actions
    if pack_game and not record.position and len(record.actions) < most:
        packed = pack_game(record.deal_seed, record.actions)
        if packed and packed[0] == Result(record.places, record.scores, record.reason, record.figures):
            return PackedEvents(*packed[1])
    return pack_asks(list(replay_contents(record)))


def find_rules(record: Record) -> Rules[Any]:
    """Make the game of a record.

    Raises:
        RecordError: its rules make no game.
    """
    try:
        return make_rules(record.family, record.rules, len(record.entries))
    except (FamilyError, RulesetError) as error:
        raise RecordError(f"game {record.key}: {error}") from None


def start_recorded_course(record: Record) -> Course:
    """A recorded game as it stands after the deal, or in the position where it began.

    Raises:
        RecordError: its rules, its deal seed or its position make no game.
    """
    try:
        dealer = choose_dealer(bytes.fromhex(record.deal_seed))
        return start_course(find_rules(record), dealer, record.position or None)
    except (ValueError, DataError) as error:
        raise RecordError(f"game {record.key}: {error}") from None


def _replay_ask(record: Record, first: int, course: Course) -> tuple[Moves, Events]:
    """Carry out what was recorded of the next ask: verdicts together, then the actions of the seats still asked."""
    asked = list_asked(course.step)
    verdicts = _take_verdicts(record, first, asked)
    for index in range(first, first + len(verdicts)):
        _check_verdict(record, index, course.step, course.rules.teams)
    if verdicts and verdicts[0][0] not in asked:
        asked = ()
    if verdicts and is_unplayed(record):
        return verdicts, tuple(Out(seat, action[1:]) for seat, action in verdicts)
    events = course.withdraw({seat: action[1:] for seat, action in verdicts}) if verdicts else ()
    failed = [seat for seat, _ in verdicts]
    acting = find_acting(course.step, [seat for seat in asked if seat not in failed])
    begin = first + len(verdicts)
    moves = record.actions[begin : begin + len(acting)]
    if tuple(seat for seat, _ in moves) != acting or (not verdicts and not acting):
        raise RecordError(f"{_locate_action(record, begin)}: expected {course.step}")
    try:
        events += course.play(dict(moves)) if moves else ()
    except IllegalAction as error:
        raise RecordError(f"game {record.key}: action {begin}: {error}") from None
    return verdicts + moves, events


def _take_verdicts(record: Record, first: int, asked: Sequence[int]) -> Moves:
    """The verdicts that belong to one ask; a seat that is not asked, or alone, leaves alone."""
    taken: list[tuple[int, str]] = []
    for seat, action in record.actions[first : first + max(1, len(asked))]:
        if not action.startswith(VERDICT) or (taken and (seat not in asked or seat <= taken[-1][0])):
            break
        taken.append((seat, action))
        if seat not in asked:
            break
    return tuple(taken)


def _locate_action(record: Record, index: int) -> str:
    if index >= len(record.actions):
        return f"game {record.key}: after its last action"
    seat, action = record.actions[index]
    return f"game {record.key}: action {index} ({action!r} of seat {seat})"


def _check_verdict(record: Record, index: int, step: Step, teams: tuple[int, ...]) -> None:
    """Refuse a verdict on a seat that is not asked, unless it failed before its first action was due."""
    seat, action = record.actions[index]
    where = _locate_action(record, index)
    if action not in VERDICTS:
        raise RecordError(f"{where}: expected one of {', '.join(VERDICTS)}")
    judged = [other for other, earlier in record.actions[:index] if earlier.startswith(VERDICT)]
    nobody_played = index == len(judged)
    playing = seat in range(len(teams)) and seat not in judged
    # If every team fails before anybody plays, the game is void, and never over.
    survives = {teams[number] for number in (*judged, seat)} != set(teams) if playing else False
    if nobody_played and playing and (not isinstance(step, Result) or survives):
        return  # the seat failed before its first action was due, perhaps after its partner
    if seat in judged or seat not in list_asked(step):
        raise RecordError(f"{where}: expected {step}")


def _check_end(record: Record, step: Step, teams: tuple[int, ...]) -> None:
    """Refuse a result that does not follow from the actions."""
    if record.reason == VOID and is_void(record.actions, teams):
        step = make_void_result(len(teams))
    recorded = Result(record.places, record.scores, record.reason, record.figures)
    if step != recorded:
        raise RecordError(f"game {record.key}: expected {step} at its end, the record says {recorded}")


def check_record(record: Record) -> None:
    """Play a record again and compare everything under its digest, and the events that it has packed, if any.

    Raises:
        RecordError: it does not replay, or the digest or the events belong to another game.
        ChangedRules: it does not replay, or not with these events, but was played by other rules than today's.
    """
    if record.format != FORMAT:
        raise RecordError(f"game {record.key}: expected format {FORMAT}, got {record.format}")
    played = replay_packed(record)
    if compute_digest(record) != record.digest:
        raise RecordError(f"game {record.key}: the digest does not match what the record says")
    if record.events:
        _check_events(record, played)


def _check_events(record: Record, played: PackedEvents) -> None:
    try:
        packed = decode_events(record.events)
    except DataError as error:
        raise RecordError(f"game {record.key}: {error}") from None
    if packed != played:
        raise _excuse(record, RecordError(f"game {record.key}: the packed events are not those of the game"))


def find_luck(ruleset: Ruleset) -> Luck | None:
    """How to measure luck between two seats under a ruleset; None if nothing was fitted for it."""
    return load_family(ruleset.family).luck(ruleset.rules, 2)


def measure_luck(luck: Luck, record: Record) -> tuple[float, ...]:
    """Play a game again and return the luck of each seat, in games won.

    Args:
        luck: that of its ruleset.
        record: the game.

    Raises:
        RecordError: it does not replay.
    """
    asks = replay_asks(record)
    meter = luck.start(next(asks).after)
    for ask in asks:
        meter.follow(ask.events)
    return meter.total()
