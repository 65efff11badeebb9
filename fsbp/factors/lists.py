"""What a factor makes of incoming string tables: lists of strings.

Public names: `as_list`, `is_list`, `all_strings`, `MAX_LISTED`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from fsbp.acceptors import MachineTooLargeError
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


def all_strings(potential: StringPotential) -> StringTable:
    """Return the list of all strings of a potential.

    Raises:
        MachineTooLargeError: There are more than 10,000.
    """
    listed = potential.k_best(MAX_LISTED + 1)
    if len(listed.strings) > MAX_LISTED or listed.floor > -np.inf:
        raise MachineTooLargeError(
            f"a maximum over more than {MAX_LISTED} strings: use a k-best message family"
        )
    return listed
