"""A conditional distribution over rewritings, backed off over nested contexts.

The examples themselves are the model: a rule's probability in the context of a string counts the
examples that share a suffix (or prefix) with it, longest shared context first, each backing off to
the next shorter one (Witten-Bell). Two kernels are mixed: one draws the left and right sides of the
rule independently, given prefix and suffix; the other draws the whole rule given the suffix.

Public names: `Example`, `RewriteModel`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.rewrites import (
    Reading,
    RewriteRule,
    Side,
    SymbolCosts,
    joined_readings,
    label_array,
    rewrite_rule,
    side_readings,
)

PREFIX_CONTEXT = 4
"""Longest prefix that conditions a left side; a right side sees the whole string."""
NEW_RULE_RATE = 0.5
"""Witten-Bell: a context of N examples and T rules keeps N / (N + rate x T) to itself."""
SLACK_DECAY = 0.2
MAX_LEFTS = 4
MAX_RIGHTS = 12


class Example(NamedTuple):
    """A pair to learn from.

    Args:
        source: The string rewritten.
        target: The result.
        weight: How often it counts.
    """

    source: str
    target: str
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class RewriteModel:
    """P(target | source) estimated from examples.

    Args:
        lefts: Distinct left sides, by number.
        rights: Distinct right sides, by number.
        wholes: Distinct rules as pairs of those numbers.
        left_e: int32[E], left side of each example.
        right_e: int32[E], right side of each example.
        whole_e: int32[E], rule of each example.
        weight_e: float64[E].
        symbols_el: int32[E, L], code points of the sources, padded.
        length_e: int32[E], lengths of the sources.

    Source: the back-off is Witten and Bell (1991), method C with a rate.
    """

    lefts: tuple[Side, ...]
    rights: tuple[Side, ...]
    wholes: tuple[tuple[int, int], ...]
    left_e: IntArray
    right_e: IntArray
    whole_e: IntArray
    weight_e: FloatArray
    symbols_el: IntArray
    length_e: IntArray

    @classmethod
    def from_examples(cls, examples: Sequence[Example], costs: SymbolCosts) -> RewriteModel:
        """Return the model of at least one example.

        Args:
            examples: Pairs with positive weights.
            costs: For the alignments.

        Raises:
            ValueError: There is no example.

        Cost: One alignment per example.
        """
        if not examples:
            raise ValueError("a rewrite model needs at least one example")
        rules = [rewrite_rule(example.source, example.target, costs) for example in examples]
        lefts, left_e = _numbered([rule.left for rule in rules])
        rights, right_e = _numbered([rule.right for rule in rules])
        pairs = list(zip(left_e.tolist(), right_e.tolist(), strict=True))
        number_of = {pair: n for n, pair in enumerate(dict.fromkeys(pairs))}
        length_e = np.array([len(example.source) for example in examples], dtype=np.int32)
        symbols_el = np.zeros((len(examples), max(1, int(length_e.max()))), dtype=np.int32)
        for row, example in zip(symbols_el, examples, strict=True):
            row[: len(example.source)] = label_array(example.source)
        return cls(
            lefts=lefts,
            rights=rights,
            wholes=tuple(number_of),
            left_e=left_e,
            right_e=right_e,
            whole_e=np.array([number_of[pair] for pair in pairs], dtype=np.int32),
            weight_e=np.array([example.weight for example in examples], dtype=np.float64),
            symbols_el=symbols_el,
            length_e=length_e,
        )

    @property
    def total_weight(self) -> float:
        """How many examples the model holds, each counted by its weight."""
        return float(self.weight_e.sum())

    def distribution(self, source: str) -> dict[str, float]:
        """Return P(target | source) for the targets that some rule yields.

        Only the `MAX_LEFTS` likeliest left sides and the `MAX_RIGHTS` likeliest right sides and
        rules that fit the source are applied. The shares sum to at most one; the rest is for rules
        never seen.

        Args:
            source: Any string; symbols never seen are copied.

        Cost: O(E x shared context + rules x contexts).
        """
        left_r, right_r, whole_r = _rule_probabilities(
            label_array(source), self.symbols_el, self.length_e, self.left_e, self.right_e,
            self.whole_e, self.weight_e, len(self.lefts), len(self.rights), len(self.wholes),
        )  # fmt: skip
        sides = _SideReadings(source, self.lefts, self.rights)
        probability_of: dict[str, float] = {}
        lefts = _likeliest(left_r, sides.of_left, MAX_LEFTS)
        rights = _likeliest(right_r, sides.of_right, MAX_RIGHTS)
        left_total = sum(left_r[left] for left in lefts)
        for left in lefts:
            for right in rights:
                share = float(left_r[left] / left_total * right_r[right])
                _add(probability_of, sides.results(left, right), 0.5 * share)
        for whole in _likeliest(whole_r, lambda n: sides.results(*self.wholes[n]), MAX_RIGHTS):
            _add(probability_of, sides.results(*self.wholes[whole]), 0.5 * float(whole_r[whole]))
        return probability_of

    def sources(self, target: str) -> list[str]:
        """Return every source that some pair of sides rewrites into the target, in a fixed order.

        Cost: O(left sides x right sides) readings.
        """
        rights = [
            readings
            for side in self.rights
            if (readings := side_readings(target[::-1], side, "target"))
        ]
        found: dict[str, None] = {}
        for side in self.lefts:
            readings = side_readings(target, side, "target")
            for right_readings in rights:
                found.update(dict.fromkeys(joined_readings(target, readings, right_readings, 1.0)))
        return list(found)

    @cached_property
    def rules(self) -> tuple[RewriteRule, ...]:
        """The distinct rules, by number."""
        return tuple(
            RewriteRule(self.lefts[left], self.rights[right]) for left, right in self.wholes
        )


class _SideReadings:
    """The readings of one source, side by side, each made once."""

    def __init__(self, source: str, lefts: Sequence[Side], rights: Sequence[Side]) -> None:
        self._source = source
        self._backwards = source[::-1]
        self._lefts = lefts
        self._rights = rights
        self._left: dict[int, list[Reading]] = {}
        self._right: dict[int, list[Reading]] = {}
        self._results: dict[tuple[int, int], dict[str, float]] = {}

    def of_left(self, left: int) -> list[Reading]:
        if left not in self._left:
            self._left[left] = side_readings(self._source, self._lefts[left])
        return self._left[left]

    def of_right(self, right: int) -> list[Reading]:
        if right not in self._right:
            self._right[right] = side_readings(self._backwards, self._rights[right])
        return self._right[right]

    def results(self, left: int, right: int) -> dict[str, float]:
        key = (left, right)
        if key not in self._results:
            lefts, rights = self.of_left(left), self.of_right(right)
            self._results[key] = (
                joined_readings(self._source, lefts, rights, SLACK_DECAY)
                if lefts and rights
                else {}
            )
        return self._results[key]


def _likeliest(
    probability_r: FloatArray, readings_of: Callable[[int], Collection[object]], most: int
) -> list[int]:
    """Return the numbers of the likeliest sides or rules that can be read, at most `most`."""
    likeliest: list[int] = []
    for number in np.argsort(-probability_r, kind="stable").tolist():
        if len(likeliest) == most:
            break
        if readings_of(number):
            likeliest.append(number)
    return likeliest


def _add(total_of: dict[str, float], results: dict[str, float], share: float) -> None:
    for result, part in results.items():
        total_of[result] = total_of.get(result, 0.0) + share * part


def _numbered(sides: Sequence[Side]) -> tuple[tuple[Side, ...], IntArray]:
    """Return the distinct sides and the number of each; gap lengths make no difference."""
    number_of: dict[tuple[tuple[bool, str, str], ...], int] = {}
    distinct: list[Side] = []
    numbers = []
    for side in sides:
        key = tuple((chunk.gap == 0, chunk.source, chunk.target) for chunk in side)
        if key not in number_of:
            number_of[key] = len(distinct)
            distinct.append(side)
        numbers.append(number_of[key])
    return tuple(distinct), np.array(numbers, dtype=np.int32)


@compiled
def _rule_probabilities(
    source_l: IntArray,
    symbols_el: IntArray,
    length_e: IntArray,
    left_e: IntArray,
    right_e: IntArray,
    whole_e: IntArray,
    weight_e: FloatArray,
    num_lefts: int,
    num_rights: int,
    num_wholes: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the probabilities of left sides, right sides and rules in the context of a source."""
    count = len(length_e)
    prefix_e = np.zeros(count, np.int32)
    suffix_e = np.zeros(count, np.int32)
    size = len(source_l)
    for e in range(count):
        length = length_e[e]
        shared, most = 0, min(length, size)
        while shared < most and symbols_el[e, length - 1 - shared] == source_l[size - 1 - shared]:
            shared += 1
        suffix_e[e] = shared + 1 if shared == length and shared == size else shared
        shared, most = 0, min(most, PREFIX_CONTEXT)
        while shared < most and symbols_el[e, shared] == source_l[shared]:
            shared += 1
        prefix_e[e] = shared
    return (
        _backed_off(prefix_e, left_e, weight_e, num_lefts),
        _backed_off(suffix_e, right_e, weight_e, num_rights),
        _backed_off(suffix_e, whole_e, weight_e, num_wholes),
    )


