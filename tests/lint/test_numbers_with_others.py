"""The numbers of findings about a workload and other objects, worked out another way."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import kubespread
from tests.builders import hosts
from tests.lint.test_numbers import FIXTURES, cluster_of, finding_of, simulate, simulated

Manifest = dict[str, Any]


def workload(code: str, name: str = "bad") -> Manifest:
    """The first object of a fixture."""
    return next(iter(yaml.safe_load_all((FIXTURES / code / f"{name}.yaml").read_text())))


def test_volumes_hold_down_as_many_as_simulate_says() -> None:
    finding, web = finding_of("KS301"), workload("KS301")
    del web["spec"]["template"]["spec"]["volumes"]
    free = kubespread.simulate(cluster_of("KS301"), web)
    held, zones = simulated("KS301").split(": ")
    assert finding.text == (
        f"its volumes hold the replicas to zone a: {held}, {zones}; "
        f"without them {free.placed} of 3 replicas fit, a 1 · b 1 · c 1"
    )
    assert [(change.value, change.after) for change in free.distribution[0]] == [("a", 1), ("b", 1), ("c", 1)]


def test_claims_hold_replicas_where_simulate_puts_them() -> None:
    finding, db = finding_of("KS301", "claims"), workload("KS301", "claims")
    held = simulate("KS301", manifest="claims")
    del db["spec"]["volumeClaimTemplates"]
    free = kubespread.simulate(cluster_of("KS301"), db)
    held_zones, free_zones = (
        " · ".join(f"{change.value} {change.after}" for change in report.distribution[0]) for report in (held, free)
    )
    assert finding.level == "warning"
    assert finding.text == (
        f"its volumes hold each replica where its claims are: {held.placed} of 3 replicas fit, {held_zones}; "
        f"without them {free.placed} of 3 replicas fit, {free_zones}"
    )
    assert (held_zones, free_zones) == ("a 3 · b 0 · c 0", "a 1 · b 1 · c 1")


def test_a_drain_hangs_where_play_leaves_it() -> None:
    finding = finding_of("KS302")
    bad, good = (drained(f"{name}.yaml") for name in ("bad", "good"))
    assert finding.text.startswith(f"a drain of a1 hangs with {bad[0]} of 2 replicas there: ")
    assert finding.text.endswith(f"allows 1, whose replacement fits nowhere: {bad[1]}")
    assert finding.remedy.outcome == "the drain of a1 completes"
    assert good == (0, None)


def drained(manifest: str) -> tuple[int, str | None]:
    """How many pods are left on a1 after a drain, and why the first one waits that has no node."""
    steps = [{"apply": str(FIXTURES / "KS302" / manifest)}, {"drain": "a1"}]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    after = kubespread.after_steps(cluster_of("KS302"), scenario)
    waiting = kubespread.plan(cluster_of("KS302"), scenario).steps[-1].get("pending")
    left = sum(pod.spec.node_name == "a1" for pod in after.pods)
    return left, waiting[0].why if waiting else None


def protected(**workload: Any) -> tuple[list[str], list[str]]:
    """What KS302 says and proposes of the good fixture with ``workload`` in its spec and under these budgets."""
    budgets, beside = workload.pop("budgets"), workload.pop("beside", [])
    web, selector = workload_of("KS302", workload), {"matchLabels": {"app": "web"}}
    made = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"budget-{position}"},
            "spec": {"selector": selector, **spec},
        }
        for position, spec in enumerate(budgets)
    ]
    found = kubespread.check(cluster_of("KS302"), [web, *made, *beside], select=["KS302"]).findings
    return [each.text for each in found], [each.remedy.text for each in found]


def workload_of(code: str, spec: dict[str, Any]) -> Manifest:
    web = workload(code, "good")
    return {**web, "spec": {**web["spec"], **spec}}


def test_pods_of_two_budgets_are_never_evicted() -> None:
    assert protected(budgets=[{"maxUnavailable": 1}, {"minAvailable": 1}]) == (
        [
            "no node with one of its 6 replicas can be drained: PodDisruptionBudgets budget-0, budget-1 all select its "
            "pods, and the API server evicts no pod that has more than one"
        ],
        ["let only one PodDisruptionBudget select them, budget-0 for example"],
    )


@pytest.mark.parametrize(
    ("budget", "replicas", "lets_none_go"),
    [
        ({"maxUnavailable": 0}, 6, True),
        ({"maxUnavailable": "0%"}, 6, True),
        ({"maxUnavailable": "1%"}, 6, False),
        ({"minAvailable": "100%"}, 6, True),
        ({"minAvailable": "84%"}, 6, True),
        ({"minAvailable": "83%"}, 6, False),
        ({"minAvailable": 6}, 6, True),
        ({"minAvailable": 5}, 6, False),
        ({"minAvailable": 1}, 1, True),
        ({"minAvailable": 0}, 1, False),
    ],
)
def test_a_budget_lets_none_go_where_every_replica_has_to_be_healthy(
    budget: dict[str, Any], replicas: int, *, lets_none_go: bool
) -> None:
    messages, _ = protected(budgets=[budget], replicas=replicas)
    assert [message.endswith("allows no eviction") for message in messages] == [True] * lets_none_go


@pytest.mark.parametrize(("least", "found"), [(2, 1), (3, 0)])
def test_an_autoscaled_workload_has_as_many_replicas_as_its_autoscaler_leaves(least: int, found: int) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": 9},
    }
    messages, _ = protected(budgets=[{"minAvailable": 2}], replicas=1, beside=[autoscaler])
    assert len(messages) == found


@pytest.mark.parametrize("manifest", ["bad", "keda"])
def test_an_autoscaler_asks_for_more_than_simulate_places(manifest: str) -> None:
    finding = finding_of("KS304", manifest)
    report = simulate("KS304", "replicas=60", manifest=manifest)
    assert finding.text.endswith(f"60 replicas: {report.placed} of 60 replicas fit: {report.stopped}")


def test_a_quota_lets_as_many_be_created_as_simulate_creates() -> None:
    report = simulate("KS305")
    assert report.created == 4
    assert finding_of("KS305").text.startswith("the namespace's quotas allow 4 of 12 replicas: ")


def test_a_limit_range_gives_requests_that_simulate_places_nowhere() -> None:
    finding, web = finding_of("KS305", "limits"), workload("KS305", "limits")
    report = simulate("KS305", manifest="limits")
    assert finding.text.endswith(f"{report.placed} of 6 replicas fit: {report.stopped}")
    free = kubespread.simulate(cluster_of("KS305"), web)
    assert finding.remedy.outcome == f"with what the template asks for {free.placed} of 6 replicas fit"


def test_replicas_beside_an_empty_zone_land_as_simulated() -> None:
    finding = finding_of("KS208")
    assert finding.text.endswith(f": {simulated('KS208')}")
    (setting,) = finding.remedy.settings
    waiting = simulated("KS208", setting)
    with_a_node = kubespread.Snapshot.from_objects([*yaml_of("KS208/cluster.yaml")["items"], *hosts(None, None, "c")])
    spread = kubespread.simulate(with_a_node, workload("KS208"), set=[setting])
    zones = " · ".join(f"{change.value} {change.after}" for change in spread.distribution[0])
    assert waiting == "2 of 6 replicas fit: a 1 · b 1"
    assert finding.remedy.outcome == f"{waiting}; with a node in c {spread.placed} of 6 replicas fit: {zones}"


def yaml_of(path: str) -> Any:
    return yaml.safe_load((FIXTURES / path).read_text())


def test_replicas_that_wait_for_a_zone_that_can_be_made_are_meant_to() -> None:
    web = workload("KS208")
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["minDomains"] = 3
    (meant,) = kubespread.check(cluster_of("KS208"), web).findings
    assert (meant.code, meant.level) == ("KS209", "info")
    assert meant.text == "4 of 6 replicas find no node until NodePool general adds one, because of minDomains"
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["minDomains"] = 4
    findings = kubespread.check(cluster_of("KS208"), web).findings
    assert [(finding.code, finding.level) for finding in findings] == [("KS204", "error")]


ZONE = "topology.kubernetes.io/zone"
GPU = {"key": "gpu", "effect": "NoSchedule"}
ARMS = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]}


def pool(*requirements: Any, **spec: Any) -> Manifest:
    zones = {"key": ZONE, "operator": "In", "values": ["a", "b", "c"]}
    template = {"spec": {"requirements": [zones, *requirements], **spec.pop("nodes", {})}}
    made = {"template": template, **spec}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "np"}, "spec": made}


WAITING, TOLERATING = "minDomains: 3, so that replicas wait for the others", "tolerate it before raising minDomains"


@pytest.mark.parametrize(
    ("group", "spec", "remedies"),
    [
        (pool(), {}, [WAITING]),
        (pool(), {"replicas": 2}, []),
        (pool(limits={"cpu": "0"}), {}, []),
        (pool(limits={"cpu": "1000"}), {}, [WAITING]),
        (pool(limits={"nodes": "0"}), {}, []),
        (pool(limits={"nodes": "1"}), {}, [WAITING]),
        (pool(replicas=4), {}, []),
        (pool(nodes={"taints": [GPU]}), {}, [f"NodePool np's taint gpu keeps this pod off: {TOLERATING}"]),
        (pool(nodes={"taints": [GPU]}), {"replicas": 2}, []),
        (pool(nodes={"taints": [GPU]}), {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, [WAITING]),
        (pool(nodes={"taints": [{**GPU, "effect": "PreferNoSchedule"}]}), {}, [WAITING]),
    ],
)
def test_a_domain_is_waited_for_where_a_group_can_make_it_for_the_pod(
    group: Manifest, spec: dict[str, Any], remedies: list[str]
) -> None:
    web = workload("KS208")
    web["spec"]["replicas"] = spec.pop("replicas", 6)
    web["spec"]["template"]["spec"] |= spec
    cluster = kubespread.Snapshot.from_objects([*hosts("a", "a", "b", "b"), group])
    assert [each.remedy.text for each in kubespread.check(cluster, web, select=["KS208"]).findings] == remedies


@pytest.mark.parametrize(("arch", "found"), [("arm64", 1), ("s390x", 0)])
def test_a_group_that_chooses_makes_the_nodes_that_are_asked_for(arch: str, found: int) -> None:
    web = workload("KS208")
    web["spec"]["template"]["spec"] |= {"nodeSelector": {"kubernetes.io/arch": arch}}
    nodes = hosts("a", "b")
    for each in nodes:
        each["metadata"]["labels"]["kubernetes.io/arch"] = arch
    cluster = kubespread.Snapshot.from_objects([*nodes, pool(ARMS)])
    assert len(kubespread.check(cluster, web, select=["KS208"]).findings) == found


def test_a_clusters_own_file_is_found_no_more_wrong_than_the_cluster() -> None:
    """A ReplicaSet that a Deployment controls is no other workload, and its pods run once."""
    file = str(FIXTURES.parent / "clusters" / "shop.yaml")
    cluster = kubespread.load(file)
    of_file, of_cluster = kubespread.check(cluster, file), kubespread.check(cluster)
    assert sorted((found.code, found.text) for found in of_file.findings) == sorted(
        (found.code, found.text) for found in of_cluster.findings
    )


def test_workloads_with_the_same_running_pods_are_tried_together() -> None:
    """As where a ReplicaSet was saved without its owner, while its pods run in the cluster."""
    path = FIXTURES.parent / "clusters" / "shop.yaml"
    objects = yaml.safe_load(path.read_text())["items"]
    web, orphan = (
        next(each for each in objects if each["kind"] == kind and each["metadata"]["name"].startswith("web"))
        for kind in ("Deployment", "ReplicaSet")
    )
    del orphan["metadata"]["ownerReferences"]
    assert kubespread.check(kubespread.load(str(path)), [web, orphan], select=["KS402"]).findings == ()
