"""Tables: the matrix route against the log route, and misfits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.arrays import log_sum_exp
from fsbp.factors.table import TableFactor
from tests.cases import COLOUR, FLAG, S


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1.0, 50.0, 200.0, 900.0]),
    forbidden=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_messages_at_any_range_of_weights(seed: int, scale: float, forbidden: float) -> None:
    rng = np.random.default_rng(seed)
    table, incoming = scale * rng.normal(size=(3, 2)), scale * rng.normal(size=2)
    table[rng.random(table.shape) < forbidden] = -np.inf
    incoming[rng.random(2) < forbidden] = -np.inf
    factor = TableFactor((COLOUR, FLAG), table)
    found = factor.message_to(COLOUR, {FLAG: incoming}, "sum")
    np.testing.assert_allclose(found, log_sum_exp(table + incoming, axis=1), rtol=1e-12, atol=1e-9)


def test_misfits_are_errors() -> None:
    with pytest.raises(ValueError, match="shape"):
        TableFactor((COLOUR, FLAG), np.zeros((2, 3)))
    with pytest.raises(TypeError, match="string-valued"):
        TableFactor((S,), np.zeros(3))
