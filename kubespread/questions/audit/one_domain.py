"""Workloads whose pods are all in one zone, or on one host, so that losing it takes all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.questions.audit.afresh import Afresh, Otherwise
from kubespread.questions.audit.causes import (
    Candidate,
    Staying,
    first_that_ends,
    of_closed_nodes,
    of_room,
    of_template,
    of_volumes,
    of_where_they_are,
)
from kubespread.questions.audit.counting import Spread
from kubespread.questions.audit.effects import Effect, InOneDomain
from kubespread.questions.audit.report import AuditFinding
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

Constraints = Iterable[TopologySpreadConstraint]


def in_one_domain(
    in_force: Sequence[Spread], afresh: Afresh, staying: Callable[[Effect], Staying], asked: str | None
) -> Iterator[AuditFinding]:
    """All pods in one of several domains of the key ``asked`` about, by default zones, or hosts without several zones;
    ``in_force`` are the constraints.
    """
    nodes = afresh.cluster.nodes
    key = asked or (ZONE if len(nodes.label(ZONE).values) > 1 else HOSTNAME)
    column = nodes.label(key)
    codes = column.codes[[position for _, position in afresh.pods]]
    if not len(codes) or len(column.values) < 2 or codes.min() < 0 or np.count_nonzero(codes != codes[0]):
        return
    about = [spread for spread in in_force if spread.counted.constraint.topology_key == key]
    if any(not spread.is_even for spread in about):
        # The constraint's own finding says so.
        return
    effect, others = InOneDomain(key), column.present & (column.codes != codes[0])
    # Wherever one pod is, it is alone there.
    candidates = _candidates(afresh, key, in_force, about, others) if len(codes) > 1 else ()
    verdict = first_that_ends(effect, afresh, staying(effect), candidates)
    domain = column.values[codes.item(0)]
    yield AuditFinding(
        level="risk", cause=verdict.cause, topology_key=key, detail=verdict.detail or domain, trials=verdict.trials
    )


def _candidates(
    afresh: Afresh, key: str, in_force: Sequence[Spread], about: Sequence[Spread], others: Mask
) -> Iterator[Candidate]:
    """What may be the cause; ``about`` are the constraints over the key, ``others`` the nodes of the other domains."""
    plugin = next((running for running in afresh.plugins.running if isinstance(running, PodTopologySpread)), None)
    if plugin is not None:
        defaults = plugin.defaults.constraints
        yield from (
            _loose(afresh, defaults, about[0]) if about else _unconstrained(afresh, key, () if in_force else defaults)
        )
    yield from of_where_they_are(afresh)
    yield from of_volumes(afresh)
    yield from of_closed_nodes(afresh, others, "")
    yield from of_template(afresh)
    yield of_room("")


def _loose(afresh: Afresh, defaults: Constraints, spread: Spread) -> Iterator[Candidate]:
    """With maxSkew 1, and a soft constraint also made hard."""
    constraint = spread.counted.constraint
    key, is_own = constraint.topology_key, constraint.source == "pod"
    tighter: dict[str, Callable[[TopologySpreadConstraint], TopologySpreadConstraint]] = {}
    if constraint.max_skew > 1:
        tighter["with maxSkew 1"] = lambda constraint: replace(constraint, max_skew=1)
    if not constraint.is_hard:
        tighter["with maxSkew 1 and DoNotSchedule"] = lambda constraint: replace(
            constraint, max_skew=1, when_unsatisfiable=DO_NOT_SCHEDULE
        )
    for what, change in tighter.items():

        def remade(pod: Pod, change: Callable[..., TopologySpreadConstraint] = change) -> Pod:
            own = pod.spec.topology_spread_constraints if is_own else _selecting(afresh, defaults)
            changed = [change(constraint) if constraint.topology_key == key else constraint for constraint in own]
            return replace(pod, spec=replace(pod.spec, topology_spread_constraints=changed))

        yield Candidate("loose", "", Otherwise(what, remade=remade))


def _unconstrained(afresh: Afresh, key: str, defaults: Constraints) -> Iterator[Candidate]:
    """With constraints that it lacks; ``defaults`` are those that do not apply to it."""
    own = TopologySpreadConstraint(max_skew=1, topology_key=key, when_unsatisfiable=DO_NOT_SCHEDULE)
    if defaults:
        applied = _selecting(afresh, defaults)
        remade = Otherwise("with the default constraints", remade=lambda pod: _with_more(pod, applied))
        yield Candidate("defaultNotApplied", "", remade)
    constrained = _selecting(afresh, [own])
    remade = Otherwise("with a hard constraint of maxSkew 1", remade=lambda pod: _with_more(pod, constrained))
    yield Candidate("noConstraint", "", remade)


def _selecting(afresh: Afresh, constraints: Constraints) -> list[TopologySpreadConstraint]:
    """The constraints as if they selected the workload's pods, by the labels that all of them have."""
    pods = (afresh.template, *(pod for pod, _ in afresh.pods))
    labels = set.intersection(*(set(pod.metadata.labels.items()) for pod in pods))
    selector = LabelSelector(match_labels=dict(sorted(labels)))
    return [replace(constraint, label_selector=selector) for constraint in constraints]


def _with_more(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    own = [*pod.spec.topology_spread_constraints, *constraints]
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=own))
