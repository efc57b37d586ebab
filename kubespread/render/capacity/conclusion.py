"""What comes of a capacity, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.escaping import escaped
from kubespread.planner.reports.capacity import CapacityReport
from kubespread.render.aligned import NONE
from kubespread.render.capacity.words import extremes, largest_text, request_text
from kubespread.render.phrases import count_of

_MAX_NAMED = 6


def conclusion(report: CapacityReport) -> Iterator[str]:
    """The largest pods that fit, and with a request how many of it fit where."""
    largest = extremes(report.largest)
    if largest:
        yield f"largest pod that fits: {escaped(' or '.join(map(largest_text, largest)))}"
    elif not report.fits:
        *names, last = dict.fromkeys(("cpu", "memory", *(report.request or ())))
        yield f"no node has room for a pod that asks for {', '.join(names)} and {last}"
    if report.request is not None and report.fits is not None:
        pods = f"{count_of(report.fits, 'pod')} of {request_text(report.request)}"
        yield (
            f"{pods} {'fits' if report.fits == 1 else 'fit'}{_where(report)}"
            if report.fits
            else f"no pod of {request_text(report.request)} fits"
        )


def _where(report: CapacityReport) -> str:
    if not report.domains:
        return ""
    fits = [(NONE if each.domain is None else escaped(each.domain) or '""', each.fits or 0) for each in report.domains]
    if len(fits) <= _MAX_NAMED:
        return f": {', '.join(f'{domain} {count:,}' for domain, count in fits)}"
    fewest, most = min(fits, key=lambda each: each[1]), max(fits, key=lambda each: each[1])
    return f": from {fewest[1]:,} in {fewest[0]} to {most[1]:,} in {most[0]}"
