"""A cluster's topology as a report: who is where, how full it is, and how even a workload's pods are."""

from __future__ import annotations

import pytest

import kubespread
from kubespread import TopologyMap, UsageError
from kubespread.questions.map.report import Load, MapDomain, MapNode
from tests.builders import Data, hard, node, pod, taint
from tests.world.clusters import deployment

NO_DEFAULTS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
"""
REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


def labelled(name: str, *, cpu: str = "4", **labels: str) -> Data:
    made = node(name, cpu=cpu)
    made["metadata"]["labels"] = {key.replace("_", "/"): value for key, value in labels.items()}
    return made


def in_zones(*zones: str) -> list[Data]:
    made = [node(f"n{number}", cpu="4") for number in range(len(zones))]
    for each, zone in zip(made, zones, strict=True):
        each["metadata"]["labels"] = {ZONE: zone} if zone else {}
    return made


def mapped(objects: list[Data], workload: object = None, **options: object) -> TopologyMap:
    return kubespread.topology_map(kubespread.Snapshot.from_objects(objects), workload, **options)  # type: ignore[arg-type]  # as a caller without types


def test_a_node_says_where_it_is_what_it_holds_and_what_keeps_pods_away() -> None:
    cordoned = node("n0", cpu="4", unschedulable=True, taints=[taint("dedicated", value="gpu")])
    cordoned["metadata"]["labels"] = {ZONE: "a"}
    cordoned["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    report = mapped([cordoned, pod("one", "n0", requests={"cpu": "3"}), pod("two", "n0"), pod("waiting")])
    load = (
        Load(resource="cpu", requested="3", allocatable="4", percent=75),
        Load(resource="memory", requested="0", allocatable="16Gi", percent=0),
        Load(resource="pods", requested="2", allocatable="110", percent=1),
    )
    closed = ("cordoned", "not ready", "dedicated=gpu:NoSchedule")
    assert report.nodes == (MapNode(name="n0", path=("a",), pods=2, marked=(), load=load, skew=(), closed=closed),)
    assert report.domains == (MapDomain(path=("a",), nodes=1, pods=2, marked=0, load=load),)
    assert (report.keys, report.load, report.pending, report.workload) == ((ZONE,), load, 1, None)


def test_the_pods_that_the_first_constraint_counts_are_marked_wherever_they_run() -> None:
    nodes = in_zones("a", "a", "b", "")
    pods = [pod("web-0", "n0"), pod("web-1", "n1"), pod("web-2", "n3"), pod("other", "n2", labels={"app": "db"})]
    report = mapped([*nodes, *pods], pod("web-9", constraints=[hard(ZONE)]))
    assert {each.name: (each.marked, each.skew) for each in report.nodes} == {
        "n0": (("default/web-0",), (2,)),
        "n1": (("default/web-1",), (2,)),
        "n2": ((), (0,)),
        "n3": (("default/web-2",), (None,)),
    }
    assert (report.selector, report.skew, report.marked_count, report.workload) == ("foo=bar", (2,), 3, "Pod/web-9")


def test_without_a_constraint_the_pods_of_the_workload_are_marked() -> None:
    objects = [*in_zones("a", "b"), *deployment("web", ("n0", "n1")), *deployment("api", ("n1",))]
    report = mapped(objects, "deploy/web", scheduler=kubespread.Scheduler(config=NO_DEFAULTS))
    assert [len(each.marked) for each in report.nodes] == [1, 1]
    assert (report.selector, report.constraints, report.workload) == (None, (), "Deployment/web")


def test_the_constraints_that_a_profile_has_by_default_count_too() -> None:
    report = mapped([*in_zones("a", "b"), *deployment("web", ("n0", "n0"))], "deploy/web")
    keys = [(each.topology_key, each.max_skew, each.source) for each in report.constraints]
    assert (keys, report.skew) == ([("kubernetes.io/hostname", 3, "system"), (ZONE, 5, "system")], (0, 2))


def test_a_running_pod_that_is_asked_about_is_on_its_node() -> None:
    report = mapped([*in_zones("a", "b"), pod("web-0", "n0", constraints=[hard(ZONE)])], "pod/web-0")
    assert [each.marked for each in report.nodes] == [("default/web-0",), ()]
    assert report.skew == (1,)


KEYS: dict[str, tuple[list[Data], tuple[str, ...]]] = {
    "region and zone come first, however many there are": (
        [labelled("n0", rack="r0", **{ZONE: "a", REGION: "x"}), labelled("n1", rack="r0", **{ZONE: "b", REGION: "x"})],
        (REGION, ZONE, "rack"),
    ),
    "labels of the beta stand in": (
        [labelled("n0", **{"failure-domain.beta.kubernetes.io/zone": "a"})],
        ("failure-domain.beta.kubernetes.io/zone",),
    ),
    "so does a label of one's own": ([labelled("n0", **{"example.com_zone": "a"})], ("example.com/zone",)),
    "hostnames are the nodes themselves": ([labelled("n0", **{"kubernetes.io_hostname": "n0"})], ()),
}


@pytest.mark.parametrize("case", KEYS)
def test_what_nodes_are_grouped_by(case: str) -> None:
    objects, keys = KEYS[case]
    assert mapped(objects).keys == keys


def test_keys_of_constraints_group_nodes_unless_each_node_has_a_value_of_its_own() -> None:
    nodes = [labelled(f"n{number}", pool=f"p{number % 2}", node=f"n{number}") for number in range(4)]
    report = mapped(nodes, pod("web", constraints=[hard("pool"), hard("node")]))
    assert report.keys == ("pool",)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["zone", ZONE], "every topology key can be given only once"),
        (["zne"], f"no node has the topology key 'zne'; did you mean {ZONE}?"),
    ],
)
def test_keys_that_group_nothing_are_refused(keys: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        mapped(in_zones("a"), keys=keys)
    assert str(refused.value) == message


def test_edits_are_made_before_the_map_is_drawn() -> None:
    snapshot = kubespread.Snapshot.from_objects(in_zones("a", "b")).edited("cordon n1")
    assert [each.closed for each in kubespread.topology_map(snapshot).nodes] == [(), ("cordoned",)]


def test_domains_add_up_to_the_whole() -> None:
    objects = [*in_zones("a", "b", "b", ""), *deployment("web", ("n0", "n1", "n3"))]
    report = mapped(objects, "deploy/web")
    assert [(each.path, each.nodes, each.pods, each.marked) for each in report.domains] == [
        (("a",), 1, 1, 1),
        (("b",), 2, 1, 1),
        ((None,), 1, 1, 1),
    ]


def test_nodes_that_edits_add_and_take_away_are_told() -> None:
    snapshot = kubespread.Snapshot.from_objects(in_zones("a", "b", "c"))
    report = kubespread.topology_map(snapshot.edited("add-node n0:2", "delete-node n2", "cordon n1", "add-node n0-1"))
    assert [(each.name, each.joined, each.closed) for each in report.nodes] == [
        ("n0", False, ()),
        ("n0-1", True, ()),
        ("n0-1-1", True, ()),
        ("n0-2", True, ()),
        ("n1", False, ("cordoned",)),
    ]
    assert report.left == ("n2",)
