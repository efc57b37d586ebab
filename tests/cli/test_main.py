"""The last resort: a bug is one line, or a traceback, and neither repeats a credential."""

from __future__ import annotations

import sys

import pytest

from kubespread.cli import main as entry
from kubespread.redaction import remember_secret

SECRET = "open-sesame"


@pytest.mark.parametrize("debug", ["", "0", "1"])
def test_a_bug_does_not_repeat_credentials(
    debug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        remember_secret(SECRET)
        try:
            raise ValueError(f"Invalid header value b'Bearer unseen\\n{SECRET}'")
        except ValueError as error:
            raise RuntimeError(f"no {SECRET}") from error

    monkeypatch.setattr(entry, "_run", run)
    monkeypatch.setattr(sys, "argv", ["kubespread", "explain"])
    monkeypatch.setenv("KUBESPREAD_DEBUG", debug)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out, SECRET in err, "unseen" in err) == (70, "", False, False)
    assert all(line.startswith("error: ") for line in err.splitlines())
    last = err.splitlines()[-1]
    assert last.startswith("error: this is a bug in kubespread: RuntimeError: no [redacted]")
    assert ("Traceback" in err, last.endswith("(run again with KUBESPREAD_DEBUG=1)")) == (debug == "1", debug != "1")
