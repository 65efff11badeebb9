"""How much each source of a form counts: log-linear functions of a few features.

One vector of weights serves all languages and all amounts of data; it is learned from stated
languages (see `paradigms.learning`) and shipped with the package.

Public names: `FEATURES`, `Weights`, `feature_vector`, `novelty_features`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from fsbp.arrays import FloatArray

SOURCE_FEATURES = (
    "direct",
    "direct: is the lemma",
    "direct: share of the commonest change",
    "direct: similarity of features",
    "direct: log of examples",
    "direct: guessed examples",
    "direct: one over sources",
    "direct: repeats another source",
    "direct: share short of the best",
    "direct: shown alone",
    "borrowed",
    "borrowed: similarity of features",
    "copying",
    "edits",
    "edits: one over sources",
    "edits: is the lemma",
    "edits: share of the commonest change",
    "edits: share short of the best",
    "edits: similarity of features",
    "edits: learned from the lexeme",
    "edits: learned from the lexeme, whose lemma it is",
    "edits: without a lemma",
)
"""What a source of a form may look like; its exponent is the sum of its features' weights."""

FORM_FEATURES = ("form: log-probability", "form: length")
"""What an n-gram acceptor says of a form, and the form's number of symbols."""

NOVELTY_FEATURES = (
    "novelty",
    "novelty: largest share of a commonest change",
    "novelty: largest log of examples",
    "novelty: no direct source",
    "novelty: one over direct sources",
    "novelty: the lemma alone",
    "novelty: learned from the lexeme",
    "novelty: without a lemma",
    "novelty: shown alone",
)
"""What makes it likely that no source proposes the right form."""

FEATURES = SOURCE_FEATURES + FORM_FEATURES + NOVELTY_FEATURES


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the features of sources.

    Args:
        theta: float64[len(FEATURES)].

    Raises:
        ValueError: There is not one finite weight for each feature.
    """

    theta: FloatArray

    def __post_init__(self) -> None:
        """Check shape and values."""
        if self.theta.shape != (len(FEATURES),) or not np.isfinite(self.theta).all():
            raise ValueError(f"expected {len(FEATURES)} finite weights, one for each feature")

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

    def log_linear(self, feature_of: Mapping[str, float]) -> float:
        """Return the sum of some features' weights: an exponent, or a log-weight (nats)."""
        return float(self.theta @ feature_vector(feature_of))

    def __getitem__(self, feature: str) -> float:
        """Return the weight of one feature."""
        return float(self.theta[FEATURES.index(feature)])


def feature_vector(feature_of: Mapping[str, float]) -> FloatArray:
    """Return float64[len(FEATURES)] with the given values, 0 elsewhere."""
    return np.array([feature_of.get(name, 0.0) for name in FEATURES])


def novelty_features(
    sources: Sequence[Mapping[str, float]], learned_from: bool, has_lemma: bool, shown_alone: bool
) -> dict[str, float]:
    """Return the features of the event that no source proposes the right form.

    Args:
        sources: Features of each source of one hole.
        learned_from: Whether the lexeme's given forms are among what was learned from.
        has_lemma: Whether the lemma is a form.
        shown_alone: Whether lexemes show the hole, but never beside another cell.
    """
    direct = [feature_of for feature_of in sources if "direct" in feature_of]
    return {
        "novelty": 1.0,
        "novelty: largest share of a commonest change": max(
            (f["direct: share of the commonest change"] for f in direct), default=0.0
        ),
        "novelty: largest log of examples": max(
            (f["direct: log of examples"] for f in direct), default=0.0
        ),
        "novelty: no direct source": float(not direct),
        "novelty: one over direct sources": 1.0 / max(len(direct), 1),
        "novelty: the lemma alone": float(all(f["direct: is the lemma"] for f in direct)),
        "novelty: learned from the lexeme": float(learned_from),
        "novelty: without a lemma": float(not has_lemma),
        "novelty: shown alone": float(shown_alone),
    }
