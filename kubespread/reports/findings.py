"""Words of findings: one table of sentences for each sort, in singular and plural."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Literal, get_args

from msgspec import Struct

from kubespread.regex import regex
from kubespread.wording import count_of, says, some_of, verb_of

_MAX_NAMED = 3
_IF_ANY = regex(r"\[([^\[\]]*)\]")


class Words(Struct, frozen=True, kw_only=True):
    """Words of one finding code."""

    says: str = ""
    """Template of the sentence.

    ``{pods:pod}``, ``{pods:pod, wait}``, ``{pods: wait}`` and ``{pods:it|they}`` agree
    with a number, which is ``#`` in the last; of a list a few are named. ``[: {why}]`` is left out without a why, and
    becomes the rest in ``[: {why}||, nobody knows why]``.
    """
    means: str = ""
    """Meaning for the documentation."""

    def sentence(self, numbers: Mapping[str, Any]) -> str:
        chosen = _IF_ANY.sub(lambda part: _choose(part[1], numbers), self.says)
        return chosen.format_map({name: _speak(value) for name, value in numbers.items()})


def _choose(text: str, numbers: Mapping[str, Any]) -> str:
    then, _, otherwise = text.partition("||")
    return then if all(numbers[name] for _, name, _, _ in Formatter().parse(then) if name) else otherwise


def _speak(value: object) -> object:
    if isinstance(value, int):
        return _Count(value)
    return some_of([str(item) for item in value], _MAX_NAMED) if isinstance(value, list | tuple) else value


class _Count(int):
    """A number that its noun, its verb, or another word agrees with."""

    def __format__(self, spec: str) -> str:
        number = int(self)
        if "|" in spec:
            one, several = spec.split("|")
            return (one if number == 1 else several).replace("#", f"{number:,}")
        if spec.startswith(" "):
            return verb_of(number, spec[1:])
        noun, _, verb = spec.partition(", ")
        if not noun:
            return f"{number:,}"
        return says(number, noun, verb) if verb else count_of(number, noun)


Severity = Literal["error", "warning", "notice"]
SEVERITIES: Mapping[str, Severity] = {
    **dict.fromkeys(("error", "critical", "violated"), "error"),
    **dict.fromkeys(("warning", "uneven", "risk"), "warning"),
    **dict.fromkeys(("info", "notice", "unjudged"), "notice"),
}
"""Levels of findings as CI systems call them, the worst first."""


FindingCode = Literal[
    "errors",
    "truncated",
    "nodes",
    "namespaces",
    "pods",
    "daemonPods",
    "clusters",
    "times",
    "claims",
    "volumes",
    "owners",
]
_UNCLAIMED = "that pods use {number: are} not in the snapshot, so which nodes these can go to is not known: {names}"
SNAPSHOT: Mapping[FindingCode, Words] = {
    "errors": Words(means="kubectl's, in the place of objects", says="an error stands in the place of objects: {why}"),
    "truncated": Words(means="a list that ends too early", says="a list was cut off, so objects are missing: {why}"),
    "nodes": Words(
        means="those that pods are bound to",
        says="{pods:pod, are} bound to {nodes:node} not in the snapshot, so neither {pods:it|they} nor "
        "{nodes:its|their} room {pods: count}: {names}",
    ),
    "namespaces": Words(
        means="pods of one only",
        says="pods of namespace {namespace} only, so nodes look emptier than they are: list the pods of all (-A)",
    ),
    "pods": Words(
        means="those that controllers count in their status, or all",
        says="[none of {pods:pod} that {controllers:controller, count} in {controllers:its|their} status is in the "
        "snapshot: {names}||no pods are in the snapshot, so every node counts as empty]",
    ),
    "daemonPods": Words(
        means="nodes without any DaemonSet's pod",
        says="no DaemonSet's pod is on {nodes:node}, though {daemonSets:DaemonSet, are} in the snapshot, so pods seem "
        "to be missing: {names}",
    ),
    "clusters": Words(means="objects of several", says="objects of more than one cluster: {signs}"),
    "times": Words(means="lists from different hours", says="lists of different hours: {signs}"),
    "claims": Words(means="those of pods", says=f"{{number:PersistentVolumeClaim}} {_UNCLAIMED}"),
    "volumes": Words(means="those of pods' claims", says=f"{{number:PersistentVolume}} {_UNCLAIMED}"),
    "owners": Words(
        means="the controllers of pods",
        says="the {kinds} of {pods:pod} is not in the snapshot, so what is made again is not known: {names}",
    ),
}
"""Words of findings about a snapshot: missing kinds, or objects of another cluster or hour."""


Cause = Literal[
    "underWay",
    "drift",
    "terminating",
    "otherPods",
    "volumes",
    "minDomains",
    "missingLabel",
    "unavailableNodes",
    "nodeAffinity",
    "podAffinity",
    "otherConstraints",
    "capacity",
    "outweighed",
    "onePod",
    "defaultNotApplied",
    "noConstraint",
    "loose",
    "missesOwnPods",
    "stuckRollout",
    "pending",
    "notCreated",
    "notReady",
    "noRoom",
    "noRollout",
    "refused",
    "gated",
    "otherScheduler",
    "unknown",
]


class CauseWords(Words, frozen=True, kw_only=True):
    """Words of one cause; rows of `audit.causes.UNDONE` say how it is undone."""

    so: str = ""
    """Sentence on the trial that ended it, with the pods and the cause's detail."""
    place: str = ""
    """Sentence on pods that are all in one domain, before the trial."""
    badness: Literal["critical", "warning", "notice"] | None = None
    """Level in a report on the cluster, for a cause of missing pods."""
    is_pending: bool = False
    """True if pods wait for it, which `pending` reports."""