@compiled
def _backed_off(
    shared_e: IntArray, rule_e: IntArray, weight_e: FloatArray, num_rules: int
) -> FloatArray:
    """Return float64[num_rules], Witten-Bell over the contexts of 0, 1, 2, ... shared symbols.

    A context with the same examples as the next shorter one adds nothing and is skipped.
    """
    order = np.argsort(shared_e)
    count_r = np.zeros(num_rules)
    for e in range(len(rule_e)):
        count_r[rule_e[e]] += weight_e[e]
    probability_r = np.full(num_rules, 1.0 / (num_rules + 1))
    position = 0
    while True:
        total, kinds = 0.0, 0
        for r in range(num_rules):
            if count_r[r] > 1e-9:
                total += count_r[r]
                kinds += 1
        if kinds == 0:
            return probability_r
        kept = total / (total + NEW_RULE_RATE * kinds)
        for r in range(num_rules):
            share = count_r[r] / total if count_r[r] > 1e-9 else 0.0
            probability_r[r] = kept * share + (1.0 - kept) * probability_r[r]
        if position == len(order):
            return probability_r
        shared = shared_e[order[position]]
        while position < len(order) and shared_e[order[position]] == shared:
            count_r[rule_e[order[position]]] -= weight_e[order[position]]
            position += 1
