"""A change of a pod or its cluster, as data: its name, the way to reproduce it, and its extent; and edits of a question
itself, which no remedy undoes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from kubespread.candidate.settings import Setting, parse_settings
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.taint import EFFECTS
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.nodes import AddTaint, Cordon, Drain, RemoveLabel, RemoveTaint, SetLabel, Uncordon
from kubespread.snapshot.edits.pods import Scale, Spread
from kubespread.snapshot.edits.verb import Edit, Target, nodes_with
from kubespread.snapshot.topology_keys import SHORT_KEYS, constraint_of, full_topology_key


class Change(Struct, frozen=True):
    """A change to try, or several together."""

    family: str
    """Kind of change, as in `remedies.families`."""
    what: str
    """``maxSkew 2``, ``uncordon node-7``."""
    cost: int
    """Extent of the change: the cheaper is suggested first."""
    settings: tuple[str, ...] = ()
    """Settings of the pod, for ``--set``."""
    edits: tuple[Edit, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()
    """Other values of the question's fields, by name."""
    pieces: tuple[Change, ...] = ()
    """Parts of a change to several nodes, one per node, or of several labels for one node."""
    phrase: str = ""
    """Phrase for such a change: ``uncordon {} nodes``; ``label n0``, followed by the labels."""
    letter: str = ""
    """Letter of the changed constraint; empty for other changes."""
    together: tuple[Change, ...] = ()
    """Parts of a combination."""
    brief: str = ""
    """Short form without node names: ``3 more nodes in zone a``."""

    @property
    def text(self) -> str:
        """``A maxSkew 2``: constraints by letter."""
        return f"{self.letter} {self.what}" if self.letter else self.what

    @property
    def key(self) -> Hashable:
        """Identity of the change, whatever its name."""
        return self.settings, self.edits, self.fields

    @property
    def parts(self) -> tuple[Change, ...]:
        """Single changes that it consists of."""
        return self.together or (self,)

    @classmethod
    def of_pieces(cls, phrase: str, pieces: Sequence[Change]) -> Change:
        """Change to several nodes, or several labels for one node, from its parts."""
        first = pieces[0]
        if len(pieces) == 1:
            return first
        edits = tuple(edit for piece in pieces for edit in piece.edits)
        if "{}" in phrase:
            what, cost = phrase.format(len(pieces)), first.cost + 10 * (len(pieces) - 1)
        else:
            what = phrase + "".join(piece.what.removeprefix(phrase) for piece in pieces)
            cost = max(piece.cost for piece in pieces)
        return cls(first.family, what, cost, edits=edits, pieces=tuple(pieces), phrase=phrase)

    def remove(self, piece: Change) -> Change:
        """The change without one of its nodes or labels."""
        return self.of_pieces(self.phrase, [other for other in self.pieces if other is not piece])

    def join(self, other: Change) -> Change:
        """Both changes together."""
        return Change(
            f"{self.family} + {other.family}",
            f"{self.text} + {other.text}",
            self.cost + other.cost,
            (*self.settings, *other.settings),
            (*self.edits, *other.edits),
            together=(*self.parts, *other.parts),
        )


class Ladder(Struct, frozen=True):
    """One change at several sizes, to find the smallest that suffices. If a size suffices, larger
    ones are assumed to.
    """

    family: str
    summary: str
    """Text if no size suffices: ``relaxing A``."""
    sizes: int
    change_at: Callable[[int], Change]
    """Function for the change of the n-th size, from 0."""
    letter: str = ""
    """Letter of its constraint; empty without one."""
    of_many: bool = False
    """True if it changes several nodes at once."""

    @classmethod
    def build(cls, change: Change, summary: str) -> Ladder:
        """A change of one size."""
        return cls(change.family, summary, 1, lambda _: change, change.letter)

    @classmethod
    def of_sizes(cls, sizes: Sequence[Change]) -> Ladder:
        """Changes of one kind, by increasing size."""
        return cls(sizes[0].family, sizes[-1].what, len(sizes), sizes.__getitem__)

    @property
    def least(self) -> Change:
        """The smallest size."""
        return self.change_at(0)

    @property
    def most(self) -> Change:
        """The largest size."""
        return self.change_at(self.sizes - 1)


class Answer(Struct, frozen=True):
    """Result of the engine after a change."""

    count: int
    """Number of nodes that fit; for several pods, of pods with a node; 1 for any other success."""
    needed: int = 1
    """Number that suffices."""
    consequences: tuple[str, ...] = ()
    """Effects on other pods: ``preempting shop/api-1``."""
    harm: tuple[str, ...] = ()
    """Losses of other pods: a change that only shifts the problem solves nothing."""
    lost_pods: tuple[NamespacedName, ...] = ()
    """Pods lost for good, a price of the change that is not harm to others."""

    @property
    def is_met(self) -> bool:
        """True if the pods find their nodes, whatever happens to others."""
        return self.count >= self.needed

    @property
    def suffices(self) -> bool:
        return self.is_met and not self.harm


class Goal(Protocol):
    """A question to ask again after a change, with the answer yes once the change suffices."""

    def ask(self, change: Change) -> Answer | None:
        """Answer after the change; None if the API server or a disruption budget refuses it."""


class RevisedPod(Struct, frozen=True):
    """The pod with ``--set`` settings."""

    pod: Pod
    dressed: Callable[[Cluster], Cluster]
    """Function that adds the pod's other objects to a cluster, such as its ReplicaSet."""


Revise = Callable[[Sequence[str]], RevisedPod | None]
"""Function that makes the pod with settings; None if the API server refuses them."""


_OF_A_CONSTRAINT = frozenset(
    {"maxSkew", "minDomains", "whenUnsatisfiable", "nodeTaintsPolicy", "nodeAffinityPolicy", "topologyKey"}
)


class QuestionEdits(Struct, frozen=True):
    """The question's own edits and settings, and their workload."""

    edits: Sequence[Edit] = ()
    settings: Sequence[str] = ()
    workload: WorkloadName | None = None

    def decisions(self, nodes: Sequence[Node], pod: Pod) -> frozenset[Hashable]:
        """Properties of nodes, and of the pod after the edits, that the question itself sets."""
        of_edits = [setting for edit in self.edits for setting in self._settings(edit, pod)]
        return frozenset(
            [
                *(decided for edit in self.edits for decided in _of_edit(edit, nodes)),
                *(decided for own in parse_settings([*self.settings, *of_edits]) for decided in _of_pod(own, pod)),
            ]
        )

    def _settings(self, edit: Edit, pod: Pod) -> Iterator[str]:
        """An edit of workloads, as it is written for the pod alone."""
        if not isinstance(edit, Spread):
            return
        own = self.workload
        is_about_own = not edit.kind or (own is not None and (edit.kind, edit.name) == (own.kind, own.name))
        if is_about_own and edit.namespace in (None, pod.metadata.namespace):
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