CAUSES: Mapping[Cause, CauseWords] = {
    "underWay": CauseWords(means="none, once pods that wait are placed and rollouts are done"),
    "drift": CauseWords(
        means="none, once its pods are placed afresh",
        so=", so a scale-down, a rollout, lost nodes or the like left {them}",
    ),
    "terminating": CauseWords(
        means="pods that are terminating are gone",
        so=", so terminating pods still hold room: {what}; evict again once they are gone",
    ),
    "otherPods": CauseWords(
        means="the constraint does not count pods of others",
        so=", so the pods of others that it counts make it uneven: {what}",
    ),
    "volumes": CauseWords(means="its pods have none", so=", so its volumes hold {them}: {what}"),
    "minDomains": CauseWords(means="there is none", so=", so minDomains {what} makes the minimum 0, as {domains}"),
    "missingLabel": CauseWords(
        means="nodes have the topology key; of a constraint that holds: pods on nodes without it count nowhere, or a "
        "hard constraint lets none come there",
        so=", so nodes without the label are missing: {what}",
        says="nodes without the label {key} count in none of its domains[: {detail}]",
    ),
    "unavailableNodes": CauseWords(
        means="nodes are without cordons and taints", so=", so nodes that take no pods hold {them} there: {what}"
    ),
    "nodeAffinity": CauseWords(means="its pods require none", so=", so its {what} holds {them} there"),
    "podAffinity": CauseWords(means="its pods require none", so=", so its {what} holds {them} there"),
    "otherConstraints": CauseWords(means="it has no others", so=", so its other constraints hold {them} there: {what}"),
    "capacity": CauseWords(means="its pods ask for no resources", so=", so there is too little room {where}"),
    "outweighed": CauseWords(means="a soft constraint outweighs other scores", so=", so it is outweighed by {what}"),
    "onePod": CauseWords(means="there is another pod"),
    "defaultNotApplied": CauseWords(
        means="the default constraints apply to it",
        place=": no Service and no controller with a selector gives them default constraints",
    ),
    "noConstraint": CauseWords(
        means="it has one over the zone, or the host", place=", and no constraint is about {key}s"
    ),
    "loose": CauseWords(means="the one it has is tighter", place=", which {allowed} allows"),
    "missesOwnPods": CauseWords(
        means="the constraint selects the pods' own labels: it counts none of them",
        says="{detail}: the constraint over {key} counts none of its {pods:pod}[; select {select}]",
    ),
    "stuckRollout": CauseWords(
        means="pods of its new revision find no node, or are refused",
        badness="critical",
        says="rollout stuck[, {new:new pod} pending]: {reasons}",
    ),
    "pending": CauseWords(
        means="pods wait for a node",
        is_pending=True,
        says="{placed} of {pods:pod} on nodes, {pending} pending[, {placeable} of them placeable now][: {detail}]",
    ),
    "notCreated": CauseWords(
        means="it is to have more pods than there are",
        badness="critical",
        says="{pods:its pod is not|not all of its # pods are} created[: {detail}][; nothing in the snapshot says why: "
        "{pods:it|one more} would fit on {fitting}]",
    ),
    "notReady": CauseWords(
        means="pods on nodes are not", badness="critical", says="{ready} of {pods:pod} ready; not ready[: {detail}]"
    ),
    "noRoom": CauseWords(
        means="its next pod fits nowhere", badness="notice", says="its next pod fits nowhere[: {detail}]"
    ),
    "noRollout": CauseWords(
        means="its next pod fits nowhere, and a rollout takes no pod away before it",
        badness="critical",
        says="no rollout completes: with maxSurge {surge} and maxUnavailable {unavailable} a restart stops at {new} of "
        "{pods} new pods: {detail}",
    ),
    "refused": CauseWords(
        means="the API server refuses its pods when they are made again",
        badness="warning",
        says="a pod of it that goes is not created again[: {detail}]",
    ),
    "gated": CauseWords(
        means="pods wait, or the next one will, behind the scheduling gates in ``detail``",
        badness="notice",
        is_pending=True,
        says="its next pod waits behind scheduling gates: {detail}",
    ),
    "otherScheduler": CauseWords(
        means="the pods name the scheduler in ``detail``, which is not modeled; a risk where some of them wait for it",
        badness="notice",
        is_pending=True,
        says="placed by scheduler {detail}, which is not modeled[; {pending} pending||, so how it is spread "
        "is not judged]",
    ),
    "unknown": CauseWords(means="no change that was tried ends it"),
}


Area = Literal["running", "spread", "drains", "budgets", "losses", "scaling"]
AREAS: tuple[Area, ...] = get_args(Area)
"""Present faults before possible ones."""
LINES: Mapping[str, Words] = {
    "unconstrained": Words(says="{workloads:workload, have} several pods and no constraint over zones: {names}"),
    "neverLets": Words(says="PodDisruptionBudget {budget} never lets a pod go, on {nodes:node}: {why}"),
    "letsNone": Words(says="PodDisruptionBudget {budget} lets no pod go now, on {nodes:node}: {why}"),
    "kept": Words(says="{kept} of {nodes:node} {why}[: {pods}]"),
    "atMaximum": Words(says="{workload}: {autoscaler} may ask for {most:replica}, which leaves {missing}[: {why}]"),
    "allAtMaximum": Words(says="{scaled} autoscaled workloads, all at their maximum, leave {missing}: {names}"),
}
"""Words of a report's own findings."""
