"""What releases change: no value without its entry in the histories, and files made from a checkout."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread.kube import versions
from kubespread.kube.versions import OLDEST, UPCOMING, Changes, Release, all_changes
from kubespread.scheduler.plugins.registry import REGISTRY
from tools.releases import __main__ as release_data
from tools.releases.histories import histories, kept


def differing(releases: dict[Release, Changes], said: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """By gate or field, what its history says and what the releases' files say."""
    found = histories(releases)
    return {name: (said.get(name), found.get(name)) for name in {*said, *found} if said.get(name) != found.get(name)}


def test_every_gate_and_field_is_what_its_history_says() -> None:
    changed = differing({**all_changes()}, kept())
    assert changed == {}, f"history.txt, the files: {changed}; if the files are right, `make release-data`"


@pytest.mark.parametrize(
    ("release", "part", "value", "expected"),
    [
        pytest.param(
            (27, 0),
            "gates",
            {"MinDomainsInPodTopologySpread": "off"},
            {
                "MinDomainsInPodTopologySpread": (
                    "1.24 off, 1.27 on, 1.30 locked on, 1.32 gone",
                    "1.24 off, 1.27 off, 1.30 locked on, 1.32 gone",
                )
            },
            id="a default",
        ),
        pytest.param(
            (25, 0),
            "fields",
            {"PodSpec": {"hostUsers": "Affinity"}},
            {"PodSpec.hostUsers": ("1.25 bool", "1.25 Affinity")},
            id="the type of a field",
        ),
        pytest.param(
            (37, 0),
            "fields",
            {"PodSpec": {"affinity": None}},
            {"PodSpec.affinity": (None, "1.18 Affinity, 1.37 gone")},
            id="a field that goes",
        ),
        pytest.param(
            (36, 0),
            "dependencies",
            {"ImageVolumeWithDigest": ()},
            {"ImageVolumeWithDigest needs": ("1.36 ImageVolume", "1.36 nothing")},
            id="what a gate needs",
        ),
    ],
)
def test_a_changed_value_is_named(
    release: Release, part: str, value: dict[str, Any], expected: dict[str, tuple[str | None, str]]
) -> None:
    changes = all_changes()[release]
    before = getattr(changes, part)
    if part == "fields":
        value = {cls: {**before.get(cls, {}), **row} for cls, row in value.items()}
    changed = {**all_changes(), release: replace(changes, **{part: {**before, **value}})}
    assert differing(changed, histories({**all_changes()})) == expected


def test_every_modelled_release_has_its_file() -> None:
    assert [minor for minor, patch in all_changes() if not patch and minor <= UPCOMING] == [
        *range(OLDEST, UPCOMING + 1)
    ]


def test_a_stage_is_one_of_five() -> None:
    stages = {
        stage
        for changes in all_changes().values()
        for stage in (*changes.gates.values(), *changes.unrelated_gates.values())
    }
    assert stages == {"on", "off", "locked on", "locked off", "gone"}


def test_what_is_modelled_is_a_gate_that_has_to_do_with_placement() -> None:
    assert {name for changes in all_changes().values() for name in changes.gates} >= versions.MODELLED


def test_no_gate_is_both_related_and_not() -> None:
    related = {name for changes in all_changes().values() for name in changes.gates}
    assert related & {name for changes in all_changes().values() for name in changes.unrelated_gates} == set()


