"""Many clusters asked the same question, each a saved snapshot of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from bench.measuring import PROGRAM, against, seconds
from bench.workloads import running
from kubespread import Snapshot
from kubespread.snapshot.save import save

CLUSTERS, NODES, WORKLOADS = 200, 100, 60
_KINDS = 5
_TARGET = 30.0


def asking_fleets() -> None:
    most = WORKLOADS + 10 * (_KINDS - 1)
    print(f"{CLUSTERS} clusters of {NODES} nodes, {NODES * 30:,} pods and {WORKLOADS} to {most} Deployments each")
    with tempfile.TemporaryDirectory() as name:
        for number in range(CLUSTERS):
            kind, path = number % _KINDS, Path(name) / f"cluster-{number:03d}.json.gz"
            if number < _KINDS:
                save(Snapshot.from_objects(running(NODES, WORKLOADS + 10 * kind)), str(path))
            else:
                shutil.copy(path.with_name(f"cluster-{kind:03d}.json.gz"), path)
        for jobs in ((), ("--jobs", "1")):
            took = seconds(partial(_audit, f"{name}/*.json.gz", *jobs))
            met = "" if jobs else against(took, _TARGET, "s")
            print(f"  {' '.join(('fleet audit -A', *jobs)):<30}{took:8.2f} s   {met}".rstrip())


def _audit(pattern: str, *options: str) -> None:
    # Alike clusters are the same content, which is not read again where what was decoded is kept.
    subprocess.run(
        [str(PROGRAM), "fleet", "-S", pattern, "audit", "-A", "-q", *options],
        check=False,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": os.devnull},
    )
