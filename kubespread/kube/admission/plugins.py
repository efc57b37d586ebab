"""Admission with the objects of the snapshot: changes to a pod, refusals, and gaps where objects were not read.

LimitRanges: the defaults they give containers, and the minima, maxima and ratios they enforce on pods. Amounts are
compared exactly since 1.38 (kubernetes#141348), and up to 1.37 as int64s. Tolerations that admission adds to a pod: of
its runtime class, of five minutes for nodes that are not ready or unreachable, and of taints that reserve nodes for
extended resources. The plugins run in the API server's order, but for ResourceQuota, which refuses no pod for what it
is: whoever creates pods counts them.

Source: plugin/pkg/admission/podnodeselector/admission.go, Admit, Validate
Source: plugin/pkg/admission/priority/admission.go, admitPod
Source: plugin/pkg/admission/runtimeclass/admission.go, Admit, setOverhead, validateOverhead, setScheduling
Source: plugin/pkg/admission/limitranger/admission.go, Admit, Validate, PodMutateLimitFunc, PodValidateLimitFunc,
    defaultContainerResourceRequirements, minConstraint, maxConstraint, limitRequestRatioConstraint
Source: plugin/pkg/admission/defaulttolerationseconds/admission.go, Admit
Source: plugin/pkg/admission/extendedresourcetoleration/admission.go, Admit
Source: pkg/util/tolerations/tolerations.go, MergeTolerations
Source: pkg/registry/core/pod/strategy.go, PrepareForCreate, Validate
Source: staging/src/k8s.io/pod-security-admission/admission/admission.go, EvaluatePod
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from math import inf

from msgspec import Struct

from kubespread.kube.admission.defaulting import complete_pod_level_resources, default_pod, merge_label_keys
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.admission.pod_security import violation
from kubespread.kube.api import core
from kubespread.kube.api.cluster_objects import ClusterObjects, PriorityClass
from kubespread.kube.api.meta import ApiObject, ResourceList
from kubespread.kube.gotext import aggregate
from kubespread.kube.name_rules import is_extended
from kubespread.kube.pod_requests import Amounts, amounts, pod_total
from kubespread.kube.quantity import INT64_MAX, NANO, ZERO, Quantity
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.pods import pod_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import NODE_SELECTOR, NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY


class AdmissionResult(Struct, frozen=True):
    """The pod as the API server would store it, or why it would not."""

    pod: core.Pod
    changes: Sequence[str] = ()
    """Changes made by the cluster's admission plugins."""
    dropped: Sequence[str] = ()
    """Fields that are not stored, as their feature gate is off."""
    faults: Sequence[FieldFault] = ()
    """Reasons the pod is invalid."""
    gaps: Sequence[str] = ()
    """Decisions that plugins could not make for lack of objects."""
    forbidden: str = ""
    """API server's message if an admission plugin refuses it."""


def admit(pod: core.Pod, version: KubeVersion, objects: ClusterObjects, plugins: AdmissionPlugins) -> AdmissionResult:
    """``pod`` as the API server would store it; ``pod`` itself is unchanged and may share its parts.

    A pod that already has a uid went through admission when it was stored: the plugins skip it, and its label keys are
    already merged.
    """
    original, pod = pod, deepcopy(pod)
    is_new = not pod.metadata.uid
    passes_plugins = is_new and plugins.enabled
    changes: Sequence[str] = ()
    lacking: Sequence[str] = ()
    try:
        completes_late = version.has("PodLevelResourcesFixDefaulting")
        default_pod(pod, pod_level=not completes_late)
        if passes_plugins:
            changes = mutate(pod, objects, plugins)
            lacking = tuple(gaps(pod, objects, plugins))
        dropped = drop_fields(pod, version)
        if completes_late:
            complete_pod_level_resources(pod)
        if is_new:
            merge_label_keys(pod, version)
        faults = pod_faults(pod, version)
        if passes_plugins and not faults:
            validate(pod, version, objects)
    except ForbiddenError as error:
        return AdmissionResult(pod, forbidden=error.message_for(pod.metadata.name))
    if faults and passes_plugins and (limit_ranges := _limit_ranges(pod, objects)):
        own = admit(original, version, objects.with_all(core.LimitRange, ()), plugins).faults
        faults = [fault if fault in own else _blame(fault, limit_ranges) for fault in faults]
    return AdmissionResult(pod, changes, dropped, faults, lacking)


