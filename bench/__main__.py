"""``python -m bench [ROW...]``: measured values beside their targets; without a row, all of them."""

from __future__ import annotations

import sys

from bench.checking import checking
from bench.claiming import claiming
from bench.devices import taking_devices
from bench.evaluating import evaluating
from bench.handing_out import handing_out
from bench.loading import loading
from bench.pending import pending
from bench.placing import placing
from bench.preempting import preempting
from bench.queueing import queueing
from bench.rendering import rendering
from bench.single_file import single_file
from bench.starting import starting
from bench.surviving import surviving

ROWS = {
    "start": starting,
    "single-file": single_file,
    "evaluation": evaluating,
    "placing": placing,
    "devices": taking_devices,
    "queue": queueing,
    "claims": claiming,
    "preemption": preempting,
    "render": rendering,
    "survive": surviving,
    "check": checking,
    "pending": pending,
    "loading": loading,
    "jobs": handing_out,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; rows: {', '.join(ROWS)}")
    for name in names or ROWS:
        ROWS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
