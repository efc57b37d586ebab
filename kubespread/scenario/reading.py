"""A scenario and its steps: as values, as text, and as a file, which is read strictly, every fault named by line."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import Named, named
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import Autoscaler
from kubespread.scenario.document import API_VERSION, AT_ONCE, Document, Faults, read_document
from kubespread.scenario.verbs import STEPS, VERBS, words_in
from kubespread.snapshot.edits.verb import Field, Fields, Holds, Verb
from kubespread.wording import describe

KIND = "Scenario"


class Step(Struct, frozen=True):
    """One thing that happens; its consequences play out before the next one."""

    text: str
    """As it is written, or would be on one line: ``drain zone=a --ignore-daemonsets``."""
    action: Verb | None = None
    """None where only readiness changes."""
    name: str = ""
    stuck: tuple[Named, ...] = ()
    """Workloads whose new pods do not become ready from this step on."""
    ready: tuple[Named, ...] = ()
    """Workloads whose pods become ready again from this step on."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps, and settings for all of them."""

    steps: tuple[Step, ...]
    name: str = ""
    namespace: str | None = None
    """That of names without one. None: the question's."""
    preemption: bool = True
    """Whether pods evict others of lower priority."""
    stuck: tuple[Named, ...] = ()
    """Workloads whose new pods never become ready, from the beginning."""
    autoscaler: Autoscaler | None = None
    """Who adds nodes for pods that find none, after each step."""
    node_groups: str | None = None
    """A file with the groups that may grow; None for those that the cluster's own objects tell of."""
    instance_types: str | None = None
    """A file with what Karpenter may launch; None where that is not known."""
    directory: str = ""
    """What paths in the texts of its steps are relative to; in all else they are relative to the working directory."""


IN_LIST = "files"
"""The field that is meant if a list stands where a verb's fields are expected."""
READINESS: Fields = {
    "stuck": Field(Holds.TEXTS, "workloads whose new pods do not become ready"),
    "ready": Field(Holds.TEXTS, "workloads whose pods become ready again"),
}
BESIDE_STEP: Fields = {"name": Field(Holds.TEXT, "what the step is called"), **READINESS}
"""The fields that any step may have beside its key."""

SCENARIO: Fields = {"spec": Field(Holds.OBJECT, "the steps", is_required=True)}
SPEC: Fields = {
    "steps": Field(Holds.STEPS, "what happens, in this order", is_required=True),
    "preemption": Field(Holds.FLAG, "whether pods evict others of lower priority, by default true"),
    "autoscaler": Field(Holds.TEXT, "ca or karpenter: who adds nodes for pods that find none"),
    "nodeGroups": Field(Holds.TEXT, "file with the groups that may grow, by default those that the cluster tells of"),
    "instanceTypes": Field(Holds.TEXT, "file with the instance types that karpenter may launch"),
    "readiness": Field(Holds.READINESS, "when new pods are ready: atOnce, or which workloads are stuck"),
}


_WORDS = (*VERBS, *READINESS)
_AFTER_VERB = re.compile(r"\s+|=")


def parse_step(text: str, directory: str | None = "") -> Step:
    """The step written as ``text``, a blank or an equals sign behind its verb; paths in it are relative to
    ``directory``, and not allowed if it is None.

    Raises UsageError, and ManifestError for the manifest of a new node that the API server would refuse.
    """
    verb, *rest = _AFTER_VERB.split(text.strip(), maxsplit=1)
    if verb not in _WORDS:
        meant = did_you_mean(near_miss(verb, _WORDS)) or f"; the steps are {', '.join(_WORDS)}"
        raise UsageError(f"unknown step {verb!r}{meant}")
    return step_of(verb, "".join(rest), directory)


def step_of(verb: str, rest: str, directory: str | None = "") -> Step:
    """The step of a verb followed by its text. Raises what `parse_step` raises."""
    text = f"{verb} {rest}".rstrip()
    if verb in VERBS:
        return Step(text, VERBS[verb].read(rest, directory))
    words = words_in(verb, rest)
    if not words:
        raise UsageError(f"invalid step {verb!r}: expected {verb} [NAMESPACE/]KIND/NAME...")
    return _readiness(text, verb, *map(named, words))


def _readiness(text: str, verb: str, *workloads: Named) -> Step:
    return Step(text, stuck=workloads) if verb == "stuck" else Step(text, ready=workloads)


_KEYS = (*STEPS, *(verb for verb in VERBS if verb not in STEPS))


