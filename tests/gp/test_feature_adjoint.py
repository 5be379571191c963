import numpy as np
import pytest

from ridgeway.gp import feature_adjoint, feature_likelihood, feature_moments
from ridgeway.gp.moments import SlopesAdjoint
from tests.gp.many import problem


def process(d, kernel="se", noisy=False):
    _, rows, embedding, kernel, theta = problem(200, 4, d, noisy=noisy, kernel=kernel)
    fixed = rows.around(embedding, kernel, theta)
    return feature_likelihood.kept(fixed.condition(embedding, kernel, theta))


@pytest.mark.parametrize(
    ("d", "kernel", "noisy"), [(1, "se", False), (2, "se", True), (2, "matern52", False), (3, "se", False)]
)
@pytest.mark.parametrize("with_slopes", [False, True])
def test_derivatives_of_a_score_in_its_points(d, kernel, noisy, with_slopes):
    """Any function of mean, variance, covariances and their derivatives: here one that is linear in them."""
    gp = process(d, kernel, noisy)
    rng = np.random.default_rng(3)
    Z, others = rng.uniform(-0.9, 0.9, (5, 4)), feature_moments.waves(gp, rng.uniform(-0.9, 0.9, (3, 4)))
    P = gp.theta.shape[0]
    of_mean, of_variance, of_cross = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal((5, 3))
    of_slopes = SlopesAdjoint(*(rng.standard_normal((5, q)) for q in (P, P, d, d))) if with_slopes else None

    def score(Z):
        at = feature_moments.waves(gp, Z)
        found = feature_moments.slopes_at(gp, at)
        total = of_mean * found.mean + of_variance * found.variance
        total += np.einsum("nb,nb->n", of_cross, at.half @ others.half.T)
        if of_slopes is not None:
            total += sum(np.einsum("ij,ij->i", a, b) for a, b in zip(of_slopes, found[2:], strict=True))
        return total

    at = feature_moments.waves(gp, Z)
    found = feature_adjoint.pull_back(gp, at, of_mean, of_variance, of_cross @ others.half, of_slopes)
    step = 1e-5
    expected = np.stack([(score(Z + step * e) - score(Z - step * e)) / (2 * step) for e in np.eye(4)], axis=1)
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_points_that_are_known_give_the_same_moments():
    gp = process(2)
    Z = np.random.default_rng(1).uniform(-1, 1, (6, 4))
    for mine, theirs in zip(
        feature_moments.plain_at(gp, feature_moments.waves(gp, Z)), feature_moments.plain(gp, Z), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
