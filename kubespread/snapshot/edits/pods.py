"""Edits that delete or evict pods, or change a workload: its scale, its rollout, its budget, its spreading."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubespread.errors import UsageError
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.kube.selector import SelectorError, parse_selector
from kubespread.regex import regex
from kubespread.snapshot.edits.verb import Edit, Form
from kubespread.snapshot.topology_keys import CONSTRAINT, CONSTRAINT_FORM, constraint_of

if TYPE_CHECKING:
    from kubespread.kube.api.kinds import Kind
    from kubespread.kube.selector import Selector

_NAMESPACE = regex(r"(?P<namespace>[^/.=!<>(),\s]+)/(?P<labels>.+)")
_POD = regex(r"(?:(?P<namespace>[^/\s]+)/)?(?P<name>[^/\s]+)")
_WORKLOAD = regex(r"(?:(?P<namespace>[^/=\s]+)/)?(?P<kind>[^/=\s]+)/(?P<name>[^/=\s]+)")
_SCALED = regex(rf"(?P<workload>{_WORKLOAD.pattern})=(?P<replicas>[0-9]{{1,9}})")


class DeletePods(Edit, frozen=True):
    """Pods are deleted."""

    form: ClassVar = Form("delete-pods", "[NAMESPACE/]LABELS", name="delete")
    text: str
    """Labels as written."""
    selector: Selector
    namespace: str | None = None
    """None for the question's."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        match = _NAMESPACE.fullmatch(text)
        namespace, labels = (None, text) if match is None else (match["namespace"], match["labels"])
        try:
            return cls(labels, parse_selector(labels), _check_namespace(namespace))
        except SelectorError as error:
            raise UsageError(f"invalid labels {labels!r}: {error}") from error

    def __str__(self) -> str:
        return f"delete-pods {_prefix(self.namespace)}{self.text}"


class EvictPod(Edit, frozen=True):
    """A pod is evicted if its disruption budget allows."""

    form: ClassVar = Form(
        "evict", "[NAMESPACE/]POD", metavar="[NS/]POD", option="Evict a pod if its disruption budget allows."
    )
    name: str
    namespace: str | None = None
    """None for the question's."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        match = _POD.fullmatch(text)
        if match is None or subdomain_faults(match["name"]):
            return None
        return cls(match["name"], _check_namespace(match["namespace"]))

    def __str__(self) -> str:
        return f"evict {_prefix(self.namespace)}{self.name}"


class Scale(Edit, frozen=True):
    """A workload gets another number of replicas."""

    form: ClassVar = Form(
        "scale",
        "[NAMESPACE/]KIND/NAME=N",
        "[NAMESPACE/]KIND/NAME=N, N a number from 0",
        metavar="[NS/]KIND/NAME=N",
        option="Scale a workload of the cluster (deploy/web=5).",
    )
    kind: str
    """Kind as Kubernetes writes it, ``Deployment``."""
    name: str
    replicas: int
    namespace: str | None = None
    """None for the question's."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no other edit and no help needs.
        from kubespread.kube.api.kinds import owner_kind
        from kubespread.kube.owners import parse_reference

        match = _SCALED.fullmatch(text)
        if match is None:
            return None
        workload = parse_reference(match["workload"], suggested=_scalable())
        check_scalable(owner_kind(workload.kind))
        return cls(workload.kind, workload.name, int(match["replicas"]), _check_namespace(workload.namespace))

    def __str__(self) -> str:
        return f"scale {_prefix(self.namespace)}{self.kind}/{self.name}={self.replicas}"


class SetMaxUnavailable(Edit, frozen=True):
    """A Deployment's rollout may leave this many of its pods unavailable. Only remedies use it."""

    form: ClassVar = Form("maxUnavailable", "NAMESPACE/NAME=NUMBER")
    namespace: str
    name: str
    max_unavailable: int

    def __str__(self) -> str:
        return f"{self.form.verb} {self.namespace}/{self.name}={self.max_unavailable}"


MAX_UNAVAILABLE, MIN_AVAILABLE = "maxUnavailable", "minAvailable"
_NONE = "none"
_BUDGET = regex(
    rf"(?P<budget>(?:[^/:=\s]+/){{0,2}}[^/:=\s]+):(?:(?P<field>{MAX_UNAVAILABLE}|{MIN_AVAILABLE})=(?P<value>[0-9]{{1,9}}%?)|{_NONE})"
)


