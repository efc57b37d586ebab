"""Questions made of parts, by one process and by two workers: what waiting for them and what they cost.

Times on the clock are paired, but say something only where two cores are idle: the load is printed beside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bench.clusters import Data
from bench.measuring import PROGRAM, against
from bench.workloads import running

NODES, WORKLOADS, RUNS = 200, 200, 3
TARGET = 0.65
"""Of the time that one process takes."""
_SCENARIO = (
    "kind: Scenario\nspec:\n  steps:\n    - scale team-0/deploy/web-0=5\n    - drain node-00000 --ignore-daemonsets\n"
)


_HOLDING = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "held", "namespace": "team-9"},
    "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web-199"}}},
}
"""With it no upgrade gets through, and changes are tried that might get it through."""


class _Took(NamedTuple):
    clock: float
    """Seconds."""
    cpu: float
    """Seconds of all its processes."""
    largest: float
    """Megabytes of the largest of them."""


def handing_out() -> None:
    print(
        f"Parts in worker processes, {NODES} nodes, {WORKLOADS} Deployments, whole processes, in turn, median of {RUNS}"
    )
    print(f"  {'':<36}{'--jobs 1':>10}{'2':>9}{'CPU, 1':>10}{'2':>9}{'largest, 1':>13}{'2':>8}")
    with tempfile.TemporaryDirectory() as name:
        saved, held = _saved(Path(name), "saved"), _saved(Path(name), "held", _HOLDING)
        scenario = Path(name) / "scenario.yaml"
        scenario.write_text(f"apiVersion: kubespread.dev/v1alpha1\n{_SCENARIO}")
        for asked in (
            ["survive", "-A", "--key", "hostname"],
            ["removable"],
            ["audit", "-A"],
            ["check", "-A"],
            ["plan", str(scenario), "--runs", "16"],
            ["upgrade", "kubernetes.io/os=linux", "-S", held],
        ):
            asked = asked if "-S" in asked else [*asked, "-S", saved]
            rounds = [[_took([*asked, "--jobs", jobs]) for jobs in ("1", "2")] for _ in range(RUNS)]
            one, two = ([median(each) for each in zip(*side, strict=True)] for side in zip(*rounds, strict=True))
            what = " ".join(word for word in asked[:4] if not word.startswith("/"))
            print(
                f"  {what:<36}{one[0]:8.2f} s{two[0]:7.2f} s{one[1]:8.2f} s{two[1]:7.2f} s{one[2]:10.0f} MB"
                f"{two[2]:5.0f} MB   {two[0] / one[0]:.2f}, {against(two[0] / one[0], TARGET, 'of it')}"
            )
    print(
        f"  load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores: with more than these, two workers cannot be faster"
    )


def _saved(folder: Path, name: str, *more: Data) -> str:
    source, saved = folder / f"{name}-source.json", str(folder / f"{name}.json.gz")
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*running(NODES, WORKLOADS), *more]}))
    _took(["snapshot", "-S", str(source), "-o", saved])
    return saved


def _took(words: Sequence[str]) -> _Took:
    begun = perf_counter()
    process = subprocess.Popen([str(PROGRAM), *words, "-q"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), process.args
    return _Took(perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
