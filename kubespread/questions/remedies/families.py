"""Possible changes for a pod that fits nowhere: each kind is a row of `FAMILIES`.

Constraints are changed whatever rejects the pod now: a hard constraint also says which nodes the others count. Labels
and taints that describe a machine, such as its zone, its name or that it is spot, are left as they are, and so are
taints that describe a node's state: these return as long as the state lasts. No nodes are added in domains that broke
down: the same cause would affect new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import cycle, islice
from typing import Literal

import numpy as np
from msgspec import Struct

from kubespread.controllers.deployment import ROLLING_UPDATE, limits, strategy_of
from kubespread.controllers.disruption import protects
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Node, Pod, Taint
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import full_name, priority_of
from kubespread.kube.pod_requests import amounts, pod_requests
from kubespread.kube.providers import owns_label, owns_taint
from kubespread.kube.quantity import NANO, Quantity
from kubespread.kube.selector import Requirement, parse_term, required_node_selector
from kubespread.kube.taint import COMPARISON_GATE, DO_NOT_SCHEDULE_EFFECTS, taint_text, untolerated
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import BETA_ZONE, HOSTNAME, NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY, ZONE
from kubespread.questions.causes.bars import closed_minimums, near_key
from kubespread.questions.causes.own_pods import older_revision, placed_volumes
from kubespread.questions.remedies.change import Change, Ladder, QuestionEdits
from kubespread.questions.room import PODS, allocatable, free
from kubespread.reports.advice import SCHEDULE_ANYWAY
from kubespread.reports.parts import NOT_READY, closing_states, letter
from kubespread.scheduler.cluster.cluster import Holdings
from kubespread.scheduler.cluster.columns import Mask, scheduler_amounts
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import CountingState, FixedState
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit, NodeResourcesFitState
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread, SpreadState
from kubespread.snapshot.edits.new_nodes import AddNode, is_state_taint
from kubespread.snapshot.edits.nodes import RemoveLabel, RemoveTaint, SetLabel, Uncordon
from kubespread.snapshot.edits.pods import EvictPod, SetMaxUnavailable
from kubespread.snapshot.edits.verb import Target
from kubespread.snapshot.topology_keys import SHORT_KEYS
from kubespread.wording import count_of, domain_noun, short_key

SHORT = {full: short for short, full in SHORT_KEYS.items()}
"""Well-known topology keys as people type them."""
MAX_SKEW, POLICY, MIN_DOMAINS, TOPOLOGY_KEY = "maxSkew", "policy", "minDomains", "topologyKey"
UNCORDON, LABEL, UNTAINT, TOLERATE, REQUESTS = "uncordon", "label", "untaint", "tolerate", "requests"
EVICT, WAIT, ADD_NODE, MAX_UNAVAILABLE = "evict", "wait", "add-node", "maxUnavailable"
_GATE = "NodeInclusionPolicyInPodTopologySpread"
_OTHER_MACHINES = 300
"""Cost of other machines or another zone than required: more than the cost of some more nodes."""
_INVENTED = 400
"""Cost of naming a domain that does not exist yet."""
_NEW = "new-1"
_MOST_SKEW = 1000
_MOST_TOGETHER = 100
_MOST_COPIES = 10
_MOST_NEW_DOMAINS = 3
_UNITS = {"cpu": NANO // 1000, "memory": NANO}
"""The scheduler's counting units, in 10^-9 units."""
_STEPS = {"cpu": 1, "memory": 2**20}
"""The granularity of amounts where pods share nodes."""

LabelEdit = SetLabel | RemoveLabel
Domain = tuple[str, str]
"""A topology key and its value."""


def key_to_set(pod: Pod, place: int) -> str:
    """The topology key, short where that is unambiguous; the position where two constraints share one."""
    keys = [constraint.topology_key for constraint in pod.spec.topology_spread_constraints]
    key = keys[place]
    short = SHORT.get(key, key)
    if keys.count(key) > 1:
        return str(place)
    return key if short in keys and short != key else short


class OwnConstraint(Struct, frozen=True):
    """A hard constraint that the pod declares."""

    letter: str
    key: str
    """Key in the brackets of ``--set``."""
    counted: HardConstraint

    def setting(self, family: str, field: str, value: object, cost: int) -> Change:
        return Change(family, f"{field} {value}", cost, (f"{field}[{self.key}]={value}",), letter=self.letter)


