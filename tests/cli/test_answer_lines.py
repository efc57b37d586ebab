"""Every report ends in a line with its answer, also where there is nothing to tell: in the answer itself where people
read it, beside it where programs do.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import Data, hard, hosts
from tests.cli.support import FIXTURES, run
from tests.world.clusters import deployment

POD = str(FIXTURES / "manifests" / "no-constraints.yaml")
NOTHING = {
    "rebalance": ([], "nothing to do: the constraint holds"),
    "pending": ([], "no pod is pending"),
    "audit": ([], "1 workload, nothing found"),
    "report": ([], "0 critical, 2 warnings, 0 notices of 1 workload on 2 nodes"),
    "check": (["--select", "KS001"], "nothing found in 1 workload"),
    "survive": (
        [], "losing zone a or b leaves 1 pod pending until the nodes are deleted; none of 2 zones can be lost",
    ),
    "removable": (["n0"], "none of 1 node can go"),
    "advise": ([POD], "2 of 2 nodes fit: nothing has to change"),
    "explain": ([POD], "2 of 2 nodes fit: n0, n1"),
    "simulate": ([POD, "--replicas", "0"], "0 of 0"),
    "compare": ([POD, "--uncordon", "n0"], "same: 2 of 2 nodes fit, 1 of 1 replica placed"),
    "capacity": (["--request", "cpu=100"], "no pod of cpu 100 fits"),
    "map": ([], "2 nodes: cpu 0%, memory 0%, pods 0% requested"),
}  # fmt: skip
IN_TEXT = ("table", "markdown")
ZONE = "topology.kubernetes.io/zone"
FORMATS = (*IN_TEXT, "plain", "csv")


@pytest.mark.parametrize("command", NOTHING)
def test_the_answer_is_said_in_every_format(command: str, tmp_path: Path) -> None:
    arguments, answer = NOTHING[command]
    cluster = tmp_path / "cluster.json"
    web: list[Data] = deployment(
        "web", ("n0", "n1"), spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    )
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*hosts("a", "b"), *web]}))
    for name in FORMATS:
        result = run(command, *arguments, "-S", str(cluster), "-o", name)
        said = result.out if name in IN_TEXT else result.err
        assert answer in said.replace("**", ""), name
        assert result.out.strip(), name
