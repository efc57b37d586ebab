"""Manifests that were once judged wrongly, each a folder named after the rule and what is in it: what is found now."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubespread

CASES = Path(__file__).parents[2] / "fixtures" / "cases" / "judgment" / "rules"

SELECT_APP = "select the pods' own labels: labelSelector: {matchLabels: {app: web}}"
BY_REVISION = "matchLabelKeys: [pod-template-hash] on this constraint"
BY_REVISION_EACH = "matchLabelKeys: [pod-template-hash] on each constraint"
LABEL_OR_CHECK = "make sure that every node has this label, or check with a cluster"
WAITING = "minDomains: 3, so that replicas wait for the others"
SOFT, HARD = "nodes without it score 0", "no replica fits on nodes without it"


def uneven(placed: str, skew: int = 2, key: str = "zone") -> str:
    replicas = sum(int(each.split()[1]) for each in placed.split(" · "))
    return (
        f"KS401 warning: {key} counts the old pods in a rollout: after a restart {replicas} replicas are placed {placed}, "
        f"skew {skew} > 1"
    )


def unknown(key: str, happens: str) -> str:
    return f"KS105 info: {key} is not a label that nodes commonly have: {happens} → {LABEL_OR_CHECK}"


def mistyped(key: str, meant: str, happens: str) -> str:
    return f"KS105 warning: {key} is not a label that nodes commonly have: {happens} → topologyKey: {meant}"


def refusing(replicas: int, terms: str, instead: str = "") -> str:
    return (
        f"KS302 warning: no node with one of its {replicas} replicas can be drained: PodDisruptionBudget web ({terms}) "
        f"allows no eviction → maxUnavailable: 1{instead} in PodDisruptionBudget web"
    )


def empty(placed: str) -> str:
    return f"zone c of NodePool np is not a domain while it has no node: {placed}"


def tolerating(taint: str) -> str:
    return f"NodePool np's taint {taint} keeps this pod off: tolerate it before raising minDomains"


TWO_ONE_NONE = f"{uneven('a 2 · b 1 · c 0')} → {BY_REVISION}"

# What these rules find in each folder, all else left out: KS101, KS105, KS204, KS208, KS302, KS401.
EXPECTED: dict[str, list[str]] = {
    "101-missing-label": [
        "KS101 error: the selector app=web,tier=x misses the pod's own labels (no label tier): none of its 3 replicas "
        f"counts; left to themselves they land a 2 · b 1 · c 0 → {SELECT_APP}; {BY_REVISION}"
    ],
    "101-ok-expr": [],
    # Its own pods it spreads with the first constraint.
    "101-other-on-purpose": [TWO_ONE_NONE],
    "101-single-replica": [
        "KS101 warning: the selector app=x misses the pod's own labels (app is web): the pod itself does not count "
        f"→ {SELECT_APP}"
    ],
    "105-example.com_rack": [unknown("example.com/rack", SOFT)],
    "105-failure-domain.beta.kubernetes.io_zone": [
        "KS105 warning: failure-domain.beta.kubernetes.io/zone was replaced by topology.kubernetes.io/zone in 1.17: no "
        "replica fits on nodes without it → topologyKey: topology.kubernetes.io/zone"
    ],
    "105-kubernetes.io_hostnames": [mistyped("kubernetes.io/hostnames", "kubernetes.io/hostname", HARD)],
    "105-kubernetes.io_os": [],
    "105-node-pool": [unknown("node-pool", SOFT)],
    "105-rack": [unknown("rack", SOFT)],
    "105-region": [mistyped("region", "topology.kubernetes.io/region", SOFT)],
    "105-topology.ebs.csi.aws.com_zone": [],
    "105-topology.kubernetes.io_host": [mistyped("topology.kubernetes.io/host", "kubernetes.io/hostname", SOFT)],
    "105-topology.kubernetes.io_rack": [unknown("topology.kubernetes.io/rack", HARD)],
    "105-topology.kubernetes.io_row": [unknown("topology.kubernetes.io/row", SOFT)],
    "105-topology.kubernetes.io_subnet": [unknown("topology.kubernetes.io/subnet", SOFT)],
    "105-topology.kubernetes.io_zone-group": [unknown("topology.kubernetes.io/zone-group", SOFT)],
    "105-topology.rook.io_rack": [unknown("topology.rook.io/rack", SOFT)],
    "105-zone": [mistyped("zone", "topology.kubernetes.io/zone", HARD)],
    "105r": [unknown("topology.kubernetes.io/rack", HARD)],
    "201-soft": [],
    "205-1zone": [],
    "205-soft": [],
    "206": [f"{uneven('a 3 · b 1 · c 0')} → {BY_REVISION}"],
    "207": [f"{uneven('a1 2 · a2 0 · b1 2 · b2 0 · c1 2', key='hostname')} → {BY_REVISION_EACH}"],
    "301-soft": [],
    "208": [f"KS208 warning: {empty('3 of 3 replicas fit: a 2 · b 1')} → {WAITING}"],
    "208-limit0": [],
    "208-mind": [],
    "208-sel": [],
    "208-taint": [f"KS208 info: {empty('6 of 6 replicas fit: a 3 · b 3')} → {tolerating('gpu=true')}"],
    "208-taintedpool": [f"KS208 info: {empty('3 of 3 replicas fit: a 2 · b 1')} → {tolerating('gpu')}"],
    "302-100pct": [refusing(4, "minAvailable: 100%", " in place of minAvailable: 100%")],
    "302-1replica": [
        "KS302 warning: the node of its only replica cannot be drained: PodDisruptionBudget web (minAvailable: 1) "
        "allows no eviction → maxUnavailable: 1 in place of minAvailable: 1 in PodDisruptionBudget web"
    ],
    "302-honor": [f"{uneven('a 3 · b 3 · c 0', 3)} → {BY_REVISION}"],
    "302-minall": [refusing(3, "minAvailable: 3", " in place of minAvailable: 3"), TWO_ONE_NONE],
    "302-minavail-beyond": [refusing(2, "minAvailable: 3", " in place of minAvailable: 3")],
    "302-sm": [
        "KS302 warning: a drain of a1 hangs with 1 of 2 replicas there: PodDisruptionBudget web allows 1, whose "
        "replacement fits nowhere: 0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod "
        "topology spread constraints. → nodeTaintsPolicy: Honor, so that a cordoned node is not a domain",
        f"{uneven('a 3 · b 3 · c 0', 3)} → {BY_REVISION}",
    ],
    "302-zero": [refusing(3, "maxUnavailable: 0")],
    "401-maxsurge0": [],
    "401-soft": [],
    "401v": [TWO_ONE_NONE],
    "503": [],
    "503-cap": [],
    "rollout-crd": [
        "KS101 error: the selector app=x misses the pod's own labels (app is web): none of its 3 replicas counts; left "
        f"to themselves they land a 2 · b 1 · c 0 → {SELECT_APP}"
    ],
}


def found(folder: str, release: str | None = None) -> list[str]:
    cluster = CASES / folder / "c.json"
    snapshot = kubespread.load(cluster) if cluster.exists() else None
    scheduler = kubespread.Scheduler(kube_version=release)
    report = kubespread.check(
        snapshot,
        str(CASES / folder / "m.json"),
        scheduler,
        select=["KS101", "KS105", "KS204", "KS208", "KS302", "KS401"],
    )
    return [f"{each.code} {each.severity}: {each.message} → {each.remedy.text}" for each in report.findings]


@pytest.mark.parametrize("folder", EXPECTED)
def test_what_is_found_is_so_and_nothing_else(folder: str) -> None:
    assert found(folder) == EXPECTED[folder]


@pytest.mark.parametrize("release", ["1.24", "1.26"])
def test_a_release_without_match_label_keys_is_offered_what_it_has(release: str) -> None:
    assert found("401v", release) == [f"{uneven('a 2 · b 1 · c 0')} → maxSurge: 0 and maxUnavailable: 1"]


def test_a_release_without_node_taints_policy_is_offered_what_it_has() -> None:
    drain = found("302-sm", "1.24")[0]
    assert drain.endswith("→ maxSkew: 2")
