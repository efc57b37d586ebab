"""What goes on in a fork knows what happens there before anybody looks for a node."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.world.store.waiting import Applicant, LivingCluster
from tests.builders import node, pod

PLUGINS = framework(default_profile())


@pytest.mark.parametrize("goes", ["big", "small"])
def test_answers_that_go_on_know_who_left_before_the_first_who_looks_for_a_node(goes: str) -> None:
    objects = [node("a", cpu="4"), node("b", cpu="4"), pod("big", "a", cpu="3"), pod("small", "b", cpu="2")]
    snapshot = kubespread.Snapshot.from_objects([*objects, pod("next", "", cpu="2")])
    running = [each for each in snapshot.pods if each.spec.node_name]
    waiting = next(each for each in snapshot.pods if not each.spec.node_name)
    living = LivingCluster(Cluster.build(snapshot.nodes, running, snapshot.objects))
    Applicant(living, waiting, PLUGINS).placing().choose()
    other = living.fork()
    left = next(each for each in running if each.metadata.name == goes)
    other.change(removed_pods=[(left, other.nodes.index[left.spec.node_name])])
    anew = LivingCluster(
        Cluster.build(snapshot.nodes, [each for each in running if each is not left], snapshot.objects)
    )
    expected = Applicant(anew, waiting, PLUGINS).placing().choose()
    assert Applicant(other, waiting, PLUGINS).placing().choose() == expected
