"""What looks like a credential is not shown, and what does not is."""

from __future__ import annotations

import pytest

from kubespread import redaction
from kubespread.redaction import mask, remember_secret, shown_url, without_secrets

TEXTS = {
    "words stay": (
        "Unable to locate credentials; run aws sso login",
        "Unable to locate credentials; run aws sso login",
    ),
    "hosts and paths stay": (
        "dial tcp: lookup oidc.eks.us-east-1.amazonaws.com",
        "dial tcp: lookup oidc.eks.us-east-1.amazonaws.com",
    ),
    "times stay": ("token expired at 2026-01-02T03:04:05Z", "token expired at 2026-01-02T03:04:05Z"),
    "a bearer token": ("got Authorization: Bearer abc", "got Authorization: Bearer [redacted]"),
    "a named value": ('{"id_token": "abc", "x": 1}', '{"id_token": [redacted] "x": 1}'),
    "a flag": ("az --client-secret abc failed", "az --client-secret [redacted] failed"),
    "a JSON Web Token": ("bad eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2ln", "bad [redacted]"),
    "a URL's user info": ("GET https://me:pass@example.com/x", "GET https://example.com/x"),
    "a random word": ("key AKIAIOSFODNN7EXAMPLE is unknown", "key [redacted] is unknown"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_masking(case: str) -> None:
    text, expected = TEXTS[case]
    assert mask(text) == expected


def test_what_was_read_is_never_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", {})
    remember_secret("open\nsesame", "abc", "")
    assert without_secrets("open sesame, said abc to sesame2") == "[redacted] [redacted], said abc to [redacted]2"


def test_of_ever_new_credentials_the_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", {})
    for number in range(5000):
        remember_secret(f"token-{number}.", "always")
    assert len(redaction._remembered) == 1000
    assert without_secrets("token-0. token-4001. token-4999. always") == "token-0. [redacted] [redacted] [redacted]"


def test_a_credential_of_very_many_words_is_remembered_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", {})
    secret = " ".join(f"word{number}" for number in range(5000))
    remember_secret(secret)
    assert without_secrets(f"said {secret}") == "said [redacted]"


URLS = {
    "https://example.com:6443/k8s": "https://example.com:6443/k8s",
    "https://me:pa/ss@example.com/x?token=t#f": "https://example.com/x",
    "me:pass@example.com:6443": "example.com:6443",
    "http://[::1]:8001": "http://[::1]:8001",
}


@pytest.mark.parametrize("url", URLS)
def test_urls_are_shown_without_credentials(url: str) -> None:
    assert shown_url(url) == URLS[url]
