"""The walk through a pod's fields that scheduling does not read, by the rows of ``rules.toml``, and what these mean.

A check yields what is wrong with a field, or with one below it, in our words. An absent field passes all checks but
those of what is required, and so does an empty text.

Source: pkg/apis/core/validation/validation.go, ValidatePodCreate, ValidatePodTemplateSpec, ValidateVolumes,
    ValidateEnv, validateEnvVarValueFrom, ValidateVolumeMounts, ValidateVolumeDevices, validateResizePolicy,
    validateLifecycle, validateStopSignal, validateHandler, validateProbe
Source: pkg/apis/core/validation/validation.go, validateVolumeSource, validateEphemeralVolumeSource,
    validateISCSIVolumeSource, validateFCVolumeSource, validateQuobyteVolumeSource, validateFlexVolumeSource,
    validateAzureDisk, ValidateCSIDriverName, validateProjectionSources, validateDownwardAPIVolumeFile,
    validateObjectFieldSelector, validateContainerResourceDivisor, ValidatePersistentVolumeClaimSpec
Source: pkg/apis/core/validation/validation.go, ValidateSecurityContext, validatePodSpecSecurityContext,
    ValidateHostSysctl, validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateHostUsers,
    validateLinux, validateWindows, validatePodDNSConfig, validatePodHostName, validateFileKeyRefVolumes
Source: pkg/apis/core/validation/validation.go, ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations,
    validateSeccompAnnotationsAndFields, validateAppArmorAnnotationsAndFieldsMatchOnCreate
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
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, search_domain_faults, subdomain_faults
from kubespread.kube.quantity import parse
from kubespread.kube.validation.faults import FieldFault, annotations_faults, labels_faults, selector_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import MIRROR_POD, POD_DELETION_COST
from kubespread.wording import describe

Data = Mapping[str, Any]
Faults = Iterable[str | FieldFault]


class Surrounding(msgspec.Struct, frozen=True):
    """What a field of a pod is checked against."""

    spec: Data
    annotations: Mapping[str, str]
    version: KubeVersion
    is_stored: bool
    pod_name: str
    """Empty for a pod template."""
    volumes: dict[str, Data]
    """The faultless ones, by name."""

    def containers(self) -> Iterator[tuple[Data, str]]:
        """All containers and where they stand below the spec; init containers come first."""
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for position, container in enumerate(self.spec.get(kind, ())):
                yield container, f"{kind}[{position}]"


class Field(msgspec.Struct, frozen=True):
    """A field that a rule is about."""

    value: Any
    path: str
    owner: Data
    """The object it stands in."""
    cls: str
    """That object's type in the API."""
    pod: Surrounding
    unread: set[str]
    """The fields of the owner that the API server does not look into."""


def at(data: Data, *path: str) -> Any:
    """What stands there; None where nothing does."""
    found: Any = data
    for name in path:
        found = (found or {}).get(name)
    return found


# Rules of a value, or of each in a list: what passes, and what is expected.


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _is_free_of_backsteps(path: str) -> bool:
    return ".." not in path.split("/")


def _is_relative(path: str) -> bool:
    return not path.startswith("/") and _is_free_of_backsteps(path)


def _is_file_path(path: str) -> bool:
    """The kubelet keeps names that begin with two dots for itself."""
    return _is_relative(path) and not path.startswith("..")


