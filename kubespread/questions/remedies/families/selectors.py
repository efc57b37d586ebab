"""What the pod requires of nodes and of pods near it, dropped: one label, or one topology key, each."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.node_selector import required_node_selector
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import SHORT, Stuck

_COSTS = {"nodeSelector": 35, "nodeAffinity": 36, "podAffinity": 45, "podAntiAffinity": 45}


def dropped_requirements(stuck: Stuck) -> Iterator[Ladder]:
    for family, key in dict.fromkeys(_required(stuck)):
        change = Change(family, f"drop {family} {key}", _COSTS[family], (f"{family}[{SHORT.get(key, key)}]=null",))
        yield Ladder.of(change, f"dropping {family} {key}")


def _required(stuck: Stuck) -> Iterator[tuple[str, str]]:
    spec = stuck.pod.spec
    for key in spec.node_selector:
        yield "nodeSelector", key
    required = required_node_selector(stuck.pod)
    for term in required.node_selector_terms if required is not None else ():
        for expression in (*term.match_expressions, *term.match_fields):
            yield "nodeAffinity", expression.key
    if spec.affinity is None:
        return
    for family, near in (
        ("podAffinity", spec.affinity.pod_affinity),
        ("podAntiAffinity", spec.affinity.pod_anti_affinity),
    ):
        for near_term in near.required_during_scheduling_ignored_during_execution if near is not None else ():
            yield family, near_term.topology_key
