"""Time and accuracy of three message families on the phonology graph, by size and noise regime.

Words are German nouns cut into stem and suffix; both are latent, one word in five is held out, and
the channel allows for more or less noise than there is: the noisier, the flatter the messages. The
families are 20-best lists, n-gram expectation propagation of fixed order 1 to 3, and of adaptive
order. Times are processor time, the best of some runs, without compilation. Then the channel is
learned by expectation-maximisation from the `hard` one. The last line printed is a JSON object.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.examples.phonology import Answer, Phonology, Word, read_words
from fsbp.examples.phonology_ep import Order, expectation_propagation, learned_channel
from fsbp.examples.phonology_kbest import pruned_propagation

DATA = Path(__file__).parents[1] / "data" / "phonology" / "german_nouns.tsv"
SIZES = (50, 100, 200, 500)
REGIMES = {
    "easy": {"insert": 0.02, "delete": 0.03, "substitute": 0.05},
    "hard": {"insert": 0.08, "delete": 0.08, "substitute": 0.25},
    "veryhard": {"insert": 0.15, "delete": 0.12, "substitute": 0.4},
}
ADAPTIVE, PRUNED = "EP adaptive", "20-best"
METHODS: dict[str, Callable[[Phonology], Answer]] = {
    PRUNED: pruned_propagation,
    ADAPTIVE: expectation_propagation,
    "EP order 1": lambda model: expectation_propagation(model, Order(fixed=1)),
    "EP order 2": lambda model: expectation_propagation(model, Order(fixed=2)),
    "EP order 3": lambda model: expectation_propagation(model, Order(fixed=3)),
}
EM_ROUNDS = 3
HELD_OUT = 5


def split(words: list[Word]) -> tuple[tuple[Word, ...], list[Word]]:
    """Returns the observed words and the held-out ones, every fifth, its place drifting."""
    held_out = {n for n in range(len(words)) if (n + n // 20) % HELD_OUT == HELD_OUT - 1}
    return (
        tuple(word for n, word in enumerate(words) if n not in held_out),
        [words[n] for n in sorted(held_out)],
    )


def peak_mebibytes() -> float:
    """Returns the largest memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figures(answers: list[Answer], observed: tuple[Word, ...], held_out: list[Word]) -> list[float]:
    """Returns seconds (of the fastest run), sweeps, and shares of stems and words right."""
    answer = min(answers, key=lambda each: each.seconds)
    return [
        answer.seconds,
        answer.sweeps,
        100 * answer.share_of_stems(word.stem for word in observed),
        100 * answer.share_of_words(held_out),
        peak_mebibytes(),
    ]


def print_figures(name: str, values: list[float]) -> None:
    """Prints one line."""
    seconds, sweeps, stems, words, memory = values
    print(
        f"{name:<24}{seconds:>9.2f}{sweeps:>8}{stems:>9.1f}{words:>9.1f}{memory:>9.0f}", flush=True
    )


def options_from_command_line() -> argparse.Namespace:
    """Returns the command-line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, help="one size instead of 50, 100, 200 and 500")
    parser.add_argument("--data", type=Path, default=DATA, metavar="FILE")
    parser.add_argument("--runs", type=int, default=3, help="of the adaptive and 20-best methods")
    return parser.parse_args()


def main() -> None:
    """Runs the benchmark."""
    options = options_from_command_line()
    words = read_words(options.data)
    alphabet = Alphabet.from_strings(word.surface for word in words)
    channels = {name: EditChannel.uniform(alphabet, **rates) for name, rates in REGIMES.items()}
    for method in (pruned_propagation, expectation_propagation):
        method(Phonology(tuple(words[:8]), channels["hard"]))
    sizes = [options.words] if options.words else list(SIZES)
    found: dict[tuple[int, str, str], list[float]] = {}
    for size in sizes:
        observed, held_out = split(words[:size])
        for regime, channel in channels.items():
            print(f"\n{size} words, {len(held_out)} held out, {regime}")
            print(f"{'':<24}{'seconds':>9}{'sweeps':>8}{'stems %':>9}{'words %':>9}{'MiB':>9}")
            answers: dict[str, list[Answer]] = {name: [] for name in METHODS}
            for run in range(options.runs):
                for name, method in METHODS.items():
                    if run == 0 or name in (ADAPTIVE, PRUNED):
                        answers[name].append(method(Phonology(observed, channel)))
            for name in METHODS:
                found[size, regime, name] = figures(answers[name], observed, held_out)
                print_figures(name, found[size, regime, name])
        model = Phonology(observed, channels["hard"])
        learned, answer = learned_channel(model, EM_ROUNDS)
        print(f"\n{size} words, channel learned in {EM_ROUNDS} rounds from hard")
        found[size, "learned", ADAPTIVE] = figures([answer], observed, held_out)
        print_figures(ADAPTIVE, found[size, "learned", ADAPTIVE])
        again = pruned_propagation(Phonology(observed, learned))
        found[size, "learned", PRUNED] = figures([again], observed, held_out)
        print_figures(PRUNED, found[size, "learned", PRUNED])
    print(json.dumps(report(found, sizes)))


def report(found: dict[tuple[int, str, str], list[float]], sizes: list[int]) -> dict[str, object]:
    """Returns the figures at the largest size, and how time grows with the number of edges."""
    size = sizes[-1]
    seconds = [found[each, "hard", ADAPTIVE][0] for each in sizes]
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else None
    print(f"\nseconds of {ADAPTIVE} grow with the edges to the power {slope}")
    return {
        "benchmark": "messages",
        "words": size,
        **{
            f"speedup_{regime}": found[size, regime, PRUNED][0] / found[size, regime, ADAPTIVE][0]
            for regime in REGIMES
        },
        "stems_ep_veryhard": found[size, "veryhard", ADAPTIVE][2],
        "stems_kbest_veryhard": found[size, "veryhard", PRUNED][2],
        **{
            f"accuracy_{short}_{regime}": found[size, regime, method][3]
            for regime in (*REGIMES, "learned")
            for short, method in (("ep", ADAPTIVE), ("kbest", PRUNED))
        },
        "slope": slope,
        "peak_mebibytes": peak_mebibytes(),
    }


if __name__ == "__main__":
    main()
