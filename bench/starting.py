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
_COMPLETED = "a tab, 5,000 nodes indexed"


def starting() -> None:
    print(f"Whole process, median of {RUNS} runs")
    with tempfile.TemporaryDirectory() as directory:
        snapshot, manifest = Path(directory) / "cluster.json", Path(directory) / "web.json"
        snapshot.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(10)}))
        manifest.write_text(json.dumps(deployment()))
        large = Path(directory) / "large.json"
        large.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(5000)}))
        # Compiled beforehand as an installation is, whatever this environment says about writing bytecode.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(directory) / "bytecode")
        environment["XDG_CACHE_HOME"] = str(Path(directory) / "cache")
        for case, target, arguments in (
            ("kubespread --version", 0.12, ["--version"]),
            ("explain, 10 nodes, 300 pods", 0.30, ["explain", str(manifest), "-S", str(snapshot), "-q"]),
            (_COMPLETED, 0.15, ["survive", "-S", str(large), "--cordon", ""]),
        ):
            asked = {"_KUBESPREAD_COMPLETE": "zsh"} if case == _COMPLETED else {}
            process = partial(
                subprocess.run,
                [str(PROGRAM), *arguments],
                env={**environment, **asked},
                capture_output=True,
                check=True,
            )
            process()
            took = seconds(process, RUNS)
            print(f"  {case:<32}{took:7.3f} s   {against(took, target, 's')}")
