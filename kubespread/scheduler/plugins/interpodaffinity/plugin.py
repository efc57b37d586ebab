"""The plugin: affinity, anti-affinity and the anti-affinity of others as filter, all preferences as score.

Source of the rules: kube-scheduler 1.36, interpodaffinity/{filtering,scoring}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.scheduler.affinity_terms import MalformedTermsError, PodTerms, Term, candidate_terms
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.plugin import MAX_NODE_SCORE, SKIP, Code, CopiesMatter, Extent, State, Status, Verdicts
from kubespread.scheduler.plugin_args import InterPodAffinityArgs
from kubespread.scheduler.plugins.interpodaffinity.counting import Counter, Domains

AFFINITY = Status(Code.UNRESOLVABLE, ("node(s) didn't match pod affinity rules",))
ANTI_AFFINITY = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",))
EXISTING_ANTI_AFFINITY = Status(Code.UNSCHEDULABLE, ("node(s) didn't satisfy existing pods anti-affinity rules",))


@dataclass(frozen=True)
class InterPodAffinity:
    name: ClassVar[str] = "InterPodAffinity"

    args: InterPodAffinityArgs = field(default_factory=InterPodAffinityArgs)

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        try:
            terms = candidate_terms(pod)
        except MalformedTermsError as error:
            return Status(Code.UNRESOLVABLE, (f"parsing pod: {error}",))
        state = _State(cluster, terms, Counter(cluster, pod), self.args)
        return state if state.filters or state.has_own_terms or not state.preferences.is_empty else SKIP


class _State(State):
    copies_matter = CopiesMatter.IN_DOMAINS

    def __init__(self, cluster: Cluster, terms: PodTerms, counter: Counter, args: InterPodAffinityArgs) -> None:
        self._cluster = cluster
        self._terms = terms
        self._counter = counter
        self._args = args
        self._existing_anti = self._existing_anti_affinity()
        self._own_anti = [self._matched([term]) for term in terms.required_anti]
        self._near = self._matched(terms.required)
        self.preferences = self._preferences()
        """Weights per domain; empty when the plugin has nothing to score."""

    @property
    def has_own_terms(self) -> bool:
        terms = self._terms
        return bool(terms.required or terms.required_anti or terms.preferred or terms.preferred_anti)

    @property
    def filters(self) -> bool:
        return bool(self._terms.required or self._terms.required_anti) or not self._existing_anti.is_empty

    @property
    def _prefers(self) -> bool:
        own = bool(self._terms.preferred or self._terms.preferred_anti)
        return own or not self._args.ignore_preferred_terms_of_existing_pods

    def fork(self) -> State:
        fork = copy(self)
        fork._existing_anti, fork._near, fork.preferences = self._existing_anti.fork(), self._near.fork(), self.preferences.fork()
        fork._own_anti = [domains.fork() for domains in self._own_anti]
        return fork

    def placed(self, node: int) -> None:
        """The copy is met by the next one's terms, and its own terms are about the next one."""
        terms, meets, is_meant = self._terms, self._counter.matches_itself, self._counter.is_meant_by
        for term in filter(is_meant, terms.required_anti):
            self._existing_anti.add_one(term.topology_key, node)
        for term, domains in zip(terms.required_anti, self._own_anti, strict=True):
            if meets([term]):
                domains.add_one(term.topology_key, node)
        if terms.required and meets(terms.required):
            for term in terms.required:
                self._near.add_one(term.topology_key, node)
        if not self._prefers:
            return
        for sign, preferred in ((1, terms.preferred), (-1, terms.preferred_anti)):
            for term in preferred:
                for about in (meets([term]), is_meant(term)):
                    if about:
                        self.preferences.add_one(term.topology_key, node, sign * term.weight)
        if self._args.hard_pod_affinity_weight > 0:
            for term in filter(is_meant, terms.required):
                self.preferences.add_one(term.topology_key, node, self._args.hard_pod_affinity_weight)

    def _matched(self, terms: Sequence[Term]) -> Domains:
        """Where existing pods are that all of ``terms`` match at once."""
        domains = Domains(self._cluster)
        if terms:
            matched = self._counter.matched_by_all(terms)
            for term in terms:
                domains.add(term.topology_key, matched)
        return domains

    def _existing_anti_affinity(self) -> Domains:
        """Where existing pods do not want the candidate."""
        domains = Domains(self._cluster)
        for terms, per_node in self._counter.existing():
            for term in terms.required_anti:
                if self._counter.is_meant_by(term):
                    domains.add(term.topology_key, per_node)
        return domains

    def filter(self) -> Verdicts | None:
        """The candidate's affinity decides before its anti-affinity, and both before that of existing pods."""
        if not self.filters:
            return None
        which = np.zeros(len(self._cluster), dtype=np.int32)
        for key in self._existing_anti.keys():  # noqa: SIM118 - not a dict
            which[self._existing_anti.around(key) > 0] = 3
        which[self._too_close()] = 2
        which[~self._near_enough()] = 1
        return Verdicts(which, (AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY))

    def _too_close(self) -> Mask:
        too_close = np.zeros(len(self._cluster), dtype=np.bool_)
        for term, domains in zip(self._terms.required_anti, self._own_anti, strict=True):
            too_close |= domains.around(term.topology_key) > 0
        return too_close

    def _near_enough(self) -> Mask:
        """Every required term is met in the node's domain.

        When no pod anywhere meets them, the first of a group may go wherever the keys exist, if it meets them itself.
        """
        required = self._terms.required
        near = np.ones(len(self._cluster), dtype=np.bool_)
        for term in required:
            near &= self._cluster.label(term.topology_key).present
        if not required or (self._near.is_empty and self._counter.matches_itself(required)):
            return near
        for term in required:
            near = near & (self._near.around(term.topology_key) > 0)
        return near

    def _preferences(self) -> Domains:
        """What the candidate prefers and what existing pods prefer about it; their required affinity weighs a little too."""
        domains = Domains(self._cluster)
        terms, args = self._terms, self._args
        if not self._prefers:
            return domains
        for sign, preferred in ((1, terms.preferred), (-1, terms.preferred_anti)):
            for term in preferred:
                domains.add(term.topology_key, self._counter.matched_by_all([term]), sign * term.weight)
        for existing, per_node in self._counter.existing():
            if args.hard_pod_affinity_weight > 0:
                self._add_meant(domains, existing.required, per_node, args.hard_pod_affinity_weight)
            for sign, preferred in ((1, existing.preferred), (-1, existing.preferred_anti)):
                for term in preferred:
                    self._add_meant(domains, [term], per_node, sign * term.weight)
        return domains

    def _add_meant(self, domains: Domains, terms: Iterable[Term], per_node: Counts, weight: int) -> None:
        for term in terms:
            if self._counter.is_meant_by(term):
                domains.add(term.topology_key, per_node, weight)

    def score(self, feasible: Mask) -> Counts | None:
        if self.preferences.is_empty:
            return None
        raw = np.zeros(len(self._cluster), dtype=np.int64)
        for key in self.preferences.keys():  # noqa: SIM118 - not a dict
            raw += self.preferences.around(key)
        return raw

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        return int(raw[feasible].min()), int(raw[feasible].max())

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Stretched from the least feasible node at 0 to the greatest at 100; divided before multiplied, as in Go."""
        least, greatest = extent
        if least == greatest:
            return np.zeros(len(self._cluster), dtype=np.int64)
        stretched: Counts = (float(MAX_NODE_SCORE) * ((raw - least).astype(np.float64) / float(greatest - least))).astype(np.int64)
        return stretched
