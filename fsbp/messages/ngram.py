"""Messages as n-gram models: expectation propagation over strings.

Public names: `Ngram`, `Order`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Literal, TypeAlias, cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError, without_parallel_arcs
from fsbp.alphabet import Alphabet, common_alphabet
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.floors import Weighed, weighed_ngram_counts, weighed_table
from fsbp.history_growth import coarser_counts, grown_automaton, longer_histories
from fsbp.messages.base import MessageFamily
from fsbp.ngram_potential import (
    NgramPotential,
    common_refinement,
    history_map,
    on_common_refinement,
    sum_of_ngrams,
)
from fsbp.ngrams import (
    HistoryAutomaton,
    NoMassError,
    full_history_automaton,
    history_automaton,
    tilted_ngram_counts,
)
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import MAX_ARCS, coarsened, difference
from fsbp.powered import Powered
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable

Order: TypeAlias = int | Literal["adaptive"]

GROWTH_VISITS = 3
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Ngram(MessageFamily):
    """Messages whose log-weights are sums of n-gram weights.

    A message mu is approximated where its context c, the product of the variable's other messages,
    has its mass: q = argmin KL(mu c || q) over the n-gram models with one row per history, which
    has the expected n-gram counts of mu c, and the message is q / c, scaled so that
    the total of mu c is kept. Rows with hardly any expected count lean on those of the present
    belief, so no string is ever forbidden. Nothing is lost where the histories tell enough apart.

    So messages that contradict each other never meet in a belief without mass: the belief sinks
    round after round, as it does on its way to what is merely improbable, and no total tells the
    two apart. Propagation therefore looks for contradictions beforehand, in the sets of strings
    that the factors allow (`fsbp.inference.contradictions`, with the proof).

    Where mu c has no finite sum, `updated` raises, and propagation keeps the previous message until
    the context changes. Tables have their floor in c; where all messages come from such tables,
    sums run over what these list (`fsbp.floors`). Alphabets grow by the symbols of messages. A mu
    that no machine carries, or one whose product with c passes `max_arcs`, is replaced by the best
    strings of both; where these outgrow a bound too, the previous message stays. The log says so.

    Args:
        order: n, for histories of up to n - 1 symbols, or "adaptive": histories grow while they pay
            the penalty for their arcs.
        penalty: Nats per arc that a new history must save per string (adaptive order only).
        max_order: The largest n (adaptive order only).
        candidates: N-grams tried at each growth (adaptive order only).
        smoothing: Expected count that the belief's row is worth in a new row, and that symbols have
            of which a message does not know; 1e-9 moves expected counts by less than 1e-6.
        max_states: Bound on the histories of a message. A fixed order is lowered until it fits,
            with a notice in the log; an adaptive one stops growing.
        max_arcs: Bound on every machine that a projection builds.
        overflow: Best strings that replace a message beyond `max_arcs`; 0 raises instead.
        blocks: For finite variables whose messages are coarsened, the block of each value: messages
            are constant within a block. Others are left alone.

    Source: Minka (2001), "Expectation propagation for approximate Bayesian inference"; Cotterell
        and Eisner (2015), "Penalized expectation propagation for graphical models over strings".
    """

    order: Order = 2
    penalty: float = 0.02
    max_order: int = 4
    candidates: int = 60
    smoothing: float = 1e-9
    max_states: int = 2_000
    max_arcs: int = MAX_ARCS
    overflow: int = 100
    blocks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    iterates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check orders and penalties.

        Raises:
            ValueError: An order is not positive, or smoothing or penalty are negative.
        """
        order = self.max_order if self.order == "adaptive" else self.order
        if order < 1 or self.smoothing < 0.0 or self.penalty < 0.0:
            raise ValueError(
                f"order {order}, smoothing {self.smoothing}, penalty {self.penalty}: the order "
                "must be at least 1, the others at least 0"
            )

    def every_string(self, alphabet: Alphabet) -> NgramPotential:
        """Return the n-gram model of the fewest histories, all weights 0."""
        smallest = _complete(len(alphabet), 1) if self.order == 1 else _empty(len(alphabet))
        return NgramPotential.uniform(smallest, alphabet)

    def project(
        self, variable: Variable, potential: Potential, context: Potential, rng: np.random.Generator
    ) -> Potential:
        """Return the n-gram message nearest to a potential in a context.

        Raises:
            DivergentSumError: Potential times context has no finite sum.

        Cost: That of `tilted_ngram_counts`, twice for adaptive orders.
        """
        return self.updated(variable, potential, context, self.uniform(variable), 0)

    def updated(
        self,
        variable: Variable,
        potential: Potential,
        context: Potential,
        previous: Potential,
        visits: int,
    ) -> Potential:
        """Return the message that replaces a previous one.

        Args:
            variable: Whose values the potential weighs.
            potential: What a factor sent.
            context: The product of the variable's other messages.
            previous: The present message; with the context it makes the present belief.
            visits: How often the message was replaced before; histories grow in the first three.

        Raises:
            DivergentSumError: Potential times context has no finite sum.

        Cost: That of `project`.
        """
        if not isinstance(potential, StringPotential):
            return self._coarsened(variable, potential, cast(FloatArray, context))
        others, before = (_as_ngrams(p, variable) for p in (context, previous))
        try:
            sent = self._carried(variable, potential, others)
        except MachineTooLargeError as error:
            return self._kept(variable, before, error)
        if isinstance(sent, NgramPotential) and self._holds(sent):
            held = on_common_refinement([sent, others, before])[0]
            return replace(held, unseen=min(held.unseen, self._unseen(held)), tables=())
        if isinstance(sent, StringTable) and not sent.strings:
            return _floor_alone(sent.floor, before)
        machine, others, present = self._over_one_alphabet(variable, sent, others, before)
        try:
            counts_hs, total = self._counts(machine, others)
            if self.order == "adaptive" and visits < GROWTH_VISITS:
                others, counts_hs = self._grown(machine, others, counts_hs)
        except NoMassError:
            return _floor_alone(-np.inf, others)
        except MachineTooLargeError as error:
            return self._kept(variable, before, error)
        except DivergentSumError:
            if not any(table.strings for table in before.tables):
                raise
            return _floor_alone(before.tables[0].floor, before)
        present = present.refined(others.automaton)
        matched = self._matched(counts_hs, sum_of_ngrams([others, present]))
        message = matched.minus(others).shifted(total)
        if isinstance(sent, StringTable) and sent.floor > -np.inf:
            return replace(message, unseen=0.0, tables=(sent,))
        return replace(message, unseen=self._unseen(message), tables=())

    def change(self, after: Potential, before: Potential, belief: Potential) -> float:
        """Return by how much a message has changed, in the eyes of the belief.

        sum over histories and symbols of the belief's expected count x |change of the log-weight|;
        the largest change of a log-weight where the belief has no finite sum, or the variable is
        finite. Infinite where the message begins or ceases to rule strings out, since the tables
        with a floor that it meets have other sums then.
        """
        if isinstance(after, NgramPotential) and isinstance(before, NgramPotential):
            if after.is_free != before.is_free:
                return np.inf
            if isinstance(belief, NgramPotential) and belief.is_summable:
                new, old, seen_by = on_common_refinement([after, before, belief])
                new_hs, old_hs = new.log_weight_hs, old.log_weight_hs
                count_hs = seen_by.expected_counts_hs()
                seen = (count_hs > 0.0) & (new_hs != old_hs)
                return float(count_hs[seen] @ np.abs(new_hs[seen] - old_hs[seen]))
        return difference(after, before)

    def _automaton(self, num_symbols: int) -> HistoryAutomaton:
        """Return the histories to begin with."""
        if self.order == "adaptive":
            return _empty(num_symbols)
        order = self.order
        while order > 1 and num_symbols ** (order - 1) > self.max_states:
            order -= 1
        if order < self.order:
            LOG.warning(
                "order %d needs more than %d histories of %d symbols: order %d instead",
                self.order, self.max_states, num_symbols, order,
            )  # fmt: skip
        return _complete(num_symbols, order)

    def _holds(self, potential: NgramPotential) -> bool:
        """Return whether a potential is a member of the family as it is."""
        if self.order == "adaptive":
            return len(potential.automaton.histories) <= self.max_states
        return max(map(len, potential.automaton.histories)) < self.order

    def _carried(
        self, variable: Variable, potential: StringPotential, others: NgramPotential
    ) -> StringTable | NgramPotential | Acceptor:
        """Return a potential as it is or as a machine, or else the list of its best strings.

        Raises:
            MachineTooLargeError: It has no machine within bounds, and its best strings are too dear
                to find.
        """
        if isinstance(potential, StringTable | NgramPotential):
            return potential
        reason = "no machine carries it"
        has_machine = potential.tight if isinstance(potential, Scored) else True
        if has_machine and not isinstance(potential, Powered):
            try:
                return potential.to_acceptor(variable.alphabet)
            except MachineTooLargeError as error:
                reason = str(error)
        return self._listed(potential, others, reason)

    def _over_one_alphabet(
        self,
        variable: Variable,
        sent: StringTable | NgramPotential | Acceptor,
        others: NgramPotential,
        present: NgramPotential,
    ) -> tuple[Weighed, NgramPotential, NgramPotential]:
        """Return message, context and previous message over one alphabet, the latter on histories.

        Where the previous message allowed all symbols, one that does not replaces even draws, so
        that rows without counts have a sum.
        """
        own = variable.alphabet
        own = own.extended(sent.strings) if isinstance(sent, StringTable) else sent.alphabet
        owners = (variable.alphabet, own, others.alphabet, present.alphabet)
        alphabet = common_alphabet(owners)
        others, present = others.over(alphabet), present.over(alphabet)
        if isinstance(sent, StringTable) and sent.floor > -np.inf:
            machine = weighed_table(sent, others)
        else:
            machine = Weighed(sent.to_acceptor(alphabet))
            if present.is_free:
                even_hs = present.log_weight_hs - np.log(len(alphabet) + 1)
                present = replace(present, log_weight_hs=even_hs)
        histories = [others.automaton, present.automaton, self._automaton(len(alphabet))]
        return machine, others.refined(common_refinement(histories)), present

    def _unseen(self, message: NgramPotential) -> float:
        """Return how little symbols outside a message's alphabet weigh: what it has not seen."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.smoothing / (len(message.alphabet) + 1)))

    def _kept(
        self, variable: Variable, previous: NgramPotential, error: MachineTooLargeError
    ) -> NgramPotential:
        """Return the previous message, where even the best strings of a new one are too dear.

        Raises:
            MachineTooLargeError: The family allows no lists.
        """
        if self.overflow == 0:
            raise error
        LOG.warning("a message to %r is kept as it was: %s", variable.name, error)
        return previous

    def _listed(
        self, potential: StringPotential, others: NgramPotential, reason: str
    ) -> StringTable:
        """Return the best strings of a potential, and those of its context, with their weights.

        Raises:
            MachineTooLargeError: The family allows no lists, or the strings are too dear to find.
        """
        if self.overflow == 0:
            raise MachineTooLargeError(reason)
        LOG.warning("a message is reduced to its %d best strings: %s", self.overflow, reason)
        best = potential.k_best(self.overflow)
        if not best.strings or not others.is_summable:
            return best
        candidates = [t for t in others.k_best(self.overflow).strings if t not in best.weight_of]
        weights_n = np.concatenate([best.log_weights_n, potential.log_weights(candidates)])
        table = StringTable((*best.strings, *candidates), weights_n)
        return table.subset(np.flatnonzero(weights_n > -np.inf).tolist())

    def _counts(self, machine: Weighed, others: NgramPotential) -> tuple[FloatArray, float]:
        """Return the expected n-gram counts of message times context, and its log total."""
        return weighed_ngram_counts(machine, others, self._counts_of_machine)

    def _counts_of_machine(
        self, machine: Acceptor, others: NgramPotential
    ) -> tuple[FloatArray, float]:
        context = others.automaton, others.log_weight_hs
        try:
            merged = without_parallel_arcs(machine.arrays)
            return tilted_ngram_counts(merged, *context, self.max_arcs)
        except MachineTooLargeError as error:
            listed = self._listed(machine, others, str(error)).to_acceptor(machine.alphabet)
        return tilted_ngram_counts(listed.arrays, *context, self.max_arcs)

    def _grown(
        self, machine: Weighed, others: NgramPotential, counts_hs: FloatArray
    ) -> tuple[NgramPotential, FloatArray]:
        """Return context and expected counts on an automaton with the histories that pay."""
        automaton = others.automaton
        room = self.max_states - len(automaton.histories)
        number = min(self.candidates, room // self.max_order)
        if number <= 0 or self.max_order == 1:
            return others, counts_hs
        new = longer_histories(automaton, counts_hs, self.max_order - 1, number)
        trial = history_automaton([*automaton.histories, *new], automaton.num_symbols)
        trial_counts_hs, _ = self._counts(machine, others.refined(trial))
        grown = grown_automaton(automaton, trial, trial_counts_hs, self.penalty)
        if grown is automaton:
            return others, counts_hs
        counts_hs = coarser_counts(trial_counts_hs, history_map(grown, trial), len(grown.histories))
        return others.refined(grown), counts_hs

    def _matched(self, counts_hs: FloatArray, belief: NgramPotential) -> NgramPotential:
        """Return the n-gram model with the expected counts, rare rows leaning on the belief's.

        row = (counts + smoothing x the belief's row) / (their sum), in logs: no row underflows.
        """
        with np.errstate(divide="ignore"):
            log_counts_hs, log_smoothing = np.log(counts_hs), np.log(self.smoothing)
        log_rows_hs = np.logaddexp(log_counts_hs, log_smoothing + _log_rows(belief))
        visits_h = log_sum_exp(log_rows_hs, axis=1)
        log_rows_hs -= np.where(visits_h > -np.inf, visits_h, 0.0)[:, None]
        return NgramPotential(belief.automaton, belief.alphabet, log_rows_hs)

    def _coarsened(
        self, variable: Variable, log_table: FloatArray, context: FloatArray
    ) -> FloatArray:
        """Return a table that is constant within a variable's blocks, if it has any."""
        if variable.name not in self.blocks:
            return log_table
        block_v = np.asarray(self.blocks[variable.name])
        if block_v.shape != log_table.shape:
            raise ValueError(
                f"{len(block_v)} blocks for the {len(log_table)} values of {variable.name!r}"
            )
        return coarsened(log_table, context, block_v)


@lru_cache(maxsize=32)
def _complete(num_symbols: int, order: int) -> HistoryAutomaton:
    """Return the full automaton, the same object each time, so that messages share it."""
    return full_history_automaton(num_symbols, order)


@lru_cache(maxsize=32)
def _empty(num_symbols: int) -> HistoryAutomaton:
    return history_automaton((), num_symbols)


def _as_ngrams(potential: Potential, variable: Variable) -> NgramPotential:
    if not isinstance(potential, NgramPotential):
        raise TypeError(
            f"the context of {variable.name!r} is a {type(potential).__name__}: project it first"
        )
    return potential


def _floor_alone(floor: float, previous: NgramPotential) -> NgramPotential:
    """Return the message that gives every string the same weight."""
    uniform = NgramPotential.uniform(previous.automaton, previous.alphabet)
    if floor == -np.inf:
        return replace(uniform, unseen=-np.inf).shifted(-np.inf)
    return replace(uniform, tables=(StringTable((), np.zeros(0), 0.0),)).shifted(floor)


def _log_rows(belief: NgramPotential) -> FloatArray:
    """Return float64[H, K + 1], the belief's log-probabilities; of a divergent one, local ones."""
    if belief.is_summable:
        return belief.log_probs_hs()
    weight_hs = belief.log_weight_hs
    row_h = log_sum_exp(weight_hs, axis=1)
    known_h = row_h > -np.inf
    rows_hs = np.full(weight_hs.shape, -np.log(weight_hs.shape[1]))
    rows_hs[known_h] = weight_hs[known_h] - row_h[known_h, None]
    return rows_hs
