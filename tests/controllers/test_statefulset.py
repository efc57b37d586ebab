"""What the StatefulSet controller does in one pass, and how often its passes come to an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubespread.controllers.statefulset import (
    Action,
    Create,
    Delete,
    Revisions,
    StatefulSetPass,
    UpdateRules,
    ordinal_of,
    reconcile,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import StatefulSet, StatefulSetStatus
from kubespread.kube.quantity import IntOrStringError
from kubespread.kube.versions import KubeVersion
from tests.builders import NOW, Data, ago, replica
from tests.tables import FIXTURES, built, table_of

OLD, NEW = "st-old", "st-new"
V1_36 = KubeVersion(36)
UPDATE = Revisions(OLD, NEW)


def stateful_set(replicas: int | None = 3, *, status: Data | None = None, deleted: bool = False, **spec: Any) -> Data:
    metadata = {"name": "st", **({"deletionTimestamp": ago(0)} if deleted else {})}
    own = {} if replicas is None else {"replicas": replicas}
    return {"metadata": metadata, "spec": {**own, **spec}, "status": status or {}}


def member(ordinal: int, revision: str = NEW, *, terminating: bool = False, **state: Any) -> Data:
    metadata: Data = {"deletionTimestamp": ago(-20)} if terminating else {}
    made = replica(f"st-{ordinal}", **state, **metadata)
    made["metadata"]["labels"] = {"controller-revision-hash": revision}
    return made


def members(*ordinals: int, revision: str = NEW) -> list[Data]:
    return [member(ordinal, revision) for ordinal in ordinals]


def one_pass(workload: Data, pods: Sequence[Data], version: KubeVersion = V1_36) -> StatefulSetPass:
    typed = [msgspec.convert(pod, Pod) for pod in pods]
    return reconcile(msgspec.convert(workload, StatefulSet), typed, UPDATE, NOW, UpdateRules.from_version(version))


def rolling(**fields: Any) -> Data:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": fields}}


PARALLEL: Data = {"podManagementPolicy": "Parallel"}
ON_DELETE: Data = {"updateStrategy": {"type": "OnDelete"}}

CASES = {row["case"]: row for row in table_of(FIXTURES / "controllers" / "statefulset.yaml")["cases"]}


def told(action: Action) -> str:
    return f"create {action.pod} {action.revision}" if isinstance(action, Create) else f"delete {action.pod}"


@pytest.mark.parametrize("name", CASES)
def test_one_pass(name: str) -> None:
    row = CASES[name]
    pods = built(row["pods"], {"member": member, "members": members, "replica": replica})
    done = one_pass(stateful_set(**row["stateful_set"]), pods)
    assert [told(action) for action in done.actions] == row["actions"]
    assert all(action.pod == f"st-{action.ordinal}" for action in done.actions if isinstance(action, Create))


GATED = KubeVersion(36).with_gates("MaxUnavailableStatefulSet=true")
# maxUnavailable, what is not ready, and what goes with the gate in 1.36 and in 1.37.
WITH_GATE: dict[str, tuple[int | str | None, list[int], list[str], list[str]]] = {
    "as many outdated pods go as may be unavailable": (3, [], ["st-3", "st-2", "st-1"], ["st-3", "st-2", "st-1"]),
    "a percentage is rounded down": ("60%", [], ["st-3", "st-2"], ["st-3", "st-2"]),
    "it is never less than one": ("1%", [], ["st-3"], ["st-3"]),
    "without the field it is one": (None, [], ["st-3"], ["st-3"]),
    "what is unavailable already is counted, and goes first since 1.37": (2, [1], ["st-3"], ["st-1", "st-3"]),
    "where too many are unavailable, only they go since 1.37": (2, [0, 1, 2], [], ["st-2", "st-1", "st-0"]),
}


@pytest.mark.parametrize("name", WITH_GATE)
def test_with_the_gate_max_unavailable(name: str) -> None:
    value, unready, *expected = WITH_GATE[name]
    fields = {} if value is None else {"maxUnavailable": value}
    pods = [member(ordinal, OLD, ready=None if ordinal in unready else 1000) for ordinal in range(4)]
    for version, deleted in zip((GATED, KubeVersion(37)), expected, strict=True):
        done = one_pass(stateful_set(4, **rolling(**fields), **PARALLEL), pods, version)
        assert list(done.actions) == [Delete(pod) for pod in deleted]


def test_a_parallel_one_scales_down_before_it_creates_since_1_38() -> None:
    missing = stateful_set(2, **PARALLEL), members(0, 2)
    create, delete = Create("st-1", 1, NEW), Delete("st-2")
    actions = [one_pass(*missing, KubeVersion(minor)).actions for minor in (37, 38)]
    assert actions == [(create, delete), (delete, create)]
    assert one_pass(stateful_set(2), members(0, 2), KubeVersion(38)).actions == (create,)


@pytest.mark.parametrize("version", [GATED, KubeVersion(37)], ids=["1.36 with the gate", "1.37"])
def test_with_the_gate_an_ordered_one_goes_on_once_every_pod_is_available(version: KubeVersion) -> None:
    workload = stateful_set(3, **rolling(maxUnavailable=2))
    waiting = [*members(0, 1, revision=OLD), member(2, OLD, ready=None)]
    assert [one_pass(workload, pods, version).actions for pods in (waiting, members(0, 1, 2, revision=OLD))] == [
        (),
        (Delete("st-2"), Delete("st-1")),
    ]


@pytest.mark.parametrize(
    ("release", "is_on"),
    [
        ("1.34", False),
        ("1.35.0", True),
        ("1.35.3", True),
        ("1.35.4", False),
        ("1.35", False),
        ("1.36", False),
        ("1.37", True),
    ],
)
def test_the_gate_follows_the_patch(release: str, is_on: bool) -> None:
    assert UpdateRules.from_version(KubeVersion.parse(release)).max_unavailable == is_on


def test_a_max_unavailable_that_is_no_percentage_is_refused() -> None:
    with pytest.raises(IntOrStringError, match="not a percentage"):
        one_pass(stateful_set(1, **rolling(maxUnavailable="many")), members(0), GATED)


STATUSES: dict[str, tuple[Data, list[Data], StatefulSetStatus]] = {
    "an update is complete once every pod has the new revision and is ready": (
        stateful_set(2),
        members(0, 1),
        StatefulSetStatus(
            replicas=2,
            ready_replicas=2,
            current_replicas=2,
            updated_replicas=2,
            current_revision=NEW,
            update_revision=NEW,
        ),
    ),
    "an update is not complete while a condemned pod is there": (
        stateful_set(2),
        members(0, 1, 2),
        StatefulSetStatus(replicas=3, ready_replicas=3, updated_replicas=3, current_revision=OLD, update_revision=NEW),
    ),
    "OnDelete does not say that it is complete before 1.37": (
        stateful_set(1, **ON_DELETE),
        members(0),
        StatefulSetStatus(replicas=1, ready_replicas=1, updated_replicas=1, current_revision=OLD, update_revision=NEW),
    ),
    "a pod deleted for an update is one current one less": (
        stateful_set(2),
        members(0, 1, revision=OLD),
        StatefulSetStatus(replicas=2, ready_replicas=2, current_replicas=1, current_revision=OLD, update_revision=NEW),
    ),
    "a terminating pod is ready but of no revision": (
        stateful_set(1),
        [member(0, terminating=True)],
        StatefulSetStatus(replicas=1, ready_replicas=1, current_revision=OLD, update_revision=NEW),
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_the_status_after_a_pass(name: str) -> None:
    workload, pods, status = STATUSES[name]
    assert one_pass(workload, pods).status == status


def test_on_delete_says_that_it_is_complete_since_1_37() -> None:
    (_, pods, before) = STATUSES["OnDelete does not say that it is complete before 1.37"]
    status = one_pass(stateful_set(1, **ON_DELETE), pods, KubeVersion(37)).status
    assert status == replace(before, current_revision=NEW, current_replicas=1)


@given(
    replicas=st.integers(0, 5),
    pods=st.dictionaries(st.integers(0, 7), st.sampled_from([OLD, NEW]), max_size=8),
    partition=st.integers(0, 6),
    parallel=st.booleans(),
)
def test_passes_end_with_every_ordinal_at_its_revision(
    replicas: int, pods: dict[int, str], partition: int, parallel: bool
) -> None:
    """Whatever runs before, as long as new pods get ready; and no pass changes what it was given."""
    policy: Data = PARALLEL if parallel else {}
    typed = msgspec.convert(stateful_set(replicas, **rolling(partition=partition), **policy), StatefulSet)
    running = {ordinal: msgspec.convert(member(ordinal, revision), Pod) for ordinal, revision in pods.items()}
    for _ in range(40):
        before = msgspec.to_builtins((typed, list(running.values())))
        done = reconcile(typed, list(running.values()), UPDATE, NOW, UpdateRules())
        assert msgspec.to_builtins((typed, list(running.values()))) == before
        if not done.actions:
            break
        for action in done.actions:
            if isinstance(action, Create):
                running[action.ordinal] = msgspec.convert(member(action.ordinal, action.revision), Pod)
            else:
                running = {ordinal: pod for ordinal, pod in running.items() if pod.metadata.name != action.pod}
        typed = replace(typed, status=done.status)
    assert sorted(running) == list(range(replicas))
    assert all(ordinal_of(pod, "st") == ordinal for ordinal, pod in running.items())
    revisions = [running[ordinal].metadata.labels["controller-revision-hash"] for ordinal in range(partition, replicas)]
    assert revisions == [NEW] * len(revisions)


@pytest.mark.parametrize(
    ("replicas", "ordinals", "current"),
    [(5, (0, 1, 7), OLD), (3, (0, 5, 7), NEW), (3, (0, 1, 7), NEW), (3, (0, 1, 2), NEW), (2, (0, 1, 7), OLD)],
)
def test_an_update_is_complete_once_as_many_pods_as_asked_for_have_it(
    replicas: int, ordinals: tuple[int, ...], current: str
) -> None:
    """Pods beyond the ordinals count, ordinals that no pod has yet do not."""
    made = one_pass(stateful_set(replicas), members(*ordinals))
    assert (made.status.replicas, made.status.current_revision) == (3, current)
