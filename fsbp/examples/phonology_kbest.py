"""Pruned belief propagation on the phonology graph: messages as lists of the best strings.

Each word proposes the best stems, given what is believed about its suffix, and the reverse; a
variable's candidates are the union of the proposals, all of which every message scores, pruned to
the best of the belief. Searches are exact, compiled, and build no machines.

Public names: `pruned_propagation`.
"""

from __future__ import annotations

import logging
import time

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.examples.phonology import Answer, Lists, Phonology, decoded
from fsbp.tries import flat_labels
from fsbp.word_lists import (
    Labels,
    prefix_weights,
    proposed_strings,
    suffix_weights,
    unlisted_endings,
)

LOG = logging.getLogger(__name__)
MAX_SWEEPS = 5
TOLERANCE = 2e-3


def pruned_propagation(model: Phonology, k: int = 20) -> Answer:
    """Return the best stems and suffixes by belief propagation with `k`-best lists.

    In the first sweep suffixes are free, so stems are proposed against the suffixes' prior. The
    sweeps end when proposing again changes no variable's best candidates' probabilities by more
    than 0.002, or after five: then that is logged, and the answer is not `converged`. A variable's
    strings are as long as the channel allows (`Phonology.longest_v`).

    Args:
        model: Observed words and the channel.
        k: Strings that a word proposes, and that a variable keeps.

    Cost: Two searches per word and sweep, and belief propagation among the candidates.
    Source: Dreyer and Eisner (2009), "Graphical models over multiple strings", section 4.
    """
    _ = model.tables  # outside the time measured, as in expectation propagation
    begin = time.process_time()
    lists = _first_lists(model, k)
    sweeps, settled = 1, False
    while sweeps < MAX_SWEEPS and not settled:
        proposed = _pruned(model, _united(lists, _proposals(model, lists, k)), k)
        sweeps += 1
        settled = _is_settled(lists, proposed)
        lists = proposed
    if not settled:
        LOG.warning("candidates' probabilities still move after %d sweeps", sweeps)
    seconds = time.process_time() - begin
    return Answer(lists.best(model), sweeps, settled and lists.converged, seconds)


def _first_lists(model: Phonology, k: int) -> Lists:
    """Return stems proposed against the suffixes' prior, then suffixes against those stems."""
    strings_v: list[list[Labels]] = [[] for _ in model.names]
    for w, (stem, suffix) in enumerate(model.ends_wv.tolist()):
        tables = model.tables[w]
        first_j = np.zeros(len(tables.ending_j))
        first_j[0] = 1.0
        last_j = unlisted_endings(tables, model.prior_s(suffix), model.longest_v[suffix])
        stems = proposed_strings(
            tables, first_j, last_j, model.prior_s(stem), model.longest_v[stem], k
        )
        strings_v[stem] += stems
        prefix_nj = prefix_weights(tables, *flat_labels(stems))
        first_j = np.exp(model.log_prior(stem, stems)) @ prefix_nj
        strings_v[suffix] += proposed_strings(
            tables, first_j, tables.ending_j, model.prior_s(suffix), model.longest_v[suffix], k
        )
    return _pruned(model, [list(dict.fromkeys(strings)) for strings in strings_v], k)


def _proposals(model: Phonology, lists: Lists, k: int) -> list[list[Labels]]:
    """Return all words' proposals for each variable, against the cavities at the other one."""
    strings_v: list[list[Labels]] = [[] for _ in model.names]
    flat_v = [flat_labels(strings) for strings in lists.strings_v]
    for w, (stem, suffix) in enumerate(model.ends_wv.tolist()):
        tables = model.tables[w]
        suffix_nj = suffix_weights(tables, *flat_v[suffix])
        last_j = _weights(lists.log_belief_v[suffix] - lists.to_suffix_w[w]) @ suffix_nj
        first_j = np.zeros(len(last_j))
        first_j[0] = 1.0
        strings_v[stem] += proposed_strings(
            tables, first_j, last_j, model.prior_s(stem), model.longest_v[stem], k
        )
        prefix_nj = prefix_weights(tables, *flat_v[stem])
        first_j = _weights(lists.log_belief_v[stem] - lists.to_stem_w[w]) @ prefix_nj
        strings_v[suffix] += proposed_strings(
            tables, first_j, tables.ending_j, model.prior_s(suffix), model.longest_v[suffix], k
        )
    return strings_v


def _weights(log_weight_n: FloatArray) -> FloatArray:
    weights: FloatArray = np.exp(log_weight_n - log_weight_n.max())
    return weights


def _united(lists: Lists, proposed_v: list[list[Labels]]) -> list[list[Labels]]:
    return [
        list(dict.fromkeys([*kept, *proposed]))
        for kept, proposed in zip(lists.strings_v, proposed_v, strict=True)
    ]


def _pruned(model: Phonology, strings_v: list[list[Labels]], k: int) -> Lists:
    """Return the lists cut to the `k` best of each belief, with messages among those."""
    lists = decoded(model, strings_v)
    kept_v = [
        [strings[n] for n in np.argsort(-log_belief_n, kind="stable")[:k]]
        for strings, log_belief_n in zip(lists.strings_v, lists.log_belief_v, strict=True)
    ]
    return decoded(model, kept_v)


def _is_settled(before: Lists, after: Lists) -> bool:
    """Return whether every variable's candidates have kept their probabilities."""
    for v, strings in enumerate(after.strings_v):
        old = dict(zip(before.strings_v[v], np.exp(before.log_belief_v[v]), strict=True))
        new_n = np.exp(after.log_belief_v[v])
        old_n = np.array([old.get(string, 0.0) for string in strings])
        if np.abs(new_n - old_n).max() > TOLERANCE:
            return False
    return True
