"""What is offered for CI does what it says: the action's script, the GitLab job, and the image as far as can be told."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.support import FIXTURES, PROGRAM, ROOT, environment

pytestmark = pytest.mark.slow

CI = ROOT / "docs" / "ci"
GOOD, BAD = (str(FIXTURES / "lint" / "KS101" / f"{name}.yaml") for name in ("good", "bad"))


def checked(cwd: Path, **inputs: str) -> tuple[int, str, str]:
    """What the action's script makes of its inputs: exit code, standard output, job summary."""
    summary = cwd / "summary.md"
    summary.touch()
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(CI / "check.sh")],
        env=environment(PATH=path, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary), **inputs),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, summary.read_text()


def test_the_action_annotates_and_writes_the_job_summary(tmp_path: Path) -> None:
    code, out, summary = checked(tmp_path, MANIFESTS=f"{GOOD} {BAD}", ARGS="--fail-on error")
    assert (code, out.count("\n"), out[:7]) == (1, 1, "::error")
    assert summary.startswith("### Checking 2 files, 2 workloads\n\n**No: 1 error in 2 workloads**\n")
    assert "| KS101 ghost-pods |" in summary


def test_the_action_writes_findings_for_code_scanning(tmp_path: Path) -> None:
    file = tmp_path / "found.sarif"
    code, out, _ = checked(tmp_path, MANIFESTS=BAD, ARGS="--fail-on error", SARIF=str(file))
    (scanned,) = json.loads(file.read_text())["runs"]
    assert (code, out[:7], [result["ruleId"] for result in scanned["results"]]) == (1, "::error", ["KS101"])


def test_the_action_tries_manifests_on_a_snapshot(tmp_path: Path) -> None:
    bad, cluster = (str(FIXTURES / "lint" / "KS203" / f"{name}.yaml") for name in ("bad", "cluster"))
    alone, tried = (checked(tmp_path, MANIFESTS=bad, ARGS="", SNAPSHOT=snapshot)[1] for snapshot in ("", cluster))
    assert ("KS203" in alone, "KS203" in tried) == (False, True)


def test_the_action_verifies_promises_of_the_cluster_with_the_manifests(tmp_path: Path) -> None:
    shop = str(FIXTURES / "clusters" / "shop.yaml")
    promises = tmp_path / "promises.yaml"
    head = "apiVersion: kubespread.dev/v1alpha1\nkind: Promises\npromises:\n"
    promises.write_text(f"{head}- workload: web\n  ready: 1\n")
    refused = checked(tmp_path, MANIFESTS=GOOD, PROMISES=str(promises), SNAPSHOT=shop)
    assert (refused[0], refused[1]) == (2, "")
    promises.write_text(f"{head}- workload: deploy/web\n  ready: 6\n- workload: deploy/api\n  ready: 4\n")
    code, out, summary = checked(tmp_path, MANIFESTS=GOOD, PROMISES=str(promises), SNAPSHOT=shop)
    assert code == 1
    assert out.splitlines()[1].split()[:3] == ["broken", "7", "default/Deployment/api"]
    assert "### Verifying 2 promises of" in summary


def test_what_a_pull_request_names_is_no_command(tmp_path: Path) -> None:
    """Neither as an input, where it could be expanded, nor as an option."""
    code, _, summary = checked(tmp_path, MANIFESTS="$(touch${IFS}owned) `touch${IFS}owned` --name=owned", ARGS="")
    assert (code, summary, sorted(path.name for path in tmp_path.iterdir())) == (2, "", ["summary.md"])


def test_the_action_hands_inputs_over_as_variables_alone() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    assert not [step for step in steps if "${{" in step.get("run", "")]
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", json.dumps(steps)))
    assert used == set(action["inputs"])


def test_the_gitlab_job_reports_and_fails(tmp_path: Path) -> None:
    (job,) = yaml.safe_load((CI / "gitlab-ci.yml").read_text()).values()
    for manifest, code in {GOOD: 0, BAD: 1}.items():
        env = environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}", MANIFESTS=manifest, ARGS="")
        script = "set -e\n" + "\n".join(job["script"])
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False
        )
        report = (tmp_path / job["artifacts"]["reports"]["junit"]).read_text()
        assert (done.returncode, report.count("<failure ")) == (code, code)


def test_the_image_copies_what_is_there_and_runs_as_nobody() -> None:
    """The build itself takes a container engine; these are its parts that can be told without one."""
    lines = [line.split() for line in (CI / "Dockerfile").read_text().splitlines() if line and line[0] not in "# "]
    copied = [name for line in lines if line[0] == "COPY" and "--from" not in line[1] for name in line[1:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert set(copied) == {line.removeprefix("!") for line in ignored if line.startswith("!")}
    final = lines[max(place for place, line in enumerate(lines) if line[0] == "FROM") :]
    assert final[0] == ["FROM", "${PYTHON}"], "the slim one, by its digest"
    assert [line[1] for line in final if line[0] == "USER"] == ["65532:65532"]
    assert final[-2] == ["ENTRYPOINT", '["kubespread"]']
