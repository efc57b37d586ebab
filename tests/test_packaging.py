"""What is not part of the wheel, as far as it can be read without building anything."""

from __future__ import annotations

import os
import re
import shlex
import tomllib

import yaml

from kubespread.cli.setup import Shell, script
from tests.cli.support import ROOT

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
        assert platform["bin"] in scripts
        os, arch = platform["selector"]["matchLabels"].values()
        assert platform["uri"].endswith(f"/v0.0.0/kubespread-{os}-{arch}.tar.gz")


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
    packaged = [file for folder in wheel["packages"] for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = [
        file.read_text() for file in (*packaged, *map(ROOT.joinpath, wheel["shared-data"])) if file.suffix != ".pyc"
    ]
    assert {shell: texts.count(script(shell)) for shell in Shell} == dict.fromkeys(Shell, 1)


def test_the_slow_targets_are_scripts_that_can_be_run() -> None:
    """`make binary` builds the single file and runs it, `make dist` what is uploaded: minutes, and for CI alone."""
    scripts = re.findall(r"\$\(SLOW\) (\.ci/\w+)", (ROOT / "Makefile").read_text())
    assert {".ci/binary", ".ci/dist"} <= {*scripts}
    assert [script for script in scripts if not os.access(ROOT / script, os.X_OK)] == []
