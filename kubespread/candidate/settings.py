"""``--set``: fields of a pod, or of its workload, changed in the manifest before the API server sees it.

Brackets are left out where there is only one constraint, container, label or key. ``null`` removes a field of a
constraint, a label of nodeSelector, and what is required of affinity. The effect of set fields on an object is a JSON
Patch.

    maxSkew[KEY]=N  minDomains[KEY]=N  whenUnsatisfiable[KEY]=ACTION  nodeTaintsPolicy[KEY]=POLICY
    nodeAffinityPolicy[KEY]=POLICY     of the topology spread constraint over KEY, or of the one at that position
    topologyKey[KEY]=OTHER             the label whose values are its domains
    topologySpreadConstraints=KEY:SKEW[:soft]  one more constraint that selects the workload's pods; of one with that
                                       key and action the maxSkew
    cpu[CONTAINER]=AMOUNT              memory[CONTAINER]=AMOUNT, what a container requests
    tolerations=KEY[=VALUE]:EFFECT     one more toleration, of that taint; without a value of any
    nodeSelector[KEY]=VALUE            a label that nodes must have
    nodeAffinity[KEY]=null             what required node affinity says of the label KEY
    podAffinity[KEY]=null              podAntiAffinity[KEY]=null, the required terms over the topology key KEY
    priorityClassName=NAME             schedulerName=NAME             replicas=N
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from msgspec import Struct, field

from kubespread.candidate.manifest import are_related, value_at
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.api.kinds import Kind
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.taint import TaintError, parse_taint
from kubespread.regex import regex
from kubespread.snapshot.topology_keys import CONSTRAINT_FORM, SHORT_KEYS, constraint_of
from kubespread.wording import verb_of


class Operation(Struct, frozen=True):
    """One field to set or remove."""

    path: tuple[str | int, ...]
    value: Any
    removes: bool = False

    @property
    def pointer(self) -> str:
        """RFC 6901."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)


def operations(data: Any, row: Kind, settings: Sequence[str]) -> list[Operation]:
    """Operations that ``settings`` make in ``data``, an object of the kind of ``row``. Raises UsageError."""
    return list(differences(data, apply_settings(data, row, parse_settings(settings)).data))


