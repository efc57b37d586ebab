"""Adding a kind is its type and one row: both are added to a copy of the package, and the rest of it follows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import node

ROOT = Path(__file__).parents[2]
TYPE = """
from msgspec import field
from kubespread.kube.api.meta import ApiObject, KubeObject, LabelSelector, ResourceList

class LeaseSpec(KubeObject):
    hard: ResourceList = {}
    holder: str = ""
    selector: LabelSelector | None = None

class Lease(ApiObject):
    spec: LeaseSpec = field(default_factory=LeaseSpec)
"""
ROW = '    Kind(Lease, "coordination.k8s.io/v1", "leases"),\n'
SPEC = {"hard": {"cpu": "2"}, "holder": "acme", "selector": {"matchLabels": {"app": "web"}}}
KEPT = """
import sys, kubespread
from kubespread.kube.api.leases import Lease
objects = kubespread.load(sys.argv[1]).objects
print([(each.metadata.namespace, each.spec.hard) for each in objects.get(Lease)], objects.knows(Lease))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def lease(**spec: Any) -> dict[str, Any]:
    more = {"unread": "field"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": spec | more}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs Python where the package has the kind; all but one folder of it is as it is."""
    root = tmp_path_factory.mktemp("added")
    for folder, own in (("kubespread", "kube"), ("kubespread/kube", "api"), ("kubespread/kube/api", "kinds.py")):
        (root / folder).mkdir()
        for each in (ROOT / folder).iterdir():
            if each.name not in (own, "__pycache__"):
                (root / folder / each.name).symlink_to(each)
    api = root / "kubespread/kube/api"
    (api / "leases.py").write_text(f"from __future__ import annotations\n{TYPE}")
    head, imports, table = (ROOT / "kubespread/kube/api/kinds.py").read_text().partition("from kubespread.")
    rows = table.replace("\n)\n\nUNKNOWN = ", f"\n{ROW})\n\nUNKNOWN = ", 1)
    (api / "kinds.py").write_text(f"{head}from kubespread.kube.api.leases import Lease\n{imports}{rows}")

    def run_there(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=root, check=False)

    return run_there


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., str]:
    def write(*objects: dict[str, Any]) -> str:
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return str(path)

    return write


def test_it_is_read_defaulted_and_kept_in_the_cluster(run: Run, saved: Callable[..., str]) -> None:
    found = run("-c", KEPT, saved(node("n"), lease(**SPEC)))
    assert (found.stderr, found.stdout) == ("", "[('default', {'cpu': '2'})] True\n")


def test_it_is_saved_again_with_what_is_read_of_it_and_anonymized(run: Run, saved: Callable[..., str]) -> None:
    cluster, wanted = saved(node("n"), lease(**SPEC)), []
    for words in ((), ("--anonymize",)):
        shown = run("-m", "kubespread", "snapshot", "-S", cluster, *words)
        wanted += [each for each in json.loads(shown.stdout)["items"] if each["kind"] == "Lease"]
    plain, hidden = wanted
    assert plain == lease() | {"metadata": {"name": "a", "namespace": "default"}, "spec": SPEC}
    assert (hidden["apiVersion"], hidden["spec"]["hard"]) == ("coordination.k8s.io/v1", {"cpu": "2"})
    assert (hidden["metadata"]["name"][:5], hidden["spec"]["holder"][:5]) == ("anon-", "anon-")


def test_it_is_counted(run: Run, saved: Callable[..., str]) -> None:
    found = run("-m", "kubespread", "map", "-S", saved(lease(), lease() | {"metadata": {"name": "b"}}))
    assert (found.returncode, "no Node among what was found (2 Lease)" in found.stderr) == (3, True)


def test_it_is_asked_of_a_running_cluster(run: Run) -> None:
    assert "coordination.k8s.io" in run("-m", "kubespread", "rbac").stdout


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "typed": ({"holder": 1}, "spec.holder: expected a string, found a number"),
    "amount": ({"hard": {"cpu": "much"}}, "spec.hard[cpu]: quantities must match the regular expression"),
    "selector": ({"selector": {"matchLabels": {"a": "-"}}}, "spec.selector"),
}


def test_it_is_refused_as_kinds_are(run: Run, saved: Callable[..., str]) -> None:
    objects = [lease(**spec) | {"metadata": {"name": name}} for name, (spec, _) in REFUSED.items()]
    found = run("-m", "kubespread", "map", "--strict", "-S", saved(node("n"), *objects))
    missing = [name for name, (_, fault) in REFUSED.items() if f"Lease {name}: {fault}" not in found.stderr]
    assert (found.returncode, missing) == (3, []), found.stderr
