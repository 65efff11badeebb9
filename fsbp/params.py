"""Parameters: named slices of one float64 vector, and features with their positions.

Public names: `FeatureIndex`, `ParamVector`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import BinaryIO
from zipfile import BadZipFile

import numpy as np

from fsbp.arrays import FloatArray

_UNREADABLE = (
    BadZipFile, EOFError, KeyError, NotImplementedError, OSError, ValueError, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class FeatureIndex:
    """A fixed list of feature names with their positions.

    Args:
        names: Distinct feature names.
    """

    names: tuple[str, ...]

    @classmethod
    def from_features(cls, features: Iterable[str]) -> FeatureIndex:
        """Return the index of the distinct features, sorted."""
        return cls(tuple(sorted(set(features))))

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position of each feature."""
        return {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.names)

    def vector(self, values: Mapping[str, float]) -> FloatArray:
        """Return float64[F] with the given values, 0 elsewhere; unknown features are dropped."""
        vector_f = np.zeros(len(self.names))
        for name, value in values.items():
            position = self.positions.get(name)
            if position is not None:
                vector_f[position] = value
        return vector_f


@dataclass(frozen=True, eq=False)
class ParamVector:
    """One float64 vector cut into named, consecutive slices.

    Args:
        names: Distinct slice names, in order.
        sizes: Number of parameters in each slice.
        values: float64[sum of sizes].

    Raises:
        ValueError: The names repeat, or the sizes do not add up to the length of the vector.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    values: FloatArray

    def __post_init__(self) -> None:
        """Check that slices and vector fit."""
        if len(set(self.names)) != len(self.names) or len(self.names) != len(self.sizes):
            raise ValueError("parameter slices need distinct names and one size each")
        if sum(self.sizes) != len(self.values):
            raise ValueError(
                f"slices hold {sum(self.sizes)} parameters, the vector {len(self.values)}"
            )

    @classmethod
    def from_slices(cls, slices: Mapping[str, FloatArray]) -> ParamVector:
        """Return the concatenation of the slices, in the mapping's order."""
        sizes = tuple(len(values) for values in slices.values())
        return cls(tuple(slices), sizes, np.concatenate([*slices.values(), np.zeros(0)]))

    @cached_property
    def bounds(self) -> Mapping[str, slice]:
        """Where each named slice lies in the vector."""
        ends = np.cumsum(self.sizes).tolist()
        return {
            name: slice(end - size, end)
            for name, size, end in zip(self.names, self.sizes, ends, strict=True)
        }

    def __getitem__(self, name: str) -> FloatArray:
        """Return the parameters of one slice."""
        return self.values[self.bounds[name]]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the slice names."""
        return iter(self.names)

    def with_values(self, values: FloatArray) -> ParamVector:
        """Return the same slices over another vector of the same length."""
        return replace(self, values=values)

    def save(self, file: BinaryIO) -> None:
        """Write names, sizes and values as an `.npz` archive without pickled objects."""
        np.savez(
            file,
            names=np.array(self.names, dtype=np.str_),
            sizes=np.array(self.sizes, dtype=np.int64),
            values=self.values,
        )

    @classmethod
    def load(cls, file: BinaryIO) -> ParamVector:
        """Return the parameters that `save` wrote.

        Raises:
            ValueError: The file is no such archive, or holds pickled objects.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                names = tuple(str(name) for name in archive["names"])
                sizes = tuple(int(size) for size in archive["sizes"])
                values = np.asarray(archive["values"], dtype=np.float64)
        except _UNREADABLE as error:
            raise ValueError(f"not a parameter archive: {error}") from error
        return cls(names, sizes, values)
