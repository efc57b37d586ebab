"""What PodSecurity says of pods that a namespace does not allow."""

from __future__ import annotations

import msgspec
import pytest

from kubespread.kube.admission.pod_security import violation
from kubespread.kube.api.core import Namespace, Pod
from tests.builders import Data

ENFORCE = "pod-security.kubernetes.io/enforce"
SAFE: Data = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def of(*contexts: Data | None, **spec: object) -> Data:
    """Containers a, b and so on with these security contexts."""
    containers = [
        {"name": name, "image": "x", **({} if context is None else {"securityContext": context})}
        for name, context in zip("abc", contexts, strict=False)
    ]
    return {"containers": containers, **spec}


NONE = (
    "containers[0].securityContext.allowPrivilegeEscalation: false is required, containers[0].securityContext.capabilities.drop: "
    "ALL is required, containers[0].securityContext.seccompProfile.type: RuntimeDefault or Localhost is required, here or in the "
    "pod, containers[0].securityContext.runAsNonRoot: true is required, here or in the pod"
)
HOST = {"hostPath": {"path": "/x"}}
CASES: dict[str, tuple[str, Data, str]] = {
    "nothing enforced": ("privileged", of({"privileged": True}), ""),
    "a plain pod in baseline": ("baseline", of(None), ""),
    "a plain pod in restricted": ("restricted", of(None), NONE),
    "a safe pod in restricted": ("restricted", of(SAFE, SAFE), ""),
    "a safe pod whose pod says half of it": (
        "restricted",
        of(
            {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
            securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "Localhost"}},
        ),
        "",
    ),
    "a pod of Windows": ("restricted", of(None, os={"name": "windows"}, securityContext={"runAsNonRoot": True}), ""),
    "a pod in a user namespace": (
        "restricted",
        of({**SAFE, "runAsNonRoot": False, "runAsUser": 0}, hostUsers=False),
        "",
    ),
    "what flannel asks for": (
        "baseline",
        of(
            {"capabilities": {"add": ["NET_RAW", "NET_ADMIN", "CHOWN"]}},
            {"privileged": True},
            hostNetwork=True,
            volumes=[{"name": "run", **HOST}, {"name": "cni", **HOST}, {"name": "cfg", "configMap": {"name": "c"}}],
        ),
        "hostNetwork: true, volumes[0].hostPath, volumes[1].hostPath, containers[0].securityContext.capabilities.add: NET_RAW, "
        "containers[0].securityContext.capabilities.add: NET_ADMIN, containers[1].securityContext.privileged: true",
    ),
    "other contexts": (
        "baseline",
        of(
            {
                "procMount": "Unmasked",
                "seLinuxOptions": {"type": "spc_t", "user": "u"},
                "seccompProfile": {"type": "Unconfined"},
            },
            securityContext={
                "sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_syncookies"}],
                "seccompProfile": {"type": "Unconfined"},
                "windowsOptions": {"hostProcess": True},
            },
        ),
        "securityContext.sysctls: kernel.msgmax, securityContext.seccompProfile.type: Unconfined, "
        "securityContext.windowsOptions.hostProcess: true, containers[0].securityContext.seLinuxOptions.type: spc_t, "
        "containers[0].securityContext.seLinuxOptions.user, containers[0].securityContext.seccompProfile.type: Unconfined, "
        "containers[0].securityContext.procMount: Unmasked",
    ),
    "what restricted forbids": (
        "restricted",
        of(
            {**SAFE, "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}, "runAsUser": 0},
            {**SAFE, "runAsNonRoot": False},
            volumes=[
                {"name": "logs", **HOST},
                {"name": "share", "nfs": {"server": "s", "path": "/"}},
                {"name": "c", "emptyDir": {}},
            ],
        ),
        "volumes[0].hostPath, volumes[1].nfs, containers[0].securityContext.capabilities.add: CHOWN, "
        "containers[0].securityContext.runAsUser: 0, containers[1].securityContext.runAsNonRoot: true is required",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_violated(case: str) -> None:
    level, spec, broken = CASES[case]
    namespace = msgspec.convert({"metadata": {"name": "n", "labels": {ENFORCE: level}}}, Namespace)
    said = violation(msgspec.convert({"spec": spec}, Pod), namespace)
    assert said == (f'violates PodSecurity "{level}:latest": {broken}' if broken else "")
