"""A scenario and its steps: as values, as text, and as a file, which is read strictly, every fault named by line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.owners import WorkloadReference, parse_reference
from kubespread.manifest.text import STDIN
from kubespread.node_groups import Autoscaler
from kubespread.regex import regex
from kubespread.scenario.document import API_VERSION, Document, Faults, Field, Fields, FieldType, read_document
from kubespread.scenario.verbs import KEYS, VERBS
from kubespread.snapshot.edits.verb import Verb
from kubespread.wording import describe

KIND = "Scenario"
NAME = "name"
"""Field that any step may have beside its key."""


class Step(Struct, frozen=True):
    """One change; its consequences play out before the next one."""

    text: str
    """Text on one line: ``drain zone=a --force``."""
    action: Verb
    name: str = ""


class Scenario(Struct, frozen=True):
    """Steps, and settings for all of them."""

    steps: tuple[Step, ...]
    name: str = ""
    namespace: str | None = None
    """Namespace of names without one; None for the question's."""
    preemption: bool = True
    """True if pods preempt others of lower priority."""
    stuck: tuple[WorkloadReference, ...] = ()
    """Workloads with new pods that never become ready."""
    creates_namespaces: bool = False
    """True if missing namespaces of applied manifests are created."""
    autoscaler: Autoscaler | None = None
    """Autoscaler that adds nodes for pending pods after each step."""
    node_groups: Any = None
    """Groups that may grow; None for the groups that the cluster defines."""
    instance_types: Any = None
    """Instance types that Karpenter may launch; None if unknown."""


SCENARIO: Fields = {"spec": Field(FieldType.OBJECT, "the steps", is_required=True)}
SPEC: Fields = {
    "steps": Field(FieldType.LIST, "what happens, in this order", is_required=True),
    "readiness": Field(FieldType.OBJECT, "when new pods are ready: at once, but for workloads that are stuck"),
}
READINESS: Fields = {"stuck": Field(FieldType.TEXTS, "workloads whose new pods do not become ready", is_required=True)}

_AFTER_VERB = regex(r"\s+|=")


def parse_step(text: str, directory: str | None = "") -> Step:
    """Parse a step, with a blank or an equals sign after its verb. Raises UsageError.

    Paths are relative to ``directory``, and refused if it is None. Raises ManifestError for the manifest of a new node
    that the API server would refuse.
    """
    verb, *rest = _AFTER_VERB.split(text.strip(), maxsplit=1)
    if verb not in VERBS:
        suggestion = did_you_mean(near_miss(verb, VERBS)) or f"; the steps are {', '.join(VERBS)}"
        raise UsageError(f"unknown step {verb!r}{suggestion}")
    return _step(VERBS[verb], "".join(rest), directory)


def _step(verb: type[Verb], text: str, directory: str | None) -> Step:
    return Step(f"{verb.form.verb} {text}".rstrip(), verb.read(text, directory))


def _step_at(data: Any, path: str, faults: Faults, directory: str) -> Step | None:
    """Read a step; None if it has faults."""
    if isinstance(data, str) and data.strip():
        return faults.read(path, partial(parse_step, data, directory))
    if not isinstance(data, Mapping) or not data:
        kind = "an empty object" if data == {} else "an empty string" if data == "" else describe(data)
        faults.add(path, f"expected a step, an object or a string, found {kind}")
        return None
    keys = [key for key in data if key in KEYS]
    for key in data:
        if key not in keys and key != NAME:
            faults.add_unknown(f"{path}.{key}", key, {**KEYS, NAME: None})
    beside = {key: data[key] for key in data if key == NAME}
    name = faults.check(beside, {NAME: Field(FieldType.TEXT, "what the step is called")}, path).get(NAME, "")
    if len(keys) != 1:
        message = f"expected one of {', '.join(VERBS)}"
        if keys:
            message = f"expected one thing in a step, found {', '.join(keys)}: write a step for each"
        faults.add(path, message)
        return None
    (key,) = keys
    verb, text = KEYS[key], data[key]
    if isinstance(text, list) and text and all(isinstance(word, str) and word for word in text):
        text = shlex.join(text)
    if not isinstance(text, str) or not text.strip():
        kind = "an empty string" if text == "" else describe(text)
        faults.add(f"{path}.{key}", f"expected {verb.form.text}, found {kind}")
        return None
    step = faults.read(f"{path}.{key}", partial(_step, verb, text, directory))
    return None if step is None else Step(step.text, step.action, name)


ScenarioGiven = Scenario | Mapping[str, Any] | str | Path | Sequence[str | Path]
"""Scenario as a value, plain data, a path (``-``: standard input) or text; or steps as texts, at most one a scenario.
"""

_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{steps: [{{drain: NODE}}]}}}}"


def read_scenario(source: ScenarioGiven) -> Scenario:
    """Read a scenario; text has a line break or begins with a brace.

    Paths in a file are relative to the file, others to the working directory. Raises ManifestError with every fault,
    and UsageError for steps given as text.
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
    return replace(settings, steps=tuple(step for part in parts for step in part.steps))


def _is_step(text: str) -> bool:
    """True for a step, not a scenario: it begins with a verb, or has several words and is no file."""
    first = _AFTER_VERB.split(text.strip(), maxsplit=1)[0]
    is_document = "\n" in text or text.lstrip().startswith("{")
    return not is_document and (first in VERBS or (" " in text.strip() and not Path(text).exists()))


def _scenario(document: Document) -> Scenario:
    faults, path = document.faults, document.path
    directory = "" if path is None or path == STDIN else str(Path(path).parent)
    directory = "" if directory == "." else directory
    fields, namespace = document.fields(SCENARIO)
    spec = faults.check(fields.get("spec", {}), SPEC, "spec")
    entries = spec.get("steps", ())
    steps = [_step_at(step, f"spec.steps[{place}]", faults, directory) for place, step in enumerate(entries)]
    if "steps" in spec and not steps:
        faults.add("spec.steps", "expected at least one step, found none")
    readiness = faults.check(spec["readiness"], READINESS, "spec.readiness") if "readiness" in spec else {}
    texts = enumerate(readiness.get("stuck", ()))
    stuck = [faults.read(f"spec.readiness.stuck[{place}]", partial(parse_reference, text)) for place, text in texts]
    if faults.entries:
        raise faults.error()
    return Scenario(
        steps=tuple(step for step in steps if step is not None),
        name=fields["metadata"].get("name", ""),
        namespace=namespace,
        stuck=tuple(workload for workload in stuck if workload is not None),
    )
