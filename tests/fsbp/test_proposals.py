"""Mixtures of potentials propose in proportion, and only what can be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsbp.acceptors import universe_acceptor
from fsbp.pathsum import DivergentSumError
from fsbp.proposals import Proposal, normalised_part
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, STRINGS, random_machine, random_opinion, random_table

EVERYTHING = Acceptor(universe_acceptor(2, None), ALPHABET)
DRAWS = 4000


def test_draws_follow_the_log_probabilities() -> None:
    rng = np.random.default_rng(0)
    proposal = Proposal.from_potentials([random_machine(rng), random_table(rng, floor=-2.0)])
    probability_n = np.exp(proposal.log_probs(STRINGS))
    assert probability_n.sum() == pytest.approx(1.0, abs=1e-9)
    count_of = proposal.sample(DRAWS, rng)
    assert count_of.total() == DRAWS
    for text, probability in zip(STRINGS, probability_n, strict=True):
        error = math.sqrt(probability * (1 - probability) / DRAWS)
        assert abs(count_of[text] / DRAWS - probability) <= 4 * error + 1e-12


def test_what_cannot_be_drawn_proposes_nothing() -> None:
    rng = np.random.default_rng(1)
    machine = random_machine(rng)
    silent = [EVERYTHING, random_opinion(rng), StringTable((), np.zeros(0), floor=0.0)]
    assert [normalised_part(potential) for potential in silent] == [None, None, None]
    proposal = Proposal.from_potentials([*silent, machine])
    expected = machine.log_weights(STRINGS) - machine.log_total()
    np.testing.assert_allclose(proposal.log_probs(STRINGS), expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(DivergentSumError):
        Proposal.from_potentials(silent)
