"""Parameter vectors cut, change and survive a round trip."""

from __future__ import annotations

import io

import numpy as np
import pytest

from fsbp.params import FeatureIndex, ParamVector


def test_slices_lie_end_to_end() -> None:
    params = ParamVector.from_slices(
        {"rule": np.array([1.0, 2.0]), "über": np.zeros(0), "n": np.ones(1)}
    )
    assert list(params) == ["rule", "über", "n"]
    assert params.values.tolist() == [1.0, 2.0, 1.0]
    assert params["rule"].tolist() == [1.0, 2.0]
    assert params["über"].size == 0
    moved = params.with_values(np.array([7.0, 8.0, 9.0]))
    assert moved["n"].tolist() == [9.0]
    assert params["n"].tolist() == [1.0]


def test_round_trip_is_exact() -> None:
    params = ParamVector.from_slices(
        {"w": np.random.default_rng(0).normal(size=5), "é": np.ones(2)}
    )
    file = io.BytesIO()
    params.save(file)
    file.seek(0)
    again = ParamVector.load(file)
    assert (again.names, again.sizes) == (params.names, params.sizes)
    np.testing.assert_array_equal(again.values, params.values)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"hello"])
def test_foreign_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a parameter archive"):
        ParamVector.load(io.BytesIO(content))


def test_truncated_files_are_refused() -> None:
    file = io.BytesIO()
    ParamVector.from_slices({"w": np.zeros(50)}).save(file)
    with pytest.raises(ValueError, match="not a parameter archive"):
        ParamVector.load(io.BytesIO(file.getvalue()[:-100]))


def test_pickled_objects_are_refused() -> None:
    file = io.BytesIO()
    np.savez(file, names=np.array([{"a": 1}], dtype=object), sizes=np.zeros(1), values=np.zeros(1))
    file.seek(0)
    with pytest.raises(ValueError, match="parameter archive"):
        ParamVector.load(file)


def test_misfits_are_errors() -> None:
    with pytest.raises(ValueError, match="slices hold 3"):
        ParamVector(("a", "b"), (1, 2), np.zeros(2))
    with pytest.raises(ValueError, match="distinct"):
        ParamVector(("a", "a"), (1, 1), np.zeros(2))


def test_feature_index() -> None:
    index = FeatureIndex.from_features(["copy", "insert > a", "copy"])
    assert index.names == ("copy", "insert > a")
    assert len(index) == 2
    assert index.vector({"insert > a": 2.0, "unknown": 9.0}).tolist() == [0.0, 2.0]
