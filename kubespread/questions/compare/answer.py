"""Two answers to one question, and the rows in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any

from msgspec import Struct

from kubespread.candidate.candidate import NotInClusterError
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import ClusterWorkloads, PodGiven, Reference, read_once
from kubespread.errors import KubespreadError, UsageError
from kubespread.escaping import escape
from kubespread.kube.owners import full_name
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
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import behind_gates, count_of, short_key, some_of
from kubespread.world.store.pod_book import key_of

_MAX_NAMED = 3
_NOT_PLACED = f"where replicas land, which depends on scores: they are modeled since 1.{SCORES_SINCE}"


def answer(question: Compare, _scene: Scene) -> CompareReport:
    """Ask each side by itself."""
    before, after = question.pods
    pods = _read(before)
    is_scored = all(
        side.scheduler.release(side.snapshot.origin.release).reaches(SCORES_SINCE) for side in question.pods
    )
    answers = list[_SideRows]()
    names = {"BEFORE": before, "AFTER": after}
    sides = [(side, cluster_reference(side.snapshot).snapshot or name) for name, side in names.items()]
    for (side, missing), (other, present) in permutations(sides):
        try:
            own = pods if side.pod == before.pod else _read(side)
            answers.append(_answer(question, side, own, is_scored=is_scored))
        except NotInClusterError as error:
            if side.pod != other.pod:
                raise
            if not answers:
                _answer(question, other, pods, is_scored=is_scored)
            raise UsageError(f"{missing}: {error}; it is in {present}") from error
    was, now = answers
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
        notes=tuple(_remarks(was, now)),
    )


def _remarks(before: _SideRows, after: _SideRows) -> Iterator[str]:
    """Yield why replicas lack a node on both sides, or are not created, and which pods new nodes take first."""
    for row in after.workloads.values() if after.shortage else ():
        reason = f": {row['message']}" if row["message"] else ""
        if after.shortage == before.shortage:
            yield f"{after.shortage} before and after{reason}"
        elif row["not created"]:
            yield f"{after.shortage} after{reason}"
    yield from after.arrivals


def _read(side: Side) -> tuple[PodGiven, ...]:
    return tuple(read_once(pod) for pod in pod_list(side.pod))


class _SideRows(Struct, frozen=True):
    """The rows of one side."""

    side: SideReport
    nodes: Rows
    workloads: Rows
    is_judged: bool
    shortage: str
    """``placed 13 of 20`` if replicas of the one workload lack a node; else empty."""
    arrivals: tuple[str, ...]
    """Sentences on pending pods that the side's new nodes take first."""


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
    refusal = explained[0].message if explained else None
    workloads = {f"{report.pod.namespace}/{report.subject}": _workload(report, refusal) for report in placed}
    lacking = [] if compares_all else [report for report in placed if report.replicas and report.lacking]
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
        shortage="".join(f"placed {report.running:,} of {report.replicas:,}" for report in lacking),
        arrivals=() if compares_all else tuple(_arrivals(side.snapshot, now)),
    )


def _arrivals(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield pods pending ``before`` by the new node that they are on."""
    joined = {node.metadata.name for node in after.nodes} - {node.metadata.name for node in before.nodes}
    pending = {key_of(pod) for pod in before.pods if not pod.spec.node_name}
    placed = sorted((pod.spec.node_name, str(full_name(pod))) for pod in after.pods if key_of(pod) in pending)
    for node, pods in groupby((row for row in placed if row[0] in joined), itemgetter(0)):
        names = [name for _, name in pods]
        yield f"{node} takes {count_of(len(names), 'pending pod')} first: {some_of(names, _MAX_NAMED)}"


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


def _workload(report: SimulateReport, refusal: str | None) -> Mapping[str, Cell]:
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
        "message": behind_gates(report.gates) or (refusal if report.not_created else None) or report.stopped,
    }
