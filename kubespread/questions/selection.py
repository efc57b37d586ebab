"""Workloads of a cluster that a question is about, selected by namespace, by labels or by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName, WorkloadReference, parse_reference
from kubespread.kube.selector import Selector, SelectorError, parse_selector
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.editing import exists, not_found
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, workload_of
from kubespread.world.store.owners import in_order


class Selection(Struct, frozen=True):
    """Selection of workloads by kubectl's ``-n`` and ``-l``, or by name."""

    namespace: str | None
    """None: all namespaces."""
    text: str
    """Selector as written; empty: any labels."""
    selector: Selector
    names: tuple[WorkloadReference, ...] = ()
    """Named workloads; empty: all that the other fields select."""
    default: str = DEFAULT_NAMESPACE
    """Namespace of names without one."""

    @classmethod
    def parse(
        cls, namespace: str | None, text: str, names: Sequence[str] = (), default: str = DEFAULT_NAMESPACE
    ) -> Selection:
        """Make a selection; ``names`` are [NAMESPACE/]KIND/NAME. Raises UsageError for an invalid selector or name."""
        for name in names:
            if name.endswith((".yaml", ".yml", ".json")):
                hint = f"plan -f {name} asks what a manifest would change"
                raise UsageError(f"invalid workload {name!r}: expected [NAMESPACE/]KIND/NAME in the cluster; {hint}")
        try:
            selector = parse_selector(text)
        except SelectorError as error:
            raise UsageError(f"invalid selector {text!r}: {error}") from error
        return cls(namespace, text, selector, tuple(map(parse_reference, dict.fromkeys(names))), default)

    @property
    def report_namespace(self) -> str | None:
        """Namespace for reports: with names, that of names without one."""
        return self.default if self.names else self.namespace

    def named_in(self, world: World) -> list[WorkloadName]:
        """Named workloads, a Deployment's ReplicaSet as the Deployment. Raises UsageError, a line
        for each missing one.
        """
        names = [world.resolve_name(name.in_namespace(self.default)) for name in self.names]
        missing = [name for name in names if not _is_there(world, name)]
        if missing:
            raise UsageError(*(str(not_found(world, name)) for name in missing))
        return list(dict.fromkeys(_top_owner(world, name) for name in names))

    def as_reported(self, world: World) -> dict[str, Any]:
        """Fields of `OfWorkloads`. Raises UsageError for a missing workload."""
        return {"asked": tuple(self.named_in(world)), "namespace": self.report_namespace, "selector": self.text}

    def filter_in(self, world: World) -> Callable[[WorkloadName], bool]:
        """Make a filter for selected workloads. One known only by its pods has the labels of the first of them."""
        if self.names:
            return frozenset(self.named_in(world)).__contains__
        labels = {} if self.selector.is_empty else _labels(world)

        def is_selected(name: WorkloadName) -> bool:
            return (self.namespace is None or name.namespace == self.namespace) and (
                self.selector.is_empty or self.selector.matches(labels.get(name, {}))
            )

        return is_selected

    def chosen_in(self, world: World) -> list[WorkloadName]:
        """Selected workloads, by namespace, kind and name; a Deployment's ReplicaSets as the Deployment."""
        is_selected = self.filter_in(world)
        names = (name for name in _labels(world) if is_selected(name) and _top_owner(world, name) == name)
        return sorted(names, key=in_order)

    def with_replicas_in(self, world: World, snapshot: Snapshot) -> list[WorkloadName]:
        """Named workloads, else selected ones with replicas or of an unmodeled kind that recreates lost pods.

        Raises UsageError if there are none, or a named one has no replicas.
        """

        def has_replicas(name: WorkloadName) -> bool:
            row = POD_CREATORS.get(name.kind)
            return any(map(world.recreates_pods, world.owners_below(name))) if row is None else row.has_replicas

        for row in (row for name in self.names if (row := POD_CREATORS.get(name.kind)) and not row.has_replicas):
            raise UsageError(f"a {row.kind} has no replicas of which anything could be promised")
        names = self.named_in(world) if self.names else list(filter(has_replicas, self.chosen_in(world)))
        if not names:
            raise self.no_workload_error(snapshot)
        return names

    def no_workload_error(self, snapshot: Snapshot) -> KubespreadError:
        """Error that no workload is selected, or that no named one has a pod."""
        from kubespread.candidate.sources import no_workloads

        if self.names:
            return UsageError(*(nothing_to_say(name.in_namespace(self.default)) for name in self.names))
        return no_workloads(snapshot, self.namespace, self.text)

    def check_any(self, world: World, snapshot: Snapshot) -> None:
        """Raise UsageError if no workload, with or without pods, is selected."""
        if not any(map(self.filter_in(world), _labels(world))):
            raise self.no_workload_error(snapshot)


def nothing_to_say(name: WorkloadName) -> str:
    """Reason there is no answer about an existing workload."""
    if name.kind in GO_WITH_THEIR_NODES:
        return f"{name.kind}/{name.name}: every node has its own pod of a {name.kind}"
    return f"{name.kind}/{name.name} has no pods in namespace {name.namespace}"


def _is_there(world: World, name: WorkloadName) -> bool:
    return (name.namespace, name.name) in world.book if name.kind == "Pod" else exists(world, name)


def _top_owner(world: World, name: WorkloadName) -> WorkloadName:
    pod = (name.namespace, name.name)
    # A controller that pods name may be a Pod too, and may be missing.
    if name.kind == "Pod" and pod in world.book:
        return workload_of(world, world.book[pod])
    return world.workloads.top_owner(name, world.book.pods_of(name))


def _labels(world: World) -> Mapping[WorkloadName, Mapping[str, str]]:
    """Labels of all workloads, bare pods included."""
    selectors: dict[WorkloadName, Mapping[str, str]] = {}
    for pod in world.book:
        selectors.setdefault(workload_of(world, pod), pod.metadata.labels)
    for row in POD_CREATORS.values():
        for obj in world.workloads.objects.get(row.cls):
            selectors[WorkloadName(row.kind, obj.metadata.namespace, obj.metadata.name)] = obj.metadata.labels
    return selectors
