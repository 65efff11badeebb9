"""The fast measure of regularity against the same thing said slowly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.rewrites import label_array
from paradigms.predictability import SAMPLE, discounted_share, shares_of_commonest_change

FORMS = st.none() | st.text(alphabet="abä𐍈", max_size=5)
ROWS = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(FORMS, min_size=n, max_size=n), min_size=1, max_size=3)
)


def shared_start(x: str, y: str) -> int:
    return next((n for n in range(min(len(x), len(y))) if x[n] != y[n]), min(len(x), len(y)))


def change(x: str, y: str) -> tuple[str, str, str]:
    """Return what is left of two forms without the longer of shared prefix and suffix."""
    prefix, suffix = shared_start(x, y), shared_start(x[::-1], y[::-1])
    if prefix >= suffix:
        return "at the end", x[prefix:], y[prefix:]
    return "at the start", x[: len(x) - suffix], y[: len(y) - suffix]


def measured(
    source: Sequence[str | None], cells: Sequence[Sequence[str | None]]
) -> tuple[list[float], list[int]]:
    forms = sorted({form for row in (source, *cells) for form in row if form is not None})
    number_of = {form: n for n, form in enumerate(forms)}
    symbol_fs = np.zeros((len(forms), max(map(len, forms), default=0) + 1), np.int32)
    for row, form in zip(symbol_fs, forms, strict=True):
        row[: len(form)] = label_array(form)

    def numbers(row: Sequence[str | None]) -> list[int]:
        return [-1 if form is None else number_of[form] for form in row]

    share_c, count_c = shares_of_commonest_change(
        np.array(numbers(source), np.int32),
        np.array([numbers(row) for row in cells], np.int32),
        symbol_fs,
        np.array([len(form) for form in forms], np.int32),
    )
    return share_c.tolist(), count_c.tolist()


@settings(deadline=None)
@given(ROWS)
def test_equals_the_slow_reference(rows: list[list[str | None]]) -> None:
    shares, counts = measured(rows[0], rows)
    for row, share, count in zip(rows, shares, counts, strict=True):
        both = [(x, y) for x, y in zip(rows[0], row, strict=True) if None not in (x, y)]
        changes = Counter(change(x, y) for x, y in both)
        assert count == len(both)
        expected = max(changes.values()) / len(both) if both else 0.0
        assert share == pytest.approx(expected)


def test_only_the_first_lexemes_are_compared() -> None:
    regular, odd = ["a"] * SAMPLE, ["b"] * 3
    shares, counts = measured([*regular, *odd], [[*(["ax"] * SAMPLE), "by", "bz", "b"]])
    assert (shares, counts) == ([1.0], [SAMPLE + 3])


def test_where_a_change_is_matters() -> None:
    shares, _ = measured(["ab", "cd"], [["xab", "cdx"]])
    assert shares == [0.5]


def test_as_much_shared_on_both_sides_is_a_change_at_the_end() -> None:
    shares, _ = measured(["axa", "bxa"], [["aya", "bya"]])
    assert shares == [1.0]
    shares, _ = measured(["axa", "axb"], [["aya", "ayb"]])
    assert shares == [0.5]


def test_what_few_lexemes_show_counts_for_less() -> None:
    share, count = np.array([1.0, 0.9, 0.9, 0.5]), np.array([1.0, 1.0, 99.0, 0.0])
    expected = [0.5, 0.45, 0.891, 0.0]
    np.testing.assert_allclose(discounted_share(share, count), expected)
    found = [discounted_share(*pair) for pair in zip(share, count, strict=True)]
    assert found == pytest.approx(expected)
