"""URLs that can be asked, and those that never can."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

SERVER_SCHEMES = ("http", "https")
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
_HOST = re.compile(r"[0-9a-z_-]{1,63}(?:\.[0-9a-z_-]{1,63})*\.?|[0-9a-f:.]+(?:%[0-9a-z_.-]+)?", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[^\x21-\x7e]")


def url_fault(url: str, schemes: Collection[str]) -> str:
    """Why nothing can be asked at ``url``, without any part of it that may be secret; empty when it can."""
    if _UNPRINTABLE.search(url):
        return "it holds a space, a control character or one that is not ASCII"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "its host or port is invalid"
    if parts.scheme.lower() not in schemes:
        return f"expected {' or '.join(f'{scheme}://' for scheme in schemes)}"
    if not host or not _HOST.fullmatch(host):
        return "it names no host" if not host else "its host is invalid"
    if port == 0:
        return "its port is 0"
    return "it has a query or fragment" if parts.query or parts.fragment else ""
