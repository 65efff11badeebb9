"""Exponents from features, and the weights that come with the package."""

from __future__ import annotations

import numpy as np
import pytest

from paradigms.weights import FEATURES, Weights


def test_features_are_distinct() -> None:
    assert len(set(FEATURES)) == len(FEATURES) > 1


def test_shipped_weights_name_every_feature() -> None:
    weights = Weights.shipped()
    assert weights.theta.shape == (len(FEATURES),)
    assert np.isfinite(weights.theta).all()


def test_round_trip() -> None:
    weights = Weights(np.arange(len(FEATURES)) / 7)
    again = Weights.from_dict(weights.to_dict())
    np.testing.assert_array_equal(again.theta, weights.theta)
    assert list(weights.to_dict()) == list(FEATURES)


def test_log_linear_is_the_weighted_sum() -> None:
    weights = Weights(np.arange(1.0, len(FEATURES) + 1))
    assert weights.log_linear({FEATURES[0]: 2.0}) == pytest.approx(2.0)
    assert weights.log_linear({FEATURES[0]: 2.0, FEATURES[1]: 0.5}) == pytest.approx(3.0)
    assert weights.log_linear({}) == 0.0
    assert [weights[feature] for feature in FEATURES] == weights.theta.tolist()


def test_other_features_are_an_error() -> None:
    named = Weights.shipped().to_dict()
    with pytest.raises(ValueError, match="features"):
        Weights.from_dict({**named, "charm": 1.0})
    del named[FEATURES[0]]
    with pytest.raises(ValueError, match="features"):
        Weights.from_dict(named)


@pytest.mark.parametrize("shape", [0, len(FEATURES) + 1, (len(FEATURES), 1)])
def test_weights_of_another_shape_are_an_error(shape: int | tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Weights(np.zeros(shape))


def test_weights_are_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        Weights(np.full(len(FEATURES), np.nan))
