"""Sentence on the one thing that bars a pod that fits nowhere.

One thing bars the pod when it rejects every node, or when it is a constraint without which some node would fit: then
the domains it leaves, and the faults of their nodes, are the whole answer. Also the label that a topology key
was meant to be: one that names the same thing, not one merely spelled alike; and phrases for a pod's node selection and
for the faults of single nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, Taint
from kubespread.kube.api.unknown_fields import did_you_mean
from kubespread.kube.selector import Selector, from_map, parse_term, required_node_selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, taint_text, untolerated
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, CORDON_TAINT_KEY, HOSTNAME, REGION, ZONE
from kubespread.questions.causes.own_pods import OF_VOLUMES, claims_at_fault, older_revision, placed_volumes
from kubespread.regex import regex
from kubespread.reports.reason_words import ReasonWords, words_of
from kubespread.scheduler.cluster.columns import Mask, distinct
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.node_affinity import POD_MISMATCH
from kubespread.scheduler.plugins.node_properties import NodeUnschedulable, TaintToleration
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread, SpreadState
from kubespread.wording import count_of, short_key

SELECTION = words_of(POD_MISMATCH.reasons[0])
"""Reason of nodes that the pod's node selector or node affinity excludes."""
PODS, TAINT, CORDONED = (
    words_of(reason) for reason in ("Too many pods", "node(s) had untolerated taint(s)", "node(s) were unschedulable")
)
_MAX_NAMED = 3


def selection(pod: Pod) -> str:
    """``nodeSelector pool=mem``, or node affinity, or both; alternative terms are left out."""
    parts = [f"nodeSelector {from_map(pod.spec.node_selector)}"] if pod.spec.node_selector else []
    required = required_node_selector(pod)
    if required is not None:
        terms = required.node_selector_terms
        only = parse_term(terms[0]).labels if len(terms) == 1 and not terms[0].match_fields else ()
        parts.append(f"node affinity {Selector(only)}" if only else "node affinity")
    return " and ".join(parts)


def selected_nowhere(evaluation: Evaluation) -> str:
    """``no node has disk=ssd (nodeSelector)``: the first label that no node has, else the labels that no node has
    together.
    """
    pod, nodes, required = evaluation.pod, evaluation.cluster.nodes.objects, required_node_selector(evaluation.pod)
    terms = [] if required is None else [parse_term(term) for term in required.node_selector_terms]
    only = terms[0].labels if len(terms) == 1 and not terms[0].fields else ()
    own = from_map(pod.spec.node_selector).requirements
    for requirements, where in ((own, "nodeSelector"), (only, "node affinity")):
        for requirement in requirements:
            if not any(requirement.matches(node.metadata.labels) for node in nodes):
                return f"no node has {Selector((requirement,))} ({where})"
    return f"no node meets {selection(pod)}"


def node_names(evaluation: Evaluation, nodes: Mask) -> str | None:
    """Names of the nodes; None if there are none or many."""
    positions = np.flatnonzero(nodes).tolist()
    if not positions or len(positions) > _MAX_NAMED:
        return None
    return join_phrases(sorted(evaluation.cluster.nodes.names[node] for node in positions))


def complaint(evaluation: Evaluation, words: ReasonWords, node: int) -> str:
    """Phrase for why one node is rejected: ``runs 8 of 8 pods``, ``has taint gpu=x:NoSchedule``."""
    cluster = evaluation.cluster
    if words is PODS:
        return f"runs {cluster.running.usage.pod_count[node]} of {cluster.nodes.allowed_pods[node]} pods"
    if words is TAINT and (taints := taints_of(evaluation, node)):
        return f"has taint {', '.join(map(taint_text, taints))}"
    return words.said_of(1)


def taints_of(evaluation: Evaluation, node: int) -> list[Taint]:
    """Untolerated taints of a node, except a cordon's."""
    spec, tolerations = evaluation.cluster.nodes.objects[node].spec, evaluation.pod.spec.tolerations
    return [
        taint
        for taint in untolerated(spec.taints, tolerations, DO_NOT_SCHEDULE_EFFECTS)
        if taint.key != CORDON_TAINT_KEY
    ]


