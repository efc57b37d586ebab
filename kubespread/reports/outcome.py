"""Outcome of an event: one row, whichever question made it happen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.columns import Col, Readers
from kubespread.reports.parts import Judgment, PreemptedPod, Report, SkewChange
from kubespread.wording import count_of, short_key, some_of, verb_of

TroubleKind = Literal[
    "localStorage", "noController", "daemonSet", "blocked", "finalizer", "lost", "budget", "unmade", "pending", "short"
]
"""The worst first: refusals, permanent damage, missing pods, degraded workloads."""
KINDS: Sequence[TroubleKind] = get_args(TroubleKind)
_MAX_NAMED, _LONG_NAME = 3, 40


class TroubleWords(Struct, frozen=True):
    """Words for one kind of trouble."""

    word: str
    """Name in a column."""
    means: str
    """Meaning for the documentation."""
    says: str
    """Words after a number of pods, budgets or workloads."""
    noun: str = "pod"


_REFUSED = "refused by kubectl drain"
TROUBLES: Mapping[TroubleKind, TroubleWords] = {
    "localStorage": TroubleWords("local data", "kubectl drain refuses to delete data in emptyDir volumes", _REFUSED),
    "noController": TroubleWords(
        "no controller", "kubectl drain refuses, for a pod that nothing makes again", _REFUSED
    ),
    "daemonSet": TroubleWords("DaemonSet", "kubectl drain refuses, for a pod of a DaemonSet", _REFUSED),
    "blocked": TroubleWords("budget", "the API server refuses an eviction", "cannot be evicted"),
    "finalizer": TroubleWords(
        "finalizer",
        "a pod has a finalizer that nothing that is modeled takes off: whether it goes is not known",
        "may stay",
    ),
    "lost": TroubleWords("lost for good", "pods are gone that no controller makes again", "lost for good"),
    "budget": TroubleWords(
        "preemption",
        "preemption takes pods that a disruption budget protects",
        "broken by preemption",
        noun="disruption budget",
    ),
    "unmade": TroubleWords(
        "not created",
        "a controller does not create a pod, as a StatefulSet whose earlier pod is not ready, or the API server "
        "refuses it",
        "not created",
    ),
    "pending": TroubleWords("pending", "pods find no node", "pending"),
    "short": TroubleWords(
        "degraded",
        "a workload has fewer ready pods than before and than it is to have, and all its pods are created and none is "
        "pending",
        "degraded",
        noun="workload",
    ),
}


class Trouble(Report, frozen=True, gc=False):
    """One thing that an event makes worse, or that blocks the event."""

    meanings: ClassVar = {"kind": TROUBLES}

    kind: TroubleKind
    """The worst first."""
    subject: NamespacedName
    """NAMESPACE/Kind/name of the workload, or NAMESPACE/name of the pod or disruption budget."""
    count: int = 1
    """Number of affected pods."""
    why: str = ""
    """Message of kube-scheduler, the API server or kubectl."""
    certain: bool = True
    """False if something unmodeled may fix it: a controller, a finalizer, new nodes of an unknown type."""


class PlacedPod(Report, frozen=True):
    pod: NamespacedName
    node: str


class GonePod(Report, frozen=True):
    """A pod that left its node, or is terminating there."""

    pod: NamespacedName
    node: str | None
    """Node that it left; null if it had none."""
    why: str
    """``evicted``, ``deleted``, ``scaled down``, ``replaced``, ``lost``, ``preempted``, ``evicted by a taint``,
    ``no longer selected``.
    """
    lost_for_good: bool
    """True if it had no controller to recreate it."""
    made_room_for: NamespacedName | None = None
    broken_budgets: tuple[str, ...] = ()


class UnmadePods(Report, frozen=True):
    """Desired pods of a workload that do not exist."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    count: int
    """Number of these pods."""
    message: str
    """API server's message for the first, or the reason their controller waits."""
    enough: str = ""
    """``requests.cpu: 14 in ResourceQuota compute``: quotas that would allow them; empty where none refuses them."""


