"""Every input there is, and for each the commands that read it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.cli import option_samples
from tests.cli.support import FIXTURES

RICH = FIXTURES / "cases" / "adversarial" / "base"
ZONE = "topology.kubernetes.io/zone"
MANIFESTS = sorted(path.name for path in RICH.glob("*.yaml"))

_ABOUT_CLUSTERS = (
    "explain base/pod.yaml",
    "explain base/vol.yaml --preemption",
    "explain base/gpu.yaml",
    "explain deploy/web",
    "explain base/pod.yaml --add-node n0:2",
    "advise base/deployment.yaml",
    "advise base/gpu.yaml",
    "advise deploy/web --replicas 12",
    "simulate base/deployment.yaml --replicas 7",
    "simulate base/statefulset.yaml --replicas 4",
    "simulate base/gang.yaml",
    "simulate base/gpu.yaml",
    "simulate base/vol.yaml --until-full",
    "simulate deploy/web --replicas 9 --autoscaler ca",
    "simulate deploy/web --replicas 9 --autoscaler karpenter",
    "simulate base/deployment.yaml --then drain=n0",
    "simulate deploy/web --sample --runs 3",
    "play scenario.json",
    "play mixed.json",
    "pending -A",
    "audit -A",
    "audit -A --why -o json",
    "audit -A -o prometheus",
    "report -A",
    "report -A -o prometheus",
    "report -A --autoscaler ca",
    "verify promises.json",
    "verify promises.json --autoscaler karpenter",
    "plan --drain n0 --force",
    "plan --drain n1",
    "check base/deployment.yaml",
    "check -A -o sarif",
    "check -A --autoscaler karpenter",
    "compare base/deployment.yaml --to-kube-version 1.34",
    "compare deploy/web --cordon n0 --to-snapshot rich.json",
    "compare -A --kube-version 1.34 --kube-version 1.37",
    "survive -A",
    "survive -A --key hostname",
    "upgrade pool=web",
    "upgrade pool=web --surge 1",
    "map",
    "map deploy/web -o json",
    "map --by load",
    "rebalance -A",
    "rebalance -A --soft",
    "capacity",
    "capacity --request cpu=1",
    "capacity --request cpu=1 --by pool",
    "removable",
    "removable n0",
    "snapshot -o -",
    "snapshot -o - --anonymize",
    "explain base/pod.yaml --html page.html",
    "audit -A --drain n0",
    "pending -A --scale deploy/web=9",
    "pending -A --fail zone=a",
    "survive -A --evict default/solo",
    "explain base/pod.yaml -o yaml",
    "simulate deploy/web --from-scratch -o csv",
)
_ABOUT_MANIFESTS = (
    "explain {}",
    "explain {} -o json",
    "advise {}",
    "simulate {}",
    "simulate {} --replicas 4",
    "simulate {} --then drain=n0",
    "check {}",
    "check {} -o json",
    "check {} --diff",
    "compare {} --to-kube-version 1.34",
    "capacity -f {}",
    "explain -f {} --set maxSkew[zone]=2",
    "simulate {} --all",
    "map {}",
    "simulate {} --until-full",
    "simulate {} --gang 2",
    "advise {} --replicas 9",
)

COMMANDS: dict[str, tuple[str, ...]] = {
    "rich.json": tuple(f"{command} -S {{}}" for command in _ABOUT_CLUSTERS),
    "saved.json": (
        "explain base/pod.yaml -S {}",
        "audit -A -S {}",
        "snapshot -S {} -o -",
        "pending -A -S {}",
        "survive -A -S {} --strict",
    ),
    **{f"base/{name}": tuple(f"{command} -S rich.json" for command in _ABOUT_MANIFESTS) for name in MANIFESTS},
    "node.json": (
        "explain base/pod.yaml -S rich.json --add-node {}:2",
        "capacity -S rich.json --add-node {}",
        "snapshot -S rich.json -o - --add-node {}",
    ),
    "config.yaml": (
        "explain base/pod.yaml -S rich.json --scheduler-config {}",
        "simulate base/deployment.yaml -S rich.json --scheduler-config {}",
        "check base/deployment.yaml -S rich.json --scheduler-config {}",
    ),
    "full-config.json": (
        "explain base/pod.yaml -S rich.json --scheduler-config {}",
        "simulate base/deployment.yaml -S rich.json --scheduler-config {}",
    ),
    "groups.json": (
        "simulate deploy/web --replicas 12 -S rich.json --autoscaler ca --node-groups {}",
        "simulate base/deployment.yaml -S rich.json --autoscaler karpenter --node-groups {}",
        "report -A -S rich.json --autoscaler ca --node-groups {}",
        "verify promises.json -S rich.json --autoscaler ca --node-groups {}",
        "check base/deployment.yaml -S rich.json --autoscaler ca --node-groups {}",
    ),
    "types.json": (
        "simulate base/deployment.yaml --replicas 12 -S rich.json -S pool.json --autoscaler karpenter --instance-types {}",
        "verify promises.json -S rich.json -S pool.json --autoscaler karpenter --instance-types {}",
    ),
    "pool.json": (
        "simulate base/deployment.yaml --replicas 12 -S rich.json -S {} --autoscaler karpenter --instance-types types.json",
        "check base/deployment.yaml -S rich.json -S {} --autoscaler karpenter --instance-types types.json",
    ),
    "policy.json": ("rebalance -A -S rich.json --descheduler {}",),
    "promises.json": ("verify {} -S rich.json", "verify {} -S rich.json -o json"),
    "prices.json": (
        "removable -S rich.json --prices {}",
        "capacity -S rich.json --prices {} --by pool",
        "upgrade pool=web --surge 1 -S rich.json --prices {}",
    ),
    "scenario.json": ("play {} -S rich.json", "play {} -S rich.json -o json"),
    "mixed.json": ("play {} -S rich.json", "play {} -S rich.json --at 1 --explain base/pod.yaml"),
    "known.json": ("check base/deployment.yaml -S rich.json --baseline {}",),
    "kubeconfig": (
        "audit --kubeconfig {} --request-timeout 1s",
        "explain base/pod.yaml --kubeconfig {} --request-timeout 1s --context x",
    ),
    "kustomize/kustomization.yaml": ("explain -k kustomize -S rich.json", "check -k kustomize -S rich.json"),
    "kustomize/built.yaml": ("explain -k kustomize -S rich.json", "simulate -k kustomize -S rich.json"),
    "project/.kubespread.yaml": ("config view", "explain ../base/pod.yaml -S ../rich.json", "config view -o json"),
}
"""By the file that is damaged, in whose place ``{}`` stands, the commands that are run; those about a kustomization and
a configuration find it by themselves.
"""
COSTLY = ("advise base/gpu.yaml", "verify", "report", "plan", "play")
"""How commands begin that take seconds, as those do which ask what if many times: they run less often."""


def write_all(directory: Path) -> dict[str, Any]:
    """Every file that a command names, in ``directory``; those that are damaged, as plain data."""
    option_samples.written(directory)
    shutil.copytree(RICH, directory / "base", dirs_exist_ok=True)
    rich = json.loads((RICH / "cluster.json").read_text())
    node = next(each for each in rich["items"] if each["kind"] == "Node")
    stamp = {
        "source": "x",
        "time": "2026-01-01T00:00:00Z",
        "serverVersion": "v1.36.1",
        "listed": ["Pod", "Node"],
        "gaps": ["a gap"],
        "unread": {"PodDisruptionBudget": "forbidden"},
    }
    arguments = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "PodTopologySpreadArgs",
        "defaultConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}],
        "defaultingType": "List",
    }
    fit = {
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "resources": [{"name": "cpu", "weight": 3}],
            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
        }
    }
    profile = {
        "schedulerName": "default-scheduler",
        "percentageOfNodesToScore": 50,
        "plugins": {
            "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 5}], "disabled": [{"name": "ImageLocality"}]},
            "multiPoint": {"enabled": [{"name": "TaintToleration"}]},
        },
        "pluginConfig": [
            {"name": "PodTopologySpread", "args": arguments},
            {"name": "NodeResourcesFit", "args": fit},
            {"name": "NodeAffinity", "args": {"addedAffinity": {}}},
        ],
    }
    steps = [
        {"cordon": "n0", "name": "first"},
        {"drain": {"nodes": "n1", "force": True}},
        {"fail": f"{ZONE}=a"},
        {"restore": "n0"},
        {"apply": {"files": ["base/deployment.yaml"], "set": ["cpu=2"]}},
        {"rollout": "deploy/web"},
        {"scale": "deploy/web=5"},
        {"addNode": "n0:2"},
        {"deletePods": "app=web"},
        {"upgrade": {"nodes": "pool=web", "surge": 1}},
    ]
    exec_plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "/bin/false",
        "args": ["x"],
        "env": [{"name": "A", "value": "b"}],
        "interactiveMode": "Never",
        "installHint": "log in",
    }
    data: dict[str, Any] = {
        "rich.json": rich,
        "saved.json": {**rich, "metadata": {"resourceVersion": "7"}, "kubespread": stamp},
        **{f"base/{name}": list(yaml.safe_load_all((RICH / name).read_text())) for name in MANIFESTS},
        "node.json": node,
        "config.yaml": yaml.safe_load((directory / "config.yaml").read_text()),
        "full-config.json": {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
            "extenders": [{"urlPrefix": "http://x", "filterVerb": "f"}],
        },
        "groups.json": json.loads((directory / "groups.json").read_text()),
        "types.json": json.loads((directory / "types.json").read_text()),
        "pool.json": {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "p"},
            "spec": {
                "limits": {"cpu": "64"},
                "weight": 1,
                "template": {
                    "metadata": {"labels": {"team": "x"}},
                    "spec": {
                        "requirements": [
                            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b"]},
                            {"key": "size", "operator": "Gte", "values": ["3"]},
                        ],
                        "taints": [{"key": "t", "effect": "NoExecute"}],
                    },
                },
            },
        },
        "policy.json": yaml.safe_load((directory / "policy.yaml").read_text()),
        "promises.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Promises",
            "metadata": {"name": "p", "namespace": "default"},
            "promises": [
                {
                    "workload": "deploy/web",
                    "survives": "any zone after cordon n0",
                    "ready": "50%",
                    "back": "nodes deleted",
                    "until": "2027-01-31",
                    "reason": "x",
                },
                {
                    "namespace": "default",
                    "selector": "app=web",
                    "spread": {"zone": 1},
                    "fits": "1.5x",
                    "rollout": 1,
                    "drain": "never blocked",
                },
                {"cluster": True, "room": {"cpu": "20%", "memory": "1Gi"}},
            ],
        },
        "prices.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Prices",
            "label": "pool",
            "currency": "EUR",
            "per": "hour",
            "prices": {"x": 0.384, "web": 1},
        },
        "scenario.json": json.loads((directory / "scenario.json").read_text()),
        "mixed.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Scenario",
            "spec": {"namespace": "default", "steps": steps},
        },
        "known.json": {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "CheckBaseline",
            "findings": [
                {"fingerprint": "0" * 32, "code": "KS101", "workload": "default/Deployment/web", "field": "spec"}
            ],
        },
        "kubeconfig": {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "preferences": {},
            "clusters": [
                {
                    "name": "c",
                    "cluster": {
                        "server": "https://127.0.0.1:1",
                        "tls-server-name": "x",
                        "insecure-skip-tls-verify": True,
                        "proxy-url": "http://127.0.0.1:1",
                        "certificate-authority-data": "eA==",
                    },
                }
            ],
            "users": [
                {"name": "u", "user": {"token": "hunter2", "username": "me", "password": "pass"}},
                {"name": "p", "user": {"exec": exec_plugin}},
            ],
            "contexts": [
                {"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "shop"}},
                {"name": "y", "context": {"cluster": "c", "user": "p"}},
            ],
        },
        "kustomize/kustomization.yaml": {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": ["built.yaml"],
            "namePrefix": "a-",
            "patches": [{"path": "x"}],
        },
        "kustomize/built.yaml": option_samples.deployment("built", 2),
        "project/.kubespread.yaml": {
            "snapshot": "../rich.json",
            "kubeVersion": "1.35",
            "output": "json",
            "keys": ["zone"],
            "selector": "a=b",
        },
    }
    for name, content in data.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content) if not isinstance(content, list) else yaml.safe_dump_all(content))
    return data


def environment(directory: Path) -> dict[str, str]:
    return {"PATH": f"{directory / 'bin'}{os.pathsep}{os.environ['PATH']}", "XDG_CACHE_HOME": str(directory / "cache")}


WORDS: dict[str, tuple[str, ...]] = {
    "explain base/pod.yaml -S rich.json": (
        "--cordon",
        "--uncordon",
        "--drain",
        "--delete-node",
        "--fail",
        "--fail-hard",
        "--taint",
        "--label",
        "--add-node",
        "--delete-pods",
        "--evict",
        "--scale",
        "--scale-requests",
        "--budget",
        "--spread",
        "--set",
        "--kube-version",
        "--feature-gates",
        "--proposed",
        "--scheduler-name",
        "-n",
        "--name",
        "--node",
        "--sort",
        "--by",
        "-o",
        "--template-path",
        "--scheduler-config",
        "--color",
    ),
    "simulate base/deployment.yaml -S rich.json": (
        "--replicas",
        "--seed",
        "--runs",
        "--deals",
        "--ties",
        "--gang",
        "--same",
        "--then",
        "--require-placed",
        "--max-skew",
        "--min-domains",
        "--survive",
        "--autoscaler",
        "-l",
        "--set",
        "--node-groups",
        "--instance-types",
    ),
    "audit -S rich.json": ("-n", "-l", "--fail-on", "-o", "--drain", ""),
    "survive -A -S rich.json": ("--key", "--fail-on", "--fail", "--evict"),
    "upgrade -S rich.json": ("--nodes", "--surge", "--batch", ""),
    "map -S rich.json": ("--by", "--key", "-l", ""),
    "capacity -S rich.json": ("--request", "--tolerate", "--node-selector", "--by", "-n"),
    "removable -S rich.json": ("", "--drain"),
    "rebalance -S rich.json": ("-n", "-l", "--descheduler", ""),
    "pending -S rich.json": ("-n", "-l", "--fail"),
    "report -A -S rich.json": ("--autoscaler", "--node-groups", "--instance-types", "--since", "--fail-on"),
    "verify promises.json -S rich.json": ("--autoscaler", "--node-groups", "--instance-types", "-f", "-n"),
    "play mixed.json -S rich.json": ("--at", "--deals", "-n", "--fail-on"),
    "check base/deployment.yaml -S rich.json": (
        "--select",
        "--ignore",
        "--fail-on",
        "--base",
        "--explain",
        "-n",
        "-l",
        "--autoscaler",
        "--node-groups",
        "--instance-types",
    ),
    "compare base/deployment.yaml -S rich.json": (
        "--to-kube-version",
        "--to-feature-gates",
        "--replicas",
        "--to-set",
        "--set",
    ),
    "advise base/deployment.yaml -S rich.json": ("--replicas", "--set", "--add-node"),
    "explain -S rich.json": ("",),
    "config": ("", "-o"),
    "completion": ("",),
}
"""Commands and the options, or arguments, whose values are words that are damaged."""
VALUES = (
    "n0",
    "zone=a",
    f"{ZONE}=a",
    "n0=x=y:NoSchedule",
    "n0 a=b",
    "n0:2",
    "app=web",
    "app in (a,b)",
    "!app",
    "default/web-0",
    "deploy/web=3",
    "*=0.8",
    "deploy/web",
    "default/Deployment/web",
    "sts/db",
    "maxSkew[zone]=2",
    "cpu=500m",
    "replicas=3",
    "nodeSelector[a]=b",
    "1.34",
    "1.36.2",
    "A=true,B=false",
    "3",
    "max",
    "zone",
    "hostname",
    "kubernetes.io/hostname",
    "zone=1",
    "name",
    "json",
    "KS2",
    "KS101",
    "cpu=1,memory=1Gi",
    "gpu=x:NoSchedule",
    "drain=n0",
    "scale=2",
    "rollout",
    "rollback",
    "fail=zone=a",
    "apply base/pod.yaml",
    "ca",
    "karpenter",
    "domain",
    "prod",
    "spec.template",
    "nothing",
    "any",
    "view",
    "bash",
    "base/pod.yaml",
    "25%",
    "all",
)
"""What such values look like when they are right."""

TOOL_ARGUMENTS: dict[str, Any] = {
    "workload": "deploy/web",
    "manifest": (RICH / "pod.yaml").read_text(),
    "name": "web",
    "namespace": "default",
    "set": ["cpu=2"],
    "edits": ["cordon n0"],
    "kubeVersion": "1.35",
    "featureGates": "A=true",
    "limit": 5,
    "nodes": ["n0"],
    "preemption": True,
    "replicas": 6,
    "untilFull": False,
    "fromScratch": False,
    "autoscaler": "ca",
    "toManifest": (RICH / "pod.yaml").read_text(),
    "toSet": ["cpu=1"],
    "toEdits": ["drain n0"],
    "toKubeVersion": "1.34",
    "steps": ["drain n0", "scale deploy/web=3"],
    "selector": "app=web",
    "workloads": ["deploy/web"],
    "keys": ["zone"],
    "surge": 1,
    "batch": 1,
    "soft": True,
    "request": "cpu=1",
}
"""What tools are called with, each with those it knows and now and then with another."""
