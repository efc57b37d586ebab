"""A program that decodes every kind in six threads at once, each kind for the first time in its process.

The threads change as often as Python lets them, because what goes wrong here goes wrong between two of them.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any, cast

from kubespread.snapshot.live.api import Api
from kubespread.snapshot.live.connection import RESOURCES, ObjectList, lists_of, path_of

SPEC = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "affinity": {"nodeAffinity": {}}}
METADATA = {"name": "a", "labels": {"a": "b"}, "ownerReferences": [{"kind": "x"}]}
BY_PATH = {path_of(resource): resource for resource in RESOURCES}


def page(path: str, **_query: object) -> bytes:
    """A list of three objects, the last of which has a null and is decoded the slow way."""
    resource = BY_PATH[path]
    spec: dict[str, Any] = SPEC if resource.kind == "Pod" else {"template": {"metadata": {}, "spec": SPEC}}
    items = [{"metadata": {**METADATA, "name": name}, "spec": spec} for name in ("a", "b")]
    null = {"metadata": {"name": "c", "labels": None}, "spec": spec}
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": {}}
    return json.dumps({**head, "items": [*items, null]}).encode()


if __name__ == "__main__":
    sys.setswitchinterval(1e-6)
    api = cast("Api", SimpleNamespace(get=page, server="https://server", timeout=30.0))
    lists = lists_of(api, RESOURCES)
    sys.stdout.write(" ".join(str(len(found.objects)) for found in lists if isinstance(found, ObjectList)))
