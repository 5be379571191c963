"""Ridgeway in Ax: as a generation node, and as the surrogate of Ax's own generator."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ridgeway as rw


@pytest.fixture
def ax() -> Iterator[Any]:
    """Ax, quiet: its import takes seconds, so it is not made where tests are collected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ax, its dependencies and the optimiser that it runs
        found = pytest.importorskip("ax", reason="Ax is not installed: pip install 'ridgeway[ax]'")
        before = logging.getLogger("ax").level
        logging.getLogger("ax").setLevel(logging.ERROR)
        yield found
        logging.getLogger("ax").setLevel(before)


def f(parameters: dict[str, Any]) -> float:
    return float(np.sin(3.0 * parameters["a"] - 0.3 * parameters["b"]) + 0.2 * np.log10(parameters["c"]))


def client(strategy: Any) -> Any:
    from ax.api.client import Client
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    made = Client(random_seed=0)
    made.configure_experiment(
        name="experiment",
        parameters=[
            RangeParameterConfig(name="a", bounds=(0.0, 1.0), parameter_type="float"),
            RangeParameterConfig(name="b", bounds=(0, 5), parameter_type="int"),
            RangeParameterConfig(name="c", bounds=(0.01, 1.0), parameter_type="float", scaling="log"),
            ChoiceParameterConfig(name="d", values=[2.5], parameter_type="float"),
        ],
    )
    made.configure_optimization(objective="y")
    made.set_generation_strategy(strategy)
    return made


def run(made: Any, n: int, at_once: int = 1) -> list[dict[str, Any]]:
    asked = []
    for _ in range(n):
        for trial, parameters in made.get_next_trials(max_trials=at_once).items():
            made.complete_trial(trial, {"y": f(parameters)})
            asked.append(parameters)
    return asked


@pytest.mark.slow
def test_a_learner_is_a_generation_node(ax: Any) -> None:
    from ax.generation_strategy.generation_strategy import GenerationStrategy

    from ridgeway.botorch.ax_node import RidgewayNode

    node = RidgewayNode(embedding=rw.Linear(1), effort="quick", inference="map", n_initial=4, fill_every=None)
    made = client(GenerationStrategy(name="learn", nodes=[node]))
    asked = run(made, 4, at_once=2)
    assert len({tuple(p.values()) for p in asked}) == 8
    for parameters in asked:
        assert 0.0 <= parameters["a"] <= 1.0
        assert isinstance(parameters["b"], int)
        assert 0.01 <= parameters["c"] <= 1.0
        assert parameters["d"] == 2.5
    (last,) = made.get_next_trials(max_trials=1).values()
    assert node.learner is not None
    assert node.learner.record.n == 8
    # The last one was chosen by the model: no other point, rounding aside, would teach more.
    outlook = rw.acquisition.information
    inputs = np.column_stack([[p[name] for p in [*asked, last]] for name in "abc"]).astype(float)
    inputs[:, 2] = np.log10(inputs[:, 2])
    nats = outlook(node.learner.belief, inputs)
    assert nats[-1] > np.median(nats[:-1])


@pytest.mark.slow
def test_an_embedding_gp_is_a_surrogate(ax: Any) -> None:
    from ax.adapter.cross_validation import cross_validate
    from ax.adapter.registry import Generators
    from ax.generation_strategy.generation_node import GenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.generation_strategy.generator_spec import GeneratorSpec
    from ax.generation_strategy.transition_criterion import MinTrials
    from ax.generators.torch.botorch_modular.surrogate import ModelConfig, SurrogateSpec

    from ridgeway.botorch import EmbeddingGP

    options = {"embedding": rw.Linear(1), "effort": "quick", "inference": "map"}
    config = ModelConfig(botorch_model_class=EmbeddingGP, model_options=options)
    first = GenerationNode(
        name="first",
        generator_specs=[GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": 0})],
        transition_criteria=[MinTrials(threshold=6, transition_to="then")],
    )
    arguments = {"surrogate_spec": SurrogateSpec(model_configs=[config])}
    then = GenerationNode(
        name="then", generator_specs=[GeneratorSpec(Generators.BOTORCH_MODULAR, generator_kwargs=arguments)]
    )
    strategy = GenerationStrategy(name="climb", nodes=[first, then])
    made = client(strategy)
    asked = run(made, 8)
    assert strategy.current_node_name == "then"
    surrogate = strategy.adapter.generator.surrogate
    assert isinstance(surrogate.model, EmbeddingGP)
    assert surrogate.model.embedding == rw.Linear(1)
    ((mean, std),) = made.predict([asked[0]])[0].values()
    assert mean == pytest.approx(f(asked[0]), abs=max(0.3, 3.0 * std))
    validated = cross_validate(strategy.adapter)
    assert len(validated) >= 7
    assert all(np.isfinite(fold.predicted.means[0]) for fold in validated)


@pytest.mark.slow
def test_what_a_learner_cannot_vary_is_refused(ax: Any) -> None:
    from ax.core.parameter import ChoiceParameter, ParameterType

    from ridgeway.botorch.ax_node import _input

    word = ChoiceParameter("solvent", ParameterType.STRING, ["water", "oil"], is_ordered=False, sort_values=False)
    with pytest.raises(ValueError, match="parameter 'solvent' must be a range or a fixed number"):
        _input(word)
