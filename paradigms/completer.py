"""Completing lexemes one by one, in one process or several.

Public names: `Completer`, `completions_of`.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from joblib import Parallel, delayed

from fsbp.contextual_edits import ContextualEdits
from fsbp.variables import Acceptor
from paradigms.agreement import agreed
from paradigms.evidence import LEMMA, Evidence, Guess, forms_of
from paradigms.graphs import completion_graph
from paradigms.language import Language
from paradigms.lexemes import Candidate, Lexeme
from paradigms.messages import MessageUse, hole_beliefs
from paradigms.probabilities import drawn_probabilities, listed_probabilities
from paradigms.weights import Weights

NUM_CANDIDATES = 10
"""Candidates reported for each hole."""
BATCHES_PER_JOB = 8
MADE_ON_DEMAND = ("language", "_drawn_of")


@dataclass(frozen=True, eq=False)
class Completer:
    """Everything needed to complete lexemes of one language.

    Args:
        evidence: That knows all cells of the lexemes to come.
        weights: Of the sources.
        forms: What forms look like, normalised.
        lemma_only: Whether to ignore given cells other than the lemma.
        messages: How messages are approximated; see `paradigms.messages.hole_beliefs`.
        edits: Of all pairs of cells together; None for none.
        agreement: Whether the holes of a lexeme speak to one another, where anything is given and
            not only the lemma is heard; see `paradigms.agreement`.
    """

    evidence: Evidence
    weights: Weights
    forms: Acceptor
    lemma_only: bool = False
    messages: MessageUse = "kbest"
    edits: ContextualEdits | None = None
    agreement: bool = False
    token: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    @cached_property
    def language(self) -> Language:
        """The language, with the pair models made so far."""
        return Language.of(self.evidence, self.weights, self.forms, self.edits)

    def __getstate__(self) -> dict[str, object]:
        """Return the fields alone: another process makes its own pair models."""
        return {key: value for key, value in self.__dict__.items() if key not in MADE_ON_DEMAND}

    def candidates(self, lexeme: Lexeme, stems: Sequence[Guess] = ()) -> dict[str, list[Candidate]]:
        """Return the likeliest forms of each hole, best first; at least one each.

        Probabilities are among all strings: the belief over the strings that some source proposes,
        less the probability that none of them is right. A hole for which no source proposes
        anything is inferred as if nothing were given.

        Args:
            lexeme: Its given cells are the evidence.
            stems: Guesses about its stem, if there are any.
        """
        if not lexeme.holes:
            return {}
        forms = forms_of(lexeme)
        if self.lemma_only:
            forms, stems = {cell: forms[cell] for cell in forms if cell == LEMMA}, ()
        candidates_of = self._inferred(forms, lexeme.holes, stems)
        for hole in lexeme.holes:
            if not candidates_of[hole]:
                candidates_of |= self._inferred({}, [hole])
        if self.agreement and forms and not self.lemma_only:
            return agreed(candidates_of, self.language)
        return candidates_of

    def _inferred(
        self,
        forms: Mapping[str, tuple[str, ...]],
        holes: Sequence[str],
        stems: Sequence[Guess] = (),
    ) -> dict[str, list[Candidate]]:
        """Return the candidates of each hole given some forms; none where no source has any."""
        if not forms:
            return self._drawn(tuple(holes))
        lexeme_graph = completion_graph(forms, holes, self.language, stems)
        log_novelty = lexeme_graph.log_novelty
        beliefs = hole_beliefs(lexeme_graph, holes, self.messages)
        return {
            h: _candidates(listed_probabilities(beliefs[h], log_novelty[h], NUM_CANDIDATES + 1))
            for h in holes
        }

    def _drawn(self, holes: tuple[str, ...]) -> dict[str, list[Candidate]]:
        """Return the candidates of each hole where nothing is given: the same for every lexeme."""
        if holes not in self._drawn_of:
            found = drawn_probabilities(holes, self.language, self.messages)
            self._drawn_of[holes] = {hole: _candidates(found[hole]) for hole in holes}
        return dict(self._drawn_of[holes])

    @cached_property
    def _drawn_of(self) -> dict[tuple[str, ...], dict[str, list[Candidate]]]:
        return {}


def _candidates(probability_of: Mapping[str, float]) -> list[Candidate]:
    """Return the best values that are forms: an empty or blank string would remain a hole."""
    best = sorted(probability_of.items(), key=lambda item: -item[1])
    return [Candidate(form, p) for form, p in best if form.strip()][:NUM_CANDIDATES]


_AT_WORK: dict[str, Completer] = {}
"""The completer that this process is working with, by its token, with the models it has made."""


def _batch(
    completer: Completer, lexemes: Sequence[Lexeme], stems: Sequence[Sequence[Guess]]
) -> list[dict[str, list[Candidate]]]:
    if completer.token not in _AT_WORK:
        _AT_WORK.clear()
        _AT_WORK[completer.token] = completer
    known = _AT_WORK[completer.token]
    return [known.candidates(*each) for each in zip(lexemes, stems, strict=True)]


def completions_of(
    completer: Completer,
    lexemes: Sequence[Lexeme],
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
    stems: Sequence[Sequence[Guess]] | None = None,
) -> list[dict[str, list[Candidate]]]:
    """Return the candidates for the holes of each lexeme, in order.

    Args:
        completer: Of the lexemes' language.
        lexemes: Any number.
        jobs: Processes; the result does not depend on it.
        progress: Called with the number of lexemes just completed.
        stems: Guesses about the stem of each lexeme, if there are any.

    Raises:
        ValueError: There is less than one job.
    """
    if jobs < 1:
        raise ValueError(f"jobs={jobs}: expected 1 or more")
    stems = stems or [()] * len(lexemes)
    completions: list[dict[str, list[Candidate]]] = []
    for batch in _batches(completer, lexemes, stems, jobs):
        completions += batch
        if progress:
            progress(len(batch))
    return completions


def _batches(
    completer: Completer, lexemes: Sequence[Lexeme], stems: Sequence[Sequence[Guess]], jobs: int
) -> Iterator[list[dict[str, list[Candidate]]]]:
    if jobs == 1:
        for pair in zip(lexemes, stems, strict=True):
            yield [completer.candidates(*pair)]
        return
    size = max(1, len(lexemes) // (jobs * BATCHES_PER_JOB))
    parts = [slice(start, start + size) for start in range(0, len(lexemes), size)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)  # it kept much: replaced
        yield from Parallel(n_jobs=jobs, return_as="generator")(
            delayed(_batch)(completer, lexemes[part], stems[part]) for part in parts
        )
