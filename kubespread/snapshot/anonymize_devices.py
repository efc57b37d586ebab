"""What an anonymized snapshot has to keep of devices: whatever a selector could compare.

Selectors are CEL expressions with attributes' values in them, so an expression stays as it is, and so do attributes
that some expression mentions. What nothing asks about is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.devices import DeviceAttribute, DeviceSelector, ResourceClaimSpec

_WORD = re.compile(r"\w+")


def words_of_selectors(objects: ClusterObjects) -> frozenset[str]:
    """Every word that stands in some selector of a class, a claim or a template."""
    return frozenset(
        word
        for selector in _selectors(objects)
        if selector.cel is not None
        for word in _WORD.findall(selector.cel.expression)
    )


def _selectors(objects: ClusterObjects) -> Iterator[DeviceSelector]:
    for device_class in objects.device_classes:
        yield from device_class.spec.selectors
    for claim in objects.resource_claims:
        yield from _selectors_of(claim.spec)
    for template in objects.resource_claim_templates:
        yield from _selectors_of(template.spec.spec)


def _selectors_of(spec: ResourceClaimSpec) -> Iterator[DeviceSelector]:
    for request in spec.devices.requests:
        for asked in (request.exactly, *request.first_available):
            yield from asked.selectors if asked is not None else ()


def renamed_attributes(
    attributes: Mapping[str, DeviceAttribute], words: frozenset[str], rename: Callable[[str], str]
) -> dict[str, DeviceAttribute]:
    """Attributes by their names, with the strings renamed that no selector asks about."""
    return {
        name: attribute
        if attribute.string_value is None or name.rpartition("/")[2] in words
        else msgspec.structs.replace(attribute, string_value=rename(attribute.string_value))
        for name, attribute in attributes.items()
    }
