"""The model of a language's paradigms: learn from tables, complete others, save and load.

Public names: `ParadigmModel`, `ModelFileError`.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, get_args

import pandas as pd

from fsbp.alphabet import Alphabet
from fsbp.contextual_edits import ContextualEdits
from fsbp.params import ParamVector
from fsbp.variables import Acceptor
from paradigms.archive import (
    ModelFileError,
    acceptor_in,
    read_archive,
    unusable,
    write_archive,
)
from paradigms.completer import Completer, completions_of
from paradigms.edits import edit_model
from paradigms.evaluate import evaluate
from paradigms.evidence import LEMMA, Evidence, Guess
from paradigms.forms import form_acceptor
from paradigms.layout import Completions, LemmaUse, require_probability
from paradigms.lexemes import Candidate, Lexeme
from paradigms.messages import MessageUse
from paradigms.predictability import discounted_share
from paradigms.recognition import united
from paradigms.sweeps import Stems, guessed_evidence
from paradigms.tables import completed_frame, frame_to_lexemes
from paradigms.weights import Weights

__all__ = ["ModelFileError", "ParadigmModel"]

_DAMAGE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)

Tables = pd.DataFrame | Sequence[Lexeme]
SourceUse = Literal["all", "lemma"]
Shared = tuple[Acceptor, ContextualEdits | None]
"""What all cells share: what forms look like, and the edits between cells."""
SAVED_SETTINGS = ("lemma", "sources", "seed", "sweeps")


@dataclass
class ParadigmModel:
    """A joint model of the cells of a paradigm.

    Each cell is a string variable, and so is the lemma where it is a form. What is given is
    observed; the rest is inferred by belief propagation.

    Args:
        lemma: Whether the lemma column of a DataFrame is itself a form, or only an identifier.
        adapt: Whether the given cells of the tables to complete join what was learned. Lexemes
            learned already are recognised by their forms, and count once; see
            `paradigms.recognition`.
        sources: "all" given cells speak about a hole, or the "lemma" only.
        seed: Accepted for reproducible scripts: nothing in this model is drawn at random, so
            every seed gives the same result.
        messages: "kbest" for messages that list the best forms, "ngram" for n-gram models, "exact"
            for lists of all forms proposed; see `paradigms.messages.hole_beliefs`.
        sweeps: Times that `fit` completes tables with holes to learn from their holes too; see
            `paradigms.sweeps`. Tables to complete are swept over once, on top of what `fit` has
            learned. With 0, both learn from what is given alone.
        weights: How much each source of a form counts; by default those shipped.
        agreement: Whether the holes of a lexeme speak to one another, so that their forms go
            together; not where the lemma is the only source. See `paradigms.agreement`.

    Raises:
        ValueError: A setting is none of those above.
    """

    lemma: LemmaUse = "form"
    adapt: bool = True
    sources: SourceUse = "all"
    seed: int = 0
    messages: MessageUse = "kbest"
    sweeps: int = 2
    weights: Weights = field(default_factory=Weights.shipped, repr=False)
    agreement: bool = True
    _evidence: Evidence | None = field(default=None, init=False, repr=False)
    _forms: Acceptor | None = field(default=None, init=False, repr=False)
    _edits: ContextualEdits | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, kind in (
            ("lemma", LemmaUse),
            ("sources", SourceUse),
            ("messages", MessageUse),
        ):
            value = getattr(self, name)
            if value not in get_args(kind):
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(get_args(kind))}")
        if not isinstance(self.sweeps, int) or isinstance(self.sweeps, bool) or self.sweeps < 0:
            raise ValueError(f"sweeps={self.sweeps!r}: expected 0 or more")
        if not isinstance(self.seed, int):
            raise ValueError(f"seed={self.seed!r}: expected an integer")

    def fit(
        self, tables: Tables, jobs: int = 1, progress: Callable[[int], None] | None = None
    ) -> Self:
        """Learn from the filled cells of some tables, complete or not, and from their holes.

        Args:
            tables: A DataFrame, long (lemma, form, features) or wide, or lexemes.
            jobs: Processes; the result does not depend on it.
            progress: Called with the number of lexemes just swept over; all are, `sweeps` times,
                if any has a hole.

        Raises:
            ValueError: No cell is filled.
        """
        lexemes = self._lexemes(tables)
        if not any(lexeme.given for lexeme in lexemes):
            raise ValueError("no cell is filled: there is nothing to learn from")
        evidence = Evidence.from_lexemes(lexemes)
        self._forms, self._edits = form_acceptor(evidence), None
        if self.sweeps and any(lexeme.holes for lexeme in lexemes):
            self._edits = edit_model(evidence)
        shared = (self._forms, self._edits)
        self._evidence = self._swept(evidence, lexemes, shared, self.sweeps, jobs, progress)
        return self

    @property
    def evidence(self) -> Evidence:
        """What the model has learned from.

        Raises:
            RuntimeError: It has not been fitted.
        """
        if self._evidence is None:
            raise RuntimeError("the model has learned nothing yet: call fit first")
        return self._evidence

    @property
    def passes(self) -> int:
        """How many times `complete_lexemes` goes through tables with holes."""
        return 1 + int(self.adapt and self.sweeps > 0)

    def complete_lexemes(
        self,
        lexemes: Sequence[Lexeme],
        jobs: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> list[dict[str, list[Candidate]]]:
        """Return, for each lexeme, the candidates for each of its holes, best first.

        Args:
            lexemes: Any number.
            jobs: Processes; the result does not depend on it.
            progress: Called with the number of lexemes just completed; all of them are completed
                `passes` times.

        Raises:
            RuntimeError: The model has not been fitted.
            ValueError: There is less than one job.
        """
        completer = self.completer(lexemes, jobs, progress)
        return completions_of(completer, lexemes, jobs, progress)

    def completer(
        self,
        lexemes: Sequence[Lexeme],
        jobs: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> Completer:
        """Return what completes some lexemes, once it has learned from them what it may.

        Args:
            lexemes: All those to be completed.
            jobs: Processes for the sweep.
            progress: Called with the number of lexemes just swept over.

        Raises:
            RuntimeError: The model has not been fitted.
        """
        own = Evidence.from_lexemes(lexemes)
        if not self.adapt:
            known = self.evidence.joined(Evidence((), own.cells))
            assert self._forms is not None
            self._edits = self._edits or edit_model(self.evidence)
            return self._completer(known, (self._forms, self._edits), self.agreement)
        known = united(self.evidence, own)
        some_hole = any(lexeme.holes for lexeme in lexemes)
        shared = (form_acceptor(known), edit_model(known) if some_hole else None)
        known = self._swept(known, lexemes, shared, self.passes - 1, jobs, progress)
        return self._completer(known, shared, self.agreement)

    def _completer(self, evidence: Evidence, shared: Shared, agreement: bool) -> Completer:
        (forms, edits), lemma_only = shared, self.sources == "lemma"
        return Completer(evidence, self.weights, forms, lemma_only, self.messages, edits, agreement)

    def _swept(
        self,
        evidence: Evidence,
        lexemes: Sequence[Lexeme],
        shared: Shared,
        sweeps: int,
        jobs: int,
        progress: Callable[[int], None] | None,
    ) -> Evidence:
        """Return the evidence with guesses about the holes of its last lexemes."""

        def complete(known: Evidence, stems: Stems) -> Completions:
            return completions_of(
                self._completer(known, shared, False), lexemes, jobs, progress, stems
            )

        return guessed_evidence(evidence, lexemes, sweeps, complete)

    def complete(
        self, table: pd.DataFrame, jobs: int = 1, min_probability: float = 0.0
    ) -> pd.DataFrame:
        """Return a copy of a DataFrame with every hole filled by its likeliest form.

        Args:
            table: Long or wide; missing values and empty strings are holes.
            jobs: Processes.
            min_probability: 0 to 1; a hole whose likeliest form has less stays as it is.

        Raises:
            RuntimeError: The model has not been fitted.
            ValueError: The probability is out of range, or there is less than one job.
        """
        require_probability(min_probability)
        lexemes = frame_to_lexemes(table, lemma=self.lemma)
        return completed_frame(
            table,
            self.complete_lexemes(lexemes, jobs),
            lemma=self.lemma,
            min_probability=min_probability,
        )

    def score(self, table: Tables, gold: Tables, jobs: int = 1) -> float:
        """Return the share of holes whose likeliest form is right (0 to 1).

        Args:
            table: Tables with holes.
            gold: The same tables, complete.
            jobs: Processes.
        """
        lexemes = self._lexemes(table)
        completions = self.complete_lexemes(lexemes, jobs)
        filled = [
            _filled(lexeme, candidates)
            for lexeme, candidates in zip(lexemes, completions, strict=True)
        ]
        return evaluate(filled, self._lexemes(gold), lexemes).accuracy

    def summary(self) -> dict[str, object]:
        """Return what the model learned from, and how regular the cells are."""
        evidence = self.evidence
        filled = sum(len(forms) for forms in evidence.lexemes)
        return {
            "lexemes": len(evidence.lexemes),
            "cells": len([cell for cell in evidence.cells if cell != LEMMA]),
            "filled cells": filled,
            "lemma is a form": LEMMA in evidence.cells,
            "symbols": len(evidence.alphabet),
            "vowels": "".join(sorted(evidence.costs.vowels)),
            "best predictor of each cell": _best_predictors(evidence),
            "weights": self.weights.to_dict(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: a zip of JSON, `.npz` and an OpenFst machine.

        What was learned is saved, not how it is used: `adapt`, `messages` and
        `agreement` are chosen again.
        Contextual edits are learned again from what is saved.

        Raises:
            RuntimeError: The model has not been fitted.
            OSError: The file cannot be written.
        """
        evidence = self.evidence
        assert self._forms is not None
        lexemes = [_numbered(lexeme, evidence) for lexeme in evidence.lexemes]
        guesses = [_numbered(guessed, evidence) for guessed in evidence.guesses]
        weights = io.BytesIO()
        ParamVector.from_slices({"sources": self.weights.theta}).save(weights)
        settings = {name: getattr(self, name) for name in SAVED_SETTINGS}
        write_archive(
            path,
            {
                "settings.json": _json(settings),
                "evidence.json": _json(
                    {"cells": evidence.cells, "lexemes": lexemes, "guesses": guesses}
                ),
                "alphabet.json": _json(self._forms.alphabet.symbols),
                "weights.npz": weights.getvalue(),
                "forms.fst": self._forms.fst.write_to_string(),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model in a file; nothing in it is executed.

        Raises:
            ModelFileError: The file is no model of this version, or is damaged.
            OSError: The file cannot be read.
        """
        members = read_archive(path)
        try:
            settings = json.loads(members["settings.json"])
            model = cls(**{name: settings[name] for name in SAVED_SETTINGS})
            model._evidence = _evidence_in(members["evidence.json"])
            alphabet = Alphabet(tuple(json.loads(members["alphabet.json"])))
            model._forms = Acceptor(acceptor_in(members["forms.fst"], len(alphabet)), alphabet)
            theta = ParamVector.load(io.BytesIO(members["weights.npz"]))["sources"]
            model.weights = Weights(theta)
        except (*_DAMAGE, OSError) as error:
            raise unusable(path, f"a part of the model is missing or damaged ({error})") from error
        return model

    def _lexemes(self, tables: Tables) -> list[Lexeme]:
        if isinstance(tables, pd.DataFrame):
            return frame_to_lexemes(tables, lemma=self.lemma)
        return list(tables)


def _numbered(
    values_of: Mapping[str, Sequence[object]], evidence: Evidence
) -> dict[int, Sequence[object]]:
    """Return what is known by cell with the cells' numbers in place of their names."""
    return {evidence.position_of[cell]: values for cell, values in values_of.items()}


def _evidence_in(content: bytes) -> Evidence:
    """Return the evidence that `ParadigmModel.save` wrote.

    Raises:
        ValueError: Cells or forms are not what they can be.
    """
    raw = json.loads(content)
    cells = tuple(raw["cells"])
    lexemes = tuple(
        {cells[int(n)]: tuple(forms) for n, forms in lexeme.items()} for lexeme in raw["lexemes"]
    )
    alternatives = [forms for lexeme in lexemes for forms in lexeme.values()]
    guesses = tuple(
        {
            cells[int(n)]: tuple(Guess(form, float(weight)) for form, weight in found)
            for n, found in lexeme.items()
        }
        for lexeme in raw["guesses"]
    )
    all_guesses = [guess for lexeme in guesses for found in lexeme.values() for guess in found]
    texts = [
        *cells,
        *(form for forms in alternatives for form in forms),
        *(guess.form for guess in all_guesses),
    ]
    if not all(isinstance(text, str) for text in texts) or not all(alternatives):
        raise ValueError("a cell or form is no text")
    if not alternatives or len(set(cells)) < len(cells):
        raise ValueError("no form, or a cell that comes twice")
    if guesses and len(guesses) != len(lexemes):
        raise ValueError("guesses for another number of lexemes")
    if not all(0.0 < guess.weight < math.inf for guess in all_guesses):
        raise ValueError("a guess whose weight is not positive")
    return Evidence(lexemes, cells, guesses)


def _filled(lexeme: Lexeme, candidates: Mapping[str, Sequence[Candidate]]) -> Lexeme:
    cells = {cell: forms or (candidates[cell][0].form,) for cell, forms in lexeme.cells.items()}
    return Lexeme(lexeme.key, lexeme.lemma, cells)


def _best_predictors(evidence: Evidence) -> dict[str, str]:
    """Return, for each cell, the other cell that predicts it most regularly."""
    best: dict[str, tuple[float, str]] = {}
    for source in evidence.cells:
        share_c, count_c = evidence.reliability(source)
        for target, share, count in zip(evidence.cells, share_c, count_c, strict=True):
            if source != target and count:
                score = discounted_share(float(share), float(count))
                if target not in best or score > best[target][0]:
                    best[target] = (score, source)
    shown = {cell: "the lemma" if cell == LEMMA else cell for cell in evidence.cells}
    return {shown[target]: shown[source] for target, (_, source) in best.items()}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
