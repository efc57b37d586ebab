"""The screens of compare that are kept, and how they come about: ``python -m tests.views.compare_screens`` rewrites
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, TypeVar

import msgspec

import kubespread
from kubespread import ClusterSide, Scheduler, Side
from kubespread.questions.compare.report import CompareReport
from kubespread.questions.compare.workloads.report import CompareWorkloadsReport
from kubespread.reports.parts import ClusterReference
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import Data
from tests.cli.support import FIXTURES
from tests.views.simulate_screens import HOSTNAME, SCREENS, ZONES, Cloud, deployment, hosts, node_name, running


def cluster(cloud: Cloud, nodes: int) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*hosts(cloud, nodes), *running("checkout", cloud, 3)])


def web(**constraint: object) -> Data:
    """15 replicas, with fields of the constraint over zones set."""
    made = deployment("checkout", 15, cpu="1500m")
    made["spec"]["template"]["spec"]["topologySpreadConstraints"][0] |= constraint
    return made


def _edited(cloud: Cloud, nodes: int, *edits: str) -> tuple[Side, Side]:
    before = cluster(cloud, nodes)
    return Side(before, web()), Side(before.edited(*edits), web())


def _zone_cordoned(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    return _edited(cloud, nodes, f"cordon zone={ZONES[cloud][0]}")


def _node_lost(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    return _edited(cloud, nodes, f"fail {HOSTNAME}={node_name(cloud, 0)}")


def _nothing(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    return _edited(cloud, nodes)


def _grown(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    return Side(cluster(cloud, nodes), web()), Side(cluster(cloud, nodes + nodes // 2), web())


def _other_release(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    before = cluster(cloud, nodes)
    return Side(before, web(), Scheduler(kube_version="1.30")), Side(before, web(), Scheduler(kube_version="1.36"))


def _made_soft(cloud: Cloud, nodes: int) -> tuple[Side, Side]:
    before = cluster(cloud, nodes).edited(f"cordon zone={ZONES[cloud][1]}")
    return Side(before, web()), Side(before, web(whenUnsatisfiable="ScheduleAnyway", maxSkew=2))


CHANGES: Mapping[str, Callable[[Cloud, int], tuple[Side, Side]]] = {
    "zone-cordoned": _zone_cordoned,
    "node-lost": _node_lost,
    "nothing": _nothing,
    "grown": _grown,
    "other-release": _other_release,
    "made-soft": _made_soft,
}


R = TypeVar("R", CompareReport, CompareWorkloadsReport)


class OfAll(NamedTuple):
    """All workloads of a small cluster in two releases."""

    width: int

    @property
    def name(self) -> str:
        return f"compare-workloads-{self.width}.txt"

    @property
    def text(self) -> str:
        snapshot = kubespread.load(str(FIXTURES / "clusters" / "before-the-upgrade.yaml"))
        before = ClusterSide(snapshot, Scheduler(kube_version="1.26"))
        after = ClusterSide(snapshot.edited("cordon n1"), Scheduler(kube_version="1.37"))
        return terminal.table(from_elsewhere(kubespread.compare(before, after)), Look(width=self.width))


class Screen(NamedTuple):
    change: str
    nodes: int
    cloud: Cloud
    width: int
    in_full: bool = False

    @property
    def name(self) -> str:
        return f"compare-{self.change}-{self.nodes}-{self.cloud}-{self.width}{'-v' if self.in_full else ''}.txt"

    @property
    def text(self) -> str:
        report = answered(self.change, self.nodes, self.cloud)
        return terminal.table(report, Look(width=self.width, in_full=self.in_full))


SCREENS_KEPT: list[Screen | OfAll] = [
    *(OfAll(width) for width in (60, 80, 120)),
    *(Screen("zone-cordoned", 12, "aws", width) for width in (60, 80, 120)),
    Screen("zone-cordoned", 12, "gke", 80),
    Screen("zone-cordoned", 12, "gke", 80, in_full=True),
    Screen("grown", 5, "wide", 80),
    *(Screen("zone-cordoned", 1000, "aws", width) for width in (80, 120)),
    Screen("node-lost", 12, "gke", 120),
    Screen("nothing", 12, "aws", 80),
    *(Screen("grown", 12, "aws", width) for width in (80, 120)),
    Screen("other-release", 12, "aws", 80),
    Screen("made-soft", 12, "gke", 80),
    Screen("made-soft", 12, "aws", 120),
]


@cache
def answered(change: str, nodes: int, cloud: Cloud) -> CompareReport:
    return from_elsewhere(kubespread.compare(*CHANGES[change](cloud, nodes)))


def from_elsewhere(report: R) -> R:
    """About a snapshot of a production cluster."""
    asked = ClusterReference(snapshot="prod.json.gz", time="2026-11-21T19:00:00Z", age_seconds=7200)
    sides = {
        "before": msgspec.structs.replace(report.before, cluster=asked),
        "after": msgspec.structs.replace(report.after, cluster=asked),
    }
    return report.revised(**sides)


def main() -> None:
    for old in SCREENS.glob("compare-*.txt"):
        old.unlink()
    for kept in SCREENS_KEPT:
        (SCREENS / kept.name).write_text(kept.text)


if __name__ == "__main__":
    main()
