"""Maps as they look from five nodes to five thousand: ``python -m tests.views.test_map_screens`` rewrites the screens
that are kept.
"""

from __future__ import annotations

from functools import cache

import kubespread
from kubespread import TopologyMap
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.views.clusters import candidate, cluster
from tests.views.kept import Screen, check, keep
from tests.views.test_survive_screens import cluster as busy_cluster


@cache
def of_pod(nodes: int, cloud: str, constraints: int, unlabelled: int = 0) -> TopologyMap:
    return kubespread.topology_map(cluster(nodes, cloud, unlabelled=unlabelled), candidate(constraints))


@cache
def whole(nodes: int, cloud: str) -> TopologyMap:
    return kubespread.topology_map(busy_cluster(nodes, cloud))


@cache
def edited() -> TopologyMap:
    """A zone that fails, a node that is cordoned, one that is deleted, and copies that join."""
    nodes = [node.metadata.name for node in busy_cluster(12, "aws").nodes]
    edits = ("fail zone=eu-west-1b", f"cordon {nodes[0]}", f"delete-node {nodes[2]}", f"add-node {nodes[3]}:2")
    return kubespread.topology_map(busy_cluster(12, "aws").edited(*edits))


def screens() -> list[Screen]:
    found = []
    for nodes, cloud, constraints in (
        (12, "aws", 2),
        (12, "gke", 1),
        (5, "wide", 2),
        (300, "aws", 1),
        (5000, "gke", 4),
    ):
        for width in (80, 120):
            look = Look(width=width)
            text = terminal.table(of_pod(nodes, cloud, constraints), look)
            found.append(Screen(f"map-skew-{nodes}-{cloud}-{width}", width, text))
    for nodes, cloud in ((12, "aws"), (12, "gke"), (1000, "aws")):
        for width in (60, 80, 120):
            text = terminal.table(whole(nodes, cloud), Look(width=width))
            found.append(Screen(f"map-load-{nodes}-{cloud}-{width}", width, text))
    unlabelled = terminal.table(of_pod(12, "gke", 1, 4), Look(width=80))
    return [
        *found,
        *(
            Screen(f"map-edited-12-aws-{width}", width, terminal.table(edited(), Look(width=width)))
            for width in (80, 120)
        ),
        Screen("map-unlabelled-12-gke-80", 80, unlabelled),
        Screen("map-plain", 0, plain.plain(of_pod(12, "gke", 2), Look())),
        Screen("map-csv", 0, plain.csv(of_pod(12, "gke", 2), Look())),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


def test_what_takes_no_pods_is_gray_and_what_it_holds_keeps_its_color() -> None:
    gray, rest = "\x1b[2m", "\x1b[0m"
    text = terminal.table(edited(), Look(width=80, color=True))
    is_gray = {node.name: f"{gray}{node.name}{rest}" in text for node in edited().nodes}
    assert is_gray == {node.name: bool(node.closed) for node in edited().nodes}


def test_in_full_every_node_of_a_large_cluster_has_a_row() -> None:
    report = of_pod(300, "aws", 1)
    text = terminal.table(report, Look(width=80, in_full=True))
    bare = sum(not node.marked for node in report.nodes)
    assert (text.count("●") - 1, text.count("∙") - 1) == (report.marked_count, bare), "but for those of the legend"


def test_what_color_says_is_also_written() -> None:
    report = of_pod(12, "aws", 2)
    colored = terminal.table(report, Look(width=80, color=True))
    plain_text = terminal.table(report, Look(width=80))
    assert "\x1b[31m" in colored
    assert "6−0 = 6 > 1" in plain_text


if __name__ == "__main__":
    keep(screens())
