"""Which of several groups cluster-autoscaler lets grow."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.node_groups import Autoscaler, Expander, NodeGroup
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.questions.autoscaling.cluster_autoscaler import ScaleUp, best
from kubespread.questions.autoscaling.growing import Machine, ZoneGroup
from tests.questions.autoscaling.clusters import group, machine, typed, waiting, world

SMALL = machine("a1", "a", cpu="100m")
WASTE, PODS, PRIORITY, PRICE, RANDOM = Expander


def grows(name: str, cpu: str, *, reserved: int = 0, **more: Any) -> NodeGroup:
    """A group of nodes that are called after it in their label ``kind``, which keep some cpu for themselves."""
    template = machine(name, "a", cpu=cpu)
    template["metadata"]["labels"]["kind"] = name
    template["status"]["capacity"] = {**template["status"]["allocatable"], "cpu": str(int(cpu) + reserved)}
    return group(name, template=template, **more)


class Case(NamedTuple):
    groups: list[NodeGroup]
    expanders: tuple[Expander, ...]
    grown: list[str]
    """The groups that grow, loop by loop."""
    notes: tuple[str, ...] = ()


TIED = "in loop 1 the expander ranks b like a: cluster-autoscaler takes one at random, here it is the first by name"
CASES = {
    "least-waste: the share of cpu and memory that stays free": Case(
        [grows("large", "16"), grows("snug", "4")], (WASTE,), ["snug"]
    ),
    "of the whole machine, with what it keeps for itself": Case(
        [grows("a", "4", reserved=12), grows("b", "8")], (WASTE,), ["b"]
    ),
    "most-pods: the group that takes the most of those that wait": Case(
        [grows("large", "16", maximum=1), grows("snug", "2", maximum=1)], (PODS,), ["large"]
    ),
    "priority: the highest number": Case(
        [grows("a", "4", priority=1), grows("b", "4", priority=20)], (PRIORITY,), ["b"]
    ),
    "a group without one is not chosen beside one that has it": Case(
        [grows("a", "4"), grows("b", "4", priority=0)],
        (PRIORITY,),
        ["b"],
        ("the expander priority takes what has no priority only where nothing has: a",),
    ),
    "price: what a pod that finds room costs": Case(
        [grows("large", "16", price=Decimal("0.5")), grows("snug", "4", price=Decimal("0.2"))], (PRICE,), ["snug"]
    ),
    "many small nodes may cost more than a large one": Case(
        [grows("large", "16", price=Decimal("0.5")), grows("snug", "1", price=Decimal("0.2"))], (PRICE,), ["large"]
    ),
    "a group without a price is not chosen": Case(
        [grows("a", "4"), grows("b", "4", price=Decimal(9))],
        (PRICE,),
        ["b"],
        ("the expander price passes over what has no price: a",),
    ),
    "so that none grows where none has one": Case(
        [grows("a", "4"), grows("b", "4")], (PRICE,), [], ("the expander price passes over what has no price: a, b",)
    ),
    "random: the first by name stands for all": Case([grows("b", "4"), grows("a", "9")], (RANDOM,), ["a"], (TIED,)),
    "what one leaves equal the next one decides": Case(
        [grows("a", "16", priority=1), grows("b", "4", priority=1), grows("c", "4", priority=0)],
        (PRIORITY, WASTE),
        ["b"],
    ),
    "and what all leave equal is chance": Case([grows("b", "4"), grows("a", "4")], (PODS, WASTE), ["a"], (TIED,)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_which_group_grows(case: Case) -> None:
    report = autoscale(
        world([SMALL, *waiting(4)]), groups=case.groups, kind=Autoscaler.CLUSTER_AUTOSCALER, expanders=case.expanders
    )
    assert [each.group for loop in report.loops for each in loop.added][:1] == case.grown
    assert report.notes == case.notes
    assert report.expanders == tuple(map(str, case.expanders))


def option(name: str, nodes: int, pods: int, waste: int, priority: int | None, price: int | None) -> ScaleUp:
    template = typed(machine(name))
    own = Machine(template, price=None if price is None else Decimal(price))
    zone_group = ZoneGroup(
        group=NodeGroup(name, priority=priority),
        zone=None,
        name=name,
        template=template,
        made_of="template",
        before=0,
        machines=(own,),
    )
    return ScaleUp(zone_group, nodes, pods, pods, waste / 4, None)


maybe = st.one_of(st.none(), st.integers(0, 3))
drawn = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 4), maybe, maybe), min_size=1, max_size=5
).map(lambda rows: [option(f"g{place}", *row) for place, row in enumerate(rows)])


@settings(max_examples=80, deadline=None)
@given(drawn, st.lists(st.sampled_from(list(Expander)), min_size=1, max_size=3, unique=True))
def test_no_other_option_is_better_and_none_as_good_is_left_out(
    options: list[ScaleUp], expanders: list[Expander]
) -> None:
    """By brute force: each expander keeps those that no other of those before it beats."""

    def beats(one: ScaleUp, other: ScaleUp, expander: Expander) -> bool:
        mine, theirs = one.group.group.priority, other.group.group.priority
        cost, others_cost = one.group.machines[0].price, other.group.machines[0].price
        match expander:
            case Expander.LEAST_WASTE:
                return one.waste < other.waste
            case Expander.MOST_PODS:
                return one.pods > other.pods
            case Expander.PRIORITY:
                return mine is not None and (theirs is None or mine > theirs)
            case Expander.PRICE:
                if others_cost is None:
                    return True
                return cost is not None and cost * one.nodes * other.pods < others_cost * other.nodes * one.pods
            case Expander.RANDOM:
                return False

    left = options
    for expander in expanders:
        if len(left) > 1 or expander is PRICE:
            left = [each for each in left if not any(beats(other, each, expander) for other in left)]
    assert best(options, expanders) == left
