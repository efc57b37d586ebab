"""One question on two sides, and the differences between its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.questions.question import (
    OF_CLUSTER,
    REPLICAS,
    NamespaceOption,
    Option,
    PodQuestion,
    Preemption,
    WorkloadOption,
    edits_of,
    passed_manifest,
    passed_workload,
)
from kubespread.questions.scene import Side
from kubespread.questions.scheduler import Scheduler
from kubespread.reports import parts as reports
from kubespread.reports.columns import Col, Readers
from kubespread.wording import count_of, verb_of

if TYPE_CHECKING:
    from msgspec.structs import FieldInfo

    from kubespread.snapshot.snapshot import Snapshot

Cell = str | int | bool | None
Rows = Mapping[str, Mapping[str, Cell]]
"""Cells by column, by key."""


class CellChange(reports.Report, frozen=True):
    """A cell that differs."""

    key: Annotated[str, Col()]
    """Row: a node, or NAMESPACE/Kind/name of a workload."""
    column: Annotated[str, Col()]
    """Name of the cell."""
    before: Annotated[Cell, Col(readers=Readers.PIPES)]
    """Null if there was no such row or cell."""
    after: Annotated[Cell, Col(readers=Readers.PIPES)]
    """Null if there is no such row or cell."""

    def __str__(self) -> str:
        return f"{self.key} {self.cell}"

    @property
    def cell(self) -> str:
        """``pending 3 → 5``."""
        return f"{self.column} {self.values}"

    @property
    def values(self) -> Annotated[str, Col(header="CHANGE", readers=Readers.PAGES)]:
        """``3 → 5``."""
        return f"{_text(self.before)} → {_text(self.after)}"

    @property
    def is_rise(self) -> bool:
        """True if a number is larger than before; none is 0."""
        before, after = self.before or 0, self.after or 0
        return isinstance(before, int) and isinstance(after, int) and after > before


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "–" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def changes_between(before: Rows, after: Rows) -> Iterator[CellChange]:
    """Yield cells that differ, in the order of the later rows; removed rows come last."""
    for key in dict.fromkeys((*after, *before)):
        was, now = before.get(key, {}), after.get(key, {})
        for column in dict.fromkeys((*now, *was)):
            if was.get(column) != now.get(column):
                yield CellChange(key=key, column=column, before=was.get(column), after=now.get(column))


class SideReport(reports.Report, frozen=True):
    """Question of one side, and the sources of its answer."""

    manifest: str | None
    """The file, or KIND/NAME in the cluster; null for a Python object, and for all workloads."""
    workload: str | None
    """NAMESPACE/Kind/name; null for all workloads, and for releases without modeled scores."""
    settings: tuple[str, ...]
    """Changed fields of the pod, ``maxSkew[zone]=2``."""
    edits: tuple[str, ...]
    """Edits of the cluster, ``cordon node-7``, in order."""
    scheduler_config: str | None
    """The file; null for none."""
    feature_gates: str | None
    """Feature gates as given, ``Name=true``; null for none."""
    kube_version: str
    cluster: reports.ClusterReference | None
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> dict[str, str | None]:
        """Options that may differ between the sides."""
        return {
            "snapshot": None if self.cluster is None else self.cluster.snapshot or self.cluster.context,
            "manifest": self.manifest,
            "workload": self.workload,
            "fields set": ", ".join(self.settings) or None,
            "edits": ", ".join(self.edits) or None,
            "scheduler configuration": self.scheduler_config,
            "feature gates": self.feature_gates,
            "kube-scheduler": reports.release_phrase(self.kube_version),
        }


class CompareReport(reports.QuestionReport, frozen=True, kw_only=True):
    kind: str = "CompareReport"
    preemption: bool = True
    """True if pods evict others of lower priority where they fit nowhere, as kube-scheduler lets them by default."""
    before: SideReport
    after: SideReport
    nodes: int
    """Number of nodes judged on either side; 0 if all workloads are compared, or a side judges none."""
    workloads: int
    """Number of workloads on either side."""
    changes: tuple[CellChange, ...]
    """Changes of workloads, then of nodes.

    A workload: replicas ``placed``, ``pending``, ``not created`` and
    ``not created yet`` as `simulate` counts them, the ``old pods`` that a rollout leaves, ``skew KEY``, its excess
    ``skew KEY above maxSkew``, the scheduler's ``message`` for the first that stays pending, the pods it ``preempts``,
    and its pods ``on NODE``. A node, for one more pod beside those that run now: ``fits``, ``reason``, ``score``,
    ``place`` in the order of nodes.
    """

    @property
    def sides(self) -> tuple[tuple[str, SideReport], ...]:
        """Both sides, each with its prefix."""
        return ("before: ", self.before), ("after: ", self.after)

    @property
    def manner(self) -> str:
        return reports.manner_of(self.preemption)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of either side."""
        return (*self.before.gaps, *self.after.gaps)

    @property
    def worse(self) -> list[CellChange]:
        """Changes for the worse, in order. The skew of more replicas is not compared with that of fewer."""
        grown = {change.key for change in self.changes if change.column == "placed" and change.is_rise}
        return [
            change
            for change in self.changes
            if _is_worse(change) and not (change.column.endswith(ABOVE_MAX_SKEW) and change.key in grown)
        ]

    def judge(self) -> reports.Judgment:
        return "no" if self.worse else "yes"

    def sentences(self) -> Iterator[str]:
        keys = {change.key for change in self.changes}
        workloads = sum("/" in key for key in keys)
        counts = (workloads, self.workloads, "workload"), (len(keys) - workloads, self.nodes, "node")
        differing = " and ".join(f"{number:,} of {count_of(of, noun)}" for number, of, noun in counts if number)
        worse = list(map(str, self.worse))
        condition = "" if self.nodes or not self.workloads else "if all replicas are placed anew, "
        if not keys:
            yield f"{condition}same: {' and '.join(count_of(of, noun) for _, of, noun in counts if of)}"
        else:
            more = f" and {count_of(len(worse) - 1, 'more change')}" if len(worse) > 1 else ""
            verdict = f", worse: {worse[0]}{more}" if worse else ", nothing is worse"
            yield f"{condition}{differing} {verb_of(len(keys), 'differ')}{verdict}"
        yield from self.notes
        yield from (
            f"{change.column}: {change.values}"
            for change in changes_between({"": self.before.cells}, {"": self.after.cells})
        )


