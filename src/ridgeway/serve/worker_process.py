"""The process that fits: ``python -m ridgeway.serve.worker_process``, one job after the other, in lines of JSON.

The first line says which campaign, each further one is a job. It ends with the server that started it, in the middle
of a fit if need be: the pipe from the server closes then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.store import acting_for
from ridgeway.errors import CampaignError, NumericalError

if TYPE_CHECKING:
    from ridgeway.report.subject import Subject

Job = dict[str, Any]
_LEFT_OUT = ("next", "data", "reproduce")  # sections of the report that a live page has otherwise


def report(campaign: Campaign, job: Job) -> Job:
    """The report of what is known now, in parts, with advice; a new fit is kept for everybody."""
    version = campaign.version().outcomes  # before the data are read: newer data at worst are reported once more
    advice = campaign.should_stop(job.get("targets"))
    subjects = campaign.report_subjects(suggestions=0, target_error=job.get("targets"))
    found = [_of_output(campaign, subject) for subject in subjects]
    return {"version": version, "advice": str(advice), "stop": bool(advice), "outputs": found}


def _of_output(campaign: Campaign, subject: Subject) -> Job:
    """What is known of one output."""
    from ridgeway import report as reports
    from ridgeway.report.page import parts
    from ridgeway.report.sections import ERRORS
    from ridgeway.serve.course import course

    output, content = campaign.setup.outputs.one(subject.output), reports.content(subject, title=campaign.name)
    sections = [section for section in content.sections if section.key not in _LEFT_OUT]
    errors = [one for section in sections for one in section.pictures if one.key == ERRORS]  # it stands further up here
    rest = [replace(s, pictures=tuple(p for p in s.pictures if p.key != ERRORS)) for s in sections]
    content = replace(content, sections=(course(output, campaign.all_trials(), errors), *rest))
    return {"label": output.label, **asdict(parts(content))}


def ask(campaign: Campaign, job: Job) -> Job:
    """The next experiments, by their numbers."""
    with acting_for(job["person"]):
        return {"trials": [trial.id for trial in campaign.ask(job["n"])]}


JOBS: dict[str, Callable[[Campaign, Job], Job]] = {"report": report, "ask": ask}


def answer(where: str, name: str, job: Job) -> Job:
    """What becomes of a job; its errors are sentences for the page."""
    try:
        return JOBS[job["job"]](Campaign.open(where, name), job)  # opened anew: its setup may have changed
    except (CampaignError, NumericalError, ValueError, ImportError) as error:
        return {"error": " ".join(str(error).split())}


def main() -> None:
    """Work until the server is gone."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not be taken for an answer
    jobs: SimpleQueue[Job] = SimpleQueue()
    place = json.loads(sys.stdin.readline())
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    import ridgeway.campaign.replay
    import ridgeway.report.page  # noqa: F401  # what every job needs, before the first one comes

    while True:
        done = answer(place["where"], place["name"], jobs.get())
        print(json.dumps(done, allow_nan=False), file=out, flush=True)


def _listen(jobs: SimpleQueue[Job]) -> None:
    for line in sys.stdin:
        jobs.put(json.loads(line))
    os._exit(0)


if __name__ == "__main__":
    main()
