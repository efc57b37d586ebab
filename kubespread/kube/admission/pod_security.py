"""The fields of a pod that the PodSecurity level of its namespace does not allow.

The checks are the newest release's, whatever version of a level a namespace names. AppArmor profiles and the hosts of
probes are not decoded, nor are volumes of a stored pod, unless scheduling or a drain reads them.

Source: staging/src/k8s.io/pod-security-admission/policy/registry.go, NewEvaluator
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kubespread.kube.api import core
from kubespread.kube.gotext import quote

ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = ("baseline", "restricted")
_SECCOMP = ("RuntimeDefault", "Localhost")
_ALLOWED: Mapping[str, Sequence[str]] = tomllib.loads(
    Path(__file__).with_name("pod_security.toml").read_text(encoding="utf-8")
)


def violation(pod: core.Pod, namespace: core.Namespace) -> str:
    """Everything of the pod that the namespace does not allow; empty if it may pass."""
    labels = namespace.metadata.labels
    level = labels.get(ENFORCE, "")
    broken = ", ".join(_violations(pod.spec, is_restricted=level == "restricted")) if level in _LEVELS else ""
    enforced = f"{level}:{labels.get(f'{ENFORCE}-version', 'latest')}"
    return f"violates PodSecurity {quote(enforced)}: {broken}" if broken else ""


def _violations(spec: core.PodSpec, *, is_restricted: bool) -> Iterator[str]:
    """Yield the fields that the baseline level forbids, and with ``is_restricted`` also the restricted level."""
    of_pod = spec.security_context or core.PodSecurityContext()
    containers = [
        (f"{field}[{place}]", container)
        for field, listed in (("initContainers", spec.init_containers), ("containers", spec.containers))
        for place, container in enumerate(listed)
    ]
    empty = core.SecurityContext()
    own = [(f"{path}.securityContext", container.security_context or empty) for path, container in containers]
    is_exempt = is_restricted and spec.os is not None and spec.os.name == "windows"
    shared = {"hostNetwork": spec.host_network, "hostPID": spec.host_pid, "hostIPC": spec.host_ipc}
    yield from (f"{name}: true" for name, is_shared in shared.items() if is_shared)
    for place, kind in enumerate(map(_kind, spec.volumes)):
        if kind == "hostPath" or (is_restricted and kind not in ("", *_ALLOWED["volumes"])):
            yield f"volumes[{place}].{kind}"
    for path, container in containers:
        yield from (f"{path}.ports: hostPort {port.host_port}" for port in container.ports if port.host_port)
    for name in (sysctl.name for sysctl in of_pod.sysctls):
        if name not in _ALLOWED["sysctls"]:
            yield f"securityContext.sysctls: {name}"
    contexts: list[tuple[str, core.CommonSecurityContext]] = [("securityContext", of_pod), *own]
    for path, context in contexts:
        yield from (f"{path}.{fault}" for fault in _of_any(context, has_profile=not is_exempt))
    for path, context in own:
        allowed = None if is_exempt else _ALLOWED["restricted-capabilities" if is_restricted else "capabilities"]
        yield from (f"{path}.{fault}" for fault in _of_container(context, spec, allowed))
        if is_restricted and not is_exempt:
            yield from (f"{path}.{fault}" for fault in _lacking(context, of_pod))
    if is_restricted and spec.host_users is not False:
        yield from _of_users(contexts)


def _of_any(context: core.CommonSecurityContext, *, has_profile: bool) -> Iterator[str]:
    options, profile, windows = context.se_linux_options, context.seccomp_profile, context.windows_options
    if options is not None:
        if options.type not in _ALLOWED["selinux-types"]:
            yield f"seLinuxOptions.type: {options.type}"
        yield from (f"seLinuxOptions.{name}" for name in ("user", "role") if getattr(options, name))
    if has_profile and profile is not None and profile.type not in _SECCOMP:
        yield f"seccompProfile.type: {profile.type}"
    if windows is not None and windows.host_process:
        yield "windowsOptions.hostProcess: true"


def _of_container(context: core.SecurityContext, spec: core.PodSpec, allowed: Sequence[str] | None) -> Iterator[str]:
    """``allowed`` are the capabilities that it may add, None: any."""
    if context.privileged:
        yield "privileged: true"
    # In a user namespace its root is nobody's.
    if context.proc_mount not in (None, "", "Default") and spec.host_users is not False:
        yield f"procMount: {context.proc_mount}"
    added = context.capabilities.add if context.capabilities is not None and allowed is not None else ()
    yield from (f"capabilities.add: {name}" for name in added if name not in (allowed or ()))


def _lacking(context: core.SecurityContext, of_pod: core.PodSecurityContext) -> Iterator[str]:
    """Yield fields that the restricted level requires of a container and that are not set."""
    if context.allow_privilege_escalation is not False:
        yield "allowPrivilegeEscalation: false is required"
    if context.capabilities is None or "ALL" not in context.capabilities.drop:
        yield "capabilities.drop: ALL is required"
    if context.seccomp_profile is None and of_pod.seccomp_profile is None:
        yield f"seccompProfile.type: {' or '.join(_SECCOMP)} is required, here or in the pod"


def _of_users(contexts: Sequence[tuple[str, core.CommonSecurityContext]]) -> Iterator[str]:
    (_, of_pod), *_ = contexts
    for path, context in contexts:
        is_root = context.run_as_non_root is False
        if is_root or not (of_pod.run_as_non_root or context.run_as_non_root or context is of_pod):
            yield f"{path}.runAsNonRoot: true is required{'' if is_root else ', here or in the pod'}"
        if context.run_as_user == 0:
            yield f"{path}.runAsUser: 0"


def _kind(volume: core.Volume) -> str:
    """The kind of a volume, empty where it is not decoded."""
    names = (field.encode_name for field in msgspec.structs.fields(volume) if getattr(volume, field.name) is not None)
    return next((name for name in names if name != "name"), "")
