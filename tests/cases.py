"""One row per factor and per message family; the contract tests run over these tables."""

from __future__ import annotations

import importlib
import math
import pkgutil
from dataclasses import dataclass

import numpy as np

import fsbp
from fsbp.acceptors import intersection, table_acceptor, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.contextual_edits import ContextualEdits, EditExample
from fsbp.edit_channel import EditChannel
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.contextual_edit import ContextualEditFactor
from fsbp.factors.edit import EditFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.tempered import TemperedFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.inference.enumeration import enumerate_strings
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram
from fsbp.messages.particle import Particle
from fsbp.ngrams import ngram_acceptor
from fsbp.opinions import Opinion
from fsbp.rewrite_model import Example, RewriteModel
from fsbp.rewrites import SymbolCosts
from fsbp.transducers import EditTopology, edit_topology
from fsbp.variables import Acceptor, Potential, StringTable, Variable

ALPHABET = Alphabet(("a", "b"))
MAX_LENGTH = 3
STRINGS = enumerate_strings(ALPHABET, MAX_LENGTH)
TOPOLOGY = edit_topology(ALPHABET)
REWRITES = RewriteModel.from_examples(
    [
        Example("a", "ab", 2.0),
        Example("ba", "bab"),
        Example("ab", "aa"),
        Example("bba", "b", 0.5),
    ],
    SymbolCosts(frozenset("a")),
)
EDITS = ContextualEdits.from_examples(
    [EditExample("a", "ab", ("x",)), EditExample("ba", "bab"), EditExample("bab", "a", ("x", "y"))],
    SymbolCosts(frozenset("a")),
    passes=2,
)

S, T = Variable("S", ALPHABET), Variable("T", ALPHABET)
COLOUR = Variable("colour", ("red", "green", "blue"))
FLAG = Variable("flag", ("no", "yes"))


def random_machine(rng: np.random.Generator) -> Acceptor:
    """Return a machine over the strings of at most three symbols, several paths per string."""
    caps = universe_acceptor(len(ALPHABET), MAX_LENGTH)
    labels = [ALPHABET.labels(text) for text in (*STRINGS, *STRINGS)]
    return Acceptor(
        intersection(table_acceptor(labels, rng.normal(size=len(labels))), caps, 10_000), ALPHABET
    )


def random_table(rng: np.random.Generator, floor: float = -math.inf) -> StringTable:
    """Return a table of some of the strings of at most three symbols."""
    count = int(rng.integers(1, len(STRINGS)))
    strings = tuple(rng.choice(np.array(STRINGS), size=count, replace=False).tolist())
    return StringTable(strings, rng.normal(size=count), floor)


def random_opinion(rng: np.random.Generator) -> Opinion:
    """Return a tempered bigram acceptor, without a finite sum."""
    samples = [ALPHABET.labels(text) for text in rng.choice(np.array(STRINGS), size=4).tolist()]
    acceptor = Acceptor(ngram_acceptor(samples, len(ALPHABET), 2), ALPHABET)
    return Opinion.tempered(acceptor, 0.5, 1.0)


def random_potential(variable: Variable, rng: np.random.Generator) -> Potential:
    """Return a potential with finite support: a machine, a table, or a finite log table."""
    if not variable.is_string:
        return rng.normal(size=len(variable.values))
    return random_machine(rng) if rng.random() < 0.5 else random_table(rng)


def transducer_factor(
    source: Variable,
    target: Variable,
    rng: np.random.Generator,
    topology: EditTopology = TOPOLOGY,
) -> TransducerFactor:
    """Return an edit transducer that copies more than it edits, so that all sums are finite."""
    weights = rng.normal(scale=0.3, size=len(topology.feature_names)) - 0.4
    weights += topology.theta({"insert": -1.5, "delete": -1.5})
    return TransducerFactor(source, target, topology, weights)


def switch_of_acceptors(
    selector: Variable, string: Variable, rng: np.random.Generator
) -> SwitchFactor:
    """Return a switch between two opinions on one string."""
    branches = (
        AcceptorFactor(string, random_machine(rng)),
        AcceptorFactor(string, random_table(rng)),
    )
    branch_of = tuple(int(b) for b in rng.integers(0, 2, size=len(selector.values)))
    return SwitchFactor(selector, branches, branch_of)


def switch_of_transducers(
    selector: Variable, source: Variable, target: Variable, rng: np.random.Generator
) -> SwitchFactor:
    """Return a switch between two relations of the same two strings."""
    branches = tuple(transducer_factor(source, target, rng) for _ in range(2))
    branch_of = tuple(int(b) for b in rng.integers(0, 2, size=len(selector.values)))
    return SwitchFactor(selector, branches, branch_of)


