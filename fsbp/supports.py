"""The sets of strings that potentials allow, as minimal deterministic machines within bounds.

A support forgets weights: it is a potential whose entries are 0 (allowed) or -inf. What outgrows
its bounds is replaced by a larger set, so a support may hold too much and never lacks a string.

Public names: `support`, `common_support`, `is_empty`, `is_same_support`, `nothing`,
`named_symbols`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, arrays_to_fst
from fsbp.connectivity import trimmed
from fsbp.opinions import Opinion
from fsbp.potentials import product
from fsbp.powered import Powered
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable

MAX_STATES = 1_000
MAX_WORK = 300_000


def support(potential: Potential, everything: Potential) -> Potential:
    """Return the values that a potential allows, or more where that is too dear to find.

    Strings with symbols that neither `everything` nor the potential names are left out.

    Args:
        potential: Over one variable; NaN forbids nothing.
        everything: The support of the uniform potential; returned where the set has no small
            deterministic machine, or the potential a floor.

    Cost: At most `MAX_WORK` look-ups; O(A) more for a machine of A arcs.
    """
    if not isinstance(potential, StringPotential):
        return np.where(potential == -np.inf, -np.inf, 0.0)
    alphabet = cast(Acceptor, everything).alphabet
    carrier = _carrier(potential)
    if carrier is None:
        return everything
    if isinstance(carrier, Scored):
        carrier = carrier.bounding_acceptor
        if not set(alphabet.symbols) <= set(carrier.alphabet.symbols):
            return everything
    elif isinstance(carrier, StringTable):
        carrier = carrier.subset(np.flatnonzero(carrier.log_weights_n != -np.inf).tolist())
    machine = carrier.to_acceptor(alphabet)
    found = _minimal(machine.arrays)
    return everything if found is None else Acceptor(arrays_to_fst(found), machine.alphabet)


def common_support(supports: Sequence[Potential]) -> Potential:
    """Return the intersection of one or more supports; those that make it too large are left out.

    Args:
        supports: From `support`, over one variable.

    Cost: O(product of the machines' sizes), at most `MAX_WORK` arcs for each.
    """
    common, *others = supports
    for other in others:
        try:
            both = product([common, other], MAX_WORK)
        except MachineTooLargeError:
            continue
        common = support(both, common)
    return common


def is_empty(support_: Potential) -> bool:
    """Return whether a support allows nothing."""
    if isinstance(support_, Acceptor):
        return support_.arrays.start < 0
    return not np.any(cast("FloatArray", support_) == 0.0)


def is_same_support(first: Potential, second: Potential) -> bool:
    """Return whether two supports of one variable, from `support`, are the same set."""
    if isinstance(first, Acceptor) and isinstance(second, Acceptor):
        one, two = first.arrays, second.arrays
        return (
            first.alphabet == second.alphabet
            and one.num_states == two.num_states
            and one.num_arcs == two.num_arcs
            and np.array_equal(one.final_s, two.final_s)
            and np.array_equal(one.ilabel_a, two.ilabel_a)
            and np.array_equal(one.source_a, two.source_a)
            and np.array_equal(one.target_a, two.target_a)
        )
    return np.array_equal(cast("FloatArray", first), cast("FloatArray", second))


def nothing(variable: Variable) -> Potential:
    """Return the potential that allows no value."""
    if variable.is_string:
        return StringTable((), np.zeros(0))
    return np.full(len(variable.values), -np.inf)


def named_symbols(potential: Potential, alphabet: Alphabet) -> set[str]:
    """Return the symbols of the strings that a potential lists, or of its machine's alphabet.

    Args:
        potential: Over one variable.
        alphabet: Says how listed texts are split.
    """
    carrier = _carrier(potential) if isinstance(potential, StringPotential) else None
    if isinstance(carrier, StringTable):
        return {symbol for text in carrier.strings for symbol in alphabet.split(text)}
    if isinstance(carrier, Scored):
        carrier = carrier.bounding_acceptor
    return set() if carrier is None else set(carrier.to_acceptor(alphabet).alphabet.symbols)


def _carrier(potential: StringPotential) -> StringPotential | None:
    """Return a potential with the same support that is no power; None where that is everything."""
    if isinstance(potential, Powered):
        return _carrier(potential.potential)
    if isinstance(potential, Opinion):
        return None
    if isinstance(potential, StringTable):
        return potential if potential.floor == -np.inf else None
    return potential


def _minimal(arrays: ArcArrays) -> ArcArrays | None:
    """Return the minimal deterministic machine of the same strings, states in breadth-first order.

    Two machines of the same strings become the same arrays. None where there is none within bounds.
    """
    if np.isnan(arrays.log_weight_a).any() or np.isnan(arrays.final_s).any():
        return None
    kept = trimmed(arrays)
    if kept.start < 0:
        return kept
    determined = _determined(kept)
    return None if determined is None else _merged(*determined)


def _determined(arrays: ArcArrays) -> tuple[list[dict[int, int]], list[bool]] | None:
    """Return the moves and the finality of sets of states, breadth first; None beyond bounds."""
    if arrays.num_arcs > MAX_WORK:
        return None
    next_s: list[dict[int, list[int]]] = [defaultdict(list) for _ in range(arrays.num_states)]
    columns = (arrays.source_a, arrays.ilabel_a, arrays.target_a)
    for source, label, target in zip(*(column.tolist() for column in columns), strict=True):
        next_s[source][label].append(target)
    final = set(np.flatnonzero(arrays.final_s > -np.inf).tolist())
    sets = [_after_epsilons({arrays.start}, next_s)]
    number = {sets[0]: 0}
    moves: list[dict[int, int]] = []
    work = 0
    for members in sets:
        after: dict[int, set[int]] = defaultdict(set)
        for state in members:
            for label, targets in next_s[state].items():
                if label:
                    after[label].update(targets)
                    work += len(targets)
        moves.append({})
        for label in sorted(after):
            reached = _after_epsilons(after[label], next_s)
            work += len(reached)
            if reached not in number:
                number[reached] = len(sets)
                sets.append(reached)
            moves[-1][label] = number[reached]
        if work > MAX_WORK or len(sets) > MAX_STATES:
            return None
    return moves, [not final.isdisjoint(members) for members in sets]


def _after_epsilons(states: set[int], next_s: list[dict[int, list[int]]]) -> frozenset[int]:
    """Return the states that epsilons lead to from some states, those included."""
    found = set(states)
    stack = list(states)
    while stack:
        for target in next_s[stack.pop()].get(0, ()):
            if target not in found:
                found.add(target)
                stack.append(target)
    return frozenset(found)


def _merged(moves: list[dict[int, int]], final: list[bool]) -> ArcArrays:
    """Return the machine with one state for all states that the same strings lead on from.

    Source: Moore (1956), "Gedanken-experiments on sequential machines".
    """
    class_s = [int(is_final) for is_final in final]
    count = 0
    while count < len(set(class_s)):
        count = len(set(class_s))
        number: dict[tuple[object, ...], int] = {}
        class_s = [
            number.setdefault(
                (class_s[s], *((label, class_s[t]) for label, t in moves[s].items())), len(number)
            )
            for s in range(len(moves))
        ]
    first = [class_s.index(c) for c in range(count)]
    arcs = [(c, label, class_s[t]) for c, s in enumerate(first) for label, t in moves[s].items()]
    source_a, label_a, target_a = np.array(arcs, dtype=np.int32).reshape(-1, 3).T
    final_s = np.where([final[s] for s in first], 0.0, -np.inf)
    weights = np.zeros(len(label_a))
    return ArcArrays.from_arcs(0, final_s, source_a, label_a, label_a, target_a, weights)
