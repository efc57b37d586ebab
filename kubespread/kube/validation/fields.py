"""Validation of the fields of pods that scheduling does not read, by the rows of ``rules.toml``.

A rule yields the faults of a field and of the fields below it, in our words. An absent field passes all rules except
the ones that require it, and so does an empty text.

Source: pkg/apis/core/validation/validation.go, ValidatePodCreate, ValidatePodTemplateSpec, ValidateVolumes,
    ValidateEnv, validateEnvVarValueFrom, ValidateVolumeMounts, ValidateVolumeDevices, validateResizePolicy,
    validateLifecycle, validateStopSignal, validateHandler, validateProbe, validateVolumeSource,
    validateEphemeralVolumeSource, validateISCSIVolumeSource, validateFCVolumeSource, validateQuobyteVolumeSource,
    validateFlexVolumeSource, validateAzureDisk, ValidateCSIDriverName, validateProjectionSources,
    validateDownwardAPIVolumeFile, validateObjectFieldSelector, validateContainerResourceDivisor,
    ValidatePersistentVolumeClaimSpec, ValidateSecurityContext, validatePodSpecSecurityContext, ValidateHostSysctl,
    validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateHostUsers, validateLinux,
    validateWindows, validatePodDNSConfig, validatePodHostName, validateFileKeyRefVolumes
Source: pkg/apis/core/validation/names.go, ValidateSignerName, ValidateClusterTrustBundleName
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.unknown_fields import fields_of
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, subdomain_faults
from kubespread.kube.quantity import parse
from kubespread.kube.validation.faults import FieldFault, annotations_faults, labels_faults, selector_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import MIRROR_POD, POD_DELETION_COST
from kubespread.regex import regex
from kubespread.wording import describe

Data = Mapping[str, Any]
Faults = Iterable[str | FieldFault]


class CheckedPod(msgspec.Struct, frozen=True):
    """Pod, or pod of a template, with the fields to check."""

    spec: Data
    annotations: Mapping[str, str]
    version: KubeVersion
    is_stored: bool
    pod_name: str
    """Empty for a pod template."""
    volumes: dict[str, Data]
    """Valid volumes by name."""

    def containers(self) -> Iterator[tuple[Data, str]]:
        """All containers and their paths below the spec; init containers come first."""
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for position, container in enumerate(self.spec.get(kind, ())):
                yield container, f"{kind}[{position}]"


class CheckedField(msgspec.Struct, frozen=True):
    value: Any
    path: str
    owner: Data
    """Object with the field."""
    cls: str
    """API type of that object."""
    pod: CheckedPod
    unread: set[str]
    """Fields of the owner that the API server does not check."""


def field_at(data: Data, path: str) -> Any:
    """Field at ``path`` below an object; None without one."""
    value: Any = data
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


# Rules of a value, or of each element of a list: a predicate, and the noun for the expected value.


def _is_port(port: int | str) -> bool:
    return 1 <= port <= 65535 if isinstance(port, int) else _passing("port-name")(port)


@cache
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))


@cache
def _passing(name: str) -> Callable[[str], bool]:
    """Predicate of a pattern in ``rules.toml``, which matches bytes because Kubernetes counts bytes."""
    pattern = regex(_rules()["patterns"][name][0].encode(), re.DOTALL)
    return lambda text: pattern.fullmatch(text.encode()) is not None


@cache
def values() -> Mapping[str, tuple[Callable[[Any], bool], str]]:
    return {
        **{name: (_passing(name), noun) for name, (_, noun) in _rules()["patterns"].items()},
        "dns-label": (lambda name: not dns_label_faults(name), "a DNS label"),
        "from-zero": (lambda amount: parse(amount).nano >= 0, "an amount from 0"),
        "label-key": (lambda key: not label_key_faults(key), "a label key"),
        "port": (_is_port, "a port from 1 to 65535, or the name of one"),
        "subdomain": (lambda name: not subdomain_faults(name), "a DNS subdomain"),
        "unpadded": (lambda text: text == text.strip(), "a text without blanks around it"),
    }


def mismatch(noun: str, value: Any) -> str:
    actual = str(value) if isinstance(value, int) and not isinstance(value, bool) else describe(value)
    return f"expected {noun}, found {actual}"


def elements(field: CheckedField) -> Iterator[tuple[Any, str]]:
    """Yield the elements of a list, or the value itself, with their paths."""
    if isinstance(field.value, list):
        yield from ((item, f"{field.path}[{position}]") for position, item in enumerate(field.value))
    elif field.value is not None:
        yield field.value, field.path


_RANGE = regex(r"(\d+)\.\.(\d*)")
_CONDITION = regex(r"(?P<path>[^=~]+)(?:=(?P<value>.*)|~(?P<pattern>.*))?")


@cache
def _parse(rule: str) -> tuple[Sequence[tuple[str, str]], str, Sequence[str]]:
    """The conditions of a rule, its name and its arguments."""
    words, conditions = rule.split(), []
    while words[0] in ("if", "unless"):
        conditions.append((words[0], words[1]))
        words = words[2:]
    return conditions, words[0], words[1:]


def _holds(condition: str, field: CheckedField) -> bool:
    pod = field.pod
    if condition in ("named", "stored"):
        return pod.is_stored if condition == "stored" else bool(pod.pod_name)
    if condition[0].isupper():
        return pod.version.has(condition)
    if condition.startswith("1."):
        return pod.version.reaches(int(condition.removeprefix("1.")))
    match = _CONDITION.fullmatch(condition)
    assert match is not None
    path, value, pattern = match.groups()
    actual = field_at(pod.spec, path[1:]) if path.startswith("/") else field_at(field.owner, path)
    texts = [str(item).lower() if isinstance(item, bool) else item for item in _as_list(actual)]
    if pattern is not None:
        return any(re.fullmatch(pattern, text or "") for text in texts)
    return bool(actual or actual == {}) if value is None else value in texts


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def rule_faults(field: CheckedField, rule: str) -> Iterator[FieldFault]:
    """Yield faults of a field by ``rule``, if its conditions hold."""
    conditions, name, arguments = _parse(rule)
    if all(_holds(condition, field) is (word == "if") for word, condition in conditions):
        for fault in _apply_rule(field, name, arguments):
            field_fault = FieldFault(field.path, fault) if isinstance(fault, str) else fault
            yield field_fault._replace(message=f"{field_fault.message}{_condition_text(conditions)}")


def _condition_text(conditions: Sequence[tuple[str, str]]) -> str:
    """`` where spec.hostUsers is false``: the conditions on fields."""
    shown = [
        f"{'where' if word == 'if' else 'unless'} {path.replace('/', 'spec.')} is {value or 'set'}"
        for word, condition in conditions
        if condition not in ("named", "stored")
        and "~" not in condition
        and not (condition[0].isupper() or condition[0].isdigit())
        for path, _, value in [condition.partition("=")]
    ]
    return f" {' and '.join(shown)}" if shown else ""


def _apply_rule(field: CheckedField, name: str, arguments: Sequence[str]) -> Faults:
    if bounds := _RANGE.fullmatch(name):
        low, high = int(bounds[1]), int(bounds[2] or 2**31 - 1)
        noun = f"a number from {low} to {high}" if bounds[2] else f"a number from {low}"
        return _value_faults(field, lambda number: low <= number <= high, noun)
    if name in values():
        return _value_faults(field, *values()[name])
    violations: Faults = globals()[name.replace("-", "_")](field, *arguments)
    return violations


def _value_faults(field: CheckedField, passes: Callable[[Any], bool], noun: str) -> Iterator[FieldFault]:
    for value, path in elements(field) if field.value != "" else ():
        if not passes(value):
            yield FieldFault(path, mismatch(noun, value))


# Rules of fields that any type may have: the functions from here on are called as the rules are.


def required(field: CheckedField) -> Faults:
    if not field.value:
        yield "required"


def not_null(field: CheckedField) -> Faults:
    if field.value is None:
        yield "required"


def not_empty(field: CheckedField) -> Faults:
    if field.value == "":
        yield "expected a value, found an empty string"


def absent(field: CheckedField) -> Faults:
    if field.value is not None:
        yield "not allowed"


def never(field: CheckedField) -> Faults:
    if field.value:
        yield "not allowed"


def refused(_: CheckedField) -> Faults:
    yield "refused"


def begins(field: CheckedField, prefix: str) -> Faults:
    return _value_faults(field, lambda text: text.startswith(prefix), f"a text that begins with {prefix}")


def one_of(field: CheckedField, *names: str) -> Faults:
    return _value_faults(field, lambda value: value in ("", *names), f"one of {', '.join(names)}")


def none_of(field: CheckedField, *names: str) -> Faults:
    return _value_faults(field, lambda value: value not in names, f"none of {', '.join(names)}")


def at_most(field: CheckedField, size: str) -> Faults:
    length = len(" ".join(_as_list(field.value or "")).encode())
    if length > int(size):
        yield f"expected at most {size} bytes, found {length}"


def at_most_items(field: CheckedField, count: str) -> Faults:
    if field.value and len(field.value) > int(count):
        yield f"expected at most {count} items, found {len(field.value)}"


def without(field: CheckedField, *names: str) -> Faults:
    for name in names:
        if field.value.get(name) not in (None, []):
            yield FieldFault(f"{field.path}.{name}", "not allowed")


def present(field: CheckedField, names: Sequence[str]) -> list[str]:
    return [name for name in names if (field.value or {}).get(name) not in (None, "", [])]


def exactly_one(field: CheckedField, *names: str) -> Faults:
    yield from some_of(field, *names)
    yield from at_most_one(field, *names)


def some_of(field: CheckedField, *names: str) -> Faults:
    if not present(field, names):
        yield f"expected one of {', '.join(names)}, found none"


def at_most_one(field: CheckedField, *names: str) -> Faults:
    if len(kinds := present(field, names)) > 1:
        yield f"expected at most one kind, found {' and '.join(kinds)}"


def first_of(field: CheckedField, *names: str) -> Faults:
    """Yield a fault for each field set besides the first one: the API server checks the first alone."""
    for name in present(field, names)[1:]:
        field.unread.add(name)
        yield FieldFault(f"{field.path}.{name}", f"not allowed beside {present(field, names)[0]}")


def distinct(field: CheckedField, name: str) -> Faults:
    names = [item.get(name) for item in field.value or ()]
    for position, value in enumerate(names):
        if value and value in names[:position]:
            yield FieldFault(f"{field.path}[{position}].{name}", f"duplicate: {value}")


# Rules of pods as a whole.


def host_processes(field: CheckedField) -> Faults:
    """Yield a fault unless all or no containers of a Windows pod are host processes, in the host's network."""
    of_pod = field_at(field.value, "securityContext.windowsOptions.hostProcess")
    effective = []
    for container, path in field.pod.containers():
        own = field_at(container, "securityContext.windowsOptions.hostProcess")
        if None not in (of_pod, own) and of_pod != own:
            place = f"{field.path}.{path}.securityContext.windowsOptions.hostProcess"
            yield FieldFault(place, mismatch(f"{str(of_pod).lower()} as in the pod", own))
        effective.append(of_pod if own is None else own)
    if any(effective) and not all(effective):
        yield "expected all containers to be processes of the host, or none"
    if any(effective) and not field.value.get("hostNetwork"):
        yield FieldFault(f"{field.path}.hostNetwork", "required where containers are processes of the host")


