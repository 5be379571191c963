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
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ridgeway.campaign.outputs import OutputList
from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError

_GRACE = 1.0  # seconds that a program may take to end when it is asked to, before it is ended by force
_GONE = 0.5  # seconds that processes may take to disappear once they were ended by force
_LARGEST = 1_000_000  # bytes of an answer
_LARGEST_SIGMA = 1e100  # its square, and what a fit makes of that, must be numbers


@dataclass(frozen=True)
class Answer:
    """What a program gave: a value for each output, perhaps with sigmas and notes, or the reason why there is none."""

    values: dict[str, float] = field(default_factory=dict)  # by output; empty for a failure
    sigmas: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    reason: str | None = None
    stopped: bool = False  # it was ended before it could answer: nothing is known


class Program:
    """A command line with ``{input}`` and ``{output}`` in it, run once for each trial in a folder of its own.

    ``{input}`` is a JSON file with the inputs by name. The program writes a number, or JSON with the output's
    name or ``value`` and perhaps ``sigma``, to ``{output}``, or prints it where the command has no ``{output}``. Of
    several outputs JSON has each by its name, and perhaps ``sigma of`` it; one that is left out or null has no result.
    When it ends, whatever it started and left running is ended, too.
    """

    def __init__(self, command: str, outputs: OutputList, time_limit: float | None = None, retries: int = 0):
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise CampaignError(f"--command cannot be read: {error}") from None
        if not self.words or "{input}" not in command:
            raise CampaignError(f"--command must name its input file as {{input}}, got {command!r}")
        self.outputs = outputs
        self.time_limit = time_limit
        self.retries = retries
        self._running: set[subprocess.Popen[bytes]] = set()
        self._starting = threading.Lock()
        self._stopped = False

    def __call__(self, trial: Trial) -> Answer:
        """Run it, as often as allowed, until it gives a number."""
        answer = Answer(reason="not run")
        for _ in range(1 + self.retries):
            answer = self._once(trial)
            if answer.values or answer.stopped:
                break
        return answer

    def stop(self) -> None:
        """End the programs that are running, with all that they started; from now on none begins."""
        with self._starting:
            self._stopped = True
            running = list(self._running)
        _end(running)

    def kill(self) -> None:
        """End them by force, at once."""
        self._stopped = True
        for process in list(self._running):
            _signal(process, force=True)

    def _once(self, trial: Trial) -> Answer:
        with tempfile.TemporaryDirectory(prefix=f"ridgeway-{trial.id}-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            inputs = json.dumps(trial.inputs, indent=1, ensure_ascii=False)
            (folder / "input.json").write_text(inputs, encoding="utf-8")
            process = self._started(trial, folder)
            if process is None:
                return Answer(reason="the run was stopped", stopped=True)
            in_time = True
            try:
                process.wait(self.time_limit)
            except subprocess.TimeoutExpired:
                in_time = False
            finally:
                _end([process], at_once=in_time)
                self._running.discard(process)
            if self._stopped and process.returncode != 0:
                return Answer(reason="the run was stopped", stopped=True)
            if not in_time:
                return Answer(reason=f"took longer than the time limit of {self.time_limit:g} s")
            return self._answer(folder, process.returncode)

    def _started(self, trial: Trial, folder: Path) -> subprocess.Popen[bytes] | None:
        """The program at work, unless all were stopped."""
        places = {"{input}": str(folder / "input.json"), "{output}": str(folder / "output.json")}
        words = self.words
        for mark, path in places.items():
            words = [word.replace(mark, path) for word in words]
        # What it prints goes to files: a child of the program that holds a pipe open could make us wait for ever.
        with (folder / "printed").open("wb") as out, (folder / "complaints").open("wb") as err, self._starting:
            if self._stopped:
                return None
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=os.name == "posix",  # so that its children can be ended with it
                    env={**os.environ, "RIDGEWAY_TRIAL": str(trial.id)},
                )
            except (OSError, ValueError) as error:  # ValueError: a zero byte in the command
                why = getattr(error, "strerror", None) or error
                raise CampaignError(f"--command cannot be run: {words[0]}: {why}") from None
            self._running.add(process)
            return process

    def _answer(self, folder: Path, code: int) -> Answer:
        if code:
            last = (_tail(folder / "complaints").strip().splitlines() or ["it said nothing"])[-1]
            return Answer(reason=f"exit code {code}: {last[:200]}")
        if "{output}" not in " ".join(self.words):
            return self._read(folder / "printed", "what it printed")
        if not (folder / "output.json").is_file():
            return Answer(reason="it wrote no output file")
        return self._read(folder / "output.json", "its output file")

    def _read(self, path: Path, source: str) -> Answer:
        """The answer in a file; whatever stands there, the worst is a failure of this one trial."""
        if path.stat().st_size > _LARGEST:
            return Answer(reason=f"{source} has more than {_LARGEST:,} bytes")
        text = path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
        shown = repr(text.strip()[:80])
        try:
            content = json.loads(text)
            # Half of a surrogate pair is no character: neither a database nor a file can hold it.
            json.dumps(content, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            return Answer(reason=f"{source} has text that is not Unicode: {shown}")
        except (ValueError, RecursionError):  # also: an integer of thousands of digits, brackets without end
            return Answer(reason=f"{source} is no number and no JSON: {shown}")
        only = self.outputs.only
        if not isinstance(content, dict):
            content = {"value": content}
        if only is not None and only.name not in content and "value" in content:
            content[only.name] = content.pop("value")
        return self._taken(content, source, shown)

    def _taken(self, content: dict[str, Any], source: str, shown: str) -> Answer:
        """The results among what a program gave by name; the rest are notes."""
        values: dict[str, float] = {}
        sigmas: dict[str, float] = {}
        for name in self.outputs.names:
            given, key = content.pop(name, None), self.outputs.sigma_name(name)
            value, sigma = _number(given), content.pop(key, None)
            if given is not None and value is None:
                return Answer(reason=f"{source} has no finite number {name!r}: {shown}")
            if sigma is not None:
                sigma = _number(sigma)
                if sigma is None or not 0.0 <= sigma <= _LARGEST_SIGMA:
                    limits = f"between 0 and {_LARGEST_SIGMA:g}, a standard deviation"
                    return Answer(reason=f"{source} has no {key!r} {limits}: {shown}")
            if value is not None:
                values[name] = value
                sigmas |= {} if sigma is None else {name: sigma}
        if not values:
            wanted = " or ".join(repr(self._called(name)) for name in self.outputs.names)
            return Answer(reason=f"{source} has no finite number {wanted}: {shown}")
        return Answer(values, sigmas, {str(k): _note(v) for k, v in content.items()})

    def _called(self, name: str) -> str:
        return "value" if self.outputs.only else name


def _number(value: Any) -> float | None:
    """A finite number, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the largest float
        return None
    return number if math.isfinite(number) else None


def _note(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tail(path: Path, size: int = 4000) -> str:
    """The last bytes of a file as text."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - size))
        return stream.read().decode("utf-8", errors="replace").replace("\0", "")


def _end(processes: list[subprocess.Popen[bytes]], at_once: bool = False) -> None:
    """End programs and what they started: they are asked to, and after some grace forced to."""
    if not at_once:
        for process in processes:
            _signal(process, force=False)
        _wait(processes, _GRACE)
    for process in processes:
        _signal(process, force=True)
    _wait(processes, _GONE)


def _wait(processes: list[subprocess.Popen[bytes]], longest: float) -> None:
    latest = time.monotonic() + longest
    while any(map(_alive, processes)) and time.monotonic() < latest:
        time.sleep(0.02)


def _alive(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program or anything in its group still runs."""
    if process.poll() is None:
        return True
    if os.name != "posix":
        return False
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a zombie of another user's, on some systems
        return False
    return True


def _signal(process: subprocess.Popen[bytes], force: bool) -> None:
    """Tell a program and what it started to end."""
    if os.name != "posix":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)
