"""What is remembered of a source's places changes no result, and stays within its bounds."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp import contextual_edits, edit_places
from fsbp.contextual_edits import ContextualEdits
from fsbp.edit_contexts import COPY, DELETE, WRITE
from fsbp.edit_places import MAX_PLACES, MAX_REMEMBERED, Places, known_place, new_place, places_of
from tests.fsbp.edit_sequences import GROUPS, SEEDS, STRINGS, codes, group_hashes, random_model


def afresh(model: ContextualEdits) -> ContextualEdits:
    """Return the same model, which remembers nothing."""
    return ContextualEdits(model.written_w, model.vowel_v, model.weight_re)


def known(places: Places, i: int, y: str, last: int, vowel: int) -> int:
    return known_place(places.newest_il, places.known_pk, i, codes(y), len(y), last, vowel)


def places_in(model: ContextualEdits, source: str) -> Places:
    return places_of(
        codes(source), group_hashes(()), model.written_w, model.vowel_v, model.weight_re
    )


@pytest.mark.parametrize("remembered", [MAX_REMEMBERED, 70, 0])
def test_what_is_remembered_changes_nothing(
    remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches and sums share their places, all of them, ten, or none."""

    @settings(max_examples=25)
    @given(SEEDS, STRINGS, st.lists(STRINGS, max_size=5), GROUPS)
    def check(seed: int, source: str, targets: list[str], groups: tuple[str, ...]) -> None:
        model = random_model(seed)
        with monkeypatch.context() as patched:
            patched.setattr(edit_places, "MAX_REMEMBERED", remembered)
            for _ in range(2):
                found = model.likeliest(source, 4, groups)
                strings = [*found, *targets]
                log_prob_n = model.log_probs(source, strings, groups)
        assert found == afresh(model).likeliest(source, 4, groups)
        alone = [afresh(model).log_probs(source, [text], groups)[0] for text in strings]
        assert log_prob_n.tolist() == alone

    check()


def test_places_are_remembered_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(0)
    histories = ["", "a", "ab"]
    for room, expected in ((2, [0, 1, -1]), (3, [0, 1, 2])):
        monkeypatch.setattr(edit_places, "MAX_REMEMBERED", room * model.weight_re.shape[1])
        places = places_in(model, "ab")
        for row, y in enumerate(histories):
            assert known(places, 1, y, COPY, -1) == -1
            assert new_place(places, 1, codes(y), len(y), COPY, -1) == row
        assert [known(places, 1, y, COPY, -1) for y in histories] == expected
        assert places.num_known.tolist() == [room]


def test_places_are_told_apart() -> None:
    """By all that contexts look at: symbols may be the first and the last of all code points."""
    places = places_in(random_model(0), "ab")
    histories = ["".join(t) for n in range(4) for t in product("\0a\U0010ffff", repeat=n)]
    keys = list(product((0, 2), histories, (COPY, DELETE, WRITE), (-1, 0, 0x10FFFF)))
    assert len(keys) <= len(places.known_pk)
    rows = [new_place(places, i, codes(y), len(y), last, vowel) for i, y, last, vowel in keys]
    assert rows == list(range(len(keys)))
    assert rows == [known(places, *key) for key in keys]


def test_only_the_last_three_symbols_matter() -> None:
    places = places_in(random_model(0), "ab")
    row = new_place(places, 1, codes("babz"), 3, WRITE, ord("a"))
    assert [known(places, 1, y, WRITE, ord("a")) for y in ("bab", "zzbab")] == [row, row]


@pytest.mark.parametrize("num_written", [0, 4, 60, MAX_REMEMBERED])
def test_memory_for_one_source_is_bounded(num_written: int) -> None:
    model = ContextualEdits(
        np.arange(num_written, dtype=np.int32), codes(""), np.zeros((1, 3 + num_written), "f4")
    )
    places = places_in(model, "ab")
    assert places.log_prob_pe[:-1].size <= MAX_REMEMBERED
    assert len(places.known_pk) <= MAX_PLACES
    assert np.isfinite(model.log_probs("", [""])).all()


def test_few_sources_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contextual_edits, "MAX_KEPT", 2)
    model = random_model(0)
    first = model.log_probs("a", ["b", "ab"]).tolist()
    for source in ("b", "ab", "z"):
        model.likeliest(source, 3)
    assert len(model._kept) == 2
    assert model.log_probs("a", ["b", "ab"]).tolist() == first


def test_what_is_remembered_is_not_pickled() -> None:
    model = random_model(0)
    before = pickle.dumps(model)
    model.likeliest("abab", 5)
    assert pickle.dumps(model) == before
