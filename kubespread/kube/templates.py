"""Comparison of whole pod templates: fields that are not decoded are compared by their digests.

A tree has the maps and lists of a template. Each value in it is a digest, so that the template's values (passwords in
variables, commands) cannot be read from it. Elements of a list that kubectl merges by a key stay apart, any other list
is one value. Defaults that the API server writes into templates are left out of a normal tree.

Source: pkg/apis/core/v1/defaults.go, SetDefaults_PodSpec, SetDefaults_Container, SetDefaults_Probe,
    SetDefaults_HTTPGetAction, SetDefaults_ObjectFieldSelector, SetDefaults_ConfigMapVolumeSource,
    SetDefaults_SecretVolumeSource, SetDefaults_DownwardAPIVolumeSource, SetDefaults_ProjectedVolumeSource,
    SetDefaults_ServiceAccountTokenProjection, SetDefaults_HostPathVolumeSource, SetDefaults_ContainerPort
Source: pkg/apis/core/v1/conversion.go, Convert_v1_PodSpec_To_core_PodSpec, Convert_core_PodSpec_To_v1_PodSpec
Source: staging/src/k8s.io/api/core/v1/types.go, patchMergeKey
"""

from __future__ import annotations

from _blake2 import blake2b  # hashlib has it from there, and loads OpenSSL too: 4 MB of memory
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from kubespread.kube.api.core import Container, PodSpec, PodTemplateSpec
from kubespread.kube.name_rules import normalized_image
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.well_known import READ_ANNOTATIONS

Tree = dict[str, Any]

MERGE_KEYS: Mapping[str, str] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "env": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
}
"""Fields by which kubectl identifies elements of a list; other lists are replaced whole."""
CONTAINERS = ("containers", "initContainers")
_ANNOTATIONS = "annotations"
READ_OF_SPEC = {field.encode_name for field in msgspec.structs.fields(PodSpec)} - {
    *CONTAINERS,
    "volumes",
    "securityContext",
}
"""Fields that are decoded completely; most of volumes is dropped again."""
READ_OF_CONTAINERS = {field.encode_name for field in msgspec.structs.fields(Container)} - {
    "restartPolicyRules",
    "securityContext",
}
_BYTES = 6
_HOSTILE = (msgspec.MsgspecError, RecursionError, OverflowError, ValueError, TypeError, AttributeError)
_encode = msgspec.json.Encoder(order="deterministic").encode
_AMOUNTS = frozenset({"sizeLimit", "divisor"})
_BY_RESOURCE = frozenset({"requests", "limits", "overhead"})


@lru_cache(maxsize=2**14, typed=True)
def digest(value: Any) -> str:
    """Digest of a value that is neither map nor list."""
    return blake2b(repr(value).encode(), digest_size=_BYTES).hexdigest()


_FALSY = dict.fromkeys(("stdin", "stdinOnce", "tty", "readOnly", "hostNetwork", "hostPID", "hostIPC"), (False,))
_DEFAULTS: Mapping[str, tuple[object, ...]] = {
    **_FALSY,
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
    "dnsPolicy": ("ClusterFirst",),
    "schedulerName": ("default-scheduler",),
    "protocol": ("TCP",),
    "defaultMode": (0o644,),
    "initialDelaySeconds": (0,),
    # Go does not tell 0 from nothing here.
    "timeoutSeconds": (1, 0),
    "periodSeconds": (10, 0),
    "successThreshold": (1, 0),
    "failureThreshold": (3, 0),
    "hostPort": (0,),
    "scheme": ("HTTP",),
    "apiVersion": ("v1",),
    "divisor": (0,),
    "expirationSeconds": (3600,),
    "volumeMode": ("Filesystem",),
}
_OF_SPEC: Mapping[str, object] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
    _ANNOTATIONS: {},
}
"""Defaults of fields that have others, or none, where they stand further down."""
_SET_EMPTY = frozenset({"storageClassName", "runtimeClassName"})
"""Strings that may be there and empty."""


def tree_of(value: Any, name: str = "") -> Any:
    """Tree of plain data, the value of a field ``name``."""
    if isinstance(value, dict):
        inside = _AMOUNT if name in _BY_RESOURCE else ""
        return {key: None if item is None else tree_of(item, inside or key) for key, item in value.items()}
    if isinstance(value, list):
        key = MERGE_KEYS.get(name)
        if key is not None and are_keyed(value, key):
            return [tree_of(item) for item in value]
        return digest(_encode(normal([tree_of(item) for item in value]))) if value else []
    return digest(_amount(value)) if name in _AMOUNTS or name == _AMOUNT else digest(value)


