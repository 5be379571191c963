"""The paper's own numbers, as its two tables print them."""

from __future__ import annotations

#: Table 1: mean negative log-likelihood (``nll``) and symmetrised KL divergence (``skld``) of test points, in nats.
TABLE1: dict[str, dict[str, dict[str, float]]] = {
    "synthetic-5": {
        "nll": {"map": 3.58, "bbq": 2.67, "mgp": 1.73},
        "skld": {"map": 0.216, "bbq": 0.144, "mgp": 0.0835},
    },
    "synthetic-10": {
        "nll": {"map": 3.57, "bbq": 3.10, "mgp": 1.86},
        "skld": {"map": 0.872, "bbq": 0.758, "mgp": 0.465},
    },
    "synthetic-20": {
        "nll": {"map": 1.46, "bbq": 1.41, "mgp": 0.782},
        "skld": {"map": 1.01, "bbq": 0.947, "mgp": 0.500},
    },
    "yacht": {
        "nll": {"map": 123.0, "bbq": 97.8, "mgp": 56.8},
        "skld": {"map": 0.0322, "bbq": 0.0133, "mgp": 0.0323},
    },
    "concrete": {
        "nll": {"map": 2.96e9, "bbq": 2.96e9, "mgp": 1.67e9},
        "skld": {"map": 0.413, "bbq": 0.347, "mgp": 0.337},
    },
}

#: Table 2: mean negative log predictive density (``nlpd``) and root mean square error (``rmse``) of test points.
TABLE2: dict[str, dict[str, dict[str, float]]] = {
    "synthetic-10-2": {
        "nlpd": {"rand": 0.272, "lh": 0.224, "unc": -0.564, "bald": -0.649},
        "rmse": {"rand": 0.412, "lh": 0.371, "unc": 0.146, "bald": 0.138, "lasso": 0.842},
    },
    "synthetic-10-3": {
        "nlpd": {"rand": 0.711, "lh": 0.999, "unc": 0.662, "bald": 0.465},
        "rmse": {"rand": 0.553, "lh": 0.687, "unc": 0.557, "bald": 0.523, "lasso": 0.864},
    },
    "synthetic-20-2": {
        "nlpd": {"rand": 0.804, "lh": 0.745, "unc": 0.749, "bald": 0.470},
        "rmse": {"rand": 0.578, "lh": 0.549, "unc": 0.551, "bald": 0.464, "lasso": 0.853},
    },
    "synthetic-20-3": {
        "nlpd": {"rand": 1.07, "lh": 1.10, "unc": 1.04, "bald": 0.888},
        "rmse": {"rand": 0.714, "lh": 0.740, "unc": 0.700, "bald": 0.617, "lasso": 0.883},
    },
    "branin-10": {
        "nlpd": {"rand": 3.87, "lh": 3.90, "unc": 1.58, "bald": 0.0165},
        "rmse": {"rand": 18.2, "lh": 17.8, "unc": 3.63, "bald": 2.29, "lasso": 40.0},
    },
    "branin-20": {
        "nlpd": {"rand": 4.00, "lh": 3.70, "unc": 3.55, "bald": 3.63},
        "rmse": {"rand": 18.3, "lh": 14.8, "unc": 13.4, "bald": 15.0, "lasso": 39.1},
    },
    "communities": {
        "nlpd": {"rand": 1.09, "unc": 1.17, "bald": 1.01},
        "rmse": {"rand": 0.720, "unc": 0.782, "bald": 0.661, "lasso": 1.16},
    },
    "temperature": {
        "nlpd": {"rand": 0.566, "unc": 0.583, "bald": 0.318},
        "rmse": {"rand": 0.423, "unc": 0.427, "bald": 0.328, "lasso": 0.430},
    },
    "ct": {
        "nlpd": {"rand": 1.30, "unc": 1.26, "bald": 1.16},
        "rmse": {"rand": 0.878, "unc": 0.845, "bald": 0.767, "lasso": 0.900},
    },
}
