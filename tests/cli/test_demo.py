"""The demonstration: what it shows, and what it says of wrong arguments."""

from __future__ import annotations

import pytest

import ridgeway as rw
from ridgeway.cli import demo

SMALL = ["--inputs", "3", "--dimensions", "1", "--observations", "5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dimensions", "0"], "--dimensions must be between 1 and --inputs (20), got 0"),
        (["--dimensions", "-2"], "--dimensions must be between 1 and --inputs (20), got -2"),
        (["--inputs", "3", "--dimensions", "4"], "--dimensions must be between 1 and --inputs (3), got 4"),
        (["--inputs", "0"], "--inputs"),
        (["--observations", "1"], "--observations must be at least 2, got 1"),
        (["--observations", "-5"], "--observations must be at least 2, got -5"),
        (["--inputs", "many"], "argument --inputs: invalid int value: 'many'"),
        (["--dimensions", "1.5"], "argument --dimensions: invalid int value: '1.5'"),
        (["--noise", "loud"], "argument --noise: invalid float value: 'loud'"),
        (["--seed", "x"], "argument --seed: invalid int value: 'x'"),
        ([*SMALL, "--noise", "-1"], "--noise must be"),
        ([*SMALL, "--noise", "nan"], "--noise must be"),
        ([*SMALL, "--noise", "inf"], "--noise must be"),
        ([*SMALL, "--seed", "-1"], "--seed must be"),
        (["--colour"], "unrecognized arguments: --colour"),
        (["20"], "unrecognized arguments: 20"),
        (["--inputs"], "argument --inputs: expected one argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_arguments_of_the_demonstration(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        demo.main(arguments)
    assert exit_.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.startswith("usage: ")


def test_help_of_the_demonstration(capsys):
    with pytest.raises(SystemExit) as exit_:
        demo.main(["--help"])
    assert exit_.value.code == 0
    assert "--observations" in capsys.readouterr().out


@pytest.mark.slow
def test_demonstration(monkeypatch, capsys):
    learners = []

    def watched(*positional, **named):
        learners.append(original(*positional, **named))
        return learners[-1]

    original = rw.learn
    monkeypatch.setattr(rw, "learn", watched)
    monkeypatch.setattr("ridgeway.active.refit.full_search", lambda n, settings: 4)
    arguments = ["--inputs", "4", "--dimensions", "1", "--observations", "30", "--noise", "0.05", "--seed", "1"]
    assert demo.main(arguments) == 0
    out, err = capsys.readouterr()
    active, random = learners
    assert active.X.shape == random.X.shape == (30, 4)
    assert (active.acquisition, random.acquisition) == ("information", "random")
    assert active.belief.summary() in out
    assert out.startswith("A function of 4 inputs that varies along 1 directions only")
    assert err == ""  # no progress where nobody watches
    assert max(map(len, out.splitlines())) <= 80
    varies = float(out.split("the function varies by ")[1].split(":")[0])
    error = float(out.split("error of the mean")[1].split()[0])
    assert error < 0.2 * varies
    angle = float(out.split("angles to the true subspace")[1].split()[0][:-1])
    assert angle < 10.0
