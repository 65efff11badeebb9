"""What the lexemes of a language share when they are completed.

Public names: `Language`.
"""

from __future__ import annotations

from dataclasses import dataclass

from fsbp.contextual_edits import ContextualEdits
from fsbp.opinions import Opinion
from fsbp.variables import Acceptor
from paradigms.evidence import Evidence
from paradigms.pair_models import PairModels
from paradigms.weights import Weights


@dataclass(frozen=True, eq=False)
class Language:
    """What all lexemes of a language share.

    Args:
        evidence: That knows all cells of the lexemes to complete.
        weights: Of the sources.
        forms: What forms look like, normalised.
        opinion: The same as a factor that weighs what sources propose.
        models: Of pairs of cells.
        edits: Of all pairs of cells together, if any lexeme shows two.
    """

    evidence: Evidence
    weights: Weights
    forms: Acceptor
    opinion: Opinion
    models: PairModels
    edits: ContextualEdits | None

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        weights: Weights,
        forms: Acceptor,
        edits: ContextualEdits | None = None,
    ) -> Language:
        """Return a language with no pair model made yet."""
        opinion = Opinion.tempered(forms, weights["form: log-probability"], weights["form: length"])
        return cls(evidence, weights, forms, opinion, PairModels(evidence), edits)
