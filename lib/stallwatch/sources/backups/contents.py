"""What is in the files of a dump: plain, gzipped or compressed by zstd; and whether it is whole."""

from __future__ import annotations

import os
import re

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.sources.backups.files import reading
from stallwatch.sources.inherited import environment, search_path
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from stallwatch.deadline import Children
    from stallwatch.sources.backups.files import File

    Moved = Callable[[int], None]

BLOCK = 1 << 20  # bytes that are read, and at most decompressed, at once
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after one byte of 0x50 to 0x5f: a frame of zstd that pzstd begins with
_SKIPPABLE_HIGH = 0x5
_USUAL, WIDEST = 8 << 20, 32 << 20  # bytes that zstd looks back: at level 19, and at 20 as the most we allow
_CALLED = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".tzst": "zstd"}
# What begins a file that only its owner, or another program, can look into.
SEALED = {
    b"XBSTCK01": "an xbstream archive",
    b"XBCRYP": "encrypted (xbcrypt)",
    b"Salted__": "encrypted (openssl enc)",
    b"age-encryption.org": "encrypted (age)",
    b"-----BEGIN PGP": "encrypted (PGP)",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x04\x22\x4d\x18": "compressed by lz4",
}
_FRAMES, _SINGLE = 8, 0x20  # frames that are looked at; the flag of one that needs no more than its text
_WANTS = re.compile(r"--long=(\d+) or --memory=(\d+)")
_TOO_EARLY = "the compressed data end too early"


class DamagedError(Exception):
    """The file is not whole; the message is the reason."""


class SealedError(Exception):
    """Nothing is known of what is in the file; the message is the reason."""


def packing(path: str) -> str:
    """Return how a file is packed by its first bytes: "", "gzip" or "zstd".

    Raises SealedError if we cannot look into it, DamagedError if it is not what its name shows, ProbeError if
    it cannot be read.
    """
    with reading(path) as descriptor:
        return _packing(os.pread(descriptor, 32, 0), path)


def _packing(first: bytes, path: str) -> str:
    for sign, what in SEALED.items():
        if first.startswith(sign):
            raise SealedError(what)
    if first.startswith(GZIP):
        return "gzip"
    if first.startswith(ZSTD) or (first[1:4] == _SKIPPABLE and first[0] >> 4 == _SKIPPABLE_HIGH):
        return "zstd"
    if called := _CALLED.get(os.path.splitext(path)[1]):
        raise DamagedError(f"it is not {called}, although its name says so")
    return ""


def beginning(file: File, children: Children, size: int = 1 << 16) -> bytes:
    """Give up to so many bytes of a file's text; raises DamagedError, SealedError or ProbeError."""
    pieces = text(file.path, children, size)
    try:
        return next(pieces, b"")
    finally:
        pieces.close()


def text(
    path: str, children: Children, block: int = BLOCK, moved: Moved = lambda _: None
) -> Generator[bytes, None, None]:
    """Give the text of a file in pieces of at most ``block`` bytes; its end is reached only if it is whole.

    ``moved`` gets the number of bytes of the file that were read since its last call. A program that
    decompresses is among ``children`` as long as it runs. Raises DamagedError, SealedError or ProbeError.
    """
    with reading(path) as descriptor:  # an OSError may also be our want of descriptors, or a file server's
        kind = _packing(os.pread(descriptor, 32, 0), path)
        if kind == "gzip":
            yield from _gunzipped(descriptor, block, moved)
        elif kind == "zstd":
            yield from _by_zstd(descriptor, children, block, moved)
        else:
            yield from _read(descriptor, block, moved)


def _read(descriptor: int, size: int, moved: Moved) -> Generator[bytes, None, None]:
    """Read it all, and do not let it push out of the page cache what the server needs there."""
    position = 0
    while block := os.read(descriptor, size):
        moved(len(block))
        yield block
        os.posix_fadvise(descriptor, position, len(block), os.POSIX_FADV_DONTNEED)
        position += len(block)


def _gunzipped(descriptor: int, size: int, moved: Moved) -> Generator[bytes, None, None]:
    import zlib

    gzip = zlib.MAX_WBITS | 16
    inflater = zlib.decompressobj(gzip)
    again = False
    for block in _read(descriptor, size // 4, moved):
        raw = block
        while raw:
            if inflater.eof:
                if not (raw := raw.lstrip(b"\0")):  # tapes and some copiers pad with zeros
                    break
                again = True
                inflater = zlib.decompressobj(gzip)  # several gzip streams in a row are one text
            try:
                piece = inflater.decompress(raw, size)
            except zlib.error as error:
                if again and "header" in str(error):
                    raise DamagedError("after its end comes something that is not gzip") from error
                raise DamagedError(f"gzip: {str(error).rpartition(': ')[2]}") from error
            raw = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if piece:
                yield piece
    if not inflater.eof:
        raise DamagedError(_TOO_EARLY)


def _by_zstd(descriptor: int, children: Children, size: int, moved: Moved) -> Generator[bytes, None, None]:
    import shutil
    import subprocess

    program = shutil.which("zstd", path=search_path())
    if program is None:
        raise SealedError("compressed by zstd, and there is no program zstd here")
    pipe = subprocess.PIPE
    command = [program, "-dcq", f"--memory={min(max(_USUAL, _window(descriptor)), WIDEST)}"]
    process = children.start(
        lambda: subprocess.Popen(  # noqa: S603
            command, stdin=descriptor, stdout=pipe, stderr=pipe, env=environment()
        )
    )
    position = 0
    try:
        while piece := process.stdout.read(size):  # type: ignore[union-attr]
            begun, position = position, os.lseek(descriptor, 0, os.SEEK_CUR)  # theirs is ours
            moved(position - begun)
            yield piece
        said = process.stderr.read(4096).decode(errors="replace")  # type: ignore[union-attr]
        if (status := process.wait()) < 0:  # no memory left, maybe
            raise ProbeError(f"zstd was killed by signal {-status} while it read a file")
        if status and (found := _WANTS.search(said)):
            raise SealedError(
                f"compressed by zstd --long: it needs {found[2]} MiB of memory to be read, more than a check "
                f"takes: check it with zstd -t --long={found[1]}"
            )
        if status:
            raise DamagedError(_why(said))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]
        process.stderr.close()  # type: ignore[union-attr]
        children.remove(process)


def window(path: str) -> int:
    """Give how far zstd is to look back in a file, in bytes; 0: it is not packed by it, or cannot be read."""
    try:
        with reading(path) as descriptor:
            return _window(descriptor) if os.pread(descriptor, 4, 0)[1:4] in (ZSTD[1:], _SKIPPABLE) else 0
    except ProbeError:
        return 0


def _window(descriptor: int) -> int:
    """Read it from the head of the first frame (RFC 8878, 3.1.1.1), behind those that are to be skipped."""
    position = 0
    for _ in range(_FRAMES):
        head = os.pread(descriptor, 6, position)
        if head[1:4] == _SKIPPABLE:
            position += 8 + int.from_bytes(os.pread(descriptor, 4, position + 4), "little")
            continue
        if len(head) < 6 or head[4] & _SINGLE:  # noqa: PLR2004 - as long as its text, which is not long then
            return 0
        power, eighths = head[5] >> 3, head[5] & 7
        return (1 << 10 + power) * (8 + eighths) // 8
    return 0


def _why(said: str) -> str:
    if "premature" in said.lower() or "unexpected end" in said.lower():
        return _TOO_EARLY
    return f"zstd: {withheld.message(said.strip().rpartition(': ')[2].strip()) or 'it is damaged'}"