GATES = """\
const (
	// Enables the first.
	First featuregate.Feature = "First"
	Second = featuregate.Feature("Second")
	Third = "ThirdByAnotherName"
	Fourth featuregate.Feature = "Fourth"
)

var defaultVersionedKubernetesFeatureGates = map[featuregate.Feature]featuregate.VersionedSpecs{
	First: {
		{Version: version.MustParse("1.18"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.19"), Default: true, PreRelease: featuregate.Beta}, // on: {soon}
	},
	Second: {
		{Version: version.MustParse("1.18"), Default: true, LockToDefault: true, PreRelease: featuregate.GA},
		{Version: version.MustParse("1.19"), Default: false, LockToDefault: true, PreRelease: featuregate.Deprecated},
	},

	genericfeatures.Third: {{Version: version.MustParse("1.19"), PreRelease: featuregate.Alpha, Default: false}},
}

var defaultKubernetesFeatureGateDependencies = map[featuregate.Feature][]featuregate.Feature{
	First: {Second, genericfeatures.Third}, // and no more
	Second: {},
}
"""
OTHER_GATES = """\
func featureGates() map[featuregate.Feature]featuregate.VersionedSpecs {
	return map[featuregate.Feature]featuregate.VersionedSpecs{
		Fourth: {
			{Version: version.MustParse("1.19"), Default: true, PreRelease: featuregate.Beta},
		},
	}
}
"""
OF_POD = {"group": "", "kind": "Pod", "version": "v1"}
SCHEMA = {
    "io.k8s.api.core.v1.Pod": {
        "properties": {
            "spec": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"},
            "status": {"$ref": "#/definitions/x"},
        },
        "x-kubernetes-group-version-kind": [OF_POD],
    },
    "io.k8s.api.core.v1.PodSpec": {
        "properties": {
            "containers": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"}},
            "overhead": {"additionalProperties": {"$ref": "#/definitions/io.k8s.Quantity"}},
        }
    },
    "io.k8s.api.core.v1.Container": {
        "properties": {"name": {"type": "string"}, "after": {"$ref": "#/definitions/io.k8s.Time"}}
    },
    "io.k8s.Time": {"type": "string"},
    "io.k8s.api.core.v2.Pod": {"x-kubernetes-group-version-kind": [{**OF_POD, "version": "v2"}]},
}
BEFORE = {
    "source": "by hand",
    "gates": {"First": "off", "Lost": "on"},
    "unrelated_gates": {"Second": "locked on"},
    "dependencies": {"Lost": ["First"]},
    "fields": {"Pod": {"spec": "PodSpec", "status": ""}, "PodSpec": {"containers": "[]Container", "hostAliases": ""}},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where releases' files are, with 1.18's; a checkout of 1.19 stands beside it."""
    checkout = {
        "pkg/features/kube_features.go": GATES,
        "staging/src/k8s.io/component-base/logs/api/v1/kube_features.go": OTHER_GATES,
        "staging/src/k8s.io/component-base/version/base.go": '	DefaultKubeBinaryVersion = "1.19"',
        "api/openapi-spec/swagger.json": json.dumps({"definitions": SCHEMA}),
        "releases/1.18.json": json.dumps(BEFORE),
    }
    for name, text in checkout.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(versions, "FOLDER", tmp_path / "releases")
    monkeypatch.setattr(release_data, "FOLDER", tmp_path / "releases")
    monkeypatch.setattr(release_data, "HISTORY", tmp_path / "history.txt")
    all_changes.cache_clear()
    yield tmp_path / "releases"
    all_changes.cache_clear()


def written(checkout: Path, *arguments: str) -> dict[str, Any]:
    release_data.main([str(checkout), *arguments])
    all_changes.cache_clear()
    data: dict[str, Any] = json.loads(
        (checkout / "releases" / f"{arguments[1] if arguments else '1.19'}.json").read_text()
    )
    return data


FIELDS = {
    "Container": {"after": "Time", "name": "string"},
    "PodSpec": {"hostAliases": None, "overhead": "map[string]Quantity"},
}


def test_a_file_holds_what_the_checkout_has_otherwise(folder: Path) -> None:
    data = written(folder.parent)
    del data["source"]
    assert data == {
        "gates": {"First": "on", "Fourth": "on", "Lost": "gone", "ThirdByAnotherName": "off"},
        "unrelated_gates": {"Second": "locked off"},
        "dependencies": {"First": ["Second", "ThirdByAnotherName"], "Lost": []},
        "fields": FIELDS,
    }


def test_what_is_written_by_hand_stays(folder: Path) -> None:
    first = written(folder.parent)
    first["unrelated_gates"]["Fourth"] = first["gates"].pop("Fourth")
    first["reasons"] = {"new": ["old"]}
    (folder / "1.19.json").write_text(json.dumps(first))
    all_changes.cache_clear()
    assert written(folder.parent) == first


def test_a_patch_is_compared_with_its_release(folder: Path) -> None:
    written(folder.parent)
    file = folder.parent / "pkg/features/kube_features.go"
    file.write_text(GATES.replace('"1.19"), Default: true', '"1.19"), Default: false'))
    data = written(folder.parent, "--release", "1.19.3")
    assert {**data, "source": ""} == {"source": "", "gates": {"First": "off"}}


def test_a_gate_written_otherwise_is_not_passed_over(folder: Path) -> None:
    file = folder.parent / "pkg/features/kube_features.go"
    file.write_text(GATES.replace("genericfeatures.Third: {{", "third(): {{"))
    with pytest.raises(SystemExit) as refused:
        written(folder.parent)
    assert str(refused.value) == f"{file}: a feature gate is not written as expected"


def test_reasons_are_worded_as_plugins_word_them() -> None:
    releases = all_changes().values()
    older = {text for changes in releases for texts in changes.reasons.values() for text in texts}
    latest = {reason for changes in releases for reason in changes.reasons} - older
    plugins = (Path(kubespread.__file__).parent / "scheduler" / "plugins").rglob("*.py")
    texts = {
        node.value
        for file in plugins
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant)
    }
    assert latest - texts == set()


def test_scores_are_those_of_plugins() -> None:
    names = {plugin.name for plugin in REGISTRY}
    assert {name for changes in all_changes().values() for name in changes.skipped_scores} <= names
