"""More nodes like existing ones: one shape after another, in each domain that has it and has not failed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set

from kubespread.kube.api.core import Node
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import BETA_ZONE, HOSTNAME, NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY, ZONE
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import SHORT, Stuck
from kubespread.reports.parts import NOT_READY, closing_states
from kubespread.snapshot.edits.new_nodes import AddNode, is_state_taint
from kubespread.wording import count_of, short_key

ADD_NODE = "add-node"
Domain = tuple[str, str]
"""A topology key and its value."""
_MOST_COPIES = 10
_MOST_NEW_DOMAINS = 3


def new_nodes(stuck: Stuck) -> Iterator[Ladder]:
    """Copies of a node of each shape; also in new domains, where a constraint needs more than exist.

    Not suggested where nodes broke down: the same cause would affect new ones.
    """
    failed, shapes = _failed_domains(stuck), dict[Hashable, str]()
    for node in stuck.nearest_first():
        if not _is_down(node) and failed.isdisjoint(node.metadata.labels.items()):
            shapes.setdefault(_shape(node), node.metadata.name)
    for template in shapes.values():
        yield _copies(template, _most(stuck))
    yield from _into_closed_domains(stuck, failed)
    for template in shapes.values():
        for key, missing in _missing_domains(stuck):
            yield _in_new_domains(template, key, max(missing, min(stuck.lacking or 1, _MOST_NEW_DOMAINS)))


def _copies(template: str, most: int, labels: tuple[tuple[str, str], ...] = ()) -> Ladder:
    where = "".join(f" in {value}" for _, value in labels)

    def change(place: int) -> Change:
        edit = AddNode(template, place + 1, labels)
        more = count_of(place + 1, "more node")
        text, brief = f"{more} like {template}{where}", f"{more}{where}"
        return Change(ADD_NODE, text, 40 + 10 * place, edits=(edit,), brief=brief)

    return Ladder(ADD_NODE, f"more nodes like {template}{where}", most, change)


def _failed_domains(stuck: Stuck) -> Set[Domain]:
    """Domains without a ready node: where machines are lost, no new ones come up."""
    keys = {ZONE, BETA_ZONE, *(own.counted.constraint.topology_key for own in stuck.own_constraints)} - {HOSTNAME}
    ready, failed = set[Domain](), set[Domain]()
    for node in stuck.nodes:
        domains = {(key, value) for key, value in node.metadata.labels.items() if key in keys}
        if _is_down(node):
            failed |= domains
        else:
            ready |= domains
    return failed - ready


def _is_down(node: Node) -> bool:
    lost = (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)
    return NOT_READY in closing_states(node) or any(taint.key in lost for taint in node.spec.taints)


def _into_closed_domains(stuck: Stuck, failed: Set[Domain]) -> Iterator[Ladder]:
    """For domains in which every node, and so its copies, is cordoned or tainted: copies of a node from elsewhere."""
    is_open = {node.metadata.name: _is_open(stuck, node) and not _is_down(node) for node in stuck.nodes}
    template = next((node.metadata.name for node in stuck.nearest_first() if is_open[node.metadata.name]), None)
    keys = dict.fromkeys(own.counted.constraint.topology_key for own in stuck.own_constraints)
    for key in keys if template is not None else ():
        if key == HOSTNAME:
            continue
        domains: dict[str, bool] = {}
        for node in stuck.nodes:
            if (value := node.metadata.labels.get(key)) is not None and not _is_down(node):
                domains[value] = domains.get(value, False) or is_open[node.metadata.name]
        for value, has_open in domains.items():
            if value and not has_open and (key, value) not in failed and template is not None:
                yield _copies(template, _most(stuck), ((SHORT.get(key, key), value),))


def _is_open(stuck: Stuck, node: Node) -> bool:
    tolerations = stuck.pod.spec.tolerations
    return not node.spec.unschedulable and not untolerated(node.spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS)


def _in_new_domains(template: str, key: str, most: int) -> Ladder:
    def change(place: int) -> Change:
        edits = tuple(AddNode(template, labels=((key, f"new-{number}"),)) for number in range(1, place + 2))
        per_zone = " each" if place else ""
        where = f",{per_zone} in a new {short_key(key)}"
        more = count_of(place + 1, "more node")
        text, brief = f"{more} like {template}{where}", f"{more}{where}"
        return Change(ADD_NODE, text, 55 + 10 * place, edits=edits, brief=brief)

    return Ladder(ADD_NODE, f"a node like {template} in a new domain", most, change)


def _most(stuck: Stuck) -> int:
    """One pod needs one more node, or as many as a constraint over hosts needs domains; copies at most one each."""
    if stuck.lacking is not None:
        return min(stuck.lacking, _MOST_COPIES * 10)
    zones = [
        (own.counted.constraint.min_domains or 1) - len(own.counted.column.values)
        for own in stuck.own_constraints
        if own.counted.constraint.topology_key == HOSTNAME
    ]
    return max(1, min(_MOST_COPIES, max(zones, default=1)))


def _missing_domains(stuck: Stuck) -> Iterator[tuple[str, int]]:
    """Topology keys whose constraint has fewer domains than minDomains, and how many fewer."""
    for own in stuck.own_constraints:
        key = own.counted.constraint.topology_key
        missing = (own.counted.constraint.min_domains or 1) - int(own.counted.is_domain.sum())
        if key != HOSTNAME and 0 < missing <= _MOST_NEW_DOMAINS:
            yield key, missing


def _shape(node: Node) -> Hashable:
    """What a copy inherits from the node."""
    labels = tuple(sorted((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME))
    taints = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints if not is_state_taint(taint))
    return labels, taints, node.spec.unschedulable, tuple(sorted(map(str, node.status.allocatable.items())))
