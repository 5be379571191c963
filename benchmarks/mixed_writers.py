"""Writers that use every command on one database and are killed at any moment, and what must hold afterwards.

Each writer notes in a file of its own what it is about to do and, once the command has returned, that it was
acknowledged. What was begun and not acknowledged may have happened or not, but only as a whole.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import campaign_workers as workers
from ridgeway import Campaign, CampaignError, Linear
from ridgeway.campaign import sheets
from ridgeway.campaign.trial import OBSERVED
from ridgeway.cli import main

DESIGN, MODEL = "design", "model"  # campaigns: one that never fits, one that does
_FITTED = 24  # outcomes of the second: a fit must not take long
_PROGRAM = "sh -c 'echo 0.25' {input}"


def create(where: str) -> None:
    """The two campaigns that the writers share."""
    for name, first in ((DESIGN, 10_000), (MODEL, 3)):
        Campaign.create(where, name, workers.INPUTS, embedding=Linear(1), n_initial=first, random_state=5)


def write(where: str, folder: str, slot: int, seed: int) -> None:
    """Commands at random until somebody ends this process."""
    place = Path(folder) / str(slot)
    place.mkdir(exist_ok=True)
    os.chdir(place)
    Writer(where, place / "log", random.Random(seed)).go()


@dataclass
class Writer:
    """One writer: the trials that it knows to be its own, and its notes."""

    where: str
    log: Path
    rng: random.Random
    mine: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # pending trials, by campaign
    told: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def go(self) -> None:
        self._remember()
        commands: list[Callable[[str], None]] = [
            self.init, self.ask, self.ask, self.tell, self.tell, self.fail, self.correct, self.abandon,
            self.reclaim, self.attach, self.run, self.predict,
        ]  # fmt: skip
        while True:
            name = self.rng.choice([DESIGN, DESIGN, MODEL])
            if name == MODEL and len(Campaign.open(self.where, MODEL).all_trials()) >= _FITTED:
                name = DESIGN
            self.rng.choice(commands)(name)

    # -- commands ------------------------------------------------------------------------------

    def init(self, name: str) -> None:
        """A campaign on a pool beside the others: both of its parts, or none."""
        new = f"pool-{uuid.uuid4().hex[:8]}"
        Path("pool.csv").write_text("u,v\n0,1\n1,2\n2,0\n")
        self._do("init", {"name": new}, ["init", "--pool", "pool.csv"], new)

    def ask(self, name: str) -> None:
        path = f"{uuid.uuid4().hex}.csv"
        said = self._do("ask", {"name": name, "file": path}, ["ask", "-n", "2", "-o", path], name)
        if said is not None:
            numbers = [int(number) for number in re.findall(r"\d+", said.split(" written to ")[0])]
            self._note("own", {"name": name, "trials": numbers})
            self.mine[name] += numbers

    def tell(self, name: str) -> None:
        trials, batch = [self.mine[name].pop() for _ in range(min(2, len(self.mine[name])))], uuid.uuid4().hex
        rows = [[number, 0.001 * number, batch] for number in trials]
        if rows:
            sheets.write("told.csv", ["trial", "value", "batch"], rows)
            about = {"name": name, "trials": trials, "batch": batch}
            if self._do("tell", about, ["tell", "told.csv"], name) is not None:
                self.told[name] += trials

    def fail(self, name: str) -> None:
        for number in self.mine[name][-1:]:
            self.mine[name].pop()
            self._do("fail", {"name": name, "trial": number}, ["fail", str(number), "--reason", "broke"], name)

    def abandon(self, name: str) -> None:
        for number in self.mine[name][-1:]:
            self.mine[name].pop()
            self._do("abandon", {"name": name, "trial": number}, ["abandon", str(number)], name)

    def correct(self, name: str) -> None:
        if self.told[name]:
            number, value = self.rng.choice(self.told[name]), round(self.rng.random(), 9)
            about = {"name": name, "trial": number, "value": value}
            self._do("correct", about, ["correct", str(number), "--value", repr(value), "--reason", repr(value)], name)

    def reclaim(self, name: str) -> None:
        self._do("reclaim", {"name": name}, ["reclaim", "--older-than", "0s", "-f", "json"], name)

    def attach(self, name: str) -> None:
        batch = uuid.uuid4().hex
        rows = [[round(self.rng.random(), 9), 1.0, self.rng.random(), batch] for _ in range(3)]
        sheets.write("old.csv", ["a", "b", "value", "batch"], rows)
        self._do("attach", {"name": name, "batch": batch, "many": 3}, ["attach", "old.csv"], name)

    def run(self, name: str) -> None:
        budget = len(Campaign.open(self.where, name).all_trials()) + 3
        words = ["run", "--command", _PROGRAM, "-w", "2", "-b", str(budget)]
        self._do("run", {"name": name}, words, name)

    def predict(self, name: str) -> None:
        """Looking may write, too: a fit is kept for others."""
        Path("grid.csv").write_text("a,b\n0.5,1\n")
        self._do("predict", {"name": MODEL}, ["predict", "grid.csv"], MODEL)

    # -- notes ---------------------------------------------------------------------------------

    def _do(self, what: str, about: dict[str, Any], words: list[str], name: str) -> str | None:
        """Call a command; what it said if it succeeded."""
        key = uuid.uuid4().hex
        self._note("begun", {"key": key, "what": what, **about})
        out, err = io.StringIO(), _Lines(self._said if what == "run" else None, about)
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main([*words, "-c", self.where, "--name", name])
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        said = out.getvalue() + err.getvalue()
        if code:
            self._note("refused", {"key": key, "said": said})
            return None
        self._note("done", {"key": key, "said": said})
        return said

    def _said(self, about: dict[str, Any], line: str) -> None:
        """A line of ``run`` acknowledges an outcome while the command goes on."""
        if found := re.match(r"trial (\d+): ", line):
            self._note("ran", {"name": about["name"], "trial": int(found[1])})

    def _note(self, kind: str, content: dict[str, Any]) -> None:
        with self.log.open("a") as stream:
            stream.write(json.dumps([kind, content]) + "\n")

    def _remember(self) -> None:
        """Trials that a killed predecessor owned; what it had begun with them may have happened, so they are left."""
        begun = {}
        for kind, content in notes(self.log):
            if kind == "own":
                self.mine[content["name"]] += content["trials"]
            elif kind == "begun":
                begun[content["key"]] = content
                for number in content.get("trials", [content.get("trial")]):
                    if number in self.mine[content["name"]]:
                        self.mine[content["name"]].remove(number)
            elif kind == "done" and begun[content["key"]]["what"] == "tell":
                self.told[begun[content["key"]]["name"]] += begun[content["key"]]["trials"]


class _Lines(io.StringIO):
    """Text that is heard line by line."""

    def __init__(self, heard: Callable[[dict[str, Any], str], None] | None, about: dict[str, Any]) -> None:
        super().__init__()
        self._heard, self._about = heard, about

    def write(self, text: str) -> int:
        if self._heard is not None and text.strip():
            self._heard(self._about, text)
        return super().write(text)


def notes(log: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a writer noted; the last line may be cut off."""
    found = []
    for line in log.read_text().splitlines() if log.exists() else []:
        try:
            kind, content = json.loads(line)
        except ValueError:
            continue
        found.append((kind, content))
    return found


