import numpy as np
import pytest

from ridgeway.gp.process import N_GLOBAL
from ridgeway.inference.embedding_volume import WithVolume, volume_gradient, volume_hessian
from tests.inference.problems import of_many_rows


@pytest.mark.parametrize("d", [1, 2])
def test_derivatives_of_the_volume(d):
    fixed, theta = of_many_rows(60, 3, d)
    model = WithVolume.of(fixed)

    def volume(at):
        return model.evaluate(at).log_density - fixed.evaluate(at).log_density

    def gradient(at):
        return volume_gradient(fixed.condition(at))

    step, P = 1e-5, theta.shape[0] - N_GLOBAL
    unit = step * np.eye(theta.shape[0])
    by_value = np.array([(volume(theta + e) - volume(theta - e)) / (2 * step) for e in unit])
    by_gradient = np.array([(gradient(theta + e) - gradient(theta - e)) / (2 * step) for e in unit])
    np.testing.assert_allclose(gradient(theta), by_value, atol=1e-5 * np.abs(by_value).max())
    turns = np.zeros((theta.shape[0], d * (d - 1) // 2))
    turns[:P] = np.linalg.qr(fixed.embedding.rotations(theta[:P]))[0]
    off = np.eye(theta.shape[0]) - turns @ turns.T
    expected = off @ by_gradient @ off
    hessian = volume_hessian(fixed.condition(theta))
    np.testing.assert_allclose(hessian, expected, atol=1e-5 * np.abs(by_gradient).max())