def table_factor(variables: tuple[Variable, ...], rng: np.random.Generator) -> TableFactor:
    """Return a random table, one entry in eight forbidden."""
    log_table = rng.normal(size=[len(variable.values) for variable in variables])
    log_table[rng.random(log_table.shape) < 0.125] = -np.inf
    return TableFactor(variables, log_table)


@dataclass(frozen=True)
class FactorCase:
    """A factor to which the contract applies.

    Args:
        name: Of the test.
        factor: An instance.
        max_length: Length up to which its messages are compared with enumeration.
    """

    name: str
    factor: Factor
    max_length: int = MAX_LENGTH


@dataclass(frozen=True)
class FamilyCase:
    """A message family to which the contract applies.

    Args:
        name: Of the test.
        family: An instance.
        is_exact: Whether projection is the identity, so that trees are exact.
        keeps_weights: Whether the strings a projection lists have the potential's weights; n-gram
            models keep expected counts instead.
    """

    name: str
    family: MessageFamily
    is_exact: bool
    keeps_weights: bool = True


def _factor_cases() -> list[FactorCase]:
    rng = np.random.default_rng(20)
    return [
        FactorCase("acceptor-machine", AcceptorFactor(S, random_machine(rng))),
        FactorCase("acceptor-table", AcceptorFactor(S, random_table(rng))),
        FactorCase("acceptor-opinion", AcceptorFactor(S, random_opinion(rng))),
        FactorCase("transducer", transducer_factor(S, T, rng)),
        FactorCase(
            "transducer-class-history",
            transducer_factor(S, T, rng, edit_topology(ALPHABET, history="class")),
        ),
        FactorCase("concatenation", ConcatenationFactor((S, T), Variable("W", ALPHABET))),
        FactorCase("edit", EditFactor(S, T, EditChannel.uniform(ALPHABET, 0.1, 0.2, 0.3))),
        FactorCase("rewrite", RewriteFactor(S, T, REWRITES, 1.3)),
        FactorCase("rewrite-negative", RewriteFactor(S, T, REWRITES, -0.7, floor=0.1)),
        FactorCase("contextual-edit", ContextualEditFactor(S, T, EDITS, ("x",), 1.3)),
        FactorCase("contextual-edit-negative", ContextualEditFactor(S, T, EDITS, (), -0.7)),
        FactorCase("tempered-transducer", TemperedFactor(transducer_factor(S, T, rng), 0.4)),
        FactorCase("table-unary", TableFactor((COLOUR,), rng.normal(size=3))),
        FactorCase("table-binary", TableFactor((COLOUR, FLAG), rng.normal(size=(3, 2)))),
        FactorCase(
            "table-ternary",
            TableFactor((FLAG, COLOUR, Variable("other", ("x", "y"))), rng.normal(size=(2, 3, 2))),
        ),
        FactorCase("table-wide-range", TableFactor((COLOUR, FLAG), 900 * rng.normal(size=(3, 2)))),
        FactorCase("switch-acceptors", switch_of_acceptors(COLOUR, S, rng)),
        FactorCase("switch-transducers", switch_of_transducers(COLOUR, S, T, rng)),
        FactorCase(
            "switch-tables",
            SwitchFactor(
                FLAG,
                tuple(TableFactor((COLOUR,), rng.normal(size=3)) for _ in range(2)),
                (1, 0),
            ),
        ),
    ]


FACTOR_CASES = _factor_cases()
FAMILY_CASES = [
    FamilyCase("exact", Exact(), is_exact=True),
    FamilyCase("kbest-all", KBest(k=len(STRINGS), backoff=math.inf), is_exact=False),
    FamilyCase("kbest-two", KBest(k=2), is_exact=False),
    FamilyCase("ngram-full", Ngram(MAX_LENGTH + 2), is_exact=False, keeps_weights=False),
    FamilyCase("ngram-two", Ngram(2), is_exact=False, keeps_weights=False),
    FamilyCase("ngram-adaptive", Ngram("adaptive"), is_exact=False, keeps_weights=False),
    FamilyCase("particles", Particle(3), is_exact=False),
]


def concrete_subclasses(base: type) -> set[type]:
    """Return all subclasses that can be instantiated, from every module of the library."""
    for module in pkgutil.walk_packages(fsbp.__path__, "fsbp."):
        importlib.import_module(module.name)
    found, stack = set(), [base]
    while stack:
        for subclass in stack.pop().__subclasses__():
            stack.append(subclass)
            if not subclass.__abstractmethods__ and subclass.__module__.startswith("fsbp."):
                found.add(subclass)
    return found