def in_brief(evaluation: Evaluation, words: ReasonWords, node: int) -> str:
    """Word or two for why one node is rejected: ``cordoned``, ``tainted gpu``."""
    if words is TAINT:
        keys = dict.fromkeys(taint.key for taint in taints_of(evaluation, node))
        return f"tainted {', '.join(map(short_key, keys))}"
    return words.brief_of(1)


def join_phrases(phrases: Sequence[str]) -> str:
    """``a, b and c``."""
    *first, last = phrases
    return f"{', '.join(first)} and {last}" if first else last


_OTHER_NAMES = {"az": ZONE, "host": HOSTNAME, "node": HOSTNAME}
_USUAL = (ZONE, REGION, HOSTNAME, BETA_ZONE, BETA_REGION)
_SEPARATORS = regex(r"[-_.]")
_SHORT = 3
"""Words up to this length differ by a letter without being typos."""


def near_key(key: str, nodes: Nodes) -> str:
    """Node label similar to ``key``, which no node has; empty if none is."""
    return similar_key(key, dict.fromkeys(label for node in nodes.objects for label in node.metadata.labels))


def similar_key(key: str, keys: Iterable[str]) -> str:
    """The one of ``keys`` that is ``key`` with another prefix, an older name or a typo; empty if none is. Kubernetes'
    own keys come first.
    """
    usual_first = sorted(keys, key=lambda candidate: (candidate not in _USUAL, candidate))
    last_parts = {candidate: short_key(candidate).lower() for candidate in usual_first}
    written = short_key(key).lower()
    for is_similar in (_is_same, _is_slip):
        for full, last_part in last_parts.items():
            if is_similar(written, last_part):
                return full
        for name, full in _OTHER_NAMES.items():
            if full in last_parts and is_similar(written, name):
                return full
    return ""


def _is_same(written: str, existing: str) -> bool:
    """True if only separators differ: ``node-group`` and ``nodegroup``."""
    return _SEPARATORS.sub("", written) == _SEPARATORS.sub("", existing)


def _is_slip(written: str, existing: str) -> bool:
    """True if a letter of one word is left out, added, replaced, or swapped with the next: ``hostnames``."""
    words = list(zip(_SEPARATORS.split(written), _SEPARATORS.split(existing), strict=False))
    if len(_SEPARATORS.findall(written)) != len(_SEPARATORS.findall(existing)):
        return False
    differing = [pair for pair in words if pair[0] != pair[1]]
    return len(differing) == 1 and _differs_by_a_letter(*differing[0])


def _differs_by_a_letter(written: str, existing: str) -> bool:
    if len(existing) <= _SHORT:
        return False
    same = next((index for index, pair in enumerate(zip(written, existing, strict=False)) if pair[0] != pair[1]), None)
    index = min(len(written), len(existing)) if same is None else same
    one, other = written[index:], existing[index:]
    # pool1 and pool2 are different things.
    if any(letter.isdigit() for letter in one[:1] + other[:1]):
        return False
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]


_MAX_DOMAINS = 3
_MAX_CAUSES = 3
_UNLISTED = "node(s) didn't satisfy plugin(s)"


class Barring(Struct, frozen=True, eq=False):
    """A hard constraint, and the nodes that it rejects."""

    position: int
    """Position among the pod's constraints."""
    counted: HardConstraint
    rejected: Mask

    @property
    def name(self) -> str:
        """``zone constraint``: each hard constraint has its own key."""
        return f"{short_key(self.counted.constraint.topology_key)} constraint"

    @property
    def limit(self) -> str:
        """``zone ≤ 1``."""
        return f"{short_key(self.counted.constraint.topology_key)} ≤ {self.counted.constraint.max_skew}"

    def said_of(self, count: int, nodes: str) -> str:
        return f"{self.name} rejects {nodes}"

    def complaint(self, node: int) -> str:
        """Phrase for why one node is rejected."""
        if not self.counted.column.present[node]:
            return f"has no {short_key(self.counted.constraint.topology_key)} label"
        return f"is over {self.limit}"


class Failing(Struct, frozen=True, eq=False):
    """A reason other than constraints, and the nodes rejected for it."""

    words: ReasonWords
    rejected: Mask

    def said_of(self, count: int, nodes: str) -> str:
        return f"{nodes} {self.words.said_of(count)}"


