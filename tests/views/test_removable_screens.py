"""Removable nodes as they look on clusters from eight nodes to two hundred:
``python -m tests.views.test_removable_screens`` rewrites the screens that are kept.
"""

from __future__ import annotations

from functools import cache

from msgspec import structs
from rich.cells import cell_len

import kubespread
from kubespread import RemovableReport, Snapshot
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, pod, remade
from tests.cli.support import FIXTURES
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep
from tests.world.clusters import budget, deployment


def cluster(nodes: int, cloud: str) -> Snapshot:
    """A Deployment spread over every third node, one whose budget lets no pod go, bare pods, and one large pod."""
    objects: list[Data] = []
    names = [NAMES[cloud](number) for number in range(nodes)]
    for number, name in enumerate(names):
        made = node(name, cpu="4")
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: name}
        objects.append(made)
    web = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    objects += deployment("web", tuple(names[:9]), spec=web, cpu="500m")
    objects += deployment("api", tuple(names[3:6]), cpu="1")
    objects += deployment("report", (names[7],), cpu="3500m")
    objects += [pod(f"debug-{number}", name) for number, name in enumerate(names[10:12])]
    return Snapshot.from_objects([*objects, budget("api", maxUnavailable=0)])


@cache
def removed(nodes: int, cloud: str) -> RemovableReport:
    return kubespread.removable(cluster(nodes, cloud))


def screens() -> list[Screen]:
    found = [
        Screen(f"removable-{nodes}-{cloud}-{width}", width, terminal.table(removed(nodes, cloud), Look(width=width)))
        for nodes, cloud in ((12, "aws"), (12, "gke"), (200, "aws"))
        for width in (80, 120)
    ]
    fleet, look = kubespread.removable(kubespread.load(FIXTURES / "clusters" / "fleet.yaml")), Look()
    return [
        *found,
        Screen("removable-plain", 0, plain.plain(fleet, look)),
        Screen("removable-csv", 0, plain.csv(fleet, look)),
    ]


def test_of_many_nodes_the_answer_stands_last_and_alone() -> None:
    report = removed(200, "aws")
    cut = remade(report, together=structs.replace(report.together, untried=1200))
    answer, order, untried, *_ = cut.answer
    assert order.startswith("to take them together: cordon and drain ")
    assert untried == "together with these, 1,200 others that can go alone were not tried"
    assert answer == "195 of 200 nodes can go alone, 195 together"


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


def test_nothing_is_wider_than_a_narrow_terminal() -> None:
    text = terminal.table(removed(12, "aws"), Look(width=60))
    assert max(map(cell_len, text.splitlines())) <= 60


def test_in_full_every_node_has_a_row() -> None:
    assert terminal.table(removed(200, "aws"), Look(width=120, in_full=True)).count(" yes ") == 195


if __name__ == "__main__":
    keep(screens())
