"""The programs that answer cases with a project's own code, built against a checkout that stays as it is.

What lies in ``kubernetes/`` or ``descheduler/`` is laid over the checkout at the same paths, and insertions are made in
copies of its files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

UNKNOWN = "unknown"
"""The commit of a checkout of which neither git nor anybody says it."""
OVERLAYS = Path(__file__).parent
_LINES = "cmd/recorder/lines/lines.go"


class Insertion(NamedTuple):
    """Lines that a file of a checkout gets after those that are there exactly once."""

    file: str
    after: str
    lines: str


class Project(NamedTuple):
    """A project whose code answers cases."""

    name: str
    """Also of the folder that is laid over a checkout of it."""
    tags: str
    """Of its releases, as git matches them."""
    version: Path
    """The file that names the release where no tag does."""
    named: str
    """The pattern by which it does."""
    insertions: tuple[Insertion, ...]
    environment: Mapping[str, str] = {}
    """For go."""

    def overlay(self) -> dict[str, Path]:
        """The files that are laid over a checkout, by their place in it."""
        folder = OVERLAYS / self.name
        found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.go"))}
        return {_LINES: OVERLAYS / "kubernetes" / _LINES, **found}


KUBERNETES = Project(
    "kubernetes",
    "v1.*",
    Path("staging/src/k8s.io/component-base/version/base.go"),
    r'DefaultKubeBinaryVersion\s*=\s*"([0-9.]+)"',
    (
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
            '\t\tklog.Background().Error(nil, "victims.Pods is empty. Should not reach here")\n\t\treturn nil\n\t}\n',
            "\tvictims = recorderStarted(victims)\n",
        ),
        Insertion(
            "staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go",
            "\to.drainer.OnPodDeletionOrEvictionStarted = o.onPodDeletionOrEvictionStarted\n",
            "\to.drainer.EvictErrorRetryDelay = 400 * time.Millisecond\n",
        ),
    ),
)
DESCHEDULER = Project(
    "descheduler",
    "v0.*",
    Path("charts/descheduler/Chart.yaml"),
    r"appVersion: ([0-9.]+)",
    (
        Insertion(
            "pkg/descheduler/descheduler.go",
            '\t\treturn nil, fmt.Errorf("build get pods assigned to node function error: %v", err)\n\t}\n',
            "\tgetPodsAssignedToNode = recorderPods(ctx, getPodsAssignedToNode)\n",
        ),
        Insertion(
            "pkg/descheduler/descheduler.go",
            "\t// if len is still <= 1 error out\n",
            "\trecorderOrder(ctx).Nodes(nodes)\n",
        ),
    ),
    # Its kube-openapi knows another json/v2 than the one of Go 1.27.
    {"GOEXPERIMENT": "nojsonv2"},
)


class CheckoutError(Exception):
    """A checkout that nothing can be recorded with; the text says what it lacks."""


class Checkout(NamedTuple):
    """A checkout of a project, and what a recording says of it."""

    project: Project
    path: Path
    release: str
    commit: str


def checkout(project: Project, path: Path, release: str | None = None, commit: str | None = None) -> Checkout:
    """The checkout at ``path``; ``release`` and ``commit`` say what git and its own files do not. Raises
    CheckoutError.
    """
    if not (path / "vendor").is_dir() or not (path / project.version).is_file():
        raise CheckoutError(f"{path}: not a checkout of {project.name} with vendor/")
    found = re.search(project.named, (path / project.version).read_text())
    tagged = re.match(r"v(\d+\.\d+\.\d+)", _git(path, "describe", "--tags", "--match", project.tags)) or found
    release = release or (tagged and tagged[1])
    if not release:
        raise CheckoutError(f"{path}: which release it is cannot be told; name it with RELEASE=")
    return Checkout(project, path.resolve(), release, commit or _git(path, "rev-parse", "HEAD") or UNKNOWN)


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


def overlay(project: Project, checkout: Path, build: Path) -> Iterator[tuple[Path, Path]]:
    """Which file takes the place of which path of the checkout; changed ones are written into ``build``."""
    for place, path in project.overlay().items():
        yield checkout / place, path
    for name in dict.fromkeys(insertion.file for insertion in project.insertions):
        text = (checkout / name).read_text()
        for insertion in project.insertions:
            if insertion.file == name:
                text = inserted(text, insertion)
        changed = build / Path(name).name
        changed.write_text(text)
        yield checkout / name, changed


def built(of: Checkout, build: Path, programs: Iterable[str]) -> Path:
    """``build``, with these programs in it. A first build takes 10 to 20 minutes on two cores. Raises CheckoutError."""
    build.mkdir(parents=True, exist_ok=True)
    table = build / f"{of.project.name}.json"
    replace = {str(place): str(path) for place, path in overlay(of.project, of.path, build)}
    table.write_text(json.dumps({"Replace": replace}, indent=1))
    environment = {
        **os.environ,
        "GOFLAGS": "-mod=vendor",
        "GOTOOLCHAIN": "local",
        "GOPROXY": "off",
        **of.project.environment,
    }
    commands = [f"./cmd/{program}" for program in programs]
    try:
        subprocess.run(
            ["go", "build", "-overlay", str(table), "-o", f"{build}/", *commands],
            cwd=of.path,
            env=environment,
            check=True,
        )
    except FileNotFoundError:
        raise CheckoutError("go is not installed: pip install --group record") from None
    except subprocess.CalledProcessError:
        raise CheckoutError(f"{of.path}: the recorder does not build against it; go says why above") from None
    return build
