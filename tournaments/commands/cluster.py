"""The options of commands that can play on many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from referee.errors import DataError

if TYPE_CHECKING:
    from tournaments.entries.kept_bots import KeptBots
    from tournaments.farm.farm import Farm
    from tournaments.running.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])


def dask_options(command: F) -> F:
    """Add the options that name a scheduler, and refuse slow workers."""
    command = click.option(
        "--min-factor",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        help="With --dask: refuse workers that are slower than X times the reference.",
    )(command)
    return dask_option(command)


def dask_option(command: F) -> F:
    """Add the option that names a scheduler."""
    return click.option(
        "--dask",
        "scheduler",
        metavar="ADDRESS|FILE",
        callback=_require_dask_for,
        help="Let the workers of a Dask scheduler play: its address, or its file, such as scheduler.json.",
    )(command)


def _require_dask_for(ctx: click.Context, param: click.Parameter, scheduler: str | None) -> str | None:
    if scheduler is not None:
        require_dask()
    return scheduler


def require_dask() -> None:
    """Make sure that Dask is installed.

    Raises:
        DataError: it is not.
    """
    if find_spec("distributed") is None:
        raise DataError("expected Dask for many machines, which is not installed: pip install 'malice[dask]'")


@contextmanager
def open_farm(scheduler: str | None, plan: Plan, kept: KeptBots, min_factor: float | None) -> Iterator[Farm | None]:
    """Yield what plays on the workers of a scheduler; None without one.

    Raises:
        MaliceError: no scheduler answers.
    """
    if scheduler is None:
        yield None
        return
    from tournaments.farm.dask_cluster import DaskCluster
    from tournaments.farm.farm import Farm

    with DaskCluster(scheduler) as cluster:
        yield Farm(cluster, plan, kept, min_factor or 0.0, cluster.count_slots())