class StuckPod(Struct, frozen=True, dict=True):
    """The engine's answer for a pod without a node, from which possible changes are derived."""

    evaluation: Evaluation
    version: KubeVersion
    lacking: int | None = None
    """Number of copies without a node; None for a single pod.

    The evaluation is then of the first stuck copy, and rules nothing out: a change also moves the copies before it.
    """
    fitting: int = 0
    """Number of the pods that already have a node."""
    in_free_room: int | None = None
    """Number of pods that must fit into the cluster's free room; None if some have nodes already, or others may go."""
    edits: QuestionEdits = QuestionEdits()
    """Edits of the question itself, which no remedy may undo."""
    rivals: int = 0
    """Number of other pending pods, which may take new nodes first."""
    are_distinct: bool = False
    """True if the pods are not copies: each is judged by itself."""
    is_combined: bool = False
    """True if other changes are made too, which may remove any rejection."""

    @cached_property
    def _decisions(self) -> frozenset[Hashable]:
        return self.edits.decisions(self.nodes, self.pod)

    def undoes(self, change: Change) -> bool:
        """True if a change overrides an edit or setting of the question."""
        if not self._decisions:
            return False
        own = QuestionEdits(change.edits, change.settings, self.edits.workload)
        return not self._decisions.isdisjoint(own.decisions(self.nodes, self.pod))

    @cached_property
    def open_to_it(self) -> Mask:
        """Nodes without permanent rejections: ones that remain for any requests and running pods."""
        evaluation = self.evaluation
        fixed = (name for name, state in evaluation.states.items() if isinstance(state, FixedState))
        masks = (evaluation.verdicts[name].passes for name in fixed if name in evaluation.verdicts)
        passing: Mask = np.logical_and.reduce([evaluation.included_nodes, *masks])
        return passing

    @property
    def pod(self) -> Pod:
        return self.evaluation.pod

    @property
    def is_one(self) -> bool:
        return self.lacking is None

    @property
    def may_take_several(self) -> bool:
        """True if one more node may not suffice."""
        return self.lacking is not None and self.lacking > 1

    @property
    def nodes(self) -> Sequence[Node]:
        return self.evaluation.cluster.nodes.objects

    @cached_property
    def own_constraints(self) -> Sequence[OwnConstraint]:
        """Hard constraints that the pod declares, in declared order; none if its profile does not spread."""
        state = self.evaluation.states.get(PodTopologySpread.name)
        if not isinstance(state, SpreadState) or PodTopologySpread.name not in self.evaluation.verdicts:
            return ()
        places = [place for place, constraint in enumerate(state.declared.constraints) if constraint.is_hard]
        return [
            OwnConstraint(letter(place), key_to_set(self.pod, place), counted)
            for place, counted in zip(places, state.hard, strict=True)
            if counted.constraint.source == "pod"
        ]

    @cached_property
    def complaints(self) -> list[int]:
        """Number of filter plugins that reject each node."""
        counts = np.zeros(len(self.evaluation.cluster), dtype=np.int64)
        for verdicts in self.evaluation.verdicts.values():
            counts += ~verdicts.passes
        return [int(count) for count in counts]

    def nearest_first(self) -> Iterator[Node]:
        """Yield nodes by number of rejections, equal ones by name."""
        complaints, nodes = self.complaints, self.nodes
        for place in sorted(range(len(nodes)), key=lambda place: (complaints[place], nodes[place].metadata.name)):
            yield nodes[place]


def topology_keys(stuck: StuckPod) -> Iterator[Ladder]:
    """Replace a topology key that no node has by a label like it: its successor, or its correct spelling."""
    nodes = stuck.evaluation.cluster.nodes
    for own in stuck.own_constraints:
        key = own.counted.constraint.topology_key
        if not nodes.label(key).present.any() and (label := near_key(key, nodes)):
            change = own.setting(TOPOLOGY_KEY, "topologyKey", label, 8)
            yield Ladder.build(change, change.text)


def max_skews(stuck: StuckPod) -> Iterator[Ladder]:
    """Larger maxSkew, by 1, 2 ...; for one pod, only values that admit some node."""
    for own in stuck.own_constraints:
        now, skews = own.counted.constraint.max_skew, _skews(stuck, own)

        def change(place: int, own: OwnConstraint = own, skews: Sequence[int] = skews, now: int = now) -> Change:
            return own.setting(MAX_SKEW, "maxSkew", skews[place], 160 + 10 * (skews[place] - now))

        if skews:
            yield Ladder(MAX_SKEW, f"{own.letter} maxSkew up to {skews[-1]}", len(skews), change, own.letter)


