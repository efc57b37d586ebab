"""Every field of nodes and of the kinds that create pods, as the API servers' schemas have them.

They are in `kube/releases/`. A field that a release has lost is still one, since its manifests are read too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from kubespread.kube.releases.changes import all_changes


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    types: dict[str, dict[str, str]] = {}
    for changes in all_changes().values():
        for cls, fields in changes.fields.items():
            types.setdefault(cls, {}).update({name: below for name, below in fields.items() if below is not None})
    return types


def fields_of(cls: str) -> Mapping[str, str]:
    """The fields that a type of the API has in any release: the type below each, ``""`` where nothing is known."""
    return _types()[cls]
