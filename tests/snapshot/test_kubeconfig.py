"""Kubeconfig files are found, merged and overridden as kubectl does it, and never written."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.snapshot.live.kubeconfig import Access, choose

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
    return found.context, found.server, found.namespace, found.user.get("token", "")


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
    assert (found.cluster["certificate-authority"], found.user) == (
        str(tmp_path / "sub" / "ca.pem"),
        {
            "client-certificate": str(tmp_path / "sub" / "me.pem"),
            "client-key": "/abs/me.key",
            "exec": {"command": str(tmp_path / "sub" / "bin/login")},
        },
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
    assert found.user == {"exec": {"command": "aws"}}


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
        "no cluster chosen: the kubeconfig has no current-context; choose one of c with --context",
    ),
    "a cluster without server": (config("", context="c"), {}, 'cluster "c" of the kubeconfig has no server'),
    "a server of another protocol": (
        config("ftp://x", context="c"),
        {},
        'server "ftp://x" of the kubeconfig is not a URL that can be asked: expected http:// or https://',
    ),
    "a server whose port is none": (
        config("https://me:hunter2@x:99999", context="c"),
        {},
        'server "https://x:99999" of the kubeconfig is not a URL that can be asked: its host or port is invalid',
    ),
    "a server with a space": (
        config("https://exa mple.com", context="c"),
        {},
        'server "https://exa mple.com" of the kubeconfig is not a URL that can be asked: '
        "it holds a space, a control character or one that is not ASCII",
    ),
    "a server with a query": (
        config("https://x/?token=hunter2", context="c"),
        {},
        'server "https://x/" of the kubeconfig is not a URL that can be asked: it has a query or fragment',
    ),
    "a server without a host": (
        config("https://:6443", context="c"),
        {},
        'server "https://:6443" of the kubeconfig is not a URL that can be asked: it names no host',
    ),
    "a proxy of another protocol": (
        config(
            "https://x",
            context="c",
            clusters=[{"name": "c", "cluster": {"server": "https://x", "proxy-url": "ftp://me:hunter2@p"}}],
        ),
        {},
        'proxy-url "ftp://p" of the kubeconfig is not a URL that can be asked: expected http:// or https:// or socks5:// or socks5h://',
    ),
    "a token file without end": (
        config("https://x", context="c", users=[{"name": "c", "user": {"tokenFile": "/dev/zero"}}]),
        {},
        "/dev/zero: tokenFile of the kubeconfig: more than 1 MiB",
    ),
    "a token file that is not there": (
        config("https://x", context="c", users=[{"name": "c", "user": {"tokenFile": "/no/token"}}]),
        {},
        "/no/token: tokenFile of the kubeconfig: No such file or directory",
    ),
}


@pytest.mark.parametrize("case", MISUSES)
def test_misuse(case: str, tmp_path: Path) -> None:
    content, access, message = MISUSES[case]
    with pytest.raises(kubespread.UsageError) as error:
        target(written(tmp_path, first=content), **access)
    assert str(error.value) == message


MALFORMED = {
    "not YAML": (
        "clusters: [\n",
        "{file}:2: YAML syntax: while parsing a flow node, did not find expected node content",
    ),
    "not an object": ("- 1\n", "{file}:1: expected a kubeconfig, found a list"),
    "a cluster without a name": ("clusters:\n- cluster: {}\n", "{file}:2: clusters[0]: expected an object with a name"),
    "a list of strings": ("users: [me]\n", "{file}:1: users[0]: expected an object with a name"),
    "a cluster that is a string": (
        "clusters: [{name: a, cluster: b}]\n",
        "{file}:1: clusters[0]: expected an object with a name",
    ),
    "a server that is a number": (
        "clusters: [{name: a, cluster: {server: 7}}]\n",
        "{file}:1: clusters[0].cluster.server: expected a string, found a number",
    ),
    "a plugin that is a string": (
        "users: [{name: a, user: {exec: aws}}]\n",
        "{file}:1: users[0].user.exec: expected an object, found a string",
    ),
    "a file that is a token": ("hunter2\n", "{file}:1: expected a kubeconfig, found a string"),
    "a token that looks like an alias": (
        "users: [{name: a, user: {token: *hunter2}}]\n",
        "{file}:1: unknown anchor '...' referenced",
    ),
    "a current context that is a number": (
        "current-context: 7\n",
        "{file}:1: current-context: expected a string, found a number",
    ),
    "certificates that are not base64": (
        "clusters: [{name: a, cluster: {certificate-authority-data: '!!'}}]\n",
        "{file}:1: clusters[0].cluster.certificate-authority-data: not base64",
    ),
    "a key that is not base64": (
        "users: [{name: a, user: {client-key-data: hunter2}}]\n",
        "{file}:1: users[0].user.client-key-data: not base64",
    ),
    "verification that is a string": (
        "clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'yes'}}]\n",
        "{file}:1: clusters[0].cluster.insecure-skip-tls-verify: expected true or false, found a string",
    ),
    "groups that are a string": (
        "users: [{name: a, user: {as: b, as-groups: c}}]\n",
        "{file}:1: users[0].user.as-groups: expected a list of strings, found a string",
    ),
    "groups that are numbers": (
        "users: [{name: a, user: {as: b, as-groups: [7]}}]\n",
        "{file}:1: users[0].user.as-groups: expected a list of strings, found a number in it",
    ),
    "a user to impersonate that is a list": (
        "users: [{name: a, user: {as: [b]}}]\n",
        "{file}:1: users[0].user.as: expected a string, found a list",
    ),
    "arguments of a plugin that are numbers": (
        "users: [{name: a, user: {exec: {command: b, args: [1]}}}]\n",
        "{file}:1: users[0].user.exec.args: expected a list of strings, found a number in it",
    ),
    "variables of a plugin without names": (
        "users: [{name: a, user: {exec: {command: b, env: [{value: hunter2}]}}}]\n",
        "{file}:1: users[0].user.exec.env: expected a list of objects with name and value",
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
}


@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_kubeconfig_is_named(case: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(EMPTY[case])
    with pytest.raises(kubespread.UsageError) as error:
        choose(Access(), {"KUBECONFIG": str(file)})
    expected = (
        f"{file}: a kubeconfig without clusters; choose another with --kubeconfig or KUBECONFIG, or read a file with -S"
    )
    assert str(error.value) == expected


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
    with pytest.raises(kubespread.UsageError) as error:
        target(written(tmp_path, a=through(tmp_path / "pipe")))
    assert str(error.value) == (
        f"{tmp_path}/pipe: tokenFile of the kubeconfig: a named pipe that no program has opened for writing"
    )


def test_a_token_that_comes_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    variable = written(tmp_path, a=through(pipe))
    threading.Thread(target=pipe.write_text, args=("secret\n",)).start()
    assert target(variable)[-1] == "secret"
