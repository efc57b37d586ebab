"""The programs that answer cases with Kubernetes' own code, built against a checkout that stays as it is.

What lies in ``kubernetes/`` is laid over the checkout at the same paths, and INSERTIONS are made in copies of its files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

UNKNOWN = "unknown"
"""The commit of a checkout of which neither git nor anybody says it."""
OVERLAY = Path(__file__).parent / "kubernetes"
_VERSION = Path("staging/src/k8s.io/component-base/version/base.go")
_TAG = re.compile(r"v(1\.\d+\.\d+)")
_MINOR = re.compile(r'DefaultKubeBinaryVersion\s*=\s*"([0-9.]+)"')


class Insertion(NamedTuple):
    """Lines that a file of Kubernetes gets after those that are there exactly once."""

    file: str
    after: str
    lines: str


INSERTIONS = (
    Insertion(
        "pkg/scheduler/framework/preemption/preemption.go",
        '\t\treturn nil, fwk.NewStatus(fwk.Unschedulable, "no candidate node for preemption")\n\t}\n',
        "\trecorderTell(ctx, bestCandidate)\n",
    ),
    Insertion(
        "pkg/scheduler/framework/preemption/preemption.go",
        "\tfor node := range nodesToVictims {\n\t\tallCandidates = append(allCandidates, node)\n\t}\n",
        "\trecorderSort(allCandidates)\n",
    ),
    Insertion(
        "pkg/scheduler/util/utils.go",
        "\tif pod.Status.StartTime != nil {\n\t\treturn pod.Status.StartTime\n\t}\n",
        "\treturn recorderNow\n",
    ),
    Insertion(
        "staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go",
        "\to.drainer.OnPodDeletionOrEvictionStarted = o.onPodDeletionOrEvictionStarted\n",
        "\to.drainer.EvictErrorRetryDelay = 400 * time.Millisecond\n",
    ),
)


class CheckoutError(Exception):
    """A checkout that nothing can be recorded with; the text says what it lacks."""


class Checkout(NamedTuple):
    """A checkout of Kubernetes, and what a recording says of it."""

    path: Path
    release: str
    commit: str


def checkout(path: Path, release: str | None = None, commit: str | None = None) -> Checkout:
    """The checkout at ``path``. ``release`` and ``commit`` say what git and its own files do not. Raises CheckoutError."""
    if not (path / "vendor").is_dir() or not (path / _VERSION).is_file():
        raise CheckoutError(f"{path}: not a checkout of Kubernetes with vendor/")
    found = _MINOR.search((path / _VERSION).read_text())
    tagged = _TAG.match(_git(path, "describe", "--tags", "--match", "v1.*")) or found
    release = release or (tagged and tagged[1])
    if not release:
        raise CheckoutError(f"{path}: which release it is cannot be told; name it with RELEASE=")
    return Checkout(path.resolve(), release, commit or _git(path, "rev-parse", "HEAD") or UNKNOWN)


def _git(path: Path, *arguments: str) -> str:
    """What git says of the checkout; empty where it has no repository of its own."""
    if not (path / ".git").exists():
        return ""
    found = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def inserted(text: str, insertion: Insertion) -> str:
    """``text`` with the lines in their place. Raises CheckoutError where the place is missing, or not the only one."""
    if text.count(insertion.after) != 1:
        raise CheckoutError(
            f"{insertion.file}: the lines after which {insertion.lines.strip()} belongs are there"
            f" {text.count(insertion.after)} times instead of once: {insertion.after.strip()!r}"
        )
    return text.replace(insertion.after, insertion.after + insertion.lines)


def overlay(kubernetes: Path, build: Path) -> Iterator[tuple[Path, Path]]:
    """Which file takes the place of which path of the checkout; changed ones are written into ``build``."""
    for path in sorted(OVERLAY.rglob("*.go")):
        yield kubernetes / path.relative_to(OVERLAY), path
    for name in dict.fromkeys(insertion.file for insertion in INSERTIONS):
        text = (kubernetes / name).read_text()
        for insertion in INSERTIONS:
            if insertion.file == name:
                text = inserted(text, insertion)
        changed = build / Path(name).name
        changed.write_text(text)
        yield kubernetes / name, changed


def built(kubernetes: Path, build: Path, programs: Iterable[str]) -> Path:
    """``build``, with these programs in it. A first build takes 10 to 20 minutes on two cores. Raises CheckoutError."""
    build.mkdir(parents=True, exist_ok=True)
    table = build / "overlay.json"
    replace = {str(place): str(path) for place, path in overlay(kubernetes, build)}
    table.write_text(json.dumps({"Replace": replace}, indent=1))
    environment = {**os.environ, "GOFLAGS": "-mod=vendor", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    commands = [f"./cmd/{program}" for program in programs]
    try:
        subprocess.run(
            ["go", "build", "-overlay", str(table), "-o", f"{build}/", *commands],
            cwd=kubernetes,
            env=environment,
            check=True,
        )
    except FileNotFoundError:
        raise CheckoutError("go is not installed: pip install --group record") from None
    except subprocess.CalledProcessError:
        raise CheckoutError(f"{kubernetes}: the recorder does not build against it; go says why above") from None
    return build
