"""What would make a pod fit, each change proven by asking again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kubespread.planner.reports.parts import (
    ClusterReference,
    ConstraintReport,
    Judgment,
    PodReference,
    QuestionReport,
    Report,
)
from kubespread.wording import count_of, some_of

COMBINATION = "combination"
"""What several changes together are counted as where they were not tried."""


class PatchOperation(Report, frozen=True):
    """One operation of a JSON Patch (RFC 6902)."""

    op: str
    """``add``, ``replace`` or ``remove``."""
    path: str
    """A JSON Pointer (RFC 6901) into the manifest or the workload."""
    value: Any = None
    """null for ``remove``."""


class Suggestion(Report, frozen=True):
    """A change, or several together, after which the pod fits, or all pods that are asked about find a node."""

    change: str
    """``A maxSkew 2``, ``uncordon node-7``: constraints by their letter."""
    family: str
    """What kind of change it is; several joined by `` + ``."""
    options: tuple[str, ...]
    """What reproduces it on the command line: ``--set maxSkew[zone]=2``."""
    nodes: int | None
    """How many nodes fit then; null where several pods are asked about."""
    placed: int | None
    """How many of the pods find a node then; null where one is asked about."""
    consequences: tuple[str, ...] = ()
    """What becomes of other pods."""
    notes: tuple[str, ...] = ()
    """What disruption budgets and priorities say of it."""
    alternatives: tuple[str, ...] = ()
    """Options for other changes of the same kind that also suffice."""
    patch: tuple[PatchOperation, ...] = ()
    """What becomes of the manifest, or of the workload in the cluster."""
    commands: tuple[str, ...] = ()
    """The same for kubectl, where it has something to change in the cluster."""
    diff: str | None = None
    """The same as a unified diff of the manifest, where its text can be told."""


class NotEnough(Report, frozen=True):
    """Changes that were tried alone, at their largest, and do not suffice."""

    family: str
    """What kind of change it is."""
    changes: tuple[str, ...]
    """``relaxing A``."""


class Costly(Report, frozen=True):
    """Changes that were tried alone and would do, but for what others lose by them."""

    family: str
    """What kind of change it is."""
    changes: tuple[str, ...]
    """``evicting shop/web-0``."""
    harm: tuple[str, ...]
    """What the first of them costs: ``shop/web-3 would be pending``, ``shop/tool would be lost for good``."""


class Advice(Report, frozen=True):
    """Which changes suffice and which do not."""

    families: tuple[str, ...]
    """The kinds of changes that were tried."""
    enough: tuple[Suggestion, ...]
    """Single changes, those that change least first; combinations only where no single change suffices."""
    not_enough: tuple[NotEnough, ...]
    """What was tried and does not suffice."""
    costly: tuple[Costly, ...] = ()
    """What was tried and would do, but only at others' cost."""
    tried: int = 0
    """How many changes were made and asked about, at each of their sizes and together."""
    untried: dict[str, int] = {}
    """Per family how many changes were left untried; ``combination`` counts several changes together."""


class AdviseReport(QuestionReport, frozen=True, kw_only=True):
    kind: str = "AdviseReport"
    kube_version: str
    scheduler_name: str
    cluster: ClusterReference | None = None
    pod: PodReference
    workload: str | None = None
    """Kind/name of what the pod belongs to."""
    replicas: int | None = None
    """How many are asked about; null for one pod by itself."""
    placed: int | None = None
    """How many of them find a node as things are, those that run already among them."""
    nodes: int = 0
    """How many nodes there are."""
    fitting: int = 0
    """How many of them fit the pod as things are."""
    message: str | None = None
    """kube-scheduler's, null where it finds a node for each."""
    victims: tuple[str, ...] = ()
    """NAMESPACE/name of the pods that are preempted as things are, so that nothing has to change."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Those in force for the pod that finds no node, counted as things are."""
    conclusion: str | None = None
    """What bars the pod, when one thing does."""
    advice: Advice | None = None
    """Null where nothing has to change."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether nothing has to change."""
        return self.advice is None

    @property
    def succeeds(self) -> bool:
        """Whether the pod fits as things are or after some change that was found."""
        return self.advice is None or bool(self.advice.enough)

    def about(self, cluster: ClusterReference) -> AdviseReport:
        """The same answer, with the cluster it is about."""
        return msgspec.structs.replace(self, cluster=cluster)

    def with_gaps(self, missing: Iterable[str]) -> AdviseReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))

    def judged(self) -> Judgment:
        return "yes" if self.succeeds else "no"

    def sentences(self) -> Iterator[str]:
        yield from _sentences(self)


