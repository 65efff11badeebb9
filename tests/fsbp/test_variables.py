"""The three carriers of string potentials agree with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp import variables
from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import log_sum_exp
from fsbp.variables import Acceptor, Scored, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, random_machine, random_table

SEEDS = st.integers(0, 2**32 - 1)
TEXTS = st.lists(st.text("abñ ü(1", max_size=4), unique=True, min_size=1, max_size=6)


def test_variables_are_told_apart_by_name_and_domain() -> None:
    flag = Variable("flag", ("no", "yes"))
    assert flag == Variable("flag", ("no", "yes"))
    assert flag != Variable("flag", ("no", "maybe"))
    assert hash(flag) == hash(Variable("flag", ("no", "maybe")))
    assert not flag.is_string
    assert flag.positions == {"no": 0, "yes": 1}
    with pytest.raises(TypeError, match="finite"):
        _ = flag.alphabet
    with pytest.raises(TypeError, match="string-valued"):
        _ = Variable("text", ALPHABET).values


@given(strings=TEXTS, floor=st.sampled_from([-math.inf, -3.0]), data=st.data())
def test_table_as_machine_scores_alike(
    strings: list[str], floor: float, data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.floats(-5, 5), min_size=len(strings), max_size=len(strings)).map(np.array)
    )
    table = StringTable(tuple(strings), weights, floor)
    machine = table.to_acceptor(Alphabet(("z", "a")))
    asked = [*strings, "az", "zz", "a", ""]
    np.testing.assert_allclose(machine.log_weights(asked), table.log_weights(asked), atol=1e-12)


@settings(max_examples=50)
@given(seed=SEEDS)
def test_machine_is_a_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng)
    weights = machine.log_weights(STRINGS)
    table = StringTable(STRINGS, weights)
    assert machine.log_total() == pytest.approx(float(log_sum_exp(weights)))
    assert machine.log_total("max") == pytest.approx(weights.max())
    assert machine.entropy() == pytest.approx(table.entropy())
    for k in (1, 4, 100):
        found, expected = machine.k_best(k), table.k_best(k)
        assert found.strings == expected.strings
        np.testing.assert_allclose(found.log_weights_n, expected.log_weights_n, atol=1e-9)
    np.testing.assert_allclose(machine.shifted(1.5).log_weights(STRINGS), weights + 1.5)
    np.testing.assert_allclose(table.shifted(1.5).log_weights(STRINGS), weights + 1.5)


def test_machine_in_another_alphabet() -> None:
    machine = random_machine(np.random.default_rng(0))
    for alphabet in (Alphabet(("b",)), Alphabet(("c", "b", "a")), Alphabet(("a", "b", "c"))):
        moved = machine.to_acceptor(alphabet)
        assert moved.alphabet.symbols[: len(alphabet)] == alphabet.symbols
        np.testing.assert_array_equal(moved.log_weights(STRINGS), machine.log_weights(STRINGS))
    assert machine.log_weights(["añ"]) == -np.inf


@settings(max_examples=30)
@given(seed=SEEDS, k=st.integers(1, 20))
def test_best_of_a_loose_bound(seed: int, k: int) -> None:
    """A maximum of two machines, bounded by their sum."""
    rng = np.random.default_rng(seed)
    tables = [StringTable(STRINGS, rng.normal(size=len(STRINGS))) for _ in range(2)]
    largest = np.max([table.log_weights(STRINGS) for table in tables], axis=0)
    total = np.logaddexp(*(table.log_weights(STRINGS) for table in tables))
    scored = Scored(
        score=lambda strings: np.max([table.log_weights(strings) for table in tables], axis=0),
        bound=lambda: StringTable(STRINGS, total).to_acceptor(ALPHABET),
        tight=False,
    )
    expected = StringTable(STRINGS, largest).k_best(k)
    assert scored.k_best(k).strings == expected.strings
    assert scored.log_total("max") == largest.max()
    np.testing.assert_array_equal(scored.shifted(2.0).log_weights(STRINGS), largest + 2.0)
    machine = scored.to_acceptor(ALPHABET)
    np.testing.assert_allclose(machine.log_weights(STRINGS), largest, atol=1e-9)
    assert scored.log_total() == pytest.approx(np.logaddexp.reduce(largest))


def test_a_loose_bound_of_many_strings_is_no_machine() -> None:
    machine = Acceptor(universe_acceptor(len(ALPHABET), 14), ALPHABET)
    scored = Scored(machine.log_weights, lambda: machine, tight=False)
    with pytest.raises(MachineTooLargeError, match="k-best"):
        scored.to_acceptor(ALPHABET)


def test_reading_a_loose_bound_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = random_machine(np.random.default_rng(6))
    scored = Scored(lambda strings: np.full(len(strings), -99.0), lambda: machine, tight=False)
    assert len(scored.k_best(3).strings) == 3
    monkeypatch.setattr(variables, "MAX_READ", 8)
    with pytest.raises(MachineTooLargeError, match="not among"):
        scored.k_best(2)


def test_a_search_replaces_the_bound_and_scores_are_computed_once() -> None:
    machine, asked = random_machine(np.random.default_rng(6)), []

    def score(strings: Sequence[str]) -> np.ndarray:
        asked.extend(strings)
        return machine.log_weights(strings)

    def search(k: int) -> StringTable:
        asked.append(str(k))
        return machine.k_best(k)

    scored = Scored(score, lambda: pytest.fail("the bound is not needed"), False, search)
    for _ in range(2):
        assert scored.k_best(4).strings == machine.k_best(4).strings
        np.testing.assert_array_equal(
            scored.log_weights(STRINGS[:3]), machine.log_weights(STRINGS[:3])
        )
    assert asked == ["4", *STRINGS[:3]]
    best = scored.shifted(2.0).k_best(4)
    np.testing.assert_allclose(best.log_weights_n, machine.k_best(4).log_weights_n + 2.0)


def test_tight_bound_answers_like_its_machine() -> None:
    machine = random_machine(np.random.default_rng(6))
    scored = Scored(machine.log_weights, lambda: machine, tight=True)
    assert scored.k_best(3).strings == machine.k_best(3).strings
    assert scored.log_total() == pytest.approx(machine.log_total())
    assert scored.entropy() == pytest.approx(machine.entropy())
    assert isinstance(scored.to_acceptor(ALPHABET), Acceptor)


@pytest.mark.parametrize("kind", ["machine", "table", "scored"])
def test_samples_follow_the_weights(kind: str) -> None:
    rng = np.random.default_rng(12)
    machine, table = random_machine(rng), random_table(rng, floor=-1.0)
    scored = Scored(machine.log_weights, lambda: machine, tight=True)
    potential = {"machine": machine, "table": table, "scored": scored}[kind]
    draws = 4000
    drawn = potential.sample(draws, rng)
    best = potential.k_best(5)
    for text, weight in zip(best.strings, best.log_weights_n, strict=True):
        p = math.exp(weight - potential.log_total())
        spread = math.sqrt(p * (1 - p) / draws)
        assert abs(drawn.count(text) / draws - p) <= 4 * spread


def test_a_string_listed_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="twice"):
        StringTable(("a", "a"), np.zeros(2)).log_weights(["a"])
