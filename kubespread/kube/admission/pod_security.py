"""What a namespace's PodSecurity level does not allow of a pod, in the words of the admission plugin.

Checks are those of the newest release, whatever version of a level a namespace names. AppArmor profiles and the hosts
of probes are not decoded, and of what volumes a stored pod has only those that scheduling or a drain reads.

Source: staging/src/k8s.io/pod-security-admission/policy/registry.go, NewEvaluator
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from kubespread.kube.api.core import (
    Capabilities,
    CommonSecurityContext,
    Namespace,
    Pod,
    PodSecurityContext,
    PodSpec,
    SecurityContext,
    Volume,
)
from kubespread.kube.gotext import quote

ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = ("baseline", "restricted")
_DEFAULT_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"})
_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
    }
)
_SECCOMP = ("RuntimeDefault", "Localhost")
_SECCOMP_TYPE = "securityContext.seccompProfile.type"
_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
        "image",
    }
)
"""The kinds that restricted allows."""


def level_of(namespace: Namespace) -> str:
    """The level that the namespace enforces, with its version: ``restricted:latest``; empty where all may pass."""
    labels = namespace.metadata.labels
    level = labels.get(ENFORCE, "")
    return f"{level}:{labels.get(f'{ENFORCE}-version', 'latest')}" if level in _LEVELS else ""


def violation(pod: Pod, namespace: Namespace) -> str:
    """Everything of the pod that the namespace does not allow; empty where it may pass."""
    level = level_of(namespace)
    broken = ", ".join(f"{reason} ({detail})" for reason, detail in _broken(pod.spec, level)) if level else ""
    return f"violates PodSecurity {quote(level)}: {broken}" if broken else ""


def _broken(spec: PodSpec, level: str) -> Iterator[tuple[str, str]]:
    """Reasons and details: what baseline forbids, then what restricted asks for."""
    is_restricted, checked = level.startswith("restricted"), _Contexts(spec)
    yield from _of_host(spec, checked, is_restricted=is_restricted)
    yield from _of_contexts(checked, is_restricted=is_restricted)
    if is_restricted:
        yield from _of_privileges(spec, checked)
        yield from _of_users(checked)
        if not checked.is_windows:
            yield from _of_seccomp(checked)


def _of_host(spec: PodSpec, checked: _Contexts, *, is_restricted: bool) -> Iterator[tuple[str, str]]:
    if not is_restricted:
        yield from _capabilities(checked, _DEFAULT_CAPABILITIES, "non-default capabilities")
    shared = {"hostNetwork": spec.host_network, "hostPID": spec.host_pid, "hostIPC": spec.host_ipc}
    if any(shared.values()):
        yield "host namespaces", ", ".join(f"{name}=true" for name, is_shared in shared.items() if is_shared)
    local = [volume.name for volume in spec.volumes if volume.host_path is not None]
    if local and not is_restricted:
        yield "hostPath volumes", _listed("volume", local)
    using = [container.name for container in checked.containers if any(port.host_port for port in container.ports)]
    if using:
        ports = sorted({str(port.host_port) for each in checked.containers for port in each.ports if port.host_port})
        numbers = f"{_noun('hostPort', ports)} {', '.join(ports)}"
        yield "hostPort", f"{_listed('container', using)} {_verb('use', using)} {numbers}"


def _of_contexts(checked: _Contexts, *, is_restricted: bool) -> Iterator[tuple[str, str]]:
    if who := checked.by_containers(lambda context: context.privileged):
        yield "privileged", f"{who} must not set securityContext.privileged=true"
    mounts = sorted({each.proc_mount or "Default" for each in checked.of_containers} - {"Default"})
    if mounts and not checked.is_relaxed:
        who = checked.by_containers(lambda context: context.proc_mount in mounts)
        yield "procMount", f"{who} must not set securityContext.procMount to {_quoted(mounts)}"
    if who := checked.by_any(lambda context: _selinux([context])):
        yield "seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {_selinux(checked.all)}"
    if not is_restricted and (who := checked.by_any(lambda context: _seccomp(context) == "Unconfined")):
        yield "seccompProfile", f'{who} must not set {_SECCOMP_TYPE} to "Unconfined"'
    if sysctls := [sysctl.name for sysctl in checked.of_pod.sysctls if sysctl.name not in _SYSCTLS]:
        yield "forbidden sysctls", ", ".join(sysctls)
    if who := checked.by_any(lambda context: context.windows_options and context.windows_options.host_process):
        yield "hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true"


def _of_privileges(spec: PodSpec, checked: _Contexts) -> Iterator[tuple[str, str]]:
    if not checked.is_windows:
        if who := checked.by_containers(lambda context: context.allow_privilege_escalation is not False):
            yield "allowPrivilegeEscalation != false", f"{who} must set securityContext.allowPrivilegeEscalation=false"
        keeping = checked.by_containers(lambda context: "ALL" not in _of(context).drop)
        dropping = [f'{keeping} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
        adding = [detail for _, detail in _capabilities(checked, frozenset({"NET_BIND_SERVICE"}), "")]
        if details := [*dropping, *adding]:
            yield "unrestricted capabilities", "; ".join(details)
    restricted = [volume for volume in spec.volumes if _restricted_type(volume)]
    if restricted:
        kinds = sorted({_restricted_type(volume) for volume in restricted})
        names = [volume.name for volume in restricted]
        types = f"{_noun('restricted volume type', kinds)} {_quoted(kinds)}"
        yield "restricted volume types", f"{_listed('volume', names)} {_verb('use', names)} {types}"


def _of_users(checked: _Contexts) -> Iterator[tuple[str, str]]:
    if not checked.is_relaxed:
        if who := checked.by_any(lambda context: context.run_as_non_root is False):
            yield "runAsNonRoot != true", f"{who} must not set securityContext.runAsNonRoot=false"
        elif not checked.of_pod.run_as_non_root and (
            who := checked.by_containers(lambda each: not each.run_as_non_root)
        ):
            yield "runAsNonRoot != true", f"pod or {who} must set securityContext.runAsNonRoot=true"
        if who := checked.by_any(lambda context: context.run_as_user == 0):
            yield "runAsUser=0", f"{who} must not set runAsUser=0"


def _of_seccomp(checked: _Contexts) -> Iterator[tuple[str, str]]:
    bad = sorted({profile for each in checked.all if (profile := _seccomp(each)) not in (None, *_SECCOMP)})
    if who := checked.by_any(lambda context: _seccomp(context) in bad):
        yield "seccompProfile", f"{who} must not set {_SECCOMP_TYPE} to {_quoted(bad)}"
    elif _seccomp(checked.of_pod) is None and (who := checked.by_containers(lambda each: _seccomp(each) is None)):
        yield "seccompProfile", f'pod or {who} must set {_SECCOMP_TYPE} to "RuntimeDefault" or "Localhost"'


def _capabilities(checked: _Contexts, allowed: frozenset[str], reason: str) -> Iterator[tuple[str, str]]:
    added = sorted({name for context in checked.of_containers for name in _of(context).add} - allowed)
    if added:
        who = checked.by_containers(lambda context: not allowed.issuperset(_of(context).add))
        yield reason, f"{who} must not include {_quoted(added)} in securityContext.capabilities.add"


def _of(context: SecurityContext) -> Capabilities:
    return context.capabilities or Capabilities()


class _Contexts:
    """The security contexts of a pod, and who of it has one of a kind."""

    def __init__(self, spec: PodSpec) -> None:
        self.containers = [*spec.init_containers, *spec.containers]
        self.of_containers = [container.security_context or SecurityContext() for container in self.containers]
        self.of_pod = spec.security_context or PodSecurityContext()
        self.all: list[CommonSecurityContext] = [self.of_pod, *self.of_containers]
        self.is_windows = spec.os is not None and spec.os.name == "windows"
        self.is_relaxed = spec.host_users is False
        """In a user namespace its root is nobody's."""

    def by_containers(self, is_meant: Callable[[SecurityContext], object]) -> str:
        pairs = zip(self.containers, self.of_containers, strict=True)
        names = [container.name for container, context in pairs if is_meant(context)]
        return _listed("container", names) if names else ""

    def by_any(self, is_meant: Callable[[CommonSecurityContext], object]) -> str:
        return " and ".join(filter(None, ("pod" if is_meant(self.of_pod) else "", self.by_containers(is_meant))))


