"""Resources, domains and nodes, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.capacity import CapacityReport, ResourceAmounts
from kubespread.planner.reports.details import rounded
from kubespread.views.aligned import NONE, blocks
from kubespread.views.capacity.words import of, share, shown, stranded_text
from kubespread.views.look import Look
from kubespread.wording import EMPTY

_RESOURCE_HEADER = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "USED", "FREE", "USABLE", "STRANDED"]


def write(report: CapacityReport, look: Look) -> str:
    """Three blocks; what holds blanks comes last in its row."""
    return blocks(
        (resource_header(), resource_rows(report)),
        (domain_header(report), domain_rows(report)),
        (node_header(report), node_rows(report)),
        headers=look.headers,
    )


def resource_header() -> list[str]:
    """Of the rows of resources."""
    return _RESOURCE_HEADER


def resource_rows(report: CapacityReport) -> Iterator[list[str]]:
    """A row a resource, what is stranded of it last."""
    for each in report.resources:
        stranded = "; ".join(stranded_text(part, report.request) for part in each.stranded)
        yield [*_amounts(each), rounded(each.usable), stranded or NONE]


def _amounts(each: ResourceAmounts) -> list[str]:
    return [each.resource, rounded(each.allocatable), rounded(each.requested, up=True), share(each), rounded(each.free)]


def domain_header(report: CapacityReport) -> list[str]:
    """Of the rows of domains."""
    return ["DOMAIN", "NODES", *_fits_header(report), *_columns(report)]


def domain_rows(report: CapacityReport) -> Iterator[list[str]]:
    """A row a domain."""
    for each in report.domains:
        yield [domain_text(each.domain), str(each.nodes), *_fits(each.fits), *_figures(report, each.resources)]


def node_header(report: CapacityReport) -> list[str]:
    """Of the rows of nodes."""
    return ["NODE", "DOMAIN", *_fits_header(report), *_columns(report), "WHY"]


def node_rows(report: CapacityReport) -> Iterator[list[str]]:
    """A row a node, its name first and why no other pod fits last."""
    for each in report.node_rows:
        why = ", ".join(each.why) or NONE
        yield [each.node, domain_text(each.domain), *_fits(each.fits), *_figures(report, each.resources), why]


def _columns(report: CapacityReport) -> list[str]:
    names = [name.upper() for name in (*shown(report), "pods")]
    return [f"{name}-{what}" for name in names for what in ("REQUESTED", "USED", "FREE")]


def _figures(report: CapacityReport, resources: Sequence[ResourceAmounts]) -> list[str]:
    each = [of(resources, name) for name in (*shown(report), "pods")]
    return [figure for amounts in each for figure in _amounts(amounts)[2:]]


def _fits_header(report: CapacityReport) -> list[str]:
    return [] if report.request is None else ["FITS"]


def _fits(fits: int | None) -> list[str]:
    return [] if fits is None else [str(fits)]


def domain_text(domain: str | None) -> str:
    """The value, which may be empty, or that there is none."""
    return NONE if domain is None else domain or EMPTY
