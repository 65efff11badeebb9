from __future__ import annotations

import numpy as np
import pytest

from fsbp.acceptors import string_acceptor
from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.factors.edit import EditFactor
from fsbp.inference.enumeration import enumerate_strings
from fsbp.pathsum import log_total
from fsbp.transducers import image
from fsbp.variables import Variable

ALPHABET = Alphabet(("a", "b", "c"))


def channel(seed: int = 0) -> EditChannel:
    rng = np.random.default_rng(seed)
    prob_pno = rng.dirichlet(np.ones(4), size=(3, 3))
    prob_pno[:, 2, 1] = prob_pno[:, 2, 3] = 0.0
    prob_pno /= prob_pno.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore"):
        return EditChannel(ALPHABET, np.log(prob_pno))


def test_outputs_have_total_probability_one() -> None:
    total = log_total(image(channel().transducer(), string_acceptor((2, 1, 3)), 100_000))
    assert total == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_recursion_equals_the_transducer(seed: int) -> None:
    own = channel(seed)
    source, target = Variable("x", ALPHABET), Variable("y", ALPHABET)
    factor = EditFactor(source, target, own)
    for underlying in enumerate_strings(ALPHABET, 2):
        for surface in enumerate_strings(ALPHABET, 2):
            expected = factor.log_score({source: underlying, target: surface})
            assert own.log_prob(underlying, surface) == pytest.approx(expected, abs=1e-9)


def test_long_underlying_strings_are_impossible() -> None:
    assert channel().log_prob("a" * 6, "a") == -np.inf
    assert channel().log_prob("a" * 5, "a") > -np.inf


def test_uniform_channel() -> None:
    own = EditChannel.uniform(ALPHABET, insert=0.1, delete=0.2, substitute=0.3)
    assert own.log_prob("", "") == pytest.approx(np.log(0.9))
    assert own.log_prob("", "a") == pytest.approx(np.log(0.1 / 3 * 0.9))
    expected = 0.4 * 0.9 + 2 * 0.1 / 3 * 0.2 * 0.9 - 0.1 / 3 * 0.2 * 0.9 + 0.2 * 0.1 / 3 * 0.9
    assert own.log_prob("a", "a") == pytest.approx(np.log(expected))
    with pytest.raises(ValueError, match="room for copying"):
        EditChannel.uniform(ALPHABET, 0.5, 0.3, 0.2)


def test_reestimation_normalises_counts() -> None:
    own = channel()
    counts_pno = np.zeros((3, 3, 4))
    counts_pno[0, 0] = (6.0, 2.0, 0.0, 0.0)
    learned = np.exp(own.reestimated(counts_pno, smoothing=1e-9).log_prob_pno)
    np.testing.assert_allclose(learned[0, 0], (0.75, 0.25, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(learned.sum(axis=2), 1.0)
    np.testing.assert_allclose(learned[1, 1], np.exp(own.log_prob_pno[1, 1]), atol=1e-9)
