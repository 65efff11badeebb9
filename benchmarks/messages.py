"""Time, memory and accuracy of message families on the phonology graph, by size and channel.

Words are German nouns cut into stem and suffix; both are latent, and one word in five is held out.
No noise is added to the words, which leave nothing but umlaut for a channel to explain: only the
channel that the model assumes changes. It allows for some edits (`easy`), more (`hard`) or many
(`veryhard`); the more it allows for, the flatter the messages. `learned` is a channel learned from
the `hard` one by expectation-maximisation. The families are 20-best lists,
n-gram expectation propagation of fixed order 1 to 3, and of adaptive order, whose constants were
chosen while looking at these nouns.

Each row of the tables is measured in a process of its own:

- seconds: processor time, the best of some runs, without compilation and without the channel's
  tables around the words, which all methods share;
- MiB: the most memory that the process held during the runs, beyond what it held before it first
  called the method. Some 75 MiB are libraries and machine code, alike in all rows. The tables
  around the words count and, for the learned channel, what learning did not give back; compilation
  does not, once its results are in numba's cache. Only Linux tells (elsewhere `nan`, in the JSON
  object null);
- learning: processor time of learning the channel, the best of as many runs;
- settled: whether the messages settled before the method's limit on sweeps.

Edges are those between factors and latent strings: stems, suffixes and underlying words. How time
grows with their number is fitted over the sizes, under `hard`. The last line printed is a JSON
object.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.examples.phonology import Answer, Phonology, Word, read_words
from fsbp.examples.phonology_ep import Order, expectation_propagation, learned_channel
from fsbp.examples.phonology_kbest import pruned_propagation

DATA = Path(__file__).parents[1] / "data" / "phonology" / "german_nouns.tsv"
SIZES = (50, 100, 200, 500)
ASSUMED = {
    "easy": {"insert": 0.02, "delete": 0.03, "substitute": 0.05},
    "hard": {"insert": 0.08, "delete": 0.08, "substitute": 0.25},
    "veryhard": {"insert": 0.15, "delete": 0.12, "substitute": 0.4},
}
LEARNED = "learned"
ADAPTIVE, PRUNED = "EP adaptive", "20-best"
METHODS: dict[str, Callable[[Phonology], Answer]] = {
    PRUNED: pruned_propagation,
    ADAPTIVE: expectation_propagation,
    "EP order 1": lambda model: expectation_propagation(model, Order(fixed=1)),
    "EP order 2": lambda model: expectation_propagation(model, Order(fixed=2)),
    "EP order 3": lambda model: expectation_propagation(model, Order(fixed=3)),
}
SHORT = {"ep": ADAPTIVE, "kbest": PRUNED}
ROUNDS = 3
HELD_OUT = 5
WARM_UP = 8
MODULES = ("fsbp.examples.phonology_ep", "fsbp.examples.phonology_kbest")
CLEAR_REFS, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Row(NamedTuple):
    """What is measured: a method on the first words of a table under an assumed channel."""

    data: Path
    size: int
    channel: str
    method: str
    runs: int


class Figures(NamedTuple):
    """What was found: times, MiB (nan where the system does not tell), and shares in %."""

    seconds: float
    learning_seconds: float | None
    mebibytes: float
    is_settled: bool
    stems: float
    words: float


def split(words: list[Word]) -> tuple[tuple[Word, ...], list[Word]]:
    """Returns the observed words and the held-out ones, every fifth, its place drifting."""
    held_out = {n for n in range(len(words)) if (n + n // 20) % HELD_OUT == HELD_OUT - 1}
    return (
        tuple(word for n, word in enumerate(words) if n not in held_out),
        [words[n] for n in sorted(held_out)],
    )


def held_mebibytes(field: str) -> float:
    """Returns this process's memory (VmRSS), or the most since `forget_peak` (VmHWM)."""
    if not STATUS.exists():
        return math.nan
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def forget_peak() -> None:
    """Makes VmHWM, the most memory this process has held, what it holds now."""
    if CLEAR_REFS.exists():
        CLEAR_REFS.write_text("5", encoding="utf-8")


def timed_learning(model: Phonology) -> tuple[EditChannel, float]:
    """Returns a channel learned, and the processor time of its rounds.

    They include the channels' tables around the words, new in each round, but not the propagation
    that follows the last one.
    """
    begin = time.process_time()
    channel, answer = learned_channel(model, ROUNDS)
    return channel, time.process_time() - begin - answer.seconds


def measured(row: Row) -> Figures:
    """Returns the figures of a row; meant for a process of its own."""
    logging.getLogger("fsbp").setLevel(logging.ERROR)  # what did not settle is in the table
    words = read_words(row.data)
    observed, held_out = split(words[: row.size])
    alphabet = Alphabet.from_strings(word.surface for word in words)
    method = METHODS[row.method]
    rates = ASSUMED["hard" if row.channel == LEARNED else row.channel]
    channel = EditChannel.uniform(alphabet, **rates)
    held_before = held_mebibytes("VmRSS")
    method(Phonology(observed[:WARM_UP], channel))
    learning_seconds = None
    if row.channel == LEARNED:
        learned_channel(Phonology(observed[:WARM_UP], channel), 1)
        learned = [timed_learning(Phonology(observed, channel)) for _ in range(row.runs)]
        learning_seconds = min(seconds for _, seconds in learned)
        channel = learned[0][0]
    forget_peak()
    answers = [method(Phonology(observed, channel)) for _ in range(row.runs)]
    answer = min(answers, key=lambda each: each.seconds)
    return Figures(
        answer.seconds,
        learning_seconds,
        held_mebibytes("VmHWM") - held_before,
        answer.converged,
        100 * answer.share_of_stems(word.stem for word in observed),
        100 * answer.share_of_words(held_out),
    )


