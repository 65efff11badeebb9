from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fsbp.alphabet import Alphabet
from fsbp.edit_channel import DELETE, EditChannel
from fsbp.examples import phonology, phonology_ep, phonology_kbest
from fsbp.examples.phonology import Answer, Phonology, Word, decoded, read_words
from fsbp.examples.phonology_ep import Order, expectation_propagation, learned_channel
from fsbp.examples.phonology_kbest import pruned_propagation
from fsbp.inference.propagation import Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram

DATA = Path(__file__).parents[3] / "data" / "phonology"
HARD = {"insert": 0.08, "delete": 0.08, "substitute": 0.25}
VERY_HARD = {"insert": 0.15, "delete": 0.12, "substitute": 0.4}


def model_of(words: list[Word], rates: dict[str, float]) -> Phonology:
    alphabet = Alphabet.from_strings(word.surface for word in words)
    return Phonology(tuple(words), EditChannel.uniform(alphabet, **rates))


@pytest.fixture(scope="module")
def german() -> list[Word]:
    return read_words(DATA / "german_nouns.tsv")[:80]


@pytest.mark.parametrize("rates", [HARD, VERY_HARD], ids=["hard", "very hard"])
def test_stems_and_held_out_words_are_found(german: list[Word], rates: dict[str, float]) -> None:
    observed = [word for n, word in enumerate(german) if n % 5 != 4]
    held_out = [word for n, word in enumerate(german) if n % 5 == 4]
    answer = expectation_propagation(model_of(observed, rates))
    assert answer.share_of_stems(word.stem for word in observed) >= 0.85
    assert answer.share_of_words(held_out) >= 0.6


def test_both_families_agree_where_noise_is_low(german: list[Word]) -> None:
    model = model_of(german[:40], HARD)
    found, pruned = expectation_propagation(model), pruned_propagation(model)
    same = sum(found.best[name] == pruned.best[name] for name in model.names)
    assert same >= 0.9 * len(model.names)


def test_fixed_bigrams_find_stems(german: list[Word]) -> None:
    answer = expectation_propagation(model_of(german[:24], HARD), Order(fixed=2))
    assert answer.share_of_stems(word.stem for word in german[:24]) >= 0.5


def test_answers_repeat(german: list[Word]) -> None:
    model = model_of(german[:24], HARD)
    assert expectation_propagation(model).best == expectation_propagation(model).best


def test_catalan_stems_are_found_despite_devoicing() -> None:
    words = read_words(DATA / "catalan_adjectives.tsv")
    answer = expectation_propagation(model_of(words, HARD))
    assert answer.share_of_stems(word.stem for word in words) >= 0.75
    assert answer.best["suffix:a"] == "a"


def test_a_learned_channel_is_less_noisy(german: list[Word]) -> None:
    words = german[:40]
    channel, answer = learned_channel(model_of(words, HARD), 2)
    copying = np.exp(channel.log_prob_pno[:2, :2, 0])
    assert copying.min() > 0.67 + 0.1
    assert answer.share_of_stems(word.stem for word in words) >= 0.85


def test_candidates_agree_with_exact_propagation() -> None:
    alphabet = Alphabet(("a", "b"))
    channel = EditChannel.uniform(alphabet, 0.05, 0.1, 0.1)
    model = Phonology((Word("s", "u", "aba"),), channel)
    result = infer(model.graph(), Exact(), queries=model.names)
    assert result.status is Status.CONVERGED
    strings = [
        [alphabet.labels(text) for text, _ in result.beliefs[name].kbest(400)]
        for name in model.names
    ]
    lists = decoded(model, strings)
    for v, name in enumerate(model.names):
        expected = [result.beliefs[name].log_prob(alphabet.text(x)) for x in strings[v][:10]]
        np.testing.assert_allclose(lists.log_belief_v[v][:10], expected, atol=0.02)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("stem\tword\nx\ty\n")
    with pytest.raises(ValueError, match=r"words\.tsv lacks"):
        read_words(tmp_path / "words.tsv")


def test_the_general_engine_solves_the_same_graph_with_either_family() -> None:
    """Latent stems, suffixes and underlying words in one loopy graph, without any special case."""
    nouns = ("hund", "tisch", "arm")
    words = [Word(n, s, n + e) for n in nouns for s, e in (("sg", ""), ("pl", "e"))]
    model = model_of(words, {"insert": 0.02, "delete": 0.03, "substitute": 0.05})
    by_family = []
    for family in (KBest(20), Ngram(order="adaptive")):
        result = infer(model.graph(), family, tolerance=2e-3)
        assert result.status is Status.CONVERGED
        by_family.append({name: result.beliefs[name].kbest(1)[0] for name in model.names})
    pruned, projected = by_family
    assert [text for text, _ in projected.values()] == ["hund", "tisch", "arm", "", "e"]
    for name, (text, probability) in pruned.items():
        assert projected[name] == (text, pytest.approx(probability, abs=0.01))


def test_words_with_an_unseen_part_count_as_wrong() -> None:
    answer = Answer({"stem:hund": "hund", "suffix:e": "e"}, sweeps=1, converged=True, seconds=0.0)
    held_out = [Word("hund", "e", "hunde"), Word("hund", "s", "hunds"), Word("arm", "e", "arme")]
    assert [answer.predicted(word) for word in held_out] == ["hunde", None, None]
    assert answer.share_of_words(held_out) == pytest.approx(1 / 3)


def test_strings_may_be_as_long_as_the_channel_allows() -> None:
    stems = ("donaudampfschifffahrtskapitäns", "rindfleischetikettierungs")
    suffixes = ("", "versicherungen", "mützen")
    words = [Word(stem, suffix, stem + suffix) for stem in stems for suffix in suffixes]
    model = model_of(words, {"insert": 0.02, "delete": 0.03, "substitute": 0.05})
    assert model.longest_v[:2] == (len(stems[0]) + 4, len(stems[1]) + 4)
    projected, pruned = expectation_propagation(model).best, pruned_propagation(model).best
    assert [projected[name] for name in model.names[:2]] == list(stems)
    assert [pruned[name] for name in model.names] == [*stems, *suffixes]


@pytest.mark.parametrize(
    ("module", "family", "notice"),
    [
        (phonology_ep, expectation_propagation, "beliefs still move by"),
        (phonology_kbest, pruned_propagation, "candidates' probabilities still move after 1 "),
        (phonology, expectation_propagation, "candidates: probabilities still move by up to"),
        (phonology, pruned_propagation, "candidates: probabilities still move by up to"),
    ],
)
def test_messages_that_did_not_settle_are_reported(
    german: list[Word],
    module: ModuleType,
    family: Callable[[Phonology], Answer],
    notice: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = model_of(german[:16], HARD)
    assert family(model).converged
    assert not caplog.messages
    monkeypatch.setattr(module, "MAX_SWEEPS", 1)
    assert not family(model).converged
    assert any(notice in message for message in caplog.messages)


def test_words_that_nothing_explains_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    prob_pno = np.zeros((3, 3, 4))
    prob_pno[:, :2, DELETE] = prob_pno[:, 2, 0] = 1.0
    with np.errstate(divide="ignore"):
        deleting = EditChannel(Alphabet(("a", "b")), np.log(prob_pno))
    words = (Word("s", "u", ""), Word("t", "u", "ab"))
    answer = expectation_propagation(Phonology(words, deleting))
    assert not answer.converged
    assert [m for m in caplog.messages if "nothing explains" in m] == [
        "nothing explains the word 'ab': it was left out"
    ]
