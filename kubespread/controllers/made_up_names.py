"""Hashes and random suffixes, made up so that the same template always gets the same."""

from __future__ import annotations

_HASH_ALPHABET = str.maketrans("0123456789", "456789bcdf")
_NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_PREFIX, _SUFFIX = 58, 5


def template_hash(template_text: str) -> str:
    """32-bit FNV-1a of the template's canonical JSON, in the alphabet of Kubernetes' own hashes.

    Kubernetes hashes a dump of Go structs, which nothing outside Go can reproduce; this one is as stable as the
    template.
    """
    return str(_fnv1a(template_text)).translate(_HASH_ALPHABET)


def generated_name(prefix: str, seed: str) -> str:
    """generateName cut to 58 characters and five characters that depend on nothing but the input; empty without it."""
    if not prefix:
        return ""
    digest, suffix = _fnv1a(prefix + seed), ""
    for _ in range(_SUFFIX):
        digest, letter = divmod(digest, len(_NAME_ALPHABET))
        suffix += _NAME_ALPHABET[letter]
    return prefix[:_MAX_PREFIX] + suffix


def _fnv1a(text: str) -> int:
    digest = 0x811C9DC5
    for byte in text.encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest
