"""String-valued graphical models over weighted finite-state machines.

A `FactorGraph` holds factors over string and finite variables; `infer` passes messages and returns
beliefs and log Z. Log-weights are in nats, and larger is better, everywhere.
"""

from fsbp.alphabet import Alphabet, AlphabetError
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import Edge, FactorGraph, spanning_forest
from fsbp.inference.beliefs import Belief
from fsbp.inference.enumeration import Enumeration, enumerate_graph, enumerate_strings
from fsbp.inference.propagation import Result, Status, infer
from fsbp.inference.schedules import Schedule, residual, sequential, synchronous
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.opinions import Opinion
from fsbp.params import FeatureIndex, ParamVector
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.rewrite_model import Example, RewriteModel
from fsbp.rewrites import SymbolCosts
from fsbp.variables import (
    Acceptor,
    Potential,
    Scored,
    StringPotential,
    StringTable,
    Variable,
)

__all__ = [
    "Acceptor",
    "AcceptorFactor",
    "Alphabet",
    "AlphabetError",
    "Assignment",
    "Belief",
    "DivergentSumError",
    "Edge",
    "Enumeration",
    "Exact",
    "Example",
    "Factor",
    "FactorGraph",
    "FeatureIndex",
    "Incoming",
    "KBest",
    "MessageFamily",
    "Opinion",
    "ParamVector",
    "Potential",
    "Result",
    "RewriteFactor",
    "RewriteModel",
    "Schedule",
    "Scored",
    "Semiring",
    "Status",
    "StringPotential",
    "StringTable",
    "SwitchFactor",
    "SymbolCosts",
    "TableFactor",
    "TransducerFactor",
    "Variable",
    "enumerate_graph",
    "enumerate_strings",
    "infer",
    "residual",
    "sequential",
    "spanning_forest",
    "synchronous",
]