def _skews(stuck: StuckPod, own: OwnConstraint) -> Sequence[int]:
    """Each maxSkew worth trying, the least first."""
    counted = own.counted
    now = counted.constraint.max_skew
    if stuck.lacking is not None:
        highest = int(counted.counts.max(initial=0)) + stuck.lacking
        return range(now + 1, min(highest, now + _MOST_SKEW) + 1)
    skews = counted.counts_at() + counted.constraint.self_match - counted.global_minimum
    return sorted({skew for skew in skews[counted.column.present].tolist() if skew > now})


def policies(stuck: StuckPod) -> Iterator[Ladder]:
    """The other value of nodeTaintsPolicy and nodeAffinityPolicy, which makes other domains count."""
    for own in stuck.own_constraints if stuck.version.has(_GATE) else ():
        constraint = own.counted.constraint
        now = {"nodeTaintsPolicy": constraint.honors_taints, "nodeAffinityPolicy": constraint.honors_affinity}
        for name, honors in now.items():
            change = own.setting(POLICY, name, "Ignore" if honors else "Honor", 10)
            yield Ladder.build(change, change.text)


def min_domains(stuck: StuckPod) -> Iterator[Ladder]:
    """Smaller minDomains, down to 1: with enough domains the actual minimum counts.

    All reductions cost the same, and give up no spread that is possible.
    """
    for own in stuck.own_constraints:
        now = own.counted.constraint.min_domains or 1

        def change(place: int, own: OwnConstraint = own, now: int = now) -> Change:
            return own.setting(MIN_DOMAINS, "minDomains", now - 1 - place, 9)

        if now > 1:
            yield Ladder(MIN_DOMAINS, f"{own.letter} minDomains down to 1", now - 1, change, own.letter)


def relax(stuck: StuckPod) -> Iterator[Ladder]:
    """ScheduleAnyway, which excludes minDomains."""
    for own in stuck.own_constraints:
        dropped = (f"minDomains[{own.key}]=null",) if own.counted.constraint.min_domains is not None else ()
        settings = (*dropped, f"whenUnsatisfiable[{own.key}]=ScheduleAnyway")
        change = Change(SCHEDULE_ANYWAY, "ScheduleAnyway", 240, settings, letter=own.letter)
        yield Ladder.build(change, f"relaxing {own.letter}")


class _OfNode(Struct, frozen=True):
    """A change of one node."""

    change: Change
    summary: str
    phrase: str
    """Phrase for several nodes, with ``{}`` for their number; the same for nodes that are changed alike."""
    summary_of_many: str


def _of_nodes(stuck: StuckPod, changes: Iterable[_OfNode]) -> Iterator[Ladder]:
    """One node each; where copies may need several, the same change to two nodes, to three ..."""
    by_phrase: dict[str, list[_OfNode]] = {}
    for one in changes:
        if stuck.undoes(one.change):
            continue
        by_phrase.setdefault(one.phrase, []).append(one)
        yield Ladder.build(one.change, one.summary)
    for phrase, alike in by_phrase.items() if stuck.may_take_several else ():
        pieces = [one.change for one in alike]

        def change(place: int, phrase: str = phrase, pieces: Sequence[Change] = pieces) -> Change:
            return Change.of_pieces(phrase, pieces[: place + 2])

        if len(pieces) > 1:
            summary = alike[0].summary_of_many.format(len(pieces))
            yield Ladder(pieces[0].family, summary, min(len(pieces), _MOST_TOGETHER) - 1, change, of_many=True)


def more_unavailable(stuck: StuckPod) -> Iterator[Ladder]:
    """One more unavailable pod of the Deployment, if its old pods block its rollout."""
    older, objects = older_revision(stuck.evaluation), stuck.evaluation.cluster.objects
    if older is None:
        return
    namespace, name = older.deployment.namespace, older.deployment.name
    deployment = objects.find(Deployment, name, namespace)
    if deployment is not None and strategy_of(deployment) == ROLLING_UPDATE and not deployment.spec.paused:
        more = limits(deployment).max_unavailable + 1
        what = f"maxUnavailable: {more} of deploy/{name}"
        change = Change(
            MAX_UNAVAILABLE,
            what,
            18,
            edits=(SetMaxUnavailable(namespace, name, more),),
            brief=f"maxUnavailable: {more}",
        )
        yield Ladder.build(change, change.brief)


