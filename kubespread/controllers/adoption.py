"""Pods of a workload: its own pods, and orphans that its selector matches.

Source: pkg/controller/controller_ref_manager.go, ClaimObject, ClaimPods
Source: pkg/controller/replicaset/replica_set.go, syncReplicaSet, claimPods
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubespread.controllers.deployment import replica_sets_of
from kubespread.controllers.statefulset import ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import LabelSelectingWorkload, ReplicaSet, ReplicationController
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.selector import Selector, SelectorError, from_label_selector, from_map

_Owner = tuple[str, str]
"""Kind and name."""
_OWN_PODS = POD_CREATORS.keys() - {"Deployment"}
"""Kinds that control their pods themselves."""


class PodsByController:
    """Pods that are not terminating, by controller; orphans by labels."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._controlled: dict[tuple[str, str, str], list[tuple[int, Pod]]] = {}
        self._orphans: dict[str, dict[int, list[tuple[int, Pod]]]] = {}
        for position, pod in enumerate(pods):
            meta, owner = pod.metadata, controller_of(pod)
            if meta.deletion_timestamp is not None:
                continue
            if owner is not None:
                self._controlled.setdefault((meta.namespace, owner.kind, owner.name), []).append((position, pod))
            else:
                # Pods of one template share their labels, so a selector is evaluated once for all of them.
                self._orphans.setdefault(meta.namespace, {}).setdefault(id(meta.labels), []).append((position, pod))

    def pods_of(self, namespace: str, owners: Mapping[_Owner, Selector | None]) -> list[Pod]:
        """Pods that ``owners`` control or adopt, in listed order."""
        belonging: dict[int, Pod] = {}
        for (kind, name), selector in owners.items():
            controlled = self._controlled.get((namespace, kind, name), ())
            belonging |= (
                entry for entry in controlled if selector is None or selector.matches(entry[1].metadata.labels)
            )
            for alike in self._orphans.get(namespace, {}).values() if selector is not None else ():
                if selector is not None and selector.matches(alike[0][1].metadata.labels):
                    # A StatefulSet adopts only pods with a name of its own pods.
                    belonging |= (
                        entry for entry in alike if kind != "StatefulSet" or ordinal_of(entry[1], name) is not None
                    )
        return [pod for _, pod in sorted(belonging.items())]


def pods_of(
    workload: WorkloadName, companions: Iterable[ApiObject], replica_sets: Iterable[ReplicaSet], pods: PodsByController
) -> list[Pod]:
    """Pods of a workload that are not terminating; a Deployment's belong to any of its ReplicaSets.

    A controller counts its own pods that match its selector, and adopts matching pods without a controller.
    ``companions`` are the objects that come with the workload, whose selectors are known even if the cluster does not
    have them; ``replica_sets`` are the cluster's.
    """
    selecting = [
        companion for companion in companions if isinstance(companion, LabelSelectingWorkload | ReplicationController)
    ]
    # The pods of an Argo Rollout belong to ReplicaSets too.
    below = replica_sets_of(workload, replica_sets) if workload.kind not in _OWN_PODS else []
    selecting += below
    owners = {
        (type(workload).__name__, workload.metadata.name): _selector(workload.spec.selector) for workload in selecting
    }
    if not below and workload.kind != "Deployment":
        owners = {(workload.kind, workload.name): None, **owners}
    return pods.pods_of(workload.namespace, owners)


def _selector(selector: LabelSelector | Mapping[str, str] | None) -> Selector | None:
    """Parsed selector; None for an empty one too: it would match everything, and no adopting controller may have it."""
    try:
        read = from_label_selector(selector) if isinstance(selector, LabelSelector) else from_map(dict(selector or {}))
    except SelectorError:
        return None
    return None if read.is_empty else read