_PORT_NAME = _matches(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?")


def _is_port(port: int | str) -> bool:
    return _PORT_NAME(port) if isinstance(port, str) else 1 <= port <= 65535


def _is_bundle(name: str) -> bool:
    signer, colon, rest = name.rpartition(":")
    return (bool(signer) or not colon) and not subdomain_faults(rest)


def _is_signer(name: str) -> bool:
    domain, slash, rest = name.partition("/")
    parts = [*map(dns_label_faults, domain.split(".")), *map(subdomain_faults, rest.split("."))]
    return (
        bool(slash) and "." in domain and len(domain.encode()) <= 253 and len(name.encode()) <= 571 and not any(parts)
    )


_DNS_NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = _matches(rf'[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_DNS_NAME}(?:\.{_DNS_NAME})*')
_NOT_OF_USERS = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def _is_windows_user(name: str) -> bool:
    if any(ord(char) < 32 or ord(char) == 127 for char in name) or name.count("\\") > 1:
        return False
    domain, backslash, user = name.rpartition("\\")
    if backslash and not (len(domain.encode()) < 256 and _DOMAIN(domain)):
        return False
    return len(user.encode()) <= 104 and bool(user.strip(". ")) and not _NOT_OF_USERS.search(user)


_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_SUBDOMAIN = "a DNS subdomain"
_IQN = r"(?:iqn[\s\S]*)?iqn\.[0-9]{4}-[0-9]{2}\.[-.A-Za-z0-9]+:[^,;*&$|\t\n\f\r ]+"
_HOST_AND_PORT = r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*"
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"

VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "absolute-path": (lambda path: path.startswith("/"), "a path that begins with /"),
    "bundle": (_is_bundle, "the name of a ClusterTrustBundle"),
    "config-key": (
        _matches(r"(?!\.\.)(?!\.\Z)[-._a-zA-Z0-9]{1,253}"),
        "a key of letters, digits, '-', '_' and '.' that does not begin with '..'",
    ),
    "dns-label": (lambda name: not dns_label_faults(name), "a DNS label"),
    "driver": (lambda name: not subdomain_faults(name.lower()), "the name of a CSI driver"),
    "finalizer": (
        lambda name: not label_key_faults(name) and ("/" in name or name in _FINALIZERS),
        "a name with a domain, such as example.com/name",
    ),
    "file-path": (_is_file_path, "a relative path that neither begins with '..' nor steps back"),
    "from-zero": (lambda amount: parse(amount).nano >= 0, "an amount from 0"),
    "header": (_matches(r"[-A-Za-z0-9]+"), "a header of letters, digits and '-'"),
    "iqn": (
        _matches(rf"{_IQN}|eui.[A-Za-z0-9]{{16}}|naa.[A-Za-z0-9]{{32}}"),
        "a name of the form iqn.YYYY-MM.DOMAIN:NAME, eui.ID or naa.ID",
    ),
    "label-key": (lambda key: not label_key_faults(key), "a label key"),
    "local-profile": (lambda name: name == name.strip(), "a name without blanks around it"),
    "no-backsteps": (_is_free_of_backsteps, "a path without '..'"),
    "no-slash": (lambda name: "/" not in name, "a name without '/'"),
    "port": (_is_port, "a port from 1 to 65535, or the name of one"),
    "registry": (
        lambda text: all(map(_matches(_HOST_AND_PORT), text.split(","))),
        "HOST:PORT, or several separated by commas",
    ),
    "relative-path": (_is_relative, "a relative path without '..'"),
    "search-domain": (
        lambda name: name == "." or not search_domain_faults(name.removesuffix(".")),
        "a domain to search",
    ),
    "signer": (_is_signer, "a signer, such as example.com/name"),
    "subdomain": (lambda name: not subdomain_faults(name), _SUBDOMAIN),
    "sysctl": (lambda name: len(name.encode()) <= 253 and _matches(_SYSCTL)(name), "the name of a sysctl"),
    "variable": (_matches(r"[ -<>-~]*"), "a name of printable ASCII characters without '='"),
    "version": (lambda text: not text.endswith("/"), "GROUP/VERSION"),
    "windows-user": (_is_windows_user, "a user of Windows, or DOMAIN\\USER"),
}


def expected(noun: str, value: Any) -> str:
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else describe(value)
    return f"expected {noun}, found {found}"


def each(field: Field) -> Iterator[tuple[Any, str]]:
    """What is in a list, or the value itself, and where."""
    if isinstance(field.value, list):
        yield from ((item, f"{field.path}[{position}]") for position, item in enumerate(field.value))
    elif field.value is not None:
        yield field.value, field.path


_RANGE = re.compile(r"(\d+)\.\.(\d*)")


