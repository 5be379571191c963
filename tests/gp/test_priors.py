"""``Priors``: what is refused, and what counts as a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.priors import Priors
from tests.helpers import assert_says
from tests.inference.problems import model_posterior

NAN, INF = float("nan"), float("inf")

BAD_PRIORS = [
    *({name: value} for name in ("log_output_scale", "log_noise", "mean") for value in (
        (0.0,), (0.0, 1.0, 2.0), (0.0, -1.0), (NAN, 1.0), (0.0, INF), 3.0, None, ("a", "b"), "ab"
    )),
    *({name: value} for name in ("noise_floor", "tie_noise") for value in (-1.0, NAN, INF, None, "a")),
    *({"log_length_scale_std": value} for value in (0.0, -1.0, NAN, INF, None, "a")),
    *({"embedding_scale": value} for value in (0.0, -1.0, NAN, INF, "a", (1.0, 2.0))),
]  # fmt: skip


@pytest.mark.parametrize("arguments", BAD_PRIORS, ids=str)
def test_bad_priors(arguments):
    ((name, value),) = arguments.items()
    with pytest.raises((TypeError, ValueError)) as error:
        rw.Priors(**arguments)
    assert_says(error, f"{name} of Priors must be", f"got {value!r}")


def test_unknown_prior():
    with pytest.raises(TypeError, match="log_nose"):
        rw.Priors(log_nose=(0.0, 1.0))


def test_priors_of_whole_numbers() -> None:
    whole = Priors(log_noise=(-2, 1), log_output_scale=(0, 2), mean=(0, 0), log_scale=(0.0, 0))
    posterior = replace(model_posterior(4, 1, n=10), priors=whole)
    theta = posterior.initial(0.3 * np.ones(4))
    assert np.isfinite(posterior.hessian(posterior.evaluate(theta).gp)).all()


def test_few_observations_for_each_input_are_not_trusted_to_be_without_noise():
    assert Priors.for_data(40, 20) == Priors()
    tight = Priors.for_data(39, 20)
    assert tight.log_noise[0] > Priors().log_noise[0]
    assert tight.log_noise[1] < Priors().log_noise[1]


@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_a_fit_takes_the_priors_for_its_data_unless_some_are_given():
    X = np.random.default_rng(0).uniform(-1, 1, (12, 6))
    y = np.sin(X @ np.arange(6.0))
    for n in (11, 12):
        belief = rw.fit(X[:n], y[:n], rw.Linear(1), n_starts=2)
        assert belief.posterior.priors.log_noise == Priors.for_data(n, 6).log_noise
    given = Priors(log_noise=(-1.0, 0.5))
    assert rw.fit(X, y, rw.Linear(1), n_starts=2, priors=given).posterior.priors.log_noise == given.log_noise
