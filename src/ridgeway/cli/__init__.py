"""``ridgeway``: campaigns from the command line.

Exit codes: 0 done, 1 something is wrong with a file, a value or the database (one line on stderr says
what and what to do), 2 the command itself cannot be understood.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import warnings
from typing import Any

import typer

from ridgeway.cli import changes, explain, reproduce, start, trials, views
from ridgeway.cli.report import report
from ridgeway.cli.run import run
from ridgeway.cli.serve import serve
from ridgeway.cli.strict import Strict
from ridgeway.errors import CampaignError, NumericalError
from ridgeway.text.terminal import visible

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Choose the experiments that teach most, and keep everything in one campaign.",
    epilog="Begin with: ridgeway init --input 'temperature 20 80 °C' --input 'rate 0.01 10 1/s log'",
)
_COMMANDS = (
    (start.init, "begin a campaign"),
    (trials.ask, "ask for the next experiments"),
    (trials.tell, "take results from a file"),
    (trials.attach, "add data from before"),
    (trials.fail, "an experiment gave nothing"),
    (trials.correct, "correct a result, keep the old one"),
    (trials.abandon, "give up trials"),
    (trials.reclaim, "take over trials that are pending for long"),
    (changes.change, "change a range, a name, add an input, ..."),
    (changes.undo, "take back the last change"),
    (changes.log, "everything that was done"),
    (views.status, "where the campaign stands"),
    (views.corrections, "list what was corrected"),
    (views.predict, "predict at the points of a file"),
    (views.best, "the best point so far"),
    (views.score, "rank points by what they promise"),
    (explain.sensitivity, "which inputs matter, as Sobol indices"),
    (explain.integrate, "the output's mean and spread over the inputs"),
    (report, "write a page to show to a colleague"),
    (trials.export, "write all trials to a file"),
    (run, "drive a program, trial after trial"),
    (serve, "show the campaign as a page that stays open"),
    (start.demo, "watch a function being learned"),
)
for command, summary in _COMMANDS:
    app.command(cls=Strict, short_help=summary)(command)
app.add_typer(reproduce.app, name="reproduce", short_help="the paper's tables and figures")


def main(arguments: list[str] | None = None) -> None:
    """The program: run a command, and leave with an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app(arguments)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (CampaignError, ValueError, TypeError, OSError, ImportError, NumericalError) as error:
        _say(str(error))
        sys.exit(1)


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """A warning as a line on stderr; where in the program it came from helps nobody who runs a command."""
    _say(f"warning: {message}")


def _say(message: str) -> None:
    """A sentence on the standard error: one line, in a terminal as many as it takes, broken between words."""
    line = f"ridgeway: {visible(' '.join(message.split()))}"
    if sys.stderr.isatty():
        width = max(20, shutil.get_terminal_size().columns - 1)
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)


__all__ = ["app", "main"]
