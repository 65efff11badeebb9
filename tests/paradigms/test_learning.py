"""Weights learned from simulated holes, and their agreement with inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from paradigms.completer import Completer, completions_of
from paradigms.edits import edit_model
from paradigms.evidence import LEMMA, Evidence, forms_of
from paradigms.forms import form_acceptor
from paradigms.graphs import completion_graph
from paradigms.language import Language
from paradigms.learning import Hole, learned_weights, objective, simulated_holes
from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel
from paradigms.sweeps import Completions, Stems, guessed_evidence
from paradigms.weights import FEATURES, Weights

CELLS = ("N;NOM;SG", "N;GEN;SG", "N;NOM;PL", "N;DAT;PL")
TABLES = [
    ("Tag", "Tags", "Tage", "Tagen"),
    ("Weg", "Wegs", "Wege", "Wegen"),
    ("Haus", "Hauses", "Häuser", "Häusern"),
    ("Maus", "Maus", "Mäuse", "Mäusen"),
    ("Frau", "Frau", "Frauen", "Frauen"),
    ("Auto", "Autos", "Autos", "Autos"),
]
LAST = len(TABLES)
EVERYTHING = KBest(k=10_000)


def lexeme(forms: Sequence[str], lemma: str | None) -> Lexeme:
    cells = {cell: (form,) if form else () for cell, form in zip(CELLS, forms, strict=True)}
    return Lexeme(forms[0], lemma, cells)


KNOWN = [lexeme(forms, forms[0]) for forms in TABLES]
PARTIAL = [
    Lexeme("Gans", "Gans", {**lexeme(("Gans", "", "Gänse", ""), "Gans").cells, "N;INS;PL": ()}),
    lexeme(("", "", "", "Wänden"), None),
    lexeme(("", "", "Bänke", ""), None),
]


def evidence_with(lexemes: Sequence[Lexeme], sweeps: int) -> Evidence:
    """Return the evidence of all tables and some lexemes with holes, swept over as they are."""
    evidence = Evidence.from_lexemes(KNOWN).joined(Evidence.from_lexemes(lexemes))
    forms, edits = form_acceptor(evidence), edit_model(evidence)

    def completions(known: Evidence, stems: Stems) -> Completions:
        completer = Completer(known, Weights.shipped(), forms, edits=edits)
        return completions_of(completer, lexemes, stems=stems)

    return guessed_evidence(evidence, lexemes, sweeps, completions)


class Showing(np.random.Generator):
    """Draws so that the cells it is told stay given, in the lexeme's order; shuffles nothing."""

    def __init__(self, *shown: bool) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws = [0.0 if stays else 1.0 for stays in shown]

    def random(self) -> float:
        return self._draws.pop(0)

    def permutation(self, size: int) -> np.ndarray:
        return np.arange(size)


def row_probabilities(hole: Hole, weights: Weights) -> np.ndarray:
    """Return the softmax of the rows' scores."""
    score_c = hole.feature_cf @ weights.theta
    return np.exp(score_c - np.logaddexp.reduce(score_c))


def random_holes(rng: np.random.Generator, count: int) -> list[Hole]:
    holes = []
    for _ in range(count):
        feature_cf = rng.normal(size=(rng.integers(2, 7), len(FEATURES)))
        right = int(rng.integers(len(feature_cf)))
        holes.append(Hole(feature_cf, right, float(rng.random()) + 0.1))
    return holes


