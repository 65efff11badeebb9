"""Rewriting rules between two strings, learned from pairs by a chunk alignment.

An alignment cuts two strings into islands they share and chunks where they differ. The longest
island is the stem; the chunks before it are anchored at the left edge, those after it at the right
edge, and the islands between them may vary in length when the rule is applied elsewhere. This
covers prefixes, suffixes, circumfixes, stem vowels and templates with one kind of rule.

Public names: `Chunk`, `Side`, `Reading`, `Island`, `RewriteRule`, `SymbolCosts`, `sukhotin_vowels`,
`chunk_alignment`, `rewrite_rule`, `side_readings`, `joined_readings`, `label_array`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fsbp.arrays import FloatArray, compiled

LabelArray: TypeAlias = npt.NDArray[np.int32]

SLACK = 2
"""How many symbols longer or shorter an island may be than where the rule was learned."""
OPEN_INSIDE = 1.0
OPEN_AT_EDGE = 0.3
VOWEL_COST = 0.75
OTHER_COST = 1.25


class Chunk(NamedTuple):
    """One stretch where two strings differ.

    Args:
        gap: Symbols between this chunk and the one before it, seen from the anchor; 0 for a chunk
            at the very edge.
        source: What is replaced.
        target: What replaces it.
    """

    gap: int
    source: str
    target: str


Side: TypeAlias = tuple[Chunk, ...]


class RewriteRule(NamedTuple):
    """The chunks on the two sides of a stem.

    Args:
        left: From the left edge inwards.
        right: From the right edge inwards, every string written backwards.
    """

    left: Side
    right: Side


class Reading(NamedTuple):
    """One way to apply a side: symbols consumed, the output, and how far the gaps are off."""

    consumed: int
    output: str
    slack: int


@dataclass(frozen=True, eq=False)
class SymbolCosts:
    """What it costs to leave a symbol unmatched in an alignment.

    Args:
        vowels: Lower-case symbols that are cheap to leave unmatched.
    """

    vowels: frozenset[str]
    _known: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> SymbolCosts:
        """Return the costs for a language seen through its strings."""
        return cls(sukhotin_vowels(text.lower() for text in strings))

    def of(self, text: str) -> FloatArray:
        """Return float64[len(text)], the cost of each symbol."""
        if text not in self._known:
            vowels = self.vowels
            cost_s = [VOWEL_COST if c.lower() in vowels else OTHER_COST for c in text]
            self._known[text] = np.array(cost_s)
        return self._known[text]


def sukhotin_vowels(strings: Iterable[str]) -> frozenset[str]:
    """Return the symbols that look like vowels: those that alternate with all others.

    Starts with every symbol a consonant and repeatedly calls the one with the largest sum of
    neighbours a vowel, taking twice its adjacencies off the others, while that sum is positive.

    Args:
        strings: Words of one language.

    Cost: O(total length + symbols squared).
    Source: Sukhotin (1962).
    """
    adjacent: dict[str, Counter[str]] = defaultdict(Counter)
    for text in strings:
        for left, right in pairwise(text):
            if left != right:
                adjacent[left][right] += 1
                adjacent[right][left] += 1
    strength = {symbol: sum(counts.values()) for symbol, counts in adjacent.items()}
    vowels = set()
    while strength:
        symbol = max(strength, key=lambda s: (strength[s], s))
        if strength[symbol] <= 0:
            break
        vowels.add(symbol)
        del strength[symbol]
        for other, count in adjacent[symbol].items():
            if other in strength:
                strength[other] -= 2 * count
    return frozenset(vowels)


@lru_cache(maxsize=1 << 18)
def label_array(text: str) -> LabelArray:
    """Return int32[len(text)], the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


class Island(NamedTuple):
    """A stretch that two strings share: where it starts in each, and its length."""

    source: int
    target: int
    length: int


def chunk_alignment(source: str, target: str, costs: SymbolCosts) -> list[Island]:
    """Return the islands of the alignment of least cost, left to right.

    A match costs nothing, an unmatched symbol its own cost, and each chunk between islands a cost
    for opening it, lower at the edges. Islands that touch are one.

    Args:
        source: The string rewritten.
        target: The result.
        costs: Of unmatched symbols.

    Cost: O(len(source) x len(target)).
    """
    islands = _aligned(label_array(source), label_array(target), costs.of(source), costs.of(target))
    return [Island(*island) for island in islands.tolist()]


