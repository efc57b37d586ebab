"""Whether the API server serves the apiVersion and kind that a workload of a manifest names."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.kinds import POD_CREATORS, Kind, group_of, pod_creator
from kubespread.kube.api.unknown_fields import near_miss
from kubespread.kube.validation.faults import FieldFault
from kubespread.manifest.objects import KubernetesObject

# Served beside batch/v1 until Kubernetes 1.24; what else is old went before the oldest release that is modeled.
_OLD = frozenset({("batch/v1beta1", "CronJob")})


def unserved(item: KubernetesObject, *, is_written: bool) -> Iterator[FieldFault]:
    """What the API server misses in a workload's ``apiVersion`` and ``kind``, in kubectl's words.

    A group without a dot is Kubernetes' own, as custom resources cannot have such a one. Items of lists, and objects at
    hand (``is_written`` is False), need not say their apiVersion.
    """
    api_version, kind = item.api_version, item.kind
    if not kind:
        yield FieldFault("kind", "not set")
    if not api_version:
        if is_written and not item.path:
            yield FieldFault("apiVersion", f"not set{_meant(POD_CREATORS.get(kind))}")
        return
    known = pod_creator(api_version, kind)
    if not kind or (known and known.api_version == api_version) or (api_version, kind) in _OLD:
        return
    if known or "." not in group_of(api_version):
        meant = POD_CREATORS.get(near_miss(kind, POD_CREATORS))
        wrong = "kind" if meant is not None and meant.api_version == api_version else "apiVersion"
        yield FieldFault(wrong, f'no matches for kind "{kind}" in version "{api_version}"{_meant(meant)}')


def _meant(row: Kind | None) -> str:
    return f', did you mean "{row.kind}" in "{row.api_version}"?' if row is not None else ""
