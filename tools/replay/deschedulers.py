"""What the descheduler evicts to spread pods, beside ours.

Its choice among equal pods and equal domains is arbitrary, so each case was recorded many times: only what all of those
runs have in common must be the same here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import kubespread
from kubespread.errors import ManifestError, UsageError
from kubespread.manifest.text import FieldLines
from kubespread.questions.rebalance.descheduler import (
    ClusterView,
    Cycle,
    DeschedulerPolicy,
    Policy,
    choose,
    decode_policy,
)
from kubespread.scheduler.cluster.cluster import Cluster
from tools.replay.cases import Data, Difference, Recorded

_NO_DOMAIN = "<none>"


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    case, expect = recorded
    error = expect.get("error")
    try:
        policy = decode_policy(case["policy"], recorded.name, FieldLines(b""))
        answer = _answer(case, policy)
    except (ManifestError, UsageError) as refused:
        if not error:
            yield Difference(recorded.name, "error", None, str(refused))
        return
    if error:
        yield Difference(recorded.name, "error", error, None)
        return
    yield from _total(recorded, answer.evicted)
    yield from _per_domain(recorded, answer)
    yield from _victims(recorded, policy, answer.evicted)


class _Answer(NamedTuple):
    evicted: list[str]
    """By namespace and name."""
    keys: set[str]
    """The topology keys of the constraints that were enforced."""


def _answer(case: Data, policy: Policy) -> _Answer:
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *case.get("namespaces", ())])
    view = ClusterView(Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects), snapshot.pods)
    cycle, keys = Cycle(policy.written), set[str]()
    for plugin, evictor in policy.profiles:
        chosen, spreads = choose(view, policy, plugin, evictor)
        keys |= {spread.constraint.topology_key for spread in spreads}
        cycle.evict(view, chosen, evictor, lambda _: True)
    return _Answer(sorted(f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in cycle.evicted), keys)


def _total(recorded: Recorded, evicted: list[str]) -> Iterator[Difference]:
    """Where the choice changes the number ours may even be outside."""
    totals = recorded.expect["totals"]
    if len(totals) == 1 and totals != [len(evicted)]:
        yield Difference(recorded.name, "total", totals[0], len(evicted))
    if "testTotal" in recorded.expect and len(totals) == 1 and recorded.expect["testTotal"] != len(evicted):
        yield Difference(recorded.name, "testTotal", recorded.expect["testTotal"], len(evicted))


def _per_domain(recorded: Recorded, answer: _Answer) -> Iterator[Difference]:
    """Key by key. What is arbitrary in large domains shows in keys that nobody balances."""
    expect = recorded.expect
    for key in dict.fromkeys(key for outcome in expect["outcomes"] for key in outcome["domains"]):
        seen = [outcome["domains"].get(key, {}) for outcome in expect["outcomes"]]
        agree = all(each == seen[0] for each in seen)
        by_key, is_whole = agree and key in answer.keys, agree or "outcomesCut" not in expect
        ours = _domains(recorded.case, key, answer.evicted)
        if (by_key or (expect["small"] and is_whole)) and ours not in seen:
            yield Difference(recorded.name, f"domains.{key}", seen, ours)


def _domains(case: Data, key: str, evicted: list[str]) -> Data:
    labels = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in case["nodes"]}
    node_of = {_name(pod): pod["spec"]["nodeName"] for pod in case["pods"]}
    return dict(Counter(labels[node_of[name]].get(key, _NO_DOMAIN) for name in evicted))


def _victims(recorded: Recorded, policy: Policy, evicted: list[str]) -> Iterator[Difference]:
    expect, ours = recorded.expect, set(evicted)
    if not expect["sometimes"]:
        if sorted(expect["always"]) != evicted:
            yield Difference(recorded.name, "always", sorted(expect["always"]), evicted)
        return
    all_listed = expect["inOrderCount"] == len(expect["inOrder"])
    is_limited = _limits(policy.written) != (None, None, None) and expect["inOrderCount"] > 1
    if expect["small"] and all_listed and not is_limited and ours not in [set(each) for each in expect["inOrder"]]:
        yield Difference(recorded.name, "inOrder", expect["inOrder"], evicted)


def _limits(policy: DeschedulerPolicy) -> tuple[int | None, ...]:
    return (
        policy.max_no_of_pods_to_evict_per_node,
        policy.max_no_of_pods_to_evict_per_namespace,
        policy.max_no_of_pods_to_evict_total,
    )


def _name(pod: Data) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
