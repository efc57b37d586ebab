"""Settings that a question itself changes, which no remedy changes back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from kubespread.candidate.settings import Setting, parse_settings
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.taint import EFFECTS
from kubespread.snapshot.edits.nodes import AddTaint, Cordon, Drain, RemoveLabel, RemoveTaint, SetLabel, Uncordon
from kubespread.snapshot.edits.pods import Scale, Spread
from kubespread.snapshot.edits.verb import Edit, Target, nodes_with
from kubespread.snapshot.topology_keys import SHORT_KEYS, constraint_of, full_topology_key

_OF_A_CONSTRAINT = frozenset(
    {"maxSkew", "minDomains", "whenUnsatisfiable", "nodeTaintsPolicy", "nodeAffinityPolicy", "topologyKey"}
)


class QuestionEdits(Struct, frozen=True):
    """Edits and settings, as they are typed, and whose pods these are about."""

    edits: Sequence[Edit] = ()
    settings: Sequence[str] = ()
    workload: WorkloadName | None = None

    def decided(self, nodes: Sequence[Node], pod: Pod) -> frozenset[Hashable]:
        """Properties of nodes, and of the pod as edits leave it, whose values the question decides."""
        of_edits = [setting for edit in self.edits for setting in self._settings(edit, pod)]
        return frozenset(
            [
                *(decided for edit in self.edits for decided in _of_edit(edit, nodes)),
                *(decided for each in parse_settings([*self.settings, *of_edits]) for decided in _of_pod(each, pod)),
            ]
        )

    def _settings(self, edit: Edit, pod: Pod) -> Iterator[str]:
        """An edit of workloads, as it is written for the pod alone."""
        if not isinstance(edit, Spread):
            return
        own = self.workload
        is_meant = not edit.kind or (own is not None and (edit.kind, edit.name) == (own.kind, own.name))
        if is_meant and edit.namespace in (None, pod.metadata.namespace):
            yield f"topologySpreadConstraints={edit.constraint}"


def _of_edit(edit: Edit, nodes: Sequence[Node]) -> Iterator[Hashable]:
    match edit:
        case Cordon() | Uncordon() | Drain():
            yield from (("unschedulable", name) for name in _names(edit.target, nodes))
        case AddTaint():
            yield from (("taint", name, edit.taint.key, edit.taint.effect) for name in _names(edit.target, nodes))
        case RemoveTaint():
            effects = [edit.effect] if edit.effect else EFFECTS
            yield from (("taint", name, edit.key, effect) for name in _names(edit.target, nodes) for effect in effects)
        case Scale():
            yield "replicas", edit.kind, edit.name
        case SetLabel() | RemoveLabel():
            key = full_topology_key(edit.key, nodes)
            yield from (("label", name, key) for name in _names(edit.target, nodes))


def _names(target: Target, nodes: Sequence[Node]) -> Iterator[str]:
    if target.selector is None:
        yield target.text
    else:
        yield from (node.metadata.name for node in nodes_with(target.selector, nodes))


def _of_pod(setting: Setting, pod: Pod) -> Iterator[Hashable]:
    """Fields of the pod; a toleration takes nothing back."""
    constraints, (field, key) = pod.spec.topology_spread_constraints, (setting.field, setting.key)
    if field == "topologySpreadConstraints" and (added := constraint_of(setting.value)) is not None:
        keys = (added.topology_key, SHORT_KEYS.get(added.topology_key))
        for place, constraint in enumerate(constraints):
            if constraint.topology_key in keys and constraint.when_unsatisfiable == added.when_unsatisfiable:
                yield from ((decided, place) for decided in ("maxSkew", "topologyKey", "whenUnsatisfiable"))
    elif field in _OF_A_CONSTRAINT:
        key = setting.value if field == "topologyKey" else key
        for place, constraint in enumerate(constraints):
            if key in ("", str(place), constraint.topology_key) or SHORT_KEYS.get(key) == constraint.topology_key:
                yield field, place
    elif field in ("cpu", "memory"):
        yield from ((field, container.name) for container in pod.spec.containers if key in ("", container.name))
    elif field == "nodeSelector":
        yield from ((field, label) for label in pod.spec.node_selector if key in ("", label))