class SetBudget(Edit, frozen=True):
    """A disruption budget gets another limit, is made for a workload that has none, or is removed."""

    form: ClassVar = Form(
        "budget",
        "[NAMESPACE/]NAME:FIELD=VALUE",
        "[NAMESPACE/]NAME:maxUnavailable=VALUE, :minAvailable=VALUE or :none, NAME a budget or a workload "
        "(deploy/web), VALUE a number from 0 or a percentage",
        metavar="[NS/]NAME:FIELD=VALUE",
        option="Set maxUnavailable or minAvailable of a budget (web:maxUnavailable=1), or make one for a workload "
        "(deploy/web:minAvailable=50%); NAME:none removes it.",
    )
    name: str
    """Name of the budget, or of the workload."""
    kind: str = ""
    """Kind of the workload, ``Deployment``; empty for a budget's name."""
    field: str = ""
    """``maxUnavailable`` or ``minAvailable``; empty to remove the budget."""
    value: int | str = ""
    namespace: str | None = None
    """None for the question's."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no other edit and no help needs.
        from kubespread.kube.api.kinds import kind_called
        from kubespread.kube.owners import parse_reference

        match = _BUDGET.fullmatch(text)
        if match is None:
            return None
        field, value = match["field"] or "", match["value"] or ""
        limit = int(value) if value.isdigit() else value
        whose, _slash, name = match["budget"].rpartition("/")
        if "/" in whose or kind_called(whose) is not None:
            workload = parse_reference(match["budget"])
            return cls(workload.name, workload.kind, field, limit, workload.namespace)
        if faults := [*subdomain_faults(name), *(dns_label_faults(whose) if whose else ())]:
            raise UsageError(f"invalid edit {f'budget {text}'!r}: {faults[0]}")
        return cls(name, "", field, limit, whose or None)

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"budget {whose}:{f'{self.field}={self.value}' if self.field else _NONE}"


_SPREAD = regex(rf"(?:(?P<workload>[^:=\s]+)=)?(?P<constraint>{CONSTRAINT.pattern})")


class Spread(Edit, frozen=True):
    """Workloads get a topology spread constraint, in running and waiting pods and in templates, without a rollout.

    An existing one with the same topology key and action gets its maxSkew.
    """

    form: ClassVar = Form(
        "spread",
        f"[[NAMESPACE/]KIND/NAME=]{CONSTRAINT_FORM}",
        metavar=f"[[NS/]KIND/NAME=]{CONSTRAINT_FORM}",
        option="Give every workload but DaemonSets (zone:1, karpenter.sh/capacity-type:1, hostname:1:soft), or one "
        "(deploy/web=zone:1), a topology spread constraint over its pods.",
    )
    constraint: str
    """``zone:1:soft``, as written."""
    kind: str = ""
    """Kind as Kubernetes writes it, ``Deployment``; empty for all workloads."""
    name: str = ""
    namespace: str | None = None
    """None for the question's."""

    @classmethod
    def parse(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no other edit and no help needs.
        from kubespread.kube.owners import parse_reference
        from kubespread.kube.validation.pods import spread_faults

        match = _SPREAD.fullmatch(text)
        constraint = None if match is None else constraint_of(match["constraint"])
        if match is None or constraint is None:
            return None
        if faults := list(spread_faults([constraint], "spec.topologySpreadConstraints")):
            raise UsageError(*(f"invalid edit {f'spread {text}'!r}: {fault.path}: {fault.message}" for fault in faults))
        if match["workload"] is None:
            return cls(match["constraint"])
        workload = parse_reference(match["workload"])
        return cls(match["constraint"], workload.kind, workload.name, workload.namespace)

    def __str__(self) -> str:
        whose = "/".join(filter(None, (self.namespace, self.kind, self.name)))
        return f"spread {whose}={self.constraint}" if whose else f"spread {self.constraint}"


def _scalable() -> list[Kind]:
    from kubespread.kube.api.kinds import REFERABLE

    return [row for row in REFERABLE if row.has_replicas]


def check_scalable(kind: Kind) -> None:
    """Raise UsageError for a kind without replicas."""
    if not (kind.has_replicas or kind.foreign):
        kinds = ", ".join(row.short for row in _scalable())
        raise UsageError(f"a {kind.kind} has no replicas to scale; KIND is one of {kinds}")


def _prefix(namespace: str | None) -> str:
    return f"{namespace}/" if namespace else ""


def _check_namespace(namespace: str | None) -> str | None:
    if namespace is not None and (faults := dns_label_faults(namespace)):
        raise UsageError(f"invalid namespace {namespace!r}: {faults[0]}")
    return namespace
