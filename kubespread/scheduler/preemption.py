"""Preemption as a prediction: the result of a profile's PostFilter plugins once no node is left for a pod.

Source: pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects, PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import Plugin, SchedulingError


class PreemptionCandidate(Struct, frozen=True):
    """A node that would take the pod once its victims are gone, the most important of them first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int
    broken: tuple[tuple[str, ...], ...]
    """Of each victim the names of the disruption budgets that its eviction breaks."""


class Preemption(Struct, frozen=True):
    """The nominated candidate, if there is one, and the text kube-scheduler appends to its message."""

    candidate: PreemptionCandidate | None
    tail: str = ""


def has_lower(cluster: Cluster, pod: Pod) -> bool:
    """Whether any running pod has a lower priority than ``pod`` and could be preempted."""
    priority = priority_of(pod)
    if cluster.kinds.lowest_priority >= priority:
        return False
    return any(cluster.kinds[number].priority < priority for number in cluster.running.nodes_of_kind)


def budget_gaps(objects: ClusterObjects) -> Iterator[str]:
    """Gaps for evictions and preemption where budgets were not listed."""
    return objects.gap(PodDisruptionBudget, "evictions and preemption are predicted as if there were no budgets")


Budgets = Sequence[PodDisruptionBudget]


class PostFilterPlugin(Plugin):
    """A plugin that is asked once no node is left."""

    @abstractmethod
    def post_filter(self, evaluation: Evaluation, budgets: Budgets) -> PreemptionCandidate | str:
        """The node that it makes room on, else what it adds to the message. Raises SchedulingError where it fails."""


class PostFilters(Struct, frozen=True):
    """The PostFilter plugins of a profile in order, and how its release words their results."""

    plugins: Sequence[PostFilterPlugin] = ()
    ends_twice: bool = False
    """From 1.26 to 1.28 the text ends with two dots."""
    names_placement: bool = True
    """Since 1.37 the text also tells of a node that was found."""


def preempt(evaluation: Evaluation, post_filters: PostFilters, *, budgets: Budgets | None = None) -> Preemption:
    """What preemption would do for a pod that fits nowhere, ``budgets`` being those of the cluster unless given."""
    if budgets is None:
        budgets = evaluation.cluster.objects.of(PodDisruptionBudget)
    answer = _first_help(evaluation, post_filters.plugins, budgets)
    if answer.candidate is not None:
        return replace(answer, tail=_placement(answer.candidate)) if post_filters.names_placement else answer
    return replace(answer, tail=f"{answer.tail}.") if post_filters.ends_twice and answer.tail else answer


def _first_help(evaluation: Evaluation, plugins: Sequence[PostFilterPlugin], budgets: Budgets) -> Preemption:
    """Plugins are asked until one helps or fails; what the others said is joined."""
    texts: list[str] = []
    for plugin in plugins:
        try:
            answer = plugin.post_filter(evaluation, budgets)
        except SchedulingError as error:
            return Preemption(None, str(error))
        if isinstance(answer, PreemptionCandidate):
            return Preemption(answer)
        texts.append(answer)
    return Preemption(None, ", ".join(filter(None, texts)))


def _placement(candidate: PreemptionCandidate) -> str:
    """Always in the plural, for one victim too."""
    victims = f"preempting {len(candidate.victims)} victims"
    return f"preemption: found a potential placement for pod on node {candidate.node}, {victims}"