BarringReason = Barring | Failing


def bars(evaluation: Evaluation) -> str | None:
    """``zone constraint allows only eu-west-1b; there all 4 nodes are cordoned``; None without a single reason."""
    if not len(evaluation.cluster) or evaluation.error or evaluation.feasible.any():
        return None
    if evaluation.rejection:
        return claims_at_fault(evaluation) or None
    return "; ".join(filter(None, [_bars(evaluation), *map(str, filter(None, [older_revision(evaluation)]))])) or None


def _bars(evaluation: Evaluation) -> str | None:
    reasons = reasons_of(evaluation)
    if (by_volume := confined_by_volume(evaluation, reasons)) is not None:
        return by_volume
    if everywhere := [reason for reason in reasons if reason.rejected.all()]:
        return _everywhere(evaluation, everywhere, reasons)
    among = [reason for reason in reasons if isinstance(reason, Barring) or reason.words is SELECTION]
    reason = decisive(evaluation, reasons, among)
    if isinstance(reason, Failing):
        return left_by_selection(evaluation, reasons, reason)
    if reason is None:
        constraints = (barring for barring in among if isinstance(barring, Barring))
        reason = next((barring for barring in constraints if _leaves_one_thing(reasons, barring)), None)
    if reason is None:
        return None
    allowed = ~reason.rejected
    return f"{reason.name} allows only {_domains(reason.counted, allowed)}; there {_wrong(reasons, allowed)}"


def confined_by_volume(evaluation: Evaluation, reasons: Sequence[BarringReason]) -> str | None:
    """``volume data-kafka-0 is in us-east-2a, which has no node with room``, if that alone keeps
    the pod off any node.
    """
    own = [reason for reason in reasons if isinstance(reason, Failing) and reason.words in OF_VOLUMES]
    volume = next(placed_volumes(evaluation), None) if own else None
    if volume is None:
        return None
    reached: Mask = ~np.logical_or.reduce([reason.rejected for reason in own])
    if not reached.any():
        return f"{volume}, which no node is"
    if not rejected_only_by(reasons, own).any():
        return None
    others = [reason for reason in reasons if reason not in own and (reason.rejected & reached).any()]
    if all(isinstance(reason, Failing) and reason.words.lacks_room for reason in others):
        return f"{volume}, which has no node with room: {_wrong(others, reached)}"
    return f"{volume}; there {_wrong(others, reached)}"


def selection_of(reasons: Sequence[BarringReason]) -> Failing | None:
    """Nodes that the pod's node selector and node affinity exclude; None if they exclude none."""
    return next((reason for reason in reasons if isinstance(reason, Failing) and reason.words is SELECTION), None)


def _everywhere(evaluation: Evaluation, everywhere: Sequence[BarringReason], reasons: Sequence[BarringReason]) -> str:
    """``no node has disk=ssd (nodeSelector)``, ``both nodes have too little cpu``; others if all nodes have some."""
    parts = [_nowhere(reason, evaluation.cluster.nodes) for reason in everywhere if isinstance(reason, Barring)]
    count, nodes = _nodes(everywhere[0].rejected, everywhere=True)
    failing = [reason.words for reason in everywhere if isinstance(reason, Failing)]
    if SELECTION in failing:
        parts.append(selected_nowhere(evaluation))
    if others := [words.said_of(count) for words in failing if words is not SELECTION]:
        parts.append(f"{nodes} {join_phrases(others)}")
    if not rejected_only_by(reasons, everywhere).any():
        parts.append(_wrong([reason for reason in reasons if reason not in everywhere], everywhere[0].rejected))
    return "; ".join(parts)


def left_by_selection(evaluation: Evaluation, reasons: Sequence[BarringReason], selecting: Failing) -> str:
    """``nodeSelector pool=mem leaves only n04, which has no rack label and runs 8 of 8 pods``."""
    selected, others = ~selecting.rejected, [reason for reason in reasons if reason is not selecting]
    names, count = node_names(evaluation, selected), int(np.count_nonzero(selected))
    selector = selection(evaluation.pod)
    if count == 1:
        (node,) = np.flatnonzero(selected).tolist()
        wrong = (_complaint(evaluation, other, node) for other in others if other.rejected[node])
        return f"{selector} leaves only {names}, which {join_phrases(list(wrong))}"
    where = f"only {names}" if names is not None else f"{count:,} of {len(evaluation.cluster):,} nodes"
    return f"{selector} leaves {where}; there {_wrong(others, selected)}"


