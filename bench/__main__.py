"""``python -m bench [ROW...]``: measured values beside their targets; without a row, all but the longest.

``growth`` is the longest, and takes the sizes of its clusters, ``growth:100,1000``; ``many`` is its second part alone.
"""

from __future__ import annotations

import sys

from bench.checking import checking
from bench.claiming import claiming
from bench.devices import taking_devices
from bench.evaluating import evaluating
from bench.fleets import asking_fleets
from bench.growing import SIZES, growing
from bench.handing_out import handing_out
from bench.largest import largest
from bench.live import live
from bench.loading import loading
from bench.many import growing_things
from bench.pages import pages
from bench.pending import pending
from bench.placing import placing
from bench.preempting import preempting
from bench.queueing import queueing
from bench.rendering import rendering
from bench.reporting import reporting
from bench.serving import serving
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
    "serving": serving,
    "preemption": preempting,
    "render": rendering,
    "survive": surviving,
    "report": reporting,
    "pages": pages,
    "fleet": asking_fleets,
    "check": checking,
    "pending": pending,
    "loading": loading,
    "largest": largest,
    "live": live,
    "jobs": handing_out,
}


GROWTH, MANY = "growth", "many"


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in ROWS and name != MANY and name.partition(":")[0] != GROWTH]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; rows: {', '.join((*ROWS, GROWTH, MANY))}")
    for name in names or ROWS:
        if name in ROWS:
            ROWS[name]()
        elif name != MANY:
            sizes = name.partition(":")[2]
            growing([int(size) for size in sizes.split(",")] if sizes else SIZES)
        if name not in ROWS:
            growing_things()


if __name__ == "__main__":
    main(sys.argv[1:])
