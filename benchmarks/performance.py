"""Speed and memory, Ridgeway beside its rivals: ``python benchmarks/performance.py [--quick] [--write FILE]``.

Everything that is compared is measured in the same run, turn and turn about, in CPU seconds of
one thread, so that a busy machine disturbs both sides alike; what counts are the ratios.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import ridgeway as rw
from growth import growth_in_candidates, growth_in_dimensions, growth_in_inputs, growth_in_observations
from measuring import (
    NOISE,
    PRODUCT,
    Problem,
    Section,
    Target,
    afresh,
    agree,
    at_most,
    candidate_gradients,
    clock,
    conditioning,
    embedding_hessian,
    figure,
    fit,
    likelihood_and_gradient,
    plain_predictions,
    problem,
    product,
    product_rate,
    race,
    table,
    timed,
    times,
)  # fmt: skip  # isort: skip
from ridgeway.gp import likelihood

LIMIT = 3600.0  # seconds that the process with very many inputs may take
INTRO = """# Performance

Written by `make bench`, that is

```sh
python benchmarks/performance.py --write docs/performance.md
```

All times are CPU time of one process, with BLAS, OpenMP and torch limited to one thread. Short work is repeated, and
the best time counts. The libraries take turns within one run, so that other load on the machine disturbs them alike:
the ratios hardly depend on the machine, the seconds do. Unless said otherwise, problems are functions drawn from the
model (`ridgeway.testfunctions.from_model`) with noise of standard deviation 0.1, `N` observations of `D` inputs, `d`
rows of the embedding and `M` candidates. Where another library computes the same numbers as Ridgeway, the script
stops unless they agree to six digits.
"""


def machine(quick: bool) -> Section:
    """How fast this machine multiplies matrices, and with what."""
    rate = product_rate(race({"product": product()})["product"])
    blas = [i for i in threadpool_info() if i["user_api"] == "blas"]
    names = sorted({f"{i['internal_api']} {i['version']} ({i.get('architecture', 'unknown')})" for i in blas})
    rows = [
        (f"product of two {PRODUCT} × {PRODUCT} matrices, double precision", f"{figure(rate)} GFLOP/s"),
        ("BLAS of numpy and scipy", ", ".join(names)),
        *((name, version(name)) for name in ("numpy", "scipy", "scikit-learn", "torch", "smt")),
    ]
    text = "The speed of a matrix product on one thread is the unit in which the scores are judged below."
    return Section("The machine", text, ("what", "value"), rows)


HESSIAN = """`N` = 100, `D` = 318, `d` = 2, without the reduction. The target is for the 636 entries of `R`; *joint*
adds output scale, noise and mean. Rows are Ridgeway's unless torch is named; torch's are joint. Each starts from the
inputs, covariance and Cholesky factor included, unless said otherwise. After the reduction to the space that the data
span, which is exact and what `rw.fit` works with, 200 entries carry the same information. The size of torch's blocks
is the fastest of several tried."""


def hessian(quick: bool) -> Section:
    """The exact Hessian over every entry of ``R`` beside one gradient, and beside torch's."""
    import rivals

    p = problem(100, 318)
    start = conditioning(p)
    gp = start()
    torch = rivals.torch_likelihood(p.X, p.y, gp.theta[:-1], 2)
    agree(likelihood.gradient(gp)[:-1], torch.gradient(), "gradients")
    for theirs in (torch.hessian, torch.hessian_in_blocks):
        agree(likelihood.hessian(gp)[:-1, :-1], theirs(), "Hessians")
    contestants = {
        "likelihood and gradient": partial(afresh, start, likelihood_and_gradient),
        "likelihood and gradient, torch": torch.gradient,
        "Hessian in `R`": partial(afresh, start, embedding_hessian),
        "Hessian, joint": partial(afresh, start, likelihood.hessian),
        "Hessian, joint, where the gradient is known": lambda: likelihood.hessian(gp),
        "Hessian, joint, after the reduction": partial(afresh, conditioning(p, reduced=True), likelihood.hessian),
        f"Hessian, torch, reverse over reverse, {rivals.HESSIAN_BLOCK} rows at a time": torch.hessian_in_blocks,
        "Hessian, `torch.func.hessian` (forward over reverse)": torch.hessian,
    }
    best = race(contestants, 2 if quick else 7)
    unit = best["likelihood and gradient"]
    target = at_most("exact Hessian, N=100, D=318, d=2, in gradients", 8, best["Hessian in `R`"] / unit, "×")
    cells = {"Hessian in `R`": target.cell}
    rows = [(name, figure(1e3 * s), times(s / unit), cells.get(name, "")) for name, s in best.items()]
    return Section("Exact Hessian", HESSIAN, ("what", "CPU ms", "in gradients", "target"), rows, (target,))


