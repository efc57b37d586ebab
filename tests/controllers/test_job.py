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


def job(*, status: Data | None = None, deleted: bool = False, **spec: Any) -> Data:
    metadata = {"name": "j", "namespace": "default", **({"deletionTimestamp": ago(0)} if deleted else {})}
    return {"metadata": metadata, "spec": spec, "status": status or {}}


def indexed(completions: int, parallelism: int, **more: Any) -> Data:
    return job(completionMode="Indexed", completions=completions, parallelism=parallelism, **more)


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


def condition(kind: str, reason: str = "", status: str = "True") -> Data:
    return {"type": kind, "reason": reason, "status": status}


def one_pass(workload: Data, pods: Sequence[Data]) -> JobPass:
    return reconcile(msgspec.convert(workload, Job), [msgspec.convert(pod, Pod) for pod in pods], NOW)


class Outcome(NamedTuple):
    create: int = 0
    indexes: tuple[int, ...] = ()
    delete: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


class Case(NamedTuple):
    job: Data
    pods: Sequence[Data]
    outcome: Outcome


GOING = {"deletionTimestamp": ago(0)}
COMPLETE = ("SuccessCriteriaMet/CompletionsReached", "Complete/CompletionsReached")
BACKOFF = "BackoffLimitExceeded"
CASES = {
    "a Job that says nothing is one pod": Case(job(), [], Outcome(1)),
    "parallelism is capped by what is left to complete": Case(
        job(completions=5, parallelism=4, status={"succeeded": 3}), [], Outcome(2)
    ),
    "what runs already is not created again": Case(job(completions=5, parallelism=4), workers(3), Outcome(1)),
    "what has ended since the last pass counts as well": Case(
        job(completions=3, parallelism=3, status={"succeeded": 1}), [ended("w", "Succeeded")], Outcome(1)
    ),
    "what the status is about to count is not counted twice": Case(
        job(completions=3, parallelism=3, status={"uncountedTerminatedPods": {"succeeded": ["w"]}}),
        [ended("w", "Succeeded")],
        Outcome(2),
    ),
    "without completions as many run as are asked for": Case(job(parallelism=3), workers(1), Outcome(2)),
    "without completions one success ends it, and what runs runs on": Case(
        job(parallelism=3), [*workers(1), ended("x", "Succeeded")], Outcome()
    ),
    "a pass creates 500 pods at most": Case(job(parallelism=1200), [], Outcome(500)),
    "too many pods are deleted, the latest first": Case(
        job(parallelism=1), [worker("old", created=300), worker("new", created=200)], Outcome(delete=("new",))
    ),
    "the one that is ready later goes first, to the second": Case(
        job(parallelism=1), [worker("early", ready=101), worker("late", ready=100)], Outcome(delete=("late",))
    ),
    "of two that are equal the smaller name goes": Case(job(parallelism=1), workers(2), Outcome(delete=("w0",))),
    "the one that restarted most often goes first": Case(
        job(parallelism=1), [worker("a"), worker("b", restarts=1)], Outcome(delete=("b",))
    ),
    "neither a deletion cost nor a UID is looked at": Case(
        job(parallelism=1), [worker("a", cost="5"), worker("b", cost="-5")], Outcome(delete=("a",))
    ),
    "a suspended Job loses all of its pods": Case(
        job(parallelism=2, suspend=True),
        [*workers(1), worker("x", **GOING)],
        Outcome(delete=("w0",), conditions=("Suspended/JobSuspended",)),
    ),
    "a Job that is resumed is not suspended any more": Case(
        job(parallelism=1, suspend=False, status={"conditions": [condition("Suspended", "JobSuspended")]}),
        workers(1),
        Outcome(),
    ),
    "a terminating pod is replaced at once": Case(
        job(parallelism=1), [worker("x", deletionTimestamp=ago(100))], Outcome(1)
    ),
    "where it is asked for it is replaced once it is gone": Case(
        job(parallelism=1, podReplacementPolicy="Failed"), [worker("x", deletionTimestamp=ago(100))], Outcome()
    ),
    "with a policy for failed pods it is replaced once it is gone": Case(
        job(parallelism=1, podFailurePolicy={"rules": []}), [worker("x", deletionTimestamp=ago(100))], Outcome()
    ),
    "the last success completes the Job, which ends what still runs": Case(
        job(completions=1, parallelism=1),
        [ended("x", "Succeeded"), *workers(1)],
        Outcome(delete=("w0",), conditions=COMPLETE[:1]),
    ),
    "a Job is complete once its last pod is gone": Case(
        job(completions=1, parallelism=1), [ended("x", "Succeeded")], Outcome(conditions=COMPLETE)
    ),
    "it is not complete while a pod terminates": Case(
        job(completions=1, parallelism=1),
        [ended("x", "Succeeded"), worker("y", **GOING)],
        Outcome(conditions=COMPLETE[:1]),
    ),
    "a Job whose success is settled ends what runs": Case(
        job(parallelism=2, status={"conditions": [condition("SuccessCriteriaMet", "SuccessPolicy")]}),
        workers(1),
        Outcome(delete=("w0",), conditions=("SuccessCriteriaMet/SuccessPolicy",)),
    ),
    "a Job whose failure is settled fails once its last pod is gone": Case(
        job(status={"conditions": [condition("FailureTarget", BACKOFF)]}),
        [],
        Outcome(conditions=(f"FailureTarget/{BACKOFF}", f"Failed/{BACKOFF}")),
    ),
    "a Job that is over is left alone": Case(
        job(parallelism=2, status={"conditions": [condition("Complete", "CompletionsReached")]}),
        workers(1),
        Outcome(conditions=COMPLETE[1:]),
    ),
    "a condition that is not true says nothing": Case(
        job(status={"conditions": [condition("Failed", status="False")]}), [], Outcome(1)
    ),
    "a Job of another controller is left alone": Case(job(managedBy="example.com/queue"), [], Outcome()),
    "a Job that is being deleted creates nothing": Case(job(parallelism=2, deleted=True), workers(1), Outcome()),
    "more failures than the limit end the Job": Case(
        job(parallelism=2, backoffLimit=1, status={"failed": 1}),
        [ended("x", "Failed"), *workers(1)],
        Outcome(delete=("w0",), conditions=(f"FailureTarget/{BACKOFF}",)),
    ),
    "a failure that the status is about to count is not counted twice": Case(
        job(parallelism=1, backoffLimit=1, status={"uncountedTerminatedPods": {"failed": ["x"]}}),
        [ended("x", "Failed")],
        Outcome(1),
    ),
    "six failures are the limit where none is set": Case(job(status={"failed": 6}), [], Outcome(1)),
    "restarts in place count together": Case(
        job(parallelism=2, backoffLimit=3, template={"spec": {"restartPolicy": "OnFailure"}}),
        [worker("a", restarts=1), worker("b", restarts=2)],
        Outcome(delete=("a", "b"), conditions=(f"FailureTarget/{BACKOFF}",)),
    ),
    "a Job is over when its time is": Case(
        job(activeDeadlineSeconds=60, status={"startTime": ago(60)}),
        [],
        Outcome(conditions=("FailureTarget/DeadlineExceeded", "Failed/DeadlineExceeded")),
    ),
    "the smallest free indexes are created": Case(
        indexed(6, 6, status={"completedIndexes": "0,3-4"}), [worker("a", 1)], Outcome(2, (2, 5))
    ),
    "an index that has failed is created again": Case(
        indexed(2, 2), [ended("x", "Failed", index=0), worker("a", 1)], Outcome(1, (0,))
    ),
    "no more indexes than parallelism allows": Case(indexed(9, 2), [worker("a", 4)], Outcome(1, (0,))),
    "of duplicated indexes all but one go, even where there are not too many": Case(
        indexed(5, 5),
        [worker("a", 1), worker("b", 1, ready=None), worker("c", 1, ready=500)],
        Outcome(delete=("b", "c")),
    ),
    "pods without an index, or with another Job's, go": Case(
        indexed(2, 2),
        [worker("a", 0), worker("b", 2), worker("c"), worker("d", "x"), worker("e", "-1")],
        Outcome(delete=("b", "c", "d", "e")),
    ),
    "of equal pods those of the smallest indexes go": Case(
        indexed(4, 1), [worker("a", 2), worker("b", 1)], Outcome(delete=("b",))
    ),
    "the index of a pod that terminates is free": Case(
        indexed(2, 2), [worker("a", 0, deletionTimestamp=ago(100)), worker("b", 1)], Outcome(1, (0,))
    ),
    "where pods are replaced only once they are gone it is not": Case(
        indexed(3, 3, podReplacementPolicy="Failed"),
        [worker("a", 0, deletionTimestamp=ago(100)), worker("b", 1)],
        Outcome(1, (2,)),
    ),
    "a success without a valid index counts for nothing": Case(
        indexed(1, 1), [ended("x", "Succeeded", index=7)], Outcome(1, (0,))
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_pass(name: str) -> None:
    case = CASES[name]
    done = one_pass(case.job, case.pods)
    deleted = tuple(sorted(pod.metadata.name for pod in done.surplus.chosen))
    assert Outcome(done.create, done.indexes, deleted, done.conditions) == case.outcome


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
