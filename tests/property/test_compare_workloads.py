"""Of all workloads at once the same is said as of each by itself."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import ClusterSide, KubespreadError, Scheduler
from kubespread.kube.owners import WorkloadName
from kubespread.questions.compare.answer import Answered, asked_of, compared
from kubespread.questions.compare.report import NodeChange
from kubespread.questions.compare.workloads.report import ScoreChange, WorkloadDifference, WorkloadSide
from kubespread.questions.explain.report import ExplainReport
from tests.builders import Data, hard, pod, soft
from tests.property.workloads_on_nodes import HOSTNAME, ZONE, clusters, snapshot_of
from tests.world.clusters import deployment

RELEASES = st.sampled_from(["1.22", "1.26", "1.29", "1.33", "1.36", "1.37"])
EDITS = st.lists(st.sampled_from(["cordon n0", "delete-node n1", "taint n2=slow:PreferNoSchedule"]), max_size=1)
LABELS: Data = {}


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Data], ClusterSide, ClusterSide]:
    """A cluster with pods that count all others of their namespace or mount an image, before and after."""
    objects = draw(clusters())
    for name in draw(st.lists(st.sampled_from(["all", "soft", "image"]), unique=True, max_size=3)):
        specs: dict[str, Data] = {
            "all": {"topologySpreadConstraints": [hard(ZONE, match=LABELS), hard(HOSTNAME, 2)]},
            "soft": {"topologySpreadConstraints": [soft(HOSTNAME, match=LABELS)], "priority": 7},
            "image": {"nodeSelector": {ZONE: "b"}, "schedulerName": "other"},
        }
        objects += deployment(name, ("n0", None), cpu="2", spec=specs[name])
    objects.append(pod("lone", None, requests={"cpu": "7"}, priority=20))
    snapshot = snapshot_of(objects)
    before, after = (Scheduler(kube_version=draw(RELEASES)) for _ in range(2))
    return objects, ClusterSide(snapshot, before), ClusterSide(snapshot.edited(*draw(EDITS)), after)


def explained(side: ClusterSide, name: WorkloadName) -> ExplainReport | str:
    """By itself; the message where it is refused."""
    try:
        return kubespread.explain(
            side.snapshot, f"{name.kind.lower()}/{name.name}", side.scheduler, namespace=name.namespace, preemption=True
        )
    except KubespreadError as error:
        return str(error)


def side_of(report: ExplainReport | str) -> WorkloadSide:
    if isinstance(report, str):
        return WorkloadSide(refused=report, fits=False, fitting=0, first=(), message=None, preemption=None)
    totals = {node.name: node.total for node in report.nodes if node.total is not None}
    best = max(totals.values(), default=None) if report.schedulable else None
    return WorkloadSide(
        refused=None,
        fits=report.schedulable,
        fitting=sum(node.feasible for node in report.nodes),
        first=(report.nominated,)
        if report.nominated
        else tuple(sorted(name for name, total in totals.items() if total == best)),
        message=report.message,
        preemption=report.preemption,
    )


def check(row: WorkloadDifference | None, before: ExplainReport | str, after: ExplainReport | str) -> None:
    """Against what is said of the workload alone."""
    if isinstance(before, str) or isinstance(after, str):
        assert (row is None) == (before == after)
    else:
        side = ClusterSide(kubespread.Snapshot())
        report = compared(Answered(asked_of(side), before, None), Answered(asked_of(side), after, None))
        freed = [
            freed.node and (freed.node, freed.victims, freed.violations) if (freed := side.preemption) else None
            for side in (before, after)
        ]
        assert (row is None) == (report.same and freed[0] == freed[1])
        if row is not None:
            assert row.nodes == Counter(node.change.value for node in report.nodes)
            assert row.constraints == tuple(each for each in report.constraints if each.is_outcome)
            scored = [node.score_changes for node in report.nodes if node.change is NodeChange.SCORE]
            plugins = sorted({plugin for changes in scored for plugin in changes})
            by_plugin = {plugin: [changes.get(plugin, 0) for changes in scored] for plugin in plugins}
            assert row.scores == tuple(
                ScoreChange(plugin=plugin, least=min(values), most=max(values)) for plugin, values in by_plugin.items()
            )
    if row is not None:
        assert (row.before, row.after) == (side_of(before), side_of(after))


@given(sides())
@settings(max_examples=10, deadline=None)
def test_each_row_is_what_is_said_of_the_workload_alone(asked: tuple[list[Data], ClusterSide, ClusterSide]) -> None:
    objects, before, after = asked
    report = kubespread.compare(before, after)
    rows = {row.workload: row for row in report.workloads}
    kinds = ("Deployment", "StatefulSet", "DaemonSet")
    names = [
        WorkloadName(each["kind"], "default", each["metadata"]["name"])
        for each in objects
        if each["kind"] in kinds or each["metadata"]["name"] in ("bare", "lone")
    ]
    for name in names:
        check(rows.pop(name, None), explained(before, name), explained(after, name))
    assert not rows
    assert report.unchanged == len(names) - len(report.workloads)
    assert report.same == (not report.workloads)
