"""From a scenario file to its steps: strictly, and with every fault in it named by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.owners import Named, named
from kubespread.manifest.objects import describe
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.scenario.document import Document, Faults, read_document
from kubespread.scenario.text import parse_step, step_of
from kubespread.scenario.types import (
    API_VERSION,
    AT_ONCE,
    BESIDE_STEP,
    IN_LIST,
    KIND,
    METADATA,
    READINESS,
    SCENARIO,
    SPEC,
    Scenario,
    Step,
)
from kubespread.scenario.verbs import STEPS, VERBS

# From one entry of a scenario's steps to the step.


T = TypeVar("T")
_KEYS = (*STEPS, *(verb for verb in VERBS if verb not in STEPS))


class Reader(Struct, frozen=True):
    """Reads steps; what is wrong with them goes to ``faults``."""

    faults: Faults
    directory: str
    """What paths are relative to."""

    def step(self, data: Any, path: str) -> Step | None:
        """The step at ``path``, None where it has faults."""
        if isinstance(data, str) and data.strip():
            return self._read(path, lambda: parse_step(data, self.directory))
        if not isinstance(data, Mapping) or not data:
            kind = "an empty object" if data == {} else "an empty string" if data == "" else describe(data)
            self.faults.add(path, f"expected a step, an object or a string, found {kind}")
            return None
        keys = [key for key in data if key in _KEYS]
        for key in data:
            if key not in keys and key not in BESIDE_STEP:
                self._unknown(path, str(key), keys)
        beside = self.faults.checked({key: data[key] for key in data if key in BESIDE_STEP}, BESIDE_STEP, path)
        if len(keys) > 1:
            self.faults.add(path, f"expected one thing in a step, found {', '.join(keys)}: write a step for each")
            return None
        if not keys:
            if not any(key in data for key in READINESS):
                self.faults.add(path, f"expected one of {', '.join(STEPS)}")
                return None
            words = [word for name in READINESS for word in (name, *beside.get(name, ())) if name in beside]
            step: Step | None = Step(" ".join(words))
        else:
            step = self._of_key(keys[0], data[keys[0]], f"{path}.{keys[0]}")
        if step is None:
            return None
        return replace(
            step,
            name=beside.get("name", ""),
            stuck=self.workloads(beside.get("stuck", ()), f"{path}.stuck"),
            ready=self.workloads(beside.get("ready", ()), f"{path}.ready"),
        )

    def workloads(self, texts: Iterable[str], path: str) -> tuple[Named, ...]:
        """The workloads of a list at ``path``."""
        workloads = []
        for place, text in enumerate(texts):
            try:
                workloads.append(named(text))
            except UsageError as error:
                self.faults.add_error(f"{path}[{place}]", error)
        return tuple(workloads)

    def _unknown(self, path: str, key: str, keys: list[str]) -> None:
        """A field beside the step's key may belong below it."""
        if len(keys) == 1 and keys[0] in STEPS and key in STEPS[keys[0]].form.fields:
            message = f'strict decoding error: unknown field "{path}.{key}", did you mean "{path}.{keys[0]}.{key}"?'
            self.faults.add(f"{path}.{key}", message)
        else:
            self.faults.unknown(f"{path}.{key}", key, dict.fromkeys((*_KEYS, *BESIDE_STEP)))

    def _of_key(self, key: str, value: Any, path: str) -> Step | None:
        verb = STEPS.get(key)
        if isinstance(value, str) and value.strip():
            word = verb.form.verb if verb is not None else key
            return self._read(path, lambda: step_of(word, value, self.directory))
        if verb is None:
            self.faults.add(path, f"expected a string, found {describe(value)}")
            return None
        form = verb.form
        if isinstance(value, list) and IN_LIST in form.fields:
            value = {IN_LIST: value}
        if not isinstance(value, Mapping):
            listed = ", a list of files" if IN_LIST in form.fields else ""
            kind = "an empty string" if value == "" else describe(value)
            self.faults.add(path, f"expected {form.text}{listed} or an object, found {kind}")
            return None
        before = len(self.faults.entries)
        fields = self.faults.checked(value, form.fields, path)
        if len(self.faults.entries) > before:
            return None
        action = self._read(path, lambda: verb.of(fields, self.directory))
        return None if action is None else Step(verb.line(fields), action)

    def _read(self, path: str, read: Callable[[], T]) -> T | None:
        """What is read at ``path``, None where it is wrong."""
        try:
            return read()
        except KubespreadError as error:
            self.faults.add_error(path, error)
            return None


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