def differences(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[Operation]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if key not in new:
                yield Operation((*path, key), None, removes=True)
            elif key not in old:
                yield Operation((*path, key), new[key])
            else:
                yield from differences(old[key], new[key], (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) <= len(new):
        for place, item in enumerate(new):
            if place < len(old):
                yield from differences(old[place], item, (*path, place))
            else:
                yield Operation((*path, place), item)
    elif old != new:
        yield Operation(path, new)


_SETTING = regex(r"(?P<field>[^\[\]=]+)(?:\[(?P<key>[^\[\]]+)\])?=(?P<value>.+)", re.DOTALL)
_POSITION = regex(r"[0-9]{1,3}")
_INTEGER = regex(r"-?[0-9]{1,18}")


class Setting(Struct, frozen=True):
    """One field and its new value, as written."""

    field: str
    key: str
    """Text in the brackets; empty without."""
    value: str

    def __str__(self) -> str:
        return f"{self.field}[{self.key}]={self.value}" if self.key else f"{self.field}={self.value}"


class SettledObject(Struct, frozen=True):
    """An object's data after its settings were applied."""

    data: Any
    paths: Mapping[str, Setting] = field(default_factory=dict)
    """Set fields by path."""

    @contextmanager
    def blame_settings(self, written_path: Callable[[str], str] = str) -> Iterator[None]:
        """Context that attributes faults in set fields to the settings, as their lines in the manifest hold something
        else.

        ``written_path`` turns a path in ``data`` into the one that faults name.
        """
        try:
            yield
        except ManifestError as error:
            raise ManifestError(error.file, [self._blame(fault, written_path) for fault in error.faults]) from error

    def _blame(self, fault: Fault, written_path: Callable[[str], str]) -> Fault:
        for path, setting in self.paths.items():
            if fault.field and are_related(fault.field, written_path(path)):
                return fault._replace(message=f"{fault.message} (--set {setting})", line=None)
        return fault


def parse_settings(texts: Sequence[str]) -> tuple[Setting, ...]:
    """Parse settings, in order. Raises UsageError."""
    return tuple(map(_parse, texts))


def _parse(text: str) -> Setting:
    match = _SETTING.fullmatch(text)
    if match is None:
        raise UsageError(f"invalid --set {text!r}: expected FIELD=VALUE or FIELD[KEY]=VALUE, such as maxSkew[zone]=2")
    name, key = match["field"], match["key"] or ""
    if name not in _SETTERS:
        suggestion = did_you_mean(near_miss(name, _SETTERS)) or f"; fields are {', '.join(_SETTERS)}"
        raise UsageError(f"invalid --set {text!r}: unknown field {name!r}{suggestion}")
    if key and name in _WITHOUT_KEY:
        raise UsageError(f"invalid --set {text!r}: {name} takes no brackets")
    return Setting(name, key, match["value"])


def apply_settings(data: Any, row: Kind, settings: Sequence[Setting]) -> SettledObject:
    """Apply ``settings`` to ``data``, an object of the kind of ``row``; of several for one field the last counts.

    Objects that cannot be decoded stay unchanged: their faults are reported elsewhere. Raises UsageError for a
    constraint or container that is missing or ambiguous.
    """
    changed = deepcopy(data) if settings else data
    paths = {_SETTERS[setting.field](changed, row, setting): setting for setting in settings}
    return SettledObject(changed, {path: setting for path, setting in paths.items() if path})


def _set_constraint(data: Any, row: Kind, setting: Setting) -> str:
    path = f"{_spec_path(row)}.topologySpreadConstraints"
    position = _choose(value_at(data, path) or [], "topologyKey", "topology spread constraint", setting)
    if position is None:
        return ""
    if setting.value == _REMOVED:
        value_at(data, f"{path}[{position}]").pop(setting.field, None)
        return f"{path}[{position}].{setting.field}"
    return _set(data, f"{path}[{position}]", setting.field, setting)


def _add_constraint(data: Any, row: Kind, setting: Setting) -> str:
    """Add a constraint with the workload's selector, else the pod's labels. Raises UsageError for malformed text."""
    added = constraint_of(setting.value)
    if added is None:
        raise UsageError(f"--set {setting}: expected {CONSTRAINT_FORM}, such as zone:1 or hostname:1:soft")
    spec = value_at(data, _spec_path(row))
    if not isinstance(spec, dict) or not isinstance(constraints := spec.get("topologySpreadConstraints") or [], list):
        return ""
    key, path = SHORT_KEYS.get(added.topology_key, added.topology_key), f"{_spec_path(row)}.topologySpreadConstraints"
    for place, constraint in enumerate(_objects(constraints)):
        if (constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")) == (key, added.when_unsatisfiable):
            constraint["maxSkew"] = added.max_skew
            return f"{path}[{place}].maxSkew"
    labels = value_at(data, f"{row.template_path}.metadata.labels" if row.template_path else "metadata.labels")
    selector = (value_at(data, "spec.selector") if row.template_path else None) or labels
    if not isinstance(selector, dict) or not selector:
        raise UsageError(f"--set {setting}: the pod has no labels to select it by")
    # That of a ReplicationController is a map.
    by = selector if selector.keys() & {"matchLabels", "matchExpressions"} else {"matchLabels": selector}
    new_constraint = {"maxSkew": added.max_skew, "topologyKey": key, "whenUnsatisfiable": added.when_unsatisfiable}
    new_constraint["labelSelector"] = by
    spec["topologySpreadConstraints"] = [*constraints, new_constraint]
    return f"{path}[{len(constraints)}]"


def _add_toleration(data: Any, row: Kind, setting: Setting) -> str:
    """Add a toleration of a taint. Raises UsageError, in kubectl's words, for text that is not a taint."""
    try:
        taint, removes = parse_taint(setting.value)
    except TaintError as error:
        raise UsageError(f"--set {setting}: {error}") from error
    if removes:
        raise UsageError(f"--set {setting}: expected KEY[=VALUE]:EFFECT")
    spec = value_at(data, _spec_path(row))
    if not isinstance(spec, dict) or not isinstance(tolerations := spec.get("tolerations") or [], list):
        return ""
    operator = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    spec["tolerations"] = [*tolerations, {"key": taint.key, **operator, "effect": taint.effect}]
    return f"{_spec_path(row)}.tolerations[{len(tolerations)}]"


def _set_request(data: Any, row: Kind, setting: Setting) -> str:
    path = f"{_spec_path(row)}.containers"
    position = _choose(value_at(data, path) or [], "name", "container", setting)
    if position is None:
        return ""
    container = value_at(data, f"{path}[{position}]")
    for name in ("resources", "requests"):
        if container.get(name) is None:
            container[name] = {}
        container = container[name]
        if not isinstance(container, dict):
            return ""
    container[setting.field] = setting.value
    return f"{path}[{position}].resources.requests[{setting.field}]"


def _set_node_selector(data: Any, row: Kind, setting: Setting) -> str:
    path = f"{_spec_path(row)}.nodeSelector"
    spec, labels = value_at(data, _spec_path(row)), value_at(data, path)
    labels = labels if isinstance(labels, dict) else {}
    if setting.value == _REMOVED or not setting.key:
        key = _key_among(labels, "node selector label", setting)
    else:
        key = setting.key
    if setting.value == _REMOVED:
        del labels[key]
    elif isinstance(spec, dict):
        spec["nodeSelector"] = {**labels, key: setting.value}
    return path


def _drop_node_affinity(data: Any, row: Kind, setting: Setting) -> str:
    """Remove a key from all terms; as terms are alternatives, an empty one removes the whole requirement."""
    affinity, path = _required_part(data, row, setting)
    terms = _objects(value_at(affinity, f"{_REQUIRED}.nodeSelectorTerms"))
    lists = [(term, part) for term in terms for part in ("matchExpressions", "matchFields") if term.get(part)]
    keys = [str(expression.get("key", "")) for term, part in lists for expression in _objects(term[part])]
    key = _key_among(keys, "required node affinity", setting)
    for term, part in lists:
        term[part] = [expression for expression in _objects(term[part]) if expression.get("key") != key]
    if any(not term.get("matchExpressions") and not term.get("matchFields") for term, _ in lists):
        del affinity[_REQUIRED]
    return path


def _drop_pod_affinity(data: Any, row: Kind, setting: Setting) -> str:
    affinity, path = _required_part(data, row, setting)
    terms = _objects(affinity.get(_REQUIRED))
    key = _key_among([str(term.get("topologyKey", "")) for term in terms], f"required {setting.field}", setting)
    affinity[_REQUIRED] = [term for term in terms if term.get("topologyKey") != key]
    return path


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _required_part(data: Any, row: Kind, setting: Setting) -> tuple[dict[str, Any], str]:
    """The part of a pod's affinity that requires something, and its path."""
    if setting.value != _REMOVED:
        raise UsageError(f"--set {setting}: affinity can be removed only: write {setting.field}[KEY]=null")
    path = f"{_spec_path(row)}.affinity.{setting.field}"
    affinity = value_at(data, path)
    return (affinity if isinstance(affinity, dict) else {}), path


def _key_among(keys: Iterable[str], what: str, setting: Setting) -> str:
    """The one of ``keys`` that the setting names, possibly short. Raises UsageError if none or several match."""
    distinct = list(dict.fromkeys(keys))
    matching = [distinct[place] for place in _positions(distinct, setting.key)] if setting.key else distinct
    if len(matching) == 1:
        return matching[0]
    if not distinct:
        raise UsageError(f"--set {setting}: the pod has no {what}")
    raise UsageError(f"--set {setting}: write {setting.field}[KEY] with one of {', '.join(distinct)}")


def _set_priority_class(data: Any, row: Kind, setting: Setting) -> str:
    if not row.template_path and value_at(data, "metadata.uid"):
        fault = "the pod was created already, and its priority computed then; ask about its workload instead"
        raise UsageError(f"--set {setting}: {fault}")
    return _set(data, _spec_path(row), setting.field, setting)


def _set_scheduler_name(data: Any, row: Kind, setting: Setting) -> str:
    return _set(data, _spec_path(row), setting.field, setting)


def _set_replicas(data: Any, row: Kind, setting: Setting) -> str:
    if not row.has_replicas:
        raise UsageError(f"--set {setting}: a {row.kind} has no replicas")
    return _set(data, "spec", setting.field, setting)


def _spec_path(row: Kind) -> str:
    return f"{row.template_path}.spec" if row.template_path else "spec"


def _set(data: Any, path: str, name: str, setting: Setting) -> str:
    """Set the value and return its path; empty if there is no object at ``path``."""
    parent = value_at(data, path)
    if not isinstance(parent, dict):
        return ""
    is_number = name in _NUMBERS and _INTEGER.fullmatch(setting.value)
    parent[name] = int(setting.value) if is_number else setting.value
    return f"{path}.{name}"


def _choose(among: Any, name: str, what: str, setting: Setting) -> int | None:
    """Position of the item that the setting names; None if ``among`` is no list of objects. Raises UsageError."""
    if not isinstance(among, list) or not all(isinstance(entry, dict) for entry in among):
        return None
    names = [str(entry.get(name, "")) for entry in among]
    matches = _positions(names, setting.key) if setting.key else range(len(names))
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(dict.fromkeys(names))
    if not names:
        fault = f"the pod has no {what}"
    elif not setting.key:
        fault = f"the pod has {len(names)} {what}s: write {setting.field}[KEY] with one of {listed}"
    elif matches:
        positions = " or ".join(f"{setting.field}[{position}]" for position in matches)
        fault = f"{len(matches)} {what}s have the {name} {names[matches[0]]}: write {positions}"
    else:
        suggestion = did_you_mean(near_miss(setting.key, names)) or f"; there {verb_of(len(names), 'are')} {listed}"
        fault = f"no {what} has the {name} {setting.key!r}{suggestion}"
    raise UsageError(f"--set {setting}: {fault}")


def _positions(names: Sequence[str], key: str) -> Sequence[int]:
    for spelling in (key, SHORT_KEYS.get(key)):
        if positions := [position for position, name in enumerate(names) if name == spelling]:
            return positions
    return [int(key)] if _POSITION.fullmatch(key) and int(key) < len(names) else []


_NUMBERS = frozenset({"maxSkew", "minDomains", "replicas"})
_WITHOUT_KEY = frozenset({"priorityClassName", "replicas", "schedulerName", "tolerations", "topologySpreadConstraints"})
_REMOVED = "null"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SETTERS: Mapping[str, Callable[[Any, Kind, Setting], str]] = {
    "maxSkew": _set_constraint,
    "minDomains": _set_constraint,
    "whenUnsatisfiable": _set_constraint,
    "nodeTaintsPolicy": _set_constraint,
    "nodeAffinityPolicy": _set_constraint,
    "topologyKey": _set_constraint,
    "topologySpreadConstraints": _add_constraint,
    "cpu": _set_request,
    "memory": _set_request,
    "tolerations": _add_toleration,
    "nodeSelector": _set_node_selector,
    "nodeAffinity": _drop_node_affinity,
    "podAffinity": _drop_pod_affinity,
    "podAntiAffinity": _drop_pod_affinity,
    "priorityClassName": _set_priority_class,
    "schedulerName": _set_scheduler_name,
    "replicas": _set_replicas,
}
