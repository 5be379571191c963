"""How time grows with observations, inputs, dimensions and candidates."""

from __future__ import annotations

from functools import partial

from measuring import Section, afresh, clock, conditioning, figure, fit, likelihood_and_gradient, problem, race  # isort: skip

import numpy as np

from ridgeway.gp import likelihood

FEW_STARTS = 4  # searches of the fits whose growth is measured


def growth(title: str, text: str, symbol: str, sizes: list[int], columns: dict[str, list[float]]) -> Section:
    """A table over sizes, with the exponents that fit it: the slopes of log time over log size."""
    rows = [
        (f"{size:,}", *("-" if np.isnan(c[i]) else figure(c[i]) for c in columns.values()))
        for i, size in enumerate(sizes)
    ]
    rows.append(("exponent over all", *(f"{exponent(sizes, c):.2f}" for c in columns.values())))
    rows.append(("exponent over the last three", *(f"{exponent(sizes[-3:], c[-3:]):.2f}" for c in columns.values())))
    return Section(title, text, (f"`{symbol}`", *columns), rows)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    known = np.isfinite(seconds)
    return float(np.polyfit(np.log(sizes)[known], np.log(seconds)[known], 1)[0])


def fit_seconds(n: int, D: int, d: int, n_functions: int) -> float:
    """CPU seconds of a fit with few starts, averaged over functions."""
    seconds = []
    for seed in range(n_functions):
        p = problem(n, D, d, seed)
        seconds.append(clock(partial(fit, p.X, p.y, d, n_starts=FEW_STARTS)))
    return float(np.mean(seconds))


OBSERVATIONS = """`D` = 20, `d` = 2; CPU time. Likelihood and gradient, the exact Hessian, and a fit with 4 starts,
averaged over three functions up to 400 observations and not tried beyond 1,000. Above 400 a fit searches for modes on
400 of them and follows the best two on all."""


def growth_in_observations(quick: bool) -> Section:
    sizes = [50, 100, 200, 400] if quick else [50, 100, 200, 400, 1000, 2000]
    columns: dict[str, list[float]] = {"gradient, ms": [], "Hessian, ms": [], "fit, s": []}
    for n in sizes:
        start = conditioning(problem(n, 20))
        derivatives = {"gradient, ms": likelihood_and_gradient, "Hessian, ms": likelihood.hessian}
        best = race({name: partial(afresh, start, derive) for name, derive in derivatives.items()}, 3)
        for name, seconds in best.items():
            columns[name].append(1e3 * seconds)
        columns["fit, s"].append(fit_seconds(n, 20, 2, 1 if quick or n > 400 else 3) if n <= 1000 else np.nan)
    return growth("Growth in observations", OBSERVATIONS, "N", sizes, columns)


INPUTS = """A fit with 4 starts, `N` = 60, `d` = 2; CPU time, averaged over three functions. Up to `D` = `N` each input
brings parameters; from there on the data span 60 directions and more inputs cost their inner products alone. Some
searches are longer than others, whatever the size."""


def growth_in_inputs(quick: bool) -> Section:
    sizes = [10**k for k in range(1, 6 if quick else 7)]
    seconds = [fit_seconds(60, D, 2, 1 if quick else 3) for D in sizes]
    return growth("Growth in inputs", INPUTS, "D", sizes, {"fit, s": seconds})


DIMENSIONS = """`N` = 100, `D` = 20; CPU time. The exact Hessian, and a fit with 4 starts, averaged over three
functions."""


def growth_in_dimensions(quick: bool) -> Section:
    sizes = [1, 2, 3] if quick else [1, 2, 3, 4, 5]
    columns: dict[str, list[float]] = {"Hessian, ms": [], "fit, s": []}
    for d in sizes:
        best = race({"Hessian": partial(afresh, conditioning(problem(100, 20, d)), likelihood.hessian)}, 3)
        columns["Hessian, ms"].append(1e3 * best["Hessian"])
        columns["fit, s"].append(fit_seconds(100, 20, d, 1 if quick else 3))
    return growth("Growth in dimensions of the embedding", DIMENSIONS, "d", sizes, columns)


CANDIDATES = """`belief.bald`, `N` = 100, `D` = 20, `d` = 2; CPU time."""


def growth_in_candidates(quick: bool) -> Section:
    sizes = [10**k for k in range(2, 6 if quick else 7)]
    p = problem(100, 20)
    belief = fit(p.X, p.y)
    seconds = []
    for m in sizes:
        work = partial(belief.bald, p.f.sample(m, 7))
        seconds.append(race({"bald": work}, 3 if m < 10**5 else 1)["bald"])
    columns = {"scores, s": seconds, "a thousand, ms": [1e6 * s / m for s, m in zip(seconds, sizes, strict=True)]}
    return growth("Growth in candidates", CANDIDATES, "M", sizes, columns)
