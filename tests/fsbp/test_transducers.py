from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, string_acceptor, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import arrays_to_fst, fst_to_arrays
from fsbp.composition import composed
from fsbp.pathsum import log_total, string_log_weights
from fsbp.transducers import (
    edit_topology,
    expected_arc_counts_of_transducer,
    image,
    preimage,
    sound_class,
)
from tests.machines import SHORT_STRINGS, arc_rows, enumerated, machines, quick

AB = Alphabet(("a", "b"))
ABC = AB.extended(["c"])
DEPARTURE = 1e-4


def names_by_hand(operation, source, target, previous, known):
    """The features an arc has, written from the documentation of the names."""
    source_class, target_class = source and sound_class(source), target and sound_class(target)
    previous_class = sound_class(previous) if previous else "beginning"
    pair = " ".join(word for word in (source_class, ">", target_class) if word)
    names = [operation, f"{operation} {pair}"]
    names += [f"{operation} after {previous_class}", f"{operation} {pair} after {previous_class}"]
    if source in known:
        names.append(f"{operation} {source!r} >")
    if target in known and operation != "copy":
        names.append(f"{operation} > {target!r}")
    if operation == "substitute" and source in known and target in known:
        names.append(f"substitute {source!r} > {target!r}")
    if previous in known:
        names.append(f"{operation} after {previous!r}")
        if target in known:
            names.append(f"{operation} > {target!r} after {previous!r}")
        if operation == "delete" and source in known:
            names.append(f"delete {source!r} > after {previous!r}")
    return names


def log_weight_by_recursion(x, y, weights, known, history="symbol"):
    """The log-weight of all alignments of x and y, by a recursion over pairs of suffixes."""
    seen = known if history == "symbol" else ""

    def arc(operation, source, target, previous):
        names = names_by_hand(operation, source, target, previous, known)
        hidden = [name for name in names if " after '" in name and not seen]
        return sum(weights[name] for name in names if name in weights and name not in hidden)

    @cache
    def total(i, j):
        previous = y[j - 1] if j else ""
        terms = [0.0] if (i, j) == (len(x), len(y)) else []
        if i < len(x):
            terms.append(arc("delete", x[i], "", previous) + total(i + 1, j))
        if j < len(y):
            terms.append(arc("insert", "", y[j], previous) + total(i, j + 1))
        if i < len(x) and j < len(y):
            operation = "copy" if x[i] == y[j] else "substitute"
            terms.append(arc(operation, x[i], y[j], previous) + total(i + 1, j + 1))
        return np.logaddexp.reduce(terms)

    return float(total(0, 0))


def texts(alphabet, length):
    universe = [""]
    for _ in range(length):
        universe += [word + symbol for word in universe for symbol in alphabet.symbols]
    return sorted(set(universe))


@pytest.mark.parametrize("history", ["symbol", "class"])
@pytest.mark.parametrize("alphabet", [AB, ABC])
def test_edit_weights_are_the_recursion_over_alignments(history, alphabet):
    topology = edit_topology(AB, history=history)
    theta = np.random.default_rng(0).normal(-1.0, 1.0, len(topology.feature_names))
    weights = dict(zip(topology.feature_names, theta.tolist(), strict=True))
    extended = topology.extended(alphabet)
    outputs = texts(alphabet, 2)
    for x in texts(alphabet, 2):
        acceptor = image(extended.fst(theta), string_acceptor(alphabet.labels(x)), 10_000)
        np.testing.assert_allclose(
            string_log_weights(acceptor, [alphabet.labels(y) for y in outputs]),
            [log_weight_by_recursion(x, y, weights, AB.symbols, history) for y in outputs],
            atol=1e-10,
        )


def test_feature_names_are_distinct_and_every_one_occurs():
    for history in ("symbol", "class"):
        topology = edit_topology(Alphabet(("a", "b", "'", ">", "e\u0301")), history=history)
        assert len(set(topology.feature_names)) == len(topology.feature_names)
        assert np.all(topology.features_af.sum(axis=0) > 0)
        assert topology.features_af.max() == 1.0


def test_feature_names_are_those_of_the_documentation():
    known, expected = AB.symbols, set()
    for previous in ("", *known):
        for x in known:
            expected.update(names_by_hand("copy", x, x, previous, known))
            expected.update(names_by_hand("insert", "", x, previous, known))
            expected.update(names_by_hand("delete", x, "", previous, known))
            expected.update(
                name
                for y in known
                if x != y
                for name in names_by_hand("substitute", x, y, previous, known)
            )
    assert set(edit_topology(AB).feature_names) == expected


def test_one_context_changes_only_what_follows_it():
    topology = edit_topology(AB)
    theta = topology.theta({"insert > 'b' after 'a'": 2.0})
    arrays = topology.arrays(theta)
    changed = [row[:4] for row in arc_rows(arrays) if row[4] != 0.0]
    state_after_a = AB.labels("a")[0]
    assert changed == [(state_after_a, 0, 2, 2)]
    assert (topology.expected_features(np.ones(arrays.num_arcs)) > 0).all()


def test_added_symbols_have_only_shared_features():
    topology = edit_topology(AB)
    extended = topology.extended(ABC)
    assert extended.feature_names == topology.feature_names
    theta = np.random.default_rng(1).normal(size=len(topology.feature_names))
    old = {row[:4]: row[4] for row in arc_rows(topology.arrays(theta))}
    new = {row[:4]: row[4] for row in arc_rows(extended.arrays(theta))}
    assert {key: new[key] for key in old} == pytest.approx(old)
    for arc, row in enumerate(arc_rows(extended.skeleton)):
        names = [topology.feature_names[f] for f in extended.features_af[arc].indices]
        assert names[0] in ("copy", "substitute", "insert", "delete") or len(names) > 1
        if 3 in row[1:3]:
            allowed = {repr(AB.symbols[label - 1]) for label in row[:3] if 0 < label < 3}
            assert all(word in allowed for name in names for word in name.split() if "'" in word)


