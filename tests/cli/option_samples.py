"""A small cluster, manifests and a value for each option of every command, chosen so that each option shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders import Data, node, pod

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def _node(name: str, zone: str, pool: str, **more: Any) -> Data:
    made = node(name, cpu="4", **more)
    made["metadata"]["labels"] = {ZONE: zone, HOST: name, "pool": pool}
    made["status"]["nodeInfo"] = {"kubeletVersion": "v1.33.1"}
    made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return made


def _constraint(app: str, when: str = "DoNotSchedule", key: str = ZONE) -> Data:
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"app": app}}}


def _template(app: str, cpu: str = "1", **spec: Any) -> Data:
    template = pod(labels={"app": app, "tier": app[0]}, requests={"cpu": cpu}, **spec)
    return {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}


def deployment(name: str, replicas: int, namespace: str | None = None, cpu: str = "1", **spec: Any) -> Data:
    made: Data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name, "tier": name[0]}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": _template(name, cpu, **spec),
        },
    }
    if namespace:
        made["metadata"]["namespace"] = namespace
    return made


def _running(workload: Data, *nodes: str | None) -> list[Data]:
    """The Deployment with its ReplicaSet and pods, those on None pending."""
    meta, spec = workload["metadata"], workload["spec"]
    labels = {**spec["template"]["metadata"]["labels"], "pod-template-hash": "1"}
    template = {**spec["template"], "metadata": {"labels": labels}}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-1",
            "namespace": meta["namespace"],
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": meta["name"], "controller": True}
            ],
        },
        "spec": {"replicas": spec["replicas"], "selector": {"matchLabels": labels}, "template": template},
    }
    pods = []
    for position, on in enumerate(nodes):
        made = pod(f"{meta['name']}-1-{position}", on, namespace=meta["namespace"], labels=labels)
        made["spec"] = {**template["spec"], **({"nodeName": on} if on else {})}
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{meta['name']}-1", "controller": True}
        ]
        made["status"] = (
            {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if on else {"phase": "Pending"}
        )
        pods.append(made)
    return [workload, replica_set, *pods]


def cluster() -> list[Data]:
    """Six nodes in three zones. web has a pending pod, api is uneven, a DaemonSet runs everywhere."""
    agents = []
    for number in range(6):
        agent = pod(f"agent-{number}", f"n{number}", labels={"app": "agent"}, namespace="shop")
        agent["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}
        ]
        agents.append(agent)
    solo = pod("solo", "n2", labels={"app": "solo"}, requests={"cpu": "1"}, volumes=[{"name": "tmp", "emptyDir": {}}])
    return [
        _node("n0", "a", "x"),
        _node("n1", "a", "y"),
        _node("n2", "b", "x"),
        _node("n3", "b", "y"),
        _node("n4", "c", "x", unschedulable=True),
        _node("n5", "c", "y", taints=[{"key": "gpu", "value": "", "effect": "NoSchedule"}]),
        *(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}}
            for name, annotations in {
                "default": {"scheduler.alpha.kubernetes.io/node-selector": "pool=x"},
                "shop": {},
                "empty": {},
            }.items()
        ),
        *_running(
            deployment("web", 6, "default", constraints=[_constraint("web")]), "n0", "n0", "n2", "n2", "n3", None
        ),
        *_running(
            deployment("api", 3, "shop", constraints=[_constraint("api"), _constraint("api", "ScheduleAnyway", HOST)]),
            "n1",
            "n1",
            "n3",
        ),
        *_running(deployment("big", 1, "shop", cpu="9"), None),
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": _template("agent", "0")},
        },
        *agents,
        solo,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"minAvailable": 5, "selector": {"matchLabels": {"app": "web"}}},
        },
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
        # Holds pods, and is not read: a gap of every question.
        {
            "apiVersion": "example.com/v1",
            "kind": "Site",
            "metadata": {"name": "s"},
            "spec": {"template": _template("s")},
        },
    ]


SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {filter: {disabled: [{name: PodTopologySpread}]}}
- schedulerName: other
  plugins: {filter: {disabled: [{name: NodeUnschedulable}]}}
"""
GROUPS = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "NodeGroups",
    "groups": [
        {
            "name": "w",
            "zones": ["a", "b", "c"],
            "nodes": "pool=x",
            "max": 5,
            "template": {
                "metadata": {"labels": {"pool": "x"}},
                "status": {"capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
            },
        }
    ],
}
POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - {name: RemovePodsViolatingTopologySpreadConstraint, args: {constraints: [DoNotSchedule, ScheduleAnyway]}}
  plugins: {balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint]}}
