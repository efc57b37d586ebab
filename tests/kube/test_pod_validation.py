"""Validation of what a pod has besides its placement: volumes, claims, namespaces of the host, names, overhead."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.versions import LATEST
from tests.builders import node, pod
from tests.kube.decoding import decode_pod, faults_of

Data = dict[str, Any]

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
HUGE = 10**5000
LINKED = "must be one of the names in pod.spec.resourceClaims"


def volumes(*given: Data) -> Data:
    return pod(volumes=list(given))


def ephemeral(**spec: Any) -> Data:
    full = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": full}}}


def container(name: str, **fields: Any) -> Data:
    return {"name": name, "image": "x", **fields}


TWICE = [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]
V = "spec.volumes[0]"
E = f"{V}.ephemeral.volumeClaimTemplate.spec"
CASES: dict[str, tuple[Data, list[str]]] = {
    "volumes of many kinds": (
        volumes(
            {"name": "a", "emptyDir": {}},
            {"name": "b", "configMap": {"name": "c"}},
            {"name": "c", "projected": {"sources": []}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "Any Text"}},
            {"name": "e", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a"}},
            {"name": "f", "azureDisk": {"diskName": "a", "diskURI": "/subscriptions/u", "kind": "Managed"}},
            {**ephemeral(), "name": "g"},
        ),
        [],
    ),
    "no kind of volume is an emptyDir": (volumes({"name": "v"}), []),
    "two kinds of volume": (
        volumes({"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}),
        [f"{V}.hostPath: Forbidden: may not specify more than 1 volume type"],
    ),
    "a volume's name": (
        volumes({"name": "a.b", "emptyDir": {}}, {"name": "A", "emptyDir": {}}, {"emptyDir": {}}),
        [
            f'{V}.name: Invalid value: "a.b": must not contain dots',
            f'spec.volumes[1].name: Invalid value: "A": {LABEL}',
            "spec.volumes[2].name: Required value",
        ],
    ),
    "a volume's name twice": (
        volumes({"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}),
        ['spec.volumes[1].name: Duplicate value: "v"'],
    ),
    "what a volume must name": (
        volumes({"name": "v", "persistentVolumeClaim": {}}, {"name": "w", "secret": {}}, {"name": "x", "rbd": {}}),
        [
            f"{V}.persistentVolumeClaim.claimName: Required value",
            "spec.volumes[1].secret.secretName: Required value",
            "spec.volumes[2].rbd.monitors: Required value",
            "spec.volumes[2].rbd.image: Required value",
        ],
    ),
    "an iSCSI name": (
        volumes({"name": "v", "iscsi": {"targetPortal": "p", "iqn": "x"}}),
        [f'{V}.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa'],
    ),
    "a size below zero": (
        volumes({"name": "v", "emptyDir": {"sizeLimit": "-1"}}),
        [f"{V}.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
    ),
    "the claim of an ephemeral volume": (
        volumes(ephemeral(accessModes=["RWO"], resources={"requests": {"storage": 0}}, volumeMode="Raw")),
        [
            f'{E}.accessModes: Unsupported value: "RWO": '
            'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
            f'{E}.resources[storage]: Invalid value: "0": must be greater than zero',
            f'{E}.volumeMode: Unsupported value: "Raw": supported values: "Block", "Filesystem"',
        ],
    ),
    "a claim that an ephemeral volume makes": (
        volumes(ephemeral(), {"name": "w", "persistentVolumeClaim": {"claimName": "web-v"}}),
        [
            'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-v": '
            "must not reference a PVC that gets created for an ephemeral volume"
        ],
    ),
    "resource claims": (
        pod(
            resourceClaims=[
                {"name": "a"},
                {"name": "b", "resourceClaimName": "x"},
                {"name": "b", "resourceClaimName": "x"},
            ]
        ),
        [
            'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: '
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            'spec.resourceClaims[2].name: Duplicate value: "b"',
        ],
    ),
    "a container's claim that the pod does not have": (
        pod(containers=[container("c", resources={"claims": [{"name": "gpu"}]})]),
        [f'spec.containers[0].resources.claims[0]: Not found: "gpu": {LINKED} which is empty'],
    ),
    "a user namespace and the host's network": (
        pod(hostUsers=False, hostNetwork=True),
        ["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
    ),
    "no deadline": (
        pod(activeDeadlineSeconds=0),
        ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ),
    "overhead is checked as a container's limits": (
        pod(overhead={"a/b/c": "1", "cpu": "-1"}),
        [
            f'spec.overhead.limits[a/b/c]: Invalid value: "a/b/c": {KEY}',
            'spec.overhead.limits[a/b/c]: Invalid value: "a/b/c": doesn\'t follow extended resource name standard',
            'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ],
    ),
    "hugepages of the whole pod": (
        pod(resources={"requests": {"hugepages-2Mi": "3Mi"}}),
        [
            "spec.resources.limits: Required value: Limit must be set for non overcommitable resources",
            'spec.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
            "spec.resources: Forbidden: HugePages require cpu or memory",
        ],
    ),
    "a resource of the whole pod that has no such name": (
        pod(resources={"limits": {"foo": "1"}}),
        ['spec.resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified'],
    ),
    "host ports twice, in the second init container": (
        pod(initContainers=[container("i"), container("j", ports=TWICE)]),
        ['spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ),
    "a host port of two init containers": (
        pod(initContainers=[container("i", ports=TWICE[:1]), container("j", ports=TWICE[:1])]),
        [],
    ),
    "a namespace": (pod(namespace="Prod_1"), [f'metadata.namespace: Invalid value: "Prod_1": {LABEL}']),
    "a namespace with dots": (
        pod(namespace="a.b"),
        ['metadata.namespace: Invalid value: "a.b": must not contain dots'],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_validation(case: str) -> None:
    candidate, expected = CASES[case]
    assert [str(fault) for fault in faults_of(candidate)] == expected


GATED: dict[str, tuple[Data, str, list[str]]] = {
    "a user namespace on the host's network": (
        pod(hostUsers=False, hostNetwork=True),
        "UserNamespacesHostNetworkSupport=true",
        [],
    ),
    "a toleration that compares": (
        pod(tolerations=[{"key": "k", "operator": "Gt", "value": "-5"}]),
        "TaintTolerationComparisonOperators=true",
        [],
    ),
    "a toleration that compares with no number": (
        pod(tolerations=[{"key": "k", "operator": "Lt", "value": "05"}]),
        "TaintTolerationComparisonOperators=true",
        ['spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form'],
    ),
}


@pytest.mark.parametrize("case", GATED)
def test_validation_with_a_gate(case: str) -> None:
    candidate, gates, expected = GATED[case]
    assert [str(fault) for fault in faults_of(candidate, LATEST.with_gates(gates))] == expected


@pytest.mark.parametrize("number", [2**64, 2**70, -(2**70)])
def test_a_number_beyond_64_bits_is_a_quantity_too(number: int) -> None:
    snapshot = kubespread.Snapshot.from_objects(
        [node("n"), pod("huge", "n", requests={"memory": number}), pod("over", "n", overhead={"cpu": number})]
    )
    assert len(snapshot.pods) == 2
    for candidate in (pod(requests={"memory": number}), pod(overhead={"cpu": number})):
        assert [fault.message for fault in faults_of(candidate)] == (
            [] if number > 0 else [f'Invalid value: "{number}": must be greater than or equal to 0']
        )


@pytest.mark.parametrize(
    "fields",
    [{"overhead": {"cpu": HUGE}}, {"priority": HUGE}, {"activeDeadlineSeconds": -HUGE}],
    ids=["overhead", "int32", "int64"],
)
def test_a_number_of_thousands_of_digits_is_refused(fields: Data) -> None:
    with pytest.raises(DecodingError):
        decode_pod(pod(**fields))
