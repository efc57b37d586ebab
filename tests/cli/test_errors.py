"""What bad input gets: an exit code, one line that says where and what, and nothing on standard output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubespread.questions import editing
from tests.cli.support import CLUSTER, FIXTURES, POD, run

FIVE_VIOLATIONS = """\
apiVersion: v1
kind: Pod
metadata:
  name: Web
  labels: {app: "a b"}
spec:
  topologySpreadConstraints:
  - maxSkew: 0
    topologyKey: ""
    whenUnsatisfiable: Never
  containers:
  - name: c
    image: x
"""


def test_all_violations_at_once_each_with_its_line(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(FIVE_VIOLATIONS)
    result = run("explain", manifest, "-S", CLUSTER, "-q")
    found = re.findall(rf"^error: {re.escape(str(manifest))}:(\d+): (\S+): (\w+ value)", result.err, re.MULTILINE)
    assert (result.code, result.out, found, len(result.err.splitlines())) == (
        2,
        "",
        [
            ("4", "metadata.name", "Invalid value"),
            ("5", "metadata.labels", "Invalid value"),
            ("8", "spec.topologySpreadConstraints[0].maxSkew", "Invalid value"),
            ("9", "spec.topologySpreadConstraints[0].topologyKey", "Required value"),
            ("10", "spec.topologySpreadConstraints[0].whenUnsatisfiable", "Unsupported value"),
        ],
        5,
    )


def test_the_lines_of_a_workloads_template(tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    manifest.write_text(
        "kind: List\napiVersion: v1\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n"
        "    selector: {matchLabels: {app: web}}\n    template:\n      metadata: {labels: {app: web}}\n      spec:\n"
        "        topologySpreadConstraints:\n        - topologyKey: zone\n          whenUnsatisfiable: DoNotSchedule\n"
        "          maxSkew: -1\n        containers: [{name: c, image: x}]\n"
    )
    result = run("explain", manifest, "-S", CLUSTER)
    field = "spec.template.spec.topologySpreadConstraints[0].maxSkew"
    assert result.err == f"error: {manifest}:15: {field}: Invalid value: -1: must be greater than zero\n"


def test_help_for_no_command_is_that_for_help() -> None:
    result = run()
    assert (result.code, result.out, result.err.splitlines()) == (2, "", run("--help").out.splitlines())


USAGE: dict[str, tuple[list[str], str]] = {
    "no command": ([], "Usage: kubespread [OPTIONS] COMMAND [ARGS]..."),
    "no cluster": (
        ["explain", POD],
        "error: no cluster given: name a file or directory with -S/--snapshot or KUBESPREAD_SNAPSHOT",
    ),
    "no pod": (
        ["explain", "-S", CLUSTER],
        "error: no pod given: name a manifest, pipe one in, or run in a directory containing pod.yaml",
    ),
    "an unknown option": (["explain", POD, "--foo"], "error: No such option: --foo"),
    "an unknown format": (
        ["explain", POD, "-S", CLUSTER, "-o", "xml"],
        "error: Invalid value for '-o' / '--output': 'xml' is not one of",
    ),
    "labels of what is named": (
        ["check", "deploy/web", "-l", "app=web", "-S", CLUSTER],
        "error: -l/--selector and Deployment/web do not go together: its name says which it is",
    ),
    "a manifest that is not there": (
        ["simulate", "-f", "absent.yaml", "-S", CLUSTER],
        "error: absent.yaml: No such file or directory",
    ),
    "a mistyped format": (
        ["explain", POD, "-o", "jsn"],
        "error: Invalid value for '-o' / '--output': 'jsn' is not one of 'table', 'wide', 'json', 'yaml', "
        "'markdown', 'name', 'csv', 'html', 'sarif', 'junit', 'github', did you mean \"json\"? (see",
    ),
    "an unknown node": (["explain", POD, "-S", CLUSTER, "--node", "n9"], 'error: nodes "n9" not found'),
    "a bad namespace": (
        ["explain", POD, "-S", CLUSTER, "-n", "A_b"],
        "error: invalid namespace 'A_b': a lowercase RFC 1123 label must",
    ),
    "standard input twice": (
        ["explain", "-", "-S", "-"],
        "error: standard input can be read only once: POD and -S/--snapshot both ask for it",
    ),
    "a missing manifest": (["explain", "nope.yaml", "-S", CLUSTER], "error: nope.yaml: No such file or directory"),
    "a missing configuration": (
        ["explain", POD, "-S", CLUSTER, "--scheduler-config", "nope.yaml"],
        "error: nope.yaml: No such file or directory",
    ),
    "a directory without manifests": (
        ["explain", ".", "-S", CLUSTER],
        "error: .: no .yaml, .yml, .json files in this directory; -R also looks below it\n",
    ),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage(case: str, tmp_path: Path) -> None:
    arguments, expected = USAGE[case]
    result = run(*arguments, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(expected)


def test_usage_errors_are_one_line_that_names_the_help() -> None:
    assert run("explain", POD, "--foo").err.splitlines()[-1].endswith("(see 'kubespread explain --help')")


def test_namespaces_that_disagree_are_kubectls_error(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(Path(POD).read_text().replace("name: mypod", "name: mypod\n  namespace: x"))
    result = run("explain", manifest, "-S", CLUSTER, "-n", "y")
    assert (result.code, result.err) == (
        2,
        'error: the namespace from the provided object "x" does not match the namespace "y". '
        "You must pass '--namespace=x' to perform this operation.\n",
    )


def test_several_workloads_are_listed(tmp_path: Path) -> None:
    manifest = tmp_path / "all.yaml"
    rollout = Path(POD).with_name("rollout.yaml").read_text()
    manifest.write_text(f"{rollout}---\n{Path(POD).read_text()}")
    result = run("explain", manifest, "-S", CLUSTER)
    assert (result.code, result.err) == (
        2,
        f"error: {manifest}: several workloads (Deployment/web, Pod/mypod); choose one with --name\n",
    )
    assert run("explain", manifest, "-S", CLUSTER, "--name", "Pod/mypod", "-o", "name").out == "node4\n"
    assert run("explain", manifest, "-S", CLUSTER, "--name", "db").code == 2


def test_of_very_many_workloads_the_first_are_listed(tmp_path: Path) -> None:
    manifest, one = tmp_path / "all.yaml", Path(POD).read_text()
    manifest.write_text("---\n".join(one.replace("name: mypod", f"name: pod-{number:02}") for number in range(40)))
    named = ", ".join(f"Pod/pod-{number:02}" for number in range(10))
    result = run("explain", manifest, "-S", CLUSTER)
    assert result.err == f"error: {manifest}: several workloads ({named} and 30 more); choose one with --name\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["pending", "-A", "--fail", "eu-west-1a"],
            'nodes "eu-west-1a" not found: it is the value of a label, write zone=eu-west-1a',
        ),
        (
            ["upgrade", "general"],
            'nodes "general" not found: it is the value of a label, write eks.amazonaws.com/nodegroup=general',
        ),
        (
            ["explain", "pod/x", "-n", "shpo"],
            'pods "x" not found in namespace shpo: namespaces "shpo" not found, did you mean "shop"?',
        ),
    ],
)
def test_what_is_called_otherwise_is_named(command: list[str], message: str) -> None:
    file = FIXTURES / "cases" / "everyday" / "aws12.json.gz"
    result = run(*command, "-S", file, "-q")
    assert (result.code, result.err) == (2, f"error: {message}\n")


def test_nothing_to_check_says_what_there_could_be(tmp_path: Path) -> None:
    result = run("check", env={"KUBECONFIG": str(tmp_path / "none"), "HOME": str(tmp_path)})
    assert (result.code, result.err.endswith("manifests need no cluster: name files or directories\n")) == (2, True), (
        result
    )


def test_a_scheduler_nobody_configured(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(Path(POD).read_text() + "  schedulerName: mine\n")
    result = run("explain", manifest, "-S", CLUSTER)
    assert (result.code, result.err) == (
        2,
        'error: profile not found for scheduler name "mine"; profiles: default-scheduler\n',
    )


def test_another_profile_than_the_pod_asks_for(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(Path(POD).read_text() + "  schedulerName: mine\n")
    assert (
        run("explain", manifest, "-S", CLUSTER, "--set", "schedulerName=default-scheduler", "-o", "name").out
        == "node4\n"
    )


def test_a_refused_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 0\n")
    result = run("explain", POD, "-S", CLUSTER, "--scheduler-config", config)
    text = "parallelism: must be greater than 0"
    assert (result.code, result.err) == (2, f"error: {config}:3: {text}\n")


def test_directories_without_nodes(tmp_path: Path) -> None:
    empty = run("explain", POD, "-S", tmp_path)
    assert (empty.code, empty.err) == (3, f"error: {tmp_path}: no .json, .yaml, .yml files in this directory\n")
    (tmp_path / "pod.yaml").write_text(Path(POD).read_text())
    assert run("explain", POD, "-S", tmp_path).err.startswith(
        f"error: {tmp_path}: no Node among what was found (1 Pod)"
    )


@pytest.mark.parametrize(
    "text", ['{"kind": "List", "apiVersion": "v1", "items": []}', "kind: NodeList\napiVersion: v1\nitems: []\n"]
)
def test_a_cluster_of_no_nodes_is_an_answer(text: str, tmp_path: Path) -> None:
    snapshot = tmp_path / "cluster.yaml"
    snapshot.write_text(text)
    result = run("explain", POD, "-S", snapshot, "-o", "json")
    assert (result.code, result.report["message"], result.report["nodes"]) == (
        1,
        "no nodes available to schedule pods",
        [],
    )


def test_a_bug_is_one_line_and_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editing, "load", None)
    result = run("explain", POD, "-S", CLUSTER)
    expected = (
        "error: this is a bug in kubespread: TypeError: 'NoneType' object is not callable "
        "(run again with KUBESPREAD_DEBUG=1)\n"
    )
    assert (result.code, result.out, result.err) == (70, "", expected)
    assert "Traceback" in run("explain", POD, "-S", CLUSTER, env={"KUBESPREAD_DEBUG": "1"}).err


@pytest.mark.parametrize("command", ["explain {}", "check {}", "compare {} {}", "simulate -f {}"])
def test_looking_for_a_file_may_fail_like_reading_it(command: str) -> None:
    """A name that is too long is refused as one below another user's directory is."""
    name = f"{'x' * 300}.yaml"
    result = run(*command.format(name, name).split(), "-S", CLUSTER)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.endswith(".yaml: File name too long\n")
