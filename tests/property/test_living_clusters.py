"""Whoever goes on in a living cluster, through changes of pods and nodes and in forks, sees what one who begins anew sees."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.world.store.waiting import Applicant, LivingCluster
from tests.builders import Data, hard, node, pod, soft, taint
from tests.candidate.objects import from_object
from tests.property.test_placing import everything
from tests.scheduler.random_clusters import Question, World, changes, profiles, questions, touches_nodes, visitors


def _affinity(kind: str, key: str) -> Data:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"foo": "bar"}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


SPREAD: list[Data] = [
    {"topologySpreadConstraints": [hard()]},
    {"topologySpreadConstraints": [hard(nodeTaintsPolicy="Honor"), soft("host")]},
    {"topologySpreadConstraints": [soft(), soft("kubernetes.io/hostname")]},
    {"topologySpreadConstraints": [hard(), hard("host", 2)], "nodeSelector": {"zone": "a"}},
    _affinity("podAffinity", "zone"),
    _affinity("podAntiAffinity", "zone"),
    _affinity("podAntiAffinity", "host"),
    {},
]


@st.composite
def spread_questions(draw: st.DrawFn) -> Question:
    """Few nodes whose pods all count, so that little that happens is without consequence."""
    nodes = [
        node(
            f"n{at}",
            zone=draw(st.sampled_from("aab")),
            host=f"n{at}",
            taints=draw(st.sampled_from([[], [], [taint("gpu")]])),
        )
        for at in range(4)
    ]
    spec, matched = draw(st.sampled_from(SPREAD)), {"foo": "bar"}
    pods = [pod(f"p{at}", draw(st.sampled_from(["n0", "n1", "n2", "n3"])), labels=matched) for at in range(3)]
    snapshot = kubespread.Snapshot.from_objects([*nodes, *pods])
    candidate = from_object(pod("candidate", labels=matched, **spec), Surroundings(snapshot)).pod
    return Question(list(snapshot.nodes), list(snapshot.pods), snapshot.objects, candidate)


class Going:
    """A living cluster, those who look for nodes in it, and plain lists of what is there."""

    def __init__(self, living: LivingCluster, world: World, plugins: Framework) -> None:
        self.living, self.world, self._plugins = living, world, plugins
        self._applicants: dict[int, Applicant] = {}

    def fork(self) -> Going:
        world = copy(self.world)
        world.pods, world.nodes = list(world.pods), list(world.nodes)
        return Going(self.living.fork(), world, self._plugins)

    def applicant(self, pod: Pod) -> Applicant:
        applicant = self._applicants.get(id(pod))
        if applicant is None:
            applicant = self._applicants[id(pod)] = Applicant(self.living, pod, self._plugins, binds=False)
        return applicant

    def change(self, change: ClusterChange) -> None:
        self.living.change(change.added_pods, change.removed_pods)
        if touches_nodes(change):
            of_nodes = ClusterChange(
                replaced_nodes=change.replaced_nodes, added_nodes=change.added_nodes, removed_nodes=change.removed_nodes
            )
            self.living.use(self.living.cluster.apply(of_nodes))

    def place(self, pod: Pod) -> None:
        try:
            choice = self.applicant(pod).placing().choose(first_in_heap)
        except SchedulingError:
            return
        if choice is not None:
            self.applicant(pod).take(choice)
            self.world.place(pod, choice.node)

    @property
    def is_complete(self) -> bool:
        """Whether the pods that are there are those that came and did not leave."""
        cluster = self.living.cluster
        names = (cluster.nodes.names[node] for node in cluster.running.node.tolist())
        there = Counter((id(each), name) for each, name in zip(cluster.running.pods, names, strict=True))
        return there == Counter((id(each), name) for each, name in self.world.pods)

    def seen(self, pod: Pod) -> Any:
        return seen(self.applicant(pod))

    def seen_anew(self, pod: Pod) -> Any:
        return seen(Applicant(LivingCluster(self.world.anew()), pod, self._plugins, binds=False))


def seen(applicant: Applicant) -> Any:
    try:
        placing = applicant.placing()
        return everything(placing.evaluation()), placing.choose(first_in_heap)
    except SchedulingError as error:
        return str(error)


@given(profiles(), st.one_of(questions(), spread_questions()), st.data())
@settings(max_examples=200, deadline=None)
def test_whoever_goes_on_sees_what_one_who_begins_anew_sees(
    plugins: Framework, question: Question, data: st.DataObject
) -> None:
    others = visitors(question)
    looking = [question.candidate, *others[:1]]
    parents = [Going(LivingCluster(question.cluster), World(question), plugins)]
    going = parents[0].fork()
    for step in range(data.draw(st.integers(2, 8))):
        match data.draw(st.sampled_from(["change", "change", "place", "fork", "back"])):
            case "change":
                going.change(data.draw(changes(going.world, others, step)))
            case "place":
                going.place(data.draw(st.sampled_from(looking)))
            case "fork":
                parents.append(going)
                going = going.fork()
            case "back":
                going = data.draw(st.sampled_from(parents)).fork()
        if data.draw(st.booleans()):
            assert [going.seen(pod) for pod in looking] == [going.seen_anew(pod) for pod in looking]
    for each in (going, *parents):
        assert each.is_complete
        assert [each.seen(pod) for pod in looking] == [each.seen_anew(pod) for pod in looking]