def _blame(fault: FieldFault, limit_ranges: Sequence[core.LimitRange]) -> FieldFault:
    """Add the LimitRanges that filled in the faulty value."""
    return fault._replace(message=f"{fault.message} ({', '.join(map(_title, limit_ranges))})")


def _title(limit_range: core.LimitRange) -> str:
    return f"LimitRange {limit_range.metadata.namespace}/{limit_range.metadata.name}"


DEFAULT_TOLERATION_SECONDS = 300
_UNREACHABLE = (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)


def add_default_tolerations(pod: core.Pod) -> None:
    """Add default tolerations of 300 s for the two taints of failed nodes, if nothing covers them
    (DefaultTolerationSeconds).

    Only a toleration's key and effect decide whether it covers one; operator and value do not matter.
    """
    own = pod.spec.tolerations
    added = [
        core.Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=DEFAULT_TOLERATION_SECONDS)
        for key in _UNREACHABLE
        if not any(toleration.key in (key, "") and toleration.effect in ("NoExecute", "") for toleration in own)
    ]
    pod.spec.tolerations = [*own, *added]


def tolerate_extended_resources(pod: core.Pod) -> list[str]:
    """Tolerate NoSchedule taints named after requested extended resources, with any value; return notes on them."""
    own = pod.spec.tolerations
    added = [toleration for toleration in added_tolerations(pod) if toleration not in own]
    pod.spec.tolerations = [*own, *added]
    return [f"ExtendedResourceToleration: tolerations {toleration.key}:{toleration.effect}" for toleration in added]


def added_tolerations(pod: core.Pod) -> list[core.Toleration]:
    """Tolerations that ExtendedResourceToleration adds unless the pod has equal ones, by key."""
    requested = {
        name
        for container in (*pod.spec.containers, *pod.spec.init_containers)
        for name in container.resources.requests
        if is_extended(name)
    }
    return [core.Toleration(key=name, operator="Exists", effect="NoSchedule") for name in sorted(requested)]


def merge_tolerations(first: Sequence[core.Toleration], second: Sequence[core.Toleration]) -> list[core.Toleration]:
    """Tolerations of both, without any that another one covers."""
    together = [*first, *second]
    merged: list[core.Toleration] = []
    for position, toleration in enumerate(together):
        if any(_covers(other, toleration) for other in merged):
            continue
        if any(other != toleration and _covers(other, toleration) for other in together[position + 1 :]):
            continue
        merged.append(toleration)
    return merged


def _covers(wide: core.Toleration, narrow: core.Toleration) -> bool:
    """True if ``wide`` tolerates everything that ``narrow`` does, by Kubernetes' own approximate check."""
    if wide == narrow:
        return True
    if wide.key != narrow.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in (narrow.effect, ""):
        return False
    if wide.effect == "NoExecute" and _seconds(narrow) > _seconds(wide):
        return False
    if wide.operator == "Exists":
        return True
    # Kubernetes compares the narrow one's operator as it is written, though an absent one means the same.
    return wide.operator in ("Equal", "") and narrow.operator == "Equal" and wide.value == narrow.value


def _seconds(toleration: core.Toleration) -> float:
    return inf if toleration.toleration_seconds is None else toleration.toleration_seconds


_MAX_MILLI_VALUE = INT64_MAX // 1000
_Compare = Callable[[Quantity, Quantity, Quantity], tuple[int, int, int]]
"""Numbers for a request, a limit and a bound (0 if absent) that compare as in LimitRanger."""