def _seccomp(context: CommonSecurityContext) -> str | None:
    return context.seccomp_profile.type if context.seccomp_profile is not None else None


def _selinux(contexts: Sequence[CommonSecurityContext]) -> str:
    """What their SELinux options may not be."""
    options = [context.se_linux_options for context in contexts if context.se_linux_options is not None]
    types = sorted({option.type for option in options} - _SELINUX_TYPES)
    parts = [f"{_noun('type', types)} {_quoted(types)}"] if types else []
    parts += ["user may not be set"] if any(option.user for option in options) else []
    parts += ["role may not be set"] if any(option.role for option in options) else []
    return "; ".join(parts)


def _restricted_type(volume: Volume) -> str:
    """The kind of a volume that restricted does not allow, empty where it does."""
    fields = msgspec.structs.fields(Volume)
    kinds = (field.encode_name for field in fields if field.name != "name" and getattr(volume, field.name) is not None)
    return next((kind for kind in kinds if kind not in _VOLUMES), "")


def _listed(noun: str, names: Sequence[str]) -> str:
    return f"{_noun(noun, names)} {_quoted(names)}"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(quote, names))


def _noun(noun: str, of: Sequence[str]) -> str:
    return noun if len(of) == 1 else f"{noun}s"


def _verb(verb: str, of: Sequence[str]) -> str:
    return f"{verb}s" if len(of) == 1 else verb
