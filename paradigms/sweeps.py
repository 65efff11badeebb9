"""Learning from holes: expectation-maximisation over the cells that tables do not show.

Each sweep completes the tables with what is known so far, and keeps the best forms of each hole as
guesses. A guess is then an input of rules towards given forms, never an output: what a hole looks
like is learned from forms that somebody saw.

Public names: `guessed_evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from paradigms.evidence import STEM, Evidence, Guess, forms_of
from paradigms.layout import Completions
from paradigms.lexemes import Candidate, Lexeme
from paradigms.stems import stem_guesses

MAX_GUESSES = 2
MIN_PROBABILITY = 0.02

Stems = Sequence[Sequence[Guess]]


def guessed_evidence(
    evidence: Evidence,
    lexemes: Sequence[Lexeme],
    sweeps: int,
    complete: Callable[[Evidence, Stems], Completions],
) -> Evidence:
    """Return the evidence with guesses about the holes of its last lexemes.

    Where some hole has never been seen together with anything given, the first sweep starts from
    guesses about stems. Guesses that the evidence holds already are where it starts from; those
    about cells that are no holes of these lexemes stay.

    Args:
        evidence: Its last lexemes are those, perhaps with more forms.
        lexemes: With the holes.
        sweeps: Times to complete them; with 0, or without a hole, the evidence is returned as it
            is.
        complete: From evidence and stems of the lexemes to candidates for their holes.
    """
    if not any(lexeme.holes for lexeme in lexemes):
        return evidence
    first = len(evidence.lexemes) - len(lexemes)
    earlier = evidence.guesses or ({},) * len(evidence.lexemes)
    before = earlier[:first]
    kept = [_without(g, each.holes) for g, each in zip(earlier[first:], lexemes, strict=True)]
    stems: Stems = [()] * len(lexemes)
    for sweep in range(sweeps):
        if sweep == 0 and _some_hole_is_cut_off(evidence, lexemes):
            found = stem_guesses(evidence)
            stems = found[first:]
            started = evidence.guessing(
                [{**k, STEM: g} if g else k for k, g in zip(earlier, found, strict=True)]
            )
            completions = complete(started, stems)
        else:
            completions = complete(evidence, [()] * len(lexemes))
        new = [{**k, **_guesses(each)} for k, each in zip(kept, completions, strict=True)]
        evidence = evidence.guessing([*before, *new])
    return evidence


def _without(
    guessed: Mapping[str, tuple[Guess, ...]], holes: Collection[str]
) -> dict[str, tuple[Guess, ...]]:
    return {cell: guesses for cell, guesses in guessed.items() if cell not in holes}


def _some_hole_is_cut_off(evidence: Evidence, lexemes: Sequence[Lexeme]) -> bool:
    """Return whether some hole has been seen filled, but never together with anything given here.

    A hole that nobody has seen filled has no exponents, and no use for a stem.
    """
    position_of = evidence.position_of
    for lexeme in lexemes:
        given = list(forms_of(lexeme))
        holes = [position_of[hole] for hole in lexeme.holes if evidence.lexemes_with[hole]]
        if given and holes:
            count_gc = np.array([evidence.reliability(cell)[1] for cell in given])
            if not count_gc[:, holes].any(axis=0).all():
                return True
    return False


def _guesses(candidates_of: Mapping[str, Sequence[Candidate]]) -> dict[str, tuple[Guess, ...]]:
    guesses = {
        hole: tuple(
            Guess(candidate.form, candidate.probability)
            for candidate in candidates[:MAX_GUESSES]
            if candidate.probability >= MIN_PROBABILITY
        )
        for hole, candidates in candidates_of.items()
    }
    return {hole: found for hole, found in guesses.items() if found}