def _complaint(evaluation: Evaluation, reason: BarringReason, node: int) -> str:
    if isinstance(reason, Barring):
        return reason.complaint(node)
    return complaint(evaluation, reason.words, node)


def barring_constraints(evaluation: Evaluation) -> list[Barring]:
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState) or PodTopologySpread.name not in evaluation.verdicts:
        return []
    positions = (place for place, constraint in enumerate(state.declared.constraints) if constraint.is_hard)
    return [
        Barring(position, counted, counted.judge(None) != 0)
        for position, counted in zip(positions, state.hard, strict=True)
    ]


def failings(evaluation: Evaluation) -> list[Failing]:
    """Reasons other than constraints, each with all nodes that any plugin rejects for it."""
    rejected: dict[ReasonWords, Mask] = {}
    if not evaluation.included_nodes.all():
        rejected[words_of(_UNLISTED)] = ~evaluation.included_nodes
    for plugin, verdicts in evaluation.verdicts.items():
        if plugin == PodTopologySpread.name:
            continue
        of_cordon = _of_cordon(evaluation) if plugin == TaintToleration.name else None
        for code, status in enumerate(verdicts.table, start=1):
            nodes = verdicts.rows == code
            if of_cordon is not None:
                nodes &= ~of_cordon
            for words in dict.fromkeys(map(words_of, status.reasons)) if nodes.any() else ():
                rejected[words] = rejected[words] | nodes if words in rejected else nodes
    return [Failing(words, nodes) for words, nodes in rejected.items()]


def _of_cordon(evaluation: Evaluation) -> Mask | None:
    """Cordoned nodes without untolerated taints besides the cordon's, since the cordon rejects them anyway."""
    cordoned = evaluation.verdicts.get(NodeUnschedulable.name)
    if cordoned is None:
        return None
    tolerations = evaluation.pod.spec.tolerations
    nodes = evaluation.cluster.nodes
    foreign = [
        sum(taint.key != CORDON_TAINT_KEY for taint in untolerated(taints, tolerations, DO_NOT_SCHEDULE_EFFECTS))
        for taints in nodes.taint_lists
    ]
    is_alone: Mask = nodes.per_taint_list(foreign) == 0
    return is_alone & ~cordoned.passes


def reasons_of(evaluation: Evaluation) -> list[BarringReason]:
    """Constraints and other reasons, each with the nodes that it rejects."""
    return [*barring_constraints(evaluation), *failings(evaluation)]


def decisive(
    evaluation: Evaluation, reasons: Sequence[BarringReason], among: Sequence[BarringReason]
) -> BarringReason | None:
    """The reason ``among`` some without which most nodes would fit, else the pod's node selection; None if each node
    has several.

    Of equals, the one that rejects most nodes.
    """
    alone = [int(np.count_nonzero(fitting_without(evaluation, reasons, reason))) for reason in among]
    most = [int(np.count_nonzero(reason.rejected)) for reason in among]
    place = max(range(len(among)), key=lambda place: (alone[place], most[place], -place), default=None)
    return selection_of(among) if place is None or not alone[place] else among[place]


def _wrong(reasons: Sequence[BarringReason], allowed: Mask) -> str:
    """Faults of nodes, the most frequent first; if all nodes share one, only such faults."""
    wrong = [(reason, nodes) for reason in reasons if (nodes := reason.rejected & allowed).any()]
    of_all = [(reason, nodes) for reason, nodes in wrong if (nodes == allowed).all()]
    return _listing(
        [
            reason.said_of(*_nodes(nodes, everywhere=bool(of_all)))
            for reason, nodes in sorted(of_all or wrong, key=lambda pair: -np.count_nonzero(pair[1]))
        ]
    )


