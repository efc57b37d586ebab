"""Names that no cluster has to be read for: contexts, releases, feature gates, proposals, rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubespread.cli.completing.line import Line


def contexts(line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    """The contexts of the kubeconfig."""
    return _in_kubeconfig("contexts", line, environment)


def clusters(line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    """Its clusters."""
    return _in_kubeconfig("clusters", line, environment)


def users(line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    """Its users, by name; nothing of them is shown."""
    return _in_kubeconfig("users", line, environment)


def _in_kubeconfig(kind: str, line: Line, environment: Mapping[str, str]) -> Iterable[str]:
    from kubespread.snapshot.live.kubeconfig import Access, names

    return names(kind, Access(kubeconfig=line.value("kubeconfig") or None), environment)


def releases(_line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """The modeled releases, the newest first."""
    from kubespread.kube.versions import NEWEST, OLDEST

    return (f"1.{minor}" for minor in range(NEWEST, OLDEST - 1, -1))


def feature_gates(line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """``Name=``, then ``Name=true``: gates that can be set in the release on the line, after those already typed."""
    from kubespread.errors import UsageError
    from kubespread.kube import feature_gates as gates
    from kubespread.kube.versions import KubeVersion

    text = next(
        (line.value(name) for name in ("to_kube_version", "kube_version", "kube_versions") if line.value(name)), ""
    )
    try:
        release = (KubeVersion.parse(text) if text else KubeVersion()).release
    except UsageError:
        return
    before, name, value = _last_of_list(line.word)
    if value is not None:
        yield from (f"{before}{name}={value}" for value in ("true", "false"))
        return
    taken = {pair.partition("=")[0] for pair in before.split(",")}
    yield from (f"{before}{gate}=" for gate in gates.settable(release) if gate not in taken)


def proposals(line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """Proposed semantics, after those already typed."""
    from kubespread.kube.proposals import PROPOSALS

    before, _, _ = _last_of_list(line.word)
    yield from (f"{before}{proposal}" for proposal in PROPOSALS if proposal not in before.split(","))


def rule_codes(line: Line, _environment: Mapping[str, str]) -> Iterator[str]:
    """The codes of ``kubespread check``, after those already typed."""
    before, _, _ = _last_of_list(line.word)
    codes = line.parameter.listed if line.parameter is not None else ()
    yield from (f"{before}{code}" for code in codes if code not in before.split(","))


def _last_of_list(word: str) -> tuple[str, str, str | None]:
    """The entries of ``a=b,c=`` before the last with their comma, the last one's name, and its value if it has one."""
    before, comma, last = word.rpartition(",")
    name, equals, value = last.partition("=")
    return before + comma, name, value if equals else None
