"""Probabilities of forms among all strings, those that nothing proposes included.

Public names: `listed_probabilities`, `drawn_probabilities`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from fsbp.factors.evidence import MAX_STRINGS
from fsbp.inference.beliefs import Belief
from paradigms.graphs import completion_graph
from paradigms.language import Language
from paradigms.messages import KBEST, MessageUse, hole_beliefs


def listed_probabilities(belief: Belief, log_novelty: float, most: int) -> dict[str, float]:
    """Return the probabilities of the likeliest strings of a belief, best first.

    Args:
        belief: Over the strings that some source proposes.
        log_novelty: Log of the total weight of all other strings (nats).
        most: Strings wanted.
    """
    listed = 1.0 / (1.0 + math.exp(min(log_novelty - belief.log_total, 700.0)))
    return {form: listed * p for form, p in belief.kbest(most)}


def drawn_probabilities(
    holes: Sequence[str], language: Language, messages: MessageUse
) -> dict[str, dict[str, float]]:
    """Return the probabilities of forms of each hole where nothing is given.

    One hole is drawn from what forms look like, P(x), and each other hole from that one:
    P(y) = sum over x of P(x) P(y | x), where P(y | x) is what is inferred if x is given. So what is
    said of a hole does not depend on which others there are, but for the one drawn first.

    Args:
        holes: At least one cell.
        language: That knows all these cells.
        messages: See `paradigms.messages.hole_beliefs`. The sum is over the likeliest forms: with
            exact messages over as many as a rewrite factor takes, otherwise over those that a
            k-best message lists.

    Cost: That of completing a lexeme, for each form summed over.
    """
    lexeme_graph = completion_graph({}, holes, language)
    first = lexeme_graph.drawn
    assert first is not None
    others = [hole for hole in holes if hole != first]
    forms = language.forms.k_best(MAX_STRINGS if messages == "exact" else KBEST.k)
    found: dict[str, dict[str, float]] = {hole: {} for hole in holes}
    for x, log_probability in forms.weight_of.items():
        probability = math.exp(log_probability)
        found[first][x] = probability
        if not others or not x.strip():
            continue
        given = replace(lexeme_graph, graph=lexeme_graph.graph.observe({first: x}))
        beliefs = hole_beliefs(given, others, "exact" if messages == "exact" else "kbest")
        for hole in others:
            novelty = lexeme_graph.log_novelty[hole]
            for y, p in listed_probabilities(beliefs[hole], novelty, MAX_STRINGS).items():
                found[hole][y] = found[hole].get(y, 0.0) + probability * p
    return found
