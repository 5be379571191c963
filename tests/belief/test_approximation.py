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
        ({"how": "features", "embedding": rw.Linear(5)}, "at most 4 directions"),
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
