"""The options of commands that can play on many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from malice.referee.errors import DataError
from malice.tournaments.commands.options import parse_span

if TYPE_CHECKING:
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.farm.dispatch import Farm

F = TypeVar("F", bound=Callable[..., Any])


def dask_options(command: F) -> F:
    """Add the options that name a scheduler, and refuse slow workers."""
    command = click.option(
        "--min-factor",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        help="With --dask: refuse workers that are slower than X times the reference.",
    )(command)
    command = patience_option("With --dask: how long there may be no worker [default: 60s].")(command)
    return dask_option(command)


def patience_option(help: str) -> Callable[[F], F]:
    """Make the option that says how long to wait for others, who may stand in a queue."""
    return click.option("--patience", metavar="SPAN", callback=_require_span, help=help)


def _require_span(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    read_patience(text)
    return text


def read_patience(patience: str | None) -> float | None:
    """Read for how many seconds to wait; None if nothing is said.

    Raises:
        DataError: it cannot be read.
    """
    return None if patience is None else parse_span(patience, "--patience").total_seconds()


def dask_option(command: F) -> F:
    """Add the option that names a scheduler."""
    return click.option(
        "--dask",
        "scheduler",
        metavar="ADDRESS|FILE",
        callback=require_scheduler,
        help="Let the workers of a Dask scheduler play: its address, or its file, such as scheduler.json.",
    )(command)


def require_scheduler(ctx: click.Context, param: click.Parameter, scheduler: str | None) -> str | None:
    """Make sure that the value of a parameter may name a scheduler, and that Dask is installed.

    Raises:
        DataError: Dask is not installed.
        click.BadParameter: it is neither an address nor a file of JSON.
    """
    if scheduler is None:
        return None
    from malice.tournaments.farm.scheduler import SCHEMES, is_address, is_file

    require_dask()
    if not is_file(scheduler) and not is_address(scheduler):
        expected = f"the address of a scheduler, such as tls://10.0.0.1:8786 (schemes: {', '.join(SCHEMES)})"
        raise click.BadParameter(f"expected {expected}, or its file, such as scheduler.json, got: {scheduler!r}")
    return scheduler


def require_dask() -> None:
    """Make sure that Dask is installed.

    Raises:
        DataError: it is not.
    """
    if find_spec("distributed") is None:
        raise DataError(
            "expected Dask for many machines, which is not installed: pip install '.[dask]' in the sources of malice"
        )


@contextmanager
def open_farm(
    scheduler: str | None, kept: KeptBots, min_factor: float | None, patience: str | None
) -> Iterator[Farm | None]:
    """Yield what plays on the workers of a scheduler; None without one.

    Raises:
        click.UsageError: there is a factor or a patience, and no scheduler.
        Stopped: no scheduler answers.
    """
    if scheduler is None:
        if min_factor is not None:
            raise click.UsageError("--min-factor: only with --dask")
        if patience is not None:
            raise click.UsageError("--patience: only with --dask")
        yield None
        return
    from malice.tournaments.farm.cluster import PATIENCE_S
    from malice.tournaments.farm.dask_cluster import DaskCluster
    from malice.tournaments.farm.dispatch import Farm

    patience_s = read_patience(patience)
    with DaskCluster(scheduler) as cluster:
        yield Farm(cluster, kept, min_factor or 0.0, cluster.count_slots(), patience_s or PATIENCE_S)
