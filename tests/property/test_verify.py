"""Each verdict on a promise, counted again by hand on small clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kubespread
from kubespread import Snapshot
from kubespread.controllers.outage import is_silent
from kubespread.kube.api.workloads import Deployment, StatefulSet
from kubespread.questions.verify import VerifyReport
from tests.builders import Data, hosts, pod, taint
from tests.property.workloads_on_nodes import ZONE, after, clusters, newly_waiting, ready, snapshot_of
from tests.world.clusters import budget, deployment

HEAD = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Promises"}


def verified(snapshot: Snapshot, *promises: Data) -> VerifyReport:
    return kubespread.verify(snapshot, {**HEAD, "promises": [{"namespace": "default", **each} for each in promises]})


@settings(max_examples=4, deadline=None)
@given(objects=clusters(), least=st.integers(0, 3))
def test_losses_are_decided_as_by_hand(objects: list[Data], least: int) -> None:
    snapshot = snapshot_of(objects)
    report = verified(
        snapshot, {"survives": "any zone"}, {"survives": "any zone", "ready": least, "back": "nodes deleted"}
    )
    before = after(snapshot)
    zones: dict[str, list[str]] = {}
    silent = {node.metadata.name for node in before.nodes if is_silent(node)}
    for node in before.nodes:
        zones.setdefault(node.metadata.labels[ZONE], []).append(node.metadata.name)
    moments = [_moments(snapshot, before, zone, names) for zone, names in zones.items() if not silent.issuperset(names)]
    were = ready(before)
    for row in report.clauses:
        name = str(row.workload)
        needed = min(_desired(snapshot, name), were[name])
        if not moments:
            assert row.state == "unknown"
            continue
        fewest = min(least_ready(name) for least_ready, _ in moments)
        lacking = [is_lacking(name, needed) for _, is_lacking in moments]
        match row.clause:
            case "ready":
                is_kept = fewest >= least
                assert row.margin == fewest - least
                said, is_at_first, _ = row.says.partition(" at first")
                survived = kubespread.survive(snapshot, ("zone",), workloads=[name]).answer
                assert not is_at_first or any(sentence.startswith(f"{said} at first") for sentence in survived)
            case "back":
                is_kept = not any(removed for _, removed in lacking)
            case _:
                is_kept = not any(map(any, lacking))
        assert row.state == ("held" if is_kept else "broken"), row


Fewest = Callable[[str], int]
Lacking = Callable[[str, int], tuple[bool, bool]]


def _moments(snapshot: Snapshot, before: Snapshot, zone: str, names: list[str]) -> tuple[Fewest, Lacking]:
    """How few pods of a workload are ready at any moment, and whether it lacks some in each end state."""
    at_first = ready(replace(before, pods=tuple(pod for pod in before.pods if pod.spec.node_name not in names)))
    lost = f"{ZONE}={zone}"
    ends = after(snapshot, f"fail {lost}"), after(snapshot, f"fail {lost}", f"delete-node {lost}")
    counts, waits = [ready(end) for end in ends], [newly_waiting(before, end) for end in ends]

    def lacks(name: str, needed: int) -> tuple[bool, bool]:
        silent, removed = (count[name] < needed or wait[name] > 0 for count, wait in zip(counts, waits, strict=True))
        return silent, removed

    return lambda name: min(at_first[name], *(count[name] for count in counts)), lacks


def _desired(snapshot: Snapshot, name: str) -> int:
    _, kind, own = name.split("/")
    cls = Deployment if kind == "Deployment" else StatefulSet
    return next(each.spec.replicas or 0 for each in snapshot.objects.get(cls) if each.metadata.name == own)


@settings(max_examples=8, deadline=None)
@given(
    places=st.lists(st.sampled_from(["n0", "n1", "n2", "n3"]), min_size=1, max_size=6),
    cpu=st.integers(1, 4),
    tainted=st.sets(st.sampled_from([1, 2, 3])),
    healthy=st.integers(0, 6),
    wanted=st.integers(0, 14),
    most=st.integers(0, 3),
    share=st.integers(0, 100),
)
def test_one_workload_is_decided_as_by_hand(
    places: list[str], cpu: int, tainted: set[int], healthy: int, wanted: int, most: int, share: int
) -> None:
    """On nodes of 24 CPUs, more than all of its pods ask for together, so that nothing but budgets blocks anything."""
    nodes = hosts("a", "b", "c", "c")
    for each in nodes:
        each["status"]["allocatable"] |= {"cpu": "24", "pods": "4"}
    for number in tainted:
        nodes[number]["spec"]["taints"] = [taint("team", value="other")]
    replicas = len(places)
    objects = [*nodes, *deployment("web", tuple(places), cpu=str(cpu)), budget("web", minAvailable=healthy)]
    report = verified(
        snapshot_of(objects), {"spread": {"zone": most}, "fits": wanted, "drain": "never blocked", "ready": f"{share}%"}
    )
    found = {row.clause: row for row in report.clauses}
    zones = Counter({"a": 0, "b": 0, "c": 0}) | Counter("abcc"[int(name[1])] for name in places)
    counts = [zones[zone] for zone in "abc"]
    skew = max(counts) - min(counts)
    assert (found["spread"].state, found["spread"].margin) == (_kept(skew <= most), most - skew)
    on = Counter(places)
    room = sum(max(0, 4 - on[f"n{number}"]) for number in range(4) if number not in tainted)
    if wanted >= replicas:
        assert (found["fits"].state, found["fits"].margin) == (
            _kept(wanted <= replicas + room),
            replicas + room - wanted,
        )
    needed = ceil(replicas * share / 100)
    assert (found["ready"].state, found["ready"].margin) == ("held", replicas - needed)
    assert found["drain"].state == _kept(not any(_is_blocked(on, node, healthy, tainted) for node in on))


def _kept(is_kept: bool) -> str:
    return "held" if is_kept else "broken"


def _is_blocked(on: Counter[str], drained: str, healthy: int, tainted: set[int]) -> bool:
    """Whether a pod stays, or has no node afterwards: each may go while enough others are ready, and is made again where
    there is room.
    """
    room = sum(max(0, 4 - on[f"n{n}"]) for n in range(4) if n not in tainted and f"n{n}" != drained)
    return sum(on.values()) - 1 < healthy or room < on[drained]


@settings(max_examples=10, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), max_size=5),
    cordoned=st.sets(st.integers(0, 2)),
    share=st.integers(0, 100),
    amount=st.integers(0, 30),
)
def test_room_is_what_is_free_on_open_nodes(
    requests: list[tuple[int, int]], cordoned: set[int], share: int, amount: int
) -> None:
    nodes = hosts("a", "b", "c")
    for number in cordoned:
        nodes[number]["spec"]["unschedulable"] = True
    pods = [pod(f"p{place}", f"n{node}", requests={"cpu": str(cpu)}) for place, (node, cpu) in enumerate(requests)]
    free = [8, 8, 8]
    for node, cpu in requests:
        free[node] -= cpu
    usable = sum(max(0, left) for node, left in enumerate(free) if node not in cordoned)
    promises = [{"cluster": True, "room": {"cpu": promised}} for promised in (f"{share}%", amount)]
    report = kubespread.verify(snapshot_of([*nodes, *pods]), {**HEAD, "promises": promises})
    of_whole, in_all = report.clauses
    assert of_whole.state == _kept(100 * usable >= share * 24)
    assert (in_all.state, in_all.margin) == (_kept(usable >= amount), usable - amount)
