"""Of many cases of one claim, those that `make test` tries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sample(cases: Iterable[Any], every: int) -> list[Any]:
    """Return a parameter for each case; `make test` takes the first of every so many, and `make soak` all others."""
    return [_leave_out(case) if place % every else case for place, case in enumerate(cases)]


def _leave_out(case: Any) -> Any:
    values, marks, name = case if isinstance(case, type(pytest.param())) else (case, (), None)
    if not isinstance(values, tuple):
        values = (values,)
    return pytest.param(*values, marks=(*marks, pytest.mark.whole), id=name)
