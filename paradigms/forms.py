"""What the forms of a language look like: a character n-gram acceptor.

Public names: `form_acceptor`.
"""

from __future__ import annotations

from fsbp.ngrams import ngram_counts
from fsbp.variables import Acceptor
from paradigms.evidence import Evidence

MAX_ORDER = 3
MAX_ARCS = 1_000_000


def form_acceptor(evidence: Evidence) -> Acceptor:
    """Return a normalised n-gram acceptor of the distinct forms.

    The order is the largest up to `MAX_ORDER` that keeps the machine within `MAX_ARCS` arcs.

    Args:
        evidence: With at least one form.
    """
    alphabet = evidence.alphabet
    labels = [alphabet.labels(form) for form in dict.fromkeys(evidence.forms)]
    counts = ngram_counts(labels, len(alphabet), MAX_ORDER, max_arcs=MAX_ARCS)
    return Acceptor(counts.automaton.acceptor(counts.log_probs_hs()), alphabet)
