"""What a factor makes of incoming string tables: lists of strings.

Public names: `as_list`, `is_list`, `all_strings`, `listed`, `summed`, `MAX_LISTED`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard, cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.pathsum import Semiring
from fsbp.variables import StringPotential, StringTable

MAX_LISTED = 10_000


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
    """
    found = as_list(potential)
    found = found if is_list(found) else found.k_best(MAX_LISTED + 1)
    if len(found.strings) > MAX_LISTED or found.floor > -np.inf:
        raise MachineTooLargeError(
            f"{what} over more than {MAX_LISTED} strings: use a k-best message family"
        )
    return found


def listed(potential: StringPotential, semiring: Semiring) -> StringTable | None:
    """Return the strings that a potential stands for, or None where a sum takes a machine.

    Raises:
        MachineTooLargeError: A maximum needs the list, and it has more than 10,000 strings.
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
