"""Two answers to one question, and the rows in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import ClusterWorkloads, PodGiven, Reference, read_once
from kubespread.errors import KubespreadError
from kubespread.escaping import escape
from kubespread.kube.versions import SCORES_SINCE
from kubespread.manifest.text import display_name
from kubespread.questions.compare import ABOVE_MAX_SKEW, Cell, Compare, CompareReport, Rows, SideReport, changes_between
from kubespread.questions.editing import apply_edits
from kubespread.questions.explain.question import Explain
from kubespread.questions.explain.report import ExplainReport
from kubespread.questions.resolving import pod_list
from kubespread.questions.scene import Scene, Side, ask, cluster_reference
from kubespread.questions.simulate import Simulate, SimulateReport
from kubespread.reports.parts import SkewChange
from kubespread.scheduler.evaluation import NO_NODES
from kubespread.wording import behind_gates, short_key

_NOT_PLACED = f"where replicas land, which depends on scores: they are modeled since 1.{SCORES_SINCE}"


def answer(question: Compare, _scene: Scene) -> CompareReport:
    """Ask each side by itself."""
    before, after = question.pods
    pods = _read(before)
    is_scored = all(
        side.scheduler.release(side.snapshot.origin.release).reaches(SCORES_SINCE) for side in question.pods
    )
    was = _answer(question, before, pods, is_scored=is_scored)
    now = _answer(question, after, pods if before.pod == after.pod else _read(after), is_scored=is_scored)
    # Where a cycle failed before any node was judged, nodes are not compared.
    old, new = (was.nodes, now.nodes) if was.is_judged and now.is_judged else ({}, {})
    # Two manifests may name one workload differently, which the sides say.
    name = None if isinstance(pods[0], ClusterWorkloads) else next(iter(was.workloads))
    later = now.workloads if name is None else dict.fromkeys([name], *now.workloads.values())
    return CompareReport(
        preemption=question.preemption,
        before=was.side,
        after=now.side,
        nodes=len({*old, *new}),
        workloads=len({*was.workloads, *later}),
        changes=(*changes_between(was.workloads, later), *changes_between(old, new)),
    )


def _read(side: Side) -> tuple[PodGiven, ...]:
    return tuple(read_once(pod) for pod in pod_list(side.pod))


class _SideRows(Struct, frozen=True):
    """The rows of one side."""

    side: SideReport
    nodes: Rows
    workloads: Rows
    is_judged: bool


def _answer(question: Compare, side: Side, pods: tuple[PodGiven, ...], *, is_scored: bool) -> _SideRows:
    # What is edited lives on for seconds in a large cluster: once for both questions.
    now, notes = apply_edits(side.snapshot, side.scheduler, question.namespace, preempts=question.preemption)
    compares_all = isinstance(pods[0], ClusterWorkloads)
    explained, placed = list[ExplainReport](), list[SimulateReport]()
    refused = list[KubespreadError]()
    shared: dict[str, Any] = {
        "pods": pods,
        "settings": tuple(side.set),
        "named": question.named,
        "namespace": question.namespace,
        "recursive": question.recursive,
    }
    if not compares_all:
        explained.append(ask(now, Explain(**shared), side.scheduler))
    if is_scored or compares_all:
        simulate = Simulate(
            **shared,
            selector=question.selector,
            replicas=question.replicas,
            # Replicas that run stay where they are, whatever changes for new ones.
            from_scratch=question.from_scratch or compares_all,
            preemption=question.preemption,
        )
        placed += ask(now, simulate, side.scheduler, on_refused=refused.append if compares_all else None)
    reports: Sequence[ExplainReport | SimulateReport] = (*explained, *placed)
    unplaced = () if placed else (_NOT_PLACED,)
    workloads = {f"{report.pod.namespace}/{report.subject}": _workload(report) for report in placed}
    return _SideRows(
        side=SideReport(
            manifest=", ".join(filter(None, map(_typed_name, pod_list(side.pod)))) or None,
            workload=None if compares_all else next(iter(workloads), None),
            settings=tuple(side.set),
            edits=tuple(map(str, side.snapshot.edits)),
            scheduler_config=None if side.scheduler.config is None else escape(str(side.scheduler.config)),
            feature_gates=side.scheduler.feature_gates,
            kube_version=reports[0].kube_version,
            cluster=cluster_reference(side.snapshot),
            gaps=tuple(dict.fromkeys((*(gap for report in reports for gap in report.gaps), *map(str, refused)))),
            not_modelled=tuple(
                dict.fromkeys((*(text for report in reports for text in report.not_modelled), *unplaced))
            ),
            admission=tuple(dict.fromkeys(text for report in reports for text in report.admission)),
            notes=tuple(dict.fromkeys((*notes, *(note for report in reports for note in report.notes)))),
        ),
        nodes=_nodes(explained[0], is_scored=is_scored) if explained else {},
        workloads=workloads
        or {f"{report.pod.namespace}/Pod/{report.pod.name}": {"message": report.message} for report in explained},
        is_judged=all(report.nodes or report.message == NO_NODES for report in explained),
    )


def _typed_name(pod: PodGiven) -> str:
    """Name as it was typed; empty for objects at hand and all workloads."""
    if isinstance(pod, Mapping | ClusterWorkloads):
        return ""
    if isinstance(pod, Manifest):
        return pod.file
    if isinstance(pod, Reference):
        return f"{pod.kind.kind}/{pod.name}"
    return display_name(str(pod))


def _nodes(report: ExplainReport, *, is_scored: bool) -> Rows:
    places = {name: place for place, name in enumerate(report.feasible, start=1)}
    rows = dict[str, dict[str, Cell]]()
    for node in report.nodes:
        rejections = (rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins)
        reasons = dict.fromkeys(reason for rejection in rejections for reason in rejection.reasons)
        rows[node.name] = {"fits": node.feasible, "reason": "; ".join(reasons) or None}
        if is_scored:
            # Without a total the order is that of names alone.
            rows[node.name] |= {"score": node.total, "place": None if node.total is None else places.get(node.name)}
    return rows


def _workload(report: SimulateReport) -> Mapping[str, Cell]:
    skews: dict[str, list[SkewChange]] = {}
    for skew in report.skew:
        skews.setdefault(f"skew {short_key(skew.topology_key)}", []).append(skew)
    old = 0 if report.rollout is None else sum(node.present for node in report.nodes)
    gated = report.placed if report.gates else 0
    return {
        "placed": report.running - gated,
        "pending": report.pending + gated,
        "not created": report.not_created or None,
        "not created yet": report.not_made_yet or None,
        "old pods": old or None,
        **{column: max(skew.after for skew in same) for column, same in skews.items()},
        **{
            f"{column}{ABOVE_MAX_SKEW}": max(0, *(skew.after - skew.max_skew for skew in same))
            for column, same in skews.items()
        },
        "preempts": ", ".join(sorted(str(victim.pod) for victim in report.preempted)) or None,
        **{f"on {node.name}": node.present + node.placed for node in report.nodes},
        "message": behind_gates(report.gates) or report.stopped,
    }
