"""Running the real program as its users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
PROGRAM = Path(sys.executable).parent / "kubespread"
POD = str(FIXTURES / "manifests" / "two-constraints.yaml")
CLUSTER = str(FIXTURES / "clusters" / "docs-4-nodes.yaml")
SIMULATE_SCHEMA = json.loads((ROOT / "docs" / "schema" / "simulate-report.json").read_text())
SCHEMA = json.loads((ROOT / "docs" / "schema" / "explain-report.json").read_text())

PROXY_VARIABLES = tuple(
    spelled for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY") for spelled in (name, name.lower())
)
_MEDDLING_VARIABLES = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "GITHUB_ACTIONS",
    "COLUMNS",
    "KUBESPREAD_SNAPSHOT",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    *PROXY_VARIABLES,
)


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """Standard output as an ExplainReport that satisfies the published schema."""
        return self.report_of(SCHEMA)

    def report_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Standard output as a report that satisfies ``schema``."""
        report = json.loads(self.out)
        jsonschema.validate(report, schema)
        assert isinstance(report, dict)
        return report


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would change colours, widths, or the cluster that is asked."""
    clean = {name: value for name, value in os.environ.items() if name not in _MEDDLING_VARIABLES}
    return {**clean, "TERM": "xterm", "HOME": "/nonexistent", **more}


def run(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Result:
    """``kubespread ARGUMENTS``; without ``stdin`` standard input is /dev/null."""
    done = subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def shown_on(terminal: int) -> bytes:
    """What is written to the other end of a terminal until its last writer is gone."""
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:
        # Linux reports the end of a terminal's last writer as an error.
        pass
    return shown


def shell(command: str, cwd: Path | None = None) -> Result:
    """A line of bash in which ``kubespread`` is the program under test; pipelines fail with their last failing part."""
    env = environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}", POD=POD, CLUSTER=CLUSTER)
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env=env,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