def checked(field: Field, rule: str) -> Iterator[FieldFault]:
    """What ``rule`` says of a field."""
    name, *arguments = rule.split()
    for fault in _said(field, name, arguments):
        yield FieldFault(field.path, fault) if isinstance(fault, str) else fault


def _said(field: Field, name: str, arguments: Sequence[str]) -> Faults:
    if bounds := _RANGE.fullmatch(name):
        low, high = int(bounds[1]), int(bounds[2] or 2**31 - 1)
        noun = f"a number from {low} to {high}" if bounds[2] else f"a number from {low}"
        return _outside(field, lambda number: low <= number <= high, noun)
    if name in VALUES:
        return _outside(field, *VALUES[name])
    found: Faults = globals()[name.replace("-", "_")](field, *arguments)
    return found


def _outside(field: Field, passes: Callable[[Any], bool], noun: str) -> Iterator[FieldFault]:
    for value, path in each(field) if field.value != "" else ():
        if not passes(value):
            yield FieldFault(path, expected(noun, value))


# Rules of fields that any type may have: the functions from here on are called as the rules are.


def required(field: Field) -> Faults:
    if not field.value:
        yield "required"


def not_empty(field: Field) -> Faults:
    if field.value == "":
        yield "expected a value, found an empty string"


def never(field: Field) -> Faults:
    if field.value not in (None, "", [], {}):
        yield "not allowed here"


def one_of(field: Field, *values: str) -> Faults:
    for value, path in each(field):
        if value and value not in values:
            yield FieldFault(path, expected(f"one of {', '.join(values)}", value))


def at_most(field: Field, size: str) -> Faults:
    if field.value and len(field.value.encode()) > int(size):
        yield f"expected at most {size} bytes, found {len(field.value.encode())}"


def at_most_items(field: Field, count: str) -> Faults:
    if field.value and len(field.value) > int(count):
        yield f"expected at most {count} items, found {len(field.value)}"


def not_with(field: Field, other: str) -> Faults:
    if field.value and field.owner.get(other):
        yield f"not allowed beside {other}"


def only_if(field: Field, other: str, value: str) -> Faults:
    if field.value is not None and field.owner.get(other) != value:
        yield f"only allowed where {other} is {value}"


def needed_if(field: Field, other: str, value: str = "") -> Faults:
    found = field.owner.get(other)
    if field.value is None and found and value in ("", found):
        yield f"required where {other} is {value or 'set'}"


def present(field: Field, names: Sequence[str]) -> list[str]:
    return [name for name in names if field.value.get(name) not in (None, "", [])]


def exactly_one(field: Field, *names: str) -> Faults:
    if len(found := present(field, names)) != 1:
        yield f"expected one of {', '.join(names)}, found {' and '.join(found) or 'none'}"


def some_of(field: Field, *names: str) -> Faults:
    if not present(field, names):
        yield f"expected one of {', '.join(names)}, found none"


def at_most_one(field: Field, *names: str) -> Faults:
    if len(found := present(field, names)) > 1:
        yield f"expected at most one kind, found {' and '.join(found)}"


def first_of(field: Field, *names: str) -> Faults:
    """The API server looks into the first alone."""
    for name in present(field, names)[1:]:
        field.unread.add(name)
        yield FieldFault(f"{field.path}.{name}", f"not allowed beside {present(field, names)[0]}")


def distinct(field: Field, name: str) -> Faults:
    names = [item.get(name) for item in field.value or ()]
    for position, found in enumerate(names):
        if found and found in names[:position]:
            yield FieldFault(f"{field.path}[{position}].{name}", f"duplicate: {found}")


# Rules of pods as a whole.


def user_id(field: Field) -> Faults:
    most = 2**32 - 1 if field.pod.version.since(37) else 2**31 - 1
    for value, path in each(field):
        if not 0 <= value <= most:
            yield FieldFault(path, expected(f"a number from 0 to {most}", value))


def not_on(field: Field, system: str, *names: str) -> Faults:
    """Fields that only pods of the other operating system have."""
    for name in names if at(field.pod.spec, "os", "name") == system else ():
        if field.value.get(name) not in (None, []):
            yield FieldFault(f"{field.path}.{name}", f"not allowed in a pod for {system.capitalize()}")