def measured_apart(row: Row) -> Figures:
    """Returns the figures of a row, from a new process forked from one that only has modules."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(MODULES))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measured, row).result()


def num_edges(observed: tuple[Word, ...]) -> int:
    """Returns the number of edges between factors and latent strings in the words' graph."""
    alphabet = Alphabet.from_strings(word.surface for word in observed)
    channel = EditChannel.uniform(alphabet, **ASSUMED["hard"])
    return len(Phonology(observed, channel).graph().edges)


def print_figures(name: str, found: Figures) -> None:
    """Prints one line."""
    learning = "" if found.learning_seconds is None else f"{found.learning_seconds:.2f}"
    print(
        f"{name:<16}{found.seconds:>9.2f}{learning:>10}{found.mebibytes:>9.1f}"
        f"{'yes' if found.is_settled else 'no':>9}{found.stems:>9.1f}{found.words:>9.1f}",
        flush=True,
    )


def figures_of_channel(
    options: argparse.Namespace, size: int, channel: str
) -> dict[tuple[int, str, str], Figures]:
    """Returns the figures of all methods (of two, for the learned channel), and prints them."""
    columns = ("seconds", "learning", "MiB", "settled", "stems %", "words %")
    print(f"{'':<16}{columns[0]:>9}{columns[1]:>10}{''.join(f'{name:>9}' for name in columns[2:])}")
    found = {}
    for method in SHORT.values() if channel == LEARNED else METHODS:
        row = Row(options.data, size, channel, method, options.runs)
        found[size, channel, method] = measured_apart(row)
        print_figures(method, found[size, channel, method])
    return found


def report(found: dict[tuple[int, str, str], Figures], edges: dict[int, int]) -> dict[str, object]:
    """Returns the figures at the largest size, and the growth of time over all sizes.

    The slope is that of log seconds of adaptive order under `hard` on the log of the number of
    edges: the time grows with the edges to this power. It is None for a single size.
    """
    size = max(edges)
    channels = (*ASSUMED, LEARNED)
    seconds = [found[each, "hard", ADAPTIVE].seconds for each in edges]
    slope = None
    if len(edges) > 1:
        slope = float(np.polyfit(np.log(list(edges.values())), np.log(seconds), 1)[0])
    return {
        "benchmark": "messages",
        "words": size,
        "edges": edges,
        **{
            f"speedup_{channel}": found[size, channel, PRUNED].seconds
            / found[size, channel, ADAPTIVE].seconds
            for channel in channels
        },
        **{
            f"stems_{short}_{channel}": found[size, channel, method].stems
            for channel in channels
            for short, method in SHORT.items()
        },
        **{
            f"accuracy_{short}_{channel}": found[size, channel, method].words
            for channel in channels
            for short, method in SHORT.items()
        },
        "learning_seconds": found[size, LEARNED, ADAPTIVE].learning_seconds,
        "slope": slope,
        "mebibytes_veryhard": {
            method: None if math.isnan(figures.mebibytes) else figures.mebibytes
            for (each, channel, method), figures in found.items()
            if (each, channel) == (size, "veryhard")
        },
    }


def options_from_command_line() -> argparse.Namespace:
    """Returns the command-line options, with `sizes`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, help="one size instead of 50, 100, 200 and 500")
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA,
        metavar="FILE",
        help="table with the columns stem, suffix and word (default: German nouns)",
    )
    parser.add_argument("--runs", type=int, default=3, help="of each row (default: %(default)s)")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs must be 1 or more")
    if options.words is not None and options.words < HELD_OUT:
        parser.error(f"--words must be {HELD_OUT} or more: one word in {HELD_OUT} is held out")
    options.sizes = list(SIZES) if options.words is None else [options.words]
    available = len(read_words(options.data))
    if available < max(options.sizes):
        parser.error(f"{options.data} has {available} words: ask for no more with --words")
    return options


def main() -> None:
    """Runs the benchmark."""
    options = options_from_command_line()
    words = read_words(options.data)
    found: dict[tuple[int, str, str], Figures] = {}
    edges: dict[int, int] = {}
    for size in options.sizes:
        observed, held_out = split(words[:size])
        edges[size] = num_edges(observed)
        for channel in (*ASSUMED, LEARNED):
            print(
                f"\n{size} words without added noise, {len(held_out)} held out, "
                f"{edges[size]} edges; assumed channel: {channel}"
            )
            found |= figures_of_channel(options, size, channel)
    figures = report(found, edges)
    if len(edges) > 1:
        print(f"\nseconds of {ADAPTIVE} grow with the edges to the power {figures['slope']:.2f}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
