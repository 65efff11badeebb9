"""Which variables sampling moves together, and in which order it draws them.

A deterministic factor holds its variables in place: none can move while the others stay. Blocks are
sets of free variables that such factors link, each with a forest of factors along which messages
run, and an order of drawing.

Public names: `Block`, `block`, `linked_blocks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fsbp.graph import DisjointSets, FactorGraph


@dataclass(frozen=True, eq=False)
class Block:
    """Free variables drawn one after another, each knowing of those that come later.

    Args:
        order: Positions of the variables, as they are drawn.
        below: For each variable, the factors whose messages to it come from outside the block, or
            sum out variables drawn later.
        above: For each variable, other factors to ask when it is drawn: what was drawn before is
            given to them, what comes later summed out by its messages from below. Together, `below`
            and `above` name every factor of the block's variables at least once.
        outside: Positions of the other variables of these factors.
        parts_first: Whether determined variables are drawn after those that determine them.
        sums_out_later: Whether messages sum out all that is drawn later, and no cycle runs through
            the block: then draws are from its distribution given what is outside.
    """

    order: tuple[int, ...]
    below: Mapping[int, tuple[int, ...]]
    above: Mapping[int, tuple[int, ...]]
    outside: tuple[int, ...]
    parts_first: bool
    sums_out_later: bool


def block(graph: FactorGraph, members: Sequence[int], parts_first: bool = False) -> Block:
    """Return a plan for drawing some free variables together.

    Deterministic factors come first into the forest. A whole is easily cut into parts, so what a
    factor determines is drawn early, unless the message about it is beyond reach.

    Args:
        graph: Factors and evidence.
        members: Positions of free variables.
        parts_first: Whether to draw determined variables after those that determine them.

    Cost: Linear in the factors of the members; quadratic in the members with parts first.
    """
    inside = set(members)
    inner_of = {f: _inner(graph, f, inside) for f in _factors_of(graph, members)}
    shared = [f for f, inner in inner_of.items() if len(inner) > 1]
    forest = _forest(graph, shared, inner_of)
    entry_of: dict[int, int] = {}
    if parts_first:
        order = _determined_last(graph, members, inner_of)
    else:
        order, entry_of = _walk(_roots(graph, members), forest, inner_of)
    rank = {variable: n for n, variable in enumerate(order)}
    below: dict[int, list[int]] = {variable: [] for variable in order}
    above: dict[int, list[int]] = {variable: [] for variable in order}
    for f, inner in inner_of.items():
        if len(inner) == 1:
            below[inner[0]].append(f)
        elif f in forest:
            for variable in inner:
                (below if variable == entry_of.get(f) else above)[variable].append(f)
        else:
            above[max(inner, key=rank.__getitem__)].append(f)
    around = {graph.positions[v] for f in inner_of for v in graph.factors[f].variables} - inside
    return Block(
        tuple(order),
        {variable: tuple(factors) for variable, factors in below.items()},
        {variable: tuple(factors) for variable, factors in above.items()},
        tuple(sorted(around)),
        parts_first,
        sums_out_later=len(forest) == len(shared) and not parts_first,
    )


def linked_blocks(graph: FactorGraph, together: Sequence[Sequence[str]] = ()) -> list[Block]:
    """Return blocks for all free variables that deterministic factors, or the caller, link.

    Variables that are linked without a cycle make one block. Where cycles run through them, there
    are several that overlap: for each variable, and for each linking group, the block of those that
    have to move for it to move.

    Args:
        graph: Factors and evidence.
        together: Names of variables to link besides.

    Raises:
        KeyError: A name is that of no variable.
    """
    free = set(graph.free)
    named = [[graph.positions[graph.variable(name)] for name in group] for group in together]
    linking = [f for f, factor in enumerate(graph.factors) if factor.determined is not None]
    groups = [_inner(graph, f, free) for f in linking]
    groups += [tuple(v for v in group if v in free) for group in named]
    sets = DisjointSets(len(graph.variables))
    for group in groups:
        for variable in group[1:]:
            sets.merge(group[0], variable)
    components: dict[int, list[int]] = {}
    for variable in graph.free:
        components.setdefault(sets.root(variable), []).append(variable)
    blocks: list[Block] = []
    for members in components.values():
        if len(members) == 1:
            continue
        whole = block(graph, members)
        if whole.sums_out_later:
            blocks.append(whole)
            continue
        seeds = [group for group in groups if group and group[0] in members]
        seeds += [(member,) for member in members]
        closures = dict.fromkeys(_closure(graph, seed, free) for seed in seeds)
        blocks += [block(graph, closure) for closure in closures if len(closure) > 1]
    return blocks


def _factors_of(graph: FactorGraph, members: Sequence[int]) -> list[int]:
    edges = (edge for member in members for edge in graph.edges_of_variable[member])
    return list(dict.fromkeys(graph.edges[edge].factor for edge in edges))


def _inner(graph: FactorGraph, factor: int, inside: set[int]) -> tuple[int, ...]:
    """Return a factor's variables among those inside."""
    positions = (graph.positions[variable] for variable in graph.factors[factor].variables)
    return tuple(position for position in positions if position in inside)


