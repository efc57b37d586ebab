"""Kubeconfig files are found, merged and overridden as kubectl does it, and never written."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.snapshot.live.kubeconfig import Access, AuthInfo, ExecConfig, choose

Data = dict[str, Any]


def config(server: str, *, context: str = "", name: str = "c", **more: Any) -> Data:
    """One cluster, one user and one context, all of one name."""
    return {
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": {"token": f"token of {server}"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": f"ns-{name}"}}],
        "current-context": context,
        **more,
    }


def written(directory: Path, **configs: Data) -> str:
    """KUBECONFIG for files of these names, in this order."""
    for name, content in configs.items():
        (directory / name).write_text(json.dumps(content))
    return os.pathsep.join(str(directory / name) for name in configs)


def target(variable: str, **access: Any) -> tuple[str, str, str, str]:
    found = choose(Access(**access), {"KUBECONFIG": variable})
    assert found is not None
    return found.name, found.cluster.server, found.context.namespace, found.user.token


def test_of_several_files_the_first_that_names_something_decides(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        first=config("https://one"),
        second=config("https://two", context="c"),
        third=config("https://three", name="d"),
    )
    assert target(files) == ("c", "https://one", "ns-c", "token of https://one")
    assert target(files, context="d") == ("d", "https://three", "ns-d", "token of https://three")


def test_the_first_current_context_wins(tmp_path: Path) -> None:
    files = written(
        tmp_path, first=config("https://one", context="c"), second=config("https://two", name="d", context="d")
    )
    assert target(files)[0] == "c"


def test_files_that_are_not_there_are_skipped_but_not_the_one_of_the_flag(tmp_path: Path) -> None:
    files = written(tmp_path, first=config("https://one", context="c"))
    assert target(f"{tmp_path / 'missing'}{os.pathsep}{os.pathsep}{files}")[1] == "https://one"
    with pytest.raises(kubespread.ManifestError, match="missing: No such file or directory"):
        choose(Access(kubeconfig=str(tmp_path / "missing")), {"KUBECONFIG": files})


def test_the_flag_replaces_the_variable(tmp_path: Path) -> None:
    files = written(tmp_path, first=config("https://one", context="c"))
    (tmp_path / "other").write_text(json.dumps(config("https://other", context="c")))
    assert target(files, kubeconfig=str(tmp_path / "other"))[1] == "https://other"


def test_without_either_the_usual_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose(Access(), {}) is None
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube", config=config("https://usual", context="c"))
    assert target("")[1] == "https://usual"


def test_relative_paths_are_relative_to_their_own_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    user = {"client-certificate": "me.pem", "client-key": "/abs/me.key", "exec": {"command": "bin/login"}}
    other = config("https://two", context="c", users=[{"name": "c", "user": user}])
    other["clusters"][0]["cluster"]["certificate-authority"] = "ca.pem"
    written(tmp_path / "sub", second=other)
    found = choose(Access(kubeconfig=str(tmp_path / "sub" / "second")), {})
    assert found is not None
    assert (found.cluster.certificate_authority, found.user) == (
        str(tmp_path / "sub" / "ca.pem"),
        AuthInfo(
            client_certificate=str(tmp_path / "sub" / "me.pem"),
            client_key="/abs/me.key",
            exec=ExecConfig(command=str(tmp_path / "sub" / "bin/login")),
        ),
    )


def test_a_server_without_a_scheme_gets_one(tmp_path: Path) -> None:
    plain, secure = config("example.com:8080", context="c"), config("example.com:6443", name="d")
    secure["clusters"][0]["cluster"]["certificate-authority-data"] = "YQ=="
    files = written(tmp_path, first=plain, second=secure)
    assert (target(files)[1], target(files, context="d")[1]) == ("http://example.com:8080", "https://example.com:6443")


def test_a_command_on_the_path_stays_as_it_is(tmp_path: Path) -> None:
    files = written(
        tmp_path, first=config("https://one", context="c", users=[{"name": "c", "user": {"exec": {"command": "aws"}}}])
    )
    found = choose(Access(), {"KUBECONFIG": files})
    assert found is not None
    assert found.user == AuthInfo(exec=ExecConfig(command="aws"))


MISUSES: dict[str, tuple[Data, dict[str, Any], str]] = {
    "an unknown context": (
        config("https://x", context="c"),
        {"context": "d"},
        'context "d" does not exist in the kubeconfig; it has c',
    ),
    "an unknown user": (
        config("https://x", context="c", contexts=[{"name": "c", "context": {"cluster": "c", "user": "d"}}]),
        {},
        'user "d" does not exist in the kubeconfig; it has c',
    ),
    "an unknown cluster": (
        config("https://x", context="c", contexts=[{"name": "c", "context": {"cluster": "d"}}]),
        {},
        'cluster "d" does not exist in the kubeconfig; it has c',
    ),
    "no current context": (
        config("https://x"),
        {},
        "FIRST: no current-context in the kubeconfig; choose one of c with --context, or another kubeconfig with "
        "--kubeconfig or KUBECONFIG",
    ),
    "a cluster without server": (config("", context="c"), {}, 'cluster "c" of the kubeconfig has no server'),
    "an authentication provider": (
        config("https://x", context="c", users=[{"name": "c", "user": {"auth-provider": {"name": "oidc"}}}]),
        {},
        'auth-provider of user "c" in the kubeconfig: use a credential plugin (exec)',
    ),
    "a token file without end": (
        config("https://x", context="c", users=[{"name": "c", "user": {"tokenFile": "/dev/zero"}}]),
        {},
        "/dev/zero: not a text file (NUL byte at offset 0): expected YAML or JSON",
    ),
    "a token file that is not there": (
        config("https://x", context="c", users=[{"name": "c", "user": {"tokenFile": "/no/token"}}]),
        {},
        "/no/token: No such file or directory",
    ),
}


@pytest.mark.parametrize("case", MISUSES)
def test_misuse(case: str, tmp_path: Path) -> None:
    content, access, message = MISUSES[case]
    with pytest.raises(kubespread.KubespreadError) as error:
        target(written(tmp_path, first=content), **access)
    assert str(error.value) == message.replace("FIRST", str(tmp_path / "first"))


MALFORMED = {
    "not YAML": (
        "clusters: [\n",
        "{file}:2: YAML syntax: while parsing a flow node, did not find expected node content",
    ),
    "not an object": ("- 1\n", "{file}:1: expected an object, found a list"),
    "a list of strings": ("users: [me]\n", "{file}:1: users[0]: expected an object, found a string"),
    "a cluster that is a string": (
        "clusters: [{name: a, cluster: b}]\n",
        "{file}:1: clusters[0].cluster: expected an object, found a string",
    ),
    "a server that is a number": (
        "clusters: [{name: a, cluster: {server: 7}}]\n",
        "{file}:1: clusters[0].cluster.server: expected a string, found a number",
    ),
    "a plugin that is a string": (
        "users: [{name: a, user: {exec: hunter2}}]\n",
        "{file}:1: users[0].user.exec: expected an object, found a string",
    ),
    "a file that is a token": ("hunter2\n", "{file}:1: expected an object, found a string"),
    "a token that looks like an alias": (
        "users: [{name: a, user: {token: *hunter2}}]\n",
        "{file}:1: unknown anchor '...' referenced",
    ),
    "a current context that is a number": (
        "current-context: 7\n",
        "{file}:1: current-context: expected a string, found a number",
    ),
    "verification that is a string": (
        "clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'yes'}}]\n",
        "{file}:1: clusters[0].cluster.insecure-skip-tls-verify: expected a boolean, found a string",
    ),
    "groups that are a string": (
        "users: [{name: a, user: {as: b, as-groups: c}}]\n",
        "{file}:1: users[0].user.as-groups: expected a list, found a string",
    ),
    "groups that are numbers": (
        "users: [{name: a, user: {as: b, as-groups: [7]}}]\n",
        "{file}:1: users[0].user.as-groups[0]: expected a string, found a number",
    ),
    "a user to impersonate that is a list": (
        "users: [{name: a, user: {as: [b]}}]\n",
        "{file}:1: users[0].user.as: expected a string, found a list",
    ),
    "arguments of a plugin that are numbers": (
        "users: [{name: a, user: {exec: {command: b, args: [1]}}}]\n",
        "{file}:1: users[0].user.exec.args[0]: expected a string, found a number",
    ),
    "variables of a plugin that are strings": (
        "users: [{name: a, user: {exec: {command: b, env: [hunter2]}}}]\n",
        "{file}:1: users[0].user.exec.env[0]: expected an object, found a string",
    ),
    "clusters that are a string": ("clusters: abc\n", "{file}:1: clusters: expected a list, found a string"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files(case: str, tmp_path: Path) -> None:
    text, message = MALFORMED[case]
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(kubespread.ManifestError) as error:
        choose(Access(kubeconfig=str(file)), {})
    assert str(error.value) == message.format(file=file)


EMPTY = {
    "nothing": "",
    "a comment": "# mine\n",
    "an empty object": "{}\n",
    "no clusters": "apiVersion: v1\nkind: Config\nclusters: []\n",
    "nulls": "clusters: null\ncontexts: [{name: null, context: null}]\ncurrent-context: null\n",
    "a cluster without a name": "clusters:\n- cluster: {}\n",
}


@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_kubeconfig_is_named(case: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(EMPTY[case])
    with pytest.raises(kubespread.UsageError) as error:
        choose(Access(), {"KUBECONFIG": str(file)})
    expected = f"{file}: no current-context in the kubeconfig; choose one of "
    assert str(error.value).startswith(expected)


def test_nothing_is_written(tmp_path: Path) -> None:
    files = written(tmp_path, first=config("https://one", context="c"))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    target(files)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def through(pipe: Path) -> Data:
    """A kubeconfig whose user's token comes through ``pipe``."""
    os.mkfifo(pipe)
    return config("https://x", context="c", users=[{"name": "c", "user": {"tokenFile": str(pipe)}}])


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.manifest.text.PATIENCE", 0.1)
    with pytest.raises(kubespread.ManifestError) as error:
        target(written(tmp_path, a=through(tmp_path / "pipe")))
    assert str(error.value) == f"{tmp_path}/pipe: a named pipe that no program has opened for writing"


def test_a_token_that_comes_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    variable = written(tmp_path, a=through(pipe))
    threading.Thread(target=pipe.write_text, args=("secret\n",)).start()
    assert target(variable)[-1] == "secret"
