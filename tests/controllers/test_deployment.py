"""What the Deployment controller does with ReplicaSets, pass by pass."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubespread.controllers.deployment import limits
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.quantity import IntOrStringError
from tests.builders import Data, ago, owned_by, replica
from tests.controllers.rollouts import ANNOTATION, deployment, one_pass, passes, replica_set, sizes, template, writes

RECREATE: dict[str, Any] = {"strategy": {"type": "Recreate"}}


@pytest.mark.parametrize(
    ("rolled", "expected"),
    [
        *(
            (deployment(replicas), expected)
            for replicas, expected in [(1, (1, 0)), (2, (1, 0)), (3, (1, 0)), (4, (1, 1)), (10, (3, 2))]
        ),
        pytest.param(deployment(None), (1, 0), id="no replicas given is one"),
        pytest.param(deployment(4, strategy=None), (1, 1), id="no strategy given is the default one"),
        pytest.param(deployment(3, surge="0%", unavailable="25%"), (0, 1), id="both 0: one may be unavailable"),
        pytest.param(deployment(3, surge=0, unavailable=9), (0, 3), id="no more unavailable than there are"),
        pytest.param(deployment(0, surge=2, unavailable=1), (2, 0), id="of none, none is unavailable"),
        pytest.param(deployment(4, **RECREATE), (0, 0), id="Recreate knows no limits"),
    ],
)
def test_limits(rolled: Deployment, expected: tuple[int, int]) -> None:
    assert limits(rolled) == expected


def test_a_malformed_limit_is_refused() -> None:
    with pytest.raises(IntOrStringError, match="string is not a percentage"):
        one_pass(deployment(4, surge="many"))


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "sequence"),
    [
        (3, 1, 0, "3,1 2,1 2,2 1,2 1,3 0,3"),
        (4, 1, 1, "4,1 3,1 3,2 1,2 1,4 0,4"),
        (10, 3, 2, "10,3 8,3 8,5 3,5 3,10 0,10"),
        (4, 0, 1, "4,0 3,0 3,1 2,1 2,2 1,2 1,3 0,3 0,4"),
        (1, 1, 0, "1,1 0,1"),
        (3, "25%", "25%", "3,1 2,1 2,2 1,2 1,3 0,3"),
        (10, None, None, "10,3 8,3 8,5 3,5 3,10 0,10"),
    ],
)
def test_a_rollout_whose_pods_become_available_at_once(
    replicas: int, surge: Any, unavailable: Any, sequence: str
) -> None:
    """Old and new after each change."""
    seen, states = {"web-v1": replicas, "web-new": 0}, []
    rolled = deployment(replicas, surge=surge, unavailable=unavailable)
    for _, found in passes(rolled, [replica_set("v1", replicas)]):
        for write in found.writes:
            assert write.replicas is not None
            seen[write.replica_set] = write.replicas
            states.append(f"{seen['web-v1']},{seen['web-new']}")
    assert " ".join(states) == sequence


@pytest.mark.parametrize(
    ("rolled", "replica_sets", "expected"),
    [
        pytest.param(
            deployment(4, surge=1, unavailable=1),
            [replica_set("v1", 4)],
            [("web-new", 1), ("web-v1", 3)],
            id="the pass that creates the new one goes on",
        ),
        pytest.param(
            deployment(4, surge=1, unavailable=1),
            [replica_set("v1", 3), replica_set("v2", 1)],
            [("web-v2", 2)],
            id="the pass that lets the new one grow ends there",
        ),
        pytest.param(
            deployment(10, surge=3, unavailable=2),
            [replica_set("v1", 8, available=6), replica_set("v2", 5)],
            [("web-v1", 6), ("web-v1", 3)],
            id="unavailable old pods first, then down to the least that must be available",
        ),
        pytest.param(
            deployment(10, surge=3, unavailable=2),
            [replica_set("v1", 8, available=7), replica_set("v2", 5, available=0)],
            [],
            id="pods that never become available hold up the rollout",
        ),
        pytest.param(
            deployment(10, surge=0, unavailable=5),
            [replica_set("v0", 5, age=2000), replica_set("v1", 5)],
            [("web-new", 0), ("web-v0", 0)],
            id="the oldest shrinks first",
        ),
        pytest.param(
            deployment(4, surge=0, unavailable=1),
            [replica_set("v0", 0, available=2, age=2000), replica_set("v1", 4, available=3)],
            [("web-new", 0), ("web-v1", 3)],
            id="what has no size counts no available pods",
        ),
        pytest.param(
            deployment(4, surge=0, unavailable=4),
            [replica_set("v0", 2, available=1, age=2000), replica_set("v1", 2, available=3)],
            [("web-new", 0), ("web-v0", 1)],
            id="a status that lags behind ends the scale-down there",
        ),
        pytest.param(deployment(3), [replica_set("v2", 5)], [("web-v2", 3)], id="a new one that is too large shrinks"),
        pytest.param(
            deployment(3),
            [replica_set("v2", 0, name="web-b"), replica_set("v2", 0, name="web-a"), replica_set("v1", 3)],
            [("web-a", 1)],
            id="of two with the template the older one is the new one, of one age the first by name",
        ),
        pytest.param(
            deployment(3, **RECREATE),
            [replica_set("v0", 1, age=2000), replica_set("v1", 3)],
            [("web-v0", 0), ("web-v1", 0)],
            id="Recreate: all old ones to 0",
        ),
        pytest.param(
            deployment(3, **RECREATE), [replica_set("v1", 0)], [("web-new", 3)], id="Recreate: then all at once"
        ),
        pytest.param(
            deployment(3, **RECREATE),
            [replica_set("v1", 0), replica_set("v2", 0)],
            [("web-v2", 3)],
            id="Recreate: the earlier ReplicaSet of the template is used again",
        ),
    ],
)
def test_one_pass(rolled: Deployment, replica_sets: list[ReplicaSet], expected: list[tuple[str, int]]) -> None:
    assert writes(rolled, *replica_sets) == expected


def deleted(rolled: Deployment) -> Deployment:
    rolled.metadata.deletion_timestamp = ago(0)
    return rolled


def old_pod(**changes: Any) -> Data:
    made = replica("old", labels={"app": "web"}, ownerReferences=owned_by("ReplicaSet", "web-v1"))
    return {**made, **changes, "metadata": {**made["metadata"], **changes.get("metadata", {})}}


@pytest.mark.parametrize(
    ("pod", "waits"),
    [
        pytest.param(old_pod(metadata={"deletionTimestamp": ago(0)}), True, id="a terminating old pod"),
        pytest.param(old_pod(status={"phase": "Pending"}), True, id="a pending one"),
        pytest.param(old_pod(status={"phase": "Failed"}), False, id="a failed one does not hold it up"),
        pytest.param(
            old_pod(metadata={"ownerReferences": owned_by("ReplicaSet", "x")}), False, id="a stranger's neither"
        ),
        pytest.param(old_pod(metadata={"ownerReferences": []}), False, id="an orphan neither"),
        pytest.param(old_pod(metadata={"labels": {}}), False, id="one that the selector does not match neither"),
        pytest.param(old_pod(metadata={"namespace": "elsewhere"}), False, id="another namespace's neither"),
    ],
)
def test_recreate_waits_for_the_last_old_pod(pod: Data, waits: bool) -> None:
    found = writes(deployment(3, **RECREATE), replica_set("v1", 0), pods=[msgspec.convert(pod, Pod)])
    assert found == ([] if waits else [("web-new", 3)])


def test_recreate_waits_while_an_old_status_shows_replicas() -> None:
    old = replica_set("v1", 0)
    old.status.replicas = 1
    assert writes(deployment(3, **RECREATE), old) == []


@pytest.mark.parametrize(
    ("rolled", "replica_sets", "expected"),
    [
        pytest.param(
            deployment(15, surge=3),
            [replica_set("v1", 8, desired=10, max=13), replica_set("v2", 5, available=0, desired=10, max=13)],
            [("web-v1", 11), ("web-v2", 7)],
            id="two active ones grow in proportion",
        ),
        pytest.param(
            deployment(5, surge=3),
            [replica_set("v1", 8, desired=10, max=13), replica_set("v2", 5, available=0, desired=10, max=13)],
            [("web-v1", 5), ("web-v2", 3)],
            id="they shrink in proportion",
        ),
        pytest.param(
            deployment(0),
            [replica_set("v1", 8, desired=10, max=13), replica_set("v2", 5, desired=10, max=13)],
            [("web-v1", 0), ("web-v2", 0)],
            id="to 0 at once, without surge",
        ),
        pytest.param(
            deployment(20, surge=1),
            [replica_set("v1", 10, desired=10, max=11)],
            [("web-v1", 20)],
            id="the only active one takes all at once, before the rollout begins",
        ),
        pytest.param(
            deployment(10, surge=1),
            [replica_set("v1", 10, desired=9, max=10)],
            [],
            id="the only active one has the size already, so nothing is written, and the rollout waits",
        ),
        pytest.param(
            deployment(3, surge=0),
            [
                replica_set("v0", 1, desired=3, max=3, age=2000),
                replica_set("v1", 1, desired=9),
                replica_set("v2", 3, desired=3),
            ],
            [("web-v1", 0), ("web-v0", 0)],
            id="a saturated new one: the old ones go, the youngest first",
        ),
        pytest.param(
            deployment(6, surge=0),
            [replica_set("v0", 2, desired=4, age=2000), replica_set("v1", 2, desired=4)],
            [("web-v1", 4)],
            id="without max-replicas and status there is no proportion: the largest takes all, of one size the younger",
        ),
        pytest.param(
            deployment(2, surge=0),
            [replica_set("v0", 2, desired=4, age=2000), replica_set("v1", 2, desired=4)],
            [("web-v0", 0)],
            id="of one size the older shrinks first",
        ),
        pytest.param(
            deployment(6, **RECREATE),
            [replica_set("v1", 2, desired=4), replica_set("v2", 2, desired=4)],
            [],
            id="Recreate with two active ones is not scaled",
        ),
        pytest.param(
            deployment(6, paused=True),
            [replica_set("v1", 4, desired=4)],
            [("web-v1", 6)],
            id="paused: nothing is created, what there is is scaled",
        ),
        pytest.param(
            deployment(6, paused=True),
            [replica_set("v2", 0, age=2000), replica_set("v1", 0)],
            [("web-v2", 6)],
            id="paused and nothing active: the one of the template, though it is the older",
        ),
        pytest.param(deployment(6, paused=True), [], [], id="paused and nothing there"),
    ],
)
def test_scaling(rolled: Deployment, replica_sets: list[ReplicaSet], expected: list[tuple[str, int]]) -> None:
    assert writes(rolled, *replica_sets) == expected


def test_a_created_replica_set_is_the_deployments_with_the_hash_and_the_next_revision() -> None:
    found = one_pass(deployment(4, surge=1, minReadySeconds=5), replica_set("v1", 4, revision=7))
    expected = {
        "metadata": {
            "name": "web-new",
            "namespace": "default",
            "creationTimestamp": ago(0),
            "labels": {"app": "web", "pod-template-hash": "new"},
            "annotations": {
                f"{ANNOTATION}revision": "8",
                f"{ANNOTATION}desired-replicas": "4",
                f"{ANNOTATION}max-replicas": "5",
            },
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}],
        },
        "spec": {
            "replicas": 1,
            "minReadySeconds": 5,
            "selector": {"matchLabels": {"app": "web", "pod-template-hash": "new"}},
            "template": template("v2", **{"pod-template-hash": "new"}),
        },
    }
    assert found.created == msgspec.convert(expected, ReplicaSet)
    assert found.deployment.metadata.annotations == {f"{ANNOTATION}revision": "8"}


def test_an_earlier_template_finds_its_replica_set_which_becomes_the_newest_revision() -> None:
    found = one_pass(
        deployment(2, "v1", surge=1), replica_set("v1", 0, age=2000, revision=1), replica_set("v2", 2, revision=2)
    )
    revisions = {each.metadata.name: each.metadata.annotations[f"{ANNOTATION}revision"] for each in found.replica_sets}
    assert (sizes(found), revisions) == ({"web-v1": 1, "web-v2": 2}, {"web-v1": "3", "web-v2": "2"})


def test_of_templates_that_look_alike_the_one_of_the_deployments_revision_is_meant() -> None:
    """What tells them apart, an environment variable perhaps, is not kept."""
    rolled = deployment(2)
    rolled.metadata.annotations = {f"{ANNOTATION}revision": "2"}
    alike = [replica_set("v2", 0, name="web-a", age=2000, revision=1), replica_set("v2", 2, name="web-b", revision=2)]
    assert writes(rolled, *alike) == []


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (None, ["web-v0", "web-v1", "web-v3", "web-v2"]),
        (2, ["web-v1", "web-v3", "web-v2"]),
        (0, ["web-v2"]),
        (2**31 - 1, ["web-v0", "web-v1", "web-v3", "web-v2"]),
    ],
)
def test_once_complete_the_lowest_revisions_beyond_the_limit_are_deleted(limit: int | None, left: list[str]) -> None:
    history = [
        replica_set("v0", 0, age=3000, revision=1),
        replica_set("v1", 0, age=2500, revision=2),
        replica_set("v3", 0, age=2000, revision=3),
        replica_set("v2", 2, revision=4),
    ]
    rolled = deployment(2, revisionHistoryLimit=limit)
    *_, (_, last) = passes(rolled, history)
    assert [each.metadata.name for each in last.replica_sets] == left


def test_a_replica_set_with_pods_is_not_deleted() -> None:
    rolled = deployment(2, surge=0, paused=True, revisionHistoryLimit=0)
    assert writes(rolled, replica_set("v0", 1, age=2000), replica_set("v1", 0), replica_set("v2", 1)) == [
        ("web-v1", None)
    ]


@pytest.mark.parametrize(
    "rolled",
    [
        pytest.param(deployment(2, selector={}), id="a selector that would match everything"),
        pytest.param(deleted(deployment(2)), id="a Deployment that is being deleted"),
    ],
)
def test_nothing_is_done_for(rolled: Deployment) -> None:
    assert writes(rolled) == []


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        one_pass(deployment(2, strategy={"type": "BlueGreen"}))
    assert str(error.value) == 'deployments.apps "web": unexpected deployment strategy type: BlueGreen'
