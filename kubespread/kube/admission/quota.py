"""ResourceQuotas: which of them a pod is charged to, and how many pods like it they allow.

Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest, checkQuotas
Source: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc, Matches, podMatchesScopeFunc, Constraints
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, PodSpec, ResourceQuota, ResourceQuotaStatus, ScopedResourceSelectorRequirement
from kubespread.kube.name_rules import is_extended, is_hugepages, is_native
from kubespread.kube.pod_requests import Amounts, amounts, is_pod_level_resource, pod_requests, pod_total
from kubespread.kube.quantity import ZERO, Quantity
from kubespread.kube.selector import LABEL_SELECTOR_OPERATORS, Requirement
from kubespread.kube.time import instant
from kubespread.kube.well_known import ENDED_PHASES

_ONE = Quantity(10**9)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTED = frozenset(
    {"pods", "count/pods", *_COMPUTE, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE)}
)
# Kubernetes calls it a mistake: a quota on one of these asks every container to name it.
_MUST_BE_NAMED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})


class Allowance(Struct, frozen=True):
    """Number of pods of a kind that may be created, and the message for the next one."""

    copies: int | None
    """Number of pods; None if no quota limits it."""
    refusal: str = ""


def allowance(pod: Pod, quotas: Iterable[ResourceQuota]) -> Allowance:
    """Number of further pods like ``pod`` that the quotas of its namespace allow."""
    ledger = Ledger([quota for quota in quotas if quota.metadata.namespace == pod.metadata.namespace])
    copies = ledger.room(pod)
    if copies:
        ledger.charge(pod, copies)
    return Allowance(copies, ledger.refusal(pod) if copies is not None else "")


def charge_quotas(quotas: Iterable[ResourceQuota], pod: Pod, copies: int) -> tuple[ResourceQuota, ...]:
    """Quotas after ``copies`` more pods like ``pod``, or fewer if negative."""
    ledger = Ledger(tuple(quotas))
    ledger.charge(pod, copies)
    return ledger.quotas


Lacking = Iterable[tuple[Pod, int]]
"""Pods to create, each with its number of copies."""


def overruns(quotas: Iterable[ResourceQuota], pod: Pod, lacking: Lacking) -> Mapping[str, Mapping[str, str]]:
    """Quotas of ``pod`` that all ``lacking`` pods together exceed, by name, each with the required limits."""
    exceeded: dict[str, Mapping[str, str]] = {}
    ledger = Ledger(tuple(quotas))
    for other, copies in lacking:
        ledger.charge(other, copies)
    for quota in ledger.quotas:
        hard, used = amounts(quota.status.hard), amounts(quota.status.used)
        over = [name for name in _counted_of(pod, quota) if used.get(name, ZERO).nano > hard[name].nano]
        if over:
            exceeded[quota.metadata.name] = {name: str(used[name]) for name in over}
    return exceeded


def enough(quotas: Iterable[ResourceQuota], pod: Pod, lacking: Lacking) -> str:
    """``requests.cpu: 14 in ResourceQuota compute``: limits that would allow them; empty if they exceed none."""
    return "; ".join(
        f"{', '.join(f'{name}: {amount}' for name, amount in hard.items())} in ResourceQuota {quota}"
        for quota, hard in overruns(quotas, pod, lacking).items()
    )


def is_charged(pod: Pod, now: datetime) -> bool:
    """True if quotas count the pod: until it has ended, or its grace period is over.

    Source: pkg/quota/v1/evaluator/core/pods.go, QuotaV1Pod
    """
    meta = pod.metadata
    if pod.status.phase in ENDED_PHASES:
        return False
    deleted = instant(meta.deletion_timestamp or "")
    if deleted is None or meta.deletion_grace_period_seconds is None:
        return True
    return now <= deleted + timedelta(seconds=meta.deletion_grace_period_seconds)


class Ledger:
    """Usage of quotas while pods come and go."""

    def __init__(self, quotas: Sequence[ResourceQuota]) -> None:
        self._quotas = quotas
        self._hard = [amounts(quota.status.hard) for quota in quotas]
        self._used = [amounts(quota.status.used) for quota in quotas]
        self._touched: list[dict[str, None]] = [{} for _ in quotas]
        self._charges: dict[tuple[str, int], tuple[PodSpec, _Charge]] = {}
        """Charge by namespace and id of the spec, which copies of a pod share and which must not be freed."""

    def fork(self) -> Ledger:
        other = copy(self)
        other._used, other._touched = [dict(used) for used in self._used], [dict(names) for names in self._touched]
        return other

    def __bool__(self) -> bool:
        return bool(self._quotas)

    @property
    def quotas(self) -> tuple[ResourceQuota, ...]:
        """All quotas, with current usage."""
        return tuple(map(self._update, range(len(self._quotas))))

    def _update(self, place: int) -> ResourceQuota:
        quota, used = self._quotas[place], self._used[place]
        if not self._touched[place]:
            return quota
        texts = {**quota.status.used, **{name: str(used[name]) for name in self._touched[place]}}
        return replace(quota, status=replace(quota.status, used=texts))

    def refusal(self, pod: Pod) -> str:
        """Reason another pod like ``pod`` is refused; empty if all quotas allow it."""
        charge = self._charge(pod)
        return charge.fault or next(
            (refusal for place in charge.places if (refusal := self._excess(place, charge))), ""
        )

    def room(self, pod: Pod) -> int | None:
        """Number of pods like ``pod`` that all quotas allow; None where none limits them."""
        charge = self._charge(pod)
        left = [
            max(0, (self._hard[place][name].nano - self._used[place].get(name, ZERO).nano) // charge.usage[name].nano)
            for place in charge.places
            for name in _limited_resources(self._quotas[place], charge.usage)
            if charge.usage[name].nano
        ]
        return 0 if charge.fault else min(left, default=None)

    def charge(self, pod: Pod, copies: int = 1) -> bool:
        """Count ``copies`` more pods like ``pod``, or fewer if negative; True if any quota counts them."""
        charge = self._charge(pod)
        for place in charge.places:
            used = self._used[place]
            for name in _limited_resources(self._quotas[place], charge.usage):
                used[name] = _times(charge.usage[name], copies, used.get(name, ZERO))
                self._touched[place][name] = None
        return bool(charge.places)

    def _charge(self, pod: Pod) -> _Charge:
        key = pod.metadata.namespace, id(pod.spec)
        if key not in self._charges:
            self._charges[key] = pod.spec, self._worked_out(pod)
        return self._charges[key][1]

    def _worked_out(self, pod: Pod) -> _Charge:
        counted = {place: names for place, quota in enumerate(self._quotas) if (names := _counted_of(pod, quota))}
        if not counted:
            return _Charge()
        faults = (_fault(pod, self._quotas[place], names) for place, names in counted.items())
        return _Charge(_usage(pod), tuple(counted), next(filter(None, faults), ""))

    def _excess(self, place: int, charge: _Charge) -> str:
        usage, used, hard = charge.usage, self._used[place], self._hard[place]
        before = {
            name: used.get(name, ZERO) for name in _limited_resources(self._quotas[place], usage) if usage[name].nano
        }
        over = [name for name, amount in before.items() if amount.nano + usage[name].nano > hard[name].nano]
        if not over:
            return ""
        requested, counted, limited = (
            ",".join(f"{name}={amount[name]}" for name in over) for amount in (usage, before, hard)
        )
        name = self._quotas[place].metadata.name
        return f"exceeded quota: {name}, requested: {requested}, used: {counted}, limited: {limited}"


class _Charge(Struct, frozen=True):
    """Usage that one pod adds, and the quotas that count it."""

    usage: Amounts = field(default_factory=dict)
    places: tuple[int, ...] = ()
    """Positions of the quotas that count it."""
    fault: str = ""
    """Reason why one of them cannot be evaluated at all."""


def with_usage(quotas: Iterable[ResourceQuota], pods: Sequence[Pod]) -> tuple[ResourceQuota, ...]:
    """Quotas completed as by their controller: usage is counted for new and changed ones."""
    return tuple(quota if _is_synced(quota) else _recount(quota, pods) for quota in quotas)


def _is_synced(quota: ResourceQuota) -> bool:
    hard, recorded = quota.spec.hard, quota.status.hard
    return bool(recorded) and (hard in ({}, recorded) or amounts(hard) == amounts(recorded))


def _recount(quota: ResourceQuota, pods: Iterable[Pod]) -> ResourceQuota:
    hard = quota.spec.hard
    new = replace(quota, status=ResourceQuotaStatus(hard=hard, used=dict.fromkeys(_countable(hard), "0")))
    for pod in pods:
        if pod.status.phase not in ENDED_PHASES:
            (new,) = charge_quotas([new], pod, 1)
    return new


def _counted_of(pod: Pod, quota: ResourceQuota) -> list[str]:
    """Resources of ``pod`` that the quota counts, none where it is about others."""
    if quota.metadata.namespace != pod.metadata.namespace:
        return []
    counted = _countable(quota.status.hard)
    return counted if counted and all(_in_scope(pod, scope) for scope in _scopes(quota)) else []


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
            return scope.operator in LABEL_SELECTOR_OPERATORS and requirement.matches(name)
        case "CrossNamespacePodAffinity":
            terms = spec.affinity.pod_terms if spec.affinity is not None else ()
            return any(term.namespaces or term.namespace_selector is not None for term in terms)
    return False


def _is_best_effort(pod: Pod) -> bool:
    counted = [container.resources for container in (*pod.spec.containers, *pod.spec.init_containers)]
    if _has_pod_level_resources(pod) and pod.spec.resources is not None:
        counted = [pod.spec.resources]
    named = (amounts(getattr(resources, kind)) for resources in counted for kind in ("requests", "limits"))
    return not any(resources[name].nano > 0 for resources in named for name in ("cpu", "memory") if name in resources)


def _has_pod_level_resources(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(map(is_pod_level_resource, (*resources.requests, *resources.limits)))


def _usage(pod: Pod) -> Amounts:
    """Amounts that ``pod`` is charged with, by the names quotas have for them; overhead counts where it applies."""
    limits = pod_total(pod, "limits")
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
    """Reason why the quota cannot be evaluated at all."""
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


def _limited_resources(quota: ResourceQuota, usage: Amounts) -> list[str]:
    return sorted(quota.status.hard.keys() & usage.keys())


def _times(amount: Quantity, copies: int, start: Quantity) -> Quantity:
    return start + Quantity(amount.nano * copies, amount.format) if copies else start
