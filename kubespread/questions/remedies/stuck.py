"""A pod that fits nowhere, and what could be changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.versions import KubeVersion
from kubespread.reports.parts import letter
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import Fixed
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread, SpreadState
from kubespread.snapshot.topology_keys import SHORT_KEYS

SHORT = {full: short for short, full in SHORT_KEYS.items()}
"""Well-known topology keys as people type them."""


class OwnConstraint(Struct, frozen=True):
    """A hard constraint that the pod itself declares."""

    letter: str
    key: str
    """The key in the brackets of ``--set``."""
    counted: HardConstraint


class Stuck(Struct, frozen=True, dict=True):
    """The engine's answer for a pod that finds no node, from which possible changes are derived."""

    evaluation: Evaluation
    version: KubeVersion
    lacking: int | None = None
    """How many copies lack a node; None for a single pod.

    For copies, the evaluation is that of the first stuck one. Once changed, those before it land elsewhere, so it rules
    nothing out.
    """
    fitting: int = 0
    """How many of the pods in question have a node already."""
    in_free_room: int | None = None
    """How many have to fit into room that is free in the evaluation's cluster, which limits their size; None where some
    occupy theirs already, or others may go.
    """

    @cached_property
    def open_to_it(self) -> Mask:
        """Nodes rejected by nothing permanent: nothing that remains whatever the pod's requests and the running pods
        are.
        """
        evaluation = self.evaluation
        fixed = (name for name, state in evaluation.states.items() if isinstance(state, Fixed))
        masks = (evaluation.verdicts[name].passes for name in fixed if name in evaluation.verdicts)
        passing: Mask = np.logical_and.reduce([evaluation.included, *masks])
        return passing

    @property
    def pod(self) -> Pod:
        return self.evaluation.pod

    @property
    def is_one(self) -> bool:
        return self.lacking is None

    @property
    def may_take_several(self) -> bool:
        """Whether one node may not be enough."""
        return self.lacking is not None and self.lacking > 1

    @property
    def nodes(self) -> Sequence[Node]:
        return self.evaluation.cluster.nodes.objects

    @cached_property
    def own_constraints(self) -> Sequence[OwnConstraint]:
        """The constraints by which the pod is judged, in the order they are declared."""
        state = self.evaluation.states.get(PodTopologySpread.name)
        if not isinstance(state, SpreadState) or PodTopologySpread.name not in self.evaluation.verdicts:
            return ()
        places = [place for place, constraint in enumerate(state.declared.constraints) if constraint.is_hard]
        return [
            OwnConstraint(letter(place), self._key_of(place), counted)
            for place, counted in zip(places, state.hard, strict=True)
            if counted.constraint.source == "pod"
        ]

    def _key_of(self, place: int) -> str:
        """The topology key, short where that is unambiguous; the position where two constraints share one."""
        keys = [constraint.topology_key for constraint in self.pod.spec.topology_spread_constraints]
        key = keys[place]
        short = SHORT.get(key, key)
        if keys.count(key) > 1:
            return str(place)
        return key if short in keys and short != key else short

    @cached_property
    def complaints(self) -> list[int]:
        """Per node how many filter plugins reject it."""
        counts = np.zeros(len(self.evaluation.cluster), dtype=np.int64)
        for verdicts in self.evaluation.verdicts.values():
            counts += ~verdicts.passes
        return [int(count) for count in counts]

    def nearest_first(self) -> Iterator[Node]:
        """The nodes, those with the fewest complaints first, equals by name."""
        complaints, nodes = self.complaints, self.nodes
        for place in sorted(range(len(nodes)), key=lambda place: (complaints[place], nodes[place].metadata.name)):
            yield nodes[place]
