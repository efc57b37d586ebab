"""Clusters and manifests as people have them, each of which was answered wrongly once: how each ends now."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases"


@dataclass(frozen=True)
class Case:
    """A command, with paths below fixtures/cases, and what has to come of it."""

    command: str
    verdict: str
    code: int
    said: str = ""
    """A pattern that some sentence of the answer has, or some requirement that is not met."""
    field: tuple[str, str] | None = None
    """Of the whole report a pattern that the JSON of one key, wherever it stands, has."""
    gap: str = ""
    """A pattern that some gap has."""


AWS = "-S everyday/aws12.json.gz"
GKE = "-S everyday/gke60.json.gz"
INFER = "simulate deploy/infer-0 -n ml --replicas 2 -S everyday/gke-ert.json.gz"
GROUPED = "simulate judgment/9/m.json -S judgment/9/c.json --node-groups judgment/9/ng.yaml"
WORKLOADS_ONLY = "-S everyday/wl.json.gz --strict"
NO_CLAIMS = "-S adversarial/7/nopvc.json --strict"
FULL = "everyday/17-karpenter-no-room-but-a-pod-would-fit"
EVERYDAY = {
    "a volume's pod waits once the nodes are deleted": Case(
        "survive -n payments --fail-on pending -S everyday/aws12-clean.json.gz", "no", 1, "pending once the nodes"
    ),
    "a pool of 45 of 60 nodes is lost": Case(
        "survive -A --key cloud.google.com/gke-nodepool --fail-on any -S everyday/gke-nogpu.json.gz",
        "no",
        1,
        "12 workloads degraded|38 pods pending",
    ),
    "pods with claims in a dump without claims are in doubt": Case(
        "pending -A -S everyday/07-missing-pvc-fits/cluster.json.gz",
        "unknown",
        3,
        "as far as the snapshot goes",
        ("doubts", "5 PersistentVolumeClaims that pods use are not in the snapshot"),
    ),
    "pods on nodes that are not in the dump are in doubt": Case(
        "audit -A --fail-on risk -S everyday/08-pods-on-unknown-nodes/subset.json.gz",
        "unknown",
        3,
        "as far as the snapshot goes",
        ("doubts", "60 pods are bound to 9 nodes not in the snapshot"),
    ),
    "nodes of one cluster and pods of another are in doubt": Case(
        "explain deploy/cart -n storefront -S everyday/08-pods-on-unknown-nodes/nodes.json.gz -S "
        "everyday/08-pods-on-unknown-nodes/pods.json.gz -S everyday/08-pods-on-unknown-nodes/deploy.json.gz",
        "unknown",
        3,
        "as far as the snapshot goes",
        ("doubts", "130 pods are bound to 15 nodes"),
    ),
    "the room beside pods of one namespace is in doubt": Case(
        "capacity --strict -S everyday/09-pods-of-one-namespace/cluster.json.gz",
        "unknown",
        3,
        "as far as the snapshot goes",
        ("doubts", "pods of namespace storefront only"),
    ),
    "the limit of a NodePool that is the cause is named": Case(
        "simulate deploy/trainer -n ml -S everyday/12-karpenter-limit-not-named/cluster.json.gz --autoscaler karpenter "
        "--instance-types everyday/12-karpenter-limit-not-named/types.yaml",
        "no",
        1,
        "",
        ("reason", "spec.limits of NodePool gpu leave 1 of nvidia.com/gpu 6"),
    ),
    "the limit of a NodePool is named for any pod that waits": Case(
        "pending -A -S everyday/12-karpenter-limit-not-named/cluster.json.gz --autoscaler karpenter "
        "--instance-types everyday/12-karpenter-limit-not-named/types.yaml",
        "no",
        1,
        "karpenter adds 1 node: 1 of 2 pods placed; still waiting: ml/trainer",
        ("reason", "spec.limits of NodePool gpu leave 0 of nvidia.com/gpu 6"),
    ),
    "the limit of a NodePool is named where nobody asks for Karpenter": Case(
        "pending -A -S everyday/12-karpenter-limit-not-named/cluster.json.gz",
        "no",
        1,
        "trainer: spec.limits of NodePool gpu leave 1 of nvidia.com/gpu 6, less than the pod requests",
    ),
    "a domain that Karpenter counts and kube-scheduler does not see is named": Case(
        f"simulate {FULL}/web.json -S {FULL}/snapshot.json --autoscaler karpenter --instance-types "
        f"{FULL}/instance_types.json",
        "no",
        1,
        "",
        ("reason", "no more pods may go to karpenter.sh/capacity-type spot"),
    ),
    "README's dump without budgets": Case(
        "removable --strict -S everyday/readme-np.json.gz", "unknown", 3, gap="PodDisruptionBudget"
    ),
    "workloads without claims, losing zones": Case(
        f"survive -A {WORKLOADS_ONLY}", "unknown", 3, gap="PersistentVolume"
    ),
    "workloads without budgets, rebalanced": Case(
        f"rebalance -A {WORKLOADS_ONLY}", "unknown", 3, gap="PodDisruptionBudget"
    ),
    "none of four pods runs": Case(
        "audit deploy/promo -n shop --fail-on risk -S everyday/t1.json.gz", "no", 1, "promo"
    ),
    "pods that do not fit together, pending": Case(
        f"pending -n shop {AWS}", "no", 1, "1 change frees 4", ("change", "minDomains 3|minDomains.*3")
    ),
    "pods that do not fit together, advised": Case(f"advise deploy/promo -n shop {AWS}", "yes", 0, "minDomains 3"),
    "pods that do not fit together, simulated": Case(f"simulate deploy/promo -n shop {AWS}", "no", 1, "minDomains 4"),
    "a pod that waits is not the node's": Case(
        f"removable ip-10-0-28-205.eu-west-1.compute.internal {AWS}", "yes", 0, "1 of 1 node can go"
    ),
    "a pod that waited before an upgrade": Case(
        "upgrade eks.amazonaws.com/nodegroup=general -S everyday/promo-only.json.gz",
        "yes",
        0,
        "of shop/Deployment/promo pending as before",
    ),
    "a quota stops an autoscaled workload first": Case(
        f"check -A --select KS304 {AWS}", "yes", 0, field=("message", "quota.*13|13.*quota")
    ),
    "a critical pod preempts": Case(f"simulate everyday/crit.yaml {AWS}", "yes", 0, "1 of 1 placed.*preempt"),
    "a critical pod that may not": Case(f"simulate everyday/crit.yaml {AWS} --no-preemption", "no", 1, "0 of 1 placed"),
    "tainted devices, counted as asked": Case(
        f"capacity --request nvidia.com/gpu=2 {GKE}",
        "no",
        1,
        "^0 pods .*; 8 would with a toleration of nvidia.com/gpu=present",
    ),
    "tainted devices, tolerated": Case(
        f"capacity --request nvidia.com/gpu=2 --tolerate nvidia.com/gpu {GKE}",
        "yes",
        0,
        "^8 pods of nvidia.com/gpu 2 fit",
    ),
    "tainted devices, for a manifest": Case(f"capacity -f everyday/gpu2t.yaml {GKE}", "yes", 0, "^8 pods"),
    "devices that no node has so many of": Case(
        f"capacity --request nvidia.com/gpu=4 {GKE}", "no", 1, "fragmented: 20 left in all, 3 at most on one node"
    ),
    "devices on GKE, whose admission is named": Case(
        f"{INFER} --strict", "no", 3, "0 of 1 placed", gap="^ExtendedResourceToleration: .*nvidia.com/gpu"
    ),
    "devices on GKE, with its admission": Case(f"{INFER} --extended-resource-toleration", "yes", 0, "1 of 1 placed"),
    "Karpenter's pools, whose machines nobody knows": Case(
        f"simulate deploy/promo -n shop {AWS} -S everyday/np.yaml --autoscaler karpenter --strict",
        "unknown",
        3,
        "whether new nodes of default would take 1 pending pod is not known",
        gap="instance types of default",
    ),
    "a pod that fits no node": Case(f"check everyday/fraud.yaml {AWS}", "no", 1, "1 error"),
    "the size that lets all replicas in": Case(f"advise deploy/fraud -n payments {AWS}", "yes", 0, "all 3 .*1290m"),
}
JUDGMENT = {
    "two ReplicaSets of equal size": Case("audit -A -S judgment/1/c.json", "yes", 0, "rollout under way"),
    "its own terminating pod holds the room": Case(
        "audit -A -S judgment/2/c.json", "no", 1, "terminating pods still hold room: web-5d6-9 on b1"
    ),
    "a budget broken by preemption, removing": Case(
        "removable a1 -S judgment/3/c.json", "no", 1, field=("detail", "lo")
    ),
    "a budget broken by preemption, upgrading": Case("upgrade a1 -S judgment/3/c.json", "no", 1, "budget default/lo"),
    "one part of a combination is enough": Case(
        "advise judgment/4/pod.yaml -S judgment/4/c.json", "yes", 0, field=("options", r"whenUnsatisfiable\[rack\]")
    ),
    "no useless uncordon": Case(
        "advise judgment/p44.json -S judgment/s44a.json", "yes", 0, "fits with B ScheduleAnyway"
    ),
    "a stuck rollout": Case("audit deploy/web -S judgment/7/c.json", "no", 0, "rollout stuck, 2 new pods pending"),
    "a quota in a scenario": Case("play judgment/8/s.yaml -S judgment/8/c.json", "no", 1, "0 pending, 2 not created"),
    "a quota in a rollout": Case("play judgment/8/r.yaml -S judgment/8/c.json", "no", 1, "1 not created"),
    "a node label nobody has": Case(
        "advise pod/web-5d6-0 -S judgment/10/d.json", "yes", 0, field=("options", "disk=ssd")
    ),
    "a template for cluster-autoscaler": Case(
        f"{GROUPED} --autoscaler ca", "yes", 0, "none still pending", ("least", '"total": 3')
    ),
    "a template for Karpenter": Case(
        f"{GROUPED} --autoscaler karpenter", "yes", 0, "none still pending", ("least", '"total": 3')
    ),
    "an eviction that only moves the gap": Case(
        "advise pod/web-5d6-2 -S judgment/10/e.json", "yes", 0, "the pod fits with 1 more node like"
    ),
    "soft constraints do not keep empty nodes": Case("removable -S judgment/11/c.json", "yes", 0, "4 of 4|2 of 2"),
    "a rollout under way": Case("audit -A -S judgment/12/c.json", "no", 1),
    "five of six fit": Case("check judgment/13/m.json -S judgment/13/c.json", "no", 1, "1 error"),
    "none of three fits": Case("check -A -S judgment/13/c2.json", "no", 1, "1 error"),
    "forcing loses a pod for good": Case("upgrade a1 -S judgment/14/c.json", "no", 1, "default/debug is lost for good"),
    "a canary whose neighbor lacks room": Case(
        "audit deploy/web -S judgment/15/c.json", "no", 1, "too little room in b"
    ),
    "a StatefulSet that stops": Case("survive -A -S judgment/16/z.json", "no", 0, "StatefulSet/db: 0 of 2 ready"),
    "hard constraints of bare pods": Case(
        "rebalance -A -S judgment/s129.json", "no", 1, "violated, whatever|no better plan was found"
    ),
}

TEXTS = {
    "a zone whose loss stops a StatefulSet": Case(
        "survive -A -S judgment/16/z.json",
        "no",
        0,
        "losing zone a stops StatefulSet/db: 0 of 2 ready, also once the nodes",
    ),
    "a rollout that is stuck, and why": Case(
        "audit deploy/web -S judgment/7/c.json",
        "no",
        0,
        "^Deployment/web: rollout stuck, 2 new pods pending: 2 Insufficient cpu$",
    ),
    "evictions that only move the gap": Case(
        "advise pod/web-5d6-2 -S judgment/10/e.json", "yes", 0, "1 more node like a1", ("costly", "would be pending")
    ),
    "the only node that a selector leaves": Case(
        "explain pod/w1-0 -n shop -S judgment/5/s61.json",
        "no",
        1,
        "^nodeSelector pool=mem leaves only n04, which has no rack label and runs 8 of 8 pods$",
    ),
    "a label that no node has": Case(
        "pending -S judgment/10/d.json", "no", 1, field=("why", r"no node has disk=ssd \(nodeSelector\)")
    ),
    "what --force costs": Case(
        "upgrade a1 -S judgment/14/c.json",
        "no",
        1,
        "^with --force it gets through, and default/debug is lost for good$",
    ),
    "a pool whose taint keeps the pod off": Case(
        "check judgment/rules/208-taint/m.json -S judgment/rules/208-taint/c.json",
        "yes",
        0,
        field=("text", "NodePool np's taint gpu=true keeps this pod off: tolerate it before raising minDomains"),
    ),
    "the largest hole that is open, and those that are not": Case(
        "pending -S judgment/10/b.json",
        "no",
        1,
        field=(
            "why",
            r"needs 2 cpu on one node; most free on one: 1, but 16 on c1 \(cordoned\) and g1 \(tainted gpu\)",
        ),
    ),
    "a pod of its own that still holds the room": Case(
        "audit -A -S judgment/2/c.json", "no", 1, "web-5d6-9 on b1 .*; evict again once they are gone$"
    ),
    "a domain that is closed to the pod": Case(
        "check judgment/rules/hpa-noreplicas/m.json -S judgment/rules/hpa-noreplicas/c.json",
        "no",
        1,
        field=("text", "nodeTaintsPolicy: Honor"),
    ),
}


DRAINED = "--drain n2 --delete-node n2 -S verdicts/f.yaml"
STATEFUL = "-S verdicts/01-survive-terminating-statefulset-pod-never-back/snapshot.json"
ROLLING = "-S verdicts/03-removable-no-plan-yes-rollout-under-way/snapshot.json"
UNKNOWN = "verdicts/06-plan-yes-when-all-pods-of-a-workload-are-lost"
VERDICTS = {
    "a pod placed a moment ago waits again, and the node stays": Case(
        "removable n2 -S verdicts/f.yaml", "no", 1, "none of 1 node can go", ("held", "noNode")
    ),
    "a pod placed a moment ago waits again, planned": Case(f"plan {DRAINED}", "no", 1, "1 more pod pending"),
    "a pod placed a moment ago waits again, played": Case(
        "play verdicts/s.yaml -S verdicts/f.yaml", "no", 1, "1 pending"
    ),
    "a pod placed a moment ago waits again, promised": Case(
        "verify verdicts/promises.yaml -S verdicts/f.yaml",
        "no",
        1,
        "draining n. leaves 1 more pod pending .3 of 3 nodes",
    ),
    "by force, a pod without a controller goes": Case(
        "removable --force -S verdicts/h.yaml", "yes", 0, "1 of 2 nodes can go alone: n3"
    ),
    "by force, the cluster before goes by the same count": Case(
        "plan --cordon n0 --force -S verdicts/h.yaml", "yes", 0, "go together: 1 → 1"
    ),
    "the zone that is lost in the settled cluster": Case(
        "survive -S verdicts/e.yaml --key zone", "no", 0, "leaves up to 3 pods pending"
    ),
    "a pod that is going is made again first": Case(
        f"survive {STATEFUL}", "no", 0, "at worst StatefulSet/db without b: 1 of 3 ready until the nodes are deleted"
    ),
    "a pod that is going is made again first, planned": Case(
        f"plan --fail zone=b {STATEFUL}", "no", 1, "2 more pods not made yet", ("ready", "1")
    ),
    "a rollout goes on before a node goes": Case(f"removable n0 {ROLLING}", "yes", 0, "1 of 1 node can go"),
    "a rollout goes on before a drain": Case(
        f"plan --drain n0 --delete-node n0 {ROLLING}", "yes", 0, "everything fits"
    ),
    "all pods of an unknown owner are lost": Case(
        f"plan --drain n0 --delete-node n0 -S {UNKNOWN}/snapshot.json", "no", 1, "1 of 1 workload is worse: Rollout/crd"
    ),
    "one pod of an unknown owner is lost": Case(
        f"plan --drain n0 --delete-node n0 -S {UNKNOWN}/one-elsewhere.json", "no", 1, "ready pods 2 of 2 → 1 of 2"
    ),
    "pods without an owner are lost": Case(
        f"plan --fail-hard n0 -S {UNKNOWN}/bare.json", "no", 1, "2 pods lost for good"
    ),
}
SPOT = "-S everyday/04-label-nodes-as-spot/cluster.json.gz"
MISSED = "-S everyday/15-audit-misses-selector/cluster.json"
OWNED = {
    "spot machines that are missing are more of them, never a label": Case(
        f"advise deploy/frontend -n web {SPOT}",
        "yes",
        0,
        "2 more nodes like gke-prod-spot-34e05f91-wm7s",
        ("options", "^(?!.*--label).*--add-node gke-prod-spot-34e05f91-wm7s:2"),
    ),
    "spot machines that are missing, pending": Case(
        f"pending -n web {SPOT}", "no", 1, field=("options", "--add-node gke-prod-spot-34e05f91-wm7s:2")
    ),
    "spot machines that are missing, checked": Case(
        f"check -A {SPOT}", "no", 1, field=("text", "^.2 more nodes like gke-prod-spot-34e05f91-wm7s")
    ),
    "a key that Kubernetes replaced is mended, pending": Case(
        f"pending -n web {SPOT}",
        "no",
        1,
        field=("options", r"topologyKey\[failure-domain.beta.kubernetes.io/zone\]=topology.kubernetes.io/zone"),
    ),
    "a key that Kubernetes replaced is mended, advised": Case(
        f"advise deploy/wrongkey -n web {SPOT}", "yes", 0, "topologyKey topology.kubernetes.io/zone"
    ),
    "a selector that misses its own pods is the cause": Case(
        f"audit -A {MISSED}",
        "no",
        0,
        "the selector app=no-label misses the pod's own labels .app is nolabel.: .*none of its 3 pods; select app=nolabel",
    ),
    "a selector that misses its own pods, reported": Case(
        f"report -A {MISSED}", "no", 0, field=("what", "misses the pod's own labels .app is nolabel.")
    ),
}
BLOCKED = "conclusions/09-survive-after-blocked-drain"
REORDERED = "-S conclusions/01-plan-reorders-uncordon/snapshot.json"
FAILED = "conclusions/02-verify-room-on-failed-nodes"
ZERO = "conclusions/04-verify-zero-scaled-hides-others"
UNREACHABLE = "conclusions/08-audit-missing-label-of-unreachable-node"
ANY_ORDER = "conclusions/16-answer-depends-on-object-order"
CONCLUSIONS = {
    "room on nodes that do not answer is none": Case(
        f"verify {FAILED}/promises.yaml -S {FAILED}/snapshot.yaml --fail zone=a --fail zone=b",
        "no",
        1,
        field=("says", "^.14.6 % left .3.5 of 24., 50% promised"),
    ),
    "a workload of no replicas hides nothing of others": Case(
        f"verify {ZERO}/promises.json -S {ZERO}/snapshot.json", "no", 1, field=("says", "2 of 2 pods ready, 3 promised")
    ),
    "in a namespace, a workload of no replicas holds what it can": Case(
        f"verify {ZERO}/ns.json -S {ZERO}/snapshot.json", "no", 1, field=("says", "it is to have no pods, and has none")
    ),
    "a node that no pod could go to counts for nothing": Case(
        f"audit -A -S {UNREACHABLE}/snapshot.json", "yes", 0, "nothing found"
    ),
    "the order of objects decides nothing": Case(
        f"removable -S {ANY_ORDER}/snapshot.json", "yes", 0, "3 of 5 nodes can go alone, 1 together"
    ),
    "a tie that decides is said": Case(
        f"removable -S {ANY_ORDER}/snapshot.json",
        "yes",
        0,
        field=("notes", "who is preempted on n03 is a tie, broken by name: default/orph-1, kube-system/logd-n03"),
    ),
    "the order of objects decides nothing, shuffled": Case(
        f"removable -S {ANY_ORDER}/shuffled.json", "yes", 0, "3 of 5 nodes can go alone, 1 together"
    ),
    "no step goes past one on the same node": Case(
        f"plan --drain n1 --uncordon n1 --scale deploy/web=4 {REORDERED}",
        "yes",
        0,
        "another order, which gets through: scale Deployment/web=4, drain n1, uncordon n1;",
    ),
    "new machines join schedulable": Case(
        "plan --replace-pool pool=old=8x16 -S conclusions/05-replace-pool-copies-cordon/snapshot.json",
        "yes",
        0,
        "everything fits",
    ),
    "after a drain that is blocked nothing is known to survive": Case(
        f"survive --key zone --after drain=n1 -A -S {BLOCKED}/snapshot.json", "unknown", 0, "not done in full"
    ),
    "after an edit that is blocked nothing is known to survive": Case(
        f"survive --key zone -A --drain n1 -S {BLOCKED}/snapshot.json", "unknown", 0, "^drain n1: not done in full"
    ),
    "after an edit that is blocked it is not known what fits": Case(
        f"capacity --request cpu=100m --drain n1 -S {BLOCKED}/snapshot.json",
        "unknown",
        3,
        "^drain n1: not done in full",
    ),
    "after a drain that is blocked no promise is known to hold": Case(
        f"verify {BLOCKED}/promises.json -S {BLOCKED}/snapshot.json", "unknown", 3, "not done in full"
    ),
}
TEMPLATES = "conclusions/11-plan-apply-ignores-template-changes"
SAME = "running/01-apply-other-template-no-rollout"
PAUSED = "conclusions/12-plan-new-paused-deployment"
NOWHERE = "conclusions/13-plan-namespace-not-there"
APPLIED = {
    **{
        f"another template of a full cluster is stuck: {changed}": Case(
            f"plan -f {TEMPLATES}/{changed}.yaml -S {TEMPLATES}/snapshot.json", "no", 1, "1 more pod pending"
        )
        for changed in ("annotation", "command", "env", "image", "probe", "sa")
    },
    **{
        f"another template without surge is stuck: {changed}": Case(
            f"plan -f {SAME}/{changed}.json -S {SAME}/cluster.json --kube-version 1.36.2", "no", 1, "1 more pod pending"
        )
        for changed in (
            "annotation",
            "args",
            "cmvolume",
            "env",
            "grace",
            "image",
            "probe",
            "pullpolicy",
            "secctx",
            "serviceaccount",
        )
    },
    "nobody makes the pods of a new Deployment that is paused": Case(
        f"plan -f {PAUSED}/new.yaml -S {PAUSED}/snapshot.json",
        "no",
        1,
        "^3 more pods not made yet",
        ("message", "the Deployment is paused"),
    ),
    "nothing is created in a namespace that is not there": Case(
        f"plan -f {NOWHERE}/nowhere.yaml -S {NOWHERE}/snapshot.json",
        "no",
        1,
        field=("failed", "namespaces .*nowhere.* not found"),
    ),
    "a namespace may be created first": Case(
        f"plan -f {NOWHERE}/nowhere.yaml --create-namespaces -S {NOWHERE}/snapshot.json", "yes", 0, "^everything fits"
    ),
}
LIMITS = "everyday/06-limitrange-refuses"
REFUSING = {
    "a default limit": ("cluster", r"must be less than or equal to cpu limit of 1 \(LimitRange shop/defaults\)"),
    "a maximum": ("cluster-max", r"must be less than or equal to cpu limit of 1 \(LimitRange shop/defaults\)"),
    "a quota": ("cluster-quota", "exceeded quota: defaults"),
}
ASKED = {
    "survive -A": ("no", 0, "why"),
    "plan --drain n1": ("no", 1, "message"),
    "report -A": ("no", 0, "what"),
    "audit -A": ("no", 0, "detail"),
    "upgrade n1": ("no", 1, "message"),
    "removable n1": ("no", 1, "detail"),
}
REFUSED = {
    f"{what} refuses a pod made again: {asked}": Case(
        f"{asked} -S {LIMITS}/{cluster}.json", verdict, code, field=(field, refusal)
    )
    for what, (cluster, refusal) in REFUSING.items()
    for asked, (verdict, code, field) in ASKED.items()
}

KAFKA = "-S everyday/11-operator-makes-no-more-pods"
ROLLOUT = "-S everyday/02-rollout-pods-are-missing/cluster.json"
PODSET = "-S everyday/16-report-names-commands-that-fail/cluster.json"
OWNERS = {
    "02-rollout-pods-are-missing, audited": Case(f"audit -A --strict {ROLLOUT}", "yes", 0, "nothing found"),
    "02-rollout-pods-are-missing, simulated": Case(
        f"simulate rollout/web -n shop {ROLLOUT}", "yes", 0, "3 of 3 replicas already running"
    ),
    "03-report-pods-missing-now": Case(
        "report -A -S everyday/03-report-pods-missing-now/cluster.json",
        "no",
        0,
        "^scaling .1 notice.: .*kafka/StatefulSet/broker$",
        ("key", "scaling/noRoom/kafka/StatefulSet/broker"),
    ),
    "11-operator-makes-no-more-pods, losing a zone": Case(
        f"survive -A {KAFKA}/cluster.json", "no", 0, "2 of 3 ready until the nodes are deleted"
    ),
    "11-operator-makes-no-more-pods, draining": Case(
        f"plan --drain n1 {KAFKA}/cluster.json", "yes", 0, "ready pods 3 of 3 → 3 of 3"
    ),
    "11-operator-makes-no-more-pods, removing": Case(
        f"removable n1 {KAFKA}/cluster.json", "yes", 0, "1 of 1 node can go"
    ),
    "11-operator-makes-no-more-pods, upgrading": Case(
        f"upgrade n1 {KAFKA}/cluster.json", "yes", 0, "1 of 1 node replaced$"
    ),
    "11-operator-makes-no-more-pods, an unknown one, losing a zone": Case(
        f"survive -A --strict {KAFKA}/unknown.json", "unknown", 3, "is not known for kafka/BrokerSet/prod-kafka"
    ),
    "11-operator-makes-no-more-pods, an unknown one, draining": Case(
        f"plan --drain n1 {KAFKA}/unknown.json", "unknown", 3, "ready pods 3 of 3 → 2 of 3"
    ),
    "11-operator-makes-no-more-pods, an unknown one, removing": Case(
        f"removable n1 {KAFKA}/unknown.json", "unknown", 3, "none of 1 node is known to be able to go"
    ),
    "11-operator-makes-no-more-pods, an unknown one, upgrading": Case(
        f"upgrade n1 {KAFKA}/unknown.json", "unknown", 3, "1 workload degraded"
    ),
    "11-operator-makes-no-more-pods, an unknown one, promised": Case(
        f"verify everyday/11-operator-makes-no-more-pods/promises.yaml {KAFKA}/unknown.json",
        "unknown",
        3,
        "1 unknown; 0 of their 2 clauses",
    ),
    "16-report-names-commands-that-fail, explained": Case(
        f"explain strimzipodset/prod-kafka -n kafka {PODSET}", "no", 1, "0 of 3 nodes fit"
    ),
    "16-report-names-commands-that-fail, reported": Case(
        f"report -A {PODSET}", "no", 0, "scaling", ("command", "explain strimzipodset/prod-kafka -n kafka")
    ),
}

IMMEDIATE = "conclusions/10-claims-immediate-binding-never-bound"
ONCE = "conclusions/07-check-misses-readwriteoncepod"
ALONE = "conclusions/15-check-ks209-remedy-does-not-help"
LOCAL = "running/204-immediate-claims-2026"
CLAIMS = {
    "claims of an Immediate class are bound first, checked": Case(
        f"check -S {IMMEDIATE}/snapshot.json",
        "yes",
        0,
        "nothing found",
        gap="where the driver of StorageClass imm makes",
    ),
    "claims of an Immediate class are bound first, audited": Case(
        f"audit -A -S {IMMEDIATE}/snapshot.json", "no", 0, field=("nextFits", "true")
    ),
    "claims of an Immediate class are bound first, planned": Case(
        f"plan --scale sts/db=2 -S {IMMEDIATE}/snapshot.json", "yes", 0, "everything fits"
    ),
    "claims of an Immediate class are bound first, in a manifest": Case(
        f"check -f {IMMEDIATE}/immediate-statefulset.yaml -S {IMMEDIATE}/snapshot.json", "yes", 0, "nothing found"
    ),
    "a claim that names its volume is bound to it": Case(
        f"plan -f {IMMEDIATE}/nfs.yaml -S {IMMEDIATE}/snapshot.json", "yes", 0, "everything fits"
    ),
    "new pods' claims get the volumes that are there": Case(
        f"play {LOCAL}/cluster.scenario.json -S {LOCAL}/cluster.json --kube-version 1.36.2 --deals 1",
        "yes",
        0,
        "0 pending",
    ),
    "a claim of the checked manifest that one pod may use": Case(
        f"check {ONCE}/two.yaml -S {ONCE}/snapshot.json", "no", 1, "1 error", ("code", "KS209")
    ),
    "a claim that one pod may use, and a rollout that adds one": Case(
        f"check {ONCE}/one.yaml -S {ONCE}/snapshot.json", "no", 1, "1 error", ("code", "KS406")
    ),
    "a claim that one pod may use, and an autoscaler": Case(
        f"check {ONCE}/hpa.yaml -S {ONCE}/snapshot.json", "no", 1, "1 warning", ("code", "KS304")
    ),
    "a claim of the checked manifest that one pod may use, without a cluster": Case(
        f"check {ONCE}/two.yaml", "no", 1, "1 error", ("code", "KS209")
    ),
    "a claim that one pod may use, and a rollout that adds one, without a cluster": Case(
        f"check {ONCE}/one.yaml", "no", 1, "1 error", ("code", "KS406")
    ),
    "a claim that one pod may use, and an autoscaler, without a cluster": Case(
        f"check {ONCE}/hpa.yaml", "no", 1, "1 error, 1 warning", ("code", "KS304")
    ),
    "a remedy's number is its own, beside a closed domain": Case(
        f"check {ALONE}/web.yaml -S {ALONE}/snapshot.json", "no", 1, "2 errors", ("settings", r"^\[\]$")
    ),
    "a remedy's number is its own, beside too few domains": Case(
        f"check {ALONE}/web2.yaml -S {ALONE}/snapshot2.json", "no", 1, "2 errors", ("settings", r"^\[\]$")
    ),
}
CONCLUSIONS |= CLAIMS


def values_of(data: Any, key: str) -> list[str]:
    """The JSON of everything called ``key``."""
    if isinstance(data, list):
        return [value for item in data for value in values_of(item, key)]
    if not isinstance(data, dict):
        return []
    own = [json.dumps(data[key])] if key in data else []
    return [*own, *(value for item in data.values() for value in values_of(item, key))]


POSTGRES = "--autoscaler karpenter --instance-types everyday/01-sts-autoscaler-ignores-pending/types.yaml -n data"
VICTIMS = "-S everyday/10-pending-hides-victims/cluster.json"
WAITING = {
    "01-sts-autoscaler-ignores-pending": Case(
        f"simulate sts/postgres {POSTGRES} -S everyday/01-sts-autoscaler-ignores-pending/cluster.json",
        "no",
        1,
        "karpenter adds no node for 1 pending pod, 1 still pending",
    ),
    "10-pending-hides-victims": Case(
        f"pending -A {VICTIMS}",
        "no",
        1,
        "by preempting 4 pods: storefront/search-f1f7360f4f-tm6fm, observability/datadog-agent-szl2x",
        ("victims", "search-f1f7360f4f-tm6fm.*datadog-agent-szl2x"),
    ),
    "10-pending-hides-victims, in the row": Case(
        f"pending -A {VICTIMS}", "no", 1, field=("why", "^.1 of 3 fit, preempting storefront/search-.*datadog-agent-")
    ),
    "10-pending-hides-victims, with nodes added": Case(
        f"simulate deploy/checkout -n storefront --add-node ip-10-42-0-100.us-east-2.compute.internal:2 {VICTIMS}",
        "no",
        1,
        "^1 of 3 pods that were pending placed by the edits: 1 on ip-10-42-69-135",
    ),
}


def replayed(folder: str, verdict: str, code: int, said: str, field: tuple[str, str]) -> Case:
    """A scenario on a control plane of 1.36.2: as many pods are ready and wait as there."""
    files = f"running/{folder}/cluster.scenario.json -S running/{folder}/cluster.json"
    return Case(f"play {files} --kube-version 1.36.2", verdict, code, said, field)


UPGRADED = "205-upgrade-honor-2000"
RUNNING = {
    "02-outage-evictions-one-by-one": replayed(
        "02-outage-evictions-one-by-one", "no", 1, "2 pending", ("pending", "^2$")
    ),
    "201-preemption-2016": replayed(
        "201-preemption-2016", "no", 1, "pending", ("pendingDealt", '"least": 0, "most": 1')
    ),
    "202-preemption-2003": replayed(
        "202-preemption-2003", "no", 1, "pending", ("pendingDealt", '"least": 3, "most": 4')
    ),
    "203-preemption-2009": replayed("203-preemption-2009", "no", 1, "4 pending", ("pending", "^4$")),
    "206-toleration-0s-loop-2000": replayed(
        "206-toleration-0s-loop-2000", "yes", 0, "", ("notes", "StatefulSet/db does not settle: .* n-b1, .* after 0 s")
    ),
    UPGRADED: Case(
        f"upgrade pool=blue --surge 1 --batch 1 --force -S running/{UPGRADED}/cluster.json --kube-version 1.36.2",
        "yes",
        0,
        "^4 of 4 nodes replaced",
    ),
}

ALL = {
    **EVERYDAY,
    **JUDGMENT,
    **TEXTS,
    **VERDICTS,
    **CONCLUSIONS,
    **APPLIED,
    **OWNERS,
    **OWNED,
    **REFUSED,
    **RUNNING,
    **WAITING,  # one a line, so that lines may come and go
}


@pytest.mark.parametrize("name", ALL)
def test_how_a_case_ends(name: str) -> None:
    case = ALL[name]
    result = run(*case.command.split(), "-o", "json", "-q", cwd=CASES)
    assert result.code == case.code, result.err
    report = json.loads(result.out)
    assert report["verdict"] == case.verdict
    sentences = [*report["answer"], *report["unmet"]]
    assert any(re.search(case.said, sentence) for sentence in sentences), sentences
    assert any(re.search(case.gap, gap) for gap in ["", *report["gaps"]] if gap or not case.gap), report["gaps"]
    if case.field is not None:
        key, pattern = case.field
        assert any(re.search(pattern, value) for value in values_of(report, key)), values_of(report, key)


def test_what_is_piped_in_is_checked_though_a_cluster_is_named() -> None:
    typo = (CASES / "everyday" / "bad" / "06-typo-label.yaml").read_bytes()
    result = run("check", *AWS.split(), "-n", "payments", "-o", "json", "-q", cwd=CASES, stdin=typo)
    report = json.loads(result.out)
    assert (result.code, report["verdict"], report["findings"][0]["code"]) == (1, "no", "KS101")
