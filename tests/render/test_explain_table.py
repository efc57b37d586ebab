"""The table at widths that leave it no room."""

from __future__ import annotations

import kubespread
from kubespread.render.explain import table
from kubespread.render.look import Look
from tests.builders import hard, hosts, pod


def test_long_names_fold_and_the_arithmetic_stays_whole() -> None:
    """A cloud's node names leave 80 columns no room; what is shortened elsewhere is what the table is read for."""
    name, zone = "gke-prod-eu-west4-default-pool-5f3a1c00-x7kq", "europe-west4-a"
    (host,) = hosts(zone)
    host["metadata"]["name"] = host["metadata"]["labels"]["kubernetes.io/hostname"] = name
    report = kubespread.explain(
        kubespread.Snapshot.from_objects([host]), pod(constraints=[hard("topology.kubernetes.io/zone")])
    )
    lines = table.write(report, Look(width=80)).splitlines()
    assert max(map(len, lines)) <= 80
    start = next(position for position, line in enumerate(lines) if "FITS" in line)
    (first, second) = (line.split() for line in lines[start + 1 : start + 3])
    assert (first[0] + second[0], first[1:3], " ".join(first[3:6])) == (name, [zone, "yes"], "0+1−0 = 1")
    assert "…" not in "".join(lines)
