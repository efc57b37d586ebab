"""Findings as they look on twelve nodes and on many workloads: ``python -m tests.views.test_check_screens`` rewrites the
screens that are kept.
"""

from __future__ import annotations

from functools import cache

import kubespread
from kubespread import CheckReport, Snapshot
from kubespread.views import markdown, plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, soft, taint
from tests.lint.test_engine import web
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep

_MATCHED = {"foo": "bar"}


def cluster(nodes: int, cloud: str) -> list[Data]:
    """Three zones; the nodes of the last one are tainted, and the first node lacks its zone label."""
    made = []
    for number in range(nodes):
        name, zone = NAMES[cloud](number), ZONES[cloud][number % 3]
        each = node(name, cpu="4", taints=[taint("dedicated", value="gpu")] if number % 3 == 2 else [])
        each["metadata"]["labels"] = {HOSTNAME: name} if number == 0 else {ZONE: zone, HOSTNAME: name}
        made.append(each)
    return made


def workloads() -> list[Data]:
    return [
        web(hard(ZONE, match=_MATCHED), replicas=6, name="checkout"),
        web(hard(ZONE, match={"app": "payments"}), soft(HOSTNAME), replicas=3, name="payments-api"),
        web(hard(ZONE, match=_MATCHED, minDomains=4), replicas=9, name="search"),
        web(hard("topology.kubernetes.io/zoen"), replicas=2, name="image-resizer"),
        web(hard(ZONE, match=_MATCHED, nodeTaintsPolicy="Honor"), replicas=4, name="in-order"),
        web(hard(ZONE, 0), replicas=4, name="refused"),
    ]


@cache
def checked(nodes: int, cloud: str) -> CheckReport:
    """A dozen nodes and a handful of manifests."""
    listed = {"apiVersion": "v1", "kind": "List", "items": workloads()}
    return kubespread.check(Snapshot.from_objects(cluster(nodes, cloud)), listed)


@cache
def of_a_large_cluster() -> CheckReport:
    """Sixty workloads with the same two faults."""
    many = [
        web(hard(ZONE), hard(ZONE, match={"app": "x"}, whenUnsatisfiable="ScheduleAnyway"), name=f"web-{number:02}")
        for number in range(60)
    ]
    return kubespread.check(Snapshot.from_objects([*cluster(100, "gke"), *many]))


def screens() -> list[Screen]:
    found = []
    for width in (80, 120):
        for cloud in ("aws", "gke"):
            look = Look(width=width)
            found.append(Screen(f"check-12-{cloud}-{width}", width, terminal.table(checked(12, cloud), look)))
        found.append(Screen(f"check-many-{width}", width, terminal.table(of_a_large_cluster(), Look(width=width))))
    nothing = kubespread.check(None, web(hard(ZONE)))
    found.append(Screen("check-nothing-80", 80, terminal.table(nothing, Look(width=80))))
    found += [
        Screen(f"check-{name}", 0, writer(checked(12, "aws"), Look()))
        for name, writer in (("plain", plain.plain), ("csv", plain.csv), ("markdown", markdown.markdown))
    ]
    return found


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


def test_all_findings_are_shown_where_that_is_asked_for() -> None:
    report = of_a_large_cluster()
    assert "more (-v)" in terminal.table(report, Look())
    in_full = terminal.table(report, Look(in_full=True))
    assert "more (-v)" not in in_full
    assert all(f"Deployment/web-{number:02}" in in_full for number in range(60))


if __name__ == "__main__":
    keep(screens())
