"""The annotations that scheduling reads. No other one is kept of a cluster: they hold whole manifests, and secrets."""

from __future__ import annotations

STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
REVISION = "deployment.kubernetes.io/revision"

READ_ANNOTATIONS = frozenset(
    {STORAGE_CLASS, BIND_COMPLETED, SELECTED_NODE, MIGRATED_PLUGINS, *DEFAULT_CLASS, NODE_SELECTOR, REVISION}
)
