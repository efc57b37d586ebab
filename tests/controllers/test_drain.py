"""What kubectl drain evicts, skips, warns of and refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from kubespread.controllers.disruption import plan_drain
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.taint import DrainFlags
from tests.controllers.cluster import controlled_by, pod

DAEMON_SETS = [DaemonSet(metadata=ObjectMeta(name="log", namespace="default", uid="another uid"))]
OF_DAEMON_SET, OF_REPLICA_SET = controlled_by("DaemonSet", "log"), controlled_by("ReplicaSet")
ORPHAN = controlled_by("DaemonSet", "gone")


def mirror(**more: Any) -> Pod:
    """What a static pod looks like in the API."""
    made = pod("static", controlled_by("Node", "n1", "v1"), **more)
    made.metadata.annotations = {"kubernetes.io/config.mirror": "abc"}
    return made


class Plan(NamedTuple):
    """Names of pods, and messages."""

    evict: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


DRAINS: dict[str, tuple[list[Pod], dict[str, Any], Plan]] = {
    "an empty node": ([], {}, Plan()),
    "pods in the order they were listed": (
        [pod("b", OF_REPLICA_SET), pod("a", OF_REPLICA_SET), pod("c", OF_REPLICA_SET, on="n2")],
        {},
        Plan(("b", "a")),
    ),
    "pods of a DaemonSet": (
        [pod("log-1", OF_DAEMON_SET), pod("a", OF_REPLICA_SET)],
        {},
        Plan(
            ("a",), errors=("cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/log-1",)
        ),
    ),
    "pods of a DaemonSet, ignored": (
        [pod("log-1", OF_DAEMON_SET), pod("log-2", OF_DAEMON_SET, volumes=("emptyDir",))],
        {"ignore_daemonsets": True},
        Plan(warnings=("ignoring DaemonSet-managed Pods: default/log-1, default/log-2",)),
    ),
    "finished pods of a DaemonSet go like any other": (
        [pod("log-1", OF_DAEMON_SET, phase="Failed")],
        {},
        Plan(("log-1",)),
    ),
    "pods of a DaemonSet that is gone": (
        [pod("log-1", ORPHAN)],
        {"ignore_daemonsets": True},
        Plan(errors=('cannot delete daemonsets.apps "gone" not found: default/log-1',)),
    ),
    "pods of a DaemonSet that is gone, by force and without a word": (
        [pod("log-1", ORPHAN)],
        {"force": True},
        Plan(("log-1",)),
    ),
    "another project's DaemonSet is none": (
        [pod("log-1", controlled_by("DaemonSet", "log", "example.com/v1"))],
        {},
        Plan(("log-1",)),
    ),
    "mirror pods stay, emptyDir or not": ([mirror(volumes=("emptyDir",))], {}, Plan()),
    "finished mirror pods stay too": ([mirror(phase="Succeeded")], {}, Plan()),
    "an emptyDir": (
        [pod("a", OF_REPLICA_SET, volumes=("hostPath", "emptyDir")), pod("b", OF_REPLICA_SET, volumes=("hostPath",))],
        {},
        Plan(
            ("b",),
            errors=("cannot delete Pods with local storage (use --delete-emptydir-data to override): default/a",),
        ),
    ),
    "an emptyDir that may go, without a word": (
        [pod("a", OF_REPLICA_SET, volumes=("emptyDir",))],
        {"delete_emptydir_data": True},
        Plan(("a",)),
    ),
    "no controller": (
        [pod("a"), pod("b", namespace="shop")],
        {},
        Plan(errors=("cannot delete Pods that declare no controller (use --force to override): default/a, shop/b",)),
    ),
    "no controller, by force": (
        [pod("a")],
        {"force": True},
        Plan(("a",), warnings=("deleting Pods that declare no controller: default/a",)),
    ),
    "finished pods go whatever they have": (
        [pod("a", phase="Succeeded", volumes=("emptyDir",)), pod("b", phase="Failed")],
        {},
        Plan(("a", "b")),
    ),
    "every class of error is named, in order": (
        [pod("b"), pod("a", volumes=("emptyDir",)), pod("log-1", OF_DAEMON_SET), pod("ok", OF_REPLICA_SET)],
        {},
        Plan(
            ("ok",),
            errors=(
                "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/log-1",
                "cannot delete Pods that declare no controller (use --force to override): default/b",
                "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/a",
            ),
        ),
    ),
    "terminating pods are evicted again": (
        [pod("late", OF_REPLICA_SET, deleted="2020-01-01T00:00:00Z")],
        {},
        Plan(("late",)),
    ),
}


@pytest.mark.parametrize("case", DRAINS)
def test_drain(case: str) -> None:
    pods, flags, expected = DRAINS[case]
    typed = {"ignore_daemonsets": False, "delete_emptydir_data": False, **flags}
    plan = plan_drain("n1", pods, DAEMON_SETS, DrainFlags(**typed))
    assert Plan(tuple(found.metadata.name for found in plan.evict), plan.warnings, plan.errors) == expected
