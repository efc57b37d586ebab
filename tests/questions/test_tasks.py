"""Parts of an answer in worker processes: what comes of them is what comes of them in one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.questions import tasks
from kubespread.questions.tasks import DIED, Workers
from kubespread.reports.parts import QuestionReport
from tests.builders import Data, pod
from tests.property.workloads_on_nodes import clusters, scenario, snapshot_of


class Doubling:
    """Doubles numbers and names; what is not there yet when it is reached kills whoever comes there first."""

    def __init__(self, mortal: Path | None, home: int) -> None:
        self.mortal, self.home = mortal, home
        self.assumed: dict[str, None] = {"all numbers are whole": None}

    @classmethod
    def build(cls, question: Path | None, scene: int) -> Self:
        return cls(question, scene)

    def __call__(self, item: int | str) -> Any:
        if item == "fault":
            raise UsageError("one is wrong")
        if item == "another fault":
            raise UsageError("another is wrong")
        if item == "death" and self.mortal is not None and not self.mortal.exists():
            self.mortal.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "poison" and os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        self.assumed[f"{item} has a double"] = None
        return item * 2


def doubled(jobs: int | None, *items: int | str, mortal: Path | None = None) -> tuple[list[Any], list[str], list[str]]:
    """The results, what was assumed, and what was said."""
    said: list[str] = []
    work = Doubling(mortal, os.getpid())
    results = Workers(jobs, said.append).results(work, partial(Doubling.build, mortal, os.getpid()), items, 0.0)
    return list(results), [*work.assumed], said


def test_results_and_what_was_assumed_come_in_the_order_of_the_items() -> None:
    items: list[int | str] = [*range(20), *range(5), "last"]
    assert doubled(2, *items) == doubled(1, *items)


def test_the_same_work_once_more_assumes_the_same() -> None:
    assert doubled(2, *range(6)) == doubled(2, *range(6)) == doubled(1, *range(6))


@pytest.mark.slow
def test_what_a_killed_worker_was_doing_is_done_again(tmp_path: Path) -> None:
    items: list[int | str] = [1, 2, "death", 3, 4]
    results, assumed, said = doubled(2, *items, mortal=tmp_path / "died")
    assert (results, assumed, said) == (*doubled(1, *items)[:2], [DIED])


@pytest.mark.slow
def test_what_kills_every_worker_is_done_without_any() -> None:
    items: list[int | str] = [1, "poison", 2]
    results, assumed, said = doubled(2, *items)
    assert (results, assumed, said) == (*doubled(1, *items)[:2], [DIED] * 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_of_several_faults_the_first_is_raised(jobs: int) -> None:
    with pytest.raises(UsageError, match="one is wrong"):
        doubled(jobs, 1, "fault", "another fault", 2, 3)


def test_no_worker_is_started_for_what_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_in_processes", None)
    assert doubled(None, *range(100)) == doubled(1, *range(100))
    assert doubled(4, 1) == doubled(1, 1)


@pytest.mark.parametrize(("clock", "left"), [("process_time", [*range(1, 8)]), ("monotonic", [])])
def test_workers_take_over_once_what_is_left_takes_a_processor_much_longer_than_to_start_them(
    monkeypatch: pytest.MonkeyPatch, clock: str, left: list[int]
) -> None:
    handed = list[int]()

    def in_processes(_: str, __: bytes, items: Sequence[int], ___: int, ____: float) -> tasks.WorkerResults:
        handed.extend(items)
        yield from (((item * 2,), [f"{item} has a double"]) for item in items)

    ticks = count()
    monkeypatch.setattr(tasks, "_in_processes", in_processes)
    monkeypatch.setattr(tasks, clock, lambda: next(ticks))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    assert doubled(None, *range(8)) == doubled(1, *range(8))
    assert handed == left


def test_less_than_one_job_is_an_error() -> None:
    with pytest.raises(UsageError, match="jobs must be at least 1, not 0"):
        kubespread.survive(Snapshot(), jobs=0)


WAITING = pod("waiting")
PROMISES = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Promises",
    "promises": [
        {"namespace": "default", "survives": "any zone", "spread": {"zone": 1}, "fits": 3, "rollout": 1},
        {"cluster": True, "room": {"cpu": "10%"}},
    ],
}
ASKED: dict[str, Callable[..., QuestionReport]] = {
    "survive": partial(kubespread.survive, keys=("hostname", "zone")),
    "removable": kubespread.removable,
    "audit": kubespread.audit,
    "report": kubespread.report,
    "verify": lambda snapshot, **how: kubespread.verify(snapshot, PROMISES, **how),
    "plan": lambda snapshot, **how: kubespread.plan(snapshot.edited("fail-hard n0"), **how),
    "check": kubespread.check,
    "steps": lambda snapshot, runs=4, **how: kubespread.plan(
        snapshot, scenario("scale default/deploy/web=1", "drain n0 --ignore-daemonsets --force"), runs=runs, **how
    ),
    "upgrade": lambda snapshot, **how: kubespread.upgrade(snapshot, "zone in (a,b)", **how),
}


@pytest.mark.parametrize("question", ASKED)
@settings(max_examples=2, deadline=None)
@given(objects=clusters(), edit=st.sampled_from(["", "scale default/deploy/web=5"]))
def test_the_answer_is_the_same_for_any_number_of_jobs(question: str, objects: list[Data], edit: str) -> None:
    snapshot = snapshot_of(objects).edited(*filter(None, [edit]))
    ask = ASKED[question]
    assert ask(snapshot, jobs=2) == ask(snapshot, jobs=1)