class WorkloadChange(Report, frozen=True, gc=False):
    """A workload that the event touched."""

    workload: WorkloadName
    wanted: int
    """Number of desired pods: a Deployment's own number, without its rollout's extra pods."""
    ready_before: int
    """Number of ready pods before the event; of a plan's step, the most at the beginning and after any earlier step."""
    ready: int
    """Number of pods now ready on working nodes."""
    fewest_ready: int
    """Fewest ready pods: right after nodes fail, with all pods on them at once, or in the end."""
    pending: int = 0
    """Number of pods without a node, beyond the number at the time of ``ready_before``."""
    unmade: int = 0
    """Number of pods that are not created, beyond the number at that time."""
    why: str = ""
    """Reason it is degraded: message of kube-scheduler or the API server, or its controller's wait. Empty otherwise."""
    controller_unknown: bool = False
    """True if its controller may create other pods: it is not modeled, or waits for a pod that finalizers keep."""
    gone: int = 0
    """Number of pods that left their nodes, or are terminating."""
    created: int = 0
    """Number of pods that its controllers created."""
    landed: dict[str, int] = {}
    """Number of its pods that the event placed and that are still there, by node."""
    skew: tuple[SkewChange, ...] = ()
    """Skew of each constraint in force, before and after; only for steps, and for nodes that go."""

    @property
    def enough(self) -> int:
        """Number of ready pods below which it is degraded."""
        return min(self.wanted, self.ready_before)

    @property
    def lacks(self) -> int:
        """Number of ready pods missing."""
        return max(0, self.enough - self.ready)

    @property
    def figures(self) -> str:
        """``Deployment/web 1 of 3 ready``."""
        return f"{self.workload.short_name} {self.ready:,} of {self.wanted:,} ready"


class NodeLoad(Report, frozen=True, gc=False):
    """Part of a node that pods request, if it changed."""

    node: str
    pods: int
    """Number of pods on the node, including terminating ones, which take room until they are gone."""
    percent: dict[str, int | None]
    """Requested percentage by resource: cpu, memory, pods, and others that pods request. Rounded down; null if nothing
    is allocatable.
    """


class NodesChange(Report, frozen=True):
    """Nodes that the event changed."""

    joined: tuple[str, ...] = ()
    """Nodes that were added, by name, including an autoscaler's."""
    left: tuple[str, ...] = ()
    """Nodes that were deleted, by name."""
    states: dict[str, tuple[str, ...]] = {}
    """Changed reasons that nodes keep pods away, by name: ``cordoned``, ``not ready``; empty for nodes that are open
    again.
    """
    loads: tuple[NodeLoad, ...] = ()
    """Changed loads of nodes, in the cluster's order."""


class Outcome(Report, frozen=True, kw_only=True):
    """State after an event."""

    name: Annotated[str, Col()]
    """Lost domain, removed node or completed step."""
    verdict: Judgment = "unknown"
    """``yes`` if nothing is refused or worse than before, ``no`` if something certainly is, else ``unknown``."""
    troubles: tuple[Trouble, ...] = ()
    """The worst first; empty for a yes."""
    workloads: tuple[WorkloadChange, ...] = ()
    """Affected workloads, by namespace, kind and name; without single pods and workloads with a pod per node."""
    gone: Annotated[int, Col()] = 0
    """Number of pods that left their nodes, or are terminating."""
    placed: Annotated[int, Col()] = 0
    """Number of pods that found a node because of it."""
    preempted: Annotated[tuple[PreemptedPod, ...], Col(value=len, bad=True, hide_empty=True)] = ()
    """Preempted pods, in order."""
    lost: Annotated[
        tuple[NamespacedName, ...],
        Col(
            header="LOST-FOR-GOOD",
            short="LOST",
            value=len,
            bad=True,
            hide_empty=True,
            metric="lost_pods",
            tile="pods lost for good",
        ),
    ] = ()
    """NAMESPACE/name of pods that are gone and that no controller recreates, intended or not."""
    down: tuple[WorkloadName, ...] = ()
    """Workloads that lost all ready pods at once: none is ready until a successor is."""
    nodes: NodesChange = NodesChange()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "verdict", verdict_of(self.troubles))

    def get(self, *kinds: TroubleKind) -> list[Trouble]:
        """Troubles of these kinds."""
        return [trouble for trouble in self.troubles if trouble.kind in kinds]

    def count(self, *kinds: TroubleKind) -> int:
        """Number of pods affected by troubles of these kinds."""
        return sum(trouble.count for trouble in self.get(*kinds))

    @property
    def joined(self) -> Annotated[Sequence[str], Col(value=len, hide_empty=True)]:
        """Nodes added."""
        return self.nodes.joined

    @property
    def pending(self) -> Annotated[int, Col(bad=True, metric="pending_pods", tile="pods pending")]:
        """Number of pods without a node, beyond the number before."""
        return self.count("pending")

    @property
    def unmade(self) -> Annotated[int, Col(header="NOT-CREATED", bad=True, hide_empty=True, metric="unmade_pods")]:
        """Number of pods that are not created, beyond the number before."""
        return self.count("unmade")

    @property
    def degraded(
        self,
    ) -> Annotated[
        list[WorkloadChange], Col(value=len, bad=True, metric="degraded_workloads", tile="workloads degraded")
    ]:
        """Workloads with fewer ready pods than before and than desired."""
        return [row for row in self.workloads if row.why]

    @property
    def explanation(self) -> Annotated[str, Col(header="WHY", readers=Readers.RECORDS)]:
        """Troubles after the event, the worst first."""
        return "; ".join(phrases(self))

    @property
    def is_done(self) -> bool:
        """True if nothing was refused, and no finalizer may keep a pod."""
        return not self.get(*REFUSALS)


