"""What goes into PodTopologySpread's score, and which pods it has nothing to say about.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/scoring_test.go (1.34 and later),
TestPreScoreSkip (2 cases) and TestPreScoreStateEmptyNodes (12), all taken. The second table compares the plugin's
state; the constraints, the domains and how many there are (the table gives the logarithm of that), and the nodes that
are not compared are taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kubespread
from kubespread.kube.versions import LATEST
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.plugin import SpreadState
from kubespread.scheduler.profile.profile import framework
from tests.builders import owned_by, owner, pod
from tests.suites.tables import ask_alone, asking, in_nodes, must, nodes, profile_of, scores, should

Data = dict[str, Any]
FOO = {"foo": ""}
LIST: Data = {"defaultingType": "List"}


def by_default(*constraints: tuple[int, str, str]) -> Data:
    fields = ("maxSkew", "topologyKey", "whenUnsatisfiable")
    return {**LIST, "defaultConstraints": [dict(zip(fields, each, strict=True)) for each in constraints]}


def of_replica_set(name: str, candidate: Data) -> Data:
    return {**candidate, "metadata": {**candidate["metadata"], "ownerReferences": owned_by("ReplicaSet", name)}}


def replica_set(name: str, key: str) -> Data:
    return owner("ReplicaSet", name, {"matchExpressions": [{"key": key, "operator": "Exists"}]})


SKIPPED: dict[str, tuple[Data, list[Data], Data]] = {
    "the pod doesn't have soft topology spread Constraints": (
        LIST,
        nodes("node-a hostname", "node-b hostname"),
        pod("p", labels={}),
    ),
    "default constraints and a replicaset that doesn't match": (
        by_default((2, "planet", "ScheduleAnyway")),
        [*nodes("node-a planet=mars"), replica_set("rs1", "tar")],
        of_replica_set("rs2", pod("p", labels={"foo": "bar", "baz": "sup"})),
    ),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_the_pod_is_skipped(case: str) -> None:
    args, objects, candidate = SKIPPED[case]
    assert scores(ask_alone("PodTopologySpread", objects, candidate, args), "PodTopologySpread") == {}


AB_X = nodes("node-a zone=zone1 hostname", "node-b zone=zone1 hostname", "node-x zone=zone2 hostname")
AB_X_WITH_FOO = nodes("node-a zone=zone1 foo hostname", "node-b zone=zone1 foo hostname", "node-x zone=zone2 hostname")
X_TAINTED = nodes(
    "node-a zone=zone1 foo hostname", "node-b zone=zone1 foo hostname", "node-x zone=zone2 hostname tainted"
)
TAR = pod("p", labels={"foo": "tar", "baz": "sup"})
TWO_ZONES = [("zone", "bar", {"zone1", "zone2"}, 2)]
Soft = tuple[str, str, set[str], int]
"""Topology key, selector, the domains counted, how many domains weigh. Of hostnames none are counted beforehand."""

PREPARED: dict[str, tuple[Data, list[Data], Data, list[Soft], set[str]]] = {
    "normal case": (
        LIST,
        AB_X,
        asking("foo", should("zone"), should(HOSTNAME)),
        [("zone", "foo", {"zone1", "zone2"}, 2), (HOSTNAME, "foo", set(), 3)],
        set(),
    ),
    "null selector": (
        LIST,
        AB_X,
        asking("foo", should("zone", on=None)),
        [("zone", "<none>", {"zone1", "zone2"}, 2)],
        set(),
    ),
    "node-x doesn't have label zone": (
        LIST,
        nodes("node-a zone=zone1 hostname", "node-b zone=zone1 hostname", "node-x hostname"),
        asking("foo", should("zone"), should(HOSTNAME, on="bar")),
        [("zone", "foo", {"zone1"}, 1), (HOSTNAME, "bar", set(), 2)],
        {"node-x"},
    ),
    "system default constraints and a replicaset": (
        {"defaultingType": "System"},
        [
            *nodes(
                f"node-a hostname {ZONE}=mars", f"node-b hostname {ZONE}=mars", "node-c hostname", "node-d hostname"
            ),
            replica_set("rs1", "foo"),
        ],
        of_replica_set("rs1", TAR),
        [(HOSTNAME, "foo", set(), 4), (ZONE, "foo", {"mars", ""}, 2)],
        set(),
    ),
    "default constraints and a replicaset": (
        by_default((1, HOSTNAME, "ScheduleAnyway"), (2, "rack", "DoNotSchedule"), (2, "planet", "ScheduleAnyway")),
        [*nodes("node-a rack=rack1 hostname planet=mars"), replica_set("rs1", "foo")],
        of_replica_set("rs1", TAR),
        [(HOSTNAME, "foo", set(), 1), ("planet", "foo", {"mars"}, 1)],
        set(),
    ),
    "default constraints and a replicaset, but pod has constraints": (
        by_default((2, "galaxy", "ScheduleAnyway")),
        [*nodes("node-a planet=mars galaxy=andromeda"), replica_set("rs1", "foo")],
        of_replica_set("rs1", asking("foo=bar baz=sup", must("zone", on="bar"), should("planet", 2, on="baz=sup"))),
        [("planet", "baz=sup", {"mars"}, 1)],
        set(),
    ),
    "NodeAffinityPolicy honored with labelSelectors": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar"), nodeSelector=FOO),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy ignored with labelSelectors": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy honored with nodeAffinity": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar"), affinity=in_nodes("foo", "In", "")),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy ignored with nodeAffinity": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        TWO_ZONES,
        set(),
    ),
    "NodeTaintsPolicy honored": (
        LIST,
        X_TAINTED,
        asking("foo", should("zone", on="bar", nodeTaintsPolicy="Honor")),
        TWO_ZONES,
        set(),
    ),
    "NodeTaintsPolicy ignored": (LIST, X_TAINTED, asking("foo", should("zone", on="bar")), TWO_ZONES, set()),
}


@pytest.mark.parametrize("case", PREPARED)
def test_what_goes_into_the_score(case: str) -> None:
    """All nodes are feasible here, also those that another constraint or plugin would keep the pod off."""
    args, objects, candidate, expected, ignored = PREPARED[case]
    snapshot = kubespread.Snapshot.from_objects([*objects, candidate])
    profile = kubespread.Scheduler(config=profile_of("PodTopologySpread", args)).profile_for(
        "default-scheduler", LATEST
    )
    cluster = Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects)
    (found,) = snapshot.pods
    state = framework(profile).prepare(cluster, found).states["PodTopologySpread"]
    assert isinstance(state, SpreadState)
    assert state.soft is not None
    scored = state.soft.scored(np.ones(len(cluster), dtype=np.bool_))
    assert [
        (
            each.constraint.topology_key,
            str(each.constraint.selector),
            set() if each.is_hostname else domains(each.column.values, each.column.codes[scored].tolist()),
            each.size(scored),
        )
        for each in state.soft.counted
    ] == expected
    assert {
        name for name, is_scored in zip(cluster.nodes.names, scored.tolist(), strict=True) if not is_scored
    } == ignored


def domains(values: tuple[str, ...], codes: list[int]) -> set[str]:
    """The domain of a node without the label is the empty one."""
    return {values[code] if code >= 0 else "" for code in codes}
