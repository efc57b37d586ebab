"""Validation of every field that the API server validates and scheduling does not read.

Each row has fields and all that is wrong with them, in the API server's order.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.versions import LATEST, KubeVersion
from tests.builders import node, pod
from tests.kube.decoding import decode_pod, faults_of

Data = dict[str, Any]

SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
KEY = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
NAME = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
VARIABLE = "a valid environment variable name must consist only of printable ASCII characters other than '='"


OF_CONTAINERS: dict[str, tuple[Data, list[str]]] = {
    "variables": (
        {"env": [{"name": "A=B"}, {"value": "x"}, {"name": "a.b c"}]},
        [f'env[0].name: Invalid value: "A=B": {VARIABLE}', "env[1].name: Required value"],
    ),
    "where variables come from": (
        {
            "env": [
                {"name": "a", "valueFrom": {}},
                {"name": "b", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {
                    "name": "c",
                    "valueFrom": {
                        "fieldRef": {"fieldPath": "spec.nodeName"},
                        "secretKeyRef": {"name": "s", "key": "k"},
                    },
                },
                {"name": "d", "valueFrom": {"configMapKeyRef": {"name": "s", "key": "../k"}}},
                {"name": "e", "valueFrom": {"secretKeyRef": {"name": "s"}}},
            ]
        },
        [
            'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
            'env[1].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
            'env[2].valueFrom: Invalid value: "": may not have more than one field specified at a time',
            "env[3].valueFrom.configMapKeyRef.key: Invalid value: \"../k\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
            "env[3].valueFrom.configMapKeyRef.key: Invalid value: \"../k\": must not start with '..'",
            "env[4].valueFrom.secretKeyRef.key: Required value",
        ],
    ),
    "fields that variables may have": (
        {
            "env": [
                {"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                {"name": "c", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}},
                {"name": "d", "valueFrom": {"fieldRef": {"fieldPath": "status.nodeIP"}}},
                {"name": "e", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v2"}}},
                {"name": "f", "valueFrom": {"fieldRef": {}}},
                {"name": "g", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['_']"}}},
            ]
        },
        [
            'env[2].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
            'env[3].valueFrom.fieldRef.fieldPath: Invalid value: "status.nodeIP": error converting fieldPath: field label not supported: status.nodeIP',
            'env[4].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
            "env[5].valueFrom.fieldRef.fieldPath: Required value",
            f'env[6].valueFrom.fieldRef: Invalid value: "_": {NAME}',
        ],
    ),
    "resources that variables may have": (
        {
            "env": [
                {"name": "a", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
                {"name": "b", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}},
                {"name": "c", "valueFrom": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "3Mi"}}},
                {"name": "d", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}},
                {
                    "name": "e",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}},
                },
            ]
        },
        [
            'env[1].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
            'env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource',
            'env[3].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
        ],
    ),
    "variables of a file that is in no volume": (
        {"env": [{"name": "a", "valueFrom": {"fileKeyRef": {"volumeName": "no", "path": "../x", "key": "k"}}}]},
        [
            "env[0].valueFrom.fileKeyRef.path: Invalid value: \"../x\": must not contain '..'",
            'env[0].valueFrom.fileKeyRef.volumeName: Not found: "no"',
        ],
    ),
    "variables of whole objects": (
        {
            "envFrom": [
                {},
                {"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}},
                {"prefix": "=", "secretRef": {"name": "B"}},
                {"configMapRef": {}},
            ]
        },
        [
            'envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
            'envFrom: Invalid value: "": may not have more than one field specified at a time',
            f'envFrom[2].prefix: Invalid value: "=": {VARIABLE}',
            f'envFrom[2].secretRef.name: Invalid value: "B": {SUBDOMAIN}',
            "envFrom[3].configMapRef.name: Required value",
        ],
    ),
    "a policy of messages and one of pulls": (
        {"terminationMessagePolicy": "Log", "imagePullPolicy": "Sometimes"},
        [
            'terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"',
            'imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
        ],
    ),
    "mounts": (
        {
            "volumeMounts": [
                {"name": "v", "mountPath": "/a"},
                {"name": "v", "mountPath": "/a", "subPath": "/x"},
                {"name": "no", "mountPath": "/b"},
                {"name": "v", "mountPath": "", "subPathExpr": "../y"},
                {"name": "v", "mountPath": "/c", "subPath": "x", "subPathExpr": "y"},
            ]
        },
        [
            'volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
            'volumeMounts.subPath: Invalid value: "/x": must be a relative path',
            'volumeMounts[2].name: Not found: "no"',
            "volumeMounts[3].mountPath: Required value",
            "volumeMounts.subPathExpr: Invalid value: \"../y\": must not contain '..'",
            'volumeMounts[4].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
        ],
    ),
    "how mounts propagate": (
        {
            "volumeMounts": [
                {"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional", "recursiveReadOnly": "Enabled"},
                {"name": "v", "mountPath": "/b", "mountPropagation": "Both", "recursiveReadOnly": "Yes"},
            ]
        },
        [
            "volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
            "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
            "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
            'volumeMounts.mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", "HostToContainer", "None"',
            'volumeMounts.recursiveReadOnly: Unsupported value: "Yes": supported values: "Disabled", "Enabled", "IfPossible"',
        ],
    ),
    "a privileged container's mounts propagate": (
        {
            "securityContext": {"privileged": True},
            "volumeMounts": [{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}],
        },
        [],
    ),
    "devices": (
        {
            "volumeMounts": [{"name": "c", "mountPath": "/m"}],
            "volumeDevices": [
                {"name": "v", "devicePath": "/a"},
                {"name": "c", "devicePath": "/m"},
                {"name": "c", "devicePath": ".."},
                {"name": "no"},
            ],
        },
        [
            'volumeMounts[0].name: Invalid value: "c": must not already exist in volumeDevices',
            'volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
            'volumeDevices[1].name: Invalid value: "c": must not already exist in volumeMounts',
            'volumeDevices[1].devicePath: Invalid value: "/m": must not already exist as a path in volumeMounts',
            'volumeDevices[2].name: Invalid value: "c": must be unique',
            "volumeDevices[2].devicePath: Invalid value: \"..\": can not contain backsteps ('..')",
            'volumeDevices[2].name: Invalid value: "c": must not already exist in volumeMounts',
            'volumeDevices[3].name: Not found: "no"',
            "volumeDevices[3].devicePath: Required value",
        ],
    ),
    "resize policies": (
        {
            "resizePolicy": [
                {"resourceName": "cpu", "restartPolicy": "NotRequired"},
                {"resourceName": "cpu", "restartPolicy": "Never"},
                {"resourceName": "gpu"},
            ]
        },
        [
            'resizePolicy[1]: Duplicate value: "cpu"',
            'resizePolicy: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer"',
            'resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"',
            "resizePolicy: Required value",
        ],
    ),
    "handlers of probes": (
        {
            "livenessProbe": {},
            "readinessProbe": {"exec": {}, "tcpSocket": {"port": 1}},
            "startupProbe": {"httpGet": {"port": "Web_1", "scheme": "FTP", "httpHeaders": [{"name": "X Y"}]}},
        },
        [
            "livenessProbe: Required value: must specify a handler type",
            "readinessProbe.exec.command: Required value",
            "readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
            'startupProbe.httpGet.port: Invalid value: "Web_1": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
            'startupProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
            "startupProbe.httpGet.httpHeaders: Invalid value: \"X Y\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
        ],
    ),
    "numbers of probes": (
        {
            "livenessProbe": {
                "grpc": {"port": 70000},
                "successThreshold": 2,
                "timeoutSeconds": -1,
                "terminationGracePeriodSeconds": 0,
            },
            "readinessProbe": {
                "tcpSocket": {"port": "http"},
                "successThreshold": 2,
                "periodSeconds": -1,
                "terminationGracePeriodSeconds": 5,
            },
        },
        [
            "livenessProbe.grpc.port: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
            "livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
            "livenessProbe.successThreshold: Invalid value: 2: must be 1",
            "readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
            "readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
        ],
    ),
    "a lifecycle": (
        {"lifecycle": {"postStart": {}, "preStop": {"sleep": {"seconds": 31}}, "stopSignal": "SIGTERM"}},
        [
            "lifecycle.postStart: Required value: must specify a handler type",
            "lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
        ],
    ),
    "a security context": (
        {
            "securityContext": {
                "runAsUser": -1,
                "runAsGroup": 2147483648,
                "procMount": "Masked",
                "allowPrivilegeEscalation": False,
                "privileged": True,
                "seccompProfile": {"type": "Local"},
                "appArmorProfile": {"type": "Localhost"},
                "windowsOptions": {"runAsUserName": "a\\b\\c", "gmsaCredentialSpecName": "A"},
            }
        },
        [
            "securityContext.runAsUser: Invalid value: -1: must be between 0 and 4294967295, inclusive",
            'securityContext.procMount: Unsupported value: "Masked": supported values: "Default", "Unmasked"',
            'securityContext.seccompProfile.type: Unsupported value: "Local": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
            'securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":{"GMSACredentialSpecName":"A","GMSACredentialSpec":null,"RunAsUserName":"a\\\\b\\\\c","HostProcess":null},"RunAsUser":-1,"RunAsGroup":2147483648,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":"Masked","SeccompProfile":{"Type":"Local","LocalhostProfile":null},"AppArmorProfile":{"Type":"Localhost","LocalhostProfile":null}}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
            f'securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": {SUBDOMAIN}',
            'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
            "securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
        ],
    ),
    "profiles of seccomp and AppArmor": (
        {
            "securityContext": {
                "seccompProfile": {"type": "Localhost", "localhostProfile": "/x"},
                "appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"},
            }
        },
        [
            'securityContext.seccompProfile.localhostProfile: Invalid value: "/x": must be a relative path',
            'securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost',
        ],
    ),
    "rules of restarts without a policy": (
        {
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "Is", "values": [1]}},
                {"action": "Stop"},
            ]
        },
        [
            "restartPolicy: Required value: must specify restartPolicy when restart rules are used",
            'restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
            'restartPolicyRules[1].action: Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers"',
            "restartPolicyRules[1].exitCodes: Required value: must be specified",
        ],
    ),
    "everything that fits": (
        {
            "env": [
                {"name": "a b", "value": "x"},
                {"name": "c", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "x", "key": "k"}}},
            ],
            "envFrom": [{"configMapRef": {"name": "a"}}],
            "volumeMounts": [{"name": "v", "mountPath": "relative", "subPath": "x"}],
            "volumeDevices": [{"name": "c", "devicePath": "/d"}],
            "lifecycle": {"preStop": {"sleep": {"seconds": 30}}},
            "livenessProbe": {"httpGet": {"port": "http"}},
            "imagePullPolicy": "Never",
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
        },
        [],
    ),
}
OF_VOLUMES: dict[str, tuple[Data, list[str]]] = {
    "files of a secret": (
        {
            "secret": {
                "secretName": "s",
                "defaultMode": 512,
                "items": [{"key": "k", "path": "..x"}, {"path": "/a", "mode": -1}],
            }
        },
        [
            "secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            "secret.items[0].path: Invalid value: \"..x\": must not start with '..'",
            "secret.items[1].key: Required value",
            'secret.items[1].path: Invalid value: "/a": must be a relative path',
            "secret.items[1].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
        ],
    ),
    "files of a ConfigMap": (
        {"configMap": {"items": [{"key": "k", "path": "a/../b"}, {"key": "k"}]}},
        [
            "configMap.name: Required value",
            "configMap.items[0].path: Invalid value: \"a/../b\": must not contain '..'",
            "configMap.items[1].path: Required value",
        ],
    ),
    "files of the downward API": (
        {
            "downwardAPI": {
                "items": [
                    {"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}},
                    {"path": "b", "fieldRef": {"fieldPath": "status.podIP"}},
                    {"path": "c"},
                    {"path": "d", "resourceFieldRef": {"resource": "limits.cpu"}},
                    {
                        "path": "e",
                        "fieldRef": {"fieldPath": "metadata.name"},
                        "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"},
                    },
                ]
            }
        },
        [
            'downwardAPI.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
            "downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
            "downwardAPI.resourceFieldRef.containerName: Required value",
            'downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
        ],
    ),
    "projected paths that clash": (
        {
            "projected": {
                "sources": [
                    {"secret": {"name": "s", "items": [{"key": "a", "path": "x"}]}},
                    {"configMap": {"name": "c", "items": [{"key": "b", "path": "x"}]}},
                    {"downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                ]
            }
        },
        [
            'projected: Invalid value: "c": conflicting duplicate paths',
            'projected: Invalid value: "x": conflicting duplicate paths',
        ],
    ),
    "projected sources": (
        {
            "projected": {
                "defaultMode": 512,
                "sources": [
                    {"secret": {}},
                    {"secret": {"name": "s"}, "configMap": {"name": "c"}},
                    {"serviceAccountToken": {"expirationSeconds": 60}},
                    {"clusterTrustBundle": {"path": "p"}},
                    {"clusterTrustBundle": {"name": "a", "signerName": "b", "path": "q"}},
                    {"clusterTrustBundle": {"signerName": "b", "path": "r"}},
                    {"podCertificate": {"signerName": "example.com/x", "keyType": "RSA", "maxExpirationSeconds": 1}},
                ],
            }
        },
        [
            "projected.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
            "projected.sources[0].secret.name: Required value",
            "projected.sources[1]: Forbidden: may not specify more than 1 volume type per source",
            "projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes",
            "projected.path: Required value",
            "projected.sources[3].clusterTrustBundle: Required value: either name or signerName must be specified",
            'projected.sources[4].clusterTrustBundle: Invalid value: {"Name":"a","SignerName":"b","LabelSelector":null,"Optional":null,"Path":"q"}: only one of name and signerName may be used',
            "projected.sources[5].clusterTrustBundle.signerName: Invalid value: \"b\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
            'projected.sources[6].podCertificate.keyType: Unsupported value: "RSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
            "projected.sources[6].podCertificate.maxExpirationSeconds: Invalid value: 1: if provided, maxExpirationSeconds must be >= 3600",
            "projected.sources[6].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        ],
    ),
    "a path of the host": (
        {"hostPath": {"path": "/a/../b", "type": "Folder"}},
        [
            "hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            'hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
        ],
    ),
    "a repository": (
        {"gitRepo": {"directory": "/x"}},
        ["gitRepo.repository: Required value", 'gitRepo.directory: Invalid value: "/x": must be a relative path'],
    ),
    "partitions": (
        {"awsElasticBlockStore": {"partition": 256}},
        [
            "awsElasticBlockStore.volumeID: Required value",
            "awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, inclusive",
        ],
    ),
    "a share of NFS": (
        {"nfs": {"server": "", "path": "x"}},
        ["nfs.server: Required value", 'nfs.path: Invalid value: "x": must be an absolute path'],
    ),
    "a target of iSCSI": (
        {
            "iscsi": {
                "targetPortal": "p",
                "iqn": "iqn.2001-04.com.example:a",
                "lun": 256,
                "initiatorName": "x",
                "chapAuthSession": True,
            }
        },
        [
            "iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            "iscsi.secretRef: Required value",
            'iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
        ],
    ),
    "fibre channel": (
        {"fc": {"targetWWNs": ["a"], "wwids": ["b"], "lun": 256}},
        [
            'fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
            "fc.lun: Invalid value: 256: must be between 0 and 255, inclusive",
        ],
    ),
    "fibre channel without a target": (
        {"fc": {}},
        ["fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
    ),
    "Flocker": (
        {"flocker": {"datasetName": "a/b", "datasetUUID": "c"}},
        [
            'flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
            "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
        ],
    ),
    "a flexible volume": (
        {"flexVolume": {"options": {"a.k8s.io/x": "y", "z": "y"}}},
        [
            "flexVolume.driver: Required value",
            'flexVolume.options[a.k8s.io/x]: Invalid value: "a.k8s.io/x": kubernetes.io and k8s.io namespaces are reserved',
        ],
    ),
    "Quobyte": (
        {"quobyte": {"registry": "a:1,b", "volume": ""}},
        [
            'quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas',
            "quobyte.volume: Required value",
        ],
    ),
    "an Azure disk": (
        {"azureDisk": {"diskName": "a", "diskURI": "x", "cachingMode": "Some", "kind": "Managed"}},
        [
            'azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
            'azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
        ],
    ),
    "StorageOS": (
        {"storageos": {"volumeName": "A", "secretRef": {}}},
        [f'storageos.volumeName: Invalid value: "A": {LABEL}', "storageos.secretRef.name: Required value"],
    ),
    "ScaleIO": (
        {"scaleIO": {"system": "s"}},
        ["scaleIO.gateway: Required value", "scaleIO.volumeName: Required value"],
    ),
    "a CSI volume": (
        {"csi": {"driver": "a_b", "nodePublishSecretRef": {}}},
        [f'csi.driver: Invalid value: "a_b": {SUBDOMAIN}', "csi.nodePublishSecretRef.name: Required value"],
    ),
    "an image": (
        {"image": {"pullPolicy": "Sometimes"}},
        [
            "image.reference: Required value",
            'image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
        ],
    ),
    "an ephemeral claim without a template": ({"ephemeral": {}}, ["ephemeral.volumeClaimTemplate: Required value"]),
    "where an ephemeral claim's data come from": (
        {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "metadata": {"name": "x"},
                    "spec": {
                        "accessModes": ["ReadWriteOncePod", "ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                        "storageClassName": "A",
                        "dataSource": {"kind": "VolumeSnapshot", "name": "a"},
                        "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"},
                    },
                }
            }
        },
        [
            "ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            f'ephemeral.volumeClaimTemplate.spec.storageClassName: Invalid value: "A": {SUBDOMAIN}',
            "ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            "ephemeral.volumeClaimTemplate.spec: Invalid value: {}: must match dataSourceRef",
        ],
    ),
}
OF_SPECS: dict[str, tuple[Data, list[str]]] = {
    "a DNS policy that needs servers": (
        {"dnsPolicy": "None"},
        ["dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    "DNS": (
        {
            "dnsPolicy": "Host",
            "dnsConfig": {
                "nameservers": ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4", "x"],
                "searches": ["_a.b.", "A", "."],
                "options": [{}],
            },
        },
        [
            'dnsPolicy: Unsupported value: "Host": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
            'dnsConfig.nameservers: Invalid value: ["1.2.3.4","01.2.3.4","::ffff:1.2.3.4","x"]: must not have more than 3 nameservers',
            'dnsConfig.nameservers[1]: Invalid value: "01.2.3.4": must not have leading 0s',
            'dnsConfig.nameservers[2]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
            'dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            "dnsConfig.searches[1]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
            "dnsConfig.options[0]: Required value: must not be empty",
        ],
    ),
    "aliases of hosts": (
        {"hostAliases": [{"ip": "x", "hostnames": ["A"]}]},
        [
            'hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
            f'hostAliases[0].hostnames[0]: Invalid value: "A": {SUBDOMAIN}',
        ],
    ),
    "names of the host": (
        {
            "hostname": "a.b",
            "subdomain": "A",
            "hostnameOverride": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "setHostnameAsFQDN": True,
        },
        [
            "hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            "hostnameOverride: Too long: may not be more than 64 bytes",
            f'hostnameOverride: Invalid value: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": {SUBDOMAIN}',
            'hostname: Invalid value: "a.b": must not contain dots',
            f'subdomain: Invalid value: "A": {LABEL}',
        ],
    ),
    "readiness gates": (
        {"readinessGates": [{"conditionType": "a/b/c"}]},
        [f'readinessGates[0].conditionType: Invalid value: "a/b/c": {KEY}'],
    ),
    "a class of runtimes and a priority": (
        {"runtimeClassName": "A", "priorityClassName": "B", "preemptionPolicy": "Sometimes"},
        [
            f'priorityClassName: Invalid value: "B": {SUBDOMAIN}',
            f'runtimeClassName: Invalid value: "A": {SUBDOMAIN}',
            'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
        ],
    ),
    "an account and a node": (
        {"serviceAccountName": "A", "nodeName": "B"},
        [f'serviceAccountName: Invalid value: "A": {SUBDOMAIN}', f'nodeName: Invalid value: "B": {SUBDOMAIN}'],
    ),
    "another operating system": (
        {"os": {"name": "plan9"}},
        ['os: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ),
    "no operating system": ({"os": {}}, ["os.name: Required value"]),
    "a Linux pod with options of Windows": (
        {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}},
        ["securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
    ),
    "a Windows pod with what Linux has": (
        {
            "os": {"name": "windows"},
            "hostPID": True,
            "shareProcessNamespace": True,
            "securityContext": {"fsGroup": 1, "seccompProfile": {"type": "Unconfined"}},
        },
        [
            "shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
            "hostPID: Forbidden: cannot be set for a windows pod",
            "securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
            "securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
            "shareProcessNamespace: Forbidden: cannot be set for a windows pod",
        ],
    ),
    "a security context": (
        {
            "hostNetwork": True,
            "securityContext": {
                "fsGroup": -1,
                "supplementalGroups": [1, -2],
                "fsGroupChangePolicy": "Never",
                "supplementalGroupsPolicy": "None",
                "seLinuxChangePolicy": "Label",
                "sysctls": [
                    {"name": "net.core.x"},
                    {"name": "a..b"},
                    {"name": "net/core/x"},
                    {"name": "a"},
                    {"name": "a"},
                ],
                "seccompProfile": {},
                "appArmorProfile": {},
            },
        },
        [
            "securityContext.fsGroup: Invalid value: -1: must be between 0 and 4294967295, inclusive",
            "securityContext.supplementalGroups[1]: Invalid value: -2: must be between 0 and 4294967295, inclusive",
            "securityContext.sysctls[0].name: Invalid value: \"net.core.x\": may not be specified when 'hostNetwork' is true",
            'securityContext.sysctls[1].name: Invalid value: "a..b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
            "securityContext.sysctls[2].name: Invalid value: \"net/core/x\": may not be specified when 'hostNetwork' is true",
            'securityContext.sysctls[4].name: Duplicate value: "a"',
            'securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
            "securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set",
            "securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set",
            'securityContext.supplementalGroupsPolicy: Unsupported value: "None": supported values: "Merge", "Strict"',
            'securityContext.seLinuxChangePolicy: Unsupported value: "Label": supported values: "MountOption", "Recursive"',
        ],
    ),
    "namespaces that are the host's and shared": (
        {"hostPID": True, "shareProcessNamespace": True},
        ["shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"],
    ),
    "a group that is not named": (
        {"schedulingGroup": {}},
        ["schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"],
    ),
    "a group's name": (
        {"schedulingGroup": {"podGroupName": "A"}},
        [f'schedulingGroup.podGroupName: Invalid value: "A": {SUBDOMAIN}'],
    ),
    "restart and preemption": (
        {"restartPolicy": "Sometimes", "preemptionPolicy": ""},
        [
            'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
            "preemptionPolicy: Required value",
        ],
    ),
    "ephemeral containers": (
        {
            "ephemeralContainers": [
                {"name": "d", "image": "x", "targetContainerName": "no", "ports": [{"containerPort": 1}]}
            ]
        },
        [
            'ephemeralContainers[0].targetContainerName: Not found: "no"',
            "ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
            "ephemeralContainers: Forbidden: cannot be set on create",
        ],
    ),
    "a process of the host off the host's network": (
        {"securityContext": {"windowsOptions": {"hostProcess": True}}},
        ["hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers"],
    ),
    "init containers with what only sidecars have": (
        {"initContainers": [{"name": "i", "image": "x", "lifecycle": {}, "livenessProbe": {}}]},
        [
            "initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
            "initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
        ],
    ),
    "sidecars have probes": (
        {"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always", "livenessProbe": {"exec": {}}}]},
        ["initContainers[0].livenessProbe.exec.command: Required value"],
    ),
}
OF_METADATA: dict[str, tuple[Data, list[str]]] = {
    "finalizers": (
        {"finalizers": ["x", "a/b/c", "orphan", "foregroundDeletion"]},
        [
            f'finalizers: Invalid value: "a/b/c": {KEY}',
            'finalizers: Invalid value: ["x","a/b/c","orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
            'finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
        ],
    ),
    "owners": (
        {
            "ownerReferences": [
                {"apiVersion": "apps/", "kind": "A", "name": "a", "uid": "1"},
                {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "2"},
            ]
        },
        [
            'ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
            'ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"2"}: /v1, Kind=Event is disallowed from being an owner',
        ],
    ),
    "a deletion cost": (
        {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "01"}},
        ['annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a 32bit integer'],
    ),
    "profiles in annotations": (
        {
            "annotations": {
                "seccomp.security.alpha.kubernetes.io/pod": "x",
                "container.apparmor.security.beta.kubernetes.io/no": "runtime/default",
                "container.apparmor.security.beta.kubernetes.io/main": "x",
            }
        },
        [
            'annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile',
            'annotations[container.apparmor.security.beta.kubernetes.io/main]: Invalid value: "x": invalid AppArmor profile name: "x"',
            'annotations[container.apparmor.security.beta.kubernetes.io/no]: Invalid value: "no": container not found',
        ],
    ),
    "annotations": ({"annotations": {"a b": "c"}}, [f'annotations: Invalid value: "a b": {NAME}']),
}


def with_container(fields: Data) -> Data:
    """The pod has an emptyDir v and a claim c, and 30 seconds to end."""
    claim = {"name": "c", "persistentVolumeClaim": {"claimName": "c"}}
    return pod(
        containers=[{"name": "main", "image": "x", **fields}],
        volumes=[{"name": "v", "emptyDir": {}}, claim],
        terminationGracePeriodSeconds=30,
    )


def texts(candidate: Data, below: str, version: KubeVersion = LATEST) -> list[str]:
    return [str(fault).removeprefix(below) for fault in faults_of(candidate, version)]


@pytest.mark.parametrize("case", OF_CONTAINERS)
def test_containers(case: str) -> None:
    fields, faults = OF_CONTAINERS[case]
    assert texts(with_container(fields), "spec.containers[0].") == faults


@pytest.mark.parametrize("case", OF_VOLUMES)
def test_volumes(case: str) -> None:
    source, faults = OF_VOLUMES[case]
    assert texts(pod(volumes=[{"name": "v", **source}]), "spec.volumes[0].") == faults


@pytest.mark.parametrize("case", OF_SPECS)
def test_specs(case: str) -> None:
    fields, faults = OF_SPECS[case]
    assert texts(pod(**fields), "spec.") == faults


@pytest.mark.parametrize("case", OF_METADATA)
def test_metadata(case: str) -> None:
    fields, faults = OF_METADATA[case]
    candidate = pod()
    candidate["metadata"] |= fields
    assert texts(candidate, "metadata.") == faults


def test_a_stored_pod_has_what_it_was_given_on_its_node() -> None:
    candidate = pod(ephemeralContainers=[{"name": "d", "image": "x"}])
    candidate["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert texts(candidate, "") == [
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
        "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ]
    candidate["metadata"]["uid"] = "u"
    assert texts(candidate, "") == []


RUN_AS = {"securityContext": {"runAsUser": 2**31}}
SIGNAL = {"lifecycle": {"stopSignal": "SIGFOO"}}
BY_VERSION: dict[str, tuple[Data, KubeVersion, list[str]]] = {
    "identifiers of users were smaller": (
        with_container(RUN_AS),
        KubeVersion(36),
        [
            "spec.containers[0].securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive"
        ],
    ),
    "identifiers of users have 32 bits": (with_container(RUN_AS), KubeVersion(37), []),
    "signals without a gate are dropped": (with_container(SIGNAL), LATEST, []),
    "signals need an operating system": (
        with_container(SIGNAL),
        LATEST.with_gates("ContainerStopSignals=true"),
        ["spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"],
    ),
    "addresses were read as Go reads them": (pod(hostAliases=[{"ip": "01.2.3.4"}]), KubeVersion(35), []),
}


@pytest.mark.parametrize("case", BY_VERSION)
def test_versions_and_gates(case: str) -> None:
    candidate, version, faults = BY_VERSION[case]
    assert texts(candidate, "", version) == faults


WRONG_TYPES: dict[str, tuple[Data, str]] = {
    "a variable's number": (
        {"env": [{"name": "a", "value": 8080}]},
        "number into Go struct field EnvVar.spec.containers.env.value of type string",
    ),
    "a command's text": (
        {"command": "sh"},
        "string into Go struct field Container.spec.containers.command of type []string",
    ),
    "a delay's text": (
        {"livenessProbe": {"periodSeconds": "5"}},
        "string into Go struct field Probe.spec.containers.livenessProbe.periodSeconds of type int32",
    ),
    "a mount's text": (
        {"volumeMounts": [{"readOnly": "yes"}]},
        "string into Go struct field VolumeMount.spec.containers.volumeMounts.readOnly of type bool",
    ),
}


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_types_of_fields_that_scheduling_does_not_read(case: str) -> None:
    fields, said = WRONG_TYPES[case]
    with pytest.raises(DecodingError) as raised:
        decode_pod(with_container(fields))
    assert str(raised.value) == f"json: cannot unmarshal {said}"


def workload(kind: str, api_version: str = "apps/v1", **spec: Any) -> Data:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels, "annotations": {"a b": "c"}}, "spec": pod(hostname="A", **spec)["spec"]}
    selector = {"selector": {"matchLabels": labels}} if api_version == "apps/v1" else {}
    own = {**selector, "template": template}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": own}


DEBUG = [{"name": "d", "image": "x"}]
ENDING: Data = {"restartPolicy": "Never", "activeDeadlineSeconds": 5}
ANNOTATION = f'spec.template.annotations: Invalid value: "a b": {NAME}'
HOSTNAME = f'spec.template.spec.hostname: Invalid value: "A": {LABEL}'
ONLY_ALWAYS = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
DEADLINE = "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in"
OF_TEMPLATES: dict[str, tuple[Data, list[str]]] = {
    "containers for debugging": (
        workload("Deployment", ephemeralContainers=DEBUG),
        [
            ANNOTATION,
            HOSTNAME,
            "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
        ],
    ),
    "a StatefulSet's template, whose spec its pods are refused for": (workload("StatefulSet"), [ANNOTATION]),
    "pods of a Deployment that end": (
        workload("Deployment", **ENDING),
        [ANNOTATION, HOSTNAME, ONLY_ALWAYS, f"{DEADLINE} ReplicaSet is not Supported"],
    ),
    "pods of a StatefulSet that end": (
        workload("StatefulSet", **ENDING),
        [ANNOTATION, ONLY_ALWAYS, f"{DEADLINE} StatefulSet is not Supported"],
    ),
    "pods of a Job that do not end": (
        workload("Job", "batch/v1"),
        [ANNOTATION, HOSTNAME, 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ),
    "pods of a Job that end": (workload("Job", "batch/v1", **ENDING), [ANNOTATION, HOSTNAME]),
}


@pytest.mark.parametrize("case", OF_TEMPLATES)
def test_templates(case: str) -> None:
    manifest, faults = OF_TEMPLATES[case]
    with pytest.raises(ManifestError) as raised:
        kubespread.explain(kubespread.Snapshot.from_objects([node("n")]), manifest)
    assert [f"{fault.field}: {fault.message}" for fault in raised.value.faults] == faults
