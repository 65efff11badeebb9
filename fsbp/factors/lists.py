"""What a factor makes of incoming string tables: lists of strings.

Public names: `as_list`, `is_list`, `all_strings`, `constant_log_weight`, `best_log_weight`,
`listed`, `summed`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard, cast

import numpy as np

from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.ngram_potential import NgramPotential
from fsbp.pathsum import Semiring
from fsbp.variables import Acceptor, StringPotential, StringTable, complete_list


def as_list(potential: StringPotential) -> StringPotential:
    """Return a potential; a table that lists anything without its floor."""
    if isinstance(potential, StringTable) and potential.strings:
        return replace(potential, floor=-np.inf)
    return potential


def is_list(potential: StringPotential) -> TypeGuard[StringTable]:
    """Return whether a potential is a table that allows only what it lists."""
    return isinstance(potential, StringTable) and potential.floor == -np.inf


def all_strings(potential: StringPotential, what: str = "a maximum") -> StringTable:
    """Return the list of all strings of a potential.

    Args:
        potential: A list, a machine, or a table that lists nothing and allows every string.
        what: What needs the list, for the error.

    Raises:
        MachineTooLargeError: There are more than 10,000.
        DivergentSumError: They have no finite sum.
    """
    return complete_list(as_list(potential), what)


def constant_log_weight(potential: StringPotential) -> float | None:
    """Return the log-weight of every string, where all have the same and it shows; None elsewhere.

    That is in a table that lists nothing, and, for strings over its alphabet, in a machine or an
    n-gram potential that says nothing of any symbol.
    """
    if isinstance(potential, StringTable):
        return None if potential.strings else potential.floor
    if isinstance(potential, NgramPotential):
        end, *others = set(potential.log_weight_hs[:, -1].tolist())
        says_something = potential.log_weight_hs[:, :-1].any()
        says_something |= potential.unseen not in (0.0, -np.inf)
        return None if others or says_something else end
    if isinstance(potential, Acceptor) and potential.arrays.num_states == 1:
        arrays = potential.arrays
        says_nothing = not arrays.log_weight_a.any()
        if says_nothing and sorted(arrays.ilabel_a) == [*range(1, len(potential.alphabet) + 1)]:
            return float(arrays.final_s[0])
    return None


def best_log_weight(potential: StringPotential) -> float:
    """Return the log-weight of a potential's best string.

    Raises:
        DivergentSumError: The strings have no finite sum, and not all have the same weight.
        MachineTooLargeError: The search for the best string outgrew its bound.
    """
    constant = constant_log_weight(potential)
    return potential.log_total("max") if constant is None else constant


def listed(potential: StringPotential, semiring: Semiring) -> StringTable | None:
    """Return the strings that a potential stands for, or None where a sum takes a machine.

    Raises:
        MachineTooLargeError: A maximum needs the list, and it has more than 10,000 strings.
        DivergentSumError: A maximum needs the list, and the strings have no finite sum.
    """
    found = as_list(potential)
    if is_list(found):
        return found
    return None if semiring == "sum" else all_strings(found)


def summed(log_weight_nm: FloatArray, semiring: Semiring) -> FloatArray:
    """Return float64[M], the log-sum or the maximum of each column; -inf where there are no rows.

    Args:
        log_weight_nm: float64[N, M].
        semiring: "sum" or "max".
    """
    if semiring == "max":
        return cast(FloatArray, log_weight_nm.max(axis=0, initial=-np.inf))
    return cast(FloatArray, log_sum_exp(log_weight_nm, axis=0))
