"""The best strings of a product, from the best strings of its potentials.

Public names: `best_of_product`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np

from fsbp.composition import MachineTooLargeError
from fsbp.pathsum import DivergentSumError
from fsbp.variables import StringPotential, StringTable

FIRST_READ, MAX_READ_EACH = 16, 1_024


def best_of_product(potentials: Sequence[StringPotential], k: int) -> StringTable | None:
    """Return the `k` best strings of a product, exactly, or None where they are not soon found.

    The best strings of every potential are read. What none of them has listed yet weighs no more
    than the last of each together, and nothing at all once one of them has listed all it allows.

    Args:
        potentials: At least one, over the same variable.
        k: How many; fewer are returned where fewer have any weight.

    Cost: Searches for up to 1,024 strings of each potential, and a look-up of each string in each.
    Source: Fagin, Lotem and Naor (2003), "Optimal aggregation algorithms for middleware".
    """
    read = max(FIRST_READ, k)
    while read <= MAX_READ_EACH:
        try:
            lists = [potential.k_best(read) for potential in potentials]
        except (DivergentSumError, MachineTooLargeError):
            return None
        for potential, found in zip(potentials, lists, strict=True):
            if found.floor > -math.inf and not isinstance(potential, StringTable):
                return None
        strings = tuple(dict.fromkeys(chain.from_iterable(found.strings for found in lists)))
        weight_n = np.sum([potential.log_weights(strings) for potential in potentials], axis=0)
        allowed = np.flatnonzero(weight_n > -np.inf).tolist()
        best = StringTable(strings, weight_n).subset(allowed).k_best(k)
        unread = sum(_last(found, read) for found in lists)
        if unread == -math.inf or (
            len(best.strings) == k and (k == 0 or best.log_weights_n[-1] >= unread)
        ):
            return best
        read *= 4
    return None


def _last(found: StringTable, read: int) -> float:
    """Return a bound on the weight of what is not among the best strings read."""
    if len(found.strings) < read:
        return found.floor
    return max(float(found.log_weights_n[-1]), found.floor)