REFUSALS: Sequence[TroubleKind] = KINDS[: KINDS.index("lost")]
"""Kinds of trouble that keep an event from being done."""
LACKING: Sequence[TroubleKind] = ("unmade", "pending", "short")
"""Kinds of trouble that later events may fix."""


def verdict_of(troubles: Sequence[Trouble]) -> Judgment:
    """``no`` if any trouble is certain, ``unknown`` if others exist, else ``yes``."""
    if any(trouble.certain for trouble in troubles):
        return "no"
    return "unknown" if troubles else "yes"


def badness(row: Outcome) -> tuple[bool, Sequence[int], int, Sequence[int], str]:
    """Sort key, the worst outcome first: by refusals and permanent losses, degraded workloads, then missing pods,
    pending or not created.
    """
    lasting = [-row.count(kind) for kind in KINDS if kind not in LACKING]
    lacking = {*(trouble.subject for trouble in row.get(*LACKING)), *(change.workload for change in row.degraded)}
    pods = -row.pending - row.unmade, -sum(change.lacks for change in row.degraded), -row.gone
    return not row.troubles, lasting, -len(lacking), pods, row.name


def kinds_of(row: Outcome) -> list[TroubleKind]:
    """Kinds of trouble, the worst first; ``short`` if any workload is degraded."""
    return [kind for kind in KINDS if (row.degraded if kind == "short" else row.get(kind))]


def phrase(row: Outcome, kind: TroubleKind, *, says_why: bool = True) -> str:
    """Phrase for one kind of trouble: ``2 pods pending (Deployment/web): 0/3 nodes are available``."""
    if kind != "short":
        troubles = row.get(kind)
        return explanation(troubles) if says_why else phrase_of(troubles, most=2)
    degraded = sorted(row.degraded, key=_share)
    at_worst = "" if len(degraded) == 1 else "at worst "
    return f"{count_of(len(degraded), 'workload')} degraded ({at_worst}{degraded[0].figures})"


def phrases(row: Outcome) -> Iterator[str]:
    """Yield a phrase for each kind of trouble, the worst first, and for each budget and finalizer."""
    yield from map(explanation, by_why(row.get(*REFUSALS)).values())
    yield from (phrase(row, kind) for kind in kinds_of(row) if kind not in REFUSALS)


def by_why(troubles: Iterable[Trouble]) -> Mapping[tuple[TroubleKind, str], Sequence[Trouble]]:
    """Group troubles by kind and message."""
    grouped: dict[tuple[TroubleKind, str], list[Trouble]] = {}
    for trouble in troubles:
        grouped.setdefault((trouble.kind, trouble.why), []).append(trouble)
    return grouped


def explanation(troubles: Sequence[Trouble]) -> str:
    """Phrase for troubles of one kind, with the first message: ``2 pods cannot be evicted (web-a, web-b): ...``."""
    return f"{phrase_of(troubles)}{_first_message(troubles)}"


def in_brief(row: Outcome) -> str:
    """All troubles in a sentence, without messages."""
    return ", ".join(phrase(row, kind, says_why=False) for kind in kinds_of(row))


