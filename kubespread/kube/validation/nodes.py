"""Validation of those fields of nodes that scheduling reads.

Source: pkg/apis/core/validation/validation.go, ValidateNode, validateNodeTaints, ValidateNodeResources
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.taint import EFFECTS
from kubespread.kube.validation.faults import FieldFault, invalid, invalid_each, labels_faults, required, unsupported


def node_faults(node: Node) -> list[FieldFault]:
    """What the API server would refuse ``node`` for: its name, its labels and its taints."""
    return list(_node_faults(node))


def _node_faults(node: Node) -> Iterator[FieldFault]:
    meta = node.metadata
    if not meta.name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from invalid_each("metadata.name", meta.name, subdomain_faults(meta.name))
    yield from labels_faults(meta.labels, "metadata.labels")
    yield from _taints_faults(node.spec.taints, "spec.taints")


def _taints_faults(taints: Sequence[Taint], path: str) -> Iterator[FieldFault]:
    seen: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        place = f"{path}[{position}]"
        yield from invalid_each(f"{place}.key", taint.key, label_key_faults(taint.key))
        if faults := label_value_faults(taint.value):
            yield invalid(f"{place}.value", taint.value, ";".join(faults))
        if not taint.effect:
            yield required(f"{place}.effect")
        elif taint.effect not in EFFECTS:
            yield unsupported(f"{place}.effect", taint.effect, EFFECTS)
        if (taint.key, taint.effect) in seen:
            # An internal struct, printed with Go's field names in the order they stand.
            fields = {"Key": taint.key, "Value": taint.value, "Effect": taint.effect}
            printed = ",".join(f"{quote(name)}:{quote(value)}" for name, value in fields.items())
            detail = "taints must be unique by key and effect pair"
            yield FieldFault(place, f'Duplicate value: {{{printed},"TimeAdded":null}}: {detail}')
        seen.add((taint.key, taint.effect))