def of_the_host(field: Field) -> Faults:
    """Neither Windows nor a pod with users of its own shares them."""
    if field.value and at(field.pod.spec, "os", "name") == "windows":
        yield "not allowed in a pod for Windows"
    yield from not_with_own_users(field)


def not_with_own_users(field: Field) -> Faults:
    if field.value and field.pod.spec.get("hostUsers") is False:
        yield "not allowed where hostUsers is false"


def host_processes(field: Field) -> Faults:
    """All containers of a Windows pod are processes of the host, in its network, or none is."""
    of_pod = at(field.value, "securityContext", "windowsOptions", "hostProcess")
    found = []
    for container, path in field.pod.containers():
        own = at(container, "securityContext", "windowsOptions", "hostProcess")
        if None not in (of_pod, own) and of_pod != own:
            place = f"{field.path}.{path}.securityContext.windowsOptions.hostProcess"
            yield FieldFault(place, expected(f"{str(of_pod).lower()} as in the pod", own))
        found.append(of_pod if own is None else own)
    if any(found) and not all(found):
        yield "expected all containers to be processes of the host, or none"
    if any(found) and not field.value.get("hostNetwork"):
        yield FieldFault(f"{field.path}.hostNetwork", "required where containers are processes of the host")


_SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_NAMES = {"runtime/default": "RuntimeDefault", "docker/default": "RuntimeDefault", "unconfined": "Unconfined"}
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def one_controller(field: Field) -> Faults:
    if sum(bool(owner.get("controller")) for owner in field.value or ()) > 1:
        yield "only one owner can be the controller"


def no_event(field: Field) -> Faults:
    if (field.value.get("apiVersion"), field.value.get("kind")) == ("v1", "Event"):
        yield "an Event cannot be an owner"


def either_policy(field: Field) -> Faults:
    if {"orphan", "foregroundDeletion"}.issubset(field.value or ()):
        yield "orphan is not allowed beside foregroundDeletion"