_NONE_WHERE_ZERO = ("not created", "not created yet", "old pods")
ABOVE_MAX_SKEW = " above maxSkew"


def _is_worse(change: CellChange) -> bool:
    """True if the change is for the worse.

    A node no longer fits, more replicas lack a node or are not created, a rollout leaves more old pods, a skew is
    further above maxSkew, pods are preempted, or a node or workload is gone.
    """
    before, after, column = change.before, change.after, change.column
    if column == "preempts":
        return before is None
    if column in ("fits", "placed"):
        return bool(before) and (after is None or after is False)
    is_counted = before is not None and (column == "pending" or column.endswith(ABOVE_MAX_SKEW))
    return change.is_rise and (is_counted or column in _NONE_WHERE_ZERO)


_TEXTS = list[Annotated[str, Meta(min_length=1)]]


class Sides(WorkloadOption, frozen=True):
    """Workload BEFORE and AFTER, or one for both, each with its cluster, scheduler and settings."""

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

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        """Sides of a call; without a workload, all workloads of both clusters."""
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


class Compare(PodQuestion[CompareReport], frozen=True, kw_only=True):
    """Ask one question BEFORE and AFTER a change, and show the rows that differ.

    BEFORE is what explain and simulate answer for the same arguments. AFTER is the same except for what you change: a
    second POD, --to- options, edits of the cluster (--cordon, --drain ...) and --set, in any combination. Rows are the
    nodes, each judged for one more pod beside those that run, and the workload with its replicas: where its template
    changes they are rolled out, as in simulate. It is worse where a node no longer fits, more replicas lack a node or
    are not created, a rollout leaves old pods, a skew is further above maxSkew, or pods are preempted where none were.

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
            "Manifest, '-' for standard input, or KIND/NAME in the cluster; a second one replaces it "
            "AFTER. Default: standard input when piped, else pod.yaml.",
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
        NamespaceOption("Namespace of manifests that set none, or of the cluster's workloads.", ("-n", "--namespace")),
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

    @property
    def own_fields(self) -> dict[str, Any]:
        """Fields without ``set``, which each side's report has."""
        return {name: value for name, value in super().own_fields.items() if name != "set"}
