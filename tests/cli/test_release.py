"""Which release answers are those of: as asked for, else the server's, else that of the newest kubelet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import Data, node, pod
from tests.cli.support import Result, run


def nodes(*kubelets: str) -> list[Data]:
    """n0, n1, ... each with the version of its kubelet; empty for one that does not say."""
    made = [node(f"n{position}") for position in range(len(kubelets))]
    for each, version in zip(made, kubelets, strict=True):
        if version:
            each["status"]["nodeInfo"] = {"kubeletVersion": version, "osImage": "any"}
    return made


def written(tmp_path: Path, objects: list[Data], **stamp: str) -> Path:
    cluster = tmp_path / "cluster.json"
    head = {"apiVersion": "v1", "kind": "List", "items": [*objects, pod("p", "n0")]}
    cluster.write_text(json.dumps({**head, "kubespread": stamp} if stamp else head))
    return cluster


def said(result: Result) -> tuple[str, list[str], list[str]]:
    """The release, and what notes and gaps say of it."""
    report = json.loads(result.out)
    return (
        report["kubeVersion"],
        [note for note in report["notes"] if "assumed" in note],
        [gap for gap in report["gaps"] if "answers are those" in gap],
    )


def assumed(release: str, kubelet: str) -> list[str]:
    return [f"kube-scheduler v{release} is assumed, from the newest kubelet ({kubelet}); --kube-version sets another"]


RELEASES: dict[str, tuple[list[str], dict[str, str], str, tuple[str, list[str], list[str]]]] = {
    "nobody says": (["", ""], {}, "", ("1.37", [], [])),
    "the kubelets say": (["v1.33.5", "v1.33.5"], {}, "", ("1.33", assumed("1.33", "v1.33.5"), [])),
    "the newest of several kubelets counts": (
        ["v1.33.5", "", "v1.33.10-eks-1", "v1.32.11"],
        {},
        "",
        ("1.33", assumed("1.33", "v1.33.10-eks-1"), []),
    ),
    "the server says": (["v1.33.5"], {"serverVersion": "v1.34.2"}, "", ("1.34.2", [], [])),
    "a release is asked for": (["v1.33.5"], {}, "--kube-version 1.30", ("1.30", [], [])),
    "kubelets newer than what is modeled": (
        ["v1.40.1"],
        {},
        "",
        (
            "1.37",
            assumed("1.37", "v1.40.1"),
            ["the cluster runs v1.40, which is not modeled: answers are those of 1.37"],
        ),
    ),
    "a kubelet that names no release beside one that does": (
        ["canary", "v1.33.5"],
        {},
        "",
        ("1.33", assumed("1.33", "v1.33.5"), []),
    ),
    "kubelets that name no release": (
        ["canary"],
        {},
        "",
        ("1.37", [], ["the cluster says it runs 'canary', which is no release: answers are those of 1.37"]),
    ),
}


@pytest.mark.parametrize("case", RELEASES)
def test_the_release_that_answers_are_those_of(case: str, tmp_path: Path) -> None:
    kubelets, stamp, options, expected = RELEASES[case]
    cluster = written(tmp_path, nodes(*kubelets), **stamp)
    assert said(run("pending", "-A", "-o", "json", "-S", cluster, *options.split())) == expected


def test_the_release_stays_that_of_the_cluster_whatever_becomes_of_its_nodes(tmp_path: Path) -> None:
    cluster, saved = written(tmp_path, nodes("v1.32.1", "v1.33.5")), tmp_path / "saved.json"
    run("snapshot", "-S", cluster, "--delete-node", "n1", "-o", saved)
    expected: tuple[str, list[str], list[str]] = ("1.33", assumed("1.33", "v1.33.5"), [])
    assert said(run("pending", "-A", "-o", "json", "-S", cluster, "--delete-node", "n1")) == expected
    assert said(run("pending", "-A", "-o", "json", "-S", saved)) == expected


def test_a_note_on_the_release_is_printed_once(tmp_path: Path) -> None:
    cluster = written(tmp_path, nodes("v1.33.5"))
    for command in (
        "pending -A",
        "compare pod/p --cordon n0",
        "check pod/p",
        "simulate pod/p --replicas 2",
        "snapshot -o -",
    ):
        result = run(*command.split(), "-S", cluster)
        printed = (result.out + result.err).count("is assumed, from the newest kubelet")
        assert (command, printed) == (command, 0 if command.startswith("snapshot") else 1)