def _forest(
    graph: FactorGraph, shared: Sequence[int], inner_of: Mapping[int, tuple[int, ...]]
) -> set[int]:
    """Return a largest set of factors without a cycle, deterministic ones first."""
    sets = DisjointSets(len(graph.variables))
    forest = set()
    for f in sorted(shared, key=lambda f: graph.factors[f].determined is None):
        inner = inner_of[f]
        if len({sets.root(variable) for variable in inner}) == len(inner):
            forest.add(f)
            for variable in inner[1:]:
                sets.merge(inner[0], variable)
    return forest


def _roots(graph: FactorGraph, members: Sequence[int]) -> list[int]:
    """Return the members, those first that are determined most and determine least."""
    balance = dict.fromkeys(members, 0)
    for f in _factors_of(graph, members):
        determined = graph.factors[f].determined
        if determined is None:
            continue
        for variable in graph.factors[f].variables:
            position = graph.positions[variable]
            if position in balance:
                balance[position] += 1 if variable == determined else -1
    return sorted(members, key=lambda member: -balance[member])


def _walk(
    roots: Sequence[int], forest: set[int], inner_of: Mapping[int, tuple[int, ...]]
) -> tuple[list[int], dict[int, int]]:
    """Return the variables tree by tree from their roots, and each forest factor's first one."""
    factors_of: dict[int, list[int]] = {root: [] for root in roots}
    for f in sorted(forest):
        for variable in inner_of[f]:
            factors_of[variable].append(f)
    order: dict[int, None] = {}
    entry_of: dict[int, int] = {}
    for root in roots:
        waiting = [] if root in order else [root]
        while waiting:
            variable = waiting.pop()
            order[variable] = None
            for f in factors_of[variable]:
                if f not in entry_of:
                    entry_of[f] = variable
                    waiting += [other for other in reversed(inner_of[f]) if other != variable]
    return list(order), entry_of


def _determined_last(
    graph: FactorGraph, members: Sequence[int], inner_of: Mapping[int, tuple[int, ...]]
) -> list[int]:
    """Return the members in an order in which parts precede wholes, as far as there is one."""
    parts_of: dict[int, set[int]] = {member: set() for member in members}
    for f, inner in inner_of.items():
        determined = graph.factors[f].determined
        if determined is not None and graph.positions[determined] in parts_of:
            whole = graph.positions[determined]
            parts_of[whole] |= set(inner) - {whole}
    order: list[int] = []
    waiting = list(members)
    while waiting:
        ready = (member for member in waiting if not parts_of[member] & set(waiting))
        order.append(next(ready, waiting[0]))
        waiting.remove(order[-1])
    return order


def _closure(graph: FactorGraph, seed: Sequence[int], free: set[int]) -> tuple[int, ...]:
    """Return what has to move with some variables: the wholes, or other parts of fixed ones."""
    members = set(seed)
    waiting = list(seed)
    while waiting:
        variable = waiting.pop()
        for edge in graph.edges_of_variable[variable]:
            f = graph.edges[edge].factor
            determined = graph.factors[f].determined
            if determined is None or graph.variables[variable] == determined:
                continue
            whole = graph.positions[determined]
            moving = (whole,) if whole in free else _inner(graph, f, free)
            waiting += [other for other in moving if other not in members]
            members.update(moving)
    return tuple(sorted(members))
