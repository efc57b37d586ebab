"""From a scenario file to its steps: strictly, and with every fault in it named by line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.owners import Named
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.scenario.document import Document, read_document
from kubespread.scenario.faults import Faults
from kubespread.scenario.steps import Reader
from kubespread.scenario.types import API_VERSION, AT_ONCE, KIND, METADATA, READINESS, SCENARIO, SPEC, Scenario

ScenarioGiven = Scenario | Mapping[str, Any] | str | Path
"""A scenario as a value or as plain data, its path (``-``: standard input), or its text."""

_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{steps: [{{drain: NODE}}]}}}}"
_NO_STEPS = "expected at least one step, found none"


def read_scenario(source: ScenarioGiven) -> Scenario:
    """The scenario that was given. What has a line break in it, or begins with a brace, is its text.

    Paths in a file are relative to the file, in anything else to the working directory. Raises ManifestError with every
    fault.
    """
    if isinstance(source, Scenario):
        return source
    return _scenario(read_document(source, KIND, _SMALLEST))


def _scenario(document: Document) -> Scenario:
    data, faults, path = document.data, document.faults, document.path
    directory = "" if path is None or path == STDIN else str(Path(path).parent)
    directory = "" if directory == "." else directory
    fields = faults.checked(data, SCENARIO, "")
    metadata = faults.checked(fields.get("metadata", {}), METADATA, "metadata")
    spec = faults.checked(fields.get("spec", {}), SPEC, "spec")
    reader = Reader(faults, directory)
    steps = [reader.step(step, f"spec.steps[{place}]") for place, step in enumerate(spec.get("steps", ()))]
    if "steps" in spec and not steps:
        faults.add("spec.steps", _NO_STEPS)
    scenario = Scenario(
        steps=tuple(step for step in steps if step is not None),
        name=metadata.get("name", ""),
        namespace=_namespace(metadata, faults),
        preemption=spec.get("preemption", True),
        stuck=_stuck(spec.get("readiness"), reader),
        autoscaler=_autoscaler(spec.get("autoscaler"), faults),
        node_groups=_beside(directory, spec.get("nodeGroups")),
        instance_types=_beside(directory, spec.get("instanceTypes")),
    )
    if scenario.node_groups is not None and scenario.autoscaler is None:
        faults.add("spec.nodeGroups", "without an autoscaler no group grows: add spec.autoscaler")
    if scenario.instance_types is not None and scenario.autoscaler is not Autoscaler.KARPENTER:
        faults.add("spec.instanceTypes", "only karpenter chooses among instance types: add spec.autoscaler: karpenter")
    if faults.entries:
        raise faults.error()
    return scenario


def _namespace(metadata: Mapping[str, Any], faults: Faults) -> str | None:
    namespace: str | None = metadata.get("namespace")
    if namespace is not None and (wrong := dns_label_faults(namespace)):
        faults.add("metadata.namespace", f"{namespace!r}: {wrong[0]}")
    return namespace


def _autoscaler(name: str | None, faults: Faults) -> Autoscaler | None:
    if name is None or name in list(Autoscaler):
        return None if name is None else Autoscaler(name)
    faults.add("spec.autoscaler", f"expected one of {', '.join(Autoscaler)}, found {name}")
    return None


def _beside(directory: str, file: str | None) -> str | None:
    """Relative to the scenario's own file."""
    return None if file is None else str(Path(directory) / file)


def _stuck(readiness: Any, reader: Reader) -> tuple[Named, ...]:
    path = "spec.readiness"
    if readiness is None or readiness == AT_ONCE:
        return ()
    checked = reader.faults.checked(readiness, {"stuck": replace(READINESS["stuck"], is_required=True)}, path)
    return reader.workloads(checked.get("stuck", ()), f"{path}.stuck")
