"""What the lexemes of a language share."""

from __future__ import annotations

import numpy as np

from paradigms.evidence import Evidence
from paradigms.forms import form_acceptor
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.weights import Weights

EVIDENCE = Evidence.from_lexemes(
    [
        Lexeme(sg, None, {"SG": (sg,), "PL": (pl,)})
        for sg, pl in [("Tag", "Tage"), ("Weg", "Wege"), ("Frau", "Frauen")]
    ]
)
ASKED = ("Tage", "Wegen", "")


def with_form_weights(log_probability: float, length: float) -> Weights:
    changed = {"form: log-probability": log_probability, "form: length": length}
    return Weights.from_dict({**Weights.shipped().to_dict(), **changed})


def test_the_opinion_is_the_acceptor_with_the_weights_of_its_features() -> None:
    forms = form_acceptor(EVIDENCE)
    length_n = np.array([len(text) for text in ASKED])
    for log_probability, length in ((1.0, 0.0), (0.0, 1.0), (0.3, -0.2)):
        language = Language.of(EVIDENCE, with_form_weights(log_probability, length), forms)
        np.testing.assert_allclose(
            language.opinion.log_weights(ASKED),
            log_probability * forms.log_weights(ASKED) + length * length_n,
            atol=1e-9,
        )
        assert language.forms is forms


def test_pair_models_are_those_of_the_evidence_and_kept() -> None:
    language = Language.of(EVIDENCE, Weights.shipped(), form_acceptor(EVIDENCE))
    model = language.models.direct("SG", "PL")
    assert model is not None
    assert model.total_weight == len(EVIDENCE.lexemes)
    assert language.models.direct("SG", "PL") is model
    other = Language.of(EVIDENCE, Weights.shipped(), language.forms)
    assert other.models.direct("SG", "PL") is not model, "each language has its own"