def apply_limit_range(pod: core.Pod, limit_range: core.LimitRange) -> Iterator[str]:
    """Give every container missing requests and limits; yield a note for each."""
    limits: ResourceList = {}
    requests: ResourceList = {}
    for item in limit_range.spec.limits:
        if item.type == "Container":
            defaults = _item_defaults(item)
            limits |= defaults[0]
            requests |= defaults[1]
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        changed = [*_fill(container, "limits", limits), *_fill(container, "requests", requests)]
        if changed:
            yield f"LimitRange {limit_range.metadata.name}: container {container.name} gets {', '.join(changed)}"


def _item_defaults(item: core.LimitRangeItem) -> tuple[ResourceList, ResourceList]:
    """API defaulting: a maximum implies a default limit, which implies a default request, as a minimum does."""
    limits = {**item.max, **item.default}
    return limits, {**item.min, **limits, **item.default_request}


def _fill(container: core.Container, kind: str, defaults: ResourceList) -> list[str]:
    own: ResourceList = getattr(container.resources, kind)
    missing = {name: amount for name, amount in defaults.items() if name not in own}
    if missing:
        setattr(container.resources, kind, {**own, **missing})
    return [f"{kind}.{name} {amount}" for name, amount in sorted(missing.items())]


def limit_range_violations(pod: core.Pod, limit_range: core.LimitRange, version: KubeVersion) -> str | None:
    """LimitRanger's message with all violations of the range, each once, as by Go's aggregates; None for none."""
    broken = list(_violations(pod, limit_range, _exactly if version.reaches(38) else _as_integers))
    return aggregate(broken) if broken else None


def _violations(pod: core.Pod, limit_range: core.LimitRange, compare: _Compare) -> Iterator[str]:
    for item in limit_range.spec.limits:
        if item.type == "Container":
            for container in (*pod.spec.containers, *pod.spec.init_containers):
                resources = container.resources
                yield from _faults(item, amounts(resources.requests), amounts(resources.limits), compare)
        elif item.type == "Pod":
            yield from _faults(item, pod_total(pod, "requests"), pod_total(pod, "limits"), compare)


def _faults(item: core.LimitRangeItem, requests: Amounts, limits: Amounts, compare: _Compare) -> Iterator[str]:
    # Go walks maps here, in no order; names in order are as good as any.
    for bounds, check in ((item.min, _minimum), (item.max, _maximum), (item.max_limit_request_ratio, _ratio)):
        for name, bound in sorted(amounts(bounds).items()):
            if fault := check(bound, requests.get(name), limits.get(name), compare):
                yield fault.format(name=name, type=item.type, bound=bound)


def _minimum(bound: Quantity, request: Quantity | None, limit: Quantity | None, compare: _Compare) -> str | None:
    text = "minimum {name} usage per {type} is {bound}"
    requested, limited, enforced = compare(request or ZERO, limit or ZERO, bound)
    if request is None:
        return f"{text}.  No request is specified"
    if requested < enforced:
        return f"{text}, but request is {request}"
    return f"{text}, but limit is {limit}" if limit is not None and limited < enforced else None


def _maximum(bound: Quantity, request: Quantity | None, limit: Quantity | None, compare: _Compare) -> str | None:
    text = "maximum {name} usage per {type} is {bound}"
    requested, limited, enforced = compare(request or ZERO, limit or ZERO, bound)
    if limit is None:
        return f"{text}.  No limit is specified"
    if limited > enforced:
        return f"{text}, but limit is {limit}"
    return f"{text}, but request is {request}" if request is not None and requested > enforced else None


def _ratio(bound: Quantity, request: Quantity | None, limit: Quantity | None, compare: _Compare) -> str | None:
    text = "{name} max limit to request ratio per {type} is {bound}"
    requested, limited, enforced = compare(request or ZERO, limit or ZERO, bound)
    if not requested:
        return f"{text}, but no request is specified or request is 0"
    if not limited:
        return f"{text}, but no limit is specified or limit is 0"
    ratio = float(limited) / float(requested)
    if compare is _exactly:
        exceeded = limited * NANO > requested * enforced
    elif bound.value <= _MAX_MILLI_VALUE:
        exceeded = ratio * 1000 > float(bound.milli_value)
    else:
        exceeded = ratio > float(bound.value)
    return f"{text}, but provided ratio is {ratio:f}" if exceeded else None


