"""Karpenter's own tests of topology spread: how many pods each domain has once it has made its nodes.

Source: kubernetes-sigs/karpenter, pkg/controllers/provisioning/scheduling/topology_test.go (0.37), the 50 cases up to
and without "Pod Affinity/Anti-Affinity", of which 45 are taken: 32 here, 13 in test_karpenter_spread_rounds.py.
Karpenter's tests bind the pods as Karpenter means them; here kube-scheduler places them once the nodes are there. Nodes
have one size here, that of the instance type Karpenter's fake cloud would choose. A NodePool that may choose between
capacity types, architectures or values of a key of its own is one group for each here, see karpenter_pools.py.

Not applicable, 5 cases: "should not spread an invalid label selector" is skipped by Karpenter itself since Kubernetes
1.24. The four under "NodeClaim Name" spread over karpenter.sh/nodeclaim, whose values are the names of nodes to come;
kubespread knows that of kubernetes.io/hostname alone, which is a limit of the model.
"""

from __future__ import annotations

import pytest

from tests.suites.karpenter_pools import counts, node, pool, provision, there, wanted
from tests.tables import FIXTURES, Builders, built, rows_of, table_of

CASES = {row["case"]: row for row in rows_of(table_of(FIXTURES / "provisioned" / "karpenter_spread.yaml"))}
BUILDERS: Builders = {"node": node, "wanted": wanted, "there": there}


@pytest.mark.parametrize("case", CASES)
def test_how_many_pods_each_domain_has(case: str) -> None:
    row = CASES[case]
    pools = [pool(*given.pop("requires", ()), **given) for given in map(dict, row["pools"])]
    world, _ = provision(pools, built(row["objects"], BUILDERS), built(row["pods"], BUILDERS))
    assert counts(world, row["key"]) == row["expect"]
