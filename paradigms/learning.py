"""Learning the weights of sources from simulated holes in complete tables.

Complete lexemes are put back with some of their cells hidden, as in the tables to be completed, and
the weights maximise the conditional log-likelihood of the hidden forms. Given the observed cells
the hidden ones are independent, so the gradient is observed minus expected features, hole by hole.

Public names: `Hole`, `covered_lexeme`, `holes_of`, `simulated_holes`, `learned_weights`,
`objective`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from fsbp.arrays import FloatArray
from fsbp.opinions import Opinion
from fsbp.variables import Variable
from paradigms.completer import Completer, completions_of
from paradigms.edits import edit_model
from paradigms.evidence import LEMMA, Evidence, forms_of
from paradigms.forms import form_acceptor
from paradigms.language import Language
from paradigms.layout import Completions
from paradigms.lexemes import Lexeme
from paradigms.sources import Source, sources_of_holes
from paradigms.sweeps import Stems, guessed_evidence
from paradigms.weights import FEATURES, FORM_FEATURES, Weights, feature_vector, novelty_features


@dataclass(frozen=True, eq=False)
class Hole:
    """A hidden form among its candidates.

    Args:
        feature_cf: float64[C + 1, F], features of each candidate; the last row is the event that
            none of them is right.
        right: Position of the right row.
        weight: How much the hole counts.
    """

    feature_cf: FloatArray
    right: int
    weight: float


def simulated_holes(
    complete: Sequence[Lexeme],
    hidden: Collection[int],
    partial: Sequence[Lexeme],
    share_given: float,
    max_holes: int,
    sweeps: int,
    rng: np.random.Generator,
    weights: Weights | None = None,
    adapt: bool = True,
) -> list[Hole]:
    """Return the holes that hiding cells of some complete lexemes makes, in random order.

    The lexemes with hidden cells join the partial ones, and what can be guessed of the holes of
    both is learned in the same way as when tables are completed.
    With `adapt=False` only the lexemes that stay complete teach anything.

    Args:
        complete: Lexemes without holes.
        hidden: Positions of those to hide cells of.
        partial: Lexemes with holes of their own.
        share_given: Probability that a cell stays given, 0 to 1.
        max_holes: Holes taken from each lexeme.
        sweeps: Over the tables with holes; see `paradigms.sweeps`.
        rng: For the choice of cells.
        weights: For what is guessed of holes in the sweeps; by default those shipped.
        adapt: Whether what stays given of tables with holes joins the evidence.

    Cost: That of completing the partial tables, `sweeps` times.
    """
    kept = [lexeme for number, lexeme in enumerate(complete) if number not in hidden]
    whole = [complete[number] for number in hidden]
    covered = [covered_lexeme(lexeme, share_given, rng) for lexeme in whole]
    return holes_of(whole, covered, kept, partial, max_holes, sweeps, rng, weights, adapt)


def holes_of(
    whole: Sequence[Lexeme],
    covered: Sequence[Lexeme],
    kept: Sequence[Lexeme],
    partial: Sequence[Lexeme],
    max_holes: int,
    sweeps: int,
    rng: np.random.Generator,
    weights: Weights | None = None,
    adapt: bool = True,
) -> list[Hole]:
    """Return the holes of some lexemes whose complete forms are known, in random order.

    Args:
        whole: The lexemes, complete.
        covered: The same lexemes with holes.
        kept: Other lexemes to learn from, without holes.
        partial: Others with holes of their own.
        max_holes: As for `simulated_holes`, like all that follow.
        sweeps: Over the tables with holes.
        rng: For the order of holes.
        weights: For what is guessed of holes.
        adapt: Whether tables with holes teach anything.
    """
    lexemes = [*covered, *partial]
    own = Evidence.from_lexemes(lexemes)
    taught = own if adapt else Evidence((), own.cells)
    evidence = Evidence.from_lexemes(kept).joined(taught)
    weights = weights or Weights.shipped()
    forms, edits = form_acceptor(evidence), edit_model(evidence)

    def completions(known: Evidence, stems: Stems) -> Completions:
        return completions_of(Completer(known, weights, forms, edits=edits), lexemes, stems=stems)

    if adapt:
        evidence = guessed_evidence(evidence, lexemes, sweeps, completions)
    language = Language.of(evidence, weights, forms, edits)
    holes: list[Hole] = []
    for gold, lexeme in zip(whole, covered, strict=True):
        given = {cell: alternatives[0] for cell, alternatives in forms_of(lexeme).items()}
        if not given:
            continue
        asked = [lexeme.holes[n] for n in rng.permutation(len(lexeme.holes))[:max_holes]]
        for cell, sources in zip(asked, sources_of_holes(given, asked, language), strict=True):
            right = gold.cells[cell][0]
            holes.append(_hole(right, cell, given, sources, language, 1.0 / len(asked)))
    return holes


def covered_lexeme(lexeme: Lexeme, share_given: float, rng: np.random.Generator) -> Lexeme:
    """Return a lexeme each of whose cells stays given with some probability, or is hidden."""
    cells = {
        cell: forms if rng.random() < share_given else () for cell, forms in lexeme.cells.items()
    }
    return replace(lexeme, cells=cells)


def _hole(
    form: str,
    cell: str,
    given: Mapping[str, str],
    sources: Sequence[Source],
    language: Language,
    weight: float,
) -> Hole:
    hole = Variable(cell, language.evidence.alphabet)
    factors = [source.factor(Variable(source.cell, hole.domain), hole) for source in sources]
    proposed = [f.proposals(given[s.cell]) for f, s in zip(factors, sources, strict=True)]
    row_of = {form: np.zeros(len(FEATURES)) for forms in proposed for form in forms}
    for factor, source in zip(factors, sources, strict=True):
        (evidence_c,) = factor.evidence_xy([given[source.cell]], list(row_of))
        features = feature_vector(source.feature_of)
        for row, evidence in zip(row_of.values(), evidence_c, strict=True):
            row += evidence * features
    columns = [FEATURES.index(name) for name in FORM_FEATURES]
    opinions = (Opinion.tempered(language.forms, *part) for part in ((1.0, 0.0), (0.0, 1.0)))
    weight_cf = np.array([opinion.log_weights(list(row_of)) for opinion in opinions]).T
    for row, weights in zip(row_of.values(), weight_cf, strict=True):
        row[columns] = weights
    features = [source.feature_of for source in sources]
    learned_from = language.evidence.learned_from(given)
    novelty = novelty_features(
        features, learned_from, LEMMA in given, cell in language.evidence.shown_alone
    )
    right = list(row_of).index(form) if form in row_of else len(row_of)
    return Hole(np.array([*row_of.values(), feature_vector(novelty)]), right, weight)


def objective(theta: FloatArray, holes: Sequence[Hole], penalty: float) -> tuple[float, FloatArray]:
    """Return minus the penalised log-likelihood, and its gradient float64[F].

    sum over holes of weight x (log-sum-exp of the rows' scores - the right row's score), plus
    penalty / 2 x |theta|^2.

    Args:
        theta: float64[F].
        holes: At least one.
        penalty: 0 or larger.
    """
    rows = _Rows.of(holes)
    return rows.objective(theta, penalty)


def learned_weights(
    holes: Sequence[Hole], penalty: float = 1.0, known: Mapping[str, float] | None = None
) -> Weights:
    """Return the weights of largest penalised conditional log-likelihood.

    Features are scaled to unit deviation while learning, so that one penalty suits all.

    Args:
        holes: At least one.
        penalty: Of the squared weights of the scaled features.
        known: Weights of features that stay as they are; the others are learned beside them.
    """
    known = known or {}
    rows = _Rows.of(holes)
    free_f = np.array([name not in known for name in FEATURES])
    known_f = feature_vector(known)
    scale_f = rows.feature_rf.std(axis=0) + 1e-9
    scaled = replace(
        rows,
        feature_rf=(rows.feature_rf / scale_f)[:, free_f],
        score_r=rows.feature_rf @ known_f,
    )
    start = np.zeros(int(free_f.sum()))
    found = minimize(scaled.objective, start, (penalty,), jac=True, method="L-BFGS-B")
    theta_f = known_f.copy()
    theta_f[free_f] = found.x / scale_f[free_f]
    return Weights(theta_f)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of all holes, end to end.

    Args:
        feature_rf: float64[R, F].
        start_h: int[H], first row of each hole.
        right_h: int[H], right row of each hole.
        weight_h: float64[H].
        score_r: float64[R], what is added to each row's score.
    """

    feature_rf: FloatArray
    start_h: npt.NDArray[np.intp]
    right_h: npt.NDArray[np.intp]
    weight_h: FloatArray
    score_r: FloatArray

    @classmethod
    def of(cls, holes: Sequence[Hole]) -> _Rows:
        size_h = np.array([len(hole.feature_cf) for hole in holes])
        start_h = np.cumsum(size_h) - size_h
        return cls(
            np.concatenate([hole.feature_cf for hole in holes]),
            start_h,
            start_h + np.array([hole.right for hole in holes]),
            np.array([hole.weight for hole in holes]),
            np.zeros(int(size_h.sum())),
        )

    def objective(self, theta: FloatArray, penalty: float) -> tuple[float, FloatArray]:
        score_r = self.score_r + self.feature_rf @ theta
        size_h = np.diff(np.append(self.start_h, len(score_r)))
        shift_h = np.maximum.reduceat(score_r, self.start_h)
        share_r = np.exp(score_r - np.repeat(shift_h, size_h))
        total_h = np.add.reduceat(share_r, self.start_h)
        loss = self.weight_h @ (shift_h + np.log(total_h) - score_r[self.right_h])
        expected_r = share_r * np.repeat(self.weight_h / total_h, size_h)
        gradient = self.feature_rf.T @ expected_r - self.feature_rf[self.right_h].T @ self.weight_h
        return float(loss + penalty / 2 * theta @ theta), gradient + penalty * theta
