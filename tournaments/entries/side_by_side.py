"""Work that waits for other processes, done side by side in threads that end with their caller."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def run_concurrently(tasks: Sequence[Callable[[int], T]]) -> list[T]:
    """Run all tasks, as many at a time as there are processors, and return their results in order.

    Args:
        tasks: each receives a descriptor whose hang-up means that nobody waits for it any more: it then ends its
            processes and returns or raises at once.

    Raises:
        KeyboardInterrupt: a signal came; all tasks have ended.
        Exception: the first task in order that raised, after all have ended.
    """
    guard, held = os.pipe()
    try:
        # A bot dies with the thread that started it, so a thread must outlive what its task starts: it does here.
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            futures = [pool.submit(task, guard) for task in tasks]
            try:
                return [future.result() for future in futures]
            except BaseException:
                os.close(held)
                held = -1
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    finally:
        if held >= 0:
            os.close(held)
        os.close(guard)