# The objective


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), penalty=st.sampled_from([0.0, 0.7]))
def test_gradient_equals_central_differences(seed: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    holes = random_holes(rng, int(rng.integers(1, 6)))
    theta = rng.normal(size=len(FEATURES))
    _, gradient = objective(theta, holes, penalty)
    step = 1e-3
    for f in range(len(FEATURES)):
        losses = []
        for sign in (2, 1, -1, -2):
            moved = theta.copy()
            moved[f] += sign * step
            losses.append(objective(moved, holes, penalty)[0])
        slope = (8 * (losses[1] - losses[2]) - (losses[0] - losses[3])) / (12 * step)
        assert gradient[f] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_objective_is_minus_the_weighted_log_likelihood() -> None:
    rng = np.random.default_rng(1)
    holes, theta = random_holes(rng, 8), rng.normal(size=len(FEATURES))
    weights = Weights(theta)
    expected = -sum(h.weight * np.log(row_probabilities(h, weights)[h.right]) for h in holes)
    assert objective(theta, holes, 0.0)[0] == pytest.approx(expected)
    assert objective(theta, holes, 0.5)[0] == pytest.approx(expected + 0.25 * theta @ theta)


def test_large_scores_do_not_overflow() -> None:
    feature_cf = np.zeros((2, len(FEATURES)))
    feature_cf[0, 0] = 1e4
    loss, gradient = objective(np.ones(len(FEATURES)), [Hole(feature_cf, 1, 1.0)], 0.0)
    assert loss == pytest.approx(1e4)
    assert gradient[0] == pytest.approx(1e4)


# Learning


def test_a_planted_preference_is_recovered() -> None:
    rng = np.random.default_rng(2)
    planted = Weights(rng.normal(size=len(FEATURES)))
    scale_f = np.exp(rng.normal(size=len(FEATURES)))
    holes = []
    for _ in range(12_000):
        hole = Hole(rng.normal(size=(5, len(FEATURES))) * scale_f, 0, 1.0)
        right = int(rng.choice(5, p=row_probabilities(hole, planted)))
        holes.append(Hole(hole.feature_cf, right, 1.0))
    learned = learned_weights(holes, penalty=1e-3)
    error_f = (learned.theta - planted.theta) * scale_f
    assert np.abs(error_f).max() < 0.2
    assert np.linalg.norm(planted.theta * scale_f) > 3.0


def test_features_that_never_vary_get_no_weight() -> None:
    rng = np.random.default_rng(3)
    holes = random_holes(rng, 50)
    for hole in holes:
        hole.feature_cf[:, 4] = 0.0
    assert learned_weights(holes).theta[4] == 0.0


def test_known_weights_stay_as_they_are() -> None:
    holes = random_holes(np.random.default_rng(9), 60)
    known = {name: 0.1 * n - 1.0 for n, name in enumerate(FEATURES) if n % 3}
    learned = learned_weights(holes, 1e-6, known)
    for name in known:
        assert learned[name] == known[name]
    loss, gradient = objective(learned.theta, holes, 0.0)
    free = [n for n, name in enumerate(FEATURES) if name not in known]
    assert np.abs(gradient[free]).max() < 1e-2 < np.abs(gradient).max()
    assert all(learned.theta[free])
    assert (
        loss < objective(Weights.from_dict(dict.fromkeys(FEATURES, 0.0) | known).theta, holes, 0)[0]
    )


def test_a_larger_penalty_gives_smaller_weights() -> None:
    holes = random_holes(np.random.default_rng(4), 50)
    norms = [np.linalg.norm(learned_weights(holes, penalty).theta) for penalty in (0.1, 10, 1e4)]
    assert norms[0] > 1.2 * norms[1] > 100 * norms[2] > 0


def test_learning_on_tables_improves_on_no_weights_at_all() -> None:
    known = [*KNOWN, lexeme(("Laus", "Laus", "Läuse", "Läusen"), "Laus")]
    rng = np.random.default_rng(5)
    holes = [
        hole for n in range(len(known)) for hole in simulated_holes(known, [n], [], 0.4, 10, 0, rng)
    ]
    learned = learned_weights(holes, penalty=0.01)
    losses = [objective(w, holes, 0.0)[0] for w in (learned.theta, np.zeros(len(FEATURES)))]
    assert losses[0] < 0.7 * losses[1]


# Simulated holes


@pytest.mark.parametrize("sweeps", [0, 1])
@pytest.mark.parametrize("lemma", ["Laus", None])
@pytest.mark.parametrize(
    "shown", [(True, False, False, False), (False, False, True, True), (True, True, True, False)]
)
def test_learning_and_inference_agree(
    shown: tuple[bool, ...], lemma: str | None, sweeps: int
) -> None:
    forms = ("Laus", "Laus", "Läuse", "Läusen")
    complete = [*KNOWN, lexeme(forms, lemma)]
    holes = simulated_holes(complete, [LAST], PARTIAL, 0.5, 10, sweeps, Showing(*shown))
    hidden = [cell for cell, visible in zip(CELLS, shown, strict=True) if not visible]
    partial = lexeme([f if v else "" for f, v in zip(forms, shown, strict=True)], lemma)
    known = evidence_with([partial, *PARTIAL], sweeps)
    assert any(known.guesses) is (sweeps > 0)
    for weights in (Weights.shipped(), Weights(np.linspace(0.6, -0.4, len(FEATURES)))):
        edits = edit_model(evidence_with([partial, *PARTIAL], 0))
        language = Language.of(known, weights, form_acceptor(known), edits)
        graph = completion_graph(forms_of(partial), hidden, language)
        beliefs = infer(graph.graph, EVERYTHING, queries=hidden).beliefs
        completer = Completer(known, weights, language.forms, messages="exact", edits=edits)
        candidates = completer.candidates(partial)
        for cell, hole in zip(hidden, holes, strict=True):
            *listed, novel = row_probabilities(hole, weights)
            belief = beliefs[cell]
            found = [p * (1 - novel) for _, p in belief.kbest(10_000)]
            np.testing.assert_allclose(found, sorted(listed, reverse=True), atol=1e-9)
            odds = np.exp(graph.log_novelty[cell] - belief.log_total)
            assert odds == pytest.approx(novel / (1 - novel))
            right = dict(belief.kbest(10_000)).get(dict(zip(CELLS, forms, strict=True))[cell])
            said = row_probabilities(hole, weights)[hole.right]
            assert said == pytest.approx(novel if right is None else right * (1 - novel))
            np.testing.assert_allclose(
                [candidate.probability for candidate in candidates[cell]],
                sorted(listed, reverse=True)[: len(candidates[cell])],
                atol=1e-9,
            )


@pytest.mark.parametrize("sweeps", [0, 1])
def test_holes_are_swept_over_as_when_tables_are_completed(sweeps: int) -> None:
    forms, shown = ("Laus", "Laus", "Läuse", "Läusen"), (False, False, True, False)
    complete = [*KNOWN, lexeme(forms, None)]
    holes = simulated_holes(complete, [LAST], PARTIAL, 0.5, 10, sweeps, Showing(*shown))
    partial = lexeme(("", "", "Läuse", ""), None)
    model = ParadigmModel(sweeps=sweeps, agreement=False).fit(KNOWN)
    (completions, *_) = model.complete_lexemes([partial, *PARTIAL])
    for hole, candidates in zip(holes, completions.values(), strict=True):
        *listed, _ = row_probabilities(hole, model.weights)
        assert candidates[0].probability == pytest.approx(max(listed), abs=1e-9)


def test_lexemes_with_holes_of_their_own_are_learned_from() -> None:
    forms, shown = ("Laus", "Laus", "Läuse", "Läusen"), (True, False, False, True)
    examples, guessed = [], []
    for partial, sweeps in (([], 0), (PARTIAL, 0), (PARTIAL, 1)):
        complete = [*KNOWN, lexeme(forms, None)]
        holes = simulated_holes(complete, [LAST], partial, 0.5, 10, sweeps, Showing(*shown))
        features = np.concatenate([hole.feature_cf for hole in holes])
        examples.append(features[:, FEATURES.index("direct: log of examples")].max())
        guessed.append(features[:, FEATURES.index("direct: guessed examples")].max())
    assert examples[0] < examples[1] < examples[2]
    assert guessed[0] == guessed[1] == 0.0 < guessed[2]


def test_without_adaptation_only_complete_tables_teach() -> None:
    forms, shown = ("Laus", "Laus", "Läuse", "Läusen"), (True, False, True, False)
    complete = [*KNOWN, lexeme(forms, "Laus")]
    alone, beside, adapted = (
        simulated_holes(complete, [LAST], partial, 0.5, 10, 1, Showing(*shown), None, adapt)
        for partial, adapt in (([], False), (PARTIAL, False), (PARTIAL, True))
    )
    for hole, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(hole.feature_cf, other.feature_cf)
    taught = [FEATURES.index(f"{kind}: learned from the lexeme") for kind in ("edits", "novelty")]
    assert not any(hole.feature_cf[:, taught].any() for hole in beside)
    assert all(hole.feature_cf[:, taught].any(axis=0).all() for hole in adapted)
    partial = lexeme([f if v else "" for f, v in zip(forms, shown, strict=True)], "Laus")
    model = ParadigmModel(adapt=False, agreement=False).fit(KNOWN)
    (completions,) = model.complete_lexemes([partial])
    for hole, candidates in zip(beside, completions.values(), strict=True):
        *listed, _ = row_probabilities(hole, model.weights)
        assert candidates[0].probability == pytest.approx(max(listed), abs=1e-9)


@pytest.mark.parametrize("sweeps", [0, 1])
def test_hidden_forms_are_never_seen(sweeps: int) -> None:
    shown = (True, False, True, False)
    forms, others = ("Laus", "Laus", "Läuse", "Läusen"), ("Laus", "XQ", "Läuse", "zzÿ")
    found, twin = (
        simulated_holes(
            [*KNOWN, lexeme(each, "Laus")], [LAST], PARTIAL, 0.5, 10, sweeps, Showing(*shown)
        )
        for each in (forms, others)
    )
    assert len(found) == len(twin) == 2
    for hole, other in zip(found, twin, strict=True):
        np.testing.assert_array_equal(hole.feature_cf, other.feature_cf)
        assert hole.right < other.right == len(other.feature_cf) - 1, "no source proposes nonsense"


def test_hidden_cells_are_drawn_at_the_rate_asked_for() -> None:
    known = [*KNOWN, KNOWN[0]]
    rng = np.random.default_rng(6)
    numbers = [n for n in range(LAST) for _ in range(20)]
    holes = simulated_holes(known, numbers, [], 0.7, 10, 0, rng)
    assert 0.2 < len(holes) / (len(numbers) * len(CELLS)) < 0.4
    assert simulated_holes(known, range(LAST), [], 1.0, 10, 0, rng) == []
    assert simulated_holes(known, range(LAST), [], 1.0, 10, 1, rng) == []


def test_each_lexeme_counts_once() -> None:
    known = [*KNOWN, KNOWN[0]]
    for at_most in (1, 3, 10):
        rng = np.random.default_rng(7)
        holes = simulated_holes(known, range(LAST), PARTIAL, 0.0, at_most, 0, rng)
        assert len(holes) == LAST * min(at_most, len(CELLS))
        assert sum(hole.weight for hole in holes) == pytest.approx(LAST)


@pytest.mark.parametrize("sweeps", [0, 1])
def test_lexemes_left_with_nothing_are_passed_over(sweeps: int) -> None:
    known = [lexeme(forms, None) for forms in [*TABLES, TABLES[0]]]
    assert LEMMA not in Evidence.from_lexemes(known).cells
    rng = np.random.default_rng(8)
    assert simulated_holes(known, range(LAST), [], 0.0, 10, sweeps, rng) == []
