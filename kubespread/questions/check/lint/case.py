"""One workload as rules see it: its constraints as declared and as in force, and its surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.lint.company import Company
from kubespread.questions.check.lint.subject import Subject
from kubespread.questions.check.lint.trial import Trial
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, PodConstraints, pod_constraints
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread


class Declared(Struct, frozen=True, eq=False):
    """One of the pod's own constraints."""

    position: int
    path: str
    """From the object on: ``spec.template.spec.topologySpreadConstraints[0]``."""
    written: TopologySpreadConstraint
    """As in the pod template: the API server merges matchLabelKeys into the selector of the pod."""
    constraint: Constraint
    """The same with its defaults filled in and its selector parsed."""

    @property
    def text(self) -> str:
        """``topology.kubernetes.io/zone maxSkew 1``."""
        return f"{self.constraint.topology_key} maxSkew {self.constraint.max_skew}"

    def setting(self, field: str, value: object) -> str:
        """How ``--set`` changes a field of it."""
        return f"{field}[{self.position}]={value}"


class Case(Struct, frozen=True, dict=True):
    """A subject among the others; what several rules need is worked out once."""

    subject: Subject
    company: Company
    """All that are checked together, the subject among them."""
    objects: ClusterObjects
    """The cluster's, with those that the manifests bring; the manifests' alone where there is no cluster."""
    version: KubeVersion
    plugins: Framework
    """The profile that schedules the subject."""
    trial: Trial | None
    """The subject tried on the cluster; None without a cluster."""

    @cached_property
    def spread(self) -> PodTopologySpread:
        """The plugin as the profile configures it, or with its defaults if the profile does not enable it."""
        configured = (plugin for plugin in self.plugins.running if isinstance(plugin, PodTopologySpread))
        return next(configured, PodTopologySpread())

    @cached_property
    def constraints(self) -> PodConstraints:
        """Those in force, the defaults where the pod declares none."""
        return pod_constraints(
            self.subject.pod,
            self.spread.defaults,
            self.objects,
            empty_selector_counts=self.spread.rules.empty_selector_counts,
        )

    @cached_property
    def own(self) -> tuple[Declared, ...]:
        """The pod's own constraints, in the order they are declared."""
        return tuple(self._own())

    def hard(self, trial: Trial) -> Iterator[tuple[Declared, HardConstraint]]:
        """The pod's own hard constraints with their numbers on the cluster.

        Those of a DaemonSet are left out: each of its pods is meant for one node, which is its only domain.
        """
        if self.own and not self.subject.is_daemon:
            for position, counted in trial.hard():
                yield self.own[position], counted

    def _own(self) -> Iterator[Declared]:
        subject = self.subject
        if not subject.pod.spec.topology_spread_constraints:
            return
        written = (subject.template or subject.pod).spec.topology_spread_constraints
        for position, (as_written, constraint) in enumerate(zip(written, self.constraints.constraints, strict=True)):
            path = subject.field(f"spec.topologySpreadConstraints[{position}]")
            yield Declared(position, path, as_written, constraint)
