"""Labels that nodes lack: those that the pod's node selector and node affinity ask for, and topology keys.

Labels that say what a machine is, such as its zone, its name or its architecture, are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.selector import Requirement, parse_term, required_node_selector
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.nodes import RemoveLabel, SetLabel
from kubespread.snapshot.edits.verb import Target

LABEL = "label"
_FACTS = ("topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "beta.kubernetes.io/")
_OWN_FACTS = frozenset(
    {"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "node.kubernetes.io/instance-type"}
)
NEW_DOMAIN = "new-1"

LabelEdit = SetLabel | RemoveLabel


def node_labels(stuck: Stuck) -> Iterator[Ladder]:
    """Labels for one node each, those with the fewest other rejections first; where copies may need several, for
    several.
    """
    alike: dict[str, list[Change]] = {}
    for node in stuck.nearest_first():
        if edits := _missing(stuck, node):
            # Replacing an existing label costs more than adding a missing one.
            pieces = [
                Change(LABEL, str(edit), 22 + 4 * (edit.key in node.metadata.labels), edits=(edit,)) for edit in edits
            ]
            phrase = f"label {node.metadata.name}"
            change = Change.of_pieces(phrase, pieces)
            labels = change.said.removeprefix(f"{phrase} ")
            alike.setdefault(labels, []).append(change)
            yield Ladder.of(change, f"labeling {node.metadata.name}")
    for labels, changes in alike.items() if stuck.may_take_several else ():
        yield from Ladder.of_several(f"label {{}} nodes {labels}", changes, f"labeling {len(changes)} nodes")


def _missing(stuck: Stuck, node: Node) -> tuple[LabelEdit, ...]:
    """The missing labels; empty where none is, or where labels alone do not help."""
    required = _node_requirements(stuck.pod, node)
    if required is None:
        return ()
    edits: list[LabelEdit] = []
    target = Target(node.metadata.name)
    for requirement in required:
        if requirement.matches(node.metadata.labels):
            continue
        if requirement.operator in ("In", "Exists"):
            edits.append(SetLabel(target, requirement.key, (*requirement.values, "true")[0]))
        elif requirement.operator in ("NotIn", "DoesNotExist"):
            edits.append(RemoveLabel(target, requirement.key))
        else:
            return ()
    for own in stuck.own_constraints:
        key = own.counted.constraint.topology_key
        if key not in node.metadata.labels and all(edit.key != key for edit in edits):
            edits.append(SetLabel(target, key, NEW_DOMAIN))
    return () if any(map(_is_fact, edits)) else tuple(edits)


def _node_requirements(pod: Pod, node: Node) -> Sequence[Requirement] | None:
    """The required node labels, of alternative terms the ones closest to the node's. None: no labels help."""
    own = [Requirement(key, "In", (value,)) for key, value in pod.spec.node_selector.items()]
    required = required_node_selector(pod)
    if required is None:
        return own
    terms = [parse_term(term) for term in required.node_selector_terms]
    name = node.metadata.name
    possible = [term for term in terms if term.can_match and all(field.admits(name) for field in term.fields)]
    if not possible:
        return None
    return [*own, *min((term.labels for term in possible), key=lambda labels: _unmet(labels, node.metadata.labels))]


def _unmet(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> int:
    return sum(not requirement.matches(labels) for requirement in requirements)


def _is_fact(edit: LabelEdit) -> bool:
    return edit.key in _OWN_FACTS or edit.key.startswith(_FACTS)
