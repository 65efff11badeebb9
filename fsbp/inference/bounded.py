"""Messages and products within bounds: what outgrows them is replaced by its best strings.

Every machine has a bound on its arcs. Where a message, a projection or a product would pass it,
the potentials involved are reduced to the lists that pruning would send, and the log says so.

Public names: `bounded_message`, `bounded_projection`, `bounded_product`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.factors.base import Factor
from fsbp.messages.base import MessageFamily
from fsbp.messages.kbest import KBest
from fsbp.pathsum import Semiring
from fsbp.variables import Potential, StringPotential, StringTable, Variable

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

    Raises:
        MachineTooLargeError: The message outgrew a bound, and so it does with lists, or the family
            allows none.
        DivergentSumError: An incoming message without a finite sum has no best strings.

    Cost: That of the factor's `message_to`, and of a k-best search for each machine reduced.
    """
    try:
        return factor.message_to(target, incoming, semiring)
    except MachineTooLargeError as error:
        _notify(family, f"the messages to a {type(factor).__name__}", error)
    listed = {variable: _listed(family, potential) for variable, potential in incoming.items()}
    return factor.message_to(target, listed, semiring)


def bounded_projection(
    family: MessageFamily,
    variable: Variable,
    potential: Potential,
    context: Potential,
    rng: np.random.Generator,
) -> Potential:
    """Return a message's projection; beyond bounds, its best strings and those of the context.

    Where even these are too dear to find, a family of lists gets an empty one: the message
    proposes no string, and scores what others propose.

    Args:
        family: Of the messages.
        variable: Whose values the potential weighs.
        potential: What a factor sent.
        context: Where to be close.
        rng: For families that sample.

    Raises:
        MachineTooLargeError: The message outgrew a bound, and the family allows no lists, or is
            none of lists and the best strings are too dear to find.
        DivergentSumError: The message has no finite sum.
    """
    try:
        return family.project(variable, potential, context, rng)
    except MachineTooLargeError as error:
        _notify(family, f"a message to {variable.name!r}", error)
    try:
        return KBest(family.overflow, math.inf).project(variable, potential, context, rng)
    except MachineTooLargeError:
        uniform = family.uniform(variable)
        if not isinstance(uniform, StringTable):
            raise
        return uniform


def bounded_product(
    family: MessageFamily,
    variable: Variable,
    messages: Sequence[Potential],
    rng: np.random.Generator,
) -> Potential:
    """Return the family's product of messages; beyond bounds, over the best strings of each.

    Args:
        family: Of the messages.
        variable: Whose values the messages weigh.
        messages: Any number.
        rng: For families that sample.

    Raises:
        MachineTooLargeError: The product outgrew a bound, and the family allows no lists.
        DivergentSumError: A message without a finite sum has no best strings.
    """
    try:
        return family.product(variable, messages, rng)
    except MachineTooLargeError as error:
        _notify(family, f"the product of the messages to {variable.name!r}", error)
    strings = [message for message in messages if isinstance(message, StringPotential)]
    lists = (message.k_best(family.overflow).strings for message in strings)
    candidates = tuple(dict.fromkeys(chain.from_iterable(lists)))
    weight_n = np.sum([message.log_weights(candidates) for message in strings], axis=0)
    table = StringTable(candidates, weight_n)
    return table.subset(np.flatnonzero(weight_n > -np.inf).tolist())


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