def check(where: str, folder: Path) -> tuple[Counter[str], list[str]]:
    """How often each command was acknowledged, and everything that is lost or half-done."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    campaigns = {name: Campaign.open(where, name) for name in (DESIGN, MODEL)}
    trials = {name: {t.id: t for t in campaign.all_trials()} for name, campaign in campaigns.items()}
    history = {name: campaign.corrections for name, campaign in campaigns.items()}
    for name in campaigns:
        wrong += _inside(campaigns[name], trials[name], history[name])
    for log in sorted(folder.glob("*/log")):
        begun, done = {}, set()
        for kind, content in notes(log):
            if kind == "begun":
                begun[content["key"]] = content
            elif kind == "done":
                done.add(content["key"])
                counts[begun[content["key"]]["what"]] += 1
            elif kind == "refused":
                counts[f"{begun[content['key']]['what']} refused"] += 1
            elif kind == "ran":
                counts["outcomes of run"] += 1
                if trials[content["name"]][content["trial"]].state not in OBSERVED:
                    wrong.append(f"lost: outcome of run, {content}")
            elif kind == "own" and any(number not in trials[content["name"]] for number in content["trials"]):
                wrong.append(f"lost: ask, {content}")
        for key, content in begun.items():
            wrong += [
                f"{problem}: {content}" for problem in _about(content, key in done, where, log.parent, trials, history)
            ]
    return counts, wrong


def _inside(campaign: Campaign, trials: dict[int, Any], history: list[dict[str, Any]]) -> list[str]:
    """What must hold in any campaign, whatever was done to it."""
    wrong = []
    if sorted(trials) != list(range(1, len(trials) + 1)):
        wrong.append("half-done: numbers of trials have gaps")
    order = sorted(t.sequence for t in trials.values() if t.sequence is not None)
    if order != list(range(len(order))):
        wrong.append("half-done: the order of outcomes has gaps")
    for t in trials.values():
        if (t.state == "asked") != (t.sequence is None) or (t.state in OBSERVED) != (t.value is not None):
            wrong.append(f"half-done: trial {t.id} in state {t.state}")
    last = {entry["trial"]: entry for entry in history if entry["kind"] == "corrected"}
    for number, entry in last.items():
        if trials[number].value != entry["after"]["value"]:
            wrong.append(f"half-done: trial {number} has not the value of its last correction")
    if campaign.name == MODEL and len(order) > 3:
        campaign.belief  # noqa: B018 - it can be read or made again
    return wrong


def _about(
    begun: dict[str, Any], done: bool, where: str, folder: Path, trials: dict[str, dict[int, Any]], history: Any
) -> list[str]:
    """What is wrong about one command."""
    what, kept = begun["what"], trials.get(begun["name"], {})
    if what == "init":
        try:
            Campaign.open(where, begun["name"]).ask(3)
        except CampaignError as error:
            return ["lost: init"] if done or "holds no campaign" not in str(error) else []
    if what == "ask" and (folder / begun["file"]).exists():
        sheet = sheets.read(folder / begun["file"])
        same = [abs(sheet.number(i, 1) - kept[int(sheet.number(i, 0))].x[0]) < 1e-9 for i in range(len(sheet.rows))]
        return [] if same == [True, True] else ["half-done: file of ask"]
    if what == "ask":
        return ["lost: file of ask"] if done else []
    if what in ("tell", "attach"):
        found = sum((t.notes or {}).get("batch") == begun["batch"] for t in kept.values())
        many = begun.get("many", len(begun.get("trials", [])))
        return [] if found == many else ([f"lost: {what}"] if done else [f"half-done: {what}"] * bool(found))
    if what in ("fail", "abandon") and done:
        state = kept[begun["trial"]].state
        return [] if state == {"fail": "failed", "abandon": "abandoned"}[what] else [f"lost: {what}"]
    if what == "correct" and done:
        entries = [e for e in history[begun["name"]] if e["trial"] == begun["trial"]]
        return [] if any(e["after"].get("value") == begun["value"] for e in entries) else ["lost: correct"]
    return []
