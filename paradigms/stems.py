"""The stem of each lexeme, found without any pair of cells: form = stem + exponent of the cell.

Where every lexeme shows a single form, no change from one cell to another has ever been seen. But
forms of one cell end alike, so that each form can be divided by expectation-maximisation: exponents
are drawn for each cell, stems letter by letter.

Public names: `stem_guesses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fsbp.arrays import FloatArray
from fsbp.ngrams import HistoryAutomaton, ngram_counts
from paradigms.evidence import Evidence, Guess

STEM_ORDER = 4
"""Order of the letter model of stems. What it cannot explain is left to the exponents."""
LONGEST_EXPONENT = 7
MAX_STEMS = 3
SWEEPS = 8
FIRST_TEMPER = 0.6
"""Exponent of the likelihood in the first sweep; it rises to 1."""
CONCENTRATION = 0.5
"""How many forms the exponents of all cells together count for, in each cell."""
NEW_EXPONENT = 0.1
"""Share of exponents that are drawn letter by letter, evenly."""
MAX_ARCS = 4_000_000
LEAST_LOG = -600.0
"""Smallest log-probability of an exponent's letters; that of a few hundred letters has no exp."""

Forms = Sequence[tuple[str, str]]
"""Cell and form."""
Positions = npt.NDArray[np.intp]


def stem_guesses(evidence: Evidence) -> list[tuple[Guess, ...]]:
    """Return the likeliest stems of each lexeme, best first; none where it shows nothing.

    A stem begins all given forms of its lexeme; in a language that changes the beginnings of
    words, it ends them all. Which of the two is so, the likelihood of the forms decides.

    Cost: O(sweeps x divisions x given forms).
    """
    words = [
        [(cell, alternatives[0]) for cell, alternatives in forms.items()]
        for forms in evidence.lexemes
    ]
    shown = [number for number, forms in enumerate(words) if forms]
    guesses: list[tuple[Guess, ...]] = [()] * len(words)
    if not shown:
        return guesses
    divided = [_divided([words[n] for n in shown], back) for back in (False, True)]
    best = max(divided, key=lambda each: each.log_likelihood)
    for number, stems in zip(shown, best.stems, strict=True):
        guesses[number] = stems
    return guesses


@dataclass(frozen=True, eq=False)
class _Divided:
    """Stems by lexeme, and the log-likelihood of all forms, each given the others (nats)."""

    stems: list[tuple[Guess, ...]]
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class _Divisions:
    """All ways to divide the forms of each lexeme, end to end.

    Args:
        stem_d: The stem of each division.
        lexeme_d: Its lexeme.
        log_stem_d: float64[D], log-probability of the stem's letters.
        division_r, exponent_r: For each division and form, the exponent; exponents of two cells
            are two.
        cell_e: The cell of each exponent.
        affix_e: Its string, by number: the same in all cells.
        log_letters_e: float64[E], log-probability of its letters, drawn evenly.
    """

    stem_d: list[str]
    lexeme_d: Positions
    log_stem_d: FloatArray
    division_r: Positions
    exponent_r: Positions
    cell_e: Positions
    affix_e: Positions
    log_letters_e: FloatArray


def _divided(words: Sequence[Forms], backwards: bool) -> _Divided:
    turned = [[(cell, form[::-1] if backwards else form) for cell, form in f] for f in words]
    divisions = _divisions(turned, _Letters.of([form for f in turned for _, form in f]))
    share_d = 1.0 / np.bincount(divisions.lexeme_d)[divisions.lexeme_d]
    log_likelihood = 0.0
    for sweep in range(SWEEPS):
        risen = min(1.0, sweep / max(1, SWEEPS - 3))
        temper = FIRST_TEMPER + (1.0 - FIRST_TEMPER) * risen
        share_d, log_likelihood = _renewed(divisions, share_d, temper)
    stems_l: list[list[Guess]] = [[] for _ in words]
    for stem, lexeme, share in zip(divisions.stem_d, divisions.lexeme_d, share_d, strict=True):
        if share > 0.0:
            stems_l[lexeme].append(Guess(stem[::-1] if backwards else stem, float(share)))
    best = [tuple(sorted(s, key=lambda guess: -guess.weight)[:MAX_STEMS]) for s in stems_l]
    return _Divided(best, log_likelihood)


