"""Plots of a run; they need the extra `plot`.

Public names: `plot_trace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsbp.inference.free_energy import TracePoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_trace(trace: Sequence[TracePoint]) -> Figure:
    """Return a figure of a trace: free energy and its parts above, the gap below, by updates.

    Save it with `savefig`; no window is opened, and no global state of matplotlib changes.

    Args:
        trace: Of a result of `infer` or `anneal`, at least one point.

    Raises:
        ValueError: The trace is empty.
        ImportError: matplotlib is not installed.
    """
    if not trace:
        raise ValueError("an empty trace: run `infer` with trace=True")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'fsbp[plot]'") from error
    figure = Figure(figsize=(6.4, 5.4), layout="constrained")
    energy_axes, gap_axes = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    updates = [point.updates for point in trace]
    states = [point.free_energy for point in trace]
    energy_axes.plot(updates, [state.total for state in states], "o-", label="free energy")
    energy_axes.plot(updates, [state.energy for state in states], ".--", label="energy")
    energy_axes.plot(updates, [state.entropy for state in states], ".:", label="entropy")
    energy_axes.set_ylabel("nats")
    energy_axes.legend()
    gap_axes.plot(updates, [state.gap for state in states], "o-")
    gap_axes.set_yscale("symlog", linthresh=1e-9)
    gap_axes.set_ylim(bottom=0.0)
    gap_axes.set_ylabel("local inconsistency")
    gap_axes.set_xlabel("messages computed")
    return figure