SCORES = """`belief.bald` on 20,000 candidates, `N` = 100, `D` = 20, `d` = 2. Only the matrix products of the closed
form are counted, `M(N²(1+2d) + 4Ndr + 2(dr)²)` multiplications and as many additions for each mode of the belief,
with the mode's own `d`. Exponentials, distances and other elementwise work take time but are not counted."""


def scores(quick: bool) -> Section:
    """BALD on a pool, as a share of what the machine's matrix product would do."""
    n, m = 100, 20_000
    p = problem(n, 20)
    belief = fit(p.X, p.y)
    pool = p.f.sample(m, 7)
    best = race({"product": product(), "bald": lambda: belief.bald(pool)}, 3 if quick else 9)
    sizes = [c.gp.U.shape[1] * np.array([1, belief.space.r]) for c in belief.components]  # d and d r of each mode
    gflop = 2e-9 * m * sum(n**2 * (1 + 2 * k) + 4 * n * kr + 2 * kr**2 for k, kr in sizes)
    speed, unit = gflop / best["bald"], product_rate(best["product"])
    share = 100.0 * speed / unit
    target = Target("BALD scores, share of matrix-product speed", "≥ 40 %", f"{figure(share)} %", share >= 40.0)
    rows = [
        ("modes in the belief", str(len(sizes)), ""),
        ("all scores, CPU s", figure(best["bald"]), ""),
        ("counted operations, GFLOP", figure(gflop), ""),
        ("speed, GFLOP/s", figure(speed), ""),
        ("speed of the matrix product, GFLOP/s", figure(unit), ""),
        ("share", f"{figure(share)} %", target.cell),
    ]
    return Section("Scores of candidates", SCORES, ("what", "measured", "target"), rows, (target,))


GRADIENTS = """Derivatives of predictive mean and variance in all entries of `R` at 20,000 candidates, `N` = 100,
`D` = 20, `d` = 2, one mode. Torch is timed on fewer candidates and scaled up in proportion; the sizes of its blocks
are the fastest of several tried."""


def gradients(quick: bool) -> Section:
    """Derivatives of mean and variance at every candidate, beside torch's two ways."""
    import rivals

    p = problem(100, 20)
    gp, pool = conditioning(p)(), p.f.sample(20_000, 7)
    torch = rivals.torch_moments(p.X, p.y, p.f.embedding, NOISE**2)
    contestants = {
        "Ridgeway, closed form": (len(pool), partial(candidate_gradients, gp)),
        f"torch, jacfwd, {rivals.FORWARD_BLOCK} candidates at a time": (500 if quick else 2000, torch.forward),
        f"torch, vmap(jacrev), {rivals.REVERSE_BLOCK} candidates at a time": (25 if quick else 100, torch.reverse),
    }
    few = pool[:50]
    for ours, *theirs in zip(candidate_gradients(gp, few), torch.forward(few), torch.reverse(few), strict=True):
        for other in theirs:
            agree(ours[:, :-4], other, "gradients of the moments")
    best = race({name: partial(way, pool[:m]) for name, (m, way) in contestants.items()}, 2 if quick else 5)
    unit, rows = best["Ridgeway, closed form"], []
    for name, (m, _) in contestants.items():
        seconds = best[name] * len(pool) / m
        rows.append((name, f"{m:,}", figure(seconds), times(seconds / unit)))
    header = ("what", "candidates timed", "CPU s for 20,000", "ratio")
    return Section("Gradients at candidates", GRADIENTS, header, rows)


# -- the tables: fits beside rivals ----------------------------------------------------------

FIXED = """`D` = 20, `d` = 2, `R` and all scales given: `condition` and the `map` marginal beside
`GaussianProcessRegressor` on the embedded inputs (`RBF`, no optimiser); conditioning, mean and variance."""


def fixed(quick: bool) -> Section:
    """A plain process at a given ``R``: conditioning and predicting, beside scikit-learn."""
    import rivals

    rows = []
    for n, m in ((100, 1000),) if quick else ((100, 1000), (500, 5000)):
        p = problem(n, 20)
        points, R = p.f.sample(m, 7), p.f.embedding
        ours = partial(plain_predictions, conditioning(p), points)
        theirs = partial(rivals.sklearn_fixed, p.X, p.y, R, NOISE**2, points)
        for a, b in zip(ours(), theirs(), strict=True):
            agree(a, b, "predictions")
        best = race({"ours": ours, "theirs": theirs}, 3 if quick else 9)
        cells = (figure(1e3 * best["ours"]), figure(1e3 * best["theirs"]), times(best["theirs"] / best["ours"]))
        rows.append((f"{n} observations, {m:,} predictions", *cells))
    header = ("what", "Ridgeway, CPU ms", "scikit-learn, CPU ms", "scikit-learn, ratio")
    return Section("A plain Gaussian process, beside scikit-learn", FIXED, header, rows)


