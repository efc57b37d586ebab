"""What changed between Kubernetes 1.18 and 1.36 that an answer depends on.

Source of the rules: release notes and feature gate tables of the releases; gates are taken at their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.errors import UsageError
from kubespread.kube.objects import Pod

_VERSION = re.compile(r"v?1\.(?P<minor>\d{1,3})(?:\.(?P<patch>\d{1,4}))?(?:[-+].*)?", re.ASCII)
_LATEST_PATCH = 10_000
OLDEST, NEWEST = 18, 36
SCORES_SINCE, EXACT_SCORES_SINCE = 24, 34


@dataclass(frozen=True, slots=True)
class KubeVersion:
    """A minor of Kubernetes 1, and its patch where it is known; without one the latest patch is meant."""

    minor: int = NEWEST
    patch: int | None = None

    @classmethod
    def parse(cls, text: str) -> KubeVersion:
        """``1.34``, ``1.34.1`` or ``v1.34.1-eks-1``. Raises UsageError."""
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"invalid Kubernetes version {text!r}: expected 1.X or 1.X.Y")
        minor = int(match["minor"])
        if minor < OLDEST:
            raise UsageError(f"kube-scheduler 1.{minor} does not spread pods: topologySpreadConstraints are on by default since 1.{OLDEST}")
        if minor > NEWEST:
            raise UsageError(f"kube-scheduler 1.{minor} is not modelled: versions 1.{OLDEST} to 1.{NEWEST} are")
        return cls(minor, int(match["patch"]) if match["patch"] else None)

    def since(self, minor: int, patch: int = 0) -> bool:
        """Whether this version is ``1.minor.patch`` or newer."""
        return (self.minor, _LATEST_PATCH if self.patch is None else self.patch) >= (minor, patch)

    def __str__(self) -> str:
        return f"1.{self.minor}" if self.patch is None else f"1.{self.minor}.{self.patch}"


LATEST = KubeVersion()


def drop_fields(pod: Pod, version: KubeVersion) -> list[str]:
    """Remove what an API server of this version would not store, and say what that was."""
    return [f"{field} is dropped: Kubernetes {version} does not have it" for field in _drop(pod, version)]


def _drop(pod: Pod, version: KubeVersion) -> Iterator[str]:
    spec = pod.spec
    for position, constraint in enumerate(spec.topology_spread_constraints):
        path = f"spec.topologySpreadConstraints[{position}]"
        if constraint.min_domains is not None and not version.since(27):
            constraint.min_domains = None
            yield f"{path}.minDomains"
        if constraint.node_affinity_policy is not None and not version.since(26):
            constraint.node_affinity_policy = None
            yield f"{path}.nodeAffinityPolicy"
        if constraint.node_taints_policy is not None and not version.since(26):
            constraint.node_taints_policy = None
            yield f"{path}.nodeTaintsPolicy"
        if constraint.match_label_keys and not version.since(27):
            constraint.match_label_keys = []
            yield f"{path}.matchLabelKeys"
    if spec.affinity is not None and not version.since(31):
        for term in spec.affinity.pod_terms:
            if term.match_label_keys or term.mismatch_label_keys:
                term.match_label_keys, term.mismatch_label_keys = [], []
                yield f"matchLabelKeys of a term for {term.topology_key} in spec.affinity"
    if spec.affinity is not None and not version.since(22):
        for term in spec.affinity.pod_terms:
            if term.namespace_selector is not None:
                term.namespace_selector = None
                yield f"namespaceSelector of a term for {term.topology_key} in spec.affinity"
    if spec.scheduling_gates and not version.since(27):
        spec.scheduling_gates = []
        yield "spec.schedulingGates"
    if spec.resources is not None and not version.since(34):
        spec.resources = None
        yield "spec.resources"
    if not version.since(29):
        for position, container in enumerate(spec.init_containers):
            if container.restart_policy is not None:
                container.restart_policy = None
                yield f"spec.initContainers[{position}].restartPolicy"
