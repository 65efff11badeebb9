"""What string potentials stand for where factors need lists."""

from __future__ import annotations

import numpy as np
import pytest

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.edit_channel import EditChannel
from fsbp.factors.edit import EditFactor
from fsbp.factors.lists import all_strings, as_list, is_list, listed, summed
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, S, T

ANY = StringTable((), np.zeros(0), floor=-1.0)
NONE = StringTable((), np.zeros(0))
SOME = StringTable(("a", "b"), np.array([1.0, 2.0]), floor=-3.0)
SHORT = Acceptor(universe_acceptor(len(ALPHABET), 2), ALPHABET)


def test_a_table_that_lists_anything_is_its_list() -> None:
    found = as_list(SOME)
    assert is_list(found)
    assert found.weight_of == SOME.weight_of
    assert not is_list(as_list(ANY))
    assert is_list(as_list(NONE))
    assert as_list(SHORT) is SHORT


def test_sums_take_machines_where_there_is_no_list() -> None:
    assert listed(ANY, "sum") is None
    assert listed(SHORT, "sum") is None
    for potential in (SOME, NONE):
        found = listed(potential, "sum")
        assert found is not None
        assert found.strings == potential.strings
        assert found.floor == -np.inf


def test_maxima_take_lists() -> None:
    found = listed(SHORT, "max")
    assert found is not None
    assert set(found.strings) == {"", "a", "b", "aa", "ab", "ba", "bb"}
    assert all_strings(SOME).strings == SOME.strings


def test_every_string_is_too_many_for_a_list() -> None:
    """A table that lists nothing, with a floor above -inf, allows all strings, not none."""
    with pytest.raises(MachineTooLargeError, match="a maximum over more"):
        listed(ANY, "max")
    with pytest.raises(MachineTooLargeError, match="a sampler over more"):
        all_strings(ANY, "a sampler")
    factor = EditFactor(S, T, EditChannel.uniform(ALPHABET, 0.1, 0.1, 0.1))
    with pytest.raises(MachineTooLargeError, match="maximum"):
        factor.message_to(T, {S: ANY}, "max")


def test_columns_are_summed() -> None:
    log_weight_nm = np.array([[0.0, -np.inf], [1.0, -np.inf]])
    np.testing.assert_allclose(summed(log_weight_nm, "sum"), [np.logaddexp(0.0, 1.0), -np.inf])
    np.testing.assert_array_equal(summed(log_weight_nm, "max"), [1.0, -np.inf])
    for semiring in ("sum", "max"):
        np.testing.assert_array_equal(summed(np.zeros((0, 2)), semiring), [-np.inf, -np.inf])
