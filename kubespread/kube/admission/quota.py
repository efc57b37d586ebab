"""ResourceQuotas: which of them a pod is charged to, and how many pods like it they allow.

Source of the rules: the ResourceQuota admission plugin of Kubernetes 1.36 and its evaluator of pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ResourceQuota, ResourceQuotaStatus, ScopedResourceSelectorRequirement
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import Amounts, amounts, container_total, is_pod_level_resource, pod_requests
from kubespread.kube.quantity import ZERO, Quantity
from kubespread.kube.resource_names import is_extended, is_hugepages, is_native
from kubespread.kube.selector import Requirement
from kubespread.kube.well_known import ENDED_PHASES

_ONE = Quantity(10**9)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTED = frozenset(
    {"pods", "count/pods", *_COMPUTE, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE)}
)
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
# Kubernetes calls it a mistake: a quota on one of these asks every container to name it.
_MUST_BE_NAMED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many pods of a kind may be created, and what is said to the first one too many."""

    copies: int | None
    """None where no quota limits them."""
    refusal: str = ""


def allowance(pod: Pod, quotas: Iterable[ResourceQuota]) -> Allowance:
    """How many pods like ``pod`` the quotas of its namespace allow, besides what they count as used already."""
    concerned = _concerned(pod, quotas)
    for quota, counted in concerned:
        if fault := _fault(pod, quota, counted):
            return Allowance(0, fault)
    usage = {name: amount for name, amount in _usage(pod).items() if amount.nano}
    copies = min((_copies(quota, usage) for quota, _ in concerned if _asked(quota, usage)), default=None)
    if copies is None:
        return Allowance(None)
    return next(Allowance(copies, said) for quota, _ in concerned if (said := _exceeded(quota, usage, copies)))


def charged(quotas: Iterable[ResourceQuota], pod: Pod, copies: int) -> tuple[ResourceQuota, ...]:
    """The quotas once ``copies`` more pods like ``pod`` are there; fewer where it is negative."""
    usage = _usage(pod)
    changed = []
    for quota in quotas:
        if _concerned(pod, [quota]):
            used = amounts(quota.status.used)
            after = {name: str(_times(usage[name], copies, used.get(name, ZERO))) for name in _asked(quota, usage)}
            quota = replace(quota, status=replace(quota.status, used={**quota.status.used, **after}))
        changed.append(quota)
    return tuple(changed)


def with_usage(quotas: Iterable[ResourceQuota], pods: Sequence[Pod]) -> tuple[ResourceQuota, ...]:
    """The quotas as their controller completes them: of those never in a cluster, what is used is counted."""
    return tuple(quota if quota.status.hard else _counted(quota, pods) for quota in quotas)


def _counted(quota: ResourceQuota, pods: Iterable[Pod]) -> ResourceQuota:
    hard = quota.spec.hard
    new = replace(quota, status=ResourceQuotaStatus(hard=hard, used=dict.fromkeys(_countable(hard), "0")))
    for pod in pods:
        if pod.status.phase not in ENDED_PHASES:
            (new,) = charged([new], pod, 1)
    return new


def _concerned(pod: Pod, quotas: Iterable[ResourceQuota]) -> list[tuple[ResourceQuota, list[str]]]:
    """The quotas that ``pod`` is charged to, and what each counts of pods."""
    return [
        (quota, counted)
        for quota in quotas
        if quota.metadata.namespace == pod.metadata.namespace
        and (counted := _countable(quota.status.hard))
        and all(_in_scope(pod, scope) for scope in _scopes(quota))
    ]


def _countable(hard: Iterable[str]) -> list[str]:
    return [name for name in hard if name in _COUNTED or _is_prefixed(name)]


def _is_prefixed(name: str) -> bool:
    requested = name.removeprefix("requests.")
    return is_hugepages(requested) or (requested != name and not is_native(name))


def _scopes(quota: ResourceQuota) -> Iterator[ScopedResourceSelectorRequirement]:
    for scope in quota.spec.scopes:
        yield ScopedResourceSelectorRequirement(scope_name=scope, operator="Exists")
    if quota.spec.scope_selector is not None:
        yield from quota.spec.scope_selector.match_expressions