def _renewed(divisions: _Divisions, share_d: FloatArray, temper: float) -> tuple[FloatArray, float]:
    """Return the posterior of each division given those of all other lexemes, and its total.

    P(exponent | cell) = (count + c P(exponent)) / (forms + c), where neither count nor forms hold
    the lexeme itself: one that may count its own divisions only confirms them. P(exponent), over
    all cells, leaves out the form at hand, not the lexeme's other cells.
    """
    d = divisions
    weight_r = share_d[d.division_r]
    count_e = np.bincount(d.exponent_r, weight_r, len(d.cell_e))
    forms_c = np.bincount(d.cell_e, count_e)
    affixes_a = np.bincount(d.affix_e, count_e)
    others_r = np.maximum(count_e[d.exponent_r] - weight_r, 0.0)
    forms_r = np.maximum(forms_c[d.cell_e[d.exponent_r]] - 1.0, 0.0)
    anywhere_r = np.maximum(affixes_a[d.affix_e[d.exponent_r]] - weight_r, 0.0) / affixes_a.sum()
    letters_r = np.exp(d.log_letters_e[d.exponent_r])
    base_r = (1.0 - NEW_EXPONENT) * anywhere_r + NEW_EXPONENT * letters_r
    log_exponent_r = np.log((others_r + CONCENTRATION * base_r) / (forms_r + CONCENTRATION))
    score_d = d.log_stem_d + np.bincount(d.division_r, log_exponent_r, len(d.stem_d))
    score_d *= temper
    best_l = np.full(d.lexeme_d[-1] + 1, -np.inf)
    np.maximum.at(best_l, d.lexeme_d, score_d)
    share_d = np.exp(score_d - best_l[d.lexeme_d])
    total_l = np.bincount(d.lexeme_d, share_d)
    return share_d / total_l[d.lexeme_d], float((best_l + np.log(total_l)).sum())


def _divisions(words: Sequence[Forms], letters: _Letters) -> _Divisions:
    stem_d: list[str] = []
    lexeme_d: list[int] = []
    log_stem_d: list[float] = []
    exponents: dict[tuple[str, str], int] = {}
    exponent_r: list[int] = []
    for lexeme, forms in enumerate(words):
        log_probs = letters.log_probs(forms[0][1])
        for length in _stem_lengths([form for _, form in forms]):
            stem_d.append(forms[0][1][:length])
            lexeme_d.append(lexeme)
            log_stem_d.append(log_probs[length])
            exponent_r += [
                exponents.setdefault((cell, form[length:]), len(exponents)) for cell, form in forms
            ]
    number_of_cell: dict[str, int] = {}
    number_of_affix: dict[str, int] = {}
    forms_d = np.array([len(words[lexeme]) for lexeme in lexeme_d])
    return _Divisions(
        stem_d,
        np.array(lexeme_d, np.intp),
        np.array(log_stem_d),
        np.repeat(np.arange(len(stem_d)), forms_d),
        np.array(exponent_r, np.intp),
        np.array([number_of_cell.setdefault(c, len(number_of_cell)) for c, _ in exponents]),
        np.array([number_of_affix.setdefault(a, len(number_of_affix)) for _, a in exponents]),
        np.array([max(-(len(a) + 1) * letters.log_evenly, LEAST_LOG) for _, a in exponents]),
    )


def _stem_lengths(forms: Sequence[str]) -> range:
    """Return the lengths of stems that leave short exponents; the longest stem, if all are long."""
    shared = 0
    shortest = min(len(form) for form in forms)
    while shared < shortest and len({form[shared] for form in forms}) == 1:
        shared += 1
    least = max(len(form) for form in forms) - LONGEST_EXPONENT
    return range(min(max(0, least), shared), shared + 1)


@dataclass(frozen=True, eq=False)
class _Letters:
    """A letter model.

    Args:
        label_of: Label of each letter.
        automaton: Of the letters before.
        log_prob_hs: float64[H, K + 1], log-probability of each next letter.
    """

    label_of: Mapping[str, int]
    automaton: HistoryAutomaton
    log_prob_hs: FloatArray

    @classmethod
    def of(cls, forms: Sequence[str]) -> _Letters:
        """Return the model of the distinct forms, of the order that keeps within `MAX_ARCS`."""
        label_of = {letter: n + 1 for n, letter in enumerate(sorted(set("".join(forms))))}
        labels = [tuple(label_of[letter] for letter in form) for form in dict.fromkeys(forms)]
        counts = ngram_counts(labels, len(label_of), STEM_ORDER, max_arcs=MAX_ARCS)
        return cls(label_of, counts.automaton, counts.log_probs_hs())

    @property
    def log_evenly(self) -> float:
        """Log of the number of letters and one for the end."""
        return float(np.log(len(self.label_of) + 1))

    def log_probs(self, form: str) -> list[float]:
        """Return the log-probability of each beginning of a form, from none of it to all."""
        history, log_probs = self.automaton.start, [0.0]
        for letter in form:
            column = self.label_of[letter] - 1
            log_probs.append(log_probs[-1] + float(self.log_prob_hs[history, column]))
            history = int(self.automaton.next_ha[history, column])
        return log_probs
