"""What a user waits for when nothing is large: whole processes, from start to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.clusters import cluster, deployment
from bench.measuring import PROGRAM, against, in_turn

RUNS = 15
NOTHING = "python -c pass"
TARGETS = {"kubespread --version": 0.12, "explain, 10 nodes, 300 pods": 0.25}
"""Seconds."""


def starting() -> None:
    print(f"Whole process, median of {RUNS} runs, in turn with a Python that does nothing")
    with tempfile.TemporaryDirectory() as directory:
        snapshot, manifest = (Path(directory) / name for name in ("cluster.json", "web.json"))
        manifest.write_text(json.dumps(deployment()))
        snapshot.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(10)}))
        # Compiled beforehand as an installation is, whatever this environment says about writing bytecode.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(directory) / "bytecode")
        environment["XDG_CACHE_HOME"] = str(Path(directory) / "cache")
        process = partial(subprocess.run, env=environment, capture_output=True, check=True)
        version, explain = TARGETS
        processes = {
            NOTHING: partial(process, [sys.executable, "-c", "pass"]),
            version: partial(process, [PROGRAM, "--version"]),
            explain: partial(process, [PROGRAM, "explain", manifest, "-S", snapshot, "-q"]),
        }
        in_turn(processes, 1)
        for case, took in in_turn(processes, RUNS).items():
            target = f"   {against(took, TARGETS[case], 's')}" if case in TARGETS else ""
            print(f"  {case:<32}{took:7.3f} s{target}")
