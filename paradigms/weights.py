"""How much each source of a form counts: exponents as a log-linear function of a few features.

One vector of weights serves all languages and all amounts of data; it is learned from stated
languages (see `paradigms.learning`) and shipped with the package.

Public names: `FEATURES`, `Weights`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from fsbp.arrays import FloatArray

FEATURES = (
    "direct",
    "direct: is the lemma",
    "direct: share of the commonest change",
    "direct: similarity of features",
    "direct: log of examples",
    "direct: one over sources",
    "borrowed",
    "borrowed: similarity of features",
    "copying",
)
"""What a source of a form may look like; the exponent is the sum of its features' weights."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the features of sources.

    Args:
        theta: float64[len(FEATURES)].
    """

    theta: FloatArray

    @classmethod
    def shipped(cls) -> Weights:
        """Return the weights that come with the package."""
        return cls.from_dict(json.loads(files("paradigms").joinpath("weights.json").read_text()))

    @classmethod
    def from_dict(cls, weight_of: Mapping[str, float]) -> Weights:
        """Return the weights named in a mapping.

        Raises:
            ValueError: A feature is missing or unknown.
        """
        if set(weight_of) != set(FEATURES):
            raise ValueError("the weights name other features than this version knows")
        return cls(np.array([float(weight_of[name]) for name in FEATURES]))

    def to_dict(self) -> dict[str, float]:
        """Return the weight of each feature."""
        return dict(zip(FEATURES, self.theta.tolist(), strict=True))

    def exponent(self, feature_of: Mapping[str, float]) -> float:
        """Return how much a source with these features counts."""
        return float(self.theta @ feature_vector(feature_of))


def feature_vector(feature_of: Mapping[str, float]) -> FloatArray:
    """Return float64[len(FEATURES)] with the given values, 0 elsewhere."""
    return np.array([feature_of.get(name, 0.0) for name in FEATURES])