def uncordons(stuck: StuckPod) -> Iterator[Ladder]:
    names = (node.metadata.name for node in stuck.nearest_first() if node.spec.unschedulable)
    changes = ((name, Change(UNCORDON, f"uncordon {name}", 20, edits=(Uncordon(Target(name)),))) for name in names)
    return _of_nodes(
        stuck,
        (
            _OfNode(change, f"uncordoning {name}", "uncordon {} nodes", "uncordoning {} nodes")
            for name, change in changes
        ),
    )


def node_labels(stuck: StuckPod) -> Iterator[Ladder]:
    """Missing labels of nodes: ones that the pod's node selector and affinity require, and topology keys."""

    def changes() -> Iterator[_OfNode]:
        for node in stuck.nearest_first():
            if edits := _missing_labels(stuck, node):
                name, labels = node.metadata.name, node.metadata.labels
                pieces = [_label(edit, is_there=edit.key in labels) for edit in edits]
                change = Change.of_pieces(f"label {name}", pieces)
                phrase = f"label {{}} nodes {change.text.removeprefix(f'label {name} ')}"
                yield _OfNode(change, f"labeling {name}", phrase, "labeling {} nodes")

    return _of_nodes(stuck, changes())


def _label(edit: LabelEdit, *, is_there: bool) -> Change:
    if isinstance(edit, SetLabel) and edit.value == _NEW:
        return Change(LABEL, f"{edit} (an invented {short_key(edit.key)})", _INVENTED, edits=(edit,))
    # Replacing a label costs more than adding one.
    return Change(LABEL, str(edit), 22 + 4 * is_there, edits=(edit,))


def _missing_labels(stuck: StuckPod, node: Node) -> tuple[LabelEdit, ...]:
    """Empty where none is missing, or where labels alone do not help."""
    required = _node_requirements(stuck.pod, node)
    if required is None:
        return ()
    edits: list[LabelEdit] = []
    target = Target(node.metadata.name)
    for requirement in required:
        if requirement.matches(node.metadata.labels):
            continue
        if requirement.operator in ("In", "Exists"):
            edits.append(SetLabel(target, requirement.key, (*requirement.values, "true")[0]))
        elif requirement.operator in ("NotIn", "DoesNotExist"):
            edits.append(RemoveLabel(target, requirement.key))
        else:
            return ()
    for own in stuck.own_constraints:
        key = own.counted.constraint.topology_key
        if key not in node.metadata.labels and all(edit.key != key for edit in edits):
            edits.append(SetLabel(target, key, _NEW))
    return () if any(owns_label(edit.key) for edit in edits) else tuple(edits)


def _node_requirements(pod: Pod, node: Node) -> Sequence[Requirement] | None:
    """The required node labels, of alternative terms the ones closest to the node's. None: no labels help."""
    own = [Requirement(key, "In", (value,)) for key, value in pod.spec.node_selector.items()]
    required = required_node_selector(pod)
    if required is None:
        return own
    terms = [parse_term(term) for term in required.node_selector_terms]
    name, labels = node.metadata.name, node.metadata.labels
    possible = [term for term in terms if term.can_match and all(field.admits(name) for field in term.fields)]
    if not possible:
        return None
    unmet = [sum(not requirement.matches(labels) for requirement in term.labels) for term in possible]
    return [*own, *possible[unmet.index(min(unmet))].labels]


def untaints(stuck: StuckPod) -> Iterator[Ladder]:
    """Removal of an untolerated taint from one node."""

    def changes() -> Iterator[_OfNode]:
        for node in stuck.nearest_first():
            own = (taint for taint in _unwelcome(stuck, node) if not owns_taint(taint))
            for key, effect in dict.fromkeys((taint.key, taint.effect) for taint in own):
                edit = RemoveTaint(Target(node.metadata.name), key, effect)
                change, taint = Change(UNTAINT, str(edit), 185, edits=(edit,)), edit.mark
                summary = f"taking {taint} off {node.metadata.name}"
                yield _OfNode(change, summary, f"taint {{}} nodes {taint}-", f"taking {taint} off {{}} nodes")

    return _of_nodes(stuck, changes())


def tolerations(stuck: StuckPod) -> Iterator[Ladder]:
    """Toleration of one taint that nodes have."""
    taints = dict.fromkeys(taint_text(taint) for node in stuck.nearest_first() for taint in _unwelcome(stuck, node))
    for text in taints:
        yield Ladder.build(Change(TOLERATE, f"tolerate {text}", 180, (f"tolerations={text}",)), f"tolerating {text}")


def _unwelcome(stuck: StuckPod, node: Node) -> list[Taint]:
    compares = stuck.version.has(COMPARISON_GATE)
    repelling = untolerated(node.spec.taints, stuck.pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares)
    return [taint for taint in repelling if not is_state_taint(taint)]


