"""LimitRanges: the defaults they give containers, and the minima, maxima and ratios they enforce on pods.

Amounts are compared exactly since 1.38 (kubernetes#141348), and up to 1.37 as int64s.

Source: plugin/pkg/admission/limitranger/admission.go, PodMutateLimitFunc, defaultContainerResourceRequirements
Source: plugin/pkg/admission/limitranger/admission.go, PodValidateLimitFunc, minConstraint, maxConstraint,
    limitRequestRatioConstraint
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubespread.kube.api.core import Container, LimitRange, LimitRangeItem, Pod
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.pod_requests import Amounts, amounts, container_total, is_pod_level_resource
from kubespread.kube.quantity import INT64_MAX, NANO, ZERO, Quantity
from kubespread.kube.versions import KubeVersion

_MAX_MILLI_VALUE = INT64_MAX // 1000
_Compare = Callable[[Quantity, Quantity, Quantity], tuple[int, int, int]]
"""A request, a limit and a bound, of which nothing counts as 0, as numbers that compare as LimitRanger does."""


def fill(pod: Pod, limit_range: LimitRange) -> Iterator[str]:
    """Give every container the requests and limits it lacks, and say so."""
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


def _item_defaults(item: LimitRangeItem) -> tuple[ResourceList, ResourceList]:
    """API defaulting: a maximum implies a default limit, which implies a default request, as a minimum does."""
    limits = {**item.max, **item.default}
    return limits, {**item.min, **limits, **item.default_request}


def _fill(container: Container, kind: str, defaults: ResourceList) -> list[str]:
    own: ResourceList = getattr(container.resources, kind)
    missing = {name: amount for name, amount in defaults.items() if name not in own}
    if missing:
        setattr(container.resources, kind, {**own, **missing})
    return [f"{kind}.{name} {amount}" for name, amount in sorted(missing.items())]


def refusal(pod: Pod, limit_range: LimitRange, version: KubeVersion) -> str | None:
    """Everything of ``pod`` that breaks the range, in LimitRanger's words; each said once, as Go's aggregates do."""
    compare = _exactly if version.since(38) else _as_integers
    broken = list(dict.fromkeys(_broken(pod, limit_range, compare)))
    if len(broken) < 2:
        return broken[0] if broken else None
    return f"[{', '.join(broken)}]"


def _broken(pod: Pod, limit_range: LimitRange, compare: _Compare) -> Iterator[str]:
    for item in limit_range.spec.limits:
        if item.type == "Container":
            for container in (*pod.spec.containers, *pod.spec.init_containers):
                resources = container.resources
                yield from _faults(item, amounts(resources.requests), amounts(resources.limits), compare)
        elif item.type == "Pod":
            yield from _faults(item, _pod_total(pod, "requests"), _pod_total(pod, "limits"), compare)


def _pod_total(pod: Pod, kind: str) -> Amounts:
    """Containers summed as the scheduler does, overridden by pod-level resources; overhead is left out."""
    own: ResourceList = getattr(pod.spec.resources, kind) if pod.spec.resources is not None else {}
    return container_total(pod, kind) | {
        name: amount for name, amount in amounts(own).items() if is_pod_level_resource(name)
    }


def _faults(item: LimitRangeItem, requests: Amounts, limits: Amounts, compare: _Compare) -> Iterator[str]:
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
    """Up to 1.37: all three in thousandths, unless one would be beyond int64 then: in whole units."""
    if max(request.value, limit.value, bound.value) <= _MAX_MILLI_VALUE:
        return request.milli_value, limit.milli_value, bound.milli_value
    return request.value, limit.value, bound.value


def _exactly(request: Quantity, limit: Quantity, bound: Quantity) -> tuple[int, int, int]:
    """All three of any size, in billionths."""
    return request.nano, limit.nano, bound.nano
