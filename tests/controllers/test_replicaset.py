"""Which pods a ReplicaSet deletes when it is scaled down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kubespread.controllers.replicaset import BURST_REPLICAS, crowding, deletion_cost, deletion_order, pods_to_delete
from kubespread.errors import SnapshotError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import NOW, Data, ago, owned_by, replica
from tools.replay.scaling import active_pods_of


def typed(*pods: Data) -> list[Pod]:
    return [msgspec.convert(pod, Pod) for pod in pods]


def on_nodes(**counts: int) -> list[Data]:
    """``a1=2``: two pods on a1, all alike."""
    return [replica(f"{node}-{copy}", node) for node, count in counts.items() for copy in range(count)]


def sidecar(name: str, restarts: int, policy: str | None = "Always") -> Data:
    made = replica(name)
    made["spec"]["initContainers"] = [{"name": "side", **({"restartPolicy": policy} if policy else {})}]
    made["status"]["initContainerStatuses"] = [{"name": "side", "restartCount": restarts}]
    return made


@pytest.mark.parametrize(
    ("pods", "order"),
    [
        pytest.param(
            on_nodes(a1=3, a2=2, a3=1),
            [["a1-0", "a1-1", "a1-2"], ["a2-0", "a2-1"], ["a3-0"]],
            id="a crowded node is emptied, since ranks are counted once",
        ),
        pytest.param(
            on_nodes(a1=1, a2=1, a3=1, a4=2),
            [["a4-0", "a4-1"], ["a1-0", "a2-0", "a3-0"]],
            id="a node of the emptier zone is taken from: only nodes are looked at",
        ),
        pytest.param(
            [replica("bound", "a"), replica("unbound", None, phase="Pending", ready=None, cost="100")],
            [["unbound"], ["bound"]],
            id="what has no node goes first",
        ),
        pytest.param(
            [replica("r", "a"), replica("u", "b", phase="Unknown"), replica("p", "c", phase="Pending")],
            [["p"], ["u"], ["r"]],
            id="pending before unknown before running",
        ),
        pytest.param(
            [replica("ready", "a", cost="-100"), replica("unready", "b", ready=None, cost="100")],
            [["unready"], ["ready"]],
            id="readiness beats cost",
        ),
        pytest.param(
            [
                replica("a1-0", "a1", cost="5"),
                replica("a1-1", "a1", cost="5"),
                replica("a2", "a2", cost="-1"),
                replica("a3", "a3"),
            ],
            [["a2"], ["a3"], ["a1-0", "a1-1"]],
            id="cost beats crowding",
        ),
        pytest.param(
            [replica("old", "a", ready=72), replica("young", "b", ready=62)],
            [["young"], ["old"]],
            id="62 s is younger than 72 s: another power of two",
        ),
        pytest.param(
            [replica("b", "a", ready=100), replica("a", "b", ready=120)],
            [["a"], ["b"]],
            id="100 s and 120 s are about the same: the smaller UID goes",
        ),
        pytest.param(
            [replica("b", "a", created=None), replica("a", "b", created=1)],
            [["b"], ["a"]],
            id="what has no creation time is younger than all",
        ),
        pytest.param(
            [replica("b", "a", created=-10), replica("a", "b", created=0)], [["a"], ["b"]], id="times to come are alike"
        ),
        pytest.param(
            [replica("b", "a"), replica("a", "b")],
            [["a", "b"]],
            id="the same second and nothing else: nothing decides, the UID neither",
        ),
        pytest.param(
            [replica("calm", "a"), replica("wild", "b", restarts=2)],
            [["wild"], ["calm"]],
            id="more restarts go first among equal ready times",
        ),
        pytest.param(
            [replica("wild", "a", ready=900, restarts=2), replica("calm", "b")],
            [["calm"], ["wild"]],
            id="restarts are not asked where ready times differ",
        ),
        pytest.param(
            [sidecar("calm", 1), sidecar("wild", 2)], [["wild"], ["calm"]], id="restarts of a sidecar come second"
        ),
        pytest.param(
            [sidecar("a", 1, None), sidecar("b", 2, None)],
            [["a", "b"]],
            id="restarts of an init container that ends do not count",
        ),
        pytest.param(
            [
                replica("web-1", "a", ready=100, restarts=2, uid="c"),
                replica("web-2", "b", ready=100, restarts=1, uid="a"),
                replica("web-3", "c", ready=120, uid="b"),
            ],
            [["web-1", "web-2", "web-3"]],
            id="each before the next in a circle is no order",
        ),
        pytest.param(
            [replica("a", "a", ready=100, uid=""), replica("b", "b", ready=120, uid="")],
            [["a", "b"]],
            id="without UIDs, ages that are about the same decide nothing",
        ),
        pytest.param([], [], id="no pods, no groups"),
    ],
)
def test_order(pods: list[Data], order: list[list[str]]) -> None:
    active = typed(*pods)
    found = deletion_order(active, crowding(active, active), NOW)
    assert [[pod.metadata.name for pod in group] for group in found] == order


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("10", 10),
        ("-10", -10),
        ("-010", -10),
        ("-0", 0),
        ("0", 0),
        ("+10", 0),
        ("007", 0),
        ("1e3", 0),
        ("0x10", 0),
        ("-", 0),
        ("", 0),
        (" 1", 0),
        ("2147483647", 2147483647),
        ("2147483648", 0),
        ("-2147483648", -2147483648),
        ("-2147483649", 0),
        ("9" * 10000, 0),
        ("\u0663", 0),
    ],
)
def test_a_cost_that_is_no_number_counts_as_0(text: str, cost: int) -> None:
    (pod,) = typed(replica("web", cost=text))
    assert deletion_cost(pod) == cost


def test_costs_survive_being_read_from_a_cluster() -> None:
    snapshot = Snapshot.from_objects([replica("web", cost="7")])
    assert [deletion_cost(pod) for pod in snapshot.pods] == [7]


@pytest.mark.parametrize(
    ("count", "names", "arbitrary"),
    [
        pytest.param(0, [], False, id="nothing goes"),
        pytest.param(2, ["a1-0", "a1-1"], True, id="two of three equals: by name, and said to be arbitrary"),
        pytest.param(3, ["a1-0", "a1-1", "a1-2"], False, id="all of the equals"),
        pytest.param(4, ["a1-0", "a1-1", "a1-2", "a2-0"], True, id="one of the next equals"),
        pytest.param(6, ["a1-0", "a1-1", "a1-2", "a2-0", "a2-1", "a3-0"], False, id="all of them"),
        pytest.param(9, ["a1-0", "a1-1", "a1-2", "a2-0", "a2-1", "a3-0"], False, id="more than there are"),
    ],
)
def test_victims(count: int, names: list[str], arbitrary: bool) -> None:
    pods = typed(*on_nodes(a1=3, a2=2, a3=1))
    found = pods_to_delete(pods, count, pods, NOW)
    assert ([pod.metadata.name for pod in found.pods], found.arbitrary) == (names, arbitrary)


def test_ranks_are_counted_anew_after_the_most_that_one_pass_deletes() -> None:
    """a has 600 and b 550 pods: one pass takes 500 of a, and the next one finds b the more crowded."""
    pods = typed(*on_nodes(a=600, b=550))
    found = pods_to_delete(pods, BURST_REPLICAS + 1, pods, NOW)
    assert ([pod.spec.node_name for pod in found.pods], found.arbitrary) == (["a"] * 500 + ["b"], True)


def test_a_time_that_cannot_be_read_is_named() -> None:
    (pod,) = typed(replica("web", created=None, creationTimestamp="yesterday"))
    with pytest.raises(SnapshotError) as error:
        deletion_order([pod], {}, NOW)
    assert str(error.value) == (
        'pod "default/web": metadata.creationTimestamp: "yesterday" is not a time as RFC 3339 writes it (2006-01-02T15:04:05Z)'
    )


def test_active_pods_are_owned_or_adopted_and_match() -> None:
    def own(name: str, **more: Any) -> Data:
        return replica(name, **{"labels": {"rev": "1"}, "ownerReferences": owned_by("ReplicaSet", "v1"), **more})

    pods = [
        own("own"),
        own("released", labels={"rev": "2"}),
        own("ended", phase="Succeeded"),
        own("leaving", deletionTimestamp=ago(0)),
        own("away", namespace="elsewhere"),
        own("adopted", ownerReferences=[]),
        own("others", ownerReferences=owned_by("ReplicaSet", "v2")),
    ]
    controller = msgspec.convert(
        {"metadata": {"name": "v1", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"rev": "1"}}}},
        ReplicaSet,
    )
    found = active_pods_of(controller, typed(*pods))
    assert [pod.metadata.name for pod in found] == ["own", "adopted"]


def test_ages_are_those_at_the_moment_asked_about() -> None:
    pods = typed(replica("b", "a", ready=62), replica("a", "b", ready=72))
    asked = (NOW, NOW + timedelta(hours=1))
    orders = [[[pod.metadata.name for pod in group] for group in deletion_order(pods, {}, now)] for now in asked]
    assert orders == [[["b"], ["a"]], [["a"], ["b"]]]