"""
KUSTOMIZE = "#!/bin/sh\ncat $2/built.yaml\n"
"""Stands in for the program: kustomize build DIRECTORY."""


def written(directory: Path) -> None:
    """The cluster and all files that `SAMPLES` name, in ``directory``."""
    new = deployment("new", 4, constraints=[_constraint("new"), _constraint("new", "ScheduleAnyway", HOST)])
    urgent = deployment("urgent", 30, cpu="3", priorityClassName="high")
    foreign = {
        "apiVersion": "example.com/v1",
        "kind": "Site",
        "metadata": {"name": "site"},
        "spec": {"page": _template("site"), "template": _template("other", "2")},
    }
    files: dict[str, Any] = {
        "cluster.json": {"apiVersion": "v1", "kind": "List", "items": cluster()},
        "later.json": {"apiVersion": "v1", "kind": "List", "items": cluster()[1:]},
        "new.yaml": new,
        "urgent.yaml": urgent,
        "site.yaml": foreign,
        "other.yaml": deployment("other", 2, cpu="2"),
        "more.yaml": deployment("more", 3),
        "dir/one.yaml": new,
        "dir/below/two.yaml": deployment("two", 3),
        "base/kustomization.yaml": {"resources": []},
        "base/built.yaml": deployment("built", 2),
        "groups.json": GROUPS,
        "prices.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Prices",
            "label": "pool",
            "currency": "EUR",
            "prices": {"x": 0.4},
        },
        "types.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "InstanceTypes",
            "instanceTypes": [{"name": "m", "cpu": 4, "memory": "16Gi", "price": 0.2}],
        },
        "promises.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Promises",
            "promises": [{"namespace": "default", "spread": {"zone": 1}, "fits": "replicas"}],
        },
        "scenario.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Scenario",
            "spec": {"steps": [{"scale": "deploy/web=9"}, {"fail": f"{ZONE}=a"}]},
        },
    }
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    texts = {
        "config.yaml": SCHEDULER,
        "lax.yaml": SCHEDULER.partition("- schedulerName: other")[0],
        "policy.yaml": POLICY,
        "bin/kustomize": KUSTOMIZE,
    }
    for name, text in texts.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "bin" / "kustomize").chmod(0o755)


_CLUSTER: dict[str, str] = {
    "-S": "-S later.json",
    "--context": "--context prod",
    "--kubeconfig": "--kubeconfig kubeconfig",
    "--server": "--server https://127.0.0.1:9",
    "--token": "--token t0ken",
    "--certificate-authority": "--certificate-authority ca.pem",
    "--insecure-skip-tls-verify": "--insecure-skip-tls-verify",
    "--cluster": "--cluster c",
    "--user": "--user u",
    "--as": "--as bob",
    "--as-group": "--as-group ops",
    "--request-timeout": "--request-timeout 5s",
    "--chunk-size": "--chunk-size 7",
}
_EDITS: dict[str, str] = {
    "--cordon": "--cordon n3",
    "--uncordon": "--uncordon n4",
    "--drain": "--drain n1",
    "--ignore-daemonsets": "--no-ignore-daemonsets",
    "--delete-emptydir-data": "--no-delete-emptydir-data",
    "--force": "--force",
    "--delete-node": "--delete-node n0",
    "--fail": "--fail n2",
    "--fail-hard": "--fail-hard n3",
    "--taint": "--taint n2=x=y:NoSchedule",
    "--label": f"--label n5={ZONE}=a",
    "--add-node": "--add-node n0:2",
    "--delete-pods": "--delete-pods app=web",
    "--evict": "--evict default/solo",
    "--scale": "--scale default/deploy/web=2",
    "--scale-requests": "--scale-requests *=0.5",
    "--budget": "--budget default/deploy/web:none",
    "--spread": "--spread default/deploy/web=hostname:1:soft",
}
_SCHEDULER: dict[str, str] = {
    "--scheduler-config": "--scheduler-config config.yaml",
    "--scheduler-name": "--scheduler-name other",
    "--kube-version": "--kube-version 1.30",
    "--feature-gates": "--feature-gates MatchLabelKeysInPodTopologySpread=false",
    "--proposed": "--proposed empty-selector",
    "--pod-node-selector": "--pod-node-selector",
    "--extended-resource-toleration": "--extended-resource-toleration",
}
_ANSWER: dict[str, str] = {
    "-o": "-o json",
    "--html": "--html page.html",
    "--no-headers": "--no-headers",
    "--color": "--color never",
    "--full": "--full",
    "--strict": "--strict",
    "-q": "-q",
    "-v": "-v",
    "--debug": "--debug",
    "--no-config": "--no-config",
}
SHARED = {**_CLUSTER, **_EDITS, **_SCHEDULER, **_ANSWER}
"""What nearly every command has, and heeds in the same way."""
_MANIFEST: dict[str, str] = {
    "-f": "-f other.yaml",
    "-k": "-k base",
    "-R": "-R",
    "--template-path": "--template-path spec.page",
    "-n": "-n shop",
    "--name": "--name new",
    "--set": "--set cpu=3",
}
_WORKLOADS: dict[str, str] = {"-n": "-n shop", "-A": "-A", "-l": "-l app=api"}
_WORKERS = {"--jobs": "--jobs 2", "--engine": "--engine tcp://127.0.0.1:8786", "--timeout": "--timeout 1m30s"}
_WATCH = {"-w": "-w", "--watch-interval": "--watch-interval 9s"}
_GROWTH = {
    "--autoscaler": "--autoscaler ca",
    "--node-groups": "--node-groups groups.json",
    "--instance-types": "--instance-types types.json",
}
SAMPLES: dict[str, dict[str, str]] = {
    "explain": {
        "pod": "site.yaml",
        **_MANIFEST,
        **SHARED,
        **_WATCH,
        "--preemption": "--preemption",
        "--node": "--node n0 --node n1 --node n2 --node n3 --node n4",
        "--by": "--by domain",
        "--all-nodes": "--all-nodes",
        "--pods": "--pods",
        "--sort": "--sort name",
        "--why-here": "--why-here",
    },
    "advise": {
        "pod": "site.yaml",
        **_MANIFEST,
        **SHARED,
        "--replicas": "--replicas 9",
        "--no-preemption": "--no-preemption",
    },
    "simulate": {
        "pod": "more.yaml",
        **_MANIFEST,
        **SHARED,
        **_WATCH,
        "--replicas": "--replicas 9",
        "--until-full": "--until-full",
        "--from-scratch": "--from-scratch",
        "--ties": "--ties name",
        "--seed": "--seed 3",
        "--sample": "--sample",
        "--runs": "--runs 3",
        "--deals": "--deals 3",
        "--preemption": "--preemption",
        **_GROWTH,
        "--prices": "--autoscaler ca --prices prices.json",
        "--gang": "--gang 4",
        "--same": "--same zone",
        "--then": "--then fail=n0",
        "--fail-on": "--fail-on nothing",
        "--no-preemption": "--no-preemption",
        "--require-placed": "--require-placed 99",
        "--max-skew": "--max-skew zone=0",
        "--min-domains": "--min-domains zone=3",
        "--survive": "--survive zone=3",
        "--all": "--all",
        "-l": "-l app=other",
        "-A": "-A",
        **_WORKERS,
    },
    "play": {
        **SHARED,
        "-n": "-n shop",
        "--fail-on": "--fail-on nothing",
        "--no-preemption": "--no-preemption",
        "--at": "--at 1",
        "--explain": "--explain new.yaml",
        "--deals": "--deals 3",
        **_WORKERS,
    },
    "plan": {
        **SHARED,
        "-f": "-f more.yaml",
        "-k": "-k base",
        "-n": "-n shop",
        "--no-preemption": "--no-preemption",
        "--replace-pool": "--replace-pool pool=y=8x16",
        "--hpa-max": "--hpa-max",
        "--create-namespaces": "--create-namespaces",
        "--steps": "--steps",
        "--prices": "--prices prices.json",
        **_WORKERS,
        **_GROWTH,
    },
    "pending": {
        "workloads": "deploy/web",
        **_WORKLOADS,
        **SHARED,
        **_WATCH,
        "--no-preemption": "--no-preemption",
        **_GROWTH,
    },
    "audit": {
        "workloads": "deploy/web",
        **_WORKLOADS,
        **SHARED,
        **_WATCH,
        "--fail-on": "--fail-on risk",
        "--key": "--key pool",
        "--why": "--why",
        "--no-preemption": "--no-preemption",
        **_WORKERS,
    },
    "verify": {
        **SHARED,
        **_GROWTH,
        "-n": "-n shop",
        "-f": "-f more.yaml",
        "--no-preemption": "--no-preemption",
        "--suggest": "--suggest",
        **_WORKERS,
    },
    "report": {
        "workloads": "deploy/web",
        **_WORKLOADS,
        **SHARED,
        **_GROWTH,
        "--since": "--since before.json",
        "--fail-on": "--fail-on notice",
        "--no-preemption": "--no-preemption",
        **_WORKERS,
    },
    "check": {
        "manifest": "more.yaml",
        **{name: _MANIFEST[name] for name in ("-f", "-k", "-R", "--template-path", "-n")},
        **SHARED,
        **_GROWTH,
        "-l": "-l app=other",
        "-A": "-A",
        "--select": "--select KS2",
        "--ignore": "--ignore KS1,KS3",
        "--fail-on": "--fail-on info",
        "--baseline": "--baseline known.json",
        "--base": "--base main",
        "--diff": "--diff",
        "--write-baseline": "--write-baseline written.json",
        "--list-rules": "--list-rules",
        "--explain": "--explain KS101",
        "--live": "--live",
        **_WORKERS,
    },
    "compare": {
        "pod": "more.yaml",
        **_MANIFEST,
        **SHARED,
        "--replicas": "--replicas 9",
        "--from-scratch": "--from-scratch",
        "--no-preemption": "--no-preemption",
        "--to-snapshot": "--to-snapshot later.json",
        "--to-context": "--to-context prod",
        "--to-scheduler-config": "--to-scheduler-config lax.yaml",
        "--to-scheduler-name": "--to-scheduler-name default-scheduler",
        "--to-kube-version": "--to-kube-version 1.31",
        "--to-feature-gates": "--to-feature-gates MatchLabelKeysInPodTopologySpread=true",
        "--all": "--all",
        "-l": "-l app=other",
        "-A": "-A",
        **_WORKERS,
    },
    "survive": {
        "workloads": "deploy/web",
        **_WORKLOADS,
        **SHARED,
        **_WATCH,
        "--after": "--after fail=n0",
        "--key": "--key hostname",
        "--pairs": "--pairs",
        "--fail-on": "--fail-on short",
        "--no-preemption": "--no-preemption",
        **_WORKERS,
        **_GROWTH,
    },
    "upgrade": {
        "--nodes": "--nodes pool=y",
        "workloads": "deploy/web",
        "-n": "-n shop",
        "-l": "-l app=web",
        "--to": "--to 2x8",
        **SHARED,
        "--surge": "--surge 1",
        "--batch": "--batch 2",
        "--prices": "--prices prices.json",
        "--no-preemption": "--no-preemption",
        **_WORKERS,
        **_GROWTH,
    },
    "map": {"workload": "deploy/web", **_MANIFEST, **SHARED, **_WATCH, "--by": "--by load", "--key": "--key pool"},
    "rebalance": {
        "workloads": "deploy/web",
        **_WORKLOADS,
        **SHARED,
        "--soft": "--soft",
        "--descheduler": "--descheduler policy.yaml",
        "--no-preemption": "--no-preemption",
    },
    "capacity": {
        "workload": "other.yaml",
        **SHARED,
        **_WATCH,
        "--request": "--request cpu=2",
        "-f": "-f other.yaml",
        "--name": "--name new",
        "-n": "-n shop",
        "--tolerate": "--tolerate gpu",
        "--node-selector": "--node-selector pool=x",
        "--by": "--by pool",
        "--prices": "--prices prices.json",
    },
    "removable": {
        "nodes": "n1",
        **SHARED,
        **_WATCH,
        "--prices": "--prices prices.json",
        "--no-preemption": "--no-preemption",
        **_WORKERS,
    },
    "snapshot": {
        **_CLUSTER,
        **_EDITS,
        **{name: _ANSWER[name] for name in ("--strict", "-q", "-v", "--debug", "--no-config")},
        "-o": "-o saved.json",
        "--anonymize": "--anonymize",
        "--map": "--map names.json",
        "--instance-types": "--instance-types",
        "--check": "--check cluster.json",
    },
    "mcp": {
        **_CLUSTER,
        **_SCHEDULER,
        "--live": "--live",
        "--max-age": "--max-age 5m",
        "--fleet": "--fleet cluster.json",
        "--contexts": "--contexts 'o*'",
    },
}
"""Of each command a value for every parameter, by the option's first name or the argument's name."""