def _share(change: WorkloadChange) -> tuple[float, int]:
    """Sort key of degraded workloads, the worst first: by the share of their pods that is left."""
    return change.ready / max(1, change.wanted), -change.wanted


def phrase_of(alike: Sequence[Trouble], *, most: int = _MAX_NAMED) -> str:
    """Phrase for troubles of one kind, with their number and subjects."""
    words = TROUBLES[alike[0].kind]
    subjects = list(dict.fromkeys(trouble.subject.short_name for trouble in alike))
    number = sum(trouble.count for trouble in alike) if words.noun == "pod" else len(subjects)
    return f"{count_of(number, words.noun)} {words.says} ({some_of(subjects, most)})"


def _first_message(alike: Sequence[Trouble]) -> str:
    """``: `` and the first one's message."""
    return f": {alike[0].why.rstrip('.')}" if alike[0].why else ""


def sentences(rows: Sequence[Outcome], called: Callable[[Sequence[Outcome]], str], brief: str = "") -> Iterator[str]:
    """Yield a sentence for each kind of trouble, the worst first, with its rows and extent: ``losing zone a or b: up to
    3 pods pending``.

    ``called`` names several rows, the worst first; phrases in ``brief`` are left out.
    """
    ordered, named = [(row, kinds_of(row)) for row in sorted(rows, key=badness)], ""
    for kind in KINDS:
        alike = [row for row, kinds in ordered if kind in kinds]
        if len(alike) > 1:
            name = called(alike)
            yield f"{'any of these' if name == named else name}: {_at_most(kind, alike, called)}"
            named = name if len(name) > _LONG_NAME else ""
        elif alike and (text := phrase(alike[0], kind)) not in brief:
            yield f"{called(alike)}: {text}"


def _at_most(kind: TroubleKind, rows: Sequence[Outcome], called: Callable[[Sequence[Outcome]], str]) -> str:
    words = TROUBLES[kind]
    if kind == "short":
        numbers = [len(row.degraded) for row in rows]
    elif words.noun == "pod":
        numbers = [row.count(kind) for row in rows]
    else:
        numbers = [len(row.get(kind)) for row in rows]
    number = count_of(max(numbers), words.noun)
    most = number if len(set(numbers)) == 1 else f"up to {number}"
    first = "the first" if len(called(rows[:1])) > _LONG_NAME else called(rows[:1])
    if kind != "short":
        why, *others = (_first_message(row.get(kind)) for row in rows)
        if why and any(other != why for other in others):
            why = f"; {first}{why}"
        return f"{most} {words.says}{why}"
    worst, where = min(((change, row) for row in rows for change in row.degraded), key=lambda pair: _share(pair[0]))
    return f"{most} degraded, at worst {worst.figures} ({first if where is rows[0] else called([where])})"


def uneven(rows: Sequence[Outcome]) -> Iterator[str]:
    """Yield phrases for hard constraints further above maxSkew after all ``rows`` than before: ``zone skew of
    Deployment/web 1 → 2, above 1``.
    """
    changes: dict[tuple[WorkloadName, int], SkewChange] = {}
    for row in rows:
        for change in row.workloads:
            for place, skew in enumerate(change.skew):
                first = changes.get((change.workload, place), skew)
                changes[change.workload, place] = replace(skew, before=first.before)
    for (workload, _), skew in changes.items():
        if skew.is_violated and skew.most_after > skew.before:
            yield f"{short_key(skew.topology_key)} skew of {workload.short_name} {skew.figures}"


def down_meanwhile(workloads: Iterable[WorkloadName]) -> Iterator[str]:
    """Yield a sentence on workloads temporarily without a ready pod, if any."""
    if names := [workload.short_name for workload in dict.fromkeys(workloads)]:
        yield f"{some_of(names, _MAX_NAMED)} {verb_of(len(names), 'are')} down meanwhile: no other pod is ready"


def of_unknown(*rows: Outcome) -> Iterator[str]:
    """Yield a sentence on degraded workloads that unmodeled controllers may restore, if any."""
    names = dict.fromkeys(
        change.workload.short_name for row in rows for change in row.degraded if change.controller_unknown
    )
    if names:
        yield f"whether lost pods are made again is not known for {some_of([*names], _MAX_NAMED)}"
