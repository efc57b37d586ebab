"""Validation of security contexts, of pods and of containers, of the annotations that were there before them, and of
what does not go with an operating system.

Source: pkg/apis/core/validation/validation.go, ValidateSecurityContext, validatePodSpecSecurityContext,
    validateSysctls, ValidateHostSysctl, validateSeccompProfileField, ValidateAppArmorProfileField,
    validateWindowsSecurityContextOptions, validateWindowsHostProcessPod
Source: pkg/apis/core/validation/validation.go, validateHostUsers, validateLinux, validateWindows
Source: pkg/apis/core/validation/validation.go, ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations,
    validateSeccompAnnotationsAndFields, validateAppArmorAnnotationsAndFieldsMatchOnCreate
Source: staging/src/k8s.io/component-helpers/node/util/sysctl/namespace.go, GetNamespace
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubespread.kube.api import core, full
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import subdomain_faults
from kubespread.kube.validation.checks import among, between, named, on, relative_path, value_of
from kubespread.kube.validation.faults import FieldFault, duplicate, forbidden, invalid, one_of, required, too_long
from kubespread.kube.versions import KubeVersion

_LOCALHOST = "Localhost"
_PROFILES = (_LOCALHOST, "RuntimeDefault", "Unconfined")
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTLS_OF_IPC = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def containers_of(spec: core.PodSpec, path: str) -> Iterator[tuple[core.Container, str]]:
    """All containers and where they stand; init containers come first."""
    kinds: dict[str, Sequence[core.Container]] = {
        "initContainers": spec.init_containers,
        "containers": spec.containers,
        "ephemeralContainers": spec.ephemeral_containers if isinstance(spec, full.PodSpec) else (),
    }
    for kind, containers in kinds.items():
        yield from ((container, f"{path}.{kind}[{position}]") for position, container in enumerate(containers))


def _contexts_of(spec: full.PodSpec, path: str) -> list[tuple[str, full.SecurityContext, str]]:
    """Of all containers with their names, also of those that have none."""
    return [
        (container.name, container.security_context or full.SecurityContext(), f"{field}.securityContext")
        for container, field in containers_of(spec, path)
        if isinstance(container, full.Container)
    ]


def _user_ids(version: KubeVersion) -> int:
    return 2**32 - 1 if version.since(37) else 2**31 - 1


def pod_context_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """``path`` is that of the spec."""
    context, field = spec.security_context, f"{path}.securityContext"
    if isinstance(context, full.PodSecurityContext):
        number = between(0, _user_ids(version))
        for name in ("fsGroup", "runAsUser", "runAsGroup", "supplementalGroups"):
            yield from on(name, number)(context, field)
    if isinstance(spec, full.PodSpec) and spec.share_process_namespace and spec.host_pid:
        where = path if version.since(37) else field
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{where}.shareProcessNamespace", value=True, detail=detail)
    if isinstance(context, full.PodSecurityContext):
        yield from _sysctl_faults(context, spec, f"{field}.sysctls")
        yield from on("fsGroupChangePolicy", among("Always", "OnRootMismatch"))(context, field)
        yield from on("seccompProfile", _seccomp)(context, field)
        yield from on("windowsOptions", _windows_options)(context, field)
        yield from on("appArmorProfile", _app_armor)(context, field)
        yield from on("supplementalGroupsPolicy", among("Merge", "Strict"))(context, field)
        policies = ("MountOption", "Recursive") if version.has("SELinuxMount") else ("Recursive",)
        yield from on("seLinuxChangePolicy", among(*policies))(context, field)


def container_context_faults(
    context: full.SecurityContext | None, spec: core.PodSpec, path: str, version: KubeVersion
) -> Iterator[FieldFault]:
    if context is None:
        return
    for name in ("runAsUser", "runAsGroup"):
        yield from on(name, between(0, _user_ids(version)))(context, path)
    yield from one_of(f"{path}.procMount", context.proc_mount, ("Default", "Unmasked"))
    if context.proc_mount == "Unmasked" and spec.host_users is not False:
        yield invalid(f"{path}.procMount", context.proc_mount, "`hostUsers` must be false to use `Unmasked`")
    yield from on("seccompProfile", _seccomp)(context, path)
    if context.allow_privilege_escalation is False:
        said = "cannot set `allowPrivilegeEscalation` to false and"
        if context.privileged:
            yield invalid(path, context, f"{said} `privileged` to true")
        added = context.capabilities.add if context.capabilities is not None else []
        for _ in (name for name in added if name == "CAP_SYS_ADMIN"):
            yield invalid(path, context, f"{said} `capabilities.Add` CAP_SYS_ADMIN")
    yield from on("windowsOptions", _windows_options)(context, path)
    yield from on("appArmorProfile", _app_armor)(context, path)


def _sysctl_faults(context: full.PodSecurityContext, spec: core.PodSpec, path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, sysctl in enumerate(context.sysctls):
        name, field = sysctl.name, f"{path}[{position}].name"
        if not name:
            yield required(field)
        elif len(name.encode()) > 253 or not re.fullmatch(_SYSCTL, name):
            yield invalid(field, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$")
        elif name in names:
            yield duplicate(field, name)
        names.add(name)
        dotted = _dotted(name)
        if spec.host_network and dotted.startswith("net."):
            yield invalid(field, name, "may not be specified when 'hostNetwork' is true")
        elif spec.host_ipc and (dotted == "kernel.sem" or dotted.startswith(_SYSCTLS_OF_IPC)):
            yield invalid(field, name, "may not be specified when 'hostIPC' is true")


def _dotted(name: str) -> str:
    """Where a slash comes first, dots and slashes are the other way round."""
    first = next((char for char in name if char in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))


def _seccomp(profile: full.SeccompProfile, path: str) -> Iterator[FieldFault]:
    if profile.type:
        yield from one_of(f"{path}.type", profile.type, _PROFILES)
    else:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    name, field = profile.localhost_profile, f"{path}.localhostProfile"
    if profile.type == _LOCALHOST:
        if name is None:
            yield required(field, "must be set when seccomp type is Localhost")
        else:
            yield from relative_path(name, field)
    elif name is not None:
        yield invalid(field, profile, "can only be set when seccomp type is Localhost")


def _app_armor(profile: full.AppArmorProfile, path: str) -> Iterator[FieldFault]:
    name, field = profile.localhost_profile, f"{path}.localhostProfile"
    if profile.type == _LOCALHOST:
        if not name:
            yield required(field, "must be set when AppArmor type is Localhost")
        elif name != name.strip():
            yield invalid(field, name, "must not be padded with whitespace")
        if name is not None and len(name.encode()) > 4095:
            yield too_long(field, 4095)
    elif not profile.type:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    elif profile.type not in _PROFILES:
        yield from one_of(f"{path}.type", profile.type, _PROFILES)
    elif name is not None:
        yield invalid(field, name, "can only be set when AppArmor type is Localhost")


_DNS_NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf'[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_DNS_NAME}(?:\.{_DNS_NAME})*')
_NOT_OF_USERS = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def _windows_options(options: full.WindowsSecurityContextOptions, path: str) -> Iterator[FieldFault]:
    yield from on("gmsaCredentialSpecName", named(subdomain_faults))(options, path)
    spec, name = options.gmsa_credential_spec, options.run_as_user_name
    if spec == "":
        yield invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
    elif spec is not None and len(spec.encode()) > 64 * 1024:
        yield invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec size must be under 64 KiB")
    if name is not None:
        yield from (invalid(f"{path}.runAsUserName", name, detail) for detail in _user_name_faults(name))


def _user_name_faults(name: str) -> Iterator[str]:
    if not name:
        yield "runAsUserName cannot be an empty string"
    elif any(ord(char) < 32 or ord(char) == 127 for char in name):
        yield "runAsUserName cannot contain control characters"
    elif name.count("\\") > 1:
        yield "runAsUserName cannot contain more than one backslash"
    else:
        domain, backslash, user = name.rpartition("\\")
        if len(domain.encode()) >= 256:
            yield "runAsUserName's Domain length must be under 256 characters"
        if backslash and not _DOMAIN.fullmatch(domain):
            yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "runAsUserName's User cannot be empty"
        elif len(user.encode()) > 104:
            yield "runAsUserName's User length must not be longer than 104 characters"
        if user and not user.strip(". "):
            yield "runAsUserName's User cannot contain only periods or spaces"
        if _NOT_OF_USERS.search(user):
            yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def host_process_faults(spec: core.PodSpec, path: str) -> Iterator[FieldFault]:
    """All containers of a Windows pod are processes of the host, in its network, or none is."""
    of_pod = _host_process(spec.security_context)
    found = []
    for container, field in containers_of(spec, path):
        own = _host_process(container.security_context)
        if of_pod is not None and own is not None and of_pod != own:
            detail = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            yield invalid(f"{field}.securityContext.windowsOptions.hostProcess", own, detail)
        found.append(of_pod if own is None else own)
    if any(found):
        if not all(found):
            detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
            yield invalid(path, "", detail)
        if not spec.host_network:
            detail = "hostNetwork must be true if pod contains any hostProcess containers"
            yield invalid(f"{path}.hostNetwork", spec.host_network, detail)


def _host_process(context: core.CommonSecurityContext | None) -> bool | None:
    return context.windows_options.host_process if context is not None and context.windows_options else None


def host_user_faults(spec: core.PodSpec, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """A user namespace of the pod's own does not go with namespaces of the host."""
    if spec.host_users is not False:
        return
    detail = "when `hostUsers` is false"
    if spec.host_network and not version.has("UserNamespacesHostNetworkSupport"):
        yield forbidden(f"{path}.hostNetwork", detail)
    # These two paths begin like Go's fields.
    if spec.host_pid:
        yield forbidden(f"{path}.HostPID", detail)
    if spec.host_ipc:
        yield forbidden(f"{path}.HostIPC", detail)
    for container, field in containers_of(spec, path):
        if isinstance(container, full.Container) and container.volume_devices:
            yield forbidden(f"{field}.volumeDevices", detail)


