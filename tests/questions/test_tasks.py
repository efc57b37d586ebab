"""Parts of an answer in worker processes: what comes of them is what comes of them in one."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.errors import EngineError
from kubespread.questions import tasks
from kubespread.questions.audit.question import Audit
from kubespread.questions.survive.question import Survive
from kubespread.questions.tasks import DIED, Workers
from kubespread.reports.parts import QuestionReport
from tests.builders import Data, pod
from tests.cli.support import FIXTURES, ROOT, environment, run, run_process, started
from tests.property.workloads_on_nodes import clusters, scenario, snapshot_of


class Doubling:
    """Doubles numbers and names; what is not there yet when it is reached kills whoever comes there first."""

    def __init__(self, mortal: Path | None, home: int) -> None:
        self.mortal, self.home = mortal, home
        self.assumed: dict[str, None] = {"all numbers are whole": None}

    @classmethod
    def of(cls, question: Path | None, scene: int) -> Self:
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


def doubled(
    jobs: int | None, *items: int | str, mortal: Path | None = None, engine: str = ""
) -> tuple[list[Any], list[str], list[str]]:
    """The results, what was assumed, and what was said."""
    said: list[str] = []
    work = Doubling(mortal, os.getpid())
    results = Workers(jobs, engine, said.append).results(work, partial(Doubling.of, mortal, os.getpid()), items, 0.0)
    return list(results), [*work.assumed], said


def test_results_and_what_was_assumed_come_in_the_order_of_the_items() -> None:
    items: list[int | str] = [*range(20), *range(5), "last"]
    assert doubled(2, *items) == doubled(1, *items)


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

    def in_processes(_: bytes, items: Sequence[tuple[int, int]], __: int, ___: float) -> tasks.WorkerResults:
        handed.extend(item for _, item in items)
        yield from (((item * 2,), [f"{item} has a double"]) for _, item in items)

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
        snapshot,
        scenario("scale default/deploy/web=1", "drain n0 --ignore-daemonsets --force"),
        runs=runs,
        **how,
        by_step=True,
    ),
    "simulate --runs": lambda snapshot, **how: kubespread.simulate(snapshot, WAITING, 3, runs=5, **how),
    "upgrade": lambda snapshot, **how: kubespread.upgrade(snapshot, "zone in (a,b)", **how),
}


@pytest.mark.parametrize("question", ASKED)
@settings(max_examples=2, deadline=None)
@given(objects=clusters(), edit=st.sampled_from(["", "scale default/deploy/web=5"]))
def test_the_answer_is_the_same_for_any_number_of_jobs(question: str, objects: list[Data], edit: str) -> None:
    snapshot = snapshot_of(objects).edited(*filter(None, [edit]))
    ask = ASKED[question]
    assert ask(snapshot, jobs=2) == ask(snapshot, jobs=1)


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """The address of a scheduler with two workers, each a process."""
    pytest.importorskip("distributed", reason="the extra kubespread[dask] is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [
            *dask,
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            address.rpartition(":")[2],
            "--no-dashboard",
            "--no-show",
        ],
        *[[*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * 2,
    ]
    unheard = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ExitStack() as running:
        for command in commands:
            running.enter_context(started(*command, cwd=ROOT, env=environment(PYTHONPATH=str(ROOT)), **unheard))
        yield address


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_on_a_dask_cluster_the_answer_is_the_same_and_a_killed_worker_loses_nothing(dask: str, tmp_path: Path) -> None:
    from distributed import Client

    with Client(dask, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    asked = ("survive", "-A", "--key", "hostname", "-o", "json", "-S", FIXTURES / "clusters" / "shop.yaml")
    told = [json.loads(each.out) for each in (run_process(*asked, env={"KUBESPREAD_ENGINE": dask}), run(*asked))]
    assert told[0] == told[1]
    fleet = [FIXTURES / "clusters" / "*-zone*.yaml", FIXTURES / "manifests" / "two-constraints.yaml"]
    assert kubespread.fleet(fleet, Audit(), engine=dask) == kubespread.fleet(fleet, Audit())
    items: list[int | str] = [1, 2, "death", 3, 4, *range(20)]
    results, assumed, said = doubled(None, *items, mortal=tmp_path / "died", engine=dask)
    assert (results, assumed, said) == (*doubled(1, *items)[:2], [DIED])


class Whereabouts(Doubling):
    """Says which process does a part."""

    def __call__(self, _item: int | str) -> Any:
        return os.getpid()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_201_a_dask_cluster_of_one_thread_does_the_parts_itself(dask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.Client.ncores", lambda _client: {"the only worker": 1})
    work = Whereabouts(None, 0)
    results = Workers(None, dask).results(work, partial(Whereabouts.of, None, 0), [*range(3)], 0.0)
    assert os.getpid() not in {*results}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_of_other_versions_is_an_error(dask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = kubespread.__version__
    from distributed import versions

    found = versions._version_cached
    monkeypatch.setattr(versions, "_version_cached", lambda name: "9.9" if name == "kubespread" else found(name))
    with pytest.raises(EngineError, match=f"the worker tcp://.* has kubespread {there}; the question comes from 9.9"):
        doubled(None, 1, 2, engine=dask)


@pytest.mark.filterwarnings("default")
def test_where_no_dask_scheduler_is_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra kubespread[dask] is not installed")
    monkeypatch.setattr(tasks, "_PATIENCE", 1)
    with pytest.raises(EngineError, match="tcp://127.0.0.1:1: no Dask scheduler that distributed .* gets on with"):
        doubled(None, 1, 2, engine="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "engine", ["http://127.0.0.1:1", "ucx://127.0.0.1:1", "inproc://1/2/3", " ", "tcp://host", "x:y"]
)
def test_14_what_is_no_address_of_a_scheduler_is_told_at_once(engine: str) -> None:
    pytest.importorskip("distributed", reason="the extra kubespread[dask] is not installed")
    with pytest.raises(EngineError, match=f"^{engine}: no Dask scheduler that distributed .* gets on with: "):
        doubled(None, 1, 2, engine=engine)


@pytest.mark.filterwarnings("default")
def test_14_tls_without_certificates_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra kubespread[dask] is not installed")
    monkeypatch.setattr(tasks, "_PATIENCE", 10**6)
    with pytest.raises(
        EngineError, match=r"^tls://127.0.0.1:1: no Dask scheduler that .* check your TLS configuration"
    ):
        doubled(None, 1, 2, engine="tls://127.0.0.1:1")


WENT_AWAY = "tcp://h:1: the Dask scheduler went away"


def _going_away(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """A Dask cluster that does so many parts, of whatever question, and is then gone."""
    done = count()

    def in_cluster(made: bytes, items: Sequence[tuple[int, Any]], _: object, __: float) -> tasks.WorkerResults:
        work = pickle.loads(made)()
        for _number, item in items:
            if next(done) >= after:
                raise EngineError(WENT_AWAY)
            yield (work(item),), [*work.assumed]
        if next(done) >= after:
            raise EngineError(WENT_AWAY)

    monkeypatch.setattr(tasks, "_in_cluster", in_cluster)


def test_201_what_is_finished_is_kept_where_the_engine_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    _going_away(monkeypatch, 2)
    shop, said = kubespread.load(FIXTURES / "clusters" / "shop.yaml"), list[str]()
    question = Survive(keys=("hostname",))
    full, part = (
        kubespread.ask(shop, question, workers=workers)
        for workers in (Workers(1), Workers(None, "tcp://h:1", said.append))
    )
    assert (said, part.verdict) == ([WENT_AWAY], "unknown")
    assert part.losses == full.losses[:2]
    assert part.unfinished is not None
    assert part.unfinished.sentence.startswith("not finished: 2 of 6 domains done, not ")


CLUSTERS = FIXTURES / "clusters"
ASKING_SEVERAL: dict[str, tuple[tuple[str | Path, ...], str, int, int]] = {
    "report": (("report", "-A", "-S", CLUSTERS / "shop.yaml"), "lines", 6, 3),
    "verify, which knows of a broken promise": (
        ("verify", FIXTURES / "promises" / "shop.yaml", "-S", CLUSTERS / "shop.yaml"),
        "clauses",
        6,
        1,
    ),
    "a fleet, of which one says no": (
        ("fleet", "-S", CLUSTERS / "audit.yaml", "-S", CLUSTERS / "stuck.yaml", "audit", "-A"),
        "clusters",
        5,
        1,
    ),
}
"""What is asked, the rows of its answer, after how many parts the engine is gone, and the exit code then."""


@pytest.mark.slow
@pytest.mark.parametrize("case", ASKING_SEVERAL)
def test_201_what_is_finished_is_kept_where_the_engine_goes_away_between_two_questions(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row is as if it had stayed."""
    asked, rows, after, code = ASKING_SEVERAL[case]
    whole = json.loads(run(*asked, "-o", "json", "--jobs", "1").out)
    _going_away(monkeypatch, after)
    result = run(*asked, "-o", "json", env={"KUBESPREAD_ENGINE": "tcp://h:1"})
    told = json.loads(result.out)
    assert (result.code, result.err.splitlines().count(WENT_AWAY)) == (code, 1)
    assert (told["unfinished"]["timeout"], told["unfinished"]["finished"] > 0) == ("", True)
    assert 0 < len(told[rows]) < len(whole[rows])
    assert [row for row in told[rows] if row not in whole[rows]] == []


@pytest.mark.parametrize("case", ASKING_SEVERAL)
def test_201_an_engine_that_was_never_there_is_one_line(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _going_away(monkeypatch, 0)
    assert run(*ASKING_SEVERAL[case][0], env={"KUBESPREAD_ENGINE": "tcp://h:1"}) == (3, "", f"error: {WENT_AWAY}\n")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_201_a_scheduler_that_is_killed_ends_nothing(dask: str) -> None:
    """The last test that it is there for."""
    from distributed import Client

    said: list[str] = []
    work = Doubling(None, os.getpid())
    results = Workers(None, dask, said.append).results(work, partial(Doubling.of, None, 0), [*range(2000)], 0.0)
    first = next(results)
    with suppress(Exception), Client(dask, timeout=30, set_as_default=False) as client:
        client.run_on_scheduler(os._exit, 1)
    try:
        rest = list(results)
    except EngineError as error:
        rest = []
        said.append(str(error))
    assert [first, *rest] == [2 * number for number in range(len(rest) + 1)]
    assert said in ([], [f"{dask}: the Dask scheduler went away"])
    # What distributed leaves of broken connections is warned of here, and not in whichever test comes next.
    del results
    gc.collect()
