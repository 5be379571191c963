"""A user's program as an experiment: JSON in, a number out, with a time limit."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError


@dataclass(frozen=True)
class Answer:
    """What a program gave: a value, perhaps with its sigma and notes, or the reason why there is none."""

    value: float | None
    sigma: float | None = None
    notes: dict[str, str] = field(default_factory=dict)
    reason: str | None = None


class Program:
    """A command line with ``{input}`` and ``{output}`` in it, run once for each trial in a folder of its own.

    ``{input}`` is a JSON file with the inputs by name. The program writes a number, or JSON with the output's
    name or ``value`` and perhaps ``sigma``, to ``{output}``, or prints it where the command has no ``{output}``.
    """

    def __init__(self, command: str, output: str, time_limit: float | None = None, retries: int = 0):
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise CampaignError(f"--command cannot be read: {error}") from None
        if not self.words or "{input}" not in command:
            raise CampaignError(f"--command must name its input file as {{input}}, got {command!r}")
        self.output = output
        self.time_limit = time_limit
        self.retries = retries
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = threading.Event()

    def __call__(self, trial: Trial) -> Answer:
        """Run it, as often as allowed, until it gives a number."""
        answer = Answer(None, reason="not run")
        for _ in range(1 + self.retries):
            answer = self._once(trial)
            if answer.value is not None or self._stopped.is_set():
                break
        return answer

    def stop(self) -> None:
        """End the programs that are running, with all that they started."""
        self._stopped.set()
        for process in list(self._running):
            _end(process)

    def _once(self, trial: Trial) -> Answer:
        with tempfile.TemporaryDirectory(prefix=f"ridgeway-{trial.id}-") as folder:
            given, taken = Path(folder, "input.json"), Path(folder, "output.json")
            given.write_text(json.dumps(trial.inputs, indent=1, ensure_ascii=False), encoding="utf-8")
            words = [word.replace("{input}", str(given)).replace("{output}", str(taken)) for word in self.words]
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    start_new_session=os.name == "posix",  # so that its children can be ended with it
                    env={**os.environ, "RIDGEWAY_TRIAL": str(trial.id)},
                )
            except OSError as error:
                raise CampaignError(f"--command cannot be run: {words[0]}: {error.strerror}") from None
            self._running.add(process)
            try:
                printed, complaints = process.communicate(timeout=self.time_limit)
            except subprocess.TimeoutExpired:
                _end(process)
                return Answer(None, reason=f"took longer than the time limit of {self.time_limit:g} s")
            finally:
                self._running.discard(process)
            if process.returncode:
                last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
                return Answer(None, reason=f"exit code {process.returncode}: {last[:200]}")
            if "{output}" not in " ".join(self.words):
                return self._read(printed, "what it printed")
            if not taken.is_file():
                return Answer(None, reason="it wrote no output file")
            return self._read(taken.read_text(encoding="utf-8", errors="replace"), "its output file")

    def _read(self, text: str, source: str) -> Answer:
        try:
            content = json.loads(text)
        except json.JSONDecodeError:
            return Answer(None, reason=f"{source} is no number and no JSON: {text.strip()[:80]!r}")
        if not isinstance(content, dict):
            content = {"value": content}
        key = self.output if self.output in content else "value"
        value, sigma = content.pop(key, None), content.pop("sigma", None)
        for number, name in ((value, key), (sigma, "sigma")):
            if name == "sigma" and number is None:
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
                return Answer(None, reason=f"{source} has no finite number {name!r}: {text.strip()[:80]!r}")
        return Answer(float(value), sigma, {str(k): _note(v) for k, v in content.items()})


def _note(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program and what it started, and wait for it."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    process.communicate()