_OF_LINUX_PODS = (
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)
_OF_LINUX_CONTAINERS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def system_faults(spec: full.PodSpec, path: str) -> Iterator[FieldFault]:
    """What only pods of the other operating system have."""
    name, of_pod = spec.os.name if spec.os is not None else "", spec.security_context or full.PodSecurityContext()
    contexts = _contexts_of(spec, path)
    if name == "linux":
        for _, context, field in (("", of_pod, f"{path}.securityContext"), *contexts):
            if context.windows_options is not None:
                yield forbidden(f"{field}.windowsOptions", "windows options cannot be set for a linux pod")
    elif name == "windows":
        detail = "cannot be set for a windows pod"
        for field in _OF_LINUX_PODS:
            *in_context, last = field.split(".")
            value = value_of(of_pod if in_context else spec, last)
            if value is not None and value != [] and (value is not False or last not in ("hostPID", "hostIPC")):
                yield forbidden(f"{path}.{field}", detail)
        for _, context, field in contexts:
            set_ones = (each for each in _OF_LINUX_CONTAINERS if value_of(context, each) is not None)
            yield from (forbidden(f"{field}.{each}", detail) for each in set_ones)


_SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_SECCOMP_NAMES = {"RuntimeDefault": ("runtime/default", "docker/default"), "Unconfined": ("unconfined",)}
_APP_ARMOR_NAMES = {"RuntimeDefault": ("runtime/default",), "Unconfined": ("unconfined",)}