def annotation_faults(pod: Surrounding, path: str) -> Iterator[FieldFault]:
    """Also of those that mean something to Kubernetes."""
    yield from annotations_faults(pod.annotations, path)
    if MIRROR_POD in pod.annotations and not (pod.is_stored or pod.spec.get("nodeName")):
        yield FieldFault(f"{path}[{MIRROR_POD}]", "needs spec.nodeName")
    cost = pod.annotations.get(POD_DELETION_COST)
    if cost is not None and not (_CANONICAL_INT.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield FieldFault(f"{path}[{POD_DELETION_COST}]", expected("a 32-bit integer", cost))
    names = {container.get("name") for container, _ in pod.containers()}
    for key, value in sorted(pod.annotations.items()):
        is_local = value.startswith(_LOCAL)
        if key == _SECCOMP_OF_POD or key.startswith(_SECCOMP_OF_CONTAINER):
            if not (_is_relative(value.removeprefix(_LOCAL)) if is_local else value in _NAMES):
                yield FieldFault(f"{path}[{key}]", expected("a seccomp profile", value))
        elif key.startswith(_APP_ARMOR):
            if key.removeprefix(_APP_ARMOR) not in names:
                yield FieldFault(f"{path}[{key}]", "no such container")
            if not is_local and value not in ("", "runtime/default", "unconfined"):
                yield FieldFault(f"{path}[{key}]", expected("an AppArmor profile", value))


def as_annotated(field: Field) -> Faults:
    """Annotations that say something else than the fields that replaced them."""
    name, path = field.value.get("name", ""), f"{field.path}.securityContext"
    said, context = field.pod.annotations, field.value.get("securityContext", {})
    key = _SECCOMP_OF_POD if field.cls == "PodSpec" else f"{_SECCOMP_OF_CONTAINER}{name}"
    yield from _mismatch(said.get(key), context.get("seccompProfile"), f"{path}.seccompProfile")
    if field.cls != "PodSpec" and at(field.pod.spec, "os", "name") != "windows":
        profile = context.get("appArmorProfile") or at(field.pod.spec, "securityContext", "appArmorProfile")
        yield from _mismatch(said.get(f"{_APP_ARMOR}{name}"), profile, f"{path}.appArmorProfile")


def _mismatch(annotation: str | None, profile: Data | None, path: str) -> Iterator[FieldFault]:
    if annotation is None or profile is None:
        return
    kind, is_local = profile.get("type"), annotation.startswith(_LOCAL)
    if kind in ("Localhost", *_NAMES.values()) and kind != ("Localhost" if is_local else _NAMES.get(annotation)):
        yield FieldFault(f"{path}.type", expected(f"what the annotation says, {annotation}", kind))
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        yield FieldFault(f"{path}.localhostProfile", f"expected what the annotation says, {annotation}")


def only_of_stored_pods(field: Field) -> Faults:
    if field.value and not field.pod.is_stored:
        yield "not allowed before the pod runs"


def distinct_names(field: Field) -> Faults:
    """Of all containers."""
    names = [container.get("name") for container, path in field.pod.containers() if not path.startswith("e")]
    for position, container in enumerate(field.value or ()):
        if container.get("name") in names:
            yield FieldFault(f"{field.path}[{position}].name", f"duplicate: {container.get('name')}")
        names.append(container.get("name"))


def another_container(field: Field) -> Faults:
    names = [container.get("name") for container, path in field.pod.containers() if not path.startswith("e")]
    if field.value and field.value not in names:
        yield expected("the name of a container", field.value)


def dns_servers(field: Field) -> Faults:
    if field.owner.get("dnsPolicy") == "None" and not (field.value or {}).get("nameservers"):
        yield "a name server is required where dnsPolicy is None"


def ip_address(field: Field) -> Faults:
    for text, path in each(field):
        if not _is_ip(text, field.pod.version):
            yield FieldFault(path, expected("an IP address", text))


def _is_ip(text: str, version: KubeVersion) -> bool:
    """Go's old parser, which Kubernetes keeps, skips zeros that a part of an IPv4 address begins with."""
    plain = text if ":" in text else ".".join(part.lstrip("0") or part[:1] for part in text.split("."))
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return False
    is_mapped = address.version == 6 and address.ipv4_mapped is not None
    return "%" not in text and not (version.has("StrictIPCIDRValidation") and (plain != text or is_mapped))


def search_list(field: Field) -> Faults:
    if len(" ".join(field.value or ()).encode()) > 2048:
        yield "expected at most 2048 bytes in all"


def selinux_change(field: Field) -> Faults:
    return one_of(field, "Recursive", *(["MountOption"] if field.pod.version.has("SELinuxMount") else []))


_SYSCTLS_OF_IPC = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def sysctls_of_pods(field: Field) -> Faults:
    for position, sysctl in enumerate(field.value or ()):
        name = sysctl.get("name", "")
        if next((char for char in name if char in "./"), ".") == "/":
            # Where a slash comes first, dots and slashes are the other way round.
            name = name.translate(str.maketrans("./", "/."))
        is_of_ipc = name == "kernel.sem" or name.startswith(_SYSCTLS_OF_IPC)
        for shared, is_shared in (("hostNetwork", name.startswith("net.")), ("hostIPC", is_of_ipc)):
            if is_shared and field.pod.spec.get(shared):
                yield FieldFault(f"{field.path}[{position}].name", f"not allowed where {shared} is true")


# Rules of containers.


def no_escalation(field: Field) -> Faults:
    if field.value.get("allowPrivilegeEscalation") is False:
        if field.value.get("privileged"):
            yield "allowPrivilegeEscalation cannot be false beside privileged"
        if "CAP_SYS_ADMIN" in (at(field.value, "capabilities", "add") or ()):
            yield "allowPrivilegeEscalation cannot be false beside the capability CAP_SYS_ADMIN"


def unmasked(field: Field) -> Faults:
    if field.value == "Unmasked" and field.pod.spec.get("hostUsers") is not False:
        yield "Unmasked needs spec.hostUsers: false"


def unpadded(field: Field) -> Faults:
    """Of pods, not of templates."""
    if field.pod.pod_name and field.value and field.value != field.value.strip():
        yield "expected an image without blanks around it"


def handlers(field: Field) -> Faults:
    """Of init containers only sidecars live long enough for them."""
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
        if policy.get("restartPolicy") == "RestartContainer" and field.pod.version.since(36):
            path = f"{field.path}.resizePolicy[{position}].restartPolicy"
            yield FieldFault(path, "among init containers only sidecars may have it")


def resizes(field: Field) -> Faults:
    for position, policy in enumerate(field.value or ()):
        if field.pod.spec.get("restartPolicy") == "Never" and policy.get("restartPolicy") != "NotRequired":
            yield FieldFault(f"{field.path}[{position}]", "expected NotRequired where the pod's restartPolicy is Never")


def volume_uses(field: Field) -> Faults:
    """Volumes that are mounted, and those that are devices: no path and no volume is both."""
    paths = {"volumeMounts": "mountPath", "volumeDevices": "devicePath"}
    for kind, other in (("volumeMounts", "volumeDevices"), ("volumeDevices", "volumeMounts")):
        own, others = field.value.get(kind, ()), field.value.get(other, ())
        taken = [use.get(paths[other]) for use in others]
        for position, use in enumerate(own):
            path, name, place = f"{field.path}.{kind}[{position}]", use.get("name"), use.get(paths[kind])
            volume = field.pod.volumes.get(name)
            if volume is None:
                yield FieldFault(f"{path}.name", expected("the name of a valid volume", name))
            elif kind == "volumeDevices" and "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
                yield FieldFault(f"{path}.name", expected("the name of a claim", name))
            if any(name == use.get("name") for use in others):
                yield FieldFault(f"{path}.name", f"already in {other}")
            if place and place in taken:
                yield FieldFault(f"{path}.{paths[kind]}", f"already used: {place}")
            taken.append(place)
            is_privileged = at(field.value, "securityContext", "privileged")
            if use.get("mountPropagation") == "Bidirectional" and not is_privileged:
                yield FieldFault(f"{path}.mountPropagation", "Bidirectional needs a privileged container")


def read_only(field: Field) -> Faults:
    if field.value in ("Enabled", "IfPossible"):
        if not field.owner.get("readOnly"):
            yield f"{field.value} needs readOnly: true"
        if field.owner.get("mountPropagation", "None") != "None":
            yield f"{field.value} needs mountPropagation: None"


def stop_signal(field: Field, *signals: str) -> Faults:
    system = at(field.pod.spec, "os", "name")
    if field.value is not None and field.pod.spec.get("os") is None:
        yield "not allowed without spec.os.name"
    elif field.value is not None and system in ("linux", "windows"):
        known = {f"SIG{name}" for name in (signals if system == "linux" else ("KILL", "TERM"))}
        numbered = re.fullmatch(r"SIGRT(MAX-([1-9]|1[0-4])|MIN\+([1-9]|1[0-5]))", field.value)
        if field.value not in known and not (system == "linux" and numbered):
            yield expected("a signal of the pod's system", field.value)


def within_grace_period(field: Field) -> Faults:
    grace_period = field.pod.spec.get("terminationGracePeriodSeconds", 30)
    grace_period = 1 if grace_period < 0 else grace_period
    if field.value is not None and not 0 <= field.value <= grace_period:
        yield expected(f"at most terminationGracePeriodSeconds, {grace_period}", field.value)


_SUBSCRIPTED = re.compile(r"(metadata\.(?:annotations|labels))\['(.*)'\]", re.DOTALL)


def field(field: Field, *supported: str) -> Faults:
    if field.value is None:
        return
    name, path = field.value.get("fieldPath", ""), f"{field.path}.fieldPath"
    match = _SUBSCRIPTED.fullmatch(name)
    if field.value.get("apiVersion", "v1") not in ("", "v1"):
        yield FieldFault(path, expected("apiVersion v1", field.value["apiVersion"]))
    elif match:
        if label_key_faults(match[2].lower() if match[1] == "metadata.annotations" else match[2]):
            yield FieldFault(path, expected("a label key", match[2]))
    elif name.replace("spec.host", "spec.nodeName") not in supported and name not in supported:
        yield FieldFault(path, expected(f"one of {', '.join(supported)}", name))


_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def resource_field(field: Field, *resources: str) -> Faults:
    name, divisor = field.value or "", parse(field.owner.get("divisor"))
    if name and name not in resources and not name.startswith(_HUGE_PAGES):
        yield expected(f"one of {', '.join(resources)}", name)
    elif name and divisor.nano:
        units = ("1m", "1") if name.endswith(".cpu") else _BYTES
        if str(divisor) not in units:
            yield FieldFault(f"{field.path.removesuffix('resource')}divisor", f"expected one of {', '.join(units)}")


def volume_of_files(field: Field) -> Faults:
    """Variables come from files of emptyDir volumes alone."""
    for volume in field.pod.spec.get("volumes", ()):
        if volume.get("name") == field.value and ("emptyDir" in volume or len(volume) == 1):
            return
    if field.value:
        yield expected("the name of an emptyDir", field.value)


# Rules of volumes.


def names_its_claim(field: Field) -> Faults:
    claim = f"{field.pod.pod_name}-{field.value}"
    if field.pod.pod_name and field.value and "ephemeral" in field.owner and subdomain_faults(claim):
        yield expected(f"a name whose claim, {claim}, is {_SUBDOMAIN}", field.value)


def portal(field: Field) -> Faults:
    source = field.owner.get("iscsi", {})
    name = f"{field.value or ''}:{source.get('targetPortal', '')}"
    if "initiatorName" in source and source.get("targetPortal") and len(name.encode()) > 64:
        yield f"expected at most 64 bytes with the targetPortal, found {len(name.encode())}"


def lun_of_targets(field: Field) -> Faults:
    if field.value is not None and field.owner.get("targetWWNs") and not 0 <= field.value <= 255:
        yield expected("a number from 0 to 255", field.value)


def unreserved_keys(field: Field) -> Faults:
    for key in field.value or ():
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield FieldFault(f"{field.path}[{key}]", "keys of kubernetes.io and k8s.io are reserved")


def disk_uri(field: Field) -> Faults:
    prefix = "/subscriptions/" if field.owner.get("kind") == "Managed" else "https://"
    if field.value and not field.value.startswith(prefix):
        yield expected(f"a URI that begins with {prefix}", field.value)


def required_of_pods(field: Field) -> Faults:
    return required(field) if field.pod.pod_name else ()


_CERTIFICATE_FILES = ("credentialBundlePath", "keyPath", "certificateChainPath")


def distinct_files(field: Field) -> Faults:
    """No two sources write one file."""
    taken: set[str] = set()
    for source in field.value or ():
        kinds = {name: source.get(name, {}) for name in ("secret", "configMap", "downwardAPI", "podCertificate")}
        files = [item.get("path") for kind in kinds.values() for item in kind.get("items", ())]
        files += [kinds["podCertificate"].get(name) for name in _CERTIFICATE_FILES]
        if field.pod.version.has("ClusterTrustBundleProjection"):
            files.append(at(source, "clusterTrustBundle", "path"))
        for file in filter(None, files):
            if file in taken:
                yield f"duplicate path: {file}"
            taken.add(file)


def certificate_age(field: Field) -> Faults:
    host = field.owner.get("signerName", "").partition("/")[0]
    most = 86400 if f".{host}".endswith(".kubernetes.io") else 7862400
    if field.value is not None and not 3600 <= field.value <= most:
        yield expected(f"a number from 3600 to {most}", field.value)


def selector(field: Field) -> Faults:
    return selector_faults(msgspec.convert(field.value, LabelSelector | None), field.path)


_OF_CLAIMS = ("labels", "annotations", "selfLink", "managedFields", "clusterName")


def metadata_of_claims(field: Field) -> Faults:
    metadata = field.value or {}
    yield from annotations_faults(metadata.get("annotations", {}), f"{field.path}.annotations")
    yield from labels_faults(metadata.get("labels", {}), f"{field.path}.labels")
    for name, value in metadata.items():
        if name not in _OF_CLAIMS and value:
            yield FieldFault(f"{field.path}.{name}", "not allowed in a claim template")


def alone(field: Field, mode: str) -> Faults:
    if field.value and mode in field.value and len(set(field.value)) > 1:
        yield f"{mode} is not allowed beside others"


def size(field: Field) -> Faults:
    size = at({"": field.value}, "", "requests", "storage")
    if size is None:
        yield FieldFault(f"{field.path}.requests[storage]", "required")
    elif parse(size).rounded_up().nano <= 0:
        yield FieldFault(f"{field.path}.requests[storage]", expected("an amount above 0", size))


def same_source(field: Field) -> Faults:
    other = field.owner.get("dataSourceRef")
    if field.value is not None and other is not None:
        if other.get("namespace"):
            yield "not allowed beside dataSourceRef.namespace"
        elif any(field.value.get(name) != other.get(name) for name in ("apiGroup", "kind", "name")):
            yield "expected the same as dataSourceRef"


def default_group(field: Field) -> Faults:
    if field.value != "PersistentVolumeClaim" and not field.owner.get("apiGroup"):
        yield expected("PersistentVolumeClaim where apiGroup is empty", field.value)


def below(field: Field, name: str, rule: str) -> Faults:
    for item, path in each(field):
        yield from checked(Field(item.get(name), f"{path}.{name}", item, "", field.pod, set()), rule)


# The walk.


def field_faults(plain: Data, pod: Pod, path: str, version: KubeVersion, *, is_pod: bool) -> list[FieldFault]:
    """What the API server would refuse of a pod, or of a pod template, as plain data whose types are right.

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
    surrounding = Surrounding(spec, annotations, version, bool(pod.metadata.uid), name, {})
    surrounding.volumes.update(dict.fromkeys(added, {"persistentVolumeClaim": {}}))
    yield from annotation_faults(surrounding, f"{inside}metadata.annotations")
    if is_pod and not inside:
        yield from _faults_of(plain.get("metadata", {}), "ObjectMeta", "metadata", surrounding)
    made = {f"{name}-{volume.get('name')}" for volume in own if name and "ephemeral" in volume}
    for position, volume in enumerate(own):
        place = f"{inside}spec.volumes[{position}]"
        faults = [*_faults_of(volume, "Volume", place, surrounding)] if volume.get("name") not in added else []
        if volume.get("name") in surrounding.volumes and volume.get("name") not in added:
            faults.append(FieldFault(f"{place}.name", f"duplicate: {volume.get('name')}"))
        yield from faults
        if not faults:
            surrounding.volumes[volume.get("name", "")] = volume
        claim = at(volume, "persistentVolumeClaim", "claimName")
        if claim in made:
            yield FieldFault(f"{place}.persistentVolumeClaim.claimName", f"{claim} is created for an ephemeral volume")
    rest = {field: value for field, value in spec.items() if field != "volumes"}
    yield from _faults_of(rest, "PodSpec", f"{inside}spec", surrounding)


@cache
def rules_of_types() -> Mapping[str, Mapping[str, Sequence[str]]]:
    rows = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    return {cls: {**rows.get(row.pop("like", ""), {}), **row} for cls, row in rows.items()}


def _faults_of(data: Data, cls: str, path: str, pod: Surrounding) -> Iterator[FieldFault]:
    unread: set[str] = set()
    for name, rules in rules_of_types().get(cls, {}).items():
        place, value = (path, data) if name == "*" else (f"{path}.{name}", data.get(name))
        for rule in rules if name not in unread else ():
            word, _, gate = rule.partition(" ")
            if word == "behind" and not pod.version.has(gate):
                unread.add(name)
                break
            if word == "until" and pod.version.has(gate):
                break
            if word not in ("behind", "until"):
                yield from checked(Field(value, place, data, cls, pod, unread), rule)
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
