"""Asks one question after another about the same cluster, and keeps what is bad in their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kubespread.controllers.outage import is_silent
from kubespread.kube.owners import NamespacedName
from kubespread.kube.pod_status import is_active
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.audit.question import Audit
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.pending.question import Pending
from kubespread.questions.question import Question, asks
from kubespread.questions.report.lines import Commands, of_audit, of_pending, of_survive
from kubespread.questions.report.question import Report
from kubespread.questions.report.report import ReportLine, Scorecard
from kubespread.questions.report.scores import scores
from kubespread.questions.scene import OnProgress, Scene, ask
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.survive.question import Survive
from kubespread.questions.tasks import Workers
from kubespread.reports.parts import ClusterReport
from kubespread.snapshot.snapshot import Snapshot

R = TypeVar("R", bound=ClusterReport)
POOLS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
"""Labels whose values are pools of nodes."""
MOST_NODES = 24
"""How many nodes are lost, each by itself: of more those with the most to lose."""


@asks(Report)
def report(
    snapshot: Snapshot,
    scheduler: Scheduler | None = None,
    *,
    workloads: str | Sequence[str] = (),
    namespace: str | None = None,
    selector: str = "",
    preemption: bool = True,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> Scorecard:
    """What is wrong with ``snapshot``, or would be after one more failure, the worst first, with a score for each area.

    ``workloads`` are [NAMESPACE/]KIND/NAME, ``deploy/web``; without any all of the namespace are asked about, and
    without a namespace those of all. Raises UsageError, SnapshotError and ManifestError.
    """
    names = (workloads,) if isinstance(workloads, str) else tuple(workloads)
    question = Report(workloads=names, namespace=namespace, selector=selector, preemption=preemption)
    return ask(snapshot, question, scheduler, on_progress, workers=Workers(jobs), timeout=timeout)


def answer(question: Report, scene: Scene) -> Scorecard:
    """Nothing happens in the scene's world."""
    whose = question.asked_in(scene.snapshot)
    asking = _Asking(question, scene, whose.within)
    audit = asking.of(Audit(**asking.shared), "auditing workloads")
    rows = () if audit is None else audit.workloads
    lines: list[ReportLine] = []
    if audit is not None:
        lines += of_audit(audit, asking.commands)
    pending = asking.of(Pending(**asking.shared), "looking at pending pods")
    if pending is not None:
        pods = {NamespacedName.of(pod): pod for pod in scene.now.pods if not pod.spec.node_name}
        lines += of_pending(pending, pods, asking.commands)
    hosts = _standing_hosts(scene)
    worst = _most_to_lose(scene, hosts, rows) if len(_domains(scene, HOSTNAME)) > 1 else []
    keys = [key for key in (ZONE, *POOLS) if len(_domains(scene, key)) > 1]
    has_pods = audit is None or any(row.placed + row.pending + row.terminating for row in rows)
    if has_pods and (keys or worst):
        lost = Survive(**asking.shared, keys=(*keys, *([HOSTNAME] if worst else ())), domains={HOSTNAME: tuple(worst)})
        survive = asking.of(lost, "losing zones and nodes")
        if survive is not None:
            lines += of_survive(survive, len(hosts), asking.commands)
    report = Scorecard(
        kube_version=str(scene.release),
        cluster=scene.source,
        asked=tuple(whose.named_in(scene.world)),
        namespace=whose.within,
        selector=whose.text,
        preemption=question.preemption,
        nodes=len(scene.now.nodes),
        workloads=len(rows),
        areas=() if audit is None else tuple(scores(rows, *(len(_domains(scene, key)) for key in (ZONE, HOSTNAME)))),
        lines=tuple(sorted(lines, key=lambda line: line.badness)),
        nodes_lost=len(worst),
        gaps=asking.said("gaps"),
        not_modelled=asking.said("not_modelled"),
        notes=asking.said("notes"),
        unfinished=scene.unfinished("question", len(asking.asked), asking.missing),
    )
    return report.requiring(_failures(question, report))


def _failures(question: Report, report: Scorecard) -> Iterator[str]:
    level = question.fail_on
    if level is not None and report.reaches(level):
        worst = report.lines[0]
        yield f"--fail-on {level}: {report.reaches(level):,} of {len(report.lines):,} lines, the worst: {worst.what}"


class _Asking:
    """The questions that are asked of one cluster, and what their answers say beside themselves."""

    def __init__(self, question: Report, scene: Scene, namespace: str | None) -> None:
        self._scene = scene
        self._answers: list[ClusterReport] = []
        self.asked: list[str] = []
        self.missing: list[str] = []
        self.shared: dict[str, Any] = {
            "workloads": question.workloads, "namespace": question.namespace, "selector": question.selector,
            "preemption": question.preemption,
        }  # fmt: skip
        whose = [*question.workloads, "-A" if namespace is None else f"-n {namespace}"]
        whose += [f"-l {question.selector}"] if question.selector else []
        source = scene.source
        self.commands = Commands(scene.snapshot, None if source is None else source.context, " ".join(whose))

    def of(self, question: Question[R], doing: str) -> R | None:
        """The answer; None where the time was up before it was finished: the worst of a part is not the worst."""
        self.asked.append(question.name)
        if self._scene.is_over:
            self.missing.append(question.name)
            return None
        answer = question.answer(self._scene.asking(question, doing))
        if answer.unfinished is not None:
            self.missing.append(question.name)
            return None
        self._answers.append(answer)
        return answer

    def said(self, name: str) -> tuple[str, ...]:
        """Gaps or notes of all answers, each once."""
        return tuple(dict.fromkeys(text for answer in self._answers for text in getattr(answer, name)))


def _domains(scene: Scene, key: str) -> set[str]:
    labels = (node.metadata.labels for node in scene.now.nodes)
    return {own[key] for own in labels if key in own}


def _standing_hosts(scene: Scene) -> dict[str, list[str]]:
    """The nodes that answer, by the value of their hostname label."""
    hosts: dict[str, list[str]] = {}
    for node in scene.now.nodes:
        if HOSTNAME in node.metadata.labels and not is_silent(node):
            hosts.setdefault(node.metadata.labels[HOSTNAME], []).append(node.metadata.name)
    return hosts


def _most_to_lose(scene: Scene, hosts: Mapping[str, Sequence[str]], rows: Sequence[AuditedWorkload]) -> list[str]:
    """All of a few hosts, of many those that hold the last pods of most workloads, then those that hold most pods."""
    pods = Counter(pod.spec.node_name for pod in scene.now.pods if is_active(pod))
    last = Counter(loss.domain for row in rows if (loss := row.worst_loss.get(HOSTNAME)) and not loss.remaining)
    ranked = sorted(hosts, key=lambda host: (-last[host], -sum(pods[name] for name in hosts[host]), host))
    return sorted(ranked[:MOST_NODES])
