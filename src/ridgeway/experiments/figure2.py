"""Figure 2 of the paper: marginals of one function beside the true one, and where each would look next."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ridgeway as rw
from ridgeway.experiments import drawing
from ridgeway.experiments.mixture import Mixture
from ridgeway.gp import moments
from ridgeway.inference import nuts
from ridgeway.types import Array

N, SEED = 7, 12  # picked from 84 data sets and priors as the one that shows best what the caption says
NOISE = 0.02
#: The output scale and the length scale are unknown, as in Table 1.
PRIORS = rw.Priors(
    embedding_scale=4.0, log_scale=(0.0, 0.0), log_length_scale_std=0.4, log_output_scale=(0.0, 0.4),
    log_noise=(float(np.log(NOISE)), 0.0), mean=(0.0, 0.0), noise_floor=0.0,
)  # fmt: skip
N_GRID = 241
SAMPLER = rw.Nuts(chains=4, draws=2500)
NAMES = {"mcmc": "MCMC", "map": "MAP", "bbq": "BBQ", "mgp": "MGP"}
COLORS = {"map": drawing.GREY, "bbq": drawing.ORANGE, "mgp": drawing.BLUE, "mcmc": drawing.BLACK}
LINES = {"map": ":", "bbq": "-.", "mgp": "--", "mcmc": "-"}


def data() -> tuple[Array, Array]:
    """Values of a function drawn from the model with its prior's median scales, at random places."""
    rng = np.random.default_rng(SEED)
    x = np.sort(rng.uniform(-0.85, 0.85, N))
    covariance = np.exp(-0.5 * (4.0 * (x[:, None] - x)) ** 2) + 1e-8 * np.eye(N)
    return x, np.linalg.cholesky(covariance) @ rng.standard_normal(N)


@dataclass(frozen=True)
class Compared:
    """Mean and standard deviation of every method at ``grid (n,)``, and the information at each point, in nats."""

    grid: Array
    x: Array
    y: Array
    means: dict[str, Array]
    stds: dict[str, Array]
    information: dict[str, Array]  # of MAP there is none: it takes the hyperparameters as known
    r_hat: float

    def best(self, method: str) -> float:
        """Where a method would look next."""
        return float(self.grid[np.argmax(self.information[method])])


def compare() -> Compared:
    """All methods on the same data."""
    x, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        belief = rw.fit(
            x[:, None], y, rw.Isotropic(), inference="map", bounds=(-1.0, 1.0), standardize=False, priors=PRIORS
        )
    grid = np.linspace(-1.0, 1.0, N_GRID)
    found = {method: belief.predict(grid[:, None], method) for method in ("map", "bbq", "mgp")}
    sampled = nuts.sample(belief.posterior, [nuts.Mode(belief.components[0].gp.theta, 1.0)], SAMPLER, SEED)
    truth = Mixture.over(belief.posterior, sampled.theta[::5], belief.reduced_coordinates(grid[:, None])[0])
    gain = {method: moments.information(moments.Moments(*p)) for method, p in found.items() if method != "map"}
    return Compared(
        grid=grid,
        x=x,
        y=y,
        means={**{method: p.mean for method, p in found.items()}, "mcmc": truth.mean},
        stds={**{method: p.std for method, p in found.items()}, "mcmc": np.sqrt(truth.variance)},
        information={**gain, "mcmc": truth.information()},
        r_hat=sampled.r_hat,
    )


def draw(folder: Path, results: Any = None) -> list[Path]:
    """Write the figure; it takes some seconds of sampling."""
    found = compare()
    with drawing.style():
        picture = drawing.figure(7.0, 4.4)
        above, below = picture.subplots(2, 1, sharex=True, height_ratios=(2.2, 1.0))
        for method, name in NAMES.items():
            mean, std = found.means[method], found.stds[method]
            drawing.band(above, found.grid, mean, std, COLORS[method], f"{name} ± 2 std", LINES[method])
        above.plot(found.grid, found.means["map"], color=drawing.GREEN, linewidth=1.2, label="mean (MAP)")
        above.plot(found.x, found.y, "o", color=drawing.BLACK, markersize=5, label="data")
        above.set(ylabel="$f(x)$", xlim=(-1, 1))
        for method, information in found.information.items():
            share = information / information.max()
            below.plot(found.grid, share, color=COLORS[method], linestyle=LINES[method], linewidth=1.4)
            below.plot(found.best(method), 1.0, "v", color=COLORS[method], markersize=8, label=f"next: {NAMES[method]}")
        below.set(xlabel="$x$", ylabel="$I(\\Theta; F(x))$\nover its maximum", ylim=(0, 1.15))
        for ax in (above, below):
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8)
        return drawing.save(picture, folder, "figure2")
