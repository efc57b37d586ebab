"""The numbers in findings, worked out another way: by ``simulate``, which places the same replicas."""

from __future__ import annotations

from pathlib import Path

import kubespread
from kubespread import Finding, Snapshot

FIXTURES = Path(__file__).parents[2] / "fixtures" / "lint"


def cluster_of(code: str) -> Snapshot:
    own = FIXTURES / code / "cluster.yaml"
    return kubespread.load(own if own.exists() else FIXTURES / "cluster.yaml")


def finding_of(code: str, manifest: str = "bad") -> Finding:
    """The only finding of the rule in its failing fixture, on its cluster."""
    report = kubespread.check(cluster_of(code), [str(FIXTURES / code / f"{manifest}.yaml")], select=[code])
    (finding,) = report.findings
    return finding


def simulated(code: str, *settings: str, key: str = "topology.kubernetes.io/zone", manifest: str = "bad") -> str:
    """``6 of 6 replicas fit: a 3 · b 3 · c 0`` as simulate has it once the settings are made."""
    snapshot = cluster_of(code)
    report = kubespread.simulate(snapshot, str(FIXTURES / code / f"{manifest}.yaml"), set=settings)
    domain_of = {node.metadata.name: node.metadata.labels.get(key, "") for node in snapshot.nodes}
    counts = dict.fromkeys(sorted(set(filter(None, domain_of.values()))), 0)
    for placement in report.placements:
        counts[domain_of[placement.node]] += 1
    listed = " · ".join(f"{domain} {count}" for domain, count in counts.items())
    return f"{report.placed} of {report.replicas} replicas fit: {listed}"


def test_ghost_pods_land_where_simulate_puts_them() -> None:
    finding = finding_of("KS101")
    assert finding.message.endswith(f"left to themselves they land {simulated('KS101').partition(': ')[2]}")
    assert finding.remedy.outcome == "6 of 6 replicas fit: a 2 · b 2 · c 2"
    assert finding.remedy.outcome == simulated("KS101", manifest="good")


def test_pods_of_no_selector_land_where_simulate_puts_them() -> None:
    finding = finding_of("KS102")
    assert finding.message.endswith(f"left to themselves they land {simulated('KS102').partition(': ')[2]}")
    assert finding.remedy.outcome == simulated("KS102", manifest="good")


def test_a_closed_domain_holds_down_as_many_as_simulate_says() -> None:
    finding = finding_of("KS203")
    assert finding.message.endswith(simulated("KS203").partition(":")[0])
    assert finding.message.startswith("zone c counts as a domain with 0 matching pods, though all 2 nodes are tainted")
    assert finding.remedy.outcome == simulated("KS203", *finding.remedy.settings)
    assert finding.severity == "error"
