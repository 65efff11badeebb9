"""Strings by falling weight, found as they are asked for, and what two such rankings join to.

Public names: `Ranking`, `ranking`, `joined`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.pathsum import DivergentSumError
from fsbp.variables import StringPotential, StringTable

FIRST_SEARCH = 16
MAX_COMBINED = 500_000


class Ranking:
    """Distinct strings of a potential, best first; those that it forbids are left out.

    Args:
        found: Pairs (string, log-weight) by falling weight, as far as they are wanted.
    """

    def __init__(self, found: Iterator[tuple[str, float]]) -> None:
        """Ask for nothing yet."""
        self._found = found
        self._known: list[tuple[str, float]] = []

    def at(self, n: int) -> tuple[str, float] | None:
        """Return string n and its log-weight, counted from 0; None where there are fewer.

        Raises:
            DivergentSumError: The strings have no finite sum, or all have the same weight.
            MachineTooLargeError: The search for it outgrew its bound.
        """
        while len(self._known) <= n:
            following = next(self._found, None)
            if following is None:
                return None
            self._known.append(following)
        return self._known[n]

    def best(self, k: int) -> StringTable:
        """Return the first `k` strings; raises what `at` raises."""
        if k > 0:
            self.at(k - 1)
        strings, weights = tuple(zip(*self._known[:k], strict=True)) or ((), ())
        return StringTable(strings, np.array(weights, dtype=np.float64))


def ranking(potential: StringPotential) -> Ranking:
    """Return the ranking of a potential's strings.

    Cost: A sort of a list; otherwise k-best searches, each for twice as many strings as the last.
    """
    return Ranking(_searched(potential))


def joined(first: Ranking, second: Ranking, join: Callable[[str, str], str | None]) -> Ranking:
    """Return the ranking of the strings that two join to, each by its best pair.

    Pairs are visited by falling weight, so the first pair that makes a string is the string's best.

    Args:
        first: Of the left strings.
        second: Of the right strings.
        join: Returns what two strings make together, or None where they do not go together.

    Cost: O(log k) per pair visited, and k pairs for k strings unless pairs make the same string.
    Source: Huang and Chiang (2005), "Better k-best parsing", algorithm 2.
    """
    return Ranking(_joined(first, second, join))


def _searched(potential: StringPotential) -> Iterator[tuple[str, float]]:
    if isinstance(potential, StringTable):
        if not potential.strings and potential.floor > -math.inf:
            raise DivergentSumError("strings that all weigh the same have no best ones")
        yield from _possible(potential.k_best(len(potential.strings)))
        return
    k, seen = FIRST_SEARCH, set[str]()
    while True:
        table = potential.k_best(k)
        for text, weight in _possible(table):
            if text not in seen:
                seen.add(text)
                yield text, weight
        if len(table.strings) < k:
            return
        k *= 2


def _possible(table: StringTable) -> Iterator[tuple[str, float]]:
    for text, weight in zip(table.strings, table.log_weights_n.tolist(), strict=True):
        if weight > -math.inf:
            yield text, weight


def _joined(
    first: Ranking, second: Ranking, join: Callable[[str, str], str | None]
) -> Iterator[tuple[str, float]]:
    queue: list[tuple[float, int, int, str | None]] = []

    def push(row: int, column: int) -> None:
        head, tail = first.at(row), second.at(column)
        if head is not None and tail is not None:
            entry = (-head[1] - tail[1], row, column, join(head[0], tail[0]))
            heapq.heappush(queue, entry)

    push(0, 0)
    seen = set[str]()
    visited = 0
    while queue:
        visited += 1
        if visited > MAX_COMBINED:
            raise MachineTooLargeError(
                f"{len(seen)} strings found in {MAX_COMBINED} joined pairs: ask for fewer, or use "
                "a k-best message family"
            )
        negative, row, column, text = heapq.heappop(queue)
        push(row, column + 1)
        if column == 0:
            push(row + 1, 0)
        if text is not None and text not in seen:
            seen.add(text)
            yield text, -negative