_AMOUNT = "*"


def are_keyed(value: list[Any], key: str) -> bool:
    """True if each element has a key of its own."""
    keys = [item.get(key) for item in value if isinstance(item, dict)]
    return None not in keys and len(set(map(str, keys))) == len(value)


def _amount(value: Any) -> Any:
    try:
        return parse(value).nano
    except QuantityError:
        return value


def normal(tree: Any) -> Any:
    """The tree without defaults and empty parts."""
    if isinstance(tree, list):
        return [normal(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        name: normal(value)
        for name, value in tree.items()
        if value is not None and value != [] and not (isinstance(value, str) and _is_default(name, value))
    }


def _is_default(name: str, value: str) -> bool:
    return value in map(digest, _DEFAULTS.get(name, ())) or (value == digest("") and name not in _SET_EMPTY)


def unread_of(spec: Tree | bytes, annotations: Mapping[str, str]) -> str | None:
    """Normal tree, as text, of the unread fields of a spec, in JSON or as plain data, and of unread annotations.

    None for data that JSON cannot hold or that is too deep.
    """
    try:
        plain = (msgspec.json.decode(spec) or {}) if isinstance(spec, bytes) else spec
        return text_of(tree_of(unread_part(plain, annotations)), plain)
    except _HOSTILE:
        return None


def unread_part(spec: Tree, annotations: Mapping[str, str]) -> Tree:
    """Fields of a pod spec that are not decoded, with the names of containers, and the annotations
    that are not read.
    """
    part = {name: value for name, value in spec.items() if name not in READ_OF_SPEC}
    part[_ANNOTATIONS] = {name: value for name, value in annotations.items() if name not in READ_ANNOTATIONS}
    for name in CONTAINERS:
        part[name] = [
            {field: value for field, value in container.items() if field == "name" or field not in READ_OF_CONTAINERS}
            for container in spec.get(name) or ()
        ]
    return part


def template_part(data: Tree) -> tuple[Tree, Tree]:
    """Spec and annotations of a template as plain data."""
    return data.get("spec") or {}, (data.get("metadata") or {}).get(_ANNOTATIONS) or {}


def _normal_spec(spec: Tree) -> Tree:
    return {name: value for name, value in normal(spec).items() if tree_of(_OF_SPEC.get(name)) != value}


def text_of(unread: Tree, spec: Tree) -> str:
    """Normal tree, as text, of the ``unread`` fields of ``spec``, with the defaults that depend on other fields."""
    images = {
        digest(container.get("name")): container.get("image") or ":"
        for name in CONTAINERS
        for container in spec.get(name) or ()
    }
    tree = _normal_spec(unread)
    # Both are one field, which the API server writes twice.
    if account := tree.get("serviceAccountName", tree.get("serviceAccount")):
        tree |= {"serviceAccountName": account, "serviceAccount": account}
    for name in CONTAINERS:
        for container in tree.get(name, ()):
            is_latest = normalized_image(images.get(container.get("name"), ":")).endswith(":latest")
            container.setdefault("imagePullPolicy", digest("Always" if is_latest else "IfNotPresent"))
    return _encode(tree).decode()


def fields_in(value: Any, name: str = "") -> Tree:
    """Nested fields of plain data; elements of a list by the digests of their merge keys."""
    if isinstance(value, dict):
        return {key: fields_in(item, key) for key, item in value.items()}
    key = MERGE_KEYS.get(name)
    if key is None or not isinstance(value, list) or not are_keyed(value, key):
        return {}
    return {digest(item[key]): fields_in(item) for item in value}


def fields_of_applied(manifest: str) -> str:
    """`fields_in` the spec of a manifest in JSON, as text; empty for other text."""
    try:
        spec = msgspec.json.decode(manifest).get("spec")
        return _encode(fields_in(spec)).decode() if isinstance(spec, dict) else ""
    except _HOSTILE:
        return ""


def are_one_template(one: PodTemplateSpec, other: PodTemplateSpec) -> bool:
    """True if the API server would store two completely known templates equally."""
    return one.unread == other.unread and bool(_read(one) == _read(other))


def _read(template: PodTemplateSpec) -> Any:
    data = msgspec.to_builtins(template)
    meta, spec = data.get("metadata", {}), data.get("spec", {})
    read = {name: value for name, value in meta.get(_ANNOTATIONS, {}).items() if name in READ_ANNOTATIONS}
    # The unread part has all volumes, including the ones that are read.
    spec.pop("volumes", None)
    return meta.get("labels", {}), read, _normal_spec(tree_of(spec))
