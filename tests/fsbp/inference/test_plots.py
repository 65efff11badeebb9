"""The plot of a trace shows its numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fsbp.inference.plots import plot_trace
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from tests.fsbp.inference.test_schedules import loopy_graph

TRACE = infer(loopy_graph("triangle", 0), KBest(5), trace=True, tolerance=1e-6).trace


def test_the_plot_shows_the_trace(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = plot_trace(TRACE)
    energy_axes, gap_axes = figure.axes
    total, energy, entropy = (line.get_ydata() for line in energy_axes.get_lines())
    assert list(total) == [point.free_energy.total for point in TRACE]
    assert list(energy - entropy) == pytest.approx(list(total))
    assert list(gap_axes.get_lines()[0].get_xdata()) == [point.updates for point in TRACE]
    figure.savefig(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 5000


def test_an_empty_trace_has_no_plot() -> None:
    with pytest.raises(ValueError, match="trace=True"):
        plot_trace(())


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"fsbp\[plot\]"):
        plot_trace(TRACE)