def _sentences(report: AdviseReport) -> Iterator[str]:
    """What suffices, and what does not suffice alone."""
    advice = report.advice
    if advice is None:
        yield _message(report)
        return
    if advice.enough:
        others = len(advice.enough) - 1
        more = f", or {count_of(others, 'other change')}" if others else ""
        yield f"{_subject(report)} {_verb(report)} with {advice.enough[0].change}{more}"
    else:
        yield f"no change that was tried makes {_subject(report)} fit ({advice.tried:,} tried)"
    if said := " · ".join(costly(advice)):
        yield f"Only at others' cost: {said}"
    if said := " · ".join(not_enough(advice)):
        yield f"Not enough alone: {said}"
    if said := untried(advice):
        yield said


def _subject(report: AdviseReport) -> str:
    if report.replicas is None:
        return "the pod"
    return "the replica" if report.replicas == 1 else f"all {count_of(report.replicas, 'replica')}"


def _verb(report: AdviseReport) -> str:
    return "fits" if report.replicas is None else "finds a node" if report.replicas == 1 else "find a node"


def _message(report: AdviseReport) -> str:
    if report.victims:
        return f"{_subject(report)} {_verb(report)} by preempting {some_of(report.victims, 3)}: nothing has to change"
    if report.message is not None:
        return f"nothing tells what could be changed: {report.message}"
    if report.replicas is not None:
        return f"{_subject(report)} {_verb(report)}: nothing has to change"
    verb = "fits" if report.fitting == 1 else "fit"
    return f"{report.fitting:,} of {count_of(report.nodes, 'node')} {verb}: nothing has to change"


SCHEDULE_ANYWAY = "ScheduleAnyway"
"""The family of changes that relax a constraint."""


class _Kind(NamedTuple):
    """How many changes of a family are spoken of: one, or any of several."""

    one: str
    several: str


_COUNTED: Mapping[str, _Kind] = {
    "uncordon": _Kind("uncordoning the one cordoned node", "uncordoning any of {} nodes"),
    "label": _Kind("{what}", "labeling any of {} nodes"),
    "untaint": _Kind("taking off the one taint", "taking off any of {} taints"),
    "tolerate": _Kind("{what}", "tolerating any of {} taints"),
    "wait": _Kind("{what}", "waiting for any of {} terminating pods"),
    "evict": _Kind("{what}", "evicting any of {} pods"),
    "add-node": _Kind("{what}", "more nodes like any of {}"),
}
"""Of which there may be very many, each about one node or pod."""

_OF_SEVERAL = re.compile(r" [0-9]+ nodes$")
_IMPLIED = frozenset({"maxSkew", "policy", "minDomains"})
"""What follows from a relaxed constraint that is not enough."""


def not_enough(advice: Advice) -> Iterator[str]:
    """``relaxing B``, ``uncordoning any of 3 nodes``: only kinds of which no change suffices, and constraints."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for each in advice.not_enough:
        if each.family in _COUNTED:
            if each.family not in sufficient:
                yield _counted(each)
        elif each.family == SCHEDULE_ANYWAY:
            letters = (change.rpartition(" ")[2] for change in each.changes)
            yield f"relaxing {', '.join(letters)}"
        elif each.family not in _IMPLIED:
            yield from each.changes


def costly(advice: Advice) -> Iterator[str]:
    """``evicting any of 2 pods (shop/web-3 would be pending)``: only kinds of which no change suffices."""
    sufficient = {suggestion.family for suggestion in advice.enough}
    for each in advice.costly:
        if each.family not in sufficient:
            said = _counted(each) if each.family in _COUNTED else ", ".join(each.changes)
            yield f"{said} ({some_of(each.harm, 1)})"


def _counted(each: NotEnough | Costly) -> str:
    """Changes of several nodes at once are none of those that are counted."""
    single = [change for change in each.changes if _OF_SEVERAL.search(change) is None]
    words = _COUNTED[each.family]
    if len(single) == 1:
        return words.one.format(what=single[0])
    together = " or several together" if len(single) < len(each.changes) else ""
    return words.several.format(len(single)) + together


def untried(advice: Advice) -> str:
    """How many more changes there are, and how many several together; empty where all were tried."""
    changes = dict(advice.untried)
    together = changes.pop(COMBINATION, 0)
    listed = [f"{number:,} more of {family}" for family, number in changes.items()]
    if together:
        listed.append(f"{together:,} more combination{'' if together == 1 else 's'}")
    return f"not tried: {', '.join(listed)}" if listed else ""
