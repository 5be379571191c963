"""Distributions of one input: what stands for them against scipy's moments and exact integrals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ridgeway.gp import marginals
from ridgeway.gp.marginals import Fixed, Moved

CONTINUOUS = [stats.norm(1.0, 2.0), stats.beta(2, 3), stats.gamma(2.0), stats.expon(), stats.lognorm(0.5), stats.t(5)]


@pytest.mark.parametrize("marginal", CONTINUOUS)
def test_nodes_have_the_moments_of_the_distribution(marginal) -> None:
    nodes = marginals.atoms(marginal)
    assert nodes.mean == pytest.approx(marginal.mean(), abs=1e-6 * marginal.std())
    assert nodes.variance == pytest.approx(marginal.var(), rel=1e-4)
    moved = marginals.atoms(Moved(marginal, 3.0, 0.5))
    np.testing.assert_allclose(moved.values, (nodes.values - 3.0) / 0.5)


def test_the_error_of_nodes_is_foreseen() -> None:
    marginal = stats.expon()
    nodes, density = marginals.atoms(marginal), np.linspace(0.0, 40.0, 2_000_001)
    for r, resolved in ((3.0, True), (60.0, False)):
        at = np.linspace(0.0, 6.0, 61)
        errors = []
        for x in at:
            exact = np.trapezoid(np.exp(-0.5 * (r * (density - x)) ** 2 - density), density)
            errors.append(abs(nodes.line_means(r, np.array([x]))[0] - exact))
        assert (marginals.missed(nodes, r) < 1e-5) is resolved
        assert max(errors) < 2.0 * marginals.missed(nodes, r) + 1e-6  # the density has a jump
        assert resolved or max(errors) > 0.01 * marginals.missed(nodes, r)


def test_what_is_discrete() -> None:
    for marginal in (stats.poisson(2.0), stats.rv_discrete(values=([0.0, 2.5], [0.5, 0.5]))):
        assert marginals.is_discrete(marginal)
        assert marginals.is_discrete(Moved(Moved(marginal, 0.0, 2.0), 1.0, 1.0))
    assert not marginals.is_discrete(stats.norm())


def test_an_input_that_does_not_vary() -> None:
    nodes = marginals.atoms(Moved(Fixed(5.0), 1.0, 2.0))
    assert nodes.mean == pytest.approx(2.0)
    assert nodes.variance == pytest.approx(0.0, abs=1e-24)
    assert marginals.missed(nodes, 1e9) == 0.0


def test_only_a_heavy_tail_is_not_followed_to_its_end() -> None:
    for marginal in (stats.norm(), stats.beta(2, 3)):
        nodes = marginals.atoms(marginal)
        assert marginals.farthest(marginal, nodes) == nodes.reach
    heavy = stats.lognorm(1.0)
    nodes = marginals.atoms(heavy)
    assert marginals.farthest(heavy, nodes) == pytest.approx(np.exp(6.0), rel=0.01)
    assert nodes.reach > 2000.0
