"""What the Job controller does in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pytest

from kubespread.controllers.job import JobPass, not_modeled, reconcile
from kubespread.errors import SnapshotError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Job
from tests.builders import NOW, Data, ago, replica
from tests.tables import FIXTURES, built, table_of


def job(*, status: Data | None = None, deleted: bool = False, **spec: Any) -> Data:
    metadata = {"name": "j", "namespace": "default", **({"deletionTimestamp": ago(0)} if deleted else {})}
    return {"metadata": metadata, "spec": spec, "status": status or {}}


def worker(name: str, index: int | str | None = None, **state: Any) -> Data:
    made = replica(name, **state)
    if index is not None:
        made["metadata"]["annotations"] = {"batch.kubernetes.io/job-completion-index": str(index)}
    return made


def workers(count: int) -> list[Data]:
    return [worker(f"w{number}") for number in range(count)]


def ended(name: str, phase: str, seconds: float = 3600, index: int | None = None) -> Data:
    """A pod whose only container ended so many seconds ago."""
    made = worker(name, index, phase=phase, ready=None)
    made["status"]["containerStatuses"] = [{"name": "main", "state": {"terminated": {"finishedAt": ago(seconds)}}}]
    return made


def one_pass(workload: Data, pods: Sequence[Data]) -> JobPass:
    return reconcile(msgspec.convert(workload, Job), [msgspec.convert(pod, Pod) for pod in pods], NOW)


class Outcome(NamedTuple):
    create: int = 0
    indexes: tuple[int, ...] = ()
    delete: tuple[str, ...] = ()


CASES = {row["case"]: row for row in table_of(FIXTURES / "controllers" / "job.yaml")["cases"]}


@pytest.mark.parametrize("name", CASES)
def test_one_pass(name: str) -> None:
    row = CASES[name]
    done = one_pass(job(**row["job"]), built(row["pods"], {"worker": worker, "workers": workers, "ended": ended}))
    deleted = tuple(sorted(pod.metadata.name for pod in done.surplus.chosen))
    expected: Data = {field: value if field == "create" else tuple(value) for field, value in row["expect"].items()}
    assert Outcome(done.create, done.indexes, deleted) == Outcome(**expected)


HELD_BACK: dict[str, tuple[list[Data], bool]] = {
    "a failure 9 seconds ago holds a pod back": ([ended("x", "Failed", 9)], True),
    "a failure 10 seconds ago does not": ([ended("x", "Failed", 10)], False),
    "two failures hold it back for 20 seconds": ([ended("x", "Failed", 90), ended("y", "Failed", 19)], True),
    "two failures hold it back for no longer": ([ended("x", "Failed", 90), ended("y", "Failed", 20)], False),
    "failures before the last success do not count": (
        [ended("x", "Failed", 9), ended("y", "Failed", 5), ended("z", "Succeeded", 3)],
        False,
    ),
    "only those after the last success count": (
        [ended("x", "Failed", 30), ended("y", "Succeeded", 20), ended("z", "Failed", 15)],
        False,
    ),
    "it is never longer than ten minutes": ([ended(f"x{copy}", "Failed", 599) for copy in range(9)], True),
    "after ten minutes everything is forgiven": ([ended(f"x{copy}", "Failed", 600) for copy in range(9)], False),
    "a terminating pod failed when it was to be gone, less its grace period": (
        [worker("x", deletionTimestamp=ago(-20), deletionGracePeriodSeconds=30)],
        False,
    ),
    "a terminating pod without grace period fails only then": ([worker("x", deletionTimestamp=ago(-20))], True),
    "a pod whose containers do not say when has failed when it stopped being ready": (
        [
            {
                **worker("x"),
                "status": {
                    "phase": "Failed",
                    "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": ago(5)}],
                },
            }
        ],
        True,
    ),
    "a pod that says nothing has failed when it was created": (
        [{**worker("x", created=5), "status": {"phase": "Failed"}}],
        True,
    ),
}


@pytest.mark.parametrize("name", HELD_BACK)
def test_failures_hold_new_pods_back(name: str) -> None:
    pods, held_back = HELD_BACK[name]
    assert one_pass(job(completions=9, parallelism=1, backoffLimit=99), pods).create == (0 if held_back else 1)


def test_a_sidecar_ends_after_the_containers() -> None:
    failed = ended("x", "Failed", 60)
    failed["spec"]["initContainers"] = [{"name": "proxy", "restartPolicy": "Always"}]
    failed["status"]["initContainerStatuses"] = [{"name": "proxy", "state": {"terminated": {"finishedAt": ago(4)}}}]
    assert one_pass(job(backoffLimit=99), [failed]).create == 0


def test_what_is_not_modeled_is_named() -> None:
    spec: Data = {"backoffLimitPerIndex": 1, "successPolicy": {"rules": []}, "podFailurePolicy": {"rules": []}}
    assert not_modeled(msgspec.convert(job(**spec), Job).spec) == (
        "backoffLimitPerIndex",
        "podFailurePolicy.rules",
        "successPolicy",
    )
    assert not_modeled(msgspec.convert(job(parallelism=3), Job).spec) == ()


@pytest.mark.parametrize(
    ("workload", "pods", "message"),
    [
        (
            job(activeDeadlineSeconds=1, status={"startTime": "soon"}),
            [],
            'job "default/j": status.startTime: "soon" is not a time as RFC 3339 writes it (2006-01-02T15:04:05Z)',
        ),
        (
            job(parallelism=0),
            [worker("w", created=None, creationTimestamp="soon")],
            'pod "default/w": metadata.creationTimestamp: "soon" is not a time as RFC 3339 writes it '
            "(2006-01-02T15:04:05Z)",
        ),
    ],
)
def test_a_time_that_cannot_be_read_is_refused(workload: Data, pods: list[Data], message: str) -> None:
    with pytest.raises(SnapshotError) as raised:
        one_pass(workload, pods)
    assert str(raised.value) == message