class Reader(Struct, frozen=True):
    """Reads steps; what is wrong with them goes to ``faults``."""

    faults: Faults
    directory: str
    """What paths are relative to."""

    def step(self, data: Any, path: str) -> Step | None:
        """The step at ``path``, None where it has faults."""
        if isinstance(data, str) and data.strip():
            return self.faults.read(path, lambda: parse_step(data, self.directory))
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
        read = (self.faults.read(f"{path}[{place}]", partial(named, text)) for place, text in enumerate(texts))
        return tuple(workload for workload in read if workload is not None)

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
            return self.faults.read(path, lambda: step_of(word, value, self.directory))
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
        action = self.faults.read(path, lambda: verb.of(fields, self.directory))
        return None if action is None else Step(verb.line(fields), action)


ScenarioGiven = Scenario | Mapping[str, Any] | str | Path | Sequence[str | Path]
"""A scenario as a value or as plain data, its path (``-``: standard input) or its text, a step as text; or several of
these texts in their order, one of them a scenario's at most.
"""

_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{steps: [{{drain: NODE}}]}}}}"


def read_scenario(source: ScenarioGiven) -> Scenario:
    """The scenario that was given. What has a line break in it, or begins with a brace, is its text.

    Paths in a file are relative to the file, in anything else to the working directory. Raises ManifestError with every
    fault, and UsageError for steps given as text.
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, str) and _is_step(source):
        return Scenario((parse_step(source),))
    if isinstance(source, str | Path | Mapping):
        return _scenario(read_document(source, KIND, _SMALLEST))
    parts = [read_scenario(part) for part in source]
    files = [str(part) for part in source if not _is_step(str(part))]
    if len(files) > 1:
        raise UsageError(f"expected one scenario, with steps beside it, found {' and '.join(files)}")
    settings = next((part for part, text in zip(parts, source, strict=True) if str(text) in files), Scenario(()))
    return dataclasses.replace(settings, steps=tuple(step for part in parts for step in part.steps))


def _is_step(text: str) -> bool:
    """Whether it is no scenario: its first word is a verb, or no file is called so and it has several words."""
    first = _AFTER_VERB.split(text.strip(), maxsplit=1)[0]
    is_document = "\n" in text or text.lstrip().startswith("{")
    return not is_document and (first in _WORDS or (" " in text.strip() and not Path(text).exists()))


def _scenario(document: Document) -> Scenario:
    faults, path = document.faults, document.path
    directory = "" if path is None or path == STDIN else str(Path(path).parent)
    directory = "" if directory == "." else directory
    fields, namespace = document.fields(SCENARIO)
    spec = faults.checked(fields.get("spec", {}), SPEC, "spec")
    reader = Reader(faults, directory)
    steps = [reader.step(step, f"spec.steps[{place}]") for place, step in enumerate(spec.get("steps", ()))]
    if "steps" in spec and not steps:
        faults.add("spec.steps", "expected at least one step, found none")
    scenario = Scenario(
        steps=tuple(step for step in steps if step is not None),
        name=fields["metadata"].get("name", ""),
        namespace=namespace,
        preemption=spec.get("preemption", True),
        stuck=_stuck(spec.get("readiness"), reader),
        autoscaler=_autoscaler(spec.get("autoscaler"), faults),
        # Relative to the scenario's own file.
        node_groups=str(Path(directory, spec["nodeGroups"])) if "nodeGroups" in spec else None,
        instance_types=str(Path(directory, spec["instanceTypes"])) if "instanceTypes" in spec else None,
        directory=directory,
    )
    if scenario.node_groups is not None and scenario.autoscaler is None:
        faults.add("spec.nodeGroups", "without an autoscaler no group grows: add spec.autoscaler")
    if scenario.instance_types is not None and scenario.autoscaler is not Autoscaler.KARPENTER:
        faults.add("spec.instanceTypes", "only karpenter chooses among instance types: add spec.autoscaler: karpenter")
    if faults.entries:
        raise faults.error()
    return scenario


def _autoscaler(name: str | None, faults: Faults) -> Autoscaler | None:
    if name is None or name in list(Autoscaler):
        return None if name is None else Autoscaler(name)
    faults.add("spec.autoscaler", f"expected one of {', '.join(Autoscaler)}, found {name}")
    return None


def _stuck(readiness: Any, reader: Reader) -> tuple[Named, ...]:
    path = "spec.readiness"
    if readiness is None or readiness == AT_ONCE:
        return ()
    checked = reader.faults.checked(readiness, {"stuck": replace(READINESS["stuck"], is_required=True)}, path)
    return reader.workloads(checked.get("stuck", ()), f"{path}.stuck")
