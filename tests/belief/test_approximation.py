import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import approximation
from ridgeway.belief.approximation import planned
from ridgeway.gp.kernels import resolve


def plan(how="auto", n=1000, D=10, embedding=rw.Linear(2), kernel="se", inference="nested", streamed=False):  # noqa: B008
    return planned(how, n, D, embedding, resolve(kernel), inference, streamed)


def test_auto_is_exact_for_few_rows_and_not_for_many():
    assert not plan(n=3000).features
    assert plan(n=3001).features
    assert plan("features", n=50).features
    assert plan(n=50, streamed=True).features


def test_auto_stays_exact_where_there_is_no_finite_basis(monkeypatch):
    monkeypatch.setattr(approximation, "free_memory", lambda: 1e12)
    assert not plan(n=5000, embedding=rw.Diagonal()).features


def test_auto_takes_a_part_of_the_rows_where_directions_are_too_many_for_waves():
    found = plan(n=20_000, embedding=rw.Linear(4))
    assert not found.features
    assert found.part == approximation.PART_OF_MANY
    assert "1,000 of the 20,000 rows, drawn at random" in found.sentence
    assert plan(n=3000, embedding=rw.Linear(4)).part is None
    with pytest.raises(ValueError, match="at most 3 directions"):
        plan(n=20_000, embedding=rw.Linear(4), streamed=True)


def test_a_fit_of_a_part_says_how_it_predicts_the_others(monkeypatch):
    monkeypatch.setattr(approximation, "PART_OF_MANY", 60)
    monkeypatch.setattr(approximation, "MOST_EXACT", 200)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 4))
    y = X.sum(axis=1) + 0.1 * rng.standard_normal(300)
    with pytest.warns(rw.RidgewayWarning) as said:
        belief = rw.fit(X, y, rw.Linear(4), n_starts=1, robust=False)
    assert belief.X.shape == (60, 4)
    assert any("60 rows drawn at random were fitted" in str(note.message) for note in said)
    assert sum("of 60 others it explains 9" in note for note in belief.diagnostics.warnings) == 1


def test_too_little_memory_is_said_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(approximation, "free_memory", lambda: 4e9)
    with pytest.raises(MemoryError, match=r"13,000 rows needs about 12 GB, and 4 GB are free; use .*'features'"):
        plan("exact", n=13_000)
    with pytest.raises(MemoryError, match="fit a part of the rows"):
        plan("exact", n=13_000, embedding=rw.Isotropic())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"how": "feature"}, "approximation must be one of 'auto', 'exact', 'features', got 'feature'"),
        ({"how": "features", "embedding": rw.Linear(5)}, "at most 3 directions"),
        ({"how": "features", "embedding": rw.Diagonal()}, "needs a linear embedding"),
        ({"how": "features", "inference": "map"}, "needs inference='nested'"),
        ({"how": "features", "n": 15}, "more rows than twice the inputs"),
        ({"how": "exact", "streamed": True}, "needs all rows in memory"),
    ],
)
def test_what_cannot_be_says_why(given, message):
    with pytest.raises(ValueError, match=message):
        plan(**given)


def test_free_memory_is_some():
    assert np.isinf(approximation.free_memory()) or approximation.free_memory() > 1e6