@compiled
def _aligned(
    x_i: LabelArray, y_j: LabelArray, cost_i: FloatArray, cost_j: FloatArray
) -> LabelArray:
    """Return int32[islands, 3] by a dynamic program over (i, j, in a chunk or not).

    `matched` and `chunked` hold the least cost of a prefix pair that ends in a match or in a chunk.
    """
    n, m = len(x_i), len(y_j)
    matched = np.full((n + 1, m + 1), np.inf)
    chunked = np.full((n + 1, m + 1), np.inf)
    from_chunk = np.zeros((n + 1, m + 1), np.bool_)
    step = np.zeros((n + 1, m + 1), np.int8)
    matched[0, 0] = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            if i > 0 and j > 0 and x_i[i - 1] == y_j[j - 1]:
                from_chunk[i, j] = chunked[i - 1, j - 1] < matched[i - 1, j - 1]
                matched[i, j] = min(chunked[i - 1, j - 1], matched[i - 1, j - 1])
            for side in range(2):
                p, q = i - (1 - side), j - side
                if p < 0 or q < 0:
                    continue
                cost = cost_i[p] if side == 0 else cost_j[q]
                opening = OPEN_AT_EDGE if p == 0 and q == 0 else OPEN_INSIDE
                if chunked[p, q] + cost < chunked[i, j] - 1e-9:
                    chunked[i, j] = chunked[p, q] + cost
                    step[i, j] = 1 + 2 * side
                if matched[p, q] + opening + cost < chunked[i, j] - 1e-9:
                    chunked[i, j] = matched[p, q] + opening + cost
                    step[i, j] = 2 + 2 * side
    islands = np.zeros((min(n, m) + 1, 3), np.int32)
    count, i, j = 0, n, m
    inside = chunked[n, m] - (OPEN_INSIDE - OPEN_AT_EDGE) < matched[n, m]
    touching = False
    while i > 0 or j > 0:
        if inside:
            move = step[i, j]
            inside = move == 1 or move == 3
            if move <= 2:
                i -= 1
            else:
                j -= 1
            touching = False
        else:
            inside = from_chunk[i, j]
            i -= 1
            j -= 1
            if not touching:
                count += 1
                touching = True
            islands[count - 1, 0], islands[count - 1, 1] = i, j
            islands[count - 1, 2] += 1
    return islands[:count][::-1]


def rewrite_rule(source: str, target: str, costs: SymbolCosts) -> RewriteRule:
    """Return the rule that rewrites one string into the other.

    Where the strings share nothing the rule replaces the whole string.

    Args:
        source: The string rewritten.
        target: The result.
        costs: Of unmatched symbols.
    """
    islands = chunk_alignment(source, target, costs)
    if not islands:
        return RewriteRule((Chunk(0, source, target),), ())
    stem = max(range(len(islands)), key=lambda n: islands[n].length)
    mirrored = [
        Island(
            len(source) - island.source - island.length,
            len(target) - island.target - island.length,
            island.length,
        )
        for island in reversed(islands[stem:])
    ]
    return RewriteRule(
        _side(source, target, islands[: stem + 1]), _side(source[::-1], target[::-1], mirrored)
    )


def _side(source: str, target: str, islands: list[Island]) -> Side:
    """Return the chunks before each island, from the edge up to the last island, the stem."""
    chunks = []
    i = j = gap = 0
    for island in islands:
        if island.source > i or island.target > j:
            chunks.append(Chunk(gap, source[i : island.source], target[j : island.target]))
        i, j = island.source + island.length, island.target + island.length
        gap = island.length
    return tuple(chunks)


def side_readings(
    text: str, side: Side, read: Literal["source", "target"] = "source"
) -> list[Reading]:
    """Return every way to apply one side of a rule to a text, or to undo it.

    Gaps may be up to `SLACK` symbols longer or shorter than where the rule was learned, but never
    empty; an insertion keeps its exact place, since nothing in the text shows where it belongs.

    Args:
        text: From the anchored edge inwards: written backwards for a right side.
        side: The chunks.
        read: "source" to apply the rule, "target" to undo it.
    """
    readings = [Reading(0, "", 0)]
    for gap, source, target in side:
        if gap and source:
            gaps = [g for g in range(gap - SLACK, gap + SLACK + 1) if g > 0]
        else:
            gaps = [gap]
        found, written = (source, target) if read == "source" else (target, source)
        readings = [
            Reading(
                consumed + g + len(found),
                output + text[consumed : consumed + g] + written,
                slack + abs(g - gap),
            )
            for consumed, output, slack in readings
            for g in gaps
            if consumed + g <= len(text) and text.startswith(found, consumed + g)
        ]
    return readings


def joined_readings(
    text: str, lefts: list[Reading], rights: list[Reading], decay: float
) -> dict[str, float]:
    """Return the strings that the two sides make of a text, with shares that sum to one.

    A reading's share falls by `decay` for each symbol that a gap is off.

    Args:
        text: What the sides were read from, forwards.
        lefts: Readings of the left side.
        rights: Readings of the right side, of the text written backwards.
        decay: 0 to 1.
    """
    share_of: dict[str, float] = {}
    for consumed, prefix, left_slack in lefts:
        for consumed_right, suffix, right_slack in rights:
            end = len(text) - consumed_right
            if consumed <= end:
                result = prefix + text[consumed:end] + suffix[::-1]
                share = decay ** (left_slack + right_slack)
                share_of[result] = max(share_of.get(result, 0.0), share)
    total = sum(share_of.values())
    return {result: share / total for result, share in share_of.items()}
