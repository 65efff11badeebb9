"""Transducers: a contextual edit topology with features on its arcs, images and arc counts.

Public names: `EditTopology`, `edit_topology`, `sound_class`, `image`, `preimage`,
`expected_arc_counts_of_transducer`.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pynini
from scipy.sparse import csr_matrix

from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, IntArray, Machine, arrays_to_fst, as_arrays
from fsbp.composition import composed
from fsbp.pathsum import expected_arc_counts

History: TypeAlias = Literal["symbol", "class"]

BEGINNING = "beginning"
COPY, SUBSTITUTE, INSERT, DELETE = range(4)
OPERATIONS = ("copy", "substitute", "insert", "delete")
VOWELS = frozenset("aeiouyæœøıɐɑɒɔəɘɚɛɜɞɤɨɪɯɵɶʉʊʌʏαεηιουωаеиоуыэюяєіѣъ")


def sound_class(symbol: str) -> str:
    """Return "vowel", "letter", "mark" or "other": the class of a symbol's first character.

    Vowels are those of the Latin, Greek and Cyrillic scripts and of the phonetic alphabet,
    whatever their diacritics; every other letter, of any script, is a "letter".

    Args:
        symbol: A non-empty string.

    Cost: O(1).
    """
    first = unicodedata.normalize("NFD", symbol)[0].lower()[0]
    if first in VOWELS:
        return "vowel"
    category = unicodedata.category(first)[0]
    return {"L": "letter", "M": "mark"}.get(category, "other")


class Template(NamedTuple):
    """What a feature sees of an arc beside its operation: "symbol", "class" or nothing.

    Args:
        operations: The operations it applies to.
        source: What it sees of the input symbol.
        target: What it sees of the output symbol.
        previous: What it sees of the output symbol before.
    """

    operations: tuple[int, ...]
    source: str = ""
    target: str = ""
    previous: str = ""


TEMPLATES = (
    Template((COPY, SUBSTITUTE, INSERT, DELETE)),
    Template((COPY, SUBSTITUTE, INSERT, DELETE), "class", "class"),
    Template((COPY, SUBSTITUTE, INSERT, DELETE), "", "", "class"),
    Template((COPY, SUBSTITUTE, INSERT, DELETE), "class", "class", "class"),
    Template((COPY, SUBSTITUTE, DELETE), "symbol"),
    Template((SUBSTITUTE, INSERT), "", "symbol"),
    Template((SUBSTITUTE,), "symbol", "symbol"),
    Template((COPY, SUBSTITUTE, INSERT, DELETE), "", "", "symbol"),
    Template((COPY, SUBSTITUTE, INSERT), "", "symbol", "symbol"),
    Template((DELETE,), "symbol", "", "symbol"),
)


class _Arcs(NamedTuple):
    """The arcs of an edit topology; labels and classes are 0 where there is none."""

    operation: IntArray
    source: IntArray
    target: IntArray
    state: IntArray
    next_state: IntArray


@dataclass(frozen=True, eq=False)
class EditTopology:
    """A contextual edit transducer: its states remember the last output symbol.

    State 0 is the beginning. Where the history is "symbol" every symbol known when features were
    chosen has a state; other symbols, and all of them where the history is "class", share the
    state of their class. Each state copies, substitutes, inserts and deletes every symbol; every
    state is final with log-weight 0. Build one with `edit_topology`.

    Args:
        alphabet: The symbols of input and output.
        classes: The class of each symbol.
        history: "symbol" or "class".
        num_known: Symbols 1 to this number have features of their own.
        feature_names: F names, the order of the parameter vector.
        features_af: Sparse float64[A, F], 1 where an arc has a feature.
        skeleton: The arcs, with log-weight 0.
    """

    alphabet: Alphabet
    classes: tuple[str, ...]
    history: History
    num_known: int
    feature_names: tuple[str, ...]
    features_af: csr_matrix
    skeleton: ArcArrays

    def arrays(self, theta: FloatArray) -> ArcArrays:
        """Return the transducer with arc log-weights features_af @ theta.

        Args:
            theta: float64[F], nats.

        Cost: O(number of features on all arcs).
        """
        log_weight_a: FloatArray = self.features_af @ theta
        return self.skeleton.with_log_weights(log_weight_a)

    def fst(self, theta: FloatArray) -> pynini.Fst:
        """Return `arrays(theta)` as a log64 machine.

        Args:
            theta: float64[F], nats.

        Cost: O(number of features on all arcs).
        """
        return arrays_to_fst(self.arrays(theta))

    def theta(self, weights: Mapping[str, float]) -> FloatArray:
        """Return float64[F], the parameters with the given values and zero elsewhere.

        Args:
            weights: Feature name to log-weight, nats.

        Raises:
            KeyError: A name is not one of `feature_names`.

        Cost: O(F).
        """
        index = {name: f for f, name in enumerate(self.feature_names)}
        theta = np.zeros(len(index))
        for name, weight in weights.items():
            theta[index[name]] = weight
        return theta

    def expected_features(self, counts_a: FloatArray) -> FloatArray:
        """Return float64[F], the counts of features given the counts of arcs.

        Args:
            counts_a: float64[A].

        Cost: O(number of features on all arcs).
        """
        result: FloatArray = self.features_af.T @ counts_a
        return result

    def extended(
        self, alphabet: Alphabet, class_of: Callable[[str], str] = sound_class
    ) -> "EditTopology":
        """Return the topology over a larger alphabet, with the same parameters.

        New symbols get arcs whose only features are those shared with other symbols: the
        operation and the classes.

        Args:
            alphabet: An extension of this one's (`Alphabet.extended`).
            class_of: The class of a new symbol.

        Raises:
            ValueError: The alphabet does not begin with the symbols of this one.

        Cost: That of `edit_topology`.
        """
        size = len(self.alphabet)
        if alphabet.symbols[:size] != self.alphabet.symbols:
            raise ValueError("the alphabet must extend the topology's: use Alphabet.extended")
        added = tuple(class_of(symbol) for symbol in alphabet.symbols[size:])
        return _topology(
            alphabet, self.classes + added, self.history, self.num_known, self.feature_names
        )


def edit_topology(
    alphabet: Alphabet,
    class_of: Callable[[str], str] = sound_class,
    history: History = "symbol",
) -> EditTopology:
    """Return the contextual edit transducer of an alphabet, with back-off features on its arcs.

    A feature sees the operation and, by `TEMPLATES`, the input, the output and the output before
    as a symbol, as a class, or not at all. In a feature's name symbols are quoted and classes are
    not: "substitute 'a' > 'b'", "insert > vowel after letter".

    Args:
        alphabet: The symbols of input and output, K of them.
        class_of: The class of a symbol: a word, not "beginning".
        history: Whether states remember the last output symbol or only its class.

    Raises:
        ValueError: A class is not a word, or is "beginning".

    Cost: O(K^3) arcs for "symbol", O(K^2 * classes) for "class".
    Source: Dreyer, Smith and Eisner (2008), "Latent-variable modeling of string transductions
        with finite-state methods"; Cotterell, Peng and Eisner (2014), "Stochastic contextual edit
        distance and probabilistic FSTs".
    """
    classes = tuple(class_of(symbol) for symbol in alphabet.symbols)
    return _topology(alphabet, classes, history, len(alphabet), None)


def _topology(
    alphabet: Alphabet,
    classes: tuple[str, ...],
    history: History,
    num_known: int,
    feature_names: tuple[str, ...] | None,
) -> EditTopology:
    class_names = (BEGINNING, *sorted(set(classes)))
    if BEGINNING in classes or not all(name.isidentifier() for name in class_names):
        raise ValueError(f"classes must be words other than {BEGINNING!r}, not {class_names[1:]}")
    class_of_label = np.array([0] + [class_names.index(name) for name in classes], dtype=np.int32)
    labels = np.arange(1, len(alphabet) + 1, dtype=np.int32)
    own = num_known if history == "symbol" else 0
    shared, offset = np.unique(class_of_label[own + 1 :], return_inverse=True)
    state_of_label = np.concatenate(([0], labels[:own], own + 1 + offset)).astype(np.int32)
    symbol_of_state = np.concatenate(([0], labels[:own], np.zeros(len(shared)))).astype(np.int32)
    class_of_state = np.concatenate((class_of_label[: own + 1], shared)).astype(np.int32)
    arcs = _edit_arcs(len(alphabet), state_of_label, len(symbol_of_state))
    seen = {
        "source": {"symbol": arcs.source, "class": class_of_label[arcs.source]},
        "target": {"symbol": arcs.target, "class": class_of_label[arcs.target]},
        "previous": {
            "symbol": symbol_of_state[arcs.state],
            "class": class_of_state[arcs.state] + 1,
        },
    }
    words = {
        "symbol": ("", *(repr(symbol) for symbol in alphabet.symbols[:num_known])),
        "class": class_names,
    }
    entries = [_features(template, arcs.operation, seen, words) for template in TEMPLATES]
    if feature_names is None:
        feature_names = tuple(name for _, _, names in entries for name in names)
    skeleton = ArcArrays(
        0, np.zeros(len(symbol_of_state)), arcs.state, arcs.source, arcs.target, arcs.next_state,
        np.zeros(len(arcs.state)),
    )  # fmt: skip
    features_af = _feature_matrix(entries, feature_names, skeleton.num_arcs)
    return EditTopology(alphabet, classes, history, num_known, feature_names, features_af, skeleton)


def _edit_arcs(num_symbols: int, state_of_label: IntArray, num_states: int) -> _Arcs:
    """Return all arcs, by source state, then input, then output."""
    label = np.arange(num_symbols + 1, dtype=np.int32)
    grid = np.meshgrid(np.arange(num_states, dtype=np.int32), label, label, indexing="ij")
    state, source, target = (axis.ravel() for axis in grid)
    kept = (source > 0) | (target > 0)
    state, source, target = state[kept], source[kept], target[kept]
    operation = np.where(source == target, COPY, SUBSTITUTE)
    operation = np.where(source == 0, INSERT, np.where(target == 0, DELETE, operation))
    next_state = np.where(target == 0, state, state_of_label[target])
    return _Arcs(operation.astype(np.int32), source, target, state, next_state.astype(np.int32))


def _features(
    template: Template,
    operation_a: IntArray,
    seen: Mapping[str, Mapping[str, IntArray]],
    words: Mapping[str, tuple[str, ...]],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], list[str]]:
    """Return (arcs that have a feature of the template, its number within it, their names)."""
    applies = np.isin(operation_a, template.operations)
    columns = [operation_a]
    for side in ("source", "target", "previous"):
        level = getattr(template, side)
        column = seen[side][level] if level else np.zeros_like(operation_a)
        if level == "symbol":
            applies &= (column > 0) & (column < len(words["symbol"]))
        columns.append(column)
    arcs = np.flatnonzero(applies)
    keys, number = np.unique(np.stack(columns, axis=1)[arcs], axis=0, return_inverse=True)
    return arcs, number.reshape(-1), [_name(template, key, words) for key in keys.tolist()]


def _name(template: Template, key: list[int], words: Mapping[str, tuple[str, ...]]) -> str:
    operation, source, target, previous = key
    parts = [OPERATIONS[operation]]
    if template.source and source:
        parts.append(words[template.source][source])
    if template.source or template.target:
        parts.append(">")
    if template.target and target:
        parts.append(words[template.target][target])
    if template.previous:
        shift = 1 if template.previous == "class" else 0
        parts += ["after", words[template.previous][previous - shift]]
    return " ".join(parts)


def _feature_matrix(
    entries: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], list[str]]],
    feature_names: tuple[str, ...],
    num_arcs: int,
) -> csr_matrix:
    """Return float64[A, F]; features that have no name in the list are left out."""
    index = {name: f for f, name in enumerate(feature_names)}
    rows, columns = [], []
    for arcs, number, names in entries:
        column_n = np.array([index.get(name, -1) for name in names], dtype=np.intp)
        column_a = column_n[number] if names else number
        rows.append(arcs[column_a >= 0])
        columns.append(column_a[column_a >= 0])
    row, column = np.concatenate(rows), np.concatenate(columns)
    return csr_matrix((np.ones(len(row)), (row, column)), shape=(num_arcs, len(feature_names)))


def image(transducer: Machine, acceptor: Machine, max_arcs: int) -> pynini.Fst:
    """Return the acceptor of outputs: log sum over x of exp(acceptor(x) + transducer(x, y)).

    Args:
        transducer: Any machine.
        acceptor: Acceptor over the transducer's input labels.
        max_arcs: The largest number of arcs to build.

    Returns:
        An acceptor with epsilons where the transducer deletes.

    Raises:
        MachineTooLargeError: The product has more arcs; it is never built.

    Cost: O(arcs built x log(arcs per state)).
    Source: `fsbp.composition.composed`.
    """
    return arrays_to_fst(composed(acceptor, transducer, max_arcs).projected("output"))


def preimage(transducer: Machine, acceptor: Machine, max_arcs: int) -> pynini.Fst:
    """Return the acceptor of inputs: log sum over y of exp(transducer(x, y) + acceptor(y)).

    Args:
        transducer: Any machine.
        acceptor: Acceptor over the transducer's output labels.
        max_arcs: The largest number of arcs to build.

    Returns:
        An acceptor with epsilons where the transducer inserts.

    Raises:
        MachineTooLargeError: The product has more arcs; it is never built.

    Cost: O(arcs built x log(arcs per state)).
    Source: `fsbp.composition.composed`.
    """
    return arrays_to_fst(composed(transducer, acceptor, max_arcs).projected("input"))


def expected_arc_counts_of_transducer(
    transducer: Machine, in_acceptor: Machine, out_acceptor: Machine, max_arcs: int
) -> FloatArray:
    """Return float64[A], how often each arc of a transducer is taken between two acceptors.

    The expectation is under p(path) proportional to exp(in(x) + path + out(y)), so it is the
    derivative of the log total of in o transducer o out in the arcs' log-weights. Each arc writes
    its own number; the numbers, read as the arcs' output labels, meet the second acceptor.

    Args:
        transducer: Any machine; counts follow the order of its arcs (`fst_to_arrays`).
        in_acceptor: Acceptor over its input labels.
        out_acceptor: Acceptor over its output labels.
        max_arcs: The largest number of arcs of either product.

    Raises:
        MachineTooLargeError: A product has more arcs.
        DivergentSumError: The sum over paths is infinite.
        ValueError: No pair of strings has positive weight.

    Cost: O(arcs of the products x log(arcs per state)), plus that of `expected_arc_counts`.
    Source: Eisner (2002), "Parameter estimation for probabilistic finite-state transducers",
        without the expectation semiring.
    """
    arcs = as_arrays(transducer)
    number_a = np.arange(1, arcs.num_arcs + 1, dtype=np.int32)
    numbered = replace(arcs, olabel_a=number_a)
    taken = composed(in_acceptor, numbered, max_arcs).projected("output")
    written = np.concatenate(([0], arcs.olabel_a)).astype(np.int32)
    paths = composed(replace(taken, olabel_a=written[taken.ilabel_a]), out_acceptor, max_arcs)
    counts = np.bincount(
        paths.ilabel_a, weights=expected_arc_counts(paths), minlength=arcs.num_arcs + 1
    )
    return counts[1:].astype(np.float64)
