"""Plans as they look on clusters from twelve nodes to a thousand: ``python -m tests.views.test_rebalance_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from functools import cache

import pytest

import kubespread
from kubespread import RebalanceReport, Snapshot
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, pod
from tests.cli.support import FIXTURES
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep
from tests.world.clusters import budget, deployment

POLICY = str(FIXTURES / "descheduler" / "spread.yaml")


def cluster(nodes: int, cloud: str) -> Snapshot:
    """Three zones. Twelve pods of web and nine of api are all in the first, and a budget keeps all of api there.

    On a large cluster there are 40 more workloads like web.
    """
    objects: list[Data] = []
    host_names = [NAMES[cloud](number) for number in range(nodes)]
    for number, name in enumerate(host_names):
        made = node(name, cpu="16")
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: name}
        objects.append(made)
    crowded = tuple(host_names[number % nodes] for number in range(0, 36, 3))
    apps = ["web", *(f"job-runner-{number}" for number in range(40 if nodes > 100 else 0))]
    for app in apps:
        objects += deployment(app, crowded, spec=spread(app), cpu="100m")
    objects += deployment("api", crowded[:9], spec=spread("api"))
    bare = pod("bare", host_names[0], labels={"app": "web"})
    return Snapshot.from_objects([*objects, bare, budget("api", minAvailable=9), budget("web", maxUnavailable=2)])


def spread(app: str) -> Data:
    return {"topologySpreadConstraints": [hard(ZONE, match={"app": app})]}


@cache
def planned(nodes: int, cloud: str) -> RebalanceReport:
    return kubespread.rebalance(cluster(nodes, cloud), descheduler=POLICY if nodes < 100 else None)


def screens() -> list[Screen]:
    found = [
        Screen(f"rebalance-{nodes}-{cloud}-{width}", width, terminal.table(planned(nodes, cloud), Look(width=width)))
        for nodes, cloud in ((12, "aws"), (12, "gke"), (1000, "aws"))
        for width in (80, 120)
    ]
    look = Look()
    return [
        *found,
        Screen("rebalance-plain", 0, plain.plain(planned(12, "gke"), look)),
        Screen("rebalance-csv", 0, plain.csv(planned(12, "gke"), look)),
        Screen("rebalance-name", 0, plain.name(planned(12, "gke"), look)),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


@pytest.mark.parametrize(("rows", "shown"), [(24, False), (60, True), (None, True)])
def test_the_script_is_shown_whole_or_not_at_all(rows: int | None, shown: bool) -> None:
    report = planned(12, "aws")
    text = terminal.table(report, Look(width=120, rows=rows))
    evictions = [f"evict {step.pod.replace('/', ' ')} &&" in text for step in report.steps]
    assert ({*evictions}, "evict() {" in text, "1 more script" in text) == ({shown}, shown, not shown)


if __name__ == "__main__":
    keep(screens())
