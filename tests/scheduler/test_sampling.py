"""Large clusters: how many nodes kube-scheduler looks for, and where each search begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kubespread
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.questions.simulate import Simulate
from kubespread.questions.simulate.answer import pose
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.nodes import Nodes, Search, SearchResult, SearchRules, nodes_to_find
from kubespread.scheduler.placing import first_in_heap
from kubespread.world.store.chance import Chance
from tests.builders import Data, hosts, pod, soft

ZONE = "topology.kubernetes.io/zone"
ADAPTIVE = {99: None, 100: None, 150: 100, 250: 120, 500: 230, 1000: 420, 2000: 680, 5000: 500, 5625: 281, 10000: 500}
"""As framework.md has them, read off kube-scheduler 1.36.2; None: all."""


@pytest.mark.parametrize("nodes", ADAPTIVE)
def test_how_many_nodes_are_looked_for_without_a_percentage(nodes: int) -> None:
    assert nodes_to_find(nodes) == ADAPTIVE[nodes]


RULES: dict[str, tuple[SearchRules, int, int | None]] = {
    "a percentage counts as it is": (SearchRules(20), 1000, 200),
    "at least a hundred are looked for": (SearchRules(5), 1000, 100),
    "a hundred percent are all": (SearchRules(100), 1000, None),
    "who scores nothing takes the first": (SearchRules(takes_first=True), 3, 1),
}


@pytest.mark.parametrize("case", RULES)
def test_when_a_profile_has_enough(case: str) -> None:
    rules, nodes, enough = RULES[case]
    assert rules.enough(nodes) == enough


def test_four_pods_on_250_nodes_that_are_alike_land_where_their_searches_begin() -> None:
    """As kube-scheduler 1.36.2 was seen to place them, its index being 1 from earlier pods."""
    nodes = nodes_of(*("abc"[number % 3] if number < 200 else "a" for number in range(250)))
    search, fitting = Search(1), np.ones(250, dtype=np.bool_)
    landed = []
    for _ in range(4):
        result = search.run(nodes, fitting, None, SearchRules())
        assert int(np.count_nonzero(result.feasible)) == 120
        landed.append(first_in_heap(cluster_of(nodes), result, np.flatnonzero(result.feasible)))
    assert [nodes.names[position] for position in landed] == ["n001", "n121", "n241", "n111"]


def test_a_search_that_ends_at_one_node_more_than_it_needs_has_looked_at_the_rejected_ones_before_it() -> None:
    nodes, fitting = nodes_of(*["a"] * 200), np.ones(200, dtype=np.bool_)
    fitting[[5, 101, 102]] = False
    search = Search()
    first, second = (search.run(nodes, fitting, None, SearchRules()) for _ in range(2))
    assert np.flatnonzero(first.feasible).tolist() == [*range(5), *range(6, 101)]
    assert second.start == 103
    assert np.flatnonzero(second.feasible).tolist() == [0, 1, 2, *range(103, 200)]


def test_a_pod_that_fits_nowhere_has_looked_at_every_node() -> None:
    search, nodes = Search(7), nodes_of(*["a"] * 120)
    for fitting in (np.zeros(120, dtype=np.bool_), np.ones(120, dtype=np.bool_)):
        assert search.run(nodes, fitting, None, SearchRules()).start == 7


def test_nodes_that_a_pre_filter_plugin_leaves_out_are_not_looked_at() -> None:
    search, nodes, everywhere = Search(3), nodes_of(*["a"] * 150), np.ones(150, dtype=np.bool_)
    listed = np.zeros(150, dtype=np.bool_)
    listed[[10, 20]] = True
    assert np.flatnonzero(search.run(nodes, listed, listed, SearchRules()).feasible).tolist() == [10, 20]
    # Two were looked at.
    assert search.run(nodes, everywhere, None, SearchRules()).start == 5


def test_where_a_search_begins_decides_ties() -> None:
    """The heap holds n3, n4, n0, n1, n2, and is met as n3, n4, n1, n2, n0."""
    nodes = nodes_of("a", "a", "a", "a", "a")
    found = SearchResult(np.ones(5, dtype=np.bool_), start=3)
    assert [nodes.names[first_in_heap(cluster_of(nodes), found, np.array(among))] for among in ([0, 4], [0, 1, 2])] == [
        "n4",
        "n1",
    ]


def cluster_of(nodes: Nodes) -> Cluster:
    return Cluster.build(nodes.objects, [], ClusterObjects())


def nodes_of(*zones: str) -> Nodes:
    digits = len(str(len(zones) - 1))
    made = hosts(*zones)
    for number, each in enumerate(made):
        each["metadata"]["name"] = f"n{number:0{digits}}"
    return Nodes(kubespread.Snapshot.from_objects(made).nodes)


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 60
profiles:
- schedulerName: default-scheduler
- schedulerName: own
  percentageOfNodesToScore: 70
- schedulerName: adaptive
  percentageOfNodesToScore: 0
- schedulerName: first
  plugins: {score: {disabled: [{name: '*'}]}}
"""