def _as_integers(request: Quantity, limit: Quantity, bound: Quantity) -> tuple[int, int, int]:
    """Thousandths, or whole units if one of them would exceed int64: the comparison up to 1.37."""
    if max(request.value, limit.value, bound.value) <= _MAX_MILLI_VALUE:
        return request.milli_value, limit.milli_value, bound.milli_value
    return request.value, limit.value, bound.value


def _exactly(request: Quantity, limit: Quantity, bound: Quantity) -> tuple[int, int, int]:
    """Billionths, of any size."""
    return request.nano, limit.nano, bound.nano


_PREEMPTING = "PreemptLowerPriority"
_BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class AdmissionPlugins(Struct, frozen=True):
    """Admission plugins of the API server that a new pod goes through."""

    enabled: bool = True
    """False for none of them."""
    default_toleration_seconds: bool = True
    """On by default in every cluster."""
    pod_node_selector: bool = False
    """Off by default in every cluster."""
    extended_resource_toleration: bool = False
    """Off by default; GKE has it on."""


class ForbiddenError(Exception):
    """Refusal of the pod by an admission plugin, in its own words, naming the object behind it."""

    def message_for(self, name: str) -> str:
        """API server's message to the creator of a pod of this name."""
        return f'pods "{name}" is forbidden: {self}'


class InvalidError(ForbiddenError):
    """A pod that admission plugins made invalid."""

    def message_for(self, name: str) -> str:
        return f'Pod "{name}" is invalid: {self}'


