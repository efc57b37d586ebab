"""Manifests checked against a large cluster: what each workload would do there, and what its remedies would."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench.clusters import deployment
from bench.measuring import PROGRAM, against, seconds
from bench.workloads import running

MANIFESTS = 200
_ZONE, _HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def checking() -> None:
    print(f"check of {MANIFESTS} manifests on 5,000 nodes, 150,000 pods, 1,000 Deployments, a saved snapshot")
    with tempfile.TemporaryDirectory() as name:
        source, saved = Path(name) / "source.json", str(Path(name) / "saved.json.gz")
        source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": running(5_000, 1_000)}))
        _run("snapshot", "-S", str(source), "-o", saved)
        directory = write_manifests(Path(name) / "manifests")
        took = seconds(lambda: _run("check", directory, "-S", saved, "-o", "json"))
        print(f"  {'with a cluster, a whole process':<54}{took:8.2f} s   {against(took, 15, 's')}")
        took = seconds(lambda: _run("check", directory, "-o", "json"))
        print(f"  {'without one':<54}{took:8.2f} s")
        source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": running(200, 200)}))
        _run("snapshot", "-S", str(source), "-o", saved)
        took = seconds(lambda: _run("check", "-A", "--jobs", "1", "-S", saved))
        print(f"  {'-A, 200 nodes, 200 Deployments, one core':<54}{took:8.2f} s   {against(took, 4, 's')}")


def write_manifests(directory: Path) -> str:
    """One file a Deployment: half of those the cluster has, half new ones; every other one is in order."""
    directory.mkdir()
    for number in range(MANIFESTS):
        (directory / f"web-{number}.json").write_text(json.dumps(_manifest(number), indent=2))
    return str(directory)


def _manifest(number: int) -> dict[str, Any]:
    app = f"web-{number}" if number % 2 else f"new-{number}"
    made = deployment(app, app, replicas=150)
    made["metadata"]["namespace"] = f"team-{number % 10}"
    zone, host = made["spec"]["template"]["spec"]["topologySpreadConstraints"]
    fault = number // 2 % 10
    if fault == 0:
        zone["labelSelector"] = {"matchLabels": {"app": "other"}}
    elif fault == 1:
        zone["minDomains"] = 5
    elif fault == 2:
        host["whenUnsatisfiable"] = "DoNotSchedule"
        made["spec"]["template"]["spec"]["nodeSelector"] = {_ZONE: "zone-0"}
    elif fault == 3:
        zone["topologyKey"] = "topology.kubernetes.io/zones"
    elif fault == 4:
        zone["labelSelector"] = None
    return made


def _run(*arguments: str) -> None:
    done = subprocess.run([str(PROGRAM), *arguments, "-q"], check=False, stdout=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done
