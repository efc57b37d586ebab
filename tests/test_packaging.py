"""What is not part of the wheel, as far as it can be read without building anything."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import zipapp
from pathlib import Path

import pytest
import yaml

from kubespread.cli.setup import SCRIPTS, script
from kubespread.views.findings import SITE
from tests.cli.support import FIXTURES, ROOT, run

INSTALL = ROOT / "docs" / "install.md"
KREW = ROOT / "packaging" / "krew" / "kubespread.yaml"
TEMPLATE = re.compile(r"{{ *(?:addURIAndSha \"(?P<uri>.*?)\" \.TagName|\.TagName) *}}(?=\n)")


def test_the_krew_manifest_is_one_once_it_is_filled_in() -> None:
    filled = TEMPLATE.sub(
        lambda match: f"uri: {match['uri']}\n    sha256: {'0' * 64}" if match["uri"] else "v0.0.0", KREW.read_text()
    )
    manifest = yaml.safe_load(filled.replace("{{ .TagName }}", "v0.0.0"))
    assert (manifest["kind"], manifest["metadata"]["name"], manifest["spec"]["version"]) == (
        "Plugin",
        KREW.stem,
        "v0.0.0",
    )
    # krew-index takes no more.
    assert len(manifest["spec"]["shortDescription"]) <= 70
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    for platform in manifest["spec"]["platforms"]:
        os, arch = platform["selector"]["matchLabels"].values()
        # krew links what it takes as .exe there.
        assert platform["bin"].removesuffix(".exe") in scripts
        assert platform["bin"].endswith(".exe") is (os == "windows")
        assert platform["uri"].endswith(f"/v0.0.0/kubespread-{os}-{arch}.tar.gz")


def test_the_program_for_windows_is_an_archive_that_python_runs(tmp_path: Path) -> None:
    """Behind a launcher, which no test runs: that takes Windows."""
    (tmp_path / "__main__.py").write_text("import sys; print(*sys.argv[1:])")
    zipapp.create_archive(
        tmp_path, made := tmp_path.parent / f"{tmp_path.name}.pyz", interpreter="/usr/bin/env python3"
    )
    program = runpy.run_path(str(ROOT / "packaging" / "krew" / "windows.py"))["program"](made.read_bytes())
    assert program.startswith(b"MZ")
    (executable := tmp_path / "it.exe").write_bytes(program)
    done = subprocess.run([sys.executable, executable, "a", "b"], capture_output=True, text=True, check=True)
    assert done.stdout == "a b\n"


def test_findings_lead_to_the_site_that_is_the_homepage() -> None:
    """An installed program does not look into its metadata for it, which takes as long as a small answer."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"] == SITE


def test_what_is_needed_without_the_kubernetes_client_is_all_else() -> None:
    """`make dist` installs by this command."""
    (line,) = re.findall(r"^pip install --no-deps kubespread && pip install (.*)$", INSTALL.read_text(), re.MULTILINE)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert shlex.split(line) == [requirement for requirement in needed if not requirement.startswith("kubernetes")]


def test_the_wheel_has_each_completion_script_once_and_prints_it() -> None:
    """Where shells look depends on how it is installed, and in an environment of its own none does: `kubespread
    completion` prints the script wherever that is. `make dist` looks for what is twice in the wheel that is built.
    """
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    packaged = [file for folder in wheel["only-include"] for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = [
        file.read_text() for file in (*packaged, *map(ROOT.joinpath, wheel["shared-data"])) if file.suffix != ".pyc"
    ]
    assert {shell: texts.count(script(shell)) for shell in SCRIPTS} == dict.fromkeys(SCRIPTS, 1)
    assert {file.read_text() for file in (ROOT / "completions").iterdir()} == {script(shell) for shell in SCRIPTS}


def test_the_slow_targets_are_scripts_that_can_be_run() -> None:
    """`make binary` builds the single file and runs it, `make dist` what is uploaded: minutes, and for CI alone."""
    scripts = re.findall(r"\$\(SLOW\) (\.ci/[\w-]+)", (ROOT / "Makefile").read_text())
    assert {".ci/binary", ".ci/dist"} <= {*scripts}
    assert [script for script in scripts if not os.access(ROOT / script, os.X_OK)] == []


ACTIONS = [ROOT / "action.yml", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def test_actions_are_named_by_their_commit_and_its_release() -> None:
    used = {line for file in ACTIONS for line in re.findall(r"uses: (.+)$", file.read_text(), re.MULTILINE)}
    assert {line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)} == set()
    commits = {re.sub(r"^([\w-]+/[\w-]+)[^@]*@(.+)$", r"\1 \2", line) for line in used}
    assert len(commits) == len({line.split()[0] for line in commits}), "one commit of each"


def test_the_image_is_built_on_one_that_is_named_by_its_digest() -> None:
    text = (ROOT / "docs" / "ci" / "Dockerfile").read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${PYTHON}"] * 2
    assert re.findall(r"^ARG PYTHON=python:3\.\d+-slim@sha256:[0-9a-f]{64}$", text, re.MULTILINE)


def test_the_formula_has_what_is_locked_for_its_platforms(tmp_path: Path) -> None:
    formula = runpy.run_path(str(ROOT / "packaging" / "homebrew" / "formula.py"))["formula"]
    (sdist := tmp_path / "kubespread-1.2.3.tar.gz").write_bytes(b"")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked: list[tuple[str, str | None]] = [("rich", None), ("colorama", "sys_platform == 'win32'"), ("numpy", None)]
    packages = [
        {"name": name, "sdist": {"url": f"https://example.com/{name}.tar.gz", "hashes": {"sha256": "0" * 64}}}
        | ({} if marker is None else {"marker": marker})
        for name, marker in locked
    ]
    written = formula(project, {"packages": packages}, sdist)
    assert re.findall(r'resource "(.*)" do', written) == ["rich"]
    assert 'depends_on "numpy"' in written
    assert "/v1.2.3/kubespread-1.2.3.tar.gz" in written
    completed = re.findall(r'(\w+)_completion\.install "(.*?)"', written)
    assert {shell: (ROOT / file).read_text() for shell, file in completed} == {
        shell: script(shell) for shell in ("bash", "zsh", "fish")
    }


def test_workflows_run_targets_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = [job for file in ACTIONS[1:] for job in yaml.safe_load(file.read_text())["jobs"].values()]
    lines = [step["run"] for job in jobs for step in job["steps"] if step.get("run", "").startswith("make ")]
    made = {word for line in lines for word in re.findall(r" ([a-z-]+)(?= |$)", line)}
    made |= {target for job in jobs for target in job.get("strategy", {}).get("matrix", {}).get("target", ())}
    assert {"test", "lint", "dist", "release-check", "sbom"} <= made <= targets


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_asks_for_a_snapshot_without_names(form: Path, tmp_path: Path) -> None:
    asked = {
        field["id"]: field["attributes"].get("description", "") for field in yaml.safe_load(form.read_text())["body"]
    }
    (command,) = re.findall(r"`kubespread (snapshot .*?)`", asked["snapshot"])
    assert "--anonymize" in command
    done = run(*shlex.split(command), "-S", FIXTURES / "clusters" / "shop.yaml", cwd=tmp_path)
    (file,) = tmp_path.iterdir()
    assert (done.code, file.name) == (0, shlex.split(command)[-1])