def mutate(pod: core.Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> list[str]:
    """Change the defaulted ``pod`` as the plugins would, in order; notes on changes. Raises ForbiddenError."""
    changes = [line for limit_range in _limit_ranges(pod, objects) for line in apply_limit_range(pod, limit_range)]
    if plugins.pod_node_selector:
        changes += _node_selector(pod, objects)
    changes += _priority(pod, objects)
    if plugins.default_toleration_seconds:
        add_default_tolerations(pod)
    if plugins.extended_resource_toleration:
        changes += tolerate_extended_resources(pod)
    changes += _runtime_class(pod, objects)
    return changes


def validate(pod: core.Pod, version: KubeVersion, objects: ClusterObjects) -> None:
    """Run the admission plugins that check a valid pod. Raises ForbiddenError."""
    for limit_range in _limit_ranges(pod, objects):
        if broken := limit_range_violations(pod, limit_range, version):
            raise ForbiddenError(f"{broken} ({_title(limit_range)})")
    name = pod.spec.runtime_class_name
    runtime_class = _runtime_class_named(name, objects) if name else None
    if pod.spec.overhead and (not name or (runtime_class is not None and runtime_class.overhead is None)):
        raise ForbiddenError("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    _pod_security(pod, objects)


def _pod_security(pod: core.Pod, objects: ClusterObjects) -> None:
    """Raises ForbiddenError for a pod that its namespace's Pod Security Standard does not allow."""
    namespace = objects.find(core.Namespace, pod.metadata.namespace)
    if namespace is not None and (violated := violation(pod, namespace)):
        raise ForbiddenError(f"{violated} (Namespace {namespace.metadata.name})")


def _limit_ranges(pod: core.Pod, objects: ClusterObjects) -> list[core.LimitRange]:
    return [
        limit_range
        for limit_range in objects.get(core.LimitRange)
        if limit_range.metadata.namespace == pod.metadata.namespace
    ]


def admitted_again(pod: core.Pod, version: KubeVersion, objects: ClusterObjects, plugins: AdmissionPlugins) -> core.Pod:
    """A pod like one admitted before, as admitted now; the pod itself if nothing changes. Raises ForbiddenError.

    It gets today's defaults and node selector of its namespace, tolerations for its requests, and settings of its
    classes. Classes of its pods are taken to be its own, as a template does not show what admission added.
    """
    spec, limit_ranges = pod.spec, _limit_ranges(pod, objects)
    classed = _class_named(spec.priority_class_name, objects)
    has_class = classed not in (None, (spec.priority, spec.preemption_policy or _PREEMPTING))
    has_runtime = bool(spec.runtime_class_name) and objects.knows(core.RuntimeClass)
    is_changed = plugins.pod_node_selector or plugins.extended_resource_toleration
    if not plugins.enabled:
        return pod
    _pod_security(pod, objects)
    if not (limit_ranges or has_class or has_runtime or is_changed):
        return pod
    changed = deepcopy(pod)
    filled = [line for limit_range in limit_ranges for line in apply_limit_range(changed, limit_range)]
    if plugins.pod_node_selector:
        filled += _node_selector(changed, objects)
    if has_class and classed is not None:
        changed.spec.priority, changed.spec.preemption_policy = classed
    if plugins.extended_resource_toleration:
        filled += tolerate_extended_resources(changed)
    if has_runtime:
        changed.spec.overhead = {}
        filled += _runtime_class(changed, objects)
    is_other = changed.spec != spec
    before = pod_faults(pod, version) if is_other else []
    faults = [fault for fault in pod_faults(changed, version) if fault not in before] if is_other else []
    if faults:
        raise InvalidError(aggregate([str(_blame(fault, limit_ranges)) for fault in faults]))
    for limit_range in limit_ranges:
        if broken := limit_range_violations(changed, limit_range, version):
            raise ForbiddenError(f"{broken} ({_title(limit_range)})")
    return changed if is_other else pod


def _node_selector(pod: core.Pod, objects: ClusterObjects) -> Iterator[str]:
    namespace = objects.find(core.Namespace, pod.metadata.namespace)
    text = namespace.metadata.annotations.get(NODE_SELECTOR) if namespace is not None else None
    if not text:
        return
    required = {
        key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split(",")) if key.strip()
    }
    if any(pod.spec.node_selector.get(key, value) != value for key, value in required.items()):
        conflict = "pod node label selector conflicts with its namespace node label selector"
        raise ForbiddenError(f"{conflict} (Namespace {pod.metadata.namespace})")
    added = {key: value for key, value in required.items() if key not in pod.spec.node_selector}
    if added:
        pod.spec.node_selector = {**pod.spec.node_selector, **added}
        yield (
            f"Namespace {pod.metadata.namespace}: nodeSelector "
            f"{', '.join(f'{key}={value}' for key, value in sorted(added.items()))}"
        )


def _class_named(name: str, objects: ClusterObjects) -> tuple[int, str] | None:
    """Priority and preemption policy of a class; None without a name or if classes were not read.

    Raises ForbiddenError for a missing class.
    """
    if name in _BUILT_IN_PRIORITIES:
        return _BUILT_IN_PRIORITIES[name], _PREEMPTING
    if (named := objects.find(PriorityClass, name) if name else None) is not None:
        return named.value, named.preemption_policy or _PREEMPTING
    if name and objects.knows(PriorityClass):
        raise ForbiddenError(f"no PriorityClass with name {name} was found")
    return None


def _priority(pod: core.Pod, objects: ClusterObjects) -> Iterator[str]:
    """The class's priority; a class that was not listed leaves the pod as it is, since nothing is known about it."""
    spec = pod.spec
    default = min(
        (priority_class for priority_class in objects.get(PriorityClass) if priority_class.global_default),
        key=lambda priority_class: priority_class.value,
        default=None,
    )
    name = spec.priority_class_name or (default.metadata.name if default is not None else "")
    if (named := _class_named(name, objects)) is None and not objects.knows(PriorityClass):
        return
    priority, policy = named or (0, _PREEMPTING)
    if spec.priority not in (None, priority):
        computed = f"priority admission controller computed {priority} from the given PriorityClass name"
        raise ForbiddenError(
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; {computed}"
        )
    if spec.preemption_policy not in (None, policy):
        computed = f"priority admission controller computed {policy} from the given PriorityClass name"
        own = f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec"
        raise ForbiddenError(f"{own}; {computed}")
    if spec.priority is None and name:
        yield f"PriorityClass {name}: priority {priority}"
    spec.priority_class_name, spec.priority, spec.preemption_policy = name, priority, policy


def _runtime_class_named(name: str, objects: ClusterObjects) -> core.RuntimeClass | None:
    """The class; None if it was not read. Raises ForbiddenError for a missing class."""
    runtime_class = objects.find(core.RuntimeClass, name)
    if runtime_class is None and objects.knows(core.RuntimeClass):
        raise ForbiddenError(f'pod rejected: RuntimeClass "{name}" not found')
    return runtime_class


def _runtime_class(pod: core.Pod, objects: ClusterObjects) -> Iterator[str]:
    name = pod.spec.runtime_class_name
    runtime_class = _runtime_class_named(name, objects) if name else None
    if runtime_class is None:
        return
    if runtime_class.overhead is not None:
        overhead = runtime_class.overhead.pod_fixed
        if pod.spec.overhead and _nano(pod.spec.overhead) != _nano(overhead):
            raise ForbiddenError("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        pod.spec.overhead = overhead
        yield f"RuntimeClass {name}: overhead {', '.join(f'{key} {value}' for key, value in sorted(overhead.items()))}"
    scheduling = runtime_class.scheduling
    if scheduling is None:
        return
    for key, value in sorted(scheduling.node_selector.items()):
        if pod.spec.node_selector.get(key, value) != value:
            theirs = f"pod.spec.nodeSelector[{key}] = {pod.spec.node_selector[key]}"
            raise ForbiddenError(f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; {theirs}")
    if scheduling.node_selector:
        pod.spec.node_selector = {**pod.spec.node_selector, **scheduling.node_selector}
        yield (
            f"RuntimeClass {name}: nodeSelector "
            f"{', '.join(f'{k}={v}' for k, v in sorted(scheduling.node_selector.items()))}"
        )
    if scheduling.tolerations:
        pod.spec.tolerations = merge_tolerations(pod.spec.tolerations, scheduling.tolerations)
        yield f"RuntimeClass {name}: tolerations {', '.join(map(_toleration, scheduling.tolerations))}"


def _nano(resources: ResourceList) -> dict[str, int]:
    """Quantities are equal by value, however they are written."""
    return {name: amount.nano for name, amount in amounts(resources).items()}


def _toleration(toleration: core.Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or '(any)'}{value}:{toleration.effect or '(any)'}"


_CONSEQUENCES: dict[type[ApiObject], str] = {
    core.LimitRange: "default requests and limits are not added",
    PriorityClass: "none is the default",
    core.ResourceQuota: "quotas are taken not to be exhausted",
}
"""Consequence of not knowing a kind that every pod depends on."""


def gaps(pod: core.Pod, objects: ClusterObjects, plugins: AdmissionPlugins) -> Iterator[str]:
    """Yield gaps about a new ``pod`` changed by the plugins."""
    spec, name = pod.spec, pod.spec.priority_class_name
    is_unknown = spec.priority is None
    kinds = [PriorityClass] if is_unknown and not name else []
    yield from gaps_of_any_pod(objects, plugins, *kinds)
    if is_unknown and name:
        yield from objects.gap(PriorityClass, f"the priority of class {name} is not known, and counts as 0")
    if spec.runtime_class_name:
        consequence = f"overhead, node selector and tolerations of class {spec.runtime_class_name} are not added"
        yield from objects.gap(core.RuntimeClass, consequence)


def gaps_of_any_pod(objects: ClusterObjects, plugins: AdmissionPlugins, *more: type[ApiObject]) -> Iterator[str]:
    """Yield one gap for all kinds that were not listed, as many clusters have none of them; no gap without plugins."""
    absent: list[str] = []
    kinds: list[type[ApiObject]] = [core.LimitRange, core.ResourceQuota, *more]
    for kind in sorted(kinds, key=lambda kind: kind.__name__) if plugins.enabled else ():
        if kind.__name__ in objects.unread:
            yield from objects.gap(kind, _CONSEQUENCES[kind])
        elif not objects.knows(kind):
            absent.append(kind.__name__)
    if absent:
        yield f"no {', '.join(absent)} objects: pods are created as if there were none"
    if plugins.pod_node_selector and plugins.enabled:
        yield from objects.gap(core.Namespace, "node selectors of namespaces are not added")
