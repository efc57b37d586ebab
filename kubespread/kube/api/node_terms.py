"""The node selector types that pods, volumes and the scheduler's configuration share."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import KubeObject


class NodeSelectorRequirement(KubeObject):
    key: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class NodeSelectorTerm(KubeObject):
    match_expressions: list[NodeSelectorRequirement] = field(default_factory=list)
    match_fields: list[NodeSelectorRequirement] = field(default_factory=list)


class NodeSelector(KubeObject):
    node_selector_terms: list[NodeSelectorTerm] = field(default_factory=list)