FITS = """`N` = 100, `d` = 2, averages over {count}; each fit is timed once. The error is against the function without
noise, whose standard deviation is about 1. scikit-learn learns a length scale for each input, the output scale and
the noise, from one start: a simpler model, which cannot represent combinations of inputs. SMT's MGP is the paper's
model; it is given the noise, starts once and otherwise keeps its defaults."""


def fits(quick: bool) -> Section:
    """Learning everything, beside scikit-learn's ARD process and SMT's MGP."""
    import rivals

    ours = "Ridgeway, defaults"
    contestants: dict[str, Callable[[Problem], Any]] = {
        ours: lambda p: predictor(fit(p.X, p.y)),
        "scikit-learn, ARD, 1 start": lambda p: rivals.sklearn_ard(p.X, p.y).predict,
        "SMT MGP, 1 start, noise known": lambda p: rivals.smt_mgp(p.X, p.y, 2, NOISE**2).predict_values,
    }
    if quick:
        del contestants["SMT MGP, 1 start, noise known"]
    rows, n_functions = [], 1 if quick else 3
    for D in (10, 20):
        problems = [problem(100, D, seed=seed) for seed in range(n_functions)]
        runs = [[trained(train, p) for train in contestants.values()] for p in problems]
        means = dict(zip(contestants, np.mean(runs, axis=0), strict=True))
        rows += [(name, str(D), figure(s), times(s / means[ours][0]), figure(e, 2)) for name, (s, e) in means.items()]
    text = FITS.format(count="one function" if n_functions == 1 else f"{n_functions} functions")
    header = ("what", "`D`", "CPU s", "ratio", "RMSE")
    return Section("Fits, beside scikit-learn and SMT", text + " SMT is left out here." * quick, header, rows)


def predictor(belief: rw.Belief) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: belief.predict(X).mean


def trained(train: Callable[[Problem], Any], p: Problem) -> tuple[float, float]:
    """CPU seconds to train, and the error afterwards."""
    seconds, predict = timed(partial(train, p))
    return seconds, p.rmse(predict)


COLD_AND_WARM = """`rw.fit` with its defaults, `N` = 100, `D` = 20, `d` = 2: cold, and warm from that belief
(`initial=`) when one more observation has come. Each fit is timed once."""


def cold_and_warm(quick: bool) -> Section:
    """A fit from nothing, and one that continues a belief after one more observation."""
    cold, warm, rows = [], [], []
    for seed in range(2 if quick else 5):
        p = problem(101, 20, seed=seed)
        seconds, belief = timed(partial(fit, p.X[:100], p.y[:100]))
        cold.append(seconds)
        warm.append(clock(partial(fit, p.X, p.y, initial=belief)))
        rows.append((f"function {seed + 1}", figure(cold[-1]), figure(warm[-1]), str(len(belief.components))))
    targets = (
        at_most("cold fit, N=100, D=20, d=2, average", 15, float(np.mean(cold)), " s"),
        at_most("warm fit after one observation, average", 1, float(np.mean(warm)), " s"),
    )
    rows.append(("average", figure(float(np.mean(cold))), figure(float(np.mean(warm))), ""))
    rows.append(("largest", figure(max(cold)), figure(max(warm)), ""))
    rows.append(("target for the average", *(t.cell for t in targets), ""))
    header = ("what", "cold fit, CPU s", "warm fit, CPU s", "modes kept")
    return Section("Fits, cold and warm", COLD_AND_WARM, header, rows, targets)


# -- the tables: a million inputs ------------------------------------------------------------


MANY_INPUTS = """`N` = 100, `d` = 2, inputs uniform in the box, outputs a function of one direction. A linear
embedding depends on the inputs only through their inner products, so the same task can be posed in any number of
inputs. The fit at `D` = 1,000 gets the same data rotated and rescaled, and the difference is the cost of the number
of inputs. Memory is the largest resident size minus that before `X` was made. All of this runs in a process of its
own."""