def smaller_requests(stuck: StuckPod) -> Iterator[Ladder]:
    """Smaller requests per resource and container, the largest first: for one pod the amounts that just fit a node,
    else every amount.
    """
    containers = stuck.pod.spec.containers
    total = scheduler_amounts(pod_requests(stuck.pod))
    for resource, step in _STEPS.items():
        for container in containers:
            own = scheduler_amounts(amounts(container.resources.requests)).get(resource, 0)
            key = f"[{container.name}]" if len(containers) > 1 else ""
            beside = total.get(resource, 0) - own
            if stuck.is_one:
                smaller: Sequence[int] = _holes(stuck, resource, own, beside)
            else:
                most = own - 1 if stuck.in_free_room is None else min(own - 1, _largest(stuck, resource) - beside)
                smaller = range(most - most % step, 0, -step)

            def change(
                place: int, rooms: Sequence[int] = smaller, of: str = f"{resource}{key}", now: int = own
            ) -> Change:
                amount, name = rooms[place], of.partition("[")[0]
                text = _in_units(amount, name)
                percent, remarks = round(100 * (now - amount) / now), [f"from {_in_units(now, name)}"]
                # Neither none nor all of the request goes.
                if 0 < percent < 100:
                    remarks.append(f"−{percent}%")
                what, brief = f"request {of} {text} ({', '.join(remarks)})", f"request {of} {text} ({remarks[-1]})"
                return Change(REQUESTS, what, 145 if 2 * amount >= now else 155, (f"{of}={text}",), brief=brief)

            # None where the request would have to be 0.
            if smaller:
                yield Ladder(REQUESTS, f"requesting less {resource}{key}", len(smaller), change)


def _in_units(amount: int, resource: str) -> Quantity:
    """An amount in the scheduler's units, as it is written."""
    return Quantity(amount * _UNITS[resource], "DecimalSI" if resource == "cpu" else "BinarySI")


def _holes(stuck: StuckPod, resource: str, own: int, beside: int) -> list[int]:
    """Free amounts on nodes less ``beside``, the requests of the pod's other containers; finally the least amount."""
    holes = np.unique(free(stuck.evaluation.cluster, resource)) - beside
    fitting = [*holes[(holes > 1) & (holes < own)][::-1].tolist(), 1]
    return fitting if own > 1 else []


