"""Where what can be found out again is kept for the next time, by the XDG Base Directory Specification."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


def cache_folder(environment: Mapping[str, str]) -> Path:
    """``$XDG_CACHE_HOME/kubespread``, or that in ``~/.cache``; a relative XDG_CACHE_HOME is ignored. A user
    without a home gets one that cannot be.
    """
    cache = environment.get("XDG_CACHE_HOME") or ""
    if os.path.isabs(cache):  # noqa: PTH117 - of text that may be empty
        return Path(cache) / "kubespread"
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - leaves the ~ where nobody knows a home
    return (home / ".cache" if home.is_absolute() else Path(os.devnull)) / "kubespread"


def remember(file: Path, content: bytes) -> None:
    """Write what the user alone may read; a cache that cannot be written is done without."""
    # Imported here because most questions are answered from what is there.
    from kubespread.snapshot.replacing import replacing

    with suppress(OSError):
        file.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        with replacing(file, _FILE_MODE) as opened:
            opened.write(content)
