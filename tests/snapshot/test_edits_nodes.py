"""What edits make of nodes: which ones are meant, what becomes of them, and what new ones are like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path

import pytest

import kubespread
from kubespread.errors import UsageError
from kubespread.kube.api.core import Node, NodeCondition, Taint
from kubespread.snapshot.edits.nodes import Fail
from kubespread.snapshot.edits.pods import DeletePods, EvictPod, Scale
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import NodeChange, nodes_of_target, parse_target
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import Data, node, pod, taint
from tests.storage import claim, on_host, volume

CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
GPU = Taint(key="gpu", value="a100", effect="NoSchedule")
SLOW = Taint(key="slow", effect="PreferNoSchedule")
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def labeled(
    name: str,
    taints: Sequence[Taint] = (),
    more: Mapping[str, str] | None = None,
    *,
    unschedulable: bool = False,
    **labels: str,
) -> Data:
    """A node with its hostname and, under their well-known keys, its zone and region."""
    well_known = {"zone": ZONE, "region": "topology.kubernetes.io/region"}
    made = node(name, taints=[taint(each.key, each.effect, each.value) for each in taints], unschedulable=unschedulable)
    own = {**labels, **(more or {})}
    made["metadata"]["labels"] = {HOSTNAME: name, **{well_known.get(key, key): value for key, value in own.items()}}
    return made


def cluster(*nodes: Data) -> tuple[Node, ...]:
    return Snapshot.from_objects(nodes).nodes


CLUSTER = cluster(
    labeled("n0", [GPU, SLOW], zone="a", pool="web"),
    labeled("n1", zone="a", pool="db"),
    labeled("n2", [SLOW, CORDONED], unschedulable=True, zone="b", pool="db"),
)

MEANT: dict[str, tuple[str, list[str]]] = {
    "a name": ("n1", ["n1"]),
    "a label": ("pool=db", ["n1", "n2"]),
    "the short key of a well-known label": ("zone=a", ["n0", "n1"]),
    "its full key": (f"{ZONE}=b", ["n2"]),
    "several labels": ("zone=a,pool!=web", ["n1"]),
    "several values": ("hostname in (n0,n2)", ["n0", "n2"]),
    "a label whatever its value": (f"{HOSTNAME},!gpu", ["n0", "n1", "n2"]),
}


@pytest.mark.parametrize("case", MEANT)
def test_the_nodes_that_are_meant(case: str) -> None:
    text, names = MEANT[case]
    assert [found.metadata.name for found in nodes_of_target(parse_target(text), CLUSTER)] == names


def test_a_label_of_just_that_name_is_not_the_well_known_one() -> None:
    nodes = cluster(labeled("n0", zone="a"), node("n1", zone="a"))
    assert [found.metadata.name for found in nodes_of_target(parse_target("zone=a"), nodes)] == ["n1"]


NOBODY: dict[str, tuple[str, str]] = {
    "a mistyped name": ("cordon n11", 'nodes "n11" not found, did you mean "n1"?'),
    "an unknown name": ("drain other", 'nodes "other" not found; there are n0, n1, n2'),
    "the value of a label": ("drain web", 'nodes "web" not found: it is the value of a label, write pool=web'),
    "the key of a label": ("delete-node pool", 'nodes "pool" not found: it is the key of a label, write pool=VALUE'),
    "the short key of a label": ("cordon zone", 'nodes "zone" not found: it is the key of a label, write zone=VALUE'),
    "two names": ("cordon n0,n1", "no node has the labels n0,n1: n0 is a node, give each node an edit of its own"),
    "a mistyped key": ("cordon pol=db", "no node has the label 'pol'; did you mean pool?"),
    "an unknown key": ("cordon rack=1", f"no node has the label 'rack'; there are {HOSTNAME}, pool, {ZONE}"),
    "a mistyped value": ("cordon pool=webb", 'no node has pool=webb, did you mean "web"?'),
    "an unknown value": ("cordon zone=c", f"no node has {ZONE}=c; there are a, b"),
    "labels that no node has together": ("cordon zone=b,pool=web", "no node has the labels zone=b,pool=web"),
    "a taint that is not there": ("taint n1=gpu-", 'taint "gpu" not found on n1'),
    "a taint with another effect": (
        "taint n0=gpu:NoExecute-",
        'taint "gpu:NoExecute" not found on n0; there are gpu:NoSchedule, slow:PreferNoSchedule',
    ),
    "a mistyped taint": ("taint zone=a solw-", 'taint "solw" not found on zone=a, did you mean "slow"?'),
    "a label that is not there": (
        "label n0=rack-",
        f'label "rack" not found on n0; there are {HOSTNAME}, pool, {ZONE}',
    ),
    "a template that is not there": (
        "add-node n9:2",
        'new nodes are like one that is there: nodes "n9" not found; there are n0, n1, n2; a Node manifest ends in .yaml, '
        ".yml or .json",
    ),
}


@pytest.mark.parametrize("case", NOBODY)
def test_an_edit_that_names_nothing(case: str) -> None:
    text, message = NOBODY[case]
    edit = parse(text)
    assert not isinstance(edit, Fail | DeletePods | EvictPod | Scale)
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        edit.change(CLUSTER)


def test_a_node_without_the_domain_that_screens_leave_out() -> None:
    nodes = cluster(node("ip-10-0-1-7.eu-west-1.compute.internal", zone="a"))
    with pytest.raises(UsageError, match=r'^nodes "ip-10-0-1-7" not found, did you mean "ip-10-0-1-7\.eu-west-1\.'):
        nodes_of_target(parse_target("ip-10-0-1-7"), nodes)


def changed(text: str, nodes: Sequence[Node] = CLUSTER) -> NodeChange:
    edit = parse(text)
    assert not isinstance(edit, Fail | DeletePods | EvictPod | Scale)
    before = deepcopy(nodes)
    change = edit.change(nodes)
    assert before == nodes
    return change


N0: Data = {"zone": "a", "pool": "web"}
N1: Data = {"zone": "a", "pool": "db"}
N2: Data = {"zone": "b", "pool": "db"}
REPLACED: dict[str, tuple[str, Mapping[str, Data]]] = {
    "a cordon is the field and the taint, which comes last": (
        "cordon n0",
        {"n0": labeled("n0", [GPU, SLOW, CORDONED], unschedulable=True, **N0)},
    ),
    "a drain is a cordon first": ("drain zone=b --force", {}),
    "a drain cordons": ("drain pool=db", {"n1": labeled("n1", [CORDONED], unschedulable=True, **N1)}),
    "an uncordon removes both": ("uncordon n2", {"n2": labeled("n2", [SLOW], **N2)}),
    "a new taint comes first, as kubectl writes it": (
        "taint n0=a=b:NoExecute",
        {"n0": labeled("n0", [Taint(key="a", value="b", effect="NoExecute"), GPU, SLOW], **N0)},
    ),
    "a taint with the key and effect of another takes its place": (
        "taint n0=gpu=h100:NoSchedule",
        {"n0": labeled("n0", [Taint(key="gpu", value="h100", effect="NoSchedule"), SLOW], **N0)},
    ),
    "a taint is put on every node with the label": (
        "taint zone=a slow:PreferNoSchedule",
        {"n1": labeled("n1", [SLOW], **N1)},
    ),
    "a taint is removed where it is": ("taint zone=a gpu-", {"n0": labeled("n0", [SLOW], **N0)}),
    "a taint is removed by its effect": ("taint n0 gpu:NoSchedule-", {"n0": labeled("n0", [SLOW], **N0)}),
    "a label": ("label n0=rack=1", {"n0": labeled("n0", [GPU, SLOW], **N0, rack="1")}),
    "another value of a label, by its short key": (
        "label pool=db zone=c",
        {
            "n1": labeled("n1", zone="c", pool="db"),
            "n2": labeled("n2", [SLOW, CORDONED], unschedulable=True, zone="c", pool="db"),
        },
    ),
    "no label, by its short key": ("label n0=zone-", {"n0": labeled("n0", [GPU, SLOW], pool="web")}),
}


@pytest.mark.parametrize("case", REPLACED)
def test_what_becomes_of_nodes(case: str) -> None:
    text, expected = REPLACED[case]
    nodes = {found.metadata.name: found for found in cluster(*expected.values())}
    assert changed(text) == NodeChange(replaced=nodes)


@pytest.mark.parametrize("text", ["cordon n2", "uncordon n0", "taint n0 gpu=a100:NoSchedule", "label zone=a zone=a"])
def test_an_edit_that_changes_nothing_says_so(text: str) -> None:
    assert changed(text) == NodeChange(notes=(f"{text}: changes nothing",))


def test_a_field_without_its_taint_is_cordoned_and_uncordoned_like_any_other() -> None:
    (half,) = cluster(labeled("n0", unschedulable=True))
    (whole,) = cluster(labeled("n0", [CORDONED], unschedulable=True))
    (neither,) = cluster(labeled("n0"))
    assert changed("cordon n0", [half]).replaced == {"n0": whole}
    assert changed("uncordon n0", [half]).replaced == {"n0": neither}


def test_nodes_are_deleted_by_name_and_by_label() -> None:
    assert changed("delete-node n0") == NodeChange(removed=("n0",))
    assert changed("delete-node pool=db") == NodeChange(removed=("n1", "n2"))


READY = NodeCondition(type="Ready", status="True")


def copy_of(name: str, taints: Sequence[Taint] = (), *, unschedulable: bool = False, **labels: str) -> Node:
    (made,) = cluster(labeled(name, taints, labels, unschedulable=unschedulable))
    made.status.conditions = [READY]
    return made


def test_copies_are_called_after_their_template_by_the_numbers_that_are_free() -> None:
    nodes = (*CLUSTER, *cluster(labeled("n1-2", zone="a", pool="db")))
    assert changed("add-node n1:3", nodes) == NodeChange(
        added=tuple(copy_of(name, **N1) for name in ("n1-1", "n1-3", "n1-4"))
    )


def test_a_copy_has_the_labels_that_are_asked_for() -> None:
    assert changed("add-node n0@zone=c,pool=gpu") == NodeChange(
        added=(copy_of("n0-1", [GPU, SLOW], zone="c", pool="gpu"),)
    )


def test_a_copy_is_a_machine_that_has_just_become_ready() -> None:
    state = [
        taint("node.kubernetes.io/not-ready"),
        taint("node.kubernetes.io/not-ready", "NoExecute"),
        taint("startup-taint.cluster-autoscaler.kubernetes.io/cni"),
        taint("ToBeDeletedByClusterAutoscaler"),
    ]
    template = labeled("n0", zone="a")
    template["spec"]["taints"] = [*state, taint("gpu", value="a100")]
    template["metadata"] |= {"uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"}
    template["status"] |= {
        "conditions": [{"type": "Ready", "status": "False"}, {"type": "DiskPressure", "status": "True"}],
        "images": [{"names": ["example.com/main:1"], "sizeBytes": 9}],
    }
    assert changed("add-node n0", cluster(template)) == NodeChange(
        added=(copy_of("n0-1", [GPU], zone="a"),),
        notes=(
            "add-node n0: taints of n0 that a new node does not have: node.kubernetes.io/not-ready, "
            "startup-taint.cluster-autoscaler.kubernetes.io/cni, ToBeDeletedByClusterAutoscaler",
        ),
    )


def test_a_copy_of_a_cordoned_node_joins_schedulable() -> None:
    assert changed("add-node n2") == NodeChange(
        added=(copy_of("n2-1", [SLOW], **N2),), notes=("add-node n2: n2 is cordoned, and its copies are not",)
    )


EBS, BETA, ZONE_ID = (
    "topology.ebs.csi.aws.com/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.k8s.aws/zone-id",
)
ALONG: dict[str, tuple[list[Data], str, dict[str, str], list[str]]] = {
    "a driver's label that is the zone on every node": (
        [{EBS: "a", BETA: "a"}, {"zone": "b", EBS: "b", BETA: "b"}],
        "zone=b",
        {EBS: "b", BETA: "b"},
        [f"other labels of its domain are set too: {BETA}=b, {EBS}=b"],
    ),
    "in one zone, by what labels are called": (
        [{EBS: "a", "rack": "a"}],
        "zone=b",
        {EBS: "b", "rack": "a"},
        [f"other labels of its domain are set too: {EBS}=b", f"{ZONE} is b, but it was a and so still is rack"],
    ),
    "a label of any name that is the zone everywhere": (
        [{"site": "a"}, {"zone": "b", "site": "b"}],
        "zone=c",
        {"site": "c"},
        ["other labels of its domain are set too: site=c"],
    ),
    "one that happens to have the same value here": (
        [{"site": "a"}, {"zone": "b", "site": "a"}],
        "zone=b",
        {"site": "a"},
        [f"{ZONE} is b, but it was a and so still is site"],
    ),
    "the region and the id of the zone, as nodes there have them": (
        [{"region": "r1", ZONE_ID: "use1-az1"}, {"zone": "b", "region": "r2", ZONE_ID: "use1-az4"}],
        "zone=b",
        {"topology.kubernetes.io/region": "r2", ZONE_ID: "use1-az4"},
        [f"other labels of its domain are set too: {ZONE_ID}=use1-az4, topology.kubernetes.io/region=r2"],
    ),
    "in a new zone the region stays": (
        [{"region": "r1"}, {"zone": "b", "region": "r1"}],
        "zone=c",
        {"topology.kubernetes.io/region": "r1"},
        [],
    ),
    "what is asked for comes first": ([{EBS: "a"}, {"zone": "b", EBS: "b"}], f"zone=b,{EBS}=c", {EBS: "c"}, []),
}


@pytest.mark.parametrize("case", ALONG)
def test_labels_of_a_domain_go_along_with_it_or_are_said_to_stay(case: str) -> None:
    nodes, labels, expected, notes = ALONG[case]
    made = [labeled(f"n{number}", more={"zone": "a", **each}) for number, each in enumerate(nodes)]
    edit = f"add-node n0@{labels}"
    change = changed(edit, cluster(*made))
    found = change.added[0].metadata.labels
    assert {key: found[key] for key in expected} == expected
    assert list(change.notes) == [f"{edit}: {note}" for note in notes]


def test_a_volume_of_the_zone_can_be_attached_to_a_copy_there() -> None:
    nodes = [labeled(name, zone=zone, more={EBS: zone}) for name, zone in (("n0", "a"), ("n1", "b"))]
    nodes[1]["spec"]["unschedulable"] = True
    waiting = pod("db", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    bound = [claim("data", "pv", "fast"), volume("pv", "fast", only=on_host("b", EBS), phase="Bound")]
    snapshot = Snapshot.from_objects([*nodes, *bound])
    assert kubespread.simulate(snapshot, waiting).placed == 0
    then = snapshot.edited(parse("add-node n0@zone=b"))
    assert [each.node for each in kubespread.simulate(then, waiting).placements] == ["n0-1"]


def manifest(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "gpu.yaml"
    file.write_text(f"apiVersion: v1\nkind: Node\n{text}")
    return file


def test_new_nodes_of_a_manifest(tmp_path: Path) -> None:
    file = manifest(
        tmp_path,
        "metadata: {name: gpu, labels: {pool: gpu}}\n"
        "spec: {taints: [{key: gpu, value: a100, effect: NoSchedule}]}\n"
        "status: {capacity: {cpu: '8', memory: 16Gi, pods: '110'}}\n",
    )
    expected = [copy_of(name, [GPU], zone="c", pool="gpu") for name in ("gpu-1", "gpu-2")]
    for each in expected:
        each.status.capacity = each.status.allocatable
    assert changed(f"add-node {file}:2@zone=c") == NodeChange(added=tuple(expected))


def test_what_a_template_lacks_is_said(tmp_path: Path) -> None:
    file = manifest(tmp_path, "metadata: {name: gpu}\n")
    nodes = (*CLUSTER, *cluster(labeled("n3", pool="db", rack="1")))
    assert changed(f"add-node {file}", nodes).notes == (
        f"add-node {file}: gpu says neither status.allocatable nor status.capacity: no pod finds room on its copies",
        f"add-node {file}: the new nodes lack labels that other nodes have: pool, {ZONE}",
    )


def test_a_cluster_without_nodes_can_get_some(tmp_path: Path) -> None:
    file = manifest(tmp_path, "metadata: {name: gpu}\nstatus: {allocatable: {cpu: 1}}\n")
    change = changed(f"add-node {file}@zone=a", ())
    assert [(new.metadata.name, new.metadata.labels) for new in change.added] == [
        ("gpu-1", {"zone": "a", HOSTNAME: "gpu-1"})
    ]
    assert change.notes == ()
