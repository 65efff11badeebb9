from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given

from fsbp.acceptors import universe_acceptor
from fsbp.arrays import ArcArrays
from fsbp.composition import MachineTooLargeError, composed
from tests.machines import enumerated, enumerated_paths, machines, quick


@quick
@given(machines(transducer=True), machines(transducer=True))
def test_composition_is_the_relational_product(first, second):
    expected = defaultdict(lambda: -np.inf)
    for (x, y), weight in enumerated(first).items():
        for (other, z), other_weight in enumerated(second).items():
            if y == other:
                expected[x, z] = np.logaddexp(expected[x, z], weight + other_weight)
    assert enumerated(composed(first, second, 10_000)) == pytest.approx(dict(expected), abs=1e-11)


@quick
@given(machines(transducer=True), machines(transducer=True))
def test_each_pair_of_paths_is_one_path(first, second):
    pairs = sum(
        y == other
        for _, y, _ in enumerated_paths(first)
        for other, _, _ in enumerated_paths(second)
    )
    assert len(enumerated_paths(composed(first, second, 10_000))) == pairs


def test_bound_is_exact():
    machine = universe_acceptor(3, 4)
    assert composed(machine, machine, 12).num_arcs == 12
    with pytest.raises(MachineTooLargeError, match="more than 11 arcs"):
        composed(machine, machine, 11)


def test_huge_products_are_refused_at_once():
    rng = np.random.default_rng(0)
    size, arcs = 2_000, 60_000
    big = ArcArrays.from_arcs(
        0, np.zeros(size), rng.integers(0, size, arcs), np.ones(arcs), np.ones(arcs),
        rng.integers(0, size, arcs), np.zeros(arcs),
    )  # fmt: skip
    with pytest.raises(MachineTooLargeError):
        composed(big, big, 100_000)
