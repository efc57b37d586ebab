"""Question about two sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from kubespread.errors import UsageError
from kubespread.questions.question import (
    OF_CLUSTER,
    REPLICAS,
    Namespace,
    Option,
    PodQuestion,
    Preemption,
    Workload,
    edits_of,
    passed_manifest,
    passed_workload,
)
from kubespread.questions.scheduler import Scheduler

if TYPE_CHECKING:
    from msgspec.structs import FieldInfo

    from kubespread.candidate.sources import PodGiven
    from kubespread.questions.compare.report import CompareReport
    from kubespread.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Side:
    """One of two questions that are compared: BEFORE or AFTER."""

    snapshot: Snapshot
    """The cluster, with its edits."""
    pod: PodGiven | Sequence[PodGiven]
    """Pod as `explain` takes it; `ClusterWorkloads` for all workloads."""
    scheduler: Scheduler = Scheduler()
    set: Sequence[str] = ()
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


_TEXTS = list[Annotated[str, Meta(min_length=1)]]


class Sides(Workload):
    """A workload BEFORE and one AFTER, or one for both, each with its cluster, scheduler and settings."""

    form = "sides"
    by_default = " Without it and without a manifest every workload is asked about."

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        yield from super().arguments(field, kind)
        for name, kind, text in (
            ("to_manifest", str, "The manifest after, as text (default: as before)."),
            ("to_set", _TEXTS, "'set' after (default: as before)."),
            ("to_edits", _TEXTS, "'edits' after (default: as before)."),
            ("to_kube_version", str, "'kubeVersion' after (default: as before)."),
        ):
            yield name, Annotated[kind | None, Meta(description=text)], None

    def passed(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        """All workloads of both clusters where none is named."""
        from kubespread.candidate.sources import ClusterWorkloads

        unedited = replace(snapshot, edits=snapshot.edits[: len(snapshot.edits) - len(arguments.edits)])
        edits, release = arguments.to_edits, arguments.to_kube_version
        later = snapshot if edits is None else unedited.edited(*edits_of(arguments, edits))
        scheduled = scheduler if release is None else replace(scheduler, kube_version=release)
        settings = arguments.settings if arguments.to_set is None else arguments.to_set
        if arguments.manifest is None and arguments.workload is None and arguments.to_manifest is None:
            pod = after = ClusterWorkloads(all_namespaces=arguments.namespace is None)
        elif arguments.selector:
            raise UsageError("name a workload or choose them by labels, not both")
        else:
            pod = passed_workload(arguments)
            after = pod if arguments.to_manifest is None else passed_manifest(arguments.to_manifest)
        return Side(snapshot, pod, scheduler, arguments.settings), Side(later, after, scheduled, settings)


class Compare(PodQuestion["CompareReport"], frozen=True, kw_only=True):
    """Ask one question BEFORE and AFTER a change, and show the rows that differ.

    BEFORE is what explain and simulate answer for the same arguments. AFTER is the same except for what you change: a
    second POD, --to- options, edits of the cluster (--cordon, --drain ...) and --set, in any combination. Rows are the
    nodes, and the workload with its replicas. It is worse where a node no longer fits, more replicas lack a node, a
    skew is larger, or pods are preempted where none were.

    With -A or --all the replicas of all workloads are placed from scratch on both sides, as simulate does it; rows are
    the workloads.

    \b
    Examples:
      kubespread compare old.yaml new.yaml
      kubespread compare deploy/web --replicas 30 --drain zone=eu-west-1a
      kubespread compare web.yaml --set maxSkew[zone]=2 -S cluster.json.gz
      kubespread compare web.yaml -S monday.json.gz --to-snapshot tuesday.json.gz
      kubespread compare -A --kube-version 1.36 --to-kube-version 1.37
      kubespread compare <(helm template shop ./v1) <(helm template shop ./v2) --name web
    """

    name = "compare"
    summary = "Show the effect of a new manifest, cluster or release."
    yes, no = "nothing is worse", "something is"
    outputs = {"name": "prints the nodes and workloads that differ", "csv": "has a row per cell that differs"}
    doing = "comparing"

    pods: Annotated[
        tuple[Any, ...],
        Sides(
            "Manifest, '-' for standard input, or KIND/NAME in the cluster; a second one is what is asked about "
            "after. Default: standard input when piped, else pod.yaml.",
            metavar="[POD] [POD]",
        ),
    ]
    replicas: Annotated[
        int | None,
        Option("Desired replicas (default: the workload's own).", metavar="N", least=0, says={REPLICAS: "a number"}),
    ] = None
    from_scratch: Annotated[bool, Option("Also re-place the replicas already running.")] = False
    preemption: Preemption = True
    namespace: Annotated[
        str | None,
        Namespace("Namespace of manifests that set none, or of the cluster's workloads.", ("-n", "--namespace")),
    ] = None
    selector: Annotated[
        str,
        Option(
            "Ask about the cluster's workloads with these labels (app=web,tier!=db).",
            ("-l", "--selector"),
            "LABELS",
            says=OF_CLUSTER,
        ),
    ] = ""

    @classmethod
    def report(cls) -> type[CompareReport]:
        from kubespread.questions.compare.report import CompareReport

        return CompareReport

    @property
    def given(self) -> dict[str, Any]:
        """Parameters without ``set``, which is a side's, whose report says it."""
        return {name: value for name, value in super().given.items() if name != "set"}

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        return [(side.snapshot, side.scheduler) for side in self.pods]