def _largest(stuck: StuckPod, resource: str) -> int:
    """The largest amount that fits into the free room of nodes once per copy, by arithmetic alone."""
    copies, cluster = stuck.in_free_room or 1, stuck.evaluation.cluster
    room, pods = (free(cluster, name)[stuck.open_to_it] for name in (resource, PODS))
    low, high = 0, int(room.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(room // middle, pods).sum()) >= copies:
            low = middle
        else:
            high = middle - 1
    return low


def dropped_requirements(stuck: StuckPod) -> Iterator[Ladder]:
    """Removal of one requirement on node labels or on pods nearby."""
    for family, key, cost in dict.fromkeys(_requirements(stuck)):
        change = Change(family, f"drop {family} {key}", cost, (f"{family}[{SHORT.get(key, key)}]=null",))
        yield Ladder.build(change, f"dropping {family} {key}")


def _requirements(stuck: StuckPod) -> Iterator[tuple[str, str, int]]:
    """Yield each requirement with the cost of dropping it."""
    spec, required = stuck.pod.spec, required_node_selector(stuck.pod)
    for key in spec.node_selector:
        yield "nodeSelector", key, _OTHER_MACHINES if owns_label(key) else 190
    for term in required.node_selector_terms if required is not None else ():
        for expression in (*term.match_expressions, *term.match_fields):
            yield "nodeAffinity", expression.key, _OTHER_MACHINES if owns_label(expression.key) else 191
    if spec.affinity is None:
        return
    near = {"podAffinity": spec.affinity.pod_affinity, "podAntiAffinity": spec.affinity.pod_anti_affinity}
    for family, affinity in near.items():
        for near_term in affinity.required_during_scheduling_ignored_during_execution if affinity is not None else ():
            yield family, near_term.topology_key, 195


def waits(stuck: StuckPod) -> Iterator[Ladder]:
    """Waiting for terminating pods."""
    for pod in stuck.evaluation.cluster.running.pods:
        if pod.metadata.deletion_timestamp is not None:
            yield _remove(WAIT, pod, "wait for {} to terminate", "waiting for {}", 5)


def evictions(stuck: StuckPod) -> Iterator[Ladder]:
    """Eviction of a pod that is then recreated elsewhere: nodes with the fewest other rejections first, then lower
    priorities.

    One pod stands for all of its kind on the node. Alone, one that leaves too little room on its node is no remedy.
    """
    running, complaints, frees = stuck.evaluation.cluster.running, stuck.complaints, _freeing(stuck)
    mine, node, pods = priority_of(stuck.pod), running.node, running.pods
    _, first = np.unique(np.stack([running.kind, node]), axis=1, return_index=True)

    def order(place: int) -> tuple[bool, int, bool, int, int]:
        priority = priority_of(pods[place])
        return not frees[place], complaints[int(node[place])], priority >= mine, priority, place

    for place in sorted(first.tolist(), key=order):
        if pods[place].metadata.deletion_timestamp is None and (frees[place] or stuck.is_combined):
            yield _remove(EVICT, pods[place], "evict {}", "evicting {}", 35)


def _freeing(stuck: StuckPod) -> Mask:
    """Running pods that hold enough of each resource missing on their node, or may be in the pod's way otherwise."""
    evaluation, cluster = stuck.evaluation, stuck.evaluation.cluster
    number, node, kinds = cluster.running.kind, cluster.running.node, cluster.kinds.all
    rejected = {name: ~verdicts.passes & stuck.open_to_it for name, verdicts in evaluation.verdicts.items()}
    counting = {
        name for name in rejected if isinstance(evaluation.states[name], CountingState) and rejected[name].any()
    }
    if evaluation.rejection is not None or evaluation.error is not None or counting - {PodTopologySpread.name}:
        return np.ones(len(number), dtype=np.bool_)
    by_node = [nodes for name, nodes in rejected.items() if name not in counting]
    frees: Mask = np.logical_or.reduce([np.zeros(len(cluster), dtype=np.bool_), *by_node])[node]
    state = evaluation.states.get(NodeResourcesFit.name) if NodeResourcesFit.name in rejected else None
    for room in state.rooms(Holdings(cluster)) if isinstance(state, NodeResourcesFitState) else ():
        requests = np.array([kind.requests[0].get(room.resource, 0) for kind in kinds], dtype=np.int64)
        frees &= ~room.is_short[node] | (room.free[node] + requests[number] >= room.requested)
    # A constraint counts pods of the pod's own namespace, wherever they run.
    counted = [bool(counting) and kind.namespace == stuck.pod.metadata.namespace for kind in kinds]
    return frees | np.array(counted, dtype=np.bool_)[number]


def _remove(family: str, pod: Pod, what: str, summary: str, cost: int) -> Ladder:
    name = full_name(pod)
    edit = EvictPod(pod.metadata.name, pod.metadata.namespace)
    return Ladder.build(Change(family, what.format(name), cost, edits=(edit,)), summary.format(name))


def notes_on(stuck: StuckPod, change: Change) -> Iterator[str]:
    """Yield notes on a change: how long a larger maxSkew lasts, and budgets and priorities of evicted pods."""
    cluster = stuck.evaluation.cluster
    for part in (part for part in change.parts if part.family == MAX_SKEW):
        yield from _lasts(stuck, part)
    if WAIT in change.family:
        return
    evicted = {(edit.namespace, edit.name) for edit in change.edits if isinstance(edit, EvictPod)}
    for pod in cluster.running.pods if evicted else ():
        if (pod.metadata.namespace, pod.metadata.name) not in evicted:
            continue
        budgets = [budget.metadata.name for budget in cluster.objects.get(PodDisruptionBudget) if protects(budget, pod)]
        allowed = f"budget {', '.join(budgets)} allows it" if budgets else "no budget protects it"
        theirs, mine = priority_of(pod), priority_of(stuck.pod)
        compared = "the same priority" if theirs == mine else f"priority {theirs}, the pod's is {mine}"
        yield f"{allowed}; {compared}"


def _lasts(stuck: StuckPod, change: Change) -> Iterator[str]:
    """``lasts for 1 more replica per node``, where the minimum is that of a domain the pod cannot enter."""
    for own in stuck.own_constraints:
        constraint = own.counted.constraint
        if own.letter == change.letter and constraint.topology_key in closed_minimums(stuck.evaluation):
            more = int(change.settings[0].rpartition("=")[2]) - constraint.max_skew
            yield f"lasts for {count_of(more, 'more replica')} per {domain_noun(constraint.topology_key)}"


def new_nodes(stuck: StuckPod) -> Iterator[Ladder]:
    """Copies of a node of each shape, in domains that have not failed; in new ones too if a constraint needs more."""
    failed, shapes = _failed_domains(stuck), dict[Hashable, str]()
    for node in stuck.nearest_first():
        # A copy of one that is cordoned or not ready is neither.
        if failed.isdisjoint(node.metadata.labels.items()):
            shapes.setdefault(_shape(node), node.metadata.name)
    for template in shapes.values():
        yield _copies(template, _most(stuck))
    if stuck.may_take_several:
        yield from _one_in_each_domain(stuck, failed)
    yield from _into_closed_domains(stuck, failed)
    yield from _beside_volumes(stuck, failed)
    for template in shapes.values():
        for key, missing in _missing_domains(stuck):
            yield _in_new_domains(template, key, max(missing, min(stuck.lacking or 1, _MOST_NEW_DOMAINS)))


def _copies(template: str, most: int, labels: tuple[tuple[str, str], ...] = ()) -> Ladder:
    where = "".join(f" in {value}" for _, value in labels)

    def change(place: int) -> Change:
        more, edit = count_of(place + 1, "more node"), AddNode(template, place + 1, labels)
        return Change(
            ADD_NODE, f"{more} like {template}{where}", 40 + 10 * place, edits=(edit,), brief=f"{more}{where}"
        )

    return Ladder(ADD_NODE, f"more nodes like {template}{where}", most, change)


def _one_in_each_domain(stuck: StuckPod, failed: Set[Domain]) -> Iterator[Ladder]:
    """Nodes in turn in domains of a constraint, fewest pods first, each like a node there that would hold the pod."""
    cluster = stuck.evaluation.cluster
    requests = scheduler_amounts(pod_requests(stuck.pod))
    holds = np.ones(len(cluster), dtype=np.bool_)
    for name, amount in requests.items():
        holds &= allocatable(cluster, name) >= amount
    for own in stuck.own_constraints:
        key, column = own.counted.constraint.topology_key, own.counted.column
        templates: dict[str, str] = {}
        for node in stuck.nearest_first():
            value, is_open = node.metadata.labels.get(key), _is_open(stuck, node) and not _is_down(node)
            if value and is_open and (key, value) not in failed and holds[cluster.nodes.index[node.metadata.name]]:
                templates.setdefault(value, node.metadata.name)
        if key != HOSTNAME and len(templates) > 1:
            counts = own.counted.counts
            in_turn = sorted(templates, key=lambda value: (int(counts[column.index[value]]), value))
            yield _in_turn([templates[value] for value in in_turn], key, _most(stuck))


def _in_turn(templates: Sequence[str], key: str, most: int) -> Ladder:
    phrase = f"{{}} more nodes, one per {short_key(key)} in turn"
    pieces = [
        Change(ADD_NODE, f"1 more node like {template}", 40, edits=(AddNode(template, 1),))
        for template in islice(cycle(templates), most)
    ]
    return Ladder(
        ADD_NODE, phrase.format(most), most, lambda place: Change.of_pieces(phrase, pieces[: place + 1]), of_many=True
    )


def _failed_domains(stuck: StuckPod) -> Set[Domain]:
    """Domains without a ready node: where machines are lost, no new ones come up."""
    keys = {ZONE, BETA_ZONE, *(own.counted.constraint.topology_key for own in stuck.own_constraints)} - {HOSTNAME}
    ready, failed = set[Domain](), set[Domain]()
    for node in stuck.nodes:
        domains = {(key, value) for key, value in node.metadata.labels.items() if key in keys}
        if _is_down(node):
            failed |= domains
        else:
            ready |= domains
    return failed - ready


def _is_down(node: Node) -> bool:
    keys = (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)
    return NOT_READY in closing_states(node) or any(taint.key in keys for taint in node.spec.taints)


def _into_closed_domains(stuck: StuckPod, failed: Set[Domain]) -> Iterator[Ladder]:
    """Copies of a node from elsewhere, for domains with only tainted nodes: their copies would be tainted too."""
    is_open = {node.metadata.name: _is_open(stuck, node) and not _is_down(node) for node in stuck.nodes}
    template = next((node.metadata.name for node in stuck.nearest_first() if is_open[node.metadata.name]), None)
    keys = dict.fromkeys(own.counted.constraint.topology_key for own in stuck.own_constraints)
    for key in keys if template is not None else ():
        if key == HOSTNAME:
            continue
        domains: dict[str, bool] = {}
        for node in stuck.nodes:
            if (value := node.metadata.labels.get(key)) is not None and not _is_down(node):
                domains[value] = domains.get(value, False) or is_open[node.metadata.name]
        for value, has_open in domains.items():
            if value and not has_open and (key, value) not in failed and template is not None:
                yield _copies(template, _most(stuck), ((SHORT.get(key, key), value),))


def _beside_volumes(stuck: StuckPod, failed: Set[Domain]) -> Iterator[Ladder]:
    """Copies of a node from elsewhere, for domains with volumes of the pod but no usable node."""
    nodes = [node for node in stuck.nearest_first() if _is_open(stuck, node) and not _is_down(node)]
    for volume in placed_volumes(stuck.evaluation) if nodes else ():
        for value in () if volume.key == HOSTNAME else volume.values:
            is_there = any(node.metadata.labels.get(volume.key) == value for node in nodes)
            if not is_there and (volume.key, value) not in failed:
                yield _copies(nodes[0].metadata.name, _most(stuck), ((SHORT.get(volume.key, volume.key), value),))


def _is_open(stuck: StuckPod, node: Node) -> bool:
    tolerations = stuck.pod.spec.tolerations
    return not node.spec.unschedulable and not untolerated(node.spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS)


def _in_new_domains(template: str, key: str, most: int) -> Ladder:
    def change(place: int) -> Change:
        edits = tuple(AddNode(template, labels=((key, f"new-{number}"),)) for number in range(1, place + 2))
        more = count_of(place + 1, "more node")
        where = f",{' each' if place else ''} in an invented {short_key(key)}"
        return Change(
            ADD_NODE, f"{more} like {template}{where}", _INVENTED + 10 * place, edits=edits, brief=f"{more}{where}"
        )

    return Ladder(ADD_NODE, f"a node like {template} in a new domain", most, change)


def _most(stuck: StuckPod) -> int:
    """Maximum number of nodes to add: one per copy, or as many as minDomains over hosts lacks; one more per rival."""
    hosts = [
        (own.counted.constraint.min_domains or 1) - len(own.counted.column.values)
        for own in stuck.own_constraints
        if own.counted.constraint.topology_key == HOSTNAME
    ]
    own = stuck.lacking or max(1, min(_MOST_COPIES, max(hosts, default=1)))
    return min(own + stuck.rivals, _MOST_COPIES * 10)


def _missing_domains(stuck: StuckPod) -> Iterator[tuple[str, int]]:
    """Yield topology keys with fewer domains than minDomains, and the number of missing ones."""
    for own in stuck.own_constraints:
        key = own.counted.constraint.topology_key
        missing = (own.counted.constraint.min_domains or 1) - int(own.counted.is_domain.sum())
        if key != HOSTNAME and 0 < missing <= _MOST_NEW_DOMAINS:
            yield key, missing


def _shape(node: Node) -> Hashable:
    """Properties that a copy inherits from the node."""
    labels = tuple(sorted((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME))
    taints = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints if not is_state_taint(taint))
    return labels, taints, tuple(sorted(map(str, node.status.allocatable.items())))


class Family(Struct, frozen=True):
    """Changes of one kind."""

    least_cost: int
    """Cost of the cheapest, which lets a search for one change stop early."""
    of: Literal["constraint", "pod", "workload", "node", "other pod"]
    """Kind of changed object; one evaluation shows the effect of changed constraints."""
    possible: Callable[[StuckPod], Iterator[Ladder]]
    """Function for the possible changes, the most promising first: nodes with the fewest other rejections."""

    def changes(self, stuck: StuckPod) -> Iterator[Ladder]:
        """Yield possible changes that do not undo the question's own."""
        return (ladder for ladder in self.possible(stuck) if not stuck.undoes(ladder.least))


FAMILIES: Sequence[Family] = (
    Family(5, "other pod", waits),
    Family(8, "pod", topology_keys),
    Family(9, "constraint", min_domains),
    Family(10, "constraint", policies),
    Family(18, "workload", more_unavailable),
    Family(20, "node", uncordons),
    Family(22, "node", node_labels),
    Family(35, "other pod", evictions),
    Family(40, "node", new_nodes),
    Family(145, "pod", smaller_requests),
    Family(170, "constraint", max_skews),
    Family(180, "pod", tolerations),
    Family(185, "node", untaints),
    Family(190, "pod", dropped_requirements),
    Family(240, "constraint", relax),
)
"""Kinds in the order operators try them: changes that keep every promise, more nodes, less for each pod."""
