"""The JSON Schema of a NodeGroups file."""

from __future__ import annotations

from typing import Any

from kubespread.node_groups import Expander
from kubespread.scenario.autoscaler import GROUPS_KIND as KIND
from kubespread.scenario.document import API_VERSION


def schema() -> dict[str, Any]:
    """Strict, since a mistyped field would silently do nothing; what a Node may have is Kubernetes' own matter."""
    name = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"}
    node = {"type": "object", "properties": {"apiVersion": {"const": "v1"}, "kind": {"const": "Node"}}}
    group = {
        "type": "object",
        "properties": {
            "name": {**name, "description": "What its nodes are called after."},
            "template": {
                "oneOf": [{"type": "string", "minLength": 1}, node],
                "description": "What new nodes are made of while no good node of the group runs: a Node manifest, a "
                "file beside this one that holds one, or the name of a node of the cluster.",
            },
            "zones": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "uniqueItems": True,
                "description": "Each zone grows by itself. Default: the zones of its nodes, else that of the template.",
            },
            "nodes": {
                "type": "string",
                "description": "The labels of its nodes, as kubectl's -l has them. Default: it has none yet.",
            },
            "min": {"type": "integer", "minimum": 0, "description": "Of each zone. No autoscaler adds nodes for it."},
            "max": {"type": "integer", "minimum": 0, "description": "Of each zone. Default: any number."},
            "priority": {"type": "integer", "minimum": 0, "description": "For the expander priority."},
            "price": {"type": "number", "minimum": 0, "description": "Of one node, for the expander price."},
        },
        "required": ["name"],
        "anyOf": [{"required": ["template"]}, {"required": ["nodes"]}],
        "additionalProperties": False,
    }
    names = "|".join(Expander)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": KIND,
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": {"type": "object"},
            "expander": {
                "type": "string",
                "pattern": f"^({names})(,({names}))*$",
                "description": "How cluster-autoscaler chooses among groups, as its option --expander has it. "
                "Default: least-waste.",
            },
            "groups": {"type": "array", "items": group, "minItems": 1},
        },
        "required": ["apiVersion", "kind", "groups"],
        "additionalProperties": False,
    }