@pytest.mark.parametrize(
    ("profile", "enough"), [("default-scheduler", 120), ("own", 140), ("adaptive", 100), ("first", 1)]
)
def test_the_percentage_of_a_profile_comes_before_that_of_the_configuration(profile: str, enough: int) -> None:
    report = simulated(scheduler=kubespread.Scheduler(config=CONFIGURATION), set=[f"schedulerName={profile}"], seed=0)
    assert report.sampling is not None
    assert (report.sampling.nodes, report.sampling.enough) == (200, enough)


def simulated(copies: int = 1, *, scheduler: kubespread.Scheduler | None = None, **options: Any) -> Any:
    """On 200 nodes of which twelve are in zone c."""
    zones = [zone for turn in range(100) for zone in ("a", "b", *(("c",) if turn < 12 else ()))][:200]
    cluster = kubespread.Snapshot.from_objects(named(hosts(*zones)))
    candidate = pod("web", constraints=[soft(ZONE)], requests={"cpu": "1m"})
    return kubespread.simulate(cluster, candidate, copies, scheduler or kubespread.Scheduler(), **options)


def named(nodes: list[Data]) -> list[Data]:
    for number, each in enumerate(nodes):
        each["metadata"]["name"] = each["metadata"]["labels"]["kubernetes.io/hostname"] = f"n{number:03}"
    return nodes


def test_soft_spreading_misses_a_small_zone_that_a_search_does_not_reach() -> None:
    reports = [simulated(60, seed=seed) for seed in (None, 5, 6, 7)]
    assert [(report.seed, report.placed, report.skew[0].after) for report in reports] == [
        (None, 60, 0),
        (5, 60, 0),
        (6, 60, 2),
        (7, 60, 0),
    ]
    assert [domain.after for domain in reports[2].distribution[0]] == [20, 21, 19]
    assert reports[0].sampling.enough == 100


def test_pods_of_a_daemon_set_look_at_their_node_only_and_move_the_search_by_one() -> None:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    agent = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template},
    }
    nodes = named(hosts(*["a"] * 150))
    for host in nodes[3:]:
        host["spec"]["taints"] = [{"key": "own", "effect": "NoSchedule"}]
    tolerations = [{"operator": "Exists"}]
    snapshot, question = (
        kubespread.Snapshot.from_objects(nodes),
        Simulate(pods=(agent, pod("web", tolerations=tolerations))),
    )
    posed = pose(question, snapshot, kubespread.Scheduler())
    outcomes = posed.place(Chance(search=lambda _: Search()))
    names = [[posed.cluster.nodes.names[choice.node] for choice in outcome.choices] for outcome in outcomes]
    assert names == [["n000", "n001", "n002"], ["n003"]]