_CANONICAL_INT = regex(r"0|-?[1-9][0-9]*", re.ASCII)


def one_controller(field: CheckedField) -> Faults:
    if sum(bool(owner.get("controller")) for owner in field.value or ()) > 1:
        yield "only one owner can be the controller"


def not_both(field: CheckedField, *values: str) -> Faults:
    if {*values}.issubset(field.value or ()):
        yield f"{values[0]} is not allowed beside {values[1]}"


def annotation_faults(pod: CheckedPod, path: str) -> Iterator[FieldFault]:
    """Yield faults of annotations, including values that Kubernetes itself reads."""
    yield from annotations_faults(pod.annotations, path)
    if MIRROR_POD in pod.annotations and not (pod.is_stored or pod.spec.get("nodeName")):
        yield FieldFault(f"{path}[{MIRROR_POD}]", "needs spec.nodeName")
    cost = pod.annotations.get(POD_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield FieldFault(f"{path}[{POD_DELETION_COST}]", mismatch("a 32-bit integer", cost))


def distinct_names(field: CheckedField) -> Faults:
    """Yield duplicate names of containers."""
    names = [container.get("name") for container, path in field.pod.containers() if not path.startswith("e")]
    for position, container in enumerate(field.value or ()):
        if container.get("name") in names:
            yield FieldFault(f"{field.path}[{position}].name", f"duplicate: {container.get('name')}")
        names.append(container.get("name"))


def another_container(field: CheckedField) -> Faults:
    names = [container.get("name") for container, path in field.pod.containers() if not path.startswith("e")]
    if field.value and field.value not in names:
        yield mismatch("the name of a container", field.value)


def ip_address(field: CheckedField) -> Faults:
    for text, path in elements(field):
        if not _is_ip(text, field.pod.version):
            yield FieldFault(path, mismatch("an IP address", text))


def _is_ip(text: str, version: KubeVersion) -> bool:
    """Go's old parser, which Kubernetes keeps, skips zeros that a part of an IPv4 address begins with."""
    plain = text if ":" in text else ".".join(part.lstrip("0") or part[:1] for part in text.split("."))
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return False
    is_mapped = address.version == 6 and address.ipv4_mapped is not None
    return "%" not in text and not (version.has("StrictIPCIDRValidation") and (plain != text or is_mapped))


# Rules of containers.


def handlers(field: CheckedField) -> Faults:
    """Yield handlers of init containers other than sidecars, which end too soon for them."""
    container, is_init = field.value, ".initContainers[" in field.path
    if field.cls == "Container" and not (is_init and container.get("restartPolicy") != "Always"):
        return
    for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        field.unread.add(name)
        # Without the gate a stop signal is not stored, nor what holds nothing else.
        is_dropped = [*container.get(name, ())] == ["stopSignal"] and not field.pod.version.has("ContainerStopSignals")
        if name in container and not is_dropped:
            yield FieldFault(f"{field.path}.{name}", "only app containers and sidecars may have it")
    for position, policy in enumerate(container.get("resizePolicy", ()) if is_init else ()):
        if policy.get("restartPolicy") == "RestartContainer" and field.pod.version.reaches(36):
            path = f"{field.path}.resizePolicy[{position}].restartPolicy"
            yield FieldFault(path, "among init containers only sidecars may have it")


def rules_of_init_containers(field: CheckedField) -> Faults:
    """Yield a fault for restart rules of a sidecar, until all containers can restart; a missing policy is the only
    fault.
    """
    policy, version = field.owner.get("restartPolicy"), field.pod.version
    is_late = policy == "Always" and not version.has("RestartAllContainersOnContainerExits")
    if ".initContainers[" in field.path and (policy is None or is_late):
        field.unread.add("restartPolicyRules")
        yield from never(field) if is_late else ()


def volume_uses(field: CheckedField) -> Faults:
    """Yield faults of mounts and devices: no path and no volume may be both."""
    paths = {"volumeMounts": "mountPath", "volumeDevices": "devicePath"}
    for kind, other in (("volumeMounts", "volumeDevices"), ("volumeDevices", "volumeMounts")):
        own, others = field.value.get(kind, ()), field.value.get(other, ())
        used_paths = [use.get(paths[other]) for use in others]
        for position, use in enumerate(own):
            path, name, place = f"{field.path}.{kind}[{position}]", use.get("name"), use.get(paths[kind])
            volume = field.pod.volumes.get(name)
            if volume is None:
                yield FieldFault(f"{path}.name", mismatch("the name of a valid volume", name))
            elif kind == "volumeDevices" and "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
                yield FieldFault(f"{path}.name", mismatch("the name of a claim", name))
            if any(name == use.get("name") for use in others):
                yield FieldFault(f"{path}.name", f"already in {other}")
            if place and place in used_paths:
                yield FieldFault(f"{path}.{paths[kind]}", f"already used: {place}")
            used_paths.append(place)
            is_privileged = field_at(field.value, "securityContext.privileged")
            if use.get("mountPropagation") == "Bidirectional" and not is_privileged:
                yield FieldFault(f"{path}.mountPropagation", "Bidirectional needs a privileged container")


def within_grace_period(field: CheckedField) -> Faults:
    grace_period = field.pod.spec.get("terminationGracePeriodSeconds", 30)
    grace_period = 1 if grace_period < 0 else grace_period
    if field.value is not None and not 0 <= field.value <= grace_period:
        yield mismatch(f"at most terminationGracePeriodSeconds, {grace_period}", field.value)


_SUBSCRIPTED = regex(r"(metadata\.(?:annotations|labels))\['(.*)'\]", re.DOTALL)


def field(field: CheckedField, *supported: str) -> Faults:
    if field.value is None:
        return
    name, path = field.value.get("fieldPath", ""), f"{field.path}.fieldPath"
    match = _SUBSCRIPTED.fullmatch(name)
    if field.value.get("apiVersion", "v1") not in ("", "v1"):
        yield FieldFault(path, mismatch("apiVersion v1", field.value["apiVersion"]))
    elif match:
        if label_key_faults(match[2].lower() if match[1] == "metadata.annotations" else match[2]):
            yield FieldFault(path, mismatch("a label key", match[2]))
    elif name.replace("spec.host", "spec.nodeName") not in supported and name not in supported:
        yield FieldFault(path, mismatch(f"one of {', '.join(supported)}", name))


_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def resource_field(field: CheckedField, *resources: str) -> Faults:
    name, divisor = field.value or "", parse(field.owner.get("divisor"))
    if name and name not in resources and not name.startswith(_HUGE_PAGES):
        yield mismatch(f"one of {', '.join(resources)}", name)
    elif name and divisor.nano:
        units = ("1m", "1") if name.endswith(".cpu") else _BYTES
        if str(divisor) not in units:
            yield FieldFault(f"{field.path.removesuffix('resource')}divisor", f"expected one of {', '.join(units)}")


def volume_of_files(field: CheckedField) -> Faults:
    """Yield a fault if variables come from files of other volumes than emptyDir."""
    for volume in field.pod.spec.get("volumes", ()):
        if volume.get("name") == field.value and ("emptyDir" in volume or len(volume) == 1):
            return
    if field.value:
        yield mismatch("the name of an emptyDir", field.value)


# Rules of volumes.


def names_its_claim(field: CheckedField) -> Faults:
    claim = f"{field.pod.pod_name}-{field.value}"
    if field.pod.pod_name and field.value and "ephemeral" in field.owner and subdomain_faults(claim):
        yield mismatch(f"a name whose claim, {claim}, is a DNS subdomain", field.value)


def portal(field: CheckedField) -> Faults:
    source = field.owner.get("iscsi", {})
    name = f"{field.value or ''}:{source.get('targetPortal', '')}"
    if "initiatorName" in source and source.get("targetPortal") and len(name.encode()) > 64:
        yield f"expected at most 64 bytes with the targetPortal, found {len(name.encode())}"


_CERTIFICATE_FILES = ("credentialBundlePath", "keyPath", "certificateChainPath")


def distinct_files(field: CheckedField) -> Faults:
    """Yield files that two sources write."""
    paths: set[str] = set()
    for source in field.value or ():
        kinds = {name: source.get(name, {}) for name in ("secret", "configMap", "downwardAPI", "podCertificate")}
        files = [item.get("path") for kind in kinds.values() for item in kind.get("items", ())]
        files += [kinds["podCertificate"].get(name) for name in _CERTIFICATE_FILES]
        if field.pod.version.has("ClusterTrustBundleProjection"):
            files.append(field_at(source, "clusterTrustBundle.path"))
        for file in filter(None, files):
            if file in paths:
                yield f"duplicate path: {file}"
            paths.add(file)


def selector(field: CheckedField) -> Faults:
    return selector_faults(msgspec.convert(field.value, LabelSelector | None), field.path)


_OF_CLAIMS = ("labels", "annotations", "selfLink", "managedFields", "clusterName")


def metadata_of_claims(field: CheckedField) -> Faults:
    metadata = field.value or {}
    yield from annotations_faults(metadata.get("annotations", {}), f"{field.path}.annotations")
    yield from labels_faults(metadata.get("labels", {}), f"{field.path}.labels")
    for name, value in metadata.items():
        if name not in _OF_CLAIMS and value:
            yield FieldFault(f"{field.path}.{name}", "not allowed in a claim template")


def alone(field: CheckedField, mode: str) -> Faults:
    if field.value and mode in field.value and len(set(field.value)) > 1:
        yield f"{mode} is not allowed beside others"


def size(field: CheckedField) -> Faults:
    size = field_at(field.owner, "resources.requests.storage")
    if size is None:
        yield FieldFault(f"{field.path}.requests[storage]", "required")
    elif parse(size).rounded_up().nano <= 0:
        yield FieldFault(f"{field.path}.requests[storage]", mismatch("an amount above 0", size))


def same_source(field: CheckedField) -> Faults:
    other = field.owner.get("dataSourceRef")
    if field.value is not None and other is not None:
        if other.get("namespace"):
            yield "not allowed beside dataSourceRef.namespace"
        elif any(field.value.get(name) != other.get(name) for name in ("apiGroup", "kind", "name")):
            yield "expected the same as dataSourceRef"


def keys(field: CheckedField, rule: str) -> Faults:
    for key in field.value or ():
        yield from rule_faults(CheckedField(key, f"{field.path}[{key}]", field.value, "", field.pod, set()), rule)


def below(field: CheckedField, name: str, rule: str) -> Faults:
    for item, path in elements(field):
        yield from rule_faults(CheckedField(item.get(name), f"{path}.{name}", item, "", field.pod, set()), rule)


# The walk.


def field_faults(plain: Data, pod: Pod, path: str, version: KubeVersion, *, is_pod: bool) -> list[FieldFault]:
    """Faults for which the API server would refuse a pod, or a pod template, given as plain data of valid types.

    ``pod`` is the same with the claims that its controller adds as volumes; ``path`` is empty, or the template's.
    """
    return [*_field_faults(plain, pod, f"{path}." if path else "", version, is_pod=is_pod)]


def _field_faults(plain: Data, pod: Pod, inside: str, version: KubeVersion, *, is_pod: bool) -> Iterator[FieldFault]:
    name, spec = pod.metadata.name if is_pod else "", plain.get("spec", {})
    # These are not stored without their gates.
    policies = [{"restartPolicy": container.restart_policy} for container in pod.spec.init_containers]
    containers = [{**own, **policy} for own, policy in zip(spec.get("initContainers", ()), policies, strict=True)]
    spec = {**spec, "hostUsers": pod.spec.host_users, "initContainers": containers}
    annotations = plain.get("metadata", {}).get("annotations", {})
    own = spec.get("volumes", [])
    claims = {
        (volume.name, volume.persistent_volume_claim.claim_name)
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    }
    claims -= {(volume.get("name", ""), volume.get("persistentVolumeClaim", {}).get("claimName", "")) for volume in own}
    added = {claim for claim, _ in claims}
    checked_pod = CheckedPod(spec, annotations, version, bool(pod.metadata.uid), name, {})
    checked_pod.volumes.update(dict.fromkeys(added, {"persistentVolumeClaim": {}}))
    yield from annotation_faults(checked_pod, f"{inside}metadata.annotations")
    if is_pod and not inside:
        yield from _faults_of(plain.get("metadata", {}), "ObjectMeta", "metadata", checked_pod)
    ephemeral_claims = {f"{name}-{volume.get('name')}" for volume in own if name and "ephemeral" in volume}
    for position, volume in enumerate(own):
        place = f"{inside}spec.volumes[{position}]"
        faults = [*_faults_of(volume, "Volume", place, checked_pod)] if volume.get("name") not in added else []
        if volume.get("name") in checked_pod.volumes and volume.get("name") not in added:
            faults.append(FieldFault(f"{place}.name", f"duplicate: {volume.get('name')}"))
        yield from faults
        if not faults:
            checked_pod.volumes[volume.get("name", "")] = volume
        claim = field_at(volume, "persistentVolumeClaim.claimName")
        if claim in ephemeral_claims:
            yield FieldFault(f"{place}.persistentVolumeClaim.claimName", f"{claim} is created for an ephemeral volume")
    rest = {field: value for field, value in spec.items() if field != "volumes"}
    yield from _faults_of(rest, "PodSpec", f"{inside}spec", checked_pod)


@cache
def rules_of_types() -> Mapping[str, Mapping[str, Sequence[str]]]:
    rows = {cls: dict(row) for cls, row in _rules().items() if cls != "patterns"}
    return {cls: {**rows.get(row.pop("like", ""), {}), **row} for cls, row in rows.items()}


def _faults_of(data: Data, cls: str, path: str, pod: CheckedPod) -> Iterator[FieldFault]:
    unread: set[str] = set()
    for name, rules in rules_of_types().get(cls, {}).items():
        place, value = (path, data) if name == "*" else (f"{path}.{name}", data.get(name))
        for rule in rules:
            word, _, gate = rule.partition(" ")
            if word == "behind" and not pod.version.has(gate):
                unread.add(name)
            if name in unread:
                break
            if word != "behind":
                yield from rule_faults(CheckedField(value, place, data, cls, pod, unread), rule)
    for name, shape in fields_of(cls).items():
        value = data.get(name)
        below = shape.removeprefix("[]")
        if value is None or name in unread or not fields_of(below):
            continue
        if below == shape:
            yield from _faults_of(value, below, f"{path}.{name}", pod)
        else:
            for position, item in enumerate(value):
                yield from _faults_of(item, below, f"{path}.{name}[{position}]", pod)
