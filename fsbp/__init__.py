"""String-valued graphical models over weighted finite-state machines.

A `FactorGraph` holds factors over string and finite variables; `infer` passes messages and returns
beliefs and log Z. Log-weights are in nats, and larger is better, everywhere.
"""

from fsbp.alphabet import Alphabet, AlphabetError
from fsbp.contextual_edits import ContextualEdits, EditExample
from fsbp.edit_channel import EditChannel
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.contextual_edit import ContextualEditFactor
from fsbp.factors.edit import EditFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.tempered import TemperedFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import Edge, FactorGraph, spanning_forest
from fsbp.inference.annealing import anneal, tempered_graph
from fsbp.inference.beliefs import Belief
from fsbp.inference.enumeration import Enumeration, enumerate_graph, enumerate_strings
from fsbp.inference.free_energy import (
    FreeEnergy,
    Pseudomarginals,
    TracePoint,
    free_energy,
)
from fsbp.inference.gibbs import Samples, gibbs
from fsbp.inference.plots import plot_trace
from fsbp.inference.propagation import Result, Status, infer
from fsbp.inference.schedules import (
    Schedule,
    StaleQueue,
    forward_backward,
    residual,
    residual_splash,
    sequential,
    spanning_tree,
    synchronous,
)
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram
from fsbp.messages.particle import Particle
from fsbp.ngram_potential import NgramPotential
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
    "ConcatenationFactor",
    "ContextualEditFactor",
    "ContextualEdits",
    "DivergentSumError",
    "Edge",
    "EditChannel",
    "EditExample",
    "EditFactor",
    "Enumeration",
    "Exact",
    "Example",
    "Factor",
    "FactorGraph",
    "FeatureIndex",
    "FreeEnergy",
    "Incoming",
    "KBest",
    "MessageFamily",
    "Ngram",
    "NgramPotential",
    "Opinion",
    "ParamVector",
    "Particle",
    "Potential",
    "Pseudomarginals",
    "Result",
    "RewriteFactor",
    "RewriteModel",
    "Samples",
    "Schedule",
    "Scored",
    "Semiring",
    "StaleQueue",
    "Status",
    "StringPotential",
    "StringTable",
    "SwitchFactor",
    "SymbolCosts",
    "TableFactor",
    "TemperedFactor",
    "TracePoint",
    "TransducerFactor",
    "Variable",
    "anneal",
    "enumerate_graph",
    "enumerate_strings",
    "forward_backward",
    "free_energy",
    "gibbs",
    "infer",
    "plot_trace",
    "residual",
    "residual_splash",
    "sequential",
    "spanning_forest",
    "spanning_tree",
    "synchronous",
    "tempered_graph",
]
