"""The single files of build/binary beside the installed program: their size, and what a user waits for their start."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from bench.measuring import PROGRAM, in_turn, seconds

RUNS = 15
ROOT = Path(__file__).parents[1]
FILES = ROOT / "build" / "binary"
EXPLAIN = ["explain", "fixtures/manifests/two-constraints.yaml", "-S", "fixtures/clusters/docs-4-nodes.yaml", "-q"]


def single_file() -> None:
    files = [each for each in sorted(FILES.glob("*")) if each.is_file() and os.access(each, os.X_OK)]
    if not files:
        print("No single file in build/binary: make binary")
        return
    print(f"Single files: whole processes, in turn, median of {RUNS} runs")
    print(f"  {'':<24}{'size':>8}{'first start':>14}{'--version':>12}{'explain':>11}")
    with tempfile.TemporaryDirectory() as directory:
        # Where they unpack themselves: nowhere anything is from earlier.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"SHIV_ROOT": directory, "PEX_ROOT": directory}
        process = partial(subprocess.run, env=environment, cwd=ROOT, capture_output=True, check=True)
        first = {each: seconds(partial(process, [each, "--version"])) for each in files}
        programs = [PROGRAM, *files]
        for each in programs:
            process([each, *EXPLAIN])
        version, explain = (
            in_turn({str(each): partial(process, [each, *words]) for each in programs}, RUNS)
            for words in (["--version"], EXPLAIN)
        )
        for each in programs:
            size, start = (f"{each.stat().st_size / 1e6:.0f} MB", f"{first[each]:.1f} s") if each in first else ("", "")
            name = each.name if each in first else "installed"
            print(f"  {name:<24}{size:>8}{start:>14}{version[str(each)]:>10.3f} s{explain[str(each)]:>9.3f} s")
