"""hashlib with the interpreter's own digests: OpenSSL's, which are no better here, take longer to load."""

from __future__ import annotations

import sys

from stallwatch.startup.imports import without

# A build may leave some out: OpenSSL's are taken then. CPython 3.12 has made one module of the two of SHA-2.
_OWN = {"_blake2", "_md5", "_sha1", "_sha3"}
_SHA2 = ({"_sha256", "_sha512"}, {"_sha2"})
_HAS_OWN = any((_OWN | sha2).issubset(sys.builtin_module_names) for sha2 in _SHA2)

with without(*["_hashlib"] if _HAS_OWN else ()):
    import hashlib

__all__ = ["hashlib"]