def many_inputs(quick: bool) -> Section:
    """Time and memory of a fit with very many inputs, in a process of its own."""
    # The smaller size is still above the 256 MB from which inputs are kept by reference.
    D = 4 * 10**5 if quick else 10**6
    command = [sys.executable, __file__, "--many-inputs", str(D), *(["--quick"] if quick else [])]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=LIMIT).stdout)
    allowed = found["small"] + found["products"]
    label = f"fit, N=100, D={D:,}"
    targets = (
        at_most(f"{label}, beside a fit at D=1,000 and three Gram products", 1, found["fit"] / allowed, "×"),
        Target(f"{label}, peak memory beside X", "< 2×", times(found["memory"]), found["memory"] < 2.0),
    )
    rows = [
        (f"fit at `D` = {D:,}, CPU s", figure(found["fit"]), ""),
        ("fit of the same data turned into 1,000 inputs, CPU s", figure(found["small"]), ""),
        ("three products `X @ X.T`, CPU s", figure(found["products"]), ""),
        ("the first relative to the sum of these two", times(found["fit"] / allowed), targets[0].cell),
        ("size of `X`, MB", figure(found["megabytes"]), ""),
        ("peak memory of the fit, `X` included, relative to `X`", times(found["memory"]), targets[1].cell),
    ]
    return Section("Very many inputs", MANY_INPUTS, ("what", "measured", "target"), rows, targets)


def many_inputs_alone(D: int, quick: bool) -> None:
    """What :func:`many_inputs` runs in a process of its own; prints its findings as JSON."""
    n, small = 100, 1000
    p = problem(20, 4)
    fit(p.X, p.y)  # whatever is imported late is imported now
    rng = np.random.default_rng(0)
    before = memory("VmRSS")
    X = np.empty((n, D))
    rng.random(out=X)
    X *= 2.0
    X -= 1.0
    y = np.sin(2.5 * (X @ rng.standard_normal(D)) / np.sqrt(D)) + NOISE * rng.standard_normal(n)
    belief = fit(X, y)
    peak = memory("VmHWM") - before
    Q = np.linalg.qr(rng.standard_normal((small, belief.space.r)))[0]
    turned = np.sqrt(small / D) * belief.space.Z @ Q.T  # the prior scale falls with the root of D
    work = {"fit": lambda: fit(X, y), "small": lambda: fit(turned, y), "products": lambda: [X @ X.T for _ in range(3)]}
    found = dict.fromkeys(work, np.inf)
    for _ in range(1 if quick else 3):
        for name, job in work.items():
            found[name] = min(found[name], clock(job))
    print(json.dumps(found | {"memory": peak / X.nbytes, "megabytes": 1e-6 * X.nbytes}))


def memory(name: str) -> float:
    """Bytes of resident memory, now (``VmRSS``) or at most so far (``VmHWM``)."""
    status = Path("/proc/self/status")
    if status.exists():  # preferred: getrusage's maximum begins at that of the parent process
        line = next(line for line in status.read_text().splitlines() if line.startswith(name))
        return 1024.0 * int(line.split()[1])
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # in bytes where there is no /proc


# -- the page --------------------------------------------------------------------------------

SECTIONS: tuple[Callable[[bool], Section], ...] = (
    machine, hessian, scores, gradients, fixed, fits, cold_and_warm, many_inputs,
    growth_in_observations, growth_in_inputs, growth_in_dimensions, growth_in_candidates,
)  # fmt: skip


def summary(sections: list[Section]) -> str:
    targets = [t for section in sections for t in section.targets]
    rows = [(t.what, t.promise, t.measured, t.verdict) for t in targets]
    return f"## Targets\n\n{table(('what', 'target', 'measured', 'verdict'), rows)}"


def page(sections: list[Section], quick: bool) -> str:
    note = (
        ["This page comes from a quick run: smaller sizes, few repetitions, one function where three are spoken of.\n"]
        if quick
        else []
    )
    return "\n".join([INTRO, *note, summary(sections), *(s.markdown() for s in sections)])


def main() -> None:
    names = [section.__name__ for section in SECTIONS]
    parser = argparse.ArgumentParser(description="Measure Ridgeway beside its rivals.")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repetitions; no SMT")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these tables alone")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there")
    parser.add_argument("--many-inputs", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.many_inputs is not None:
        many_inputs_alone(arguments.many_inputs, arguments.quick)
        return
    sections = []
    for measure in SECTIONS:
        if measure.__name__ in arguments.only:
            print(f"measuring: {measure.__name__}", file=sys.stderr, flush=True)
            sections.append(measure(arguments.quick))
            print(sections[-1].markdown(), flush=True)
    print(summary(sections))
    if arguments.write is not None:
        arguments.write.write_text(page(sections, arguments.quick), encoding="utf-8")


if __name__ == "__main__":
    main()
