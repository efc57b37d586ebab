"""Validation of a pod's resource claims, and of the containers' references to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubespread.kube.api.core import ContainerClaim, PodResourceClaim
from kubespread.kube.name_rules import dns_label_faults, subdomain_faults
from kubespread.kube.validation.faults import FieldFault, duplicate, invalid, invalid_each, not_found, required


def claim_faults(claims: Sequence[PodResourceClaim], pod_name: str, path: str) -> Iterator[FieldFault]:
    """spec.resourceClaims; a template has no pod's name yet, and nothing is said of what its claims will be called."""
    names: set[str] = set()
    for position, claim in enumerate(claims):
        yield from _name_faults(claim, pod_name, names, f"{path}[{position}]")
        yield from _source_faults(claim, f"{path}[{position}]")


def _name_faults(claim: PodResourceClaim, pod_name: str, names: set[str], path: str) -> Iterator[FieldFault]:
    if not claim.name:
        yield required(f"{path}.name")
    elif claim.name in names:
        yield duplicate(f"{path}.name", claim.name)
    else:
        names.add(claim.name)
        faults = invalid_each(f"{path}.name", claim.name, dns_label_faults(claim.name))
        yield from faults
        if not faults and pod_name and claim.resource_claim_template_name is not None:
            made = f"{pod_name}-{claim.name}"
            yield from invalid_each(
                f"{path}.name", made, (f"final ResourceClaim name: {fault}" for fault in subdomain_faults(made))
            )


def _source_faults(claim: PodResourceClaim, path: str) -> Iterator[FieldFault]:
    sources = (
        ("resourceClaimName", claim.resource_claim_name),
        ("resourceClaimTemplateName", claim.resource_claim_template_name),
    )
    named = [(field, name) for field, name in sources if name is not None]
    if len(named) != 1:
        rule = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        detail = rule if named else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        # The API server prints its own struct, whose fields have Go names.
        yield invalid(
            path, {"Name": claim.name, **{field[0].upper() + field[1:]: name for field, name in sources}}, detail
        )
    for field, name in named:
        yield from invalid_each(f"{path}.{field}", name, subdomain_faults(name))


def reference_faults(references: Sequence[ContainerClaim], claims: Iterable[str], path: str) -> Iterator[FieldFault]:
    """A container's resources.claims, each of which must be one of the pod's."""
    known = sorted(claims)
    rule = "must be one of the names in pod.spec.resourceClaims"
    rule += f": {', '.join(known)}" if known else " which is empty"
    seen: set[tuple[str, str]] = set()
    for position, reference in enumerate(references):
        here = f"{path}[{position}]"
        if not reference.name:
            yield required(here)
            continue
        if (reference.name, reference.request) in seen:
            yield duplicate(here, reference.name)
        seen.add((reference.name, reference.request))
        if reference.name not in known:
            yield not_found(here, reference.name, rule)
