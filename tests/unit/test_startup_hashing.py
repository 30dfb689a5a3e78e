"""Digests of the interpreter's own are the same, and OpenSSL is left alone where it has them."""

import hashlib
import subprocess
import sys

import pytest

NAMES = ("md5", "sha1", "sha256", "sha512")
ASKED = f"""
from stallwatch.startup.hashing import hashlib
print("_hashlib" in sys.modules, *(hashlib.new(name, b"stallwatch").hexdigest() for name in {NAMES}))
"""
SHA2 = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
OWN_ARE = {"_blake2", "_md5", "_sha1", "_sha3", SHA2}.issubset(sys.builtin_module_names)


def asked(before=""):
    """Whether OpenSSL is loaded, and the digests."""
    program = f"import sys\n{before}\n{ASKED}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    with_openssl, *digests = done.stdout.split()
    assert digests == [hashlib.new(name, b"stallwatch").hexdigest() for name in NAMES]
    return with_openssl == "True"


@pytest.mark.skipif(not OWN_ARE, reason="this build of Python has no digests of its own: apt install python3")
def test_openssl_is_not_loaded():
    assert not asked()


@pytest.mark.parametrize("missing", ["_md5", SHA2])
def test_a_build_without_digests_of_its_own_takes_those_of_openssl(missing):
    assert asked(f"sys.builtin_module_names = {{*sys.builtin_module_names}} - {{{missing!r}}}")


def test_whoever_has_loaded_hashlib_keeps_it():
    assert asked("import hashlib, _hashlib")
