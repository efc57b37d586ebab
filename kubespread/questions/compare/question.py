"""What is asked of two sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec

from kubespread.errors import UsageError
from kubespread.questions.question import Apart, Function, Namespace, Option, Overload, PodQuestion, Preemption, Sides
from kubespread.questions.registry import part

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.compare.report import CompareReport
    from kubespread.questions.compare.workloads.report import CompareWorkloadsReport
    from kubespread.questions.scene import Scene
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot


class Compare(PodQuestion["CompareReport | CompareWorkloadsReport"], frozen=True, kw_only=True):
    """Show what changes between BEFORE and AFTER: nodes that fit, scores, and where replicas land.

    BEFORE is what explain and simulate answer for the same arguments. AFTER is the same except for what you change: a
    second POD, --to- options, edits of the cluster (--cordon, --drain ...) and --set, in any combination.

    With -A, --all or -l every workload of the cluster is asked about: those whose next pod is answered differently have
    a row each, with what changes. Of a Job, and of pods that nothing keeps running, it is a pod that exists.

    \b
    Examples:
      kubespread compare old.yaml new.yaml
      kubespread compare deploy/web --replicas 30 --drain zone=eu-west-1a --ignore-daemonsets
      kubespread compare web.yaml --set maxSkew[zone]=2 -S cluster.json.gz
      kubespread compare web.yaml -S monday.json.gz --to-snapshot tuesday.json.gz
      kubespread compare web.yaml --kube-version 1.36 --kube-version 1.37
      kubespread compare -A --kube-version 1.36 --kube-version 1.37
      kubespread compare <(helm template shop ./v1) <(helm template shop ./v2) --name web
    """

    name = "compare"
    summary = "Show the effect of a new manifest, cluster or release."
    yes, no = "nothing differs", "something does"
    outputs = {
        "plain": "columns",
        "name": "prints the nodes that differ, or the workloads",
        "csv": "has a row per node that differs, or per workload",
    }
    apart = tuple(
        Apart(
            option,
            ("replicas", "from_scratch", "recursive", "template_path"),
            "of each workload of the cluster the next pod is asked about",
        )
        for option in ("every", "selector", "all_namespaces")
    )
    needs = dict.fromkeys(("engine", "timeout"), ("all_namespaces", "every", "selector"))
    hands_out = True
    doing = "comparing"
    function = Function(
        """What changes from ``before`` to ``after``: nodes that fit, scores, placements of the replicas and their
        spread.

        Each `Side` is explained and, where both releases' scores are modeled, its replicas are placed. What both sides
        are given alike is read once. Of each `ClusterSide` the next pods of all workloads are explained, those of one
        ``namespace`` or of all; ``timeout`` is for these. With ``jobs=2`` a process answers each `Side`, which pays
        where both are edited: None starts none. The other keywords are for both sides.

        Raises ManifestError, SnapshotError and UsageError.
        """,
        "before after",
        "replicas from_scratch preemption name namespace selector recursive template_path jobs timeout on_progress",
        types={"before": "Side | ClusterSide", "after": "Side | ClusterSide"},
        overloads=(
            Overload({"before": "Side", "after": "Side"}, "CompareReport", "selector timeout on_progress"),
            Overload(
                {"before": "ClusterSide", "after": "ClusterSide"},
                "CompareWorkloadsReport",
                "replicas from_scratch name recursive template_path",
            ),
        ),
    )

    pods: Annotated[
        tuple[Any, ...],
        Sides(
            "Manifest, '-' for standard input, or KIND/NAME in the cluster; a second one is what is asked about "
            "after. Default: standard input when piped, else pod.yaml.",
            metavar="[POD] [POD]",
        ),
    ]
    replicas: Annotated[int | None, Option("Desired replicas (default: the workload's own).", metavar="N", least=0)] = (
        None
    )
    from_scratch: Annotated[bool, Option("Also re-place the replicas already running.")] = False
    preemption: Preemption = True
    namespace: Annotated[
        str | None,
        Namespace("Namespace of manifests that set none, or of the cluster's workloads.", ("-n", "--namespace")),
    ] = None
    selector: Annotated[
        str,
        Option(
            "Ask about the cluster's workloads with these labels (app=web,tier!=db).", ("-l", "--selector"), "LABELS"
        ),
    ] = ""

    @classmethod
    def called(cls, given: dict[str, Any]) -> tuple[Self, Snapshot | None, Scheduler | None]:
        before, after = given.pop("before"), given.pop("after")
        return super().called(
            {**given, "pods": (before, after), "snapshot": after.snapshot, "scheduler": after.scheduler}
        )

    @classmethod
    def report(cls) -> type[CompareReport]:
        from kubespread.questions.compare.report import CompareReport

        return CompareReport

    @classmethod
    def other_reports(cls) -> Sequence[type[CompareWorkloadsReport]]:
        from kubespread.questions.compare.workloads.report import CompareWorkloadsReport

        return (CompareWorkloadsReport,)

    def answer(self, scene: Scene) -> CompareReport | CompareWorkloadsReport:
        module = "answer"
        if isinstance(self.pods[0], part("compare", "answer", "ClusterSide")):
            if self.replicas is not None or self.from_scratch or self.named is not None:
                raise UsageError(
                    "replicas, from_scratch and name are for one workload: of all the next pod is compared"
                )
            module = "workloads.answer"
        answer: CompareReport | CompareWorkloadsReport = part("compare", module, "answer")(self, scene)
        return answer

    @property
    def given(self) -> dict[str, Any]:
        """What is set is a side's, whose report says it."""
        return {name: value for name, value in super().given.items() if name != "set"}

    def parts(self, report: CompareReport | CompareWorkloadsReport) -> Sequence[tuple[str, Any]]:
        return ("before: ", report.before), ("after: ", report.after)

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        return [(side.snapshot, side.scheduler) for side in self.pods]

    def next_command(self, report: CompareReport | CompareWorkloadsReport, commands: Commands) -> str:
        rows, after = getattr(report, "workloads", ()), self.pods[-1]
        there = msgspec.structs.replace(commands, cluster=after.snapshot, scheduler=after.scheduler)
        return there.of_workload("explain", rows[0].workload) if rows else ""
