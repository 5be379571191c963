"""Changes of what a campaign is about: what becomes of the trials, what is refused, and what the log says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import ridgeway as rw
from ridgeway import Campaign, CampaignError, Category, Input, RidgewayWarning
from tests.campaign import several


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = Campaign.create(
        tmp_path / "c.sqlite", "c", [Input("a", 0, 1, "mm"), Input("b", 0, 1)], embedding=rw.Linear(1), inference="map"
    )
    for trial in made.ask(6):
        made.tell(trial, float(trial.x.sum()))
    return made


def again(campaign: Campaign) -> Campaign:
    return Campaign.open(campaign.where)


@pytest.mark.slow
def test_a_wider_range_is_used_and_fits_are_made_again(campaign: Campaign) -> None:
    before = campaign.belief
    campaign.set_range("a", 0, 3, "a new oven")
    assert again(campaign).setup.inputs is not None
    assert campaign.summary() is None
    assert campaign.belief.space.scaling.half_width[0] == 3 * before.space.scaling.half_width[0]
    assert max(trial.x[0] for trial in campaign.ask(12)) > 1.0
    with pytest.raises(CampaignError, match="lower below upper"):
        campaign.set_range("a", 3, 0, "a slip")


@pytest.mark.slow
def test_a_held_input_stays_and_old_trials_are_data(campaign: Campaign) -> None:
    campaign.hold("a", 0.25, "the valve is stuck")
    assert {trial.x[0] for trial in campaign.ask(4)} == {0.25}
    assert campaign.belief.X.shape == (6, 2)
    campaign.hold("a", 0.5, "stuck elsewhere")
    assert [str(c) for c in again(campaign).setup.inputs.constraints] == ["a = 0.5"]  # type: ignore[union-attr]
    campaign.release("a", "mended")
    assert len({trial.x[0] for trial in campaign.ask(4)}) > 1
    with pytest.raises(CampaignError, match="not held"):
        campaign.release("a", "again")


@pytest.fixture
def mixed(tmp_path: Path) -> Campaign:
    """With an input on a log scale, whole numbers on one, steps, a category, and a constraint beside them."""
    items = [
        Input("rate", 0.01, 10, log=True),
        Input("n", 1, 100, log=True, integer=True),
        Category("s", ("water", "oil", "wax")),
        Input("c", 0, 1, step=0.25),
        Input("a", 0, 1),
        Input("b", -1, 1),
    ]
    options: dict[str, Any] = {"embedding": rw.Linear(1), "inference": "map", "n_initial": 6}
    made = Campaign.create(tmp_path / "m.sqlite", "m", items, constraints=["a + b <= 0.7"], **options)
    for trial in made.ask(8):
        made.tell(trial, float(trial.x.sum()))
    return made


@pytest.mark.slow
def test_logarithms_and_categories_are_held_exactly_and_taken_back(mixed: Campaign) -> None:
    first, before = mixed.setup.to_json(), [trial.x.tolist() for trial in mixed.all_trials()]
    held: dict[str, Any] = {"rate": 0.123456789, "n": 7, "s": "oil", "c": 0.75, "b": 0}  # more digits than are shown
    for name, value in held.items():
        mixed.hold(name, value, "for now")
    opened = again(mixed)
    asked = opened.ask(6)
    assert all({name: trial.inputs[name] for name in held} == held for trial in asked)
    assert len({trial.inputs["a"] for trial in asked}) == 6
    assert all(trial.inputs["a"] <= 0.7 + 1e-12 for trial in asked)
    assert opened.belief.X.shape == (8, 8)  # trials at other values are data
    assert [trial.x.tolist() for trial in opened.all_trials()[:8]] == before
    opened.rename("s", "solvent", "clearer")
    inputs = again(opened).setup.inputs
    assert inputs is not None
    assert [inputs.shown(c) for c in inputs.constraints][2:4] == ["n = 7", "solvent = oil"]
    assert "s held at oil" in [line.what for line in opened.log]
    undone = [opened.undo() for _ in range(6)]
    assert undone[1:] == ["b held at 0", "c held at 0.75", "s held at oil", "n held at 7", "rate held at 0.123457"]
    assert opened.setup.to_json() == first == again(opened).setup.to_json()


def test_a_category_is_held_elsewhere_and_released(mixed: Campaign) -> None:
    mixed.hold("s", "wax", "sold out")
    mixed.hold("s", "water", "that too")
    assert {trial.inputs["s"] for trial in mixed.ask(3)} == {"water"}
    with pytest.warns(RidgewayWarning, match=r"breaks the constraint 's = water'; it is kept as data"):
        mixed.tell(9, 1.0, inputs={"s": "oil"})
    mixed.release("s", "there is more")
    assert {trial.inputs["s"] for trial in mixed.ask(12)} > {"water"}
    mixed.hold("s", "oil", "again")
    mixed.remove_constraint("s = oil", "by what is shown")
    with pytest.raises(CampaignError, match="'s' is not held"):
        mixed.release("s", "twice")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("s", "gas", "input 's' must be one of water, oil, wax, got 'gas'"),
        ("s", 1.0, "input 's' must be one of water, oil, wax, got 1.0"),
        ("rate", -1.0, r"'rate' cannot be held at -1, which is not within \[0.01, 10\]"),
        ("rate", 11.0, "change its range first"),
        ("rate", "fast", "'rate' must be held at a number, got 'fast'"),
        ("rate", float("nan"), "value must be"),
        ("n", 2.5, "'n' is an integer and cannot be held at 2.5"),
        ("c", 0.3, "'c' cannot be held at 0.3: its values are 0, 0.25 and so on"),
        ("b", 0.9, None),
        ("speed", 1.0, "there is no input 'speed'"),
    ],
)
def test_values_at_which_nothing_is_held(mixed: Campaign, name: str, value: Any, message: str | None) -> None:
    if message is None:  # one that leaves no room for the other inputs of a constraint
        mixed.hold("a", 0.0, "for now")
        mixed.hold("b", 0.7, "the most that is left")
        message = "leaves no point"
    before = mixed.version()
    with pytest.raises(CampaignError, match=message):
        mixed.hold(name, value, "a slip")
    assert mixed.version() == before


def test_a_limit_for_an_input_on_a_log_scale_alone(mixed: Campaign) -> None:
    mixed.add_constraint("rate <= 0.0512345678", "a leak")
    rates = [trial.inputs["rate"] for trial in mixed.ask(12)]
    assert max(rates) <= 0.0512345678
    assert min(rates) < 0.03
    with pytest.raises(CampaignError, match="a sum is not linear"):
        mixed.add_constraint("rate + a <= 1", "a slip")
    with pytest.raises(CampaignError, match="so it must be positive"):
        mixed.add_constraint("rate >= -1", "a slip")


@pytest.mark.parametrize(
    ("item", "value", "columns"),
    [(Input("p", 1, 5, "bar"), 2.0, [2.0]), (Category("s", ("water", "oil")), "oil", [0.0, 1.0])],
)
def test_a_new_input_has_a_value_in_the_trials_so_far(
    campaign: Campaign, item: Input | Category, value: float | str, columns: list[float]
) -> None:
    campaign.add_input(item, value, "it matters after all")
    opened = again(campaign)
    assert all(trial.x[2:].tolist() == columns for trial in opened.all_trials())
    assert all(trial.inputs[item.name] == value for trial in opened.all_trials())
    opened.ask(2)
    assert opened.belief.X.shape[1] == 2 + len(columns)


@pytest.mark.slow
def test_names_and_units_change_without_a_new_fit(campaign: Campaign) -> None:
    campaign.belief  # noqa: B018 - fitted and kept
    campaign.add_constraint("a + b <= 1.5", "a limit")
    campaign.belief  # noqa: B018
    campaign.rename("a", "alpha", "as others call it")
    campaign.set_unit("alpha", "cm", "a slip")
    campaign.rename("value", "strength", "what it is")
    opened = again(campaign)
    assert opened.setup.labels == ("alpha [cm]", "b")
    assert opened.setup.outputs.names == ("strength",)
    assert [str(c) for c in opened.setup.inputs.constraints] == ["alpha + b <= 1.5"]  # type: ignore[union-attr]
    summary = opened.summary()
    assert summary is not None
    assert {name for name, _ in summary["inputs"]} == {"alpha", "b"}
    assert opened.belief.labels == ("alpha [cm]", "b")
    with pytest.raises(CampaignError, match="column"):
        opened.rename("b", "trial", "a slip")


def test_undo_takes_back_one_after_the_other(campaign: Campaign) -> None:
    first = campaign.setup
    campaign.set_range("a", 0, 2, "wider")
    campaign.add_input(Input("p", 1, 5), 2.0, "new")
    campaign.correct(1, 9.0, "misread")
    assert campaign.undo().startswith("trial 1: value ")
    assert campaign.all_trials()[0].value == pytest.approx(float(campaign.all_trials()[0].x[:2].sum()))
    assert campaign.undo().startswith("new input p")
    assert campaign.undo().startswith("a from 0 .. 1 to 0 .. 2")
    assert campaign.setup.to_json() == first.to_json() == again(campaign).setup.to_json()
    assert campaign.all_trials()[0].x.shape == (2,)
    with pytest.raises(CampaignError, match="nothing to undo"):
        campaign.undo()


def test_an_input_that_trials_differ_in_stays(campaign: Campaign) -> None:
    campaign.add_input(Input("p", 1, 5), 2.0, "new")
    campaign.ask(2)
    with pytest.raises(CampaignError, match="trials since then differ in it"):
        campaign.undo()
    assert campaign.all_trials()[0].x.shape == (3,)


def test_another_who_has_it_open_must_open_it_again(campaign: Campaign) -> None:
    other = again(campaign)
    campaign.add_input(Input("p", 1, 5), 2.0, "new")
    with pytest.raises(CampaignError, match="were changed since it was opened"):
        other.ask()
    assert again(campaign).ask().x.shape == (3,)


def test_the_log_has_all_of_it(campaign: Campaign) -> None:
    campaign.set_range("a", 0, 2, "wider")
    campaign.abandon([trial.id for trial in campaign.ask(3)], "no material")
    campaign.undo("not so")
    lines = [(line.what, line.why) for line in campaign.log]
    assert lines[0] == ("campaign made", "")
    assert ("asked for trials 1 to 6", "") in lines
    assert ("a from 0 .. 1 to 0 .. 2", "wider") in lines
    assert ("abandoned: trials 7 to 9", "no material") in lines
    assert lines[-1] == ("undone: a from 0 .. 1 to 0 .. 2", "not so")
    with pytest.raises(CampaignError, match="reason must say why"):
        campaign.set_range("a", 0, 2, " ")


def test_several_are_abandoned_or_none(campaign: Campaign) -> None:
    pending = [trial.id for trial in campaign.ask(2)]
    with pytest.raises(CampaignError, match="has an outcome"):
        campaign.abandon([*pending, 1])
    assert [trial.id for trial in campaign.pending] == pending
    campaign.abandon(pending)
    assert not campaign.pending


def test_a_pool_stays_as_it_is(tmp_path: Path) -> None:
    made = Campaign.create(tmp_path / "c.sqlite", "c", rw.Pool(np.eye(3)))
    with pytest.raises(CampaignError, match="columns of its candidates"):
        made.set_range("x0", 0, 2, "wider")


def test_a_correction_goes_with_the_outcome_that_is_taken_back(campaign: Campaign) -> None:
    """Undo then takes back what stood before it, not a value that is no longer there."""
    campaign.set_range("a", 0, 2, "wider")
    campaign.correct(1, 2.0, "misread")
    campaign.reopen(1, "wrong line")
    assert campaign.undo().startswith("a from 0 .. 1 to 0 .. 2")
    assert campaign.all_trials()[0].state == "asked"


def test_outputs_are_renamed_added_and_weighed(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    two.ask(3)
    two.tell(1, {"yield": 1.0, "cost": 2.0})
    two.tell(2, {"yield": 3.0})
    two.rename("cost", "price", "clearer")
    two.set_unit("price", "CHF", "it is")
    assert again(two).setup.outputs.labels == ("yield [%]", "price [CHF]")
    assert again(two).all_trials()[0].values == {"yield": 1.0, "price": 2.0}
    two.add_output("colour", "we see it")
    first, second, third = two.all_trials()
    assert (first.state, first.awaited, first.outputs) == ("told", ("colour",), ("yield", "price", "colour"))
    assert (second.awaited, third.awaited) == (("price", "colour"), ("yield", "price", "colour"))
    two.tell(2, {"price": 4.0})
    assert two.all_trials()[1].state == "asked"
    assert two.undo() == "new output colour"
    assert two.all_trials()[1].state == "told"  # it lacks nothing else
    two.add_output(rw.Output("colour", weight=3.0), "we see it")
    two.tell(1, {"colour": 7.0})
    with pytest.raises(CampaignError, match="'new output colour' cannot be undone: trial 1 has a result for it"):
        two.undo()
    two.set_weights({"price": 0.0, "yield": 2.0}, "for now")
    two.set_choose("turns", "to compare")
    assert (again(two).setup.outputs.weights, again(two).setup.outputs.choose) == ((2.0, 0.0, 3.0), "turns")
    assert "experiments are chosen by turns" in two.log[-1].what


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.add_output("yield", "again"), "different names, got 'yield' twice"),
        (lambda c: c.add_output("a", "a slip"), "must not be called 'a'"),
        (lambda c: c.add_output(rw.Output("z", goal="minimize"), "now"), "a new output is learned"),
        (lambda c: c.rename("cost", "yield", "a slip"), "different names"),
        (lambda c: c.set_weights({"profit": 1.0}, "now"), "there is no output 'profit'"),
        (lambda c: c.set_weights({"yield": 0.0, "cost": 0.0}, "now"), "must not all be 0"),
        (lambda c: c.set_choose("both", "now"), "choose must be one of sum, turns"),
        (lambda c: c.set_choose("turns", " "), "reason must say why"),
    ],
)
def test_changes_of_outputs_that_are_refused(tmp_path: Path, change: Any, message: str) -> None:
    two = several.create(tmp_path / "two.sqlite")
    before = two.version()
    with pytest.raises(CampaignError, match=message):
        change(two)
    assert two.version() == before


def test_results_that_were_corrected_together_are_taken_back_together(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    two.ask(3)
    two.tell(1, {"yield": 1.0, "cost": 2.0}, sigma={"cost": 0.1})
    two.tell(2, {"yield": 3.0, "cost": 4.0})
    two.fail(3, "broke")
    before = [(t.state, t.reason, t.results, t.x.tolist()) for t in two.all_trials()]

    def restored() -> bool:
        return [(t.state, t.reason, t.results, t.x.tolist()) for t in two.all_trials()] == before

    a = float(two.all_trials()[0].x[0])
    two.correct(1, {"yield": 8.0, "cost": 9.0}, "wrong line", sigma={"cost": 0.2}, inputs={"a": 0.5})
    two.correct(2, {"cost": 7.0}, "misread")
    assert two.undo() == "trial 2: cost 4 to 7"
    assert two.undo() == f"trial 1: yield 1 to 8, a {a:.10g} to 0.5, cost 2 to 9, sigma of cost 0.1 to 0.2"
    assert restored()
    two.correct(2, None, "discarded")
    assert two.undo() == "trial 2: yield 3 to failed, cost 4 to failed"
    assert restored()
    frame = [{"trial": 1, "yield": 5.0, "cost": 6.0}, {"trial": 2, "yield": 5.0, "cost": 4.0}]
    two.tell_table(pandas.DataFrame(frame), corrections="another scale")
    assert two.undo() == "the corrections of trials 1, 2"
    assert restored()
    with pytest.raises(CampaignError, match="nothing to undo"):
        two.undo()


def test_corrections_made_together_of_which_one_is_gone(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    two.ask(2)
    two.tell(1, {"yield": 1.0, "cost": 2.0})
    two.tell(2, {"yield": 1.0, "cost": 2.0})
    two.correct(2, {"yield": 3.0}, "misread")
    two.correct(1, {"yield": 8.0, "cost": 9.0}, "wrong line")
    two.reopen(1, "not measured", ["yield"])
    assert two.undo() == "trial 1: cost 2 to 9"
    assert two.all_trials()[0].values == {"cost": 2.0}
    assert two.undo() == "trial 2: yield 1 to 3"
