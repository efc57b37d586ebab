"""What a new node of a group is like."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.errors import UsageError
from kubespread.kube.api.core import Taint
from kubespread.kube.selector import parse_selector
from kubespread.node_groups import NodeGroup
from kubespread.questions.autoscaling.growing import TEMPLATE_LABEL, zone_groups
from tests.builders import Data, taint
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE, machine, typed

IN_POOL = parse_selector("pool=w")


def member(name: str, zone: str = "a", *, ready: str | None = None, **more: Any) -> Data:
    made = machine(name, zone, pool="w", **more)
    if ready is not None:
        made["status"]["conditions"] = [{"type": "Ready", "status": ready}]
    return made


GIVEN = typed(machine("given", "a", cpu="2"))
TEMPLATES = {
    "a good node of the group comes first": ([member("n1")], GIVEN, "node n1"),
    "one that is not ready is passed over": (
        [member("n1", ready="False"), member("n2", ready="True")],
        None,
        "node n2",
    ),
    "so is one that is cordoned": ([member("n1", unschedulable=True), member("n2")], None, "node n2"),
    "and one that is about to go": (
        [member("n1", taints=[taint("ToBeDeletedByClusterAutoscaler")]), member("n2")],
        None,
        "node n2",
    ),
    "then comes the template": ([member("n1", unschedulable=True)], GIVEN, "template"),
    "which may be a node of the cluster": ([machine("n1", "b")], "n1", "node n1"),
    "then any node of the group": ([member("n1", unschedulable=True)], None, "node n1"),
    "without either nobody knows": ([machine("n1", "a")], None, "nothing"),
}


@pytest.mark.parametrize(("nodes", "template", "made_of"), TEMPLATES.values(), ids=list(TEMPLATES))
def test_what_it_is_made_of(nodes: list[Data], template: Any, made_of: str) -> None:
    (found,) = zone_groups([NodeGroup("w", template=template, members=IN_POOL)], list(map(typed, nodes)))
    assert found.made_of == made_of


def made(node: Data, *, zone: str | None = None) -> Any:
    (found,) = zone_groups(
        [NodeGroup("w", members=IN_POOL, template=typed(node), zones=() if zone is None else (zone,))], []
    )
    (new,) = found.new_nodes(found.machines, {"w-1"})
    return found, new


def test_a_node_that_arrives_has_a_name_of_its_own_and_no_state() -> None:
    state = [
        "node.kubernetes.io/not-ready",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "NodeWithImpairedVolumes",
        "ignore-taint.cluster-autoscaler.kubernetes.io/x",
        "startup-taint.cluster-autoscaler.kubernetes.io/x",
        "status-taint.cluster-autoscaler.kubernetes.io/x",
        "DeletionCandidateOfClusterAutoscaler",
    ]
    node = member("n1", ready="False", taints=[*map(taint, state), taint("gpu", value="yes")])
    node["metadata"]["uid"] = "1"
    node["status"]["images"] = [{"names": ["x"], "sizeBytes": 1}]
    _, new = made(node)
    assert (new.metadata.name, new.metadata.uid, new.metadata.labels[HOSTNAME]) == ("w-2", "", "w-2")
    assert new.spec.taints == [Taint(key="gpu", value="yes", effect="NoSchedule")]
    assert (new.status.images, [each.status for each in new.status.conditions]) == ([], ["True"])


def test_only_the_simulation_has_the_label_of_a_template() -> None:
    found, new = made(member("n1"))
    assert (found.trial().metadata.labels[TEMPLATE_LABEL], TEMPLATE_LABEL in new.metadata.labels) == ("true", False)


def test_a_host_name_is_set_where_there_was_none() -> None:
    node = member("n1")
    del node["metadata"]["labels"][HOSTNAME]
    assert made(node)[1].metadata.labels[HOSTNAME] == "w-2"


def test_what_a_provider_says_has_the_older_labels_too() -> None:
    node = member("n1")
    node["metadata"]["labels"]["kubernetes.io/arch"] = "arm64"
    labels = made(node)[1].metadata.labels
    assert (labels["failure-domain.beta.kubernetes.io/zone"], labels["beta.kubernetes.io/arch"]) == ("a", "arm64")


def test_in_another_zone_its_drivers_say_that_zone_too() -> None:
    node = member("n1")
    node["metadata"]["labels"] |= {"topology.ebs.csi.aws.com/zone": "a", "rack": "a"}
    labels = made(node, zone="b")[1].metadata.labels
    assert {key: labels[key] for key in (ZONE, "topology.ebs.csi.aws.com/zone", "rack")} == {
        ZONE: "b",
        "topology.ebs.csi.aws.com/zone": "b",
        "rack": "a",
    }


def test_every_zone_is_a_group_of_its_own() -> None:
    nodes = [typed(member(f"n{number}", zone)) for number, zone in enumerate("aab")]
    group = NodeGroup("w", template=GIVEN, zones=("c", "a"), members=parse_selector("pool=w"), maximum=3)
    found = zone_groups([group], nodes)
    assert [(each.name, each.zone, each.before, each.room, each.made_of) for each in found] == [
        ("w/a", "a", 2, 1, "node n0"),
        ("w/c", "c", 0, 3, "template"),
    ]


def test_without_zones_a_group_has_those_of_its_nodes() -> None:
    nodes = [typed(member(f"n{number}", zone)) for number, zone in enumerate("ab")]
    assert [each.name for each in zone_groups([NodeGroup("w", members=IN_POOL)], nodes)] == ["w/a", "w/b"]


def test_to_karpenter_a_node_in_one_zone_tells_of_another() -> None:
    group = NodeGroup("w", members=IN_POOL, zones=("a", "b"))
    nodes = [typed(member("n1"))]
    assert [each.made_of for each in zone_groups([group], nodes)] == ["node n1", "nothing"]
    assert [each.made_of for each in zone_groups([group], nodes, launches=True)] == ["node n1", "node n1"]


def test_to_karpenter_a_template_tells_more_than_a_node() -> None:
    group = NodeGroup("w", members=IN_POOL, template=GIVEN, zones=("a", "b"))
    nodes = [typed(member("n1"))]
    assert [each.made_of for each in zone_groups([group], nodes)] == ["node n1", "template"]
    assert [each.made_of for each in zone_groups([group], nodes, launches=True)] == ["template", "template"]


def test_a_template_that_is_no_node_is_an_error() -> None:
    with pytest.raises(UsageError, match='nodes "n1" not found'):
        zone_groups([NodeGroup("w", template="n1")], [])


def test_a_new_node_is_cordoned_if_its_manifest_is() -> None:
    assert made(member("n1", unschedulable=True))[1].spec.unschedulable


@pytest.mark.parametrize("template", [None, "n1"])
def test_a_new_node_of_a_cordoned_group_joins_schedulable(template: str | None) -> None:
    group = NodeGroup("w", members=IN_POOL, template=template)
    (found,) = zone_groups([group], [typed(member("n1", unschedulable=True))])
    (new,) = found.new_nodes(found.machines, {"w-1"})
    assert (new.spec.unschedulable, new.spec.taints) == (False, [])
