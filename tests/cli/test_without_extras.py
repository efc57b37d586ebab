"""What an install without the Kubernetes client and extras does: all that files answer, and one line for the rest."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.cli.support import CLUSTER, FIXTURES, POD, ROOT, run

MISSING = (
    "error: a running cluster takes the package kubernetes, which was left out: pip install kubernetes; "
    "a file or directory (-S/--snapshot) does without\n"
)
SHOP = str(FIXTURES / "clusters" / "shop.yaml")
FROM_FILES: dict[str, tuple[str, ...]] = {
    "explain": ("explain", POD, "-S", CLUSTER),
    "simulate": ("simulate", "deploy/web", "-S", SHOP),
    "plan": ("plan", str(FIXTURES / "scenarios" / "zone-outage.yaml"), "-S", SHOP),
    "compare": ("compare", POD, "-S", CLUSTER, "--set", "maxSkew[zone]=2"),
    "survive": ("survive", "-S", SHOP),
    "upgrade": ("upgrade", "zone=c", "-S", SHOP),
    "check": ("check", POD, "-S", CLUSTER),
    "snapshot": ("snapshot", "-S", CLUSTER, "-o", "-"),
}


@pytest.fixture(autouse=True)
def _no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the client and the packages of all extras were not there: whoever imports one fails."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    packages = [line.partition(">")[0] for lines in extras.values() for line in lines]
    for package in (*packages, "kubernetes", "urllib3", "pydantic"):
        for name in [package, *(each for each in sys.modules if each.startswith(f"{package}."))]:
            monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("command", FROM_FILES)
def test_files_are_answered_without_any_extra(command: str) -> None:
    result = run(*FROM_FILES[command])
    assert (result.code in (0, 1), bool(result.out)) == (True, True), result.err


def test_a_running_cluster_takes_the_client(tmp_path: Path) -> None:
    entry = {"name": "it"}
    config = {
        "clusters": [entry | {"cluster": {"server": "https://cluster.example.com"}}],
        "users": [entry | {"user": {"token": "t"}}],
        "contexts": [entry | {"context": {"cluster": "it", "user": "it"}}],
        "current-context": "it",
    }
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(yaml.safe_dump(config))
    for command in (("explain", POD), ("snapshot", "-o", str(tmp_path / "cluster.json"))):
        result = run(*command, "--kubeconfig", kubeconfig)
        assert (result.code, result.out, result.err) == (2, "", MISSING)


def test_without_a_kubeconfig_there_is_no_cluster_to_install_anything_for() -> None:
    result = run("explain", POD)
    assert (result.code, result.err.partition(":")[0], "pip install" in result.err) == (2, "error", False)
    assert "no cluster given" in result.err