def test_added_symbols_of_one_class_are_alike():
    larger = AB.extended(["cd"])
    topology = edit_topology(AB).extended(larger)
    theta = np.random.default_rng(2).normal(-1.0, 1.0, len(topology.feature_names))
    fst = topology.fst(theta)

    def weight(x, y):
        acceptor = image(fst, string_acceptor(larger.labels(x)), 10_000)
        return string_log_weights(acceptor, [larger.labels(y)])[0]

    assert weight("acb", "cb") == pytest.approx(weight("adb", "db"), abs=1e-12)
    assert weight("acb", "cb") != pytest.approx(weight("aab", "ab"), abs=1e-3)


def test_a_class_unseen_before_backs_off_to_the_operation():
    topology = edit_topology(AB)
    extended = topology.extended(AB.extended(["5"]))
    copies = [arc for arc, row in enumerate(arc_rows(extended.skeleton)) if row[:3] == (0, 3, 3)]
    names = [topology.feature_names[f] for f in extended.features_af[copies[0]].indices]
    assert names == ["copy", "copy after beginning"]


def test_requests_that_cannot_be_met():
    topology = edit_topology(AB)
    with pytest.raises(ValueError, match="extend"):
        topology.extended(Alphabet(("b", "a")))
    with pytest.raises(KeyError):
        topology.theta({"no such feature": 1.0})
    with pytest.raises(ValueError, match="words"):
        edit_topology(AB, class_of=lambda symbol: "'a'")
    with pytest.raises(ValueError, match="beginning"):
        edit_topology(AB, class_of=lambda symbol: "beginning")


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [("a", "vowel"), ("É", "vowel"), ("ö", "vowel"), ("ü\u0304", "vowel"), ("я", "vowel"),
     ("ɛ\u0303", "vowel"), ("ς", "letter"), ("\u05e9", "letter"), ("\u05b8", "mark"),
     (" ", "other"), ("7", "other")],
)  # fmt: skip
def test_sound_classes(symbol, expected):
    assert sound_class(symbol) == expected


@quick
@given(machines(transducer=True), machines())
def test_images_and_preimages_are_enumeration(transducer, acceptor):
    pairs, strings = enumerated(transducer), enumerated(acceptor)
    for side, project in ((0, image), (1, preimage)):
        expected = {}
        for pair, weight in pairs.items():
            key = pair[side], pair[side]
            if key in strings:
                other = pair[1 - side]
                total = expected.get(other, -np.inf)
                expected[other] = np.logaddexp(total, weight + strings[key])
        projected = project(arrays_to_fst(transducer), acceptor, 10_000)
        found = {string: w for (string, _), w in enumerated(fst_to_arrays(projected)).items()}
        assert found == pytest.approx(expected, abs=1e-10)


def test_large_images_are_refused():
    fst = edit_topology(AB).fst(np.zeros(len(edit_topology(AB).feature_names)))
    with pytest.raises(MachineTooLargeError):
        image(fst, universe_acceptor(2, 20), 50)


def log_total_between(transducer, in_acceptor, out_acceptor):
    both = composed(composed(in_acceptor, transducer, 10_000), out_acceptor, 10_000)
    return log_total(both)


def assert_counts_are_central_differences(transducer, in_acceptor, out_acceptor):
    counts = expected_arc_counts_of_transducer(transducer, in_acceptor, out_acceptor, 10_000)
    for arc in range(transducer.num_arcs):
        shift = np.zeros(transducer.num_arcs)
        shift[arc] = DEPARTURE
        above, below = (
            log_total_between(
                transducer.with_log_weights(transducer.log_weight_a + sign * shift),
                in_acceptor,
                out_acceptor,
            )
            for sign in (1, -1)
        )
        assert counts[arc] == pytest.approx((above - below) / (2 * DEPARTURE), abs=1e-7)


@quick
@given(machines(cyclic=True, transducer=True), machines(), machines())
def test_arc_counts_are_central_differences(transducer, in_acceptor, out_acceptor):
    if log_total_between(transducer, in_acceptor, out_acceptor) == -np.inf:
        with pytest.raises(ValueError, match="accepts nothing"):
            expected_arc_counts_of_transducer(transducer, in_acceptor, out_acceptor, 10_000)
    else:
        assert_counts_are_central_differences(transducer, in_acceptor, out_acceptor)


@quick
@given(st.sampled_from(SHORT_STRINGS), st.sampled_from(SHORT_STRINGS))
def test_edit_gradient_is_a_central_difference(x, y):
    topology = edit_topology(AB)
    theta = np.random.default_rng(len(x) + 5 * len(y)).normal(size=len(topology.feature_names))
    ends = string_acceptor(x), string_acceptor(y)
    counts = expected_arc_counts_of_transducer(topology.arrays(theta), *ends, 10_000)
    gradient = topology.expected_features(counts)
    direction = np.random.default_rng(7).normal(size=len(theta))
    above, below = (
        log_total_between(topology.arrays(theta + sign * DEPARTURE * direction), *ends)
        for sign in (1, -1)
    )
    expected = (above - below) / (2 * DEPARTURE)
    assert gradient @ direction == pytest.approx(expected, rel=1e-6, abs=1e-6)
