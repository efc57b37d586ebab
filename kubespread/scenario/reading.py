"""From a scenario file to its steps: strictly, and with every fault in it named by line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from kubespread.errors import Fault, ManifestError
from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.owners import Named
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import describe
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_documents
from kubespread.manifest.text import MAX_MANIFEST_BYTES, STDIN, display_name, mistaken_text, read_text_bytes, text_bytes
from kubespread.node_groups.groups import Autoscaler
from kubespread.scenario.faults import Faults
from kubespread.scenario.steps import Reader
from kubespread.scenario.types import API_VERSION, AT_ONCE, KIND, METADATA, READINESS, SCENARIO, SPEC, Scenario

ScenarioGiven = Scenario | Mapping[str, Any] | str | Path
"""A scenario as a value or as plain data, its path (``-``: standard input), or its text."""

_TEXT, _OBJECT = "<scenario>", "<object>"
_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{steps: [{{drain: NODE}}]}}}}"
_NO_STEPS = "expected at least one step, found none"


def read_scenario(source: ScenarioGiven) -> Scenario:
    """The scenario that was given. What has a line break in it, or begins with a brace, is its text.

    Paths in a file are relative to the file, in anything else to the working directory. Raises ManifestError with every
    fault.
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return _scenario(source, Faults(_OBJECT))
    text = str(source)
    if "\n" in text or text.lstrip().startswith("{"):
        return _of_text(_TEXT, text.encode("utf-8", "surrogateescape"), "")
    file, directory = display_name(text), "" if text == STDIN else str(Path(text).parent)
    try:
        return _of_text(file, read_text_bytes(text, MAX_MANIFEST_BYTES), "" if directory == "." else directory)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def _of_text(file: str, text: bytes, directory: str) -> Scenario:
    try:
        text = text_bytes(text, MAX_MANIFEST_BYTES)
        documents = read_documents(text)
    except MalformedError as error:
        raise ManifestError(file, [mistaken_text(text) or error.fault]) from error
    if len(documents) != 1 or not isinstance(documents[0], Mapping):
        what = (
            describe(documents[0]) if len(documents) == 1 else f"{len(documents)} documents" if documents else "nothing"
        )
        raise ManifestError(file, [Fault(f"expected one {KIND}, found {what}")])
    return _scenario(documents[0], Faults(file, FieldLines(text)), directory)


def _scenario(data: Mapping[str, Any], faults: Faults, directory: str = "") -> Scenario:
    version, kind = data.get("apiVersion"), data.get("kind")
    if (version, kind) != (API_VERSION, KIND):
        expected = f"expected apiVersion {API_VERSION} and kind {KIND}"
        found = f"found {version or 'none'} and {kind or 'none'}"
        faults.add("" if kind is None else "kind", f"{expected}, {found}; the smallest one is {_SMALLEST}")
        raise faults.error()
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
    )
    if scenario.node_groups is not None and scenario.autoscaler is None:
        faults.add("spec.nodeGroups", "without an autoscaler no group grows: add spec.autoscaler")
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
