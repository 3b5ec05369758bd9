"""Times of short pieces of work, taken in turn so that a busy machine hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter


def best_times(works: Mapping[str, Callable[[], object]], repeats: int,
               prepare: Mapping[str, Callable[[], object]] | None = None) -> dict[str, float]:
    """
    Shortest time of each piece of work in s, over so many rounds through all of them.

    What prepares a piece of work is not timed.
    """
    best = dict.fromkeys(works, float('inf'))
    for name, work in works.items():  # warm
        (prepare or {}).get(name, int)()
        work()
    for _ in range(repeats):
        for name, work in works.items():
            (prepare or {}).get(name, int)()
            start = perf_counter()
            work()
            best[name] = min(best[name], perf_counter() - start)
    return best