def security_annotation_faults(annotations: Mapping[str, str], spec: core.PodSpec, path: str) -> Iterator[FieldFault]:
    for key, value in sorted(annotations.items()):
        if key != _SECCOMP_OF_POD and not key.startswith(_SECCOMP_OF_CONTAINER):
            continue
        if value.startswith(_LOCAL):
            yield from relative_path(value.removeprefix(_LOCAL), f"{path}.{key}")
        elif value not in ("runtime/default", "docker/default", "unconfined"):
            yield invalid(f"{path}.{key}", value, "must be a valid seccomp profile")
    names = {container.name for container, _ in containers_of(spec, "")}
    for key, value in sorted(annotations.items()):
        if not key.startswith(_APP_ARMOR):
            continue
        if (name := key.removeprefix(_APP_ARMOR)) not in names:
            yield invalid(f"{path}[{key}]", name, "container not found")
        if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCAL):
            yield invalid(f"{path}[{key}]", value, f"invalid AppArmor profile name: {quote(value)}")


def mismatched_annotation_faults(annotations: Mapping[str, str], spec: full.PodSpec, path: str) -> Iterator[FieldFault]:
    """Annotations that say something else than the fields that replaced them."""
    of_pod = spec.security_context or full.PodSecurityContext()
    pod_path = f"{path}.securityContext.seccompProfile"
    yield from _mismatch("seccomp", annotations.get(_SECCOMP_OF_POD), of_pod.seccomp_profile, _SECCOMP_NAMES, pod_path)
    contexts = _contexts_of(spec, path)
    for name, context, field in contexts:
        said = annotations.get(f"{_SECCOMP_OF_CONTAINER}{name}")
        yield from _mismatch("seccomp", said, context.seccomp_profile, _SECCOMP_NAMES, f"{field}.seccompProfile")
    if spec.os is None or spec.os.name != "windows":
        for name, context, field in contexts:
            said, profile = (
                annotations.get(f"{_APP_ARMOR}{name}"),
                context.app_armor_profile or of_pod.app_armor_profile,
            )
            yield from _mismatch("apparmor", said, profile, _APP_ARMOR_NAMES, f"{field}.appArmorProfile")


def _mismatch(
    what: str,
    annotation: str | None,
    profile: full.SeccompProfile | full.AppArmorProfile | None,
    names: Mapping[str, tuple[str, ...]],
    path: str,
) -> Iterator[FieldFault]:
    if annotation is None or profile is None:
        return
    is_local = profile.type == _LOCALHOST
    if annotation not in names.get(profile.type, (annotation,)) or (is_local and not annotation.startswith(_LOCAL)):
        yield forbidden(f"{path}.type", f"{what} type in annotation and field must match")
    elif is_local and annotation.removeprefix(_LOCAL) != profile.localhost_profile:
        yield forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")
