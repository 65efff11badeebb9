"""The one bridge between OpenFst machines and numpy arrays, and the sign convention.

Everything above this module speaks log-weights in nats, larger is better; OpenFst's log64
semiring speaks costs. The sign changes here and nowhere else. Numbers cross as bytes, because
weights printed by OpenFst keep only nine significant digits. Public names: `ArcArrays`,
`Machine`, `fst_to_arrays`, `arrays_to_fst`, `as_arrays`, `log_sum_exp`, `compiled`, `FloatArray`,
`IntArray`.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
import pynini
import pywrapfst

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
Function = TypeVar("Function", bound=Callable[..., Any])

NEGATIVE_INFINITY = -np.inf
_MAGIC = 2125659606
_EXPANDED = 1
_CONST_VERSION = 2
_HEADER_TAIL = struct.Struct("<iiQqqq")
_HEADER_HEAD = struct.pack("<ii5si5s", _MAGIC, 5, b"const", 5, b"log64")
_STATE = np.dtype(
    [("final", "<f8"), ("first", "<u4"), ("arcs", "<u4"), ("iepsilons", "<u4"),
     ("oepsilons", "<u4")]
)  # fmt: skip
_ARC = np.dtype(
    {
        "names": ["ilabel", "olabel", "weight", "target"],
        "formats": ["<i4", "<i4", "<f8", "<i4"],
        "offsets": [0, 4, 8, 16],
        "itemsize": 24,
    }
)


def compiled(function: Function) -> Function:
    """Return the function compiled by numba, its machine code cached on disk."""
    return cast(Function, numba.njit(cache=True)(function))


@dataclass(frozen=True, eq=False)
class ArcArrays:
    """A weighted machine as arrays; arcs are sorted by source state.

    Args:
        start: Start state, or -1 for the machine that accepts nothing.
        final_s: float64[S], log-weight of stopping in each state; -inf when it is not final.
        source_a: int32[A], non-decreasing.
        ilabel_a: int32[A], 0 for epsilon.
        olabel_a: int32[A], 0 for epsilon; equal to `ilabel_a` on acceptors.
        target_a: int32[A].
        log_weight_a: float64[A], nats, larger is better.
    """

    start: int
    final_s: FloatArray
    source_a: IntArray
    ilabel_a: IntArray
    olabel_a: IntArray
    target_a: IntArray
    log_weight_a: FloatArray

    @classmethod
    def from_arcs(
        cls,
        start: int,
        final_s: npt.ArrayLike,
        source_a: npt.ArrayLike,
        ilabel_a: npt.ArrayLike,
        olabel_a: npt.ArrayLike,
        target_a: npt.ArrayLike,
        log_weight_a: npt.ArrayLike,
    ) -> "ArcArrays":
        """Return a machine from arcs in any order; the sort by source state is stable.

        Cost: O(S + A log A).
        """
        source = np.asarray(source_a, dtype=np.int32)
        order = np.argsort(source, kind="stable")
        return cls(
            start,
            np.asarray(final_s, dtype=np.float64),
            source[order],
            np.asarray(ilabel_a, dtype=np.int32)[order],
            np.asarray(olabel_a, dtype=np.int32)[order],
            np.asarray(target_a, dtype=np.int32)[order],
            np.asarray(log_weight_a, dtype=np.float64)[order],
        )

    @property
    def num_states(self) -> int:
        """The number of states S."""
        return len(self.final_s)

    @property
    def num_arcs(self) -> int:
        """The number of arcs A."""
        return len(self.source_a)

    def first_arc_s(self) -> IntArray:
        """Return int32[S + 1]: arcs of state s are those from entry s up to entry s + 1.

        Cost: O(S log A).
        """
        states = np.arange(self.num_states + 1, dtype=np.int32)
        return np.searchsorted(self.source_a, states).astype(np.int32)

    def with_log_weights(self, log_weight_a: FloatArray) -> "ArcArrays":
        """Return the same machine with other arc log-weights (float64[A], nats)."""
        return replace(self, log_weight_a=log_weight_a)

    def projected(self, side: Literal["input", "output"]) -> "ArcArrays":
        """Return the acceptor of one side's labels.

        Args:
            side: "input" or "output".

        Cost: O(1).
        """
        labels = self.ilabel_a if side == "input" else self.olabel_a
        return replace(self, ilabel_a=labels, olabel_a=labels)

    def inverted(self) -> "ArcArrays":
        """Return the machine with its input and output labels exchanged.

        Cost: O(1).
        """
        return replace(self, ilabel_a=self.olabel_a, olabel_a=self.ilabel_a)


Machine: TypeAlias = pynini.Fst | ArcArrays


def fst_to_arrays(fst: pynini.Fst) -> ArcArrays:
    """Return the arrays of a machine, bit for bit.

    log_weight = 0 - cost, so that a cost of zero is a log-weight of plus zero.

    Args:
        fst: Any machine with arcs of type log64; symbol tables are dropped.

    Raises:
        ValueError: The arcs are not log64.

    Cost: O(S + A), no Python loop.
    Source: OpenFst's const-fst.h (file version 2, unaligned).
    """
    if fst.arc_type() != "log64":
        raise ValueError(f"arc type {fst.arc_type()!r}: convert the machine to log64 first")
    if fst.input_symbols() is not None or fst.output_symbols() is not None:
        fst = fst.copy().set_input_symbols(None).set_output_symbols(None)
    data = pywrapfst.convert(fst, "const").write_to_string()
    offset = len(_HEADER_HEAD)
    _, _, _, start, num_states, num_arcs = _HEADER_TAIL.unpack_from(data, offset)
    offset += _HEADER_TAIL.size
    states = np.frombuffer(data, _STATE, num_states, offset)
    arcs = np.frombuffer(data, _ARC, num_arcs, offset + states.nbytes)
    return ArcArrays(
        start,
        0.0 - states["final"],
        np.repeat(np.arange(num_states, dtype=np.int32), states["arcs"]),
        np.ascontiguousarray(arcs["ilabel"]),
        np.ascontiguousarray(arcs["olabel"]),
        np.ascontiguousarray(arcs["target"]),
        0.0 - arcs["weight"],
    )


def arrays_to_fst(arrays: ArcArrays) -> pynini.Fst:
    """Return the machine of the arrays, a mutable vector machine with log64 arcs.

    `fst_to_arrays(arrays_to_fst(x))` equals x bit for bit, but for minus zero, which becomes zero.

    Cost: O(S + A), no Python loop.
    Source: OpenFst's const-fst.h (file version 2, unaligned).
    """
    states = np.zeros(arrays.num_states, _STATE)
    first = arrays.first_arc_s()
    states["final"] = 0.0 - arrays.final_s
    states["first"] = first[:-1]
    states["arcs"] = np.diff(first)
    states["iepsilons"] = _epsilons_s(arrays.source_a, arrays.ilabel_a, arrays.num_states)
    states["oepsilons"] = _epsilons_s(arrays.source_a, arrays.olabel_a, arrays.num_states)
    arcs = np.zeros(arrays.num_arcs, _ARC)
    arcs["ilabel"] = arrays.ilabel_a
    arcs["olabel"] = arrays.olabel_a
    arcs["target"] = arrays.target_a
    arcs["weight"] = 0.0 - arrays.log_weight_a
    tail = _HEADER_TAIL.pack(
        _CONST_VERSION, 0, _EXPANDED, arrays.start, arrays.num_states, arrays.num_arcs
    )
    return pynini.Fst.read_from_string(
        b"".join((_HEADER_HEAD, tail, states.tobytes(), arcs.tobytes()))
    )


def _epsilons_s(source_a: IntArray, label_a: IntArray, num_states: int) -> npt.NDArray[np.intp]:
    return np.bincount(source_a[label_a == 0], minlength=num_states)


def as_arrays(machine: Machine) -> ArcArrays:
    """Return the arrays of a machine, whichever of the two forms it has."""
    return machine if isinstance(machine, ArcArrays) else fst_to_arrays(machine)


def log_sum_exp(x: npt.ArrayLike, axis: int | None = None) -> Any:
    """Return log(sum(exp(x))) along an axis (a float when the axis is None).

    Args:
        x: Log-weights, nats; -inf is an absent term, and the sum of nothing is -inf.
        axis: The axis to sum over; None sums over everything.

    Cost: O(size).
    """
    values = np.asarray(x, dtype=np.float64)
    if axis is None:
        return _log_total(values)
    peak = np.max(values, axis=axis, keepdims=True, initial=NEGATIVE_INFINITY)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    total = np.sum(np.exp(values - shift), axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        result = np.log(total) + shift
    return np.squeeze(result, axis=axis)


def _log_total(values: FloatArray) -> float:
    peak = float(values.max(initial=NEGATIVE_INFINITY))
    if peak == NEGATIVE_INFINITY:
        return peak
    shift = peak if np.isfinite(peak) else 0.0
    return float(np.log(np.exp(values - shift).sum()) + shift)
