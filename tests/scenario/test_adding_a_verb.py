"""A verb is one class and a line in the registry: the option, the steps and their schema, and the texts follow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLUSTER = Path(__file__).parents[2] / "fixtures" / "clusters" / "web-in-three-zones.yaml"

ADDED = """
from typing import ClassVar

from msgspec.structs import replace

from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import Form, NodesEdit


class Reserve(NodesEdit, frozen=True):
    '''Nodes are kept for one team.'''

    form: ClassVar = Form("reserve", "NODES", metavar="NODES", option="Reserve nodes.")

    def change(self, nodes):
        return self.replace_nodes(reserved, nodes)


def reserved(node):
    labels = {**node.metadata.labels, "reserved": "yes"}
    return replace(node, metadata=replace(node.metadata, labels=labels))


EDITS["reserve"] = Reserve
"""
ASKED = f"""
import kubespread
from docs.generators.scenario_schema import schema
from kubespread.cli.completing import options_of
from kubespread.cli.commands import app
from kubespread.cli.options import edits_of
from kubespread.scenario.reading import parse_step

pending = app.commands["pending"]
cluster = kubespread.load({str(CLUSTER)!r})
steps = [{{"reserve": "zone=a"}}, {{"reserve": ["node-b1"]}}, "reserve node-c1"]
scenario = {{"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {{"steps": steps}}}}
print(*(step.name for step in kubespread.plan(cluster, scenario).steps), sep=", ")
after = kubespread.after_steps(cluster, scenario)
print(*(node.metadata.name for node in after.nodes if "reserved" in node.metadata.labels))
same = [
    *edits_of(pending.parse_line(pending.make_context("pending", ["--reserve", "zone=a"]))), *cluster.edited("reserve zone=a").edits,
    parse_step("reserve=zone=a").action, parse_step("reserve zone=a").action,
]
print(*same, [each == Reserve.read("zone=a") for each in same])
print(schema()["$defs"]["Step"]["anyOf"][1]["properties"]["reserve"]["description"])
print(*(each.help for each in options_of(app.commands["explain"]) if "--reserve" in each.opts))
"""


def test_a_verb_is_one_class_and_a_line() -> None:
    asked = subprocess.run([sys.executable, "-c", ADDED + ASKED], capture_output=True, text=True, check=False)
    assert (asked.stderr, asked.stdout.splitlines()) == (
        "",
        [
            "reserve zone=a, reserve node-b1, reserve node-c1",
            "node-a1 node-a2 node-b1 node-c1",
            "reserve zone=a reserve zone=a reserve zone=a reserve zone=a [True, True, True, True]",
            "Nodes are kept for one team. NODES",
            "Reserve nodes.",
        ],
    )
