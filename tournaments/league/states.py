"""What an organiser decides about entries: withdraw, disqualify, reinstate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from malice.tournaments.errors import LeagueError
from malice.tournaments.league.journal import AnyEvent, Readmitted, StateChanged
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament

Change = Callable[[Store], None]
"""Changes the state of an entry of the chosen tournament; raises LeagueError if there is nothing to change."""


def change_everywhere(store: Store, names: Sequence[str], label: str, change: Change) -> list[str]:
    """Change the state of an entry in all tournaments that have it; return those in which it changed.

    Args:
        store: the league, open for writing.
        names: the tournaments that are meant.
        label: the entry.
        change: `exclude` or `reinstate`.

    Raises:
        LeagueError: none of them has it, or it changed in none; the message tells of the last one.
    """
    tournaments = store.league().tournaments
    mine = [name for name in names if any(each.label == label for each in tournaments[name].entered)] or names[-1:]
    changed, refusal = [], None
    for name in mine:
        store.select(name)
        try:
            change(store)
        except LeagueError as error:
            refusal = error
        else:
            changed.append(name)
    if refusal and not changed:
        raise refusal
    return changed


def exclude(store: Store, label: str, state: Literal["withdrawn", "disqualified"], reason: str = "") -> None:
    """Let an entry of the chosen tournament play no more.

    Args:
        store: the league, open for writing.
        label: the entry.
        state: whether the games that it played count on, or for nobody.
        reason: for people.

    Raises:
        LeagueError: there is no such entry, or it is in that state, or disqualified; the league is unchanged.
    """
    tournament = store.tournament()
    _require_entry(tournament, label)
    now = tournament.state(label).state
    if now == state:
        raise LeagueError(f"{label}: is {state} already")
    if now == "disqualified":
        raise LeagueError(f"{label}: is disqualified; to let its games count again, reinstate it first")
    store.append(tournament.name, [StateChanged(label, state, reason)])


def reinstate(store: Store, label: str, reason: str = "") -> None:
    """Let an entry of the chosen tournament play again that was suspended, withdrawn or disqualified.

    Raises:
        LeagueError: there is no such entry, or it plays anyway; the league is unchanged.
    """
    tournament = store.tournament()
    _require_entry(tournament, label)
    events: list[AnyEvent] = []
    if tournament.state(label).state != "playing":
        events.append(StateChanged(label, "playing", reason))
    suspended = store.suspended()
    if label in suspended:
        events.append(Readmitted(label, suspended[label]))
    if not events:
        raise LeagueError(f"{label}: is neither suspended nor withdrawn nor disqualified")
    store.append(tournament.name, events)


def _require_entry(tournament: Tournament, label: str) -> None:
    labels = [entered.label for entered in tournament.entered]
    if label not in labels:
        raise LeagueError(f"{tournament.name}: no entry {label!r}; entries: {', '.join(labels)}")
