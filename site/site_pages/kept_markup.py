"""Markup of rows that stays as it is from one rendering to the next: most rows of a large league."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
from markupsafe import Markup


class KeptMarkup:
    """Keeps what macros made of equal values in this rendering and in the one before."""

    def __init__(self) -> None:
        self._terms: object = None
        self._before: dict[bytes, bytes] = {}
        self._now: dict[bytes, bytes] = {}

    def begin(self, terms: object) -> None:
        """Begin a rendering.

        Args:
            terms: what decides, besides their values, what macros make.
        """
        self._before, self._now = self._now if terms == self._terms else {}, {}
        self._terms = terms

    def make(self, name: str, macro: Callable[..., Markup], *values: object) -> Markup:
        """Return what a macro makes of these values.

        Args:
            name: that of the macro, which no other has.
            macro: the macro itself; each template that imports it has its own.
            values: what it takes: structs and texts.
        """
        # Digests and bytes, since the values and texts of all rows of a large league take ten megabytes.
        key = hashlib.blake2b(msgspec.msgpack.encode((name, values)), digest_size=16).digest()
        found = self._now.get(key)
        if found is None:
            found = self._now[key] = self._before.get(key) or macro(*values).encode("utf-8", "surrogatepass")
        return Markup(found.decode("utf-8", "surrogatepass"))
