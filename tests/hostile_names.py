"""A name that would move a cursor and forge a line, and a cluster in which everything is called so."""

from __future__ import annotations

import re

from tests.builders import Data, hard, hosts, pod, taint
from tests.world.clusters import budget, deployment, stateful_set

HOSTILE = "\x1b]0;title\x07\x1b[31m\x9b2J\u202eevil\u2066\n\r\t\x7f\u2028error: \u200b\U000e0041é"
ZONE = "topology.kubernetes.io/zone"
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def is_safe(text: str) -> bool:
    """Whether a terminal would only show it; the tab between a pod and its node is ours."""
    return COLOR.sub("", text).replace("\n", "").replace("\t", "").isprintable()


def objects(name: str) -> list[Data]:
    """Nodes, workloads, budgets and pods with ``name`` in every text that a report repeats."""
    nodes = hosts(f"a{name}", f"b{name}", "c", "d")
    nodes[2]["spec"]["taints"] = [taint(f"key{name}", value=name)]
    for node in nodes:
        node["metadata"]["name"] += name
        node["metadata"]["annotations"] = {"note": name}
    here, there = (node["metadata"]["name"] for node in nodes[:2])
    spread = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    owned = [
        *deployment("web", (here,) * 4, spec=spread),
        *stateful_set("db", (here, there)),
        budget("db", maxUnavailable=0),
    ]
    for each in owned:
        for named in (each["metadata"], *each["metadata"].get("ownerReferences", ())):
            named["name"] += name
    return [
        *nodes,
        *owned,
        pod(f"running{name}", here, labels={"foo": "bar", name: name}),
        pod(f"waiting{name}", nodeSelector={f"x{name}": name}),
    ]
