"""Audits as they look on clusters of a few workloads and of many: ``python -m tests.views.test_audit_screens`` rewrites
the screens that are kept.
"""

from __future__ import annotations

from functools import cache
from typing import get_args

from msgspec.structs import replace
from rich.cells import cell_len

import kubespread
from kubespread import AuditReport, Snapshot
from kubespread.kube.owners import WorkloadName
from kubespread.questions.audit import AuditedConstraint, AuditedWorkload, AuditFinding, DomainPods
from kubespread.reports.findings import CAUSES, Cause
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, remade, soft
from tests.cli.support import FIXTURES
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep
from tests.world.clusters import deployment


def cluster(cloud: str, workloads: int) -> Snapshot:
    """Twelve nodes; of three workloads one was scaled down unevenly, one is in one zone, one is as it should be."""
    names = [NAMES[cloud](number) for number in range(12)]
    objects: list[Data] = []
    for number, name in enumerate(names):
        made = node(name)
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: name}
        objects.append(made)
    for number in range(workloads):
        app = f"team-service-{number:02d}"
        constraint = soft if number % 2 else hard
        spec = {"topologySpreadConstraints": [constraint(ZONE, match={"app": app})]}
        on = (names[:3], (names[0], names[3], names[6]), names[3:9])[number % 3]
        objects += deployment(app, tuple(on), spec={} if number % 3 == 1 and number % 4 == 0 else spec, cpu="50m")
    return Snapshot.from_objects(objects)


@cache
def looked_at(cloud: str, workloads: int) -> AuditReport:
    return kubespread.audit(cluster(cloud, workloads))


@cache
def of_fixture() -> AuditReport:
    return kubespread.audit(kubespread.load(FIXTURES / "clusters" / "audit.yaml"))


@cache
def not_asked() -> AuditReport:
    """Pods that wait behind gates, and pods of a scheduler that is not modeled."""
    names = [NAMES["aws"](number) for number in range(3)]
    objects: list[Data] = [
        {**each, "metadata": {**each["metadata"], "labels": {ZONE: zone, HOSTNAME: name}}}
        for each, name, zone in zip(map(node, names), names, ZONES["aws"], strict=True)
    ]
    gated, volcano = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}, {"schedulerName": "volcano"}
    for app, on, spec in (
        ("batch", (None, None), gated),
        ("train", (names[0], None), volcano),
        ("serve", tuple(names), volcano),
        ("web", tuple(names), {}),
    ):
        objects += deployment(app, on, spec=spec)
    return kubespread.audit(Snapshot.from_objects(objects))


@cache
def of_many() -> AuditReport:
    """The workloads of one cluster a hundred times over."""
    report = kubespread.audit(kubespread.load(FIXTURES / "cases" / "everyday" / "gke60.json.gz"))
    rows = [
        replace(row, workload=WorkloadName(row.workload.kind, f"{row.workload.namespace}-{team:02}", row.workload.name))
        for row in report.workloads
        for team in range(100)
    ]
    return remade(report, workloads=tuple(rows))


def screens() -> list[Screen]:
    found = [
        Screen(
            f"audit-{workloads}-{cloud}-{width}", width, terminal.table(looked_at(cloud, workloads), Look(width=width))
        )
        for workloads, cloud in ((5, "aws"), (40, "gke"))
        for width in (80, 120)
    ]
    look = Look()
    return [
        *found,
        *(
            Screen(f"audit-not-asked-{width}", width, terminal.table(not_asked(), Look(width=width)))
            for width in (80, 120)
        ),
        *(Screen(f"audit-many-{width}", width, terminal.table(of_many(), Look(width=width))) for width in (80, 120)),
        *(
            Screen(f"audit-why-{width}", width, terminal.table(of_fixture(), Look(width=width, in_full=True)))
            for width in (80, 120)
        ),
        Screen("audit-plain", 0, plain.plain(of_fixture(), look)),
        Screen("audit-csv", 0, plain.csv(of_fixture(), look)),
        Screen("audit-prometheus", 0, plain.prometheus(of_fixture(), look)),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


def test_nothing_is_wider_than_a_narrow_terminal() -> None:
    text = terminal.table(looked_at("aws", 5), Look(width=60))
    assert max(map(cell_len, text.splitlines())) <= 60


def test_in_80_columns_names_are_cut_where_they_are_alike_and_left_stays() -> None:
    report = kubespread.audit(kubespread.load(FIXTURES / "cases" / "everyday" / "aks300.json.gz"))
    lines = terminal.table(report, Look(width=80)).splitlines()
    assert "WORKLOAD PODS ZONES LEFT IF ZONE LOST SKEW STATE" in [" ".join(line.split()) for line in lines]
    named = [line.split()[0] for line in lines if line.endswith(("violated", "uneven")) and line.startswith("  ")]
    assert len(named) == len(set(named)) == report.levels["violated"] + report.levels["uneven"]


def test_label_values_are_escaped_and_no_series_comes_twice() -> None:
    key = 'a"b\\c\nd'
    constraint = AuditedConstraint(
        topology_key=key,
        when_unsatisfiable="DoNotSchedule",
        source="pod",
        max_skew=1,
        domains=2,
        skew=2,
        most=DomainPods("x", 2),
        least=DomainPods("y", 0),
        counts=None,
        state="violated",
    )
    finding = AuditFinding(level="violated", code="unknown", topology_key=key)
    row = AuditedWorkload(
        workload=WorkloadName("Deployment", "default", "web"),
        level="violated",
        replicas=2,
        placed=2,
        pending=0,
        constraints=(constraint, constraint),
        zones=(),
        worst_loss={},
        next_fits=None,
        findings=(finding, finding),
    )
    report = AuditReport(
        answer=("1 of 1 workloads",), kube_version="1.37", namespace=None, selector="", nodes=2, workloads=(row,)
    )
    lines = [line for line in plain.prometheus(report, Look()).splitlines() if not line.startswith("#")]
    escaped = 'a\\"b\\\\c\\nd'
    series = [line.rpartition(" ")[0] for line in lines]
    assert len(set(series)) == len(series)
    assert [line for line in series if line.startswith("kubespread_finding")] == [
        'kubespread_finding{namespace="default",kind="Deployment",name="web",level="violated",cause="unknown",'
        f'topology_key="{escaped}"}}'
    ]
    assert sum(f'topology_key="{escaped}"' in line for line in series) == 5


if __name__ == "__main__":
    keep(screens())


def test_of_thousands_of_workloads_each_thing_that_is_wrong_is_a_sentence() -> None:
    lines = terminal.table(of_many(), Look(width=80)).splitlines()
    assert len(lines) <= 60
    assert [line for line in lines if "797 more: no rollout completes" in line]
    assert set(get_args(Cause)) == {*CAUSES}
