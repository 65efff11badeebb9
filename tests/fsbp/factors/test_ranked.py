"""Rankings are found as far as they are wanted, and join to rankings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError
from fsbp.factors import ranked
from fsbp.factors.ranked import joined, ranking
from fsbp.pathsum import DivergentSumError
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, STRINGS, random_machine

SEEDS = st.integers(0, 2**32 - 1)


def end_to_end(head: str, tail: str) -> str:
    return head + tail


def tied_table(rng: np.random.Generator) -> StringTable:
    """Return strings of which many have the same weight, and some are forbidden."""
    weights = rng.choice([0.0, 0.0, -1.0, -2.5, -np.inf], size=len(STRINGS))
    return StringTable(STRINGS, weights)


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS, k=st.integers(0, 300))
def test_the_best_pairs_come_first(seed: int, k: int) -> None:
    first, second = (tied_table(np.random.default_rng([seed, n])) for n in range(2))
    best_of: dict[str, float] = {}
    for (head, one), (tail, other) in itertools.product(
        first.weight_of.items(), second.weight_of.items()
    ):
        if one + other > -np.inf:
            best_of[head + tail] = max(one + other, best_of.get(head + tail, -np.inf))
    found = joined(ranking(first), ranking(second), end_to_end).best(k)
    assert len(found.strings) == min(k, len(best_of))
    assert found.weight_of == {text: best_of[text] for text in found.strings}
    assert found.log_weights_n.tolist() == sorted(best_of.values(), reverse=True)[:k]


def test_a_machine_is_searched_as_far_as_needed() -> None:
    machine = random_machine(np.random.default_rng(0))
    asked = []

    class Watched(Acceptor):
        def k_best(self, k: int) -> StringTable:
            asked.append(k)
            return super().k_best(k)

    found = ranking(Watched(machine.fst, ALPHABET))
    assert not asked
    order = [found.at(n) for n in range(len(STRINGS) + 1)]
    assert order[-1] is None
    expected = machine.k_best(len(STRINGS))
    assert [pair[0] for pair in order[:-1] if pair] == list(expected.strings)
    assert asked == [16] if len(STRINGS) < 16 else [16, 32]


def test_what_has_no_best_strings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DivergentSumError, match="weigh the same"):
        ranking(StringTable((), np.zeros(0), floor=0.0)).at(0)
    monkeypatch.setattr(ranked, "MAX_COMBINED", 50)
    alike = ranking(StringTable(tuple("a" * n for n in range(20)), np.zeros(20)))
    with pytest.raises(MachineTooLargeError, match="ask for fewer"):
        joined(alike, alike, end_to_end).at(38)
