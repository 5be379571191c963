"""``qInformation`` against the information that a belief computes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("botorch", reason="BoTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from botorch.optim import optimize_acqf

from ridgeway import acquisition
from ridgeway.active.pending import PendingBelief
from ridgeway.botorch import qInformation
from tests.botorch.cases import LOWER, UPPER, D, case, points


def test_one_point_gives_what_the_belief_says() -> None:
    X, belief = points(6), case().belief
    noisy = qInformation(case().model())(X[:, None]).detach().numpy()
    np.testing.assert_allclose(noisy, acquisition.information(belief, X.numpy()), rtol=1e-8)
    of_f = qInformation(case().model(), noisy=False)(X[:, None]).detach().numpy()
    np.testing.assert_allclose(of_f, belief.bald(X.numpy()), rtol=1e-6)


def test_several_points_and_pending_ones_share_what_they_teach() -> None:
    belief, X, waiting = case().belief, points(2, 3), points(2, seed=5)
    joint = qInformation(case().model(), X_pending=waiting)(X).detach().numpy()
    before = PendingBelief(belief).given(waiting.numpy())
    expected = [before.given(x.numpy()).information - before.information for x in X]
    np.testing.assert_allclose(joint, expected, rtol=1e-8)
    alone = qInformation(case().model())(X).detach().numpy()
    assert (joint < alone).all()


def test_observations_that_were_added_count_as_pending() -> None:
    added, X = points(2, seed=5), points(2, 3)
    given = case().model().condition_on_observations(added, torch.zeros(2, 1).double())
    torch.testing.assert_close(qInformation(given)(X), qInformation(case().model(), X_pending=added)(X))


def test_it_can_be_maximised() -> None:
    score = qInformation(case().model())
    bounds = torch.tensor([[LOWER] * D, [UPPER] * D]).double()
    best, value = optimize_acqf(score, bounds, q=2, num_restarts=2, raw_samples=32, options={"seed": 0, "maxiter": 30})
    assert best.shape == (2, D)
    with torch.no_grad():
        assert value > score(points(100, 2)).max()
    x = points(2, 2).requires_grad_()
    assert torch.autograd.gradcheck(score, (x,))


def test_without_noise_one_point_at_a_time() -> None:
    with pytest.raises(ValueError, match="noisy must be True"):
        qInformation(case().model(), noisy=False)(points(2, 3))
