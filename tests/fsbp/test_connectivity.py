import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fsbp.arrays import ArcArrays
from fsbp.connectivity import strong_components, trimmed, useful_states
from tests.machines import arc_rows, enumerated, machines, quick

edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def reachability(pairs, size):
    reach = np.eye(size, dtype=bool)
    for _ in range(size):
        for source, target in pairs:
            reach[source] |= reach[target]
    return reach


@quick
@given(edges)
def test_strong_components(pairs):
    source_a, target_a = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    component = strong_components(source_a, target_a, 6)
    reach = reachability(pairs, 6)
    same = component[:, None] == component[None, :]
    assert np.array_equal(same, reach & reach.T)
    assert all(component[source] >= component[target] for source, target in pairs)


@quick
@given(machines(cyclic=True))
def test_useful_states(arrays):
    reach = reachability([(row[0], row[3]) for row in arc_rows(arrays)], arrays.num_states)
    expected = reach[0] & reach[:, arrays.final_s > -np.inf].any(axis=1)
    assert np.array_equal(useful_states(arrays), expected)


@quick
@given(machines(transducer=True))
def test_trimming_keeps_the_relation(arrays):
    small = trimmed(arrays)
    assert enumerated(small) == enumerated(arrays)
    assert useful_states(small).all()


def test_arcs_of_weight_zero_lead_nowhere():
    arrays = ArcArrays.from_arcs(0, [-np.inf, 0.0], [0], [1], [1], [1], [-np.inf])
    assert trimmed(arrays).start == -1
    assert trimmed(trimmed(arrays)).num_states == 0
