"""Messages and products within bounds: what outgrows them is replaced by its best strings.

Every machine has a bound on its arcs. Where a message, a projection or a product would pass it,
the potentials involved are reduced to the lists that pruning would send, and the log says so. Where
the lists outgrow a bound too, what they stand for is left out, and the log says that as well.

Public names: `bounded_message`, `bounded_projection`, `bounded_product`, `bounded_context`,
`bounded_inner`, `is_shortened`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.factors.base import Factor
from fsbp.messages.base import MessageFamily
from fsbp.messages.kbest import KBest
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.potentials import log_inner, log_total, product
from fsbp.variables import Acceptor, Potential, StringPotential, StringTable, Variable

LOG = logging.getLogger(__name__)


def bounded_message(
    family: MessageFamily,
    factor: Factor,
    target: Variable,
    incoming: Mapping[Variable, Potential],
    semiring: Semiring,
) -> Potential:
    """Return a factor's message; beyond bounds, that of its incoming messages' best strings.

    Args:
        family: Says how many strings replace a machine; with none, the error is raised.
        factor: Whose message.
        target: The variable it goes to.
        incoming: A potential for every other variable of the factor.
        semiring: "sum" or "max".

    Returns:
        The uniform message where even those strings' message outgrows a bound.

    Raises:
        MachineTooLargeError: The message outgrew a bound, and the family allows no lists.
        DivergentSumError: An incoming message without a finite sum has no best strings.

    Cost: That of the factor's `message_to`, and of a k-best search for each machine reduced.
    """
    what = f"the messages to a {type(factor).__name__}"
    try:
        return factor.message_to(target, incoming, semiring)
    except MachineTooLargeError as error:
        _notify(family, what, error)
    try:
        listed = {variable: _listed(family, potential) for variable, potential in incoming.items()}
        return factor.message_to(target, listed, semiring)
    except MachineTooLargeError as error:
        _notify_left_out(what, error)
        return family.uniform(target)


def bounded_projection(
    family: MessageFamily,
    variable: Variable,
    potential: Potential,
    context: Potential,
    rng: np.random.Generator,
) -> Potential:
    """Return a message's projection; beyond bounds, its best strings and those of the context.

    Where even these are too dear to find, the uniform message is returned: in a family of lists the
    message proposes no string, and scores what others propose.

    Args:
        family: Of the messages.
        variable: Whose values the potential weighs.
        potential: What a factor sent.
        context: Where to be close.
        rng: For families that sample.

    Raises:
        MachineTooLargeError: The message outgrew a bound, and the family allows no lists.
        DivergentSumError: The message has no finite sum.
    """
    what = f"a message to {variable.name!r}"
    try:
        return family.project(variable, potential, context, rng)
    except MachineTooLargeError as error:
        _notify(family, what, error)
    try:
        return KBest(family.overflow, math.inf).project(variable, potential, context, rng)
    except MachineTooLargeError as error:
        _notify_left_out(what, error)
        return family.uniform(variable)


def is_shortened(proposal: Potential, message: Potential) -> bool:
    """Return whether a projection leaves out strings that the message has weights for."""
    if isinstance(message, StringTable) and isinstance(proposal, StringTable):
        return len(proposal.strings) < len(message.strings)
    return isinstance(proposal, StringTable)


def bounded_product(
    family: MessageFamily,
    variable: Variable,
    messages: Sequence[Potential],
    rng: np.random.Generator,
) -> Potential:
    """Return the family's product of messages; beyond bounds, over the best strings of each.

    Messages whose best strings are too dear to find propose none, and score those of the others;
    where no message proposes any, the smallest one alone is returned.

    Args:
        family: Of the messages.
        variable: Whose values the messages weigh.
        messages: Any number.
        rng: For families that sample.

    Raises:
        MachineTooLargeError: The product outgrew a bound, and the family allows no lists.
        DivergentSumError: No message has best strings, and one of them no finite sum.
    """
    try:
        return family.product(variable, messages, rng)
    except MachineTooLargeError as error:
        _notify(family, f"the product of the messages to {variable.name!r}", error)
    return _product_over_best(family, variable, messages)


def bounded_context(
    family: MessageFamily, variable: Variable, others: Sequence[Potential]
) -> Potential:
    """Return the family's context of a message; beyond bounds, over the best strings of each.

    Args:
        family: Of the messages.
        variable: Whose values the messages weigh.
        others: Projected messages from the variable's other factors.

    Raises:
        MachineTooLargeError: The context outgrew a bound, and the family allows no lists.
        DivergentSumError: As `bounded_product`.
    """
    try:
        return family.context(variable, others)
    except MachineTooLargeError as error:
        _notify(family, f"the context of a message to {variable.name!r}", error)
    return _product_over_best(family, variable, others)


def bounded_inner(
    family: MessageFamily, variable: Variable, a: Potential, b: Potential, semiring: Semiring
) -> float:
    """Return log sum_x exp(a(x) + b(x)), or the maximum; beyond bounds, over the best x of each.

    Args:
        family: Of the messages.
        variable: Whose values the potentials weigh.
        a: One potential.
        b: Another.
        semiring: "sum" or "max".

    Raises:
        MachineTooLargeError: The product outgrew a bound, and the family allows no lists.
        DivergentSumError: The sum is infinite.
    """
    try:
        if isinstance(a, Acceptor) and isinstance(b, Acceptor):
            return log_total(product([a, b], family.max_arcs), semiring)
        return log_inner(a, b, semiring)
    except MachineTooLargeError as error:
        _notify(family, f"the product of two messages about {variable.name!r}", error)
    return log_total(_product_over_best(family, variable, [a, b]), semiring)


def _product_over_best(
    family: MessageFamily, variable: Variable, messages: Sequence[Potential]
) -> Potential:
    strings = [message for message in messages if isinstance(message, StringPotential)]
    candidates: dict[str, None] = {}
    errors: list[MachineTooLargeError | DivergentSumError] = []
    for message in strings:
        try:
            candidates.update(dict.fromkeys(message.k_best(family.overflow).strings))
        except (MachineTooLargeError, DivergentSumError) as error:
            errors.append(error)
    if not candidates and errors:
        if any(isinstance(error, DivergentSumError) for error in errors):
            raise errors[0]
        _notify_left_out(f"all messages to {variable.name!r} but one", errors[0])
        return min(strings, key=_size)
    listed = tuple(candidates)
    weight_n = np.sum([message.log_weights(listed) for message in strings], axis=0)
    table = StringTable(listed, weight_n)
    return table.subset(np.flatnonzero(weight_n > -np.inf).tolist())


def _size(potential: StringPotential) -> float:
    """Return the number of arcs of a machine; infinite for what is none."""
    return potential.arrays.num_arcs if isinstance(potential, Acceptor) else math.inf


def _listed(family: MessageFamily, potential: Potential) -> Potential:
    """Return a string potential's best strings; finite ones and lists as they are."""
    if not isinstance(potential, StringPotential) or isinstance(potential, StringTable):
        return potential
    return potential.k_best(family.overflow)


def _notify(family: MessageFamily, what: str, error: MachineTooLargeError) -> None:
    """Log that something is reduced to lists.

    Raises:
        MachineTooLargeError: The family allows no lists.
    """
    if family.overflow == 0:
        raise error
    LOG.warning("%s: reduced to the %d best strings of each (%s)", what, family.overflow, error)


def _notify_left_out(what: str, error: Exception) -> None:
    LOG.warning("%s: left out, since their best strings are out of bounds too (%s)", what, error)
