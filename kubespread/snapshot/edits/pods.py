"""Edits that delete or evict pods, or change a workload: its scale, its requests, its rollout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from kubespread.errors import UsageError
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.kube.selector import SelectorError, parse_selector
from kubespread.snapshot.edits.verb import Edit, Form

if TYPE_CHECKING:
    from kubespread.kube.api.kinds import Kind
    from kubespread.kube.selector import Selector

_NAMESPACE = re.compile(r"(?P<namespace>[^/.=!<>(),\s]+)/(?P<labels>.+)")
_POD = re.compile(r"(?:(?P<namespace>[^/\s]+)/)?(?P<name>[^/\s]+)")
_WORKLOAD = re.compile(r"(?:(?P<namespace>[^/=\s]+)/)?(?P<kind>[^/=\s]+)/(?P<name>[^/=\s]+)")
_SCALED = re.compile(rf"(?P<workload>{_WORKLOAD.pattern})=(?P<replicas>[0-9]{{1,9}})")


class DeletePods(Edit, frozen=True):
    """Pods are deleted."""

    form: ClassVar = Form("delete-pods", "[NAMESPACE/]LABELS", name="delete")
    text: str
    """The labels as they were written."""
    selector: Selector
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str, _: str | None, /) -> Edit | None:
        match = _NAMESPACE.fullmatch(text)
        namespace, labels = (None, text) if match is None else (match["namespace"], match["labels"])
        try:
            return cls(labels, parse_selector(labels), _checked(namespace))
        except SelectorError as error:
            raise UsageError(f"invalid labels {labels!r}: {error}") from error

    def __str__(self) -> str:
        return f"delete-pods {_within(self.namespace)}{self.text}"


class EvictPod(Edit, frozen=True):
    """A pod is evicted if its disruption budget allows."""

    form: ClassVar = Form(
        "evict", "[NAMESPACE/]POD", metavar="[NS/]POD", option="Evict a pod if its disruption budget allows."
    )
    name: str
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str, _: str | None, /) -> Edit | None:
        match = _POD.fullmatch(text)
        if match is None or subdomain_faults(match["name"]):
            return None
        return cls(match["name"], _checked(match["namespace"]))

    def __str__(self) -> str:
        return f"evict {_within(self.namespace)}{self.name}"


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
    """``Deployment``, as Kubernetes writes it."""
    name: str
    replicas: int
    namespace: str | None = None
    """None: that of the question."""

    @classmethod
    def parsed(cls, text: str, _: str | None, /) -> Edit | None:
        # All types of the API, which no other edit and no help needs.
        from kubespread.kube.api.kinds import of_pods
        from kubespread.kube.owners import named

        match = _SCALED.fullmatch(text)
        if match is None:
            return None
        workload = named(match["workload"], suggested=_scalable())
        check_scalable(of_pods(workload.kind))
        return cls(workload.kind, workload.name, int(match["replicas"]), _checked(workload.namespace))

    def __str__(self) -> str:
        return f"scale {_within(self.namespace)}{self.kind}/{self.name}={self.replicas}"


class SetMaxUnavailable(Edit, frozen=True):
    """A Deployment's rollout may leave so many of its pods unavailable. Only remedies make it, and no option does."""

    form: ClassVar = Form("maxUnavailable", "NAMESPACE/NAME=NUMBER")
    namespace: str
    name: str
    max_unavailable: int

    def __str__(self) -> str:
        return f"{self.form.verb} {self.namespace}/{self.name}={self.max_unavailable}"


def _scalable() -> list[Kind]:
    from kubespread.kube.api.kinds import REFERABLE

    return [row for row in REFERABLE if row.has_replicas]


def check_scalable(kind: Kind) -> None:
    """Raise UsageError for a kind without a number of replicas."""
    if not (kind.has_replicas or kind.foreign):
        kinds = ", ".join(row.short for row in _scalable())
        raise UsageError(f"a {kind.kind} has no replicas to scale; KIND is one of {kinds}")


def _within(namespace: str | None) -> str:
    return f"{namespace}/" if namespace else ""


def _checked(namespace: str | None) -> str | None:
    if namespace is not None and (faults := dns_label_faults(namespace)):
        raise UsageError(f"invalid namespace {namespace!r}: {faults[0]}")
    return namespace
