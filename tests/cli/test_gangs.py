"""``kubespread simulate --gang`` as scripts and people use it."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import FIXTURES, SIMULATE_SCHEMA, Result, run

TRAIN = str(FIXTURES / "manifests/train.yaml")
RACKS = str(FIXTURES / "clusters/gpu-racks.yaml")
RACK = "topology.example.com/rack"


def simulate(*arguments: str) -> Result:
    return run("simulate", TRAIN, "-S", RACKS, *arguments)


EXIT_CODES: dict[str, tuple[list[str], int]] = {
    "a gang that fits": (["--gang", "4"], 0),
    "a gang that does not": (["--gang", "16"], 1),
    "a gang that fits in no rack": (["--gang", f"6:{RACK}"], 1),
    "some of the gangs": (["--gang", f"4:{RACK}", "--replicas", "12"], 1),
    "as many gangs as fit": (["--gang", f"4:{RACK}", "--replicas", "max"], 0),
    "not even one gang": (["--gang", f"6:{RACK}", "--replicas", "max"], 1),
    "a requirement that is met": (["--gang", "4", "--require-placed", "all"], 0),
    "a requirement that is not": (["--gang", "16", "--require-placed", "1"], 1),
}


@pytest.mark.parametrize("case", EXIT_CODES)
def test_the_exit_code_says_whether_it_fits(case: str) -> None:
    arguments, code = EXIT_CODES[case]
    assert simulate(*arguments).code == code


ONE_WORKLOAD = "the steps are played for one workload, whose replicas stay where they are"
REFUSED: dict[str, tuple[list[str], str]] = {
    "no whole gangs": (["--gang", "4", "--replicas", "6"], "replicas must be a multiple of the gang of 4, not 6"),
    "a gang of none": (["--gang", "0"], "invalid --gang '0': expected N or N:KEY, such as 8:zone"),
    "no number": (["--gang", RACK], f"invalid --gang '{RACK}': expected N or N:KEY, such as 8:zone"),
    "a number beyond all": (["--gang", "9" * 10], f"invalid --gang '{'9' * 10}': expected N or N:KEY, such as 8:zone"),
    "no key behind the colon": (["--gang", "4:"], "invalid --gang '4:': expected N or N:KEY, such as 8:zone"),
    "a key nobody has": (["--gang", "4:rakc"], f"no node has the topology key 'rakc'; did you mean {RACK}?"),
    "an autoscaler": (
        ["--gang", "4", "--autoscaler", "ca"],
        "--gang and --autoscaler do not go together: that is not modeled of gangs",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_with_a_gang(case: str) -> None:
    arguments, said = REFUSED[case]
    result = simulate(*arguments)
    assert (result.code, result.out, result.err) == (2, "", f"error: {said}\n")


def test_columns_in_a_pipe() -> None:
    result = simulate("--gang", f"6:{RACK}", "-q")
    assert result.out == (
        "NAMESPACE   WORKLOAD    REPLICAS   RUNNING   PLACED   PENDING   NOT-CREATED   NOT-CREATED-YET   WHY\n"
        "ml          Job/train   6          0         0        6         0             0                 "
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n"
    )


def test_what_comes_of_it_stands_beside_the_columns() -> None:
    said = simulate("--gang", f"6:{RACK}").err.splitlines()
    assert said[-3:] == [
        "member 6 of 6 (train-5) finds no node in rack-1: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        "kube-scheduler tries members once, in order; another order was not tried",
        "No: gang of 6 not placed, 5 of 6 members fit",
    ]


@pytest.mark.parametrize("arguments", [["--gang", "4"], ["--gang", f"6:{RACK}"], ["--gang", "16"]])
def test_json_is_as_the_schema_says(arguments: list[str]) -> None:
    answer = json.loads(simulate(*arguments, "-o", "json").out)
    SIMULATE_SCHEMA.validate(answer)
    assert answer["gang"]["size"] == int(arguments[1].partition(":")[0])


def test_names_of_a_gang_that_does_not_fit_are_none() -> None:
    assert simulate("--gang", "16", "-o", "name").out == ""


GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
GROUP = str(FIXTURES / "manifests/train-group.yaml")


@pytest.mark.parametrize(("gates", "chosen"), [([], None), (["--feature-gates", GATES], ["rack-3"])])
def test_a_pod_group_of_the_manifest_is_placed_together_with_the_gates_on(
    gates: list[str], chosen: list[str] | None
) -> None:
    result = run("simulate", GROUP, "-S", RACKS, *gates, "-o", "json")
    gang = json.loads(result.out)["gang"]
    assert (result.code, gang and gang["chosen"]) == (0, chosen)


def test_a_pod_group_that_is_not_complete_is_a_no() -> None:
    result = run("simulate", GROUP, "-S", RACKS, "--feature-gates", GATES, "--replicas", "2")
    waits = "none is tried: waiting for minCount pods from a gang to appear in scheduling queue"
    assert (result.code, result.err.splitlines()[-2]) == (1, waits)


def test_since_1_37_not_every_domain_may_be_scored() -> None:
    said = "percentageOfPlacementsToScore: every domain where the group fits is scored; kube-scheduler may stop once it has found enough"
    gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
    asked = (
        "simulate",
        FIXTURES / "manifests" / "train-group.yaml",
        "-S",
        FIXTURES / "clusters" / "gpu-racks.yaml",
        "-q",
        "--feature-gates",
        gates,
        "-o",
        "json",
        "--kube-version",
    )
    assert [said in json.loads(run(*asked, version).out)["notModelled"] for version in ("1.36", "1.37")] == [
        False,
        True,
    ]
