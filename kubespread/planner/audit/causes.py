"""Why a constraint is exceeded: the pods are placed afresh, first as things are, then with one thing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as with_fields

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import controller_of
from kubespread.planner.audit.afresh import Afresh, asking_for_nothing, without_volumes
from kubespread.planner.audit.counting import Spread
from kubespread.planner.reports.audit import AuditFinding, Cause, Level, PlacedAfresh
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.snapshot.edits.cordoning import uncordoned

_FAR_ABOVE = 1000
_MAX_NAMED = 3

Told = tuple[Cause, str, Callable[[], PlacedAfresh]]
"""A cause, what it is made of, and the trial that tells whether it is the one."""


def finding(spread: Spread, afresh: Afresh) -> AuditFinding:
    """The first single change that makes the pods even when they are placed afresh."""
    trials: list[PlacedAfresh] = []
    constraint = spread.counted.constraint
    level: Level = "violated" if constraint.is_hard else "uneven"
    told: tuple[Cause, str] = "unknown", ""
    for cause, detail, tried in _candidates(spread, afresh):
        trials.append(tried())
        if trials[-1].holds:
            told = cause, detail
            break
    return AuditFinding(
        level=level,
        cause=told[0],
        topology_key=constraint.topology_key,
        constraint=afresh.at,
        detail=told[1],
        trials=tuple(trials),
    )


def _candidates(spread: Spread, afresh: Afresh) -> Iterator[Told]:
    """What may be the cause, in the order in which it is tried: what asks for least comes first."""
    yield "drift", "", lambda: afresh.tried("")
    if others := afresh.others(spread):
        names = _named(list(dict.fromkeys(_of(pod) for pod, _ in others)))
        yield "otherPods", names, lambda: afresh.tried("without the other pods that it counts", others=others)
    if any(pod.spec.has_scheduled_volumes for pod, _ in afresh.pods):
        template = without_volumes(afresh.template)
        yield "volumes", _claims(afresh), lambda: afresh.tried("without volumes", template=template)
    nodes = afresh.cluster.nodes
    usable = spread.least_nodes
    closed = {
        at: node
        for at in np.flatnonzero(usable).tolist()
        if (node := nodes.objects[at]).spec.unschedulable or node.spec.taints
    }
    if closed:
        opened = {at: _opened(node) for at, node in closed.items()}
        said = f"{_named([node.metadata.name for node in closed.values()])} of {_least(spread)}"
        yield "unavailableNodes", said, lambda: afresh.tried("without cordons and taints", nodes=opened)
    if lacking := np.flatnonzero(spread.counted.column.absent).tolist():
        key, value = spread.counted.constraint.topology_key, _least(spread)
        labeled = {at: _labeled(nodes.objects[at], key, value) for at in lacking}
        said = _named([nodes.names[at] for at in lacking])
        yield "missingLabel", said, lambda: afresh.tried(f"with the label {key}={value}", nodes=labeled)
    if not spread.counted.constraint.is_hard:
        yield from _outweighing(afresh)
    light = asking_for_nothing(afresh.template)
    yield "capacity", _least(spread), lambda: afresh.tried("asking for no resources", template=light)


def _outweighing(afresh: Afresh) -> Iterator[Told]:
    """Without the score of each plugin in turn, the weightiest first, and then with all of them outweighed."""
    scores = sorted(afresh.plugins.scores, key=lambda each: -each[1])
    for plugin, _ in scores:
        if plugin.name != PodTopologySpread.name:
            others = with_fields(afresh.plugins, scores=[each for each in afresh.plugins.scores if each[0] != plugin])
            yield "outweighed", plugin.name, _without(afresh, others, f"without the score of {plugin.name}")
    above = [
        (plugin, weight * _FAR_ABOVE if plugin.name == PodTopologySpread.name else weight)
        for plugin, weight in afresh.plugins.scores
    ]
    heavier = with_fields(afresh.plugins, scores=above)
    said = "several plugins together"
    yield "outweighed", said, _without(afresh, heavier, f"with {PodTopologySpread.name} above all other scores")


def _without(afresh: Afresh, plugins: Framework, what: str) -> Callable[[], PlacedAfresh]:
    return lambda: afresh.tried(what, plugins=plugins)


def _opened(node: Node) -> Node:
    return replace(uncordoned(node), spec=replace(node.spec, unschedulable=False, taints=[]))


def _labeled(node: Node, key: str, value: str) -> Node:
    metadata = replace(node.metadata, labels={**node.metadata.labels, key: value})
    return replace(node, metadata=metadata)


def _of(pod: Pod) -> str:
    """What controls the pod, else its name."""
    owner = controller_of(pod)
    return f"{owner.kind}/{owner.name}" if owner is not None else f"Pod/{pod.metadata.name}"


def _least(spread: Spread) -> str:
    """The first domain with the fewest pods."""
    return spread.value(int(spread.counts.argmin())) if len(spread.counts) else ""


def _claims(afresh: Afresh) -> str:
    names = dict.fromkeys(
        volume.persistent_volume_claim.claim_name
        for pod, _ in afresh.pods
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    )
    return _named(list(names))


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{', '.join(names[:_MAX_NAMED])}{more}"
