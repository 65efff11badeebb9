"""Mixtures and inner products of many string tables over the union of their lists.

A table gives its floor to each string that only others list. Nothing here asks every table about
every string: what the floors contribute is the whole minus the listed share, so the cost is linear
in the number of listed strings.

Public names: `mixture_of_tables`, `log_inner_of_each`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.pathsum import Semiring
from fsbp.variables import StringTable

Positions: TypeAlias = npt.NDArray[np.intp]


class _Entries(NamedTuple):
    """All entries of all tables, end to end.

    Args:
        strings: The union of the lists, N strings.
        string_e: int[E], which string an entry is about.
        table_e: int[E], which table it is from.
        log_weight_e: float64[E], nats.
    """

    strings: tuple[str, ...]
    string_e: Positions
    table_e: Positions
    log_weight_e: FloatArray


def mixture_of_tables(tables: Sequence[StringTable], semiring: Semiring) -> StringTable:
    """Return log sum_t exp(table_t(x)), or the maximum over t, for every listed string.

    Args:
        tables: At least one, with their mixture weights already added.
        semiring: "sum" or "max".

    Returns:
        A table over the union of the lists; its floor combines the floors.

    Cost: O(E) for E entries in all tables.
    """
    entries = _entries(tables, ())
    count = len(entries.strings)
    floor_t = np.array([table.floor for table in tables])
    if semiring == "max":
        listed_n = _grouped_max(entries.log_weight_e, entries.string_e, count)
        if np.isfinite(floor_t).any():
            rest_n = _max_outside(floor_t, entries.table_e, entries.string_e, count)
            listed_n = np.maximum(listed_n, rest_n)
        return StringTable(entries.strings, listed_n, float(floor_t.max()))
    listed_n = _grouped_log_sum(entries.log_weight_e, entries.string_e, count)
    rest_n = _log_sum_outside(floor_t, entries.table_e, entries.string_e, count)
    return StringTable(entries.strings, np.logaddexp(listed_n, rest_n), log_sum_exp(floor_t))


def log_inner_of_each(
    tables: Sequence[StringTable], other: StringTable, semiring: Semiring
) -> FloatArray:
    """Return float64[T], log sum_x exp(table_t(x) + other(x)) with x in the union of all lists.

    Every table is summed over the same strings, so that the values compare the tables and not the
    lengths of their lists.

    Args:
        tables: At least one.
        other: The potential each table is multiplied with.
        semiring: "sum", or "max" for the maximum over x.

    Cost: O(E) for E entries in all tables.
    """
    entries = _entries(tables, other.strings)
    count = len(tables)
    other_n = other.log_weights(entries.strings)
    floor_t = np.array([table.floor for table in tables])
    terms_e = entries.log_weight_e + other_n[entries.string_e]
    if semiring == "max":
        listed_t = _grouped_max(terms_e, entries.table_e, count)
        rest_t = floor_t + _max_outside(other_n, entries.string_e, entries.table_e, count)
        best_t: FloatArray = np.maximum(listed_t, rest_t)
        return best_t
    listed_t = _grouped_log_sum(terms_e, entries.table_e, count)
    rest_t = floor_t + _log_sum_outside(other_n, entries.string_e, entries.table_e, count)
    total_t: FloatArray = np.logaddexp(listed_t, rest_t)
    return total_t


def _entries(tables: Sequence[StringTable], first: Sequence[str]) -> _Entries:
    position_of: dict[str, int] = {text: n for n, text in enumerate(first)}
    string_e = []
    for table in tables:
        for text in table.strings:
            string_e.append(position_of.setdefault(text, len(position_of)))
    return _Entries(
        strings=tuple(position_of),
        string_e=np.array(string_e, dtype=np.intp),
        table_e=np.repeat(np.arange(len(tables)), [len(table.strings) for table in tables]),
        log_weight_e=np.concatenate([table.log_weights_n for table in tables]),
    )


def _grouped_max(value_e: FloatArray, group_e: Positions, count: int) -> FloatArray:
    """Return float64[count], the largest value of each group; -inf for an empty one."""
    best_g = np.full(count, -np.inf)
    np.maximum.at(best_g, group_e, value_e)
    return best_g


def _grouped_log_sum(value_e: FloatArray, group_e: Positions, count: int) -> FloatArray:
    """Return float64[count], log-sum-exp of each group; -inf for an empty one."""
    best_g = _grouped_max(value_e, group_e, count)
    shift_g = np.where(np.isfinite(best_g), best_g, 0.0)
    total_g = np.bincount(group_e, np.exp(value_e - shift_g[group_e]), minlength=count)
    with np.errstate(divide="ignore"):
        log_total_g: FloatArray = np.log(total_g) + shift_g
    return log_total_g


def _log_sum_outside(
    value_n: FloatArray, member_e: Positions, group_e: Positions, count: int
) -> FloatArray:
    """Return, per group, log-sum-exp of the values whose positions are not members of it.

    A difference: good to about 1e-16 of the total over all values.
    """
    total = log_sum_exp(value_n)
    if not math.isfinite(total):
        return np.full(count, total)
    inside_g = np.bincount(group_e, np.exp(value_n[member_e] - total), minlength=count)
    everything_g = np.bincount(group_e, minlength=count) == len(value_n)
    outside_g = np.where(everything_g, 0.0, np.maximum(1.0 - inside_g, 0.0))
    with np.errstate(divide="ignore"):
        log_outside_g: FloatArray = np.log(outside_g) + total
    return log_outside_g


def _max_outside(
    value_n: FloatArray, member_e: Positions, group_e: Positions, count: int
) -> FloatArray:
    """Return, per group, the largest of the values whose positions are not members of it."""
    members: list[set[int]] = [set() for _ in range(count)]
    for member, group in zip(member_e.tolist(), group_e.tolist(), strict=True):
        members[group].add(member)
    descending = np.argsort(-value_n, kind="stable").tolist()
    best = (next((n for n in descending if n not in inside), None) for inside in members)
    return np.array([-np.inf if n is None else value_n[n] for n in best])
