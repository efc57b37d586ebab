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
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), '
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true '
    '(pod or container "a" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set '
    'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
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
        'non-default capabilities (container "a" must not include "NET_ADMIN", "NET_RAW" in '
        'securityContext.capabilities.add), host namespaces (hostNetwork=true), hostPath volumes (volumes "run", "cni"), '
        'privileged (container "b" must not set securityContext.privileged=true)',
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
        'procMount (container "a" must not set securityContext.procMount to "Unmasked"), seLinuxOptions (container "a" set '
        'forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set), seccompProfile (pod and container "a" '
        'must not set securityContext.seccompProfile.type to "Unconfined"), forbidden sysctls (kernel.msgmax), hostProcess '
        "(pod must not set securityContext.windowsOptions.hostProcess=true)",
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
        'unrestricted capabilities (container "a" must not include "CHOWN" in securityContext.capabilities.add), '
        'restricted volume types (volumes "logs", "share" use restricted volume types "hostPath", "nfs"), runAsNonRoot != '
        'true (container "b" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "a" must not set '
        "runAsUser=0)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_violated(case: str) -> None:
    level, spec, broken = CASES[case]
    namespace = msgspec.convert({"metadata": {"name": "n", "labels": {ENFORCE: level}}}, Namespace)
    said = violation(msgspec.convert({"spec": spec}, Pod), namespace)
    assert said == (f'violates PodSecurity "{level}:latest": {broken}' if broken else "")
