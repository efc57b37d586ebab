"""What a user waits for when nothing is large: whole processes, from start to end."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from bench.clusters import cluster, deployment
from bench.measuring import PROGRAM, against, seconds

RUNS = 15


def starting() -> None:
    print(f"Whole process, median of {RUNS} runs")
    with tempfile.TemporaryDirectory() as directory:
        snapshot, manifest = Path(directory) / "cluster.json", Path(directory) / "web.json"
        snapshot.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(10)}))
        manifest.write_text(json.dumps(deployment()))
        # Compiled beforehand as an installation is, whatever this environment says about writing bytecode.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(directory) / "bytecode")
        for case, target, arguments in (
            ("kubespread --version", 0.12, ["--version"]),
            ("explain, 10 nodes, 300 pods", 0.30, ["explain", str(manifest), "-S", str(snapshot), "-q"]),
        ):
            process = partial(
                subprocess.run, [str(PROGRAM), *arguments], env=environment, capture_output=True, check=True
            )
            process()
            took = seconds(process, RUNS)
            print(f"  {case:<32}{took:7.3f} s   {against(took, target, 's')}")
