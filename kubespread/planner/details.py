"""The causes of rejections as a report tells them: amounts as canonical quantities, everything else as it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import get_args

import msgspec

from kubespread.kube.quantity import NANO, Quantity
from kubespread.kube.resource_names import is_hugepages
from kubespread.reports.details import Detail, ResourceDetail
from kubespread.scheduler.causes import Cause, Causes, ShortResource
from kubespread.scheduler.evaluation import Evaluation

_DETAIL_OF: Mapping[type[Cause], type[Detail]] = {
    detail.__mro__[1]: detail for detail in get_args(Detail) if detail is not ResourceDetail
}
"""A detail is its cause, with a word for it; amounts alone are told otherwise."""

DetailsOfNodes = Mapping[int, tuple[Detail, ...]]


def details_of(evaluation: Evaluation) -> Mapping[str, DetailsOfNodes]:
    """By plugin and node, what is behind the plugin's rejection of the node; nodes with the same causes share it."""
    shared: dict[Causes, tuple[Detail, ...]] = {}

    def told(causes: Causes) -> tuple[Detail, ...]:
        if (details := shared.get(causes)) is None:
            details = shared[causes] = tuple(map(_detail, causes))
        return details

    return {
        plugin: {node: told(causes) for node, causes in by_node.items()}
        for plugin, by_node in evaluation.causes().items()
    }


def _detail(cause: Cause) -> Detail:
    if isinstance(cause, ShortResource):
        return ResourceDetail(
            resource=cause.resource,
            requested=canonical(cause.resource, cause.requested),
            free=canonical(cause.resource, cause.free),
            allocatable=canonical(cause.resource, cause.allocatable),
        )
    return _DETAIL_OF[type(cause)](**msgspec.structs.asdict(cause))


@lru_cache(maxsize=4096)
def canonical(resource: str, amount: int) -> str:
    """An amount as kube-scheduler counts it, in the text Kubernetes would print."""
    if resource == "cpu":
        return str(Quantity(amount * NANO // 1000))
    in_bytes = resource in ("memory", "ephemeral-storage") or is_hugepages(resource)
    return str(Quantity(amount * NANO, "BinarySI" if in_bytes else "DecimalSI"))
