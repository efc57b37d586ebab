"""Pods that are all in one zone, or on one host, so that it takes all of them along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner.audit.afresh import Afresh
from kubespread.planner.audit.counting import Spread
from kubespread.planner.reports.audit import AuditFinding, PlacedAfresh
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread


def in_one_domain(found: Sequence[Spread], afresh: Afresh) -> Iterator[AuditFinding]:
    """Two pods or more in one of several zones, or hosts where there are not several zones; ``found`` is in force."""
    nodes = afresh.cluster.nodes
    key = ZONE if len(nodes.label(ZONE).values) > 1 else HOSTNAME
    column = nodes.label(key)
    codes = column.codes[[position for _, position in afresh.pods]]
    if len(codes) < 2 or len(column.values) < 2 or codes.min() < 0 or np.count_nonzero(codes != codes[0]):
        return
    about = [each for each in found if each.counted.constraint.topology_key == key]
    if any(not each.is_even for each in about):
        # That is said of the constraint.
        return
    domain = column.values[codes.item(0)]
    plugin = next((each for each in afresh.plugins.running if isinstance(each, PodTopologySpread)), None)
    if about:
        yield AuditFinding(level="risk", cause="loose", topology_key=key, detail=domain)
    elif found or plugin is None or not plugin.defaults.constraints:
        yield AuditFinding(level="risk", cause="noConstraint", topology_key=key, detail=domain)
    else:
        trial = _with_defaults(afresh, plugin, key)
        yield AuditFinding(level="risk", cause="defaultNotApplied", topology_key=key, detail=domain, trials=(trial,))


def _with_defaults(afresh: Afresh, plugin: PodTopologySpread, key: str) -> PlacedAfresh:
    """The pods placed afresh as if a Service selected them, so that the default constraints applied."""
    labels = LabelSelector(match_labels=dict(afresh.template.metadata.labels))
    defaults = [structs.replace(each, label_selector=labels) for each in plugin.defaults.constraints]
    ordered = sorted(defaults, key=lambda each: each.topology_key == key)
    spec = structs.replace(afresh.template.spec, topology_spread_constraints=ordered)
    template = structs.replace(afresh.template, spec=spec)
    return replace(afresh, at=len(ordered) - 1).tried("with the default constraints", template=template)