def fitting_without(evaluation: Evaluation, reasons: Sequence[BarringReason], reason: BarringReason) -> Mask:
    """Nodes that would fit the pod without one reason.

    A constraint is removed from the pod and the engine asked again, as it decides which nodes other constraints count.
    """
    if not isinstance(reason, Barring) or reason.counted.constraint.source != "pod":
        return rejected_only_by(reasons, [reason])
    spec = evaluation.pod.spec
    constraints = [
        constraint for place, constraint in enumerate(spec.topology_spread_constraints) if place != reason.position
    ]
    pod = replace(evaluation.pod, spec=replace(spec, topology_spread_constraints=constraints))
    try:
        return evaluate(evaluation.prepared.framework, evaluation.cluster, pod, is_scored=False).feasible
    except SchedulingError:
        return np.zeros_like(reason.rejected)


def rejected_only_by(reasons: Sequence[BarringReason], some: Sequence[BarringReason]) -> Mask:
    """Nodes rejected by one of ``some`` reasons and by no others."""
    rejected: Mask = np.logical_or.reduce([reason.rejected for reason in some])
    for reason in reasons:
        if reason not in some:
            rejected &= ~reason.rejected
    return rejected


def _leaves_one_thing(reasons: Sequence[BarringReason], confining: Barring) -> bool:
    allowed = ~confining.rejected
    return any(
        reason is not confining
        and bool((reason.rejected | ~allowed).all())
        and bool((rejected_only_by(reasons, [reason]) & allowed).any())
        for reason in reasons
    )


def _nodes(rejected: Mask, *, everywhere: bool) -> tuple[int, str]:
    """Number of nodes, and the words for them."""
    count = int(np.count_nonzero(rejected))
    return count, all_nodes(count) if everywhere else count_of(count, "node")


def all_nodes(count: int) -> str:
    return {1: "the only node", 2: "both nodes"}.get(count, f"all {count:,} nodes")


def _listing(causes: Sequence[str]) -> str:
    more = len(causes) - _MAX_CAUSES
    listed = ", ".join(causes[:_MAX_CAUSES])
    return f"{listed}, and {more} more reason{'' if more == 1 else 's'}" if more > 0 else listed


def _domains(counted: HardConstraint, allowed: Mask) -> str:
    column = counted.column
    names = sorted({column.values[code] or '""' for code in distinct(column.codes[allowed])})
    if len(names) > _MAX_DOMAINS:
        return f"{len(names)} of {len(column.values)} domains"
    return join_phrases(names)


def _nowhere(barring: Barring, nodes: Nodes) -> str:
    constraint, column = barring.counted.constraint, barring.counted.column
    if not column.present.any():
        hint = did_you_mean(near_key(constraint.topology_key, nodes))
        return f"{barring.name} allows no node: none has the label {constraint.topology_key}{hint}"
    domains = int(np.count_nonzero(barring.counted.is_domain))
    if constraint.min_domains is not None and domains < constraint.min_domains:
        existing = f"there {'is 1 domain' if domains == 1 else f'are {domains} domains'}"
        return (
            f"{barring.name} allows no node: {existing}, fewer than minDomains {constraint.min_domains}, so the "
            "minimum is 0"
        )
    return f"{barring.name} allows no node"


def closed_minimums(evaluation: Evaluation) -> Mapping[str, list[str]]:
    """For a pod that fits nowhere, the domains with the fewest matching pods that have only tainted or cordoned nodes,
    by topology key.

    Only the pod's own constraints that do not honor taints already are looked at.
    """
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState) or evaluation.feasible.any():
        return {}
    barred = evaluation.barred_by((TaintToleration.name, NodeUnschedulable.name))
    own = [
        counted for counted in state.hard if counted.constraint.source == "pod" and not counted.constraint.honors_taints
    ]
    closed = {counted.constraint.topology_key: _closures(counted, barred) for counted in own}
    return {key: domains for key, domains in closed.items() if domains}


def _closures(counted: HardConstraint, barred: Mask) -> list[str]:
    if not counted.is_domain.any():
        return []
    is_open = np.zeros(len(counted.is_domain), dtype=np.bool_)
    is_open[counted.column.codes[counted.eligible & ~barred]] = True
    emptiest = counted.is_domain & (counted.counts == counted.counts[counted.is_domain].min())
    return sorted(counted.column.values[code] for code in np.flatnonzero(emptiest & ~is_open))
