"""API validation of candidates: the API server's paths and texts, in its order."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.api.core import Pod
from kubespread.kube.api.decoding import DecodingError, normalized
from kubespread.kube.name_rules import label_key_faults, label_value_faults
from tests.builders import hard, pod, soft
from tests.kube.decoding import faults_of

Data = dict[str, Any]

NAME_EMPTY = "name part must be non-empty"
NAME_FMT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VAL_FMT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
DNS_SUB = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', "
    r"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
DNS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
IN_BOTH = "exists in both matchLabelKeys and labelSelector"


def faults(candidate: Data) -> list[str]:
    return [str(fault) for fault in faults_of(candidate)]


def spread(*constraints: Any, labels: Data | None = None) -> Data:
    return pod(constraints=list(constraints), labels=labels)


T = "spec.topologySpreadConstraints"
SPREAD: dict[str, tuple[Data, list[str]]] = {
    "valid": (
        spread(hard(), soft(), hard("node", minDomains=3, nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor")),
        [],
    ),
    "a selector may be null, absent or empty": (spread(hard(labelSelector=None), soft(labelSelector={})), []),
    "a topology key may be any text": (spread(hard("not/a label key!")), []),
    "maxSkew 0": (spread(hard(max_skew=0)), [f"{T}[0].maxSkew: Invalid value: 0: must be greater than zero"]),
    "maxSkew -1": (spread(hard(max_skew=-1)), [f"{T}[0].maxSkew: Invalid value: -1: must be greater than zero"]),
    "a null element is an empty constraint": (
        spread(None),
        [
            f"{T}[0].maxSkew: Invalid value: 0: must be greater than zero",
            f"{T}[0].topologyKey: Required value: can not be empty",
            f'{T}[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ],
    ),
    "an unknown action": (
        spread(hard(whenUnsatisfiable="doNotSchedule")),
        [
            f'{T}[0].whenUnsatisfiable: Unsupported value: "doNotSchedule": supported values: "DoNotSchedule", "ScheduleAnyway"'
        ],
    ),
    "of three alike the first two are duplicates": (
        spread(hard(), hard(), hard()),
        [f'{T}[{at}].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{zone, DoNotSchedule}}"' for at in (0, 1)],
    ),
    "zone, node, zone": (
        spread(hard(), hard("node"), hard()),
        [f'{T}[0].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{zone, DoNotSchedule}}"'],
    ),
    "minDomains 0": (spread(hard(minDomains=0)), [f"{T}[0].minDomains: Invalid value: 0: must be greater than zero"]),
    "minDomains 0 on a soft constraint": (
        spread(soft(minDomains=0)),
        [
            f"{T}[0].minDomains: Invalid value: 0: must be greater than zero",
            f"{T}[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ],
    ),
    "policies": (
        spread(hard(nodeAffinityPolicy="honor", nodeTaintsPolicy="")),
        [
            f'{T}[0].nodeAffinityPolicy: Unsupported value: "honor": supported values: "Honor", "Ignore"',
            f'{T}[0].nodeTaintsPolicy: Unsupported value: "": supported values: "Honor", "Ignore"',
        ],
    ),
    "matchLabelKeys without a selector": (
        spread(hard(labelSelector=None, matchLabelKeys=["a b"])),
        [f"{T}[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"],
    ),
    "malformed matchLabelKeys": (
        spread(hard(matchLabelKeys=["a b", ""])),
        [
            f'{T}[0].matchLabelKeys[0]: Invalid value: "a b": {NAME_FMT}',
            f'{T}[0].matchLabelKeys[1]: Invalid value: "": {NAME_EMPTY}',
            f'{T}[0].matchLabelKeys[1]: Invalid value: "": {NAME_FMT}',
        ],
    ),
    "a key in both, the pod has the label": (
        spread(hard(matchLabelKeys=["nope", "foo"])),
        [f'{T}[0][1]: Invalid value: "foo": {IN_BOTH}'],
    ),
    "a key in both, the pod lacks the label": (spread(hard(match={"q": "b"}, matchLabelKeys=["q"])), []),
    "a key listed twice": (
        spread(hard(match={}, matchLabelKeys=["foo", "foo"])),
        [f'{T}[0][1]: Invalid value: "foo": {IN_BOTH}'],
    ),
    "the selector's own faults": (
        spread(
            hard(
                labelSelector={
                    "matchLabels": {"a b": "c d"},
                    "matchExpressions": [
                        {"key": "k", "operator": "In"},
                        {"key": "k", "operator": "Exists", "values": ["v"]},
                        {"key": "k", "operator": "Gt", "values": ["1"]},
                        {"key": "-", "operator": "NotIn", "values": ["ok", "b d"]},
                    ],
                }
            )
        ),
        [
            f'{T}[0].labelSelector.matchLabels: Invalid value: "a b": {NAME_FMT}',
            f'{T}[0].labelSelector.matchLabels: Invalid value: "c d": {VAL_FMT}',
            f"{T}[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            f"{T}[0].labelSelector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            f'{T}[0].labelSelector.matchExpressions[2].operator: Invalid value: "Gt": not a valid selector operator',
            f'{T}[0].labelSelector.matchExpressions[3].key: Invalid value: "-": {NAME_FMT}',
            f'{T}[0].labelSelector.matchExpressions[3].values[1]: Invalid value: "b d": {VAL_FMT}',
        ],
    ),
}

N = "spec.affinity.nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_affinity(**lists: Any) -> Data:
    return pod(affinity={"nodeAffinity": lists})


def node_terms(*expressions: Data, fields: list[Data] | None = None) -> Data:
    term: Data = {"matchExpressions": list(expressions)}
    if fields:
        term["matchFields"] = fields
    return node_affinity(**{REQUIRED: {"nodeSelectorTerms": [term]}})


E = f"{N}.{REQUIRED}.nodeSelectorTerms[0].matchExpressions"
F = f"{N}.{REQUIRED}.nodeSelectorTerms[0].matchFields"
NAME_FIELD = "metadata.name"
X = f"spec.affinity.podAntiAffinity.{REQUIRED}[0]"
AFFINITY: dict[str, tuple[Data, list[str]]] = {
    "no terms": (
        node_affinity(**{REQUIRED: {}}),
        [f"{N}.{REQUIRED}.nodeSelectorTerms: Required value: must have at least one node selector term"],
    ),
    "an empty term": (node_affinity(**{REQUIRED: {"nodeSelectorTerms": [{}]}}), []),
    "operators": (
        node_terms(
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "a", "operator": "Gt"},
            {"key": "a", "operator": "Gt", "values": ["abc"]},
            {"key": "a", "operator": "Gt", "values": ["-1"]},
            {"key": "a b", "operator": "Equals"},
        ),
        [
            f"{E}[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            f"{E}[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            f"{E}[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
            f'{E}[4].values[0]: Invalid value: "-1": {VAL_FMT}',
            f'{E}[5].operator: Invalid value: "Equals": not a valid selector operator',
            f'{E}[5].key: Invalid value: "a b": {NAME_FMT}',
        ],
    ),
    "fields": (
        node_terms(
            fields=[
                {"key": NAME_FIELD, "operator": "In", "values": ["a", "b"]},
                {"key": NAME_FIELD, "operator": "Exists"},
                {"key": "metadata.labels", "operator": "In", "values": ["a"]},
                {"key": NAME_FIELD, "operator": "In", "values": ["A_b"]},
            ]
        ),
        [
            f"{F}[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            f'{F}[1].operator: Invalid value: "Exists": not a valid selector operator',
            f'{F}[2].key: Invalid value: "metadata.labels": not a valid field selector key',
            f'{F}[3].values[0]: Invalid value: "A_b": {DNS_SUB}',
        ],
    ),
    "preferred weights, and values nobody checks": (
        node_affinity(
            **{
                PREFERRED: [
                    {"weight": 0, "preference": {}},
                    {
                        "weight": 101,
                        "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b d"]}]},
                    },
                ]
            }
        ),
        [
            f"{N}.{PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100",
            f"{N}.{PREFERRED}[1].weight: Invalid value: 101: must be in the range 1-100",
        ],
    ),
    "a pod affinity term with everything wrong": (
        pod(
            affinity={
                "podAntiAffinity": {
                    REQUIRED: [
                        {
                            "namespaces": ["Bad_NS"],
                            "matchLabelKeys": ["a"],
                            "labelSelector": None,
                            "namespaceSelector": {"matchLabels": {"a b": ""}},
                        }
                    ]
                }
            }
        ),
        [
            f'{X}.namespaceSelector.matchLabels: Invalid value: "a b": {NAME_FMT}',
            f'{X}.namespace: Invalid value: "Bad_NS": {DNS_LABEL}',
            f"{X}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
            f"{X}.topologyKey: Required value: can not be empty",
            f'{X}.topologyKey: Invalid value: "": {NAME_EMPTY}',
            f'{X}.topologyKey: Invalid value: "": {NAME_FMT}',
        ],
    ),
    "a key in both lists": (
        pod(
            affinity={
                "podAffinity": {
                    PREFERRED: [
                        {
                            "weight": 200,
                            "podAffinityTerm": {
                                "topologyKey": "z",
                                "labelSelector": {},
                                "matchLabelKeys": ["q"],
                                "mismatchLabelKeys": ["q"],
                            },
                        }
                    ]
                }
            }
        ),
        [
            f"spec.affinity.podAffinity.{PREFERRED}[0].weight: Invalid value: 200: must be in the range 1-100",
            f'spec.affinity.podAffinity.{PREFERRED}[0].podAffinityTerm.matchLabelKeys[0]: Invalid value: "q": '
            "exists in both matchLabelKeys and mismatchLabelKeys",
        ],
    ),
}


def tolerations(*given: Data) -> Data:
    return pod(tolerations=list(given))


O = "spec.tolerations[0].operator"  # noqa: E741 - one letter like the other path prefixes
REST: dict[str, tuple[Data, list[str]]] = {
    "an empty toleration": (
        tolerations({}),
        [
            f'{O}: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"'
        ],
    ),
    "Exists with a value": (
        tolerations({"key": "a", "operator": "Exists", "value": "x"}),
        [f"{O}: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"],
    ),
    "an unknown operator": (
        tolerations({"key": "a", "operator": "In"}),
        [f'{O}: Unsupported value: "In": supported values: "Equal", "Exists"'],
    ),
    "an operator behind a gate": (
        tolerations({"key": "a", "operator": "Gt", "value": "1"}),
        [f'{O}: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'],
    ),
    "an unknown effect": (
        tolerations({"key": "a", "effect": "NoRun"}),
        [
            'spec.tolerations[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
        ],
    ),
    "seconds without NoExecute": (
        tolerations({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}),
        [
            "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"
        ],
    ),
    "a bad key and value": (
        tolerations({"key": "a b", "value": "b b"}),
        [f'spec.tolerations[0].key: Invalid value: "a b": {NAME_FMT}', f'{O}: Invalid value: "b b": {VAL_FMT}'],
    ),
    "negative seconds": (tolerations({"key": "a", "effect": "NoExecute", "tolerationSeconds": -5}), []),
    "a node selector": (
        pod(nodeSelector={"a b": "c d"}),
        [f'spec.nodeSelector: Invalid value: "a b": {NAME_FMT}', f'spec.nodeSelector: Invalid value: "c d": {VAL_FMT}'],
    ),
    "a null node selector entry is an empty value": (pod(nodeSelector={"a": None}), []),
    "gates": (
        pod(schedulingGates=[{"name": "a"}, {"name": "a"}, {"name": "a b"}], nodeName="n"),
        [
            'spec.schedulingGates[1]: Duplicate value: "a"',
            f'spec.schedulingGates[2]: Invalid value: "a b": {NAME_FMT}',
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ],
    ),
    "a node name": (pod(nodeName="A_B"), [f'spec.nodeName: Invalid value: "A_B": {DNS_SUB}']),
    "a restart policy": (
        pod(restartPolicy="always"),
        ['spec.restartPolicy: Unsupported value: "always": supported values: "Always", "OnFailure", "Never"'],
    ),
    "an operating system": (
        pod(os={"name": "plan9"}),
        ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ),
    "no name": (pod(name=""), ["metadata.name: Required value: name or generateName is required"]),
    "a bad name": (pod(name="a_b"), [f'metadata.name: Invalid value: "a_b": {DNS_SUB}']),
    "a long name": (
        pod(name="a" * 254),
        [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'],
    ),
    "labels": (
        pod(labels={"a b": "c d"}),
        [f'metadata.labels: Invalid value: "a b": {NAME_FMT}', f'metadata.labels: Invalid value: "c d": {VAL_FMT}'],
    ),
}


def annotated(**annotations: str) -> Data:
    plain = pod()
    return {**plain, "metadata": {**plain["metadata"], "annotations": annotations}}


COST = "controller.kubernetes.io/pod-deletion-cost"
REST |= {
    f"deletion cost {cost!r}": (
        annotated(**{COST: cost}),
        []
        if cost in ("-3", "0")
        else [f'metadata.annotations[{COST}]: Invalid value: "{cost}": must be a 32bit integer'],
    )
    for cost in ("1.5", "+5", "05", "", "2147483648", "-3", "0")
}
REST["annotation keys are lower-cased first"] = (annotated(**{"FOO/Bar": "x"}), [])


def container(name: str = "c", **more: Any) -> Data:
    return {"name": name, "image": "x", **more}


def containers(*given: Data, **spec: Any) -> Data:
    return pod(containers=list(given), **spec)


def resources(requests: Data | None = None, limits: Data | None = None) -> Data:
    given = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return containers(container(resources=given))


C = "spec.containers[0]"
R = f"{C}.resources"
CONTAINERS: dict[str, tuple[Data, list[str]]] = {
    "none": (containers(), ["spec.containers: Required value"]),
    "nameless and without image": (containers({}), [f"{C}.name: Required value", f"{C}.image: Required value"]),
    "a bad name": (containers(container("C_")), [f'{C}.name: Invalid value: "C_": {DNS_LABEL}']),
    "a name twice": (
        containers(container(), container(), initContainers=[container()]),
        ['spec.containers[1].name: Duplicate value: "c"', 'spec.initContainers[0].name: Duplicate value: "c"'],
    ),
    "an init container's restart policy": (
        containers(container(), initContainers=[container("i", restartPolicy="Sometimes")]),
        [
            'spec.initContainers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'
        ],
    ),
    "request above limit": (
        resources({"cpu": "2"}, {"cpu": "1"}),
        [f'{R}.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
    "an extended resource other than its limit": (
        resources({"example.com/gpu": "1"}, {"example.com/gpu": "2"}),
        [f'{R}.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ),
    "an extended resource without limit": (
        resources({"example.com/gpu": "1"}),
        [f"{R}.limits: Required value: Limit must be set for non overcommitable resources"],
    ),
    "a negative request": (
        resources({"cpu": "-1"}),
        [f'{R}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ),
    "a fraction of an extended resource": (
        resources(limits={"example.com/gpu": "1500m"}),
        [f'{R}.{kind}[example.com/gpu]: Invalid value: "1500m": must be an integer' for kind in ("limits", "requests")],
    ),
    "an unqualified resource": (
        resources({"gpu": "1"}),
        [
            f'{R}.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
            f'{R}.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        ],
    ),
    "a resource for quotas": (
        resources({"pods": "1"}),
        [f'{R}.requests[pods]: Invalid value: "pods": must be a standard resource for containers'],
    ),
    "a malformed resource": (
        resources({"a b": "1"}),
        [
            f'{R}.requests[a b]: Invalid value: "a b": {NAME_FMT}',
            f'{R}.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
        ],
    ),
    "a resource named like a quota": (
        resources(limits={"requests.example.com/y": "1"}),
        [
            f'{R}.{kind}[requests.example.com/y]: Invalid value: "requests.example.com/y": doesn\'t follow extended resource name standard'
            for kind in ("limits", "requests")
        ],
    ),
    "hugepages alone": (
        resources(limits={"hugepages-2Mi": "2Mi"}),
        [f"{R}: Forbidden: HugePages require cpu or memory"],
    ),
    "one and a half hugepages": (
        resources({"cpu": "1"}, {"hugepages-2Mi": "3Mi"}),
        [
            f'{R}.{kind}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'
            for kind in ("limits", "requests")
        ],
    ),
    "accepted oddities": (resources({"memory": "100m", "cpu": "0.0001", "kubernetes.io/x": "1"}), []),
    "pod level below the containers' sum": (
        containers(container(resources={"requests": {"cpu": "200m"}}), resources={"requests": {"cpu": "100m"}}),
        [
            'spec.resources.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container requests of 200m'
        ],
    ),
    "pod level of an unsupported resource": (
        containers(container(), resources={"requests": {"ephemeral-storage": "1"}}),
        [
            'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": '
            'supported values: "cpu", "hugepages-", "memory"'
        ],
    ),
    "a container's limit above the pod's": (
        containers(
            container(resources={"limits": {"cpu": "200m"}, "requests": {"cpu": "0"}}),
            resources={"limits": {"cpu": "100m"}},
        ),
        [
            'spec.resources.containers[0][cpu].limits: Invalid value: "200m": must be less than or equal to pod limits of 100m'
        ],
    ),
    "ports": (
        containers(
            container(
                ports=[
                    {"hostPort": 70000},
                    {"containerPort": 70000, "protocol": "tcp", "name": "a-name-too-long-for-it"},
                    {"containerPort": 80, "hostPort": 80, "name": "x"},
                    {"containerPort": 81, "hostPort": 80, "name": "x"},
                    {"containerPort": 82, "hostPort": 80, "hostIP": "0.0.0.0", "name": "1"},
                ]
            )
        ),
        [
            f"{C}.ports[0].containerPort: Required value",
            f"{C}.ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            f'{C}.ports[1].name: Invalid value: "a-name-too-long-for-it": must be no more than 15 characters',
            f"{C}.ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            f'{C}.ports[1].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
            f'{C}.ports[3].name: Duplicate value: "x"',
            f'{C}.ports[4].name: Invalid value: "1": must contain at least one letter (a-z)',
            f'{C}.ports[3].hostPort: Duplicate value: "TCP//80"',
        ],
    ),
    "hostNetwork": (
        containers(container(ports=[{"containerPort": 80, "hostPort": 81}]), hostNetwork=True),
        [f"{C}.ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
    ),
}
CASES = {
    **{f"spread: {name}": case for name, case in SPREAD.items()},
    **{f"affinity: {name}": case for name, case in AFFINITY.items()},
    **{f"pod: {name}": case for name, case in REST.items()},
    **{f"containers: {name}": case for name, case in CONTAINERS.items()},
}


@pytest.mark.parametrize("case", CASES)
def test_validation(case: str) -> None:
    candidate, expected = CASES[case]
    assert faults(candidate) == expected


def test_a_stored_pods_merged_selector_is_no_fault() -> None:
    merged = {"matchLabels": {}, "matchExpressions": [{"key": "foo", "operator": "In", "values": ["bar"]}]}
    plain = spread(hard(labelSelector=merged, matchLabelKeys=["foo"]))
    assert faults(plain) == [f'{T}[0][0]: Invalid value: "foo": {IN_BOTH}']
    assert faults({**plain, "metadata": {**plain["metadata"], "uid": "1"}}) == []


KEYS = {
    "a": (),
    "example.com/a": (),
    "a/b/c": (
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
        "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
        "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ),
    "/a": ("prefix part must be non-empty",),
    "A.b/c": (f"prefix part {DNS_SUB}",),
    "a/": (NAME_EMPTY, NAME_FMT),
    "é" * 40: ("name part must be no more than 63 bytes", NAME_FMT),
}


@pytest.mark.parametrize("key", KEYS)
def test_label_keys(key: str) -> None:
    assert label_key_faults(key) == KEYS[key]


def test_label_values_are_measured_in_bytes() -> None:
    assert label_value_faults("é" * 40) == ("must be no more than 63 bytes", VAL_FMT)
    assert (label_value_faults(""), label_value_faults("x" * 63), label_value_faults("x\n")) == ((), (), (VAL_FMT,))


QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
TYPES: dict[str, tuple[Data, str, str]] = {
    "a string for a number": (
        spread(hard(max_skew="1")),  # type: ignore[arg-type]  # the wrong type is the point
        f"{T}[0].maxSkew",
        FIELD.format("string", "TopologySpreadConstraint.spec.topologySpreadConstraints.maxSkew", "int32"),
    ),
    "a fraction": (
        spread({**hard(), "maxSkew": 1.5}),
        f"{T}[0].maxSkew",
        FIELD.format("number 1.5", "TopologySpreadConstraint.spec.topologySpreadConstraints.maxSkew", "int32"),
    ),
    "more than 32 bits": (
        spread(hard(max_skew=2147483648)),
        f"{T}[0].maxSkew",
        FIELD.format("number 2147483648", "TopologySpreadConstraint.spec.topologySpreadConstraints.maxSkew", "int32"),
    ),
    "an object for a list": (
        pod(topologySpreadConstraints={}),
        T,
        FIELD.format("object", "PodSpec.spec.topologySpreadConstraints", "[]v1.TopologySpreadConstraint"),
    ),
    "a number in matchLabels": (
        spread(hard(match={"a": 1})),
        f"{T}[0].labelSelector.matchLabels[a]",
        FIELD.format("number", "LabelSelector.spec.topologySpreadConstraints.labelSelector.matchLabels", "string"),
    ),
    "a boolean in nodeSelector": (
        pod(nodeSelector={"a": True}),
        "spec.nodeSelector[a]",
        FIELD.format("bool", "PodSpec.spec.nodeSelector", "string"),
    ),
    "a string for 64 bits": (
        tolerations({"tolerationSeconds": "5"}),
        "spec.tolerations[0].tolerationSeconds",
        FIELD.format("string", "Toleration.spec.tolerations.tolerationSeconds", "int64"),
    ),
    "a string for a port": (
        containers(container(ports=[{"containerPort": "80"}])),
        f"{C}.ports[0].containerPort",
        FIELD.format("string", "ContainerPort.spec.containers.ports.containerPort", "int32"),
    ),
    "a list for an object": (
        pod(affinity=[]),
        "spec.affinity",
        FIELD.format("array", "PodSpec.spec.affinity", "v1.Affinity"),
    ),
    "no quantity": (resources({"cpu": "1x"}), f"{R}.requests[cpu]", QUANTITY),
    "a boolean for a quantity": (resources({"cpu": True}), f"{R}.requests[cpu]", QUANTITY),
    "a suffix nobody knows": (resources({"cpu": "1e"}), f"{R}.requests[cpu]", "unable to parse quantity's suffix"),
}


@pytest.mark.parametrize("case", TYPES)
def test_wrong_types(case: str) -> None:
    data, path, message = TYPES[case]
    with pytest.raises(DecodingError) as refused:
        normalized(data, Pod)
    assert (refused.value.path, str(refused.value)) == (path, message)
