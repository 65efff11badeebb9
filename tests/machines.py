"""Small random machines over {a, b} (labels 1 and 2), and what brute force says of them."""

from collections import defaultdict
from itertools import product

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from fsbp.arrays import ArcArrays

LABELS = (1, 2)
SHORT_STRINGS = [s for n in range(4) for s in product(LABELS, repeat=n)]

quick = settings(max_examples=60, deadline=None)


@st.composite
def machines(draw, *, cyclic=False, epsilons=True, transducer=False, max_arcs=8):
    """A machine with at least one final state; cyclic ones are light enough to be summable."""
    num_states = draw(st.integers(1, 4))
    states = st.integers(0, num_states - 1)
    labels = st.integers(0 if epsilons else 1, 2)
    weights = st.floats(-7.0, -2.5) if cyclic else st.floats(-3.0, 2.0)
    arcs = []
    for _ in range(draw(st.integers(0, max_arcs))):
        ends = draw(states), draw(states)
        if not cyclic and ends[0] == ends[1]:
            continue
        source, target = ends if cyclic else sorted(ends)
        ilabel = draw(labels)
        olabel = draw(labels) if transducer else ilabel
        arcs.append((source, ilabel, olabel, target, draw(weights)))
    final = st.one_of(st.just(-np.inf), st.floats(-2.0, 2.0))
    final_s = draw(st.lists(final, min_size=num_states, max_size=num_states))
    final_s[draw(states)] = draw(st.floats(-2.0, 2.0))
    columns = zip(*arcs, strict=True) if arcs else ([],) * 5
    return ArcArrays.from_arcs(0, final_s, *columns)


def arc_rows(arrays):
    """The arcs as (source, ilabel, olabel, target, log weight)."""
    columns = (
        arrays.source_a,
        arrays.ilabel_a,
        arrays.olabel_a,
        arrays.target_a,
        arrays.log_weight_a,
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def enumerated_paths(arrays):
    """Every path of an acyclic machine: (input string, output string, log weight)."""
    leaving = defaultdict(list)
    for source, *rest in arc_rows(arrays):
        leaving[source].append(rest)
    found = []

    def walk(state, read, written, weight):
        if arrays.final_s[state] > -np.inf:
            found.append((read, written, weight + arrays.final_s[state]))
        for ilabel, olabel, target, arc_weight in leaving[state]:
            walk(
                target,
                read + (ilabel,) * (ilabel > 0),
                written + (olabel,) * (olabel > 0),
                weight + arc_weight,
            )

    if arrays.start >= 0:
        walk(arrays.start, (), (), 0.0)
    return found


def enumerated(arrays, semiring="sum"):
    """The log weight of each (input, output) pair of an acyclic machine."""
    gather = np.logaddexp if semiring == "sum" else np.maximum
    pairs = {}
    for read, written, weight in enumerated_paths(arrays):
        pairs[read, written] = gather(pairs.get((read, written), -np.inf), weight)
    return {pair: float(weight) for pair, weight in pairs.items()}


def enumerated_strings(arrays, semiring="sum"):
    """The log weight of each string of an acyclic acceptor."""
    return {read: weight for (read, _), weight in enumerated(arrays, semiring).items()}


def matrices(arrays):
    """One matrix of arc weights (not logs) for each label, and the final weights."""
    size = arrays.num_states
    moves = {label: np.zeros((size, size)) for label in (0, *LABELS)}
    for source, ilabel, _, target, weight in arc_rows(arrays):
        moves[ilabel][source, target] += np.exp(weight)
    return moves, np.exp(arrays.final_s)


def solved_total(arrays):
    """The total weight of a summable machine, by inverting one dense matrix."""
    moves, final = matrices(arrays)
    inverse = np.linalg.inv(np.eye(arrays.num_states) - sum(moves.values()))
    return float((inverse @ final)[arrays.start])


def solved_string(arrays, string):
    """The weight of a string under a summable acceptor with epsilons, by dense matrices."""
    moves, final = matrices(arrays)
    closure = np.linalg.inv(np.eye(arrays.num_states) - moves[0])
    row = closure[arrays.start]
    for label in string:
        row = row @ moves[label] @ closure
    return float(row @ final)


def loop(weight):
    """The machine that reads any number of a, each with this weight, and then stops."""
    return ArcArrays.from_arcs(0, [0.0], [0], [1], [1], [0], [np.log(weight)])
