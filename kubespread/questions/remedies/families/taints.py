"""Taints that the pod does not tolerate: removed from one node, or tolerated.

Taints that describe a node's state return as long as the state lasts, so they are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.taint import COMPARISON_GATE, DO_NOT_SCHEDULE_EFFECTS, taint_text, untolerated
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.new_nodes import is_state_taint
from kubespread.snapshot.edits.nodes import RemoveTaint
from kubespread.snapshot.edits.verb import Target

UNTAINT, TOLERATE = "untaint", "tolerate"


def untaints(stuck: Stuck) -> Iterator[Ladder]:
    """One taint of one node each, nodes with the fewest other rejections first; where copies may need several, of
    several.
    """
    alike: dict[str, list[Change]] = {}
    for node in stuck.nearest_first():
        for key, effect in dict.fromkeys((taint.key, taint.effect) for taint in _unwelcome(stuck, node)):
            edit = RemoveTaint(Target(node.metadata.name), key, effect)
            change = Change(UNTAINT, str(edit), 25, edits=(edit,))
            alike.setdefault(edit.described, []).append(change)
            yield Ladder.of(change, f"taking {edit.described} off {node.metadata.name}")
    for taint, changes in alike.items() if stuck.may_take_several else ():
        yield from Ladder.of_several(f"taint {{}} nodes {taint}-", changes, f"taking {taint} off {len(changes)} nodes")


def tolerations(stuck: Stuck) -> Iterator[Ladder]:
    """One toleration for each taint that some node has."""
    taints = dict.fromkeys(taint_text(taint) for node in stuck.nearest_first() for taint in _unwelcome(stuck, node))
    for text in taints:
        yield Ladder.of(Change(TOLERATE, f"tolerate {text}", 25, (f"tolerations={text}",)), f"tolerating {text}")


def _unwelcome(stuck: Stuck, node: Node) -> list[Taint]:
    compares = stuck.version.has(COMPARISON_GATE)
    repelling = untolerated(node.spec.taints, stuck.pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares)
    return [taint for taint in repelling if not is_state_taint(taint)]
