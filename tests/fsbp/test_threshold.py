"""Best strings of products are exact, or left to others to find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.threshold import best_of_product
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, STRINGS, random_machine, random_opinion, random_table


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 12), floor=st.sampled_from([-np.inf, -1.0]))
def test_best_strings_are_exact(seed: int, k: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    potentials = [random_machine(rng), random_table(rng, floor), random_machine(rng)]
    weights = np.sum([potential.log_weights(STRINGS) for potential in potentials], axis=0)
    found = best_of_product(potentials, k)
    assert found is not None
    best = np.sort(weights[weights > -np.inf])[::-1][:k]
    np.testing.assert_allclose(found.log_weights_n, best)
    weight_of = dict(zip(STRINGS, weights.tolist(), strict=True))
    np.testing.assert_allclose([weight_of[text] for text in found.strings], best)


def test_few_strings_are_read_where_weights_are_tied() -> None:
    capped = Acceptor(universe_acceptor(len(ALPHABET), 12), ALPHABET)
    found = best_of_product([capped, capped], 3)
    assert found is not None
    np.testing.assert_array_equal(found.log_weights_n, np.zeros(3))


@pytest.mark.parametrize("kind", ["endless", "opinion", "opposed"])
def test_what_is_not_soon_found_is_left_to_others(kind: str) -> None:
    endless = Acceptor(universe_acceptor(len(ALPHABET)), ALPHABET)
    long = tuple("a" * n for n in range(3_000))
    rising, falling = (StringTable(long, sign * np.arange(3_000.0)) for sign in (1, -1))
    potentials = {
        "endless": [endless, random_machine(np.random.default_rng(0))],
        "opinion": [random_opinion(np.random.default_rng(0)), endless],
        "opposed": [rising, falling],
    }
    assert best_of_product(potentials[kind], 1) is None
