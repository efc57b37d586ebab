"""Which pods of the cluster are a candidate's replicas, and what further ones are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from kubespread.candidate.candidate import Candidate
from kubespread.controllers.statefulset.pods import first_ordinal, for_ordinal, ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import StatefulSet
from kubespread.kube.owners import controller_of


def others(pods: Sequence[Pod], candidate: Candidate) -> Sequence[Pod]:
    """The cluster's pods without the candidate itself, where it is one of them."""
    if not candidate.is_stored:
        return pods
    asked = candidate.pod.metadata
    return tuple(pod for pod in pods if (pod.metadata.namespace, pod.metadata.name) != (asked.namespace, asked.name))


def first_missing(candidate: Candidate, present: Iterable[Pod]) -> Pod:
    """The first of a workload's replicas that is not ``present``: a StatefulSet's has the lowest ordinal that is free,
    and of the pods that wait for a node the claims.
    """
    stateful_set = candidate.object
    if not isinstance(stateful_set, StatefulSet) or candidate.is_stored:
        return candidate.pod
    taken = {ordinal_of(pod, stateful_set.metadata.name) for pod in present}
    ordinal = next(number for number in count(first_ordinal(stateful_set)) if number not in taken)
    return for_ordinal(candidate.pod, stateful_set, ordinal)


def replica_names(pod: Pod, present: Iterable[Pod]) -> Iterator[str]:
    """What further replicas are called: numbered, by the ordinals no replica has yet where they are a StatefulSet's,
    from that of ``pod``, the first of them.
    """
    taken = {replica.metadata.name for replica in present}
    owner = controller_of(pod)
    base = pod.metadata.name if owner is None else owner.name
    first = ordinal_of(pod, base) if owner is not None and owner.kind == "StatefulSet" else None
    return (name for number in count(first or 0) if (name := f"{base}-{number}") not in taken)
