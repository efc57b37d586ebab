"""Three-way merge of a manifest with the workload in the cluster, as ``kubectl apply`` does it.

A field that the manifest sets is set; one that it leaves out stays as it is, whoever wrote it, unless kubectl applied
it last: then it is removed. Lists are merged by the keys of their elements where the API says so, else replaced.

Source: staging/src/k8s.io/kubectl/pkg/cmd/apply/patcher.go, patchSimple
Source: staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go, CreateThreeWayMergePatch, mergeSortedSlice,
    applyRetainKeysDirective
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate, from_manifest
from kubespread.candidate.manifest import Manifest, choose, kind_of
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.decoding import DecodingError, decode
from kubespread.kube.api.workloads import LabelSelectingWorkload
from kubespread.kube.templates import (
    MERGE_KEYS,
    Tree,
    are_keyed,
    digest,
    fields_in,
    template_part,
    text_of,
    tree_of,
    unread_part,
)

_RETAINED = frozenset({"strategy", "volumes"})
"""Maps, and lists of maps, that keep nothing which the manifest leaves out once anything of them changes."""
_Key = Callable[[Any], str]
"""Function from the value of an element's key to the text that tells the element apart in its list, as `fields_in` has
it.
"""


def applied(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """The candidate of a manifest once it is applied to the cluster. Raises ManifestError and UsageError."""
    namespace = surroundings.default_namespace
    item = manifest.chosen or choose(manifest, surroundings.name, namespace)
    row = kind_of(item)
    if not issubclass(row.cls, LabelSelectingWorkload):
        return from_manifest(manifest, surroundings)
    try:
        decode(item.data, row.cls)
    except DecodingError:
        # Told with all other faults.
        return from_manifest(manifest, surroundings)
    given = item.data.get("spec") or {}
    live = surroundings.objects.named(row.cls, item.name, item.namespace or namespace)
    if live is None:
        candidate, unread = from_manifest(manifest, surroundings), None
    else:
        before: Tree = msgspec.json.decode(live.last_applied or "{}")
        spec = _spec(live, given, before)
        together = dataclasses.replace(item, content={**item.data, "spec": spec})
        candidate = from_manifest(replace(manifest, chosen=together), surroundings)
        unread = _unread(live, given, before, spec)
    workload = candidate.object
    if isinstance(workload, LabelSelectingWorkload):
        workload.last_applied = msgspec.json.encode(fields_in(given)).decode()
        if live is not None and workload.spec.template is not None:
            workload.spec.template.unread = unread
    return candidate


def _spec(live: LabelSelectingWorkload, given: Tree, before: Tree) -> Tree:
    stored = msgspec.to_builtins(live.spec)
    stored.get("template", {}).pop("unread", None)
    # Who leaves the number alone does not set it to what it is now.
    stored.pop("replicas", None)
    spec: Tree = _merged(stored, given, before, "spec", digest)
    if "replicas" in before:
        spec.setdefault("replicas", 1)
    return spec


def _unread(live: LabelSelectingWorkload, given: Tree, before: Tree, spec: Tree) -> str | None:
    """Part of its template that is not decoded, merged with the manifest's."""
    if live.spec.template is None or live.spec.template.unread is None:
        return None
    stored = msgspec.json.decode(live.spec.template.unread)
    own = tree_of(unread_part(*template_part(given.get("template") or {})))
    earlier, annotations = template_part(before.get("template", {}))
    merged = _merged(stored, own, {**earlier, "annotations": annotations}, "spec", str)
    return text_of(merged, spec["template"]["spec"])


def _merged(live: Any, given: Any, before: Tree, name: str, key_of: _Key) -> Any:
    if isinstance(live, dict) and isinstance(given, dict):
        gone = before.keys() - given.keys()
        merged = {field: value for field, value in live.items() if field not in gone}
        for field, value in given.items():
            merged[field] = _merged(live.get(field), value, before.get(field, {}), field, key_of)
        if name in _RETAINED and merged != live:
            return {field: value for field, value in merged.items() if field in given}
        return merged
    key = MERGE_KEYS.get(name)
    if key and isinstance(live, list) and isinstance(given, list) and are_keyed(live, key) and are_keyed(given, key):
        return _merged_list(live, given, before, name, lambda item: key_of(item[key]), key_of)
    return given


def _merged_list(
    live: list[Tree], given: list[Tree], before: Tree, name: str, key: Callable[[Tree], str], key_of: _Key
) -> list[Tree]:
    """The elements of the manifest in its order, and between them those that only the cluster has, before what they
    stand before there.
    """
    stored = {key(item): item for item in live}
    places = {found: place for place, found in enumerate(stored)}
    own = {key(item): item for item in given}
    others = [found for found in stored if found not in own and found not in before]
    merged = list[Tree]()
    for found, item in own.items():
        while others and found in places and places[others[0]] < places[found]:
            merged.append(stored[others.pop(0)])
        merged.append(_merged(stored.get(found), item, before.get(found, {}), name, key_of))
    return [*merged, *(stored[found] for found in others)]