def _in_scope(pod: Pod, scope: ScopedResourceSelectorRequirement) -> bool:
    spec = pod.spec
    match scope.scope_name:
        case "Terminating":
            return spec.active_deadline_seconds is not None
        case "NotTerminating":
            return spec.active_deadline_seconds is None
        case "BestEffort":
            return _is_best_effort(pod)
        case "NotBestEffort":
            return not _is_best_effort(pod)
        case "PriorityClass":
            name: dict[str, str] = {scope.scope_name: spec.priority_class_name} if spec.priority_class_name else {}
            requirement = Requirement(scope.scope_name, scope.operator, tuple(scope.values))
            return scope.operator in _OPERATORS and requirement.matches(name)
        case "CrossNamespacePodAffinity":
            terms = spec.affinity.pod_terms if spec.affinity is not None else ()
            return any(term.namespaces or term.namespace_selector is not None for term in terms)
    return False


def _is_best_effort(pod: Pod) -> bool:
    counted = [container.resources for container in (*pod.spec.containers, *pod.spec.init_containers)]
    if _has_pod_level_resources(pod) and pod.spec.resources is not None:
        counted = [pod.spec.resources]
    named = (amounts(getattr(resources, kind)) for resources in counted for kind in ("requests", "limits"))
    return not any(each[name].nano > 0 for each in named for name in ("cpu", "memory") if name in each)


def _has_pod_level_resources(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(map(is_pod_level_resource, (*resources.requests, *resources.limits)))


def _usage(pod: Pod) -> Amounts:
    """What ``pod`` is charged with, by the names quotas have for it; overhead counts where it applies."""
    limits = container_total(pod, "limits")
    if pod.spec.resources is not None:
        limits |= {
            name: amount for name, amount in amounts(pod.spec.resources.limits).items() if is_pod_level_resource(name)
        }
    for name, amount in amounts(pod.spec.overhead).items():
        if name in limits and limits[name].nano:
            limits[name] = limits[name] + amount
    return {"count/pods": _ONE, "pods": _ONE, **_names(pod_requests(pod), limits)}


def _names(requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Amounts:
    charged_amounts: Amounts = {}
    for name, amount in requests.items():
        if name in _COMPUTE or is_hugepages(name):
            charged_amounts[name] = charged_amounts[f"requests.{name}"] = amount
        elif is_extended(name):
            charged_amounts[f"requests.{name}"] = amount
    return charged_amounts | {f"limits.{name}": amount for name, amount in limits.items() if name in _COMPUTE}


def _fault(pod: Pod, quota: ResourceQuota, counted: Sequence[str]) -> str | None:
    """Why the quota cannot even be asked."""
    name = quota.metadata.name
    missing: dict[str, set[str]] = {}
    for container in () if _has_pod_level_resources(pod) else (*pod.spec.containers, *pod.spec.init_containers):
        named = _names(amounts(container.resources.requests), amounts(container.resources.limits))
        for resource in _MUST_BE_NAMED.intersection(counted) - named.keys():
            missing.setdefault(resource, set()).add(container.name)
    if missing:
        listed = "; ".join(f"{resource} for: {','.join(sorted(missing[resource]))}" for resource in sorted(missing))
        return f"failed quota: {name}: must specify {listed}"
    unknown = sorted(set(counted) - quota.status.used.keys())
    return f"status unknown for quota: {name}, resources: {','.join(unknown)}" if unknown else None


def _asked(quota: ResourceQuota, usage: Amounts) -> list[str]:
    return sorted(quota.status.hard.keys() & usage.keys())


def _copies(quota: ResourceQuota, usage: Amounts) -> int:
    hard, used = amounts(quota.status.hard), amounts(quota.status.used)
    return min(
        max(0, (hard[name].nano - used.get(name, ZERO).nano) // usage[name].nano) for name in _asked(quota, usage)
    )


def _exceeded(quota: ResourceQuota, usage: Amounts, copies: int) -> str | None:
    """What the quota says to one more, after ``copies`` of them; None when it allows it."""
    hard, before = amounts(quota.status.hard), amounts(quota.status.used)
    used = {name: _times(usage[name], copies, before.get(name, ZERO)) for name in _asked(quota, usage)}
    over = [name for name in used if used[name].nano + usage[name].nano > hard[name].nano]
    if not over:
        return None
    requested, counted, limited = (",".join(f"{name}={each[name]}" for name in over) for each in (usage, used, hard))
    return f"exceeded quota: {quota.metadata.name}, requested: {requested}, used: {counted}, limited: {limited}"


def _times(amount: Quantity, copies: int, start: Quantity) -> Quantity:
    return start + Quantity(amount.nano * copies, amount.format) if copies else start
