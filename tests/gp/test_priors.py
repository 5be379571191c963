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
