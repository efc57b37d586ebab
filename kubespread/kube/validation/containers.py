"""Validation of containers of all kinds, in the order of the API server's checks.

Source: pkg/apis/core/validation/validation.go, validateContainers, validateInitContainers, validateEphemeralContainers,
    validateContainerCommon, validateContainerOnlyForPod
Source: pkg/apis/core/validation/validation.go, validateContainerPorts, checkHostPortConflicts, ValidateEnv,
    validateEnvVarValueFrom, ValidateEnvFrom, ValidateVolumeMounts, validateMountPropagation,
    validateMountRecursiveReadOnly, ValidateVolumeDevices, validateResizePolicy
Source: pkg/apis/core/validation/validation.go, validateLifecycle, validateStopSignal, validateHandler, validateProbe,
    validateContainerRestartPolicy, validateInitContainerRestartPolicy
Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsValidPortName, IsRelaxedEnvVarName,
    IsConfigMapKey, IsHTTPHeaderName
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from kubespread.kube.api import core, full
from kubespread.kube.api.meta import attributes_of
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.kube.validation.checks import (
    Check,
    all_of,
    among,
    between,
    named,
    needs,
    not_negative,
    on,
    relative_path,
    value_of,
    without_backsteps,
)
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_found,
    one_of,
    required,
    too_many,
)
from kubespread.kube.validation.resources import resource_faults
from kubespread.kube.validation.security import container_context_faults
from kubespread.kube.validation.volumes import field_ref_faults, resource_ref_faults
from kubespread.kube.versions import KubeVersion

ALWAYS = "Always"
PULL_POLICIES = (ALWAYS, "IfNotPresent", "Never")


class Surrounding(Struct, frozen=True):
    """What of a pod its containers are checked against."""

    spec: core.PodSpec
    volumes: Mapping[str, core.Volume]
    """The faultless ones."""
    version: KubeVersion

    @property
    def grace_period(self) -> int:
        seconds = self.spec.termination_grace_period_seconds or 0
        return 1 if seconds < 0 else seconds


def containers_faults(pod: Surrounding, path: str) -> Iterator[FieldFault]:
    """Containers, then init containers, then ephemeral ones; a name may be used once among all."""
    spec, names = pod.spec, set[str]()
    if not spec.containers:
        yield required(f"{path}.containers")
    for position, container in enumerate(spec.containers):
        field = f"{path}.containers[{position}]"
        yield from _common_faults(container, pod, field)
        yield from _name_taken(container, names, field)
        yield from _lifecycle_faults(container, pod, field)
        if pod.version.has(_RESTART_RULES):
            yield from _restart_faults(container, pod, field)
        elif container.restart_policy is not None and not pod.version.lacks(_RESTART_RULES):
            yield forbidden(f"{field}.restartPolicy", "may not be set for non-init containers")
    yield from _host_port_faults(spec.containers, f"{path}.containers")
    for position, container in enumerate(spec.init_containers):
        field = f"{path}.initContainers[{position}]"
        yield from _common_faults(container, pod, field)
        yield from _init_restart_faults(container, pod, field)
        yield from _name_taken(container, names, field)
        # Init containers run one by one, so each is alone with its ports, and the API server counts it as the first.
        yield from _host_port_faults([container], f"{path}.initContainers")
        yield from _init_lifecycle_faults(container, pod, field)
    if isinstance(spec, full.PodSpec):
        others = frozenset(names)
        for position, ephemeral in enumerate(spec.ephemeral_containers):
            yield from _ephemeral_faults(ephemeral, pod, names, others, f"{path}.ephemeralContainers[{position}]")


def _common_faults(container: core.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    yield from all_of(_NAME_AND_IMAGE, container, path)
    if isinstance(container, full.Container):
        policy = container.termination_message_policy or None
        yield from one_of(f"{path}.terminationMessagePolicy", policy, ("File", "FallbackToLogsOnError"))
    yield from _port_faults(container.ports, path)
    if isinstance(container, full.Container):
        yield from all_of(_VARIABLES, container, path)
        yield from _env_from_faults(container, f"{path}.envFrom")
        yield from _mount_faults(container, pod, f"{path}.volumeMounts")
        yield from _device_faults(container, pod, f"{path}.volumeDevices")
        yield from one_of(f"{path}.imagePullPolicy", container.image_pull_policy or None, PULL_POLICIES)
    claims = [claim.name for claim in pod.spec.resource_claims]
    yield from resource_faults(container.resources, f"{path}.resources", claims, pod.version)
    if isinstance(container, full.Container):
        yield from _resize_faults(container, pod, f"{path}.resizePolicy")
        yield from container_context_faults(
            container.security_context, pod.spec, f"{path}.securityContext", pod.version
        )


def _name_taken(container: core.Container, names: set[str], path: str) -> Iterator[FieldFault]:
    if container.name in names:
        yield duplicate(f"{path}.name", container.name)
    if container.name:
        names.add(container.name)


def image_faults(spec: core.PodSpec, path: str) -> Iterator[FieldFault]:
    """Of pods, not of templates."""
    for kind, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for position, container in enumerate(containers):
            yield from _padded_image(container, f"{path}.{kind}[{position}]")


def _padded_image(container: core.Container, path: str) -> Iterator[FieldFault]:
    if container.image != container.image.strip():
        yield invalid(f"{path}.image", container.image, "must not have leading or trailing whitespace")


_PORT_NUMBER = between(1, 65535)
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")


def _port_name_rule(name: str) -> Iterator[str]:
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not _LETTER.search(name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def _port_faults(ports: Sequence[core.ContainerPort], path: str) -> Iterator[FieldFault]:
    names: set[str] = set()
    for position, port in enumerate(ports):
        field = f"{path}.ports[{position}]"
        faults = invalid_each(f"{field}.name", port.name, _port_name_rule(port.name)) if port.name else []
        yield from faults
        if port.name and not faults:
            if port.name in names:
                yield duplicate(f"{field}.name", port.name)
            names.add(port.name)
        if port.container_port == 0:
            yield required(f"{field}.containerPort")
        else:
            yield from _PORT_NUMBER(port.container_port, f"{field}.containerPort")
        if port.host_port:
            yield from _PORT_NUMBER(port.host_port, f"{field}.hostPort")
        yield from one_of(f"{field}.protocol", port.protocol or None, ("SCTP", "TCP", "UDP"))


def _host_port_faults(containers: Sequence[core.Container], path: str) -> Iterator[FieldFault]:
    """Containers that run together may not ask for one host port twice; here ``0.0.0.0`` and no address differ."""
    used: set[str] = set()
    for position, container in enumerate(containers):
        for index, port in enumerate(container.ports):
            if port.host_port == 0:
                continue
            claim = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if claim in used:
                yield duplicate(f"{path}[{position}].ports[{index}].hostPort", claim)
            used.add(claim)


_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_HEADER = r"[-A-Za-z0-9]+"
FIELDS_OF_VARIABLES = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)


def _variable_rule(name: str) -> Iterator[str]:
    if any(not " " <= char <= "~" or char == "=" for char in name):
        yield "a valid environment variable name must consist only of printable ASCII characters other than '='"


def _config_key_rule(key: str) -> Iterator[str]:
    if len(key.encode()) > 253:
        yield "must be no more than 253 characters"
    if not re.fullmatch(_CONFIG_KEY, key):
        yield (
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            f"'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
        )
    if key in (".", ".."):
        yield f"must not be '{key}'"
    elif key.startswith(".."):
        yield "must not start with '..'"


def _header_rule(name: str) -> Iterator[str]:
    if not re.fullmatch(_HEADER, name):
        yield (
            "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
            f"validation is '{_HEADER}')"
        )


def _key_ref(ref: full.KeySelector, path: str) -> Iterator[FieldFault]:
    yield from invalid_each(f"{path}.name", ref.name, subdomain_faults(ref.name))
    yield from all_of((needs("key"), on("key", named(_config_key_rule))), ref, path)


_FILE_KEY_REF = (
    needs("key"),
    on("key", named(_variable_rule)),
    needs("volumeName"),
    on("volumeName", named(dns_label_faults)),
    needs("path"),
    on("path", without_backsteps),
)
_VARIABLE_SOURCES: Mapping[str, tuple[Check, ...]] = {
    "fieldRef": (field_ref_faults(FIELDS_OF_VARIABLES),),
    "resourceFieldRef": (resource_ref_faults,),
    "configMapKeyRef": (_key_ref,),
    "secretKeyRef": (_key_ref,),
    "fileKeyRef": _FILE_KEY_REF,
}


def _value_from(variable: full.EnvVar, path: str) -> Iterator[FieldFault]:
    source, field = variable.value_from, f"{path}.valueFrom"
    if source is None:
        return
    present = [name for name in _VARIABLE_SOURCES if value_of(source, name) is not None]
    for name in present:
        yield from all_of(_VARIABLE_SOURCES[name], value_of(source, name), f"{field}.{name}")
    if not present:
        *names, last = (f"`{name}`" for name in _VARIABLE_SOURCES)
        yield invalid(field, "", f"must specify one of: {', '.join(names)} or {last}")
    elif variable.value:
        yield invalid(field, "", "may not be specified when `value` is not empty")
    elif len(present) > 1:
        yield invalid(field, "", "may not have more than one field specified at a time")


_VARIABLES = (on("env", needs("name"), on("name", named(_variable_rule)), _value_from),)
_OF_OBJECT = (needs("name"), on("name", named(subdomain_faults)))


def _env_from_faults(container: full.Container, path: str) -> Iterator[FieldFault]:
    """A source that names none or two objects is told of at the list."""
    for position, source in enumerate(container.env_from):
        field = f"{path}[{position}]"
        yield from on("prefix", named(_variable_rule))(source, field)
        yield from on("configMapRef", *_OF_OBJECT)(source, field)
        yield from on("secretRef", *_OF_OBJECT)(source, field)
        count = (source.config_map_ref is not None) + (source.secret_ref is not None)
        if count == 0:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif count > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


def _mount_faults(container: full.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    devices = {device.name: device.device_path for device in container.volume_devices}
    taken: set[str] = set()
    for position, mount in enumerate(container.volume_mounts):
        field = f"{path}[{position}]"
        yield from needs("name")(mount, field)
        if mount.name not in pod.volumes:
            yield not_found(f"{field}.name", mount.name)
        yield from needs("mountPath")(mount, field)
        if mount.mount_path in taken:
            yield invalid(f"{field}.mountPath", mount.mount_path, "must be unique")
        taken.add(mount.mount_path)
        if mount.name in devices:
            yield invalid(f"{field}.name", mount.name, "must not already exist in volumeDevices")
        if mount.mount_path in devices.values():
            detail = "must not already exist as a path in volumeDevices"
            yield invalid(f"{field}.mountPath", mount.mount_path, detail)
        # From here on the API server leaves the index out of most paths.
        yield from on("subPath", relative_path)(mount, path)
        if mount.sub_path and mount.sub_path_expr:
            yield invalid(f"{field}.subPathExpr", mount.sub_path_expr, "subPathExpr and subPath are mutually exclusive")
        yield from on("subPathExpr", relative_path)(mount, path)
        yield from _propagation_faults(mount, container, path)


def _propagation_faults(mount: full.VolumeMount, container: full.Container, path: str) -> Iterator[FieldFault]:
    context, propagation = container.security_context, mount.mount_propagation
    yield from one_of(f"{path}.mountPropagation", propagation, ("Bidirectional", "HostToContainer", "None"))
    if propagation == "Bidirectional" and not (context and context.privileged):
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(f"{path}.mountPropagation", detail)
    field = f"{path}.recursiveReadOnly"
    if mount.recursive_read_only in ("Enabled", "IfPossible"):
        if not mount.read_only:
            yield forbidden(field, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield forbidden(field, "may only be specified when mountPropagation is None or not specified")
    else:
        yield from one_of(field, mount.recursive_read_only, ("Disabled", "Enabled", "IfPossible"))


def _device_faults(container: full.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    mounts = {mount.name: mount.mount_path for mount in container.volume_mounts}
    names: set[str] = set()
    taken: set[str] = set()
    for position, device in enumerate(container.volume_devices):
        name, place, field = device.name, device.device_path, f"{path}[{position}]"
        yield from needs("name")(device, field)
        if name and name in names:
            yield invalid(f"{field}.name", name, "must be unique")
        volume = pod.volumes.get(name)
        if volume is None:
            yield not_found(f"{field}.name", name)
        elif volume.persistent_volume_claim is None and volume.ephemeral is None:
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{field}.name", name, detail)
        yield from needs("devicePath")(device, field)
        if place in taken:
            yield invalid(f"{field}.devicePath", place, "must be unique")
        if ".." in place.split("/"):
            yield invalid(f"{field}.devicePath", place, "can not contain backsteps ('..')")
        else:
            taken.add(place)
        if name in mounts:
            yield invalid(f"{field}.name", name, "must not already exist in volumeMounts")
        if place in mounts.values():
            yield invalid(f"{field}.devicePath", place, "must not already exist as a path in volumeMounts")
        names.add(name)


def _resize_faults(container: full.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    seen: set[str] = set()
    for position, policy in enumerate(container.resize_policy):
        if policy.resource_name in seen:
            yield duplicate(f"{path}[{position}]", policy.resource_name)
        seen.add(policy.resource_name)
        yield from _chosen(policy.resource_name, ("cpu", "memory"), path)
        yield from _chosen(policy.restart_policy, ("NotRequired", "RestartContainer"), path)
        if pod.spec.restart_policy == "Never" and policy.restart_policy != "NotRequired":
            detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid(path, policy.restart_policy, detail)


def _chosen(value: str, supported: Sequence[str], path: str) -> list[FieldFault]:
    return one_of(path, value, supported) if value else [required(path)]


def _port_of_handler(value: int | str, path: str) -> Iterable[FieldFault]:
    return invalid_each(path, value, _port_name_rule(value)) if isinstance(value, str) else _PORT_NUMBER(value, path)


def _port(action: full.HTTPGetAction | full.TCPSocketAction | full.GRPCAction, path: str) -> Iterable[FieldFault]:
    return _port_of_handler(action.port, f"{path}.port")


def _headers(action: full.HTTPGetAction, path: str) -> Iterator[FieldFault]:
    for header in action.http_headers:
        yield from invalid_each(f"{path}.httpHeaders", header.name, _header_rule(header.name))


_HANDLERS: Mapping[str, tuple[Check, ...]] = {
    "exec": (needs("command"),),
    "httpGet": (_port, on("scheme", among("HTTP", "HTTPS")), _headers),
    "tcpSocket": (_port,),
    "grpc": (_port,),
    "sleep": (),
}


def _handler_faults(handler: full.Probe | full.LifecycleHandler, grace_period: int, path: str) -> Iterator[FieldFault]:
    present = [name for name in _HANDLERS if name in attributes_of(type(handler)) and value_of(handler, name)]
    if not present:
        yield required(path, "must specify a handler type")
    for name in present[:1]:
        yield from all_of(_HANDLERS[name], value_of(handler, name), f"{path}.{name}")
        if isinstance(handler, full.LifecycleHandler) and name == "sleep" and handler.sleep is not None:
            seconds = handler.sleep.seconds
            if not 0 <= seconds <= grace_period:
                detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
                yield invalid(f"{path}.sleep", seconds, detail)
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in present[1:])


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SECONDS_AND_THRESHOLDS = tuple(
    on(name, not_negative)
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
)


def _probe_faults(probe: full.Probe, name: str, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    yield from _handler_faults(probe, pod.grace_period, path)
    yield from all_of(_SECONDS_AND_THRESHOLDS, probe, path)
    seconds, field = probe.termination_grace_period_seconds, f"{path}.terminationGracePeriodSeconds"
    if seconds is not None and seconds <= 0:
        yield invalid(field, seconds, "must be greater than 0")
    if name == "readinessProbe":
        if seconds is not None:
            yield invalid(field, seconds, "must not be set for readinessProbes")
    elif probe.success_threshold not in (0, 1):
        yield invalid(f"{path}.successThreshold", probe.success_threshold, "must be 1")


_NUMBERED = (*(f"RTMAX-{number}" for number in range(1, 15)), *(f"RTMIN+{number}" for number in range(1, 16)))
_OF_LINUX = (
    "ABRT",
    "ALRM",
    "BUS",
    "CHLD",
    "CLD",
    "CONT",
    "FPE",
    "HUP",
    "ILL",
    "INT",
    "IO",
    "IOT",
    "KILL",
    "PIPE",
    "POLL",
    "PROF",
    "PWR",
    "QUIT",
    "RTMAX",
    "RTMIN",
    "SEGV",
    "STKFLT",
    "STOP",
    "SYS",
    "TERM",
    "TRAP",
    "TSTP",
    "TTIN",
    "TTOU",
    "URG",
    "USR1",
    "USR2",
    "VTALRM",
    "WINCH",
    "XCPU",
    "XFSZ",
    *_NUMBERED,
)
_SIGNALS = {"windows": ("SIGKILL", "SIGTERM"), "linux": tuple(sorted(f"SIG{name}" for name in _OF_LINUX))}


def _lifecycle_faults(container: core.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    if not isinstance(container, full.Container):
        return
    lifecycle, field = container.lifecycle, f"{path}.lifecycle"
    if lifecycle is not None:
        if lifecycle.post_start is not None:
            yield from _handler_faults(lifecycle.post_start, pod.grace_period, f"{field}.postStart")
        if lifecycle.pre_stop is not None:
            yield from _handler_faults(lifecycle.pre_stop, pod.grace_period, f"{field}.preStop")
        if lifecycle.stop_signal is not None and pod.version.has("ContainerStopSignals"):
            if pod.spec.os is None:
                detail = "may not be set for containers with empty `spec.os.name`"
                yield forbidden(f"{field}.stopSignal", detail)
            elif pod.spec.os.name in _SIGNALS:
                yield from one_of(f"{field}.stopSignal", lifecycle.stop_signal, _SIGNALS[pod.spec.os.name])
    for name in _PROBES:
        if (probe := value_of(container, name)) is not None:
            yield from _probe_faults(probe, name, pod, f"{path}.{name}")


def _is_dropped(container: full.Container, name: str, version: KubeVersion) -> bool:
    """True if the field called ``name`` is a lifecycle that is empty without its stop signal, which is not stored."""
    lifecycle = container.lifecycle
    if name != "lifecycle" or lifecycle is None or lifecycle.stop_signal is None or version.has("ContainerStopSignals"):
        return False
    return lifecycle.post_start is None and lifecycle.pre_stop is None


def _init_lifecycle_faults(container: core.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    """Only sidecars live long enough for probes."""
    is_sidecar = container.restart_policy == ALWAYS
    if is_sidecar:
        yield from _lifecycle_faults(container, pod, path)
    if not isinstance(container, full.Container) or is_sidecar:
        return
    for name in ("lifecycle", *_PROBES):
        if value_of(container, name) is not None and not _is_dropped(container, name, pod.version):
            yield forbidden(f"{path}.{name}", "may not be set for init containers without restartPolicy=Always")
    for position, policy in enumerate(container.resize_policy if pod.version.since(36) else ()):
        if policy.restart_policy == "RestartContainer":
            detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield invalid(f"{path}.resizePolicy[{position}].restartPolicy", policy.restart_policy, detail)


_RESTART_RULES = "ContainerRestartRules"
_RESTART_ALL = "RestartAllContainersOnContainerExits"


def _restart_faults(container: core.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    policy, rules = container.restart_policy, container.restart_policy_rules
    if policy is None and rules:
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    yield from one_of(f"{path}.restartPolicy", policy, (ALWAYS, "Never", "OnFailure"))
    if len(rules) > 20:
        yield too_many(f"{path}.restartPolicyRules", len(rules), 20)
    actions = ("Restart", "RestartAllContainers") if pod.version.has(_RESTART_ALL) else ("Restart",)
    for position, rule in enumerate(rules):
        field = f"{path}.restartPolicyRules[{position}]"
        yield from one_of(f"{field}.action", rule.action, actions)
        if isinstance(rule, full.ContainerRestartRule):
            if rule.exit_codes is None:
                yield required(f"{field}.exitCodes", "must be specified")
                continue
            yield from one_of(f"{field}.exitCodes.operator", rule.exit_codes.operator, ("In", "NotIn"))
            if len(rule.exit_codes.values) > 255:
                yield too_many(f"{field}.exitCodes.values", len(rule.exit_codes.values), 255)


def _init_restart_faults(container: core.Container, pod: Surrounding, path: str) -> Iterator[FieldFault]:
    policy = container.restart_policy
    if not pod.version.has(_RESTART_RULES):
        yield from one_of(f"{path}.restartPolicy", policy, (ALWAYS,))
    elif policy != ALWAYS or pod.version.has(_RESTART_ALL):
        # Where rules have no policy, that is all that is said of them.
        yield from islice(_restart_faults(container, pod, path), 1 if policy is None else None)
    elif container.restart_policy_rules:
        detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
        yield forbidden(f"{path}.restartPolicyRules", detail)


_NOT_OF_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


def _ephemeral_faults(
    container: full.EphemeralContainer, pod: Surrounding, names: set[str], others: Collection[str], path: str
) -> Iterator[FieldFault]:
    yield from _common_faults(container, pod, path)
    yield from _padded_image(container, path)
    yield from _name_taken(container, names, path)
    if container.target_container_name and container.target_container_name not in others:
        yield not_found(f"{path}.targetContainerName", container.target_container_name)
    detail = "cannot be set for an Ephemeral Container"
    unset = full.EphemeralContainer()
    for name in _NOT_OF_EPHEMERAL:
        if value_of(container, name) != value_of(unset, name) and not _is_dropped(container, name, pod.version):
            yield forbidden(f"{path}.{name}", detail)
    for position, mount in enumerate(container.volume_mounts):
        for name in ("subPath", "subPathExpr"):
            if value_of(mount, name):
                yield forbidden(f"{path}.volumeMounts[{position}].{name}", detail)


_NAME_AND_IMAGE = (needs("name"), on("name", named(dns_label_faults)), needs("image"))
