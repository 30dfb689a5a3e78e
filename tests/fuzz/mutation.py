"""Octets that mean something, changed by chance: the same seed gives the same change."""

import random
import re

NUMBER = re.compile(rb"-?\d+")
NUMBERS = (
    b"0", b"-1", b"1", b"00", b"127", b"255", b"256", b"65536", b"2147483647", b"-2147483648", b"4294967296",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
    b"1e999", b"-1e999", b"1e308", b"1e-999", b"nan", b"inf", b"-inf", b"0x10", b"1_0", b"+1", b" 1", b"1.",
    b".5", b"9" * 30, b"9" * 400, b"9" * 5000, "\u0661\u0662".encode(), "\u00b2".encode(),
)  # fmt: skip
ODD = (
    b"\0", b"\n", b"\r\n", b"\r", b"\t", b" ", b"|", b"'", b'"', b"`", b"\\", b"=", b":", b";", b",", b".",
    b"%", b"%s", b"{}", b"$(x)", b"\xff", b"\x80", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m",
    "\u202e".encode(), "\u2028".encode(), "\x85".encode(), "\U0001f418".encode(), "\u0130".encode(),
    b"<b>", b"()", b"[", b"]", b"{", b"}", b"#", b"!", b"/*", b"*/", b"--", b"*", b"?", b"@", b"~",
    b"null", b"true", b"1970-01-01 00:00:00", b"9999-12-31 23:59:59", b"0000-00-00 00:00:00",
)  # fmt: skip
MUCH = 20_000  # bytes that one change adds
TIMES = (2, 3, 10, 100, 1000, 20_000)


def mutated(seed, octets, tokens, longest):
    """Choose one of these, and change it in some places."""
    chance = random.Random(seed)
    changed = bytearray(chance.choice(octets))
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8, 20))):
        chance.choice(WAYS)(changed, chance, octets, tokens)
    return bytes(changed[:longest])


def _place(changed, chance):
    return chance.randrange(len(changed) + 1)


def _byte(changed, chance, _, __):
    at = _place(changed, chance)
    changed[at : at + 1] = bytes([chance.randrange(256)])


def _insert(changed, chance, _, tokens):
    at = _place(changed, chance)
    changed[at:at] = chance.choice((*tokens, *ODD))


def _replace(changed, chance, _, tokens):
    at, token = _place(changed, chance), chance.choice((*tokens, *ODD))
    changed[at : at + len(token)] = token


def _number(changed, chance, _, __):
    if found := [*NUMBER.finditer(changed)]:
        begin, end = chance.choice(found).span()
        changed[begin:end] = chance.choice(NUMBERS)


def _delete(changed, chance, _, __):
    at = _place(changed, chance)
    del changed[at : at + chance.choice((1, 2, 4, 16, 100))]


def _cut(changed, chance, _, __):
    del changed[_place(changed, chance) :]


def _repeat(changed, chance, _, __):
    at = _place(changed, chance)
    part, times = changed[at : at + chance.choice((1, 1, 2, 5, 20, 100))], chance.choice(TIMES)
    changed[at:at] = part * min(times, MUCH // max(1, len(part)))


def _line_again(changed, chance, _, __):
    lines = bytes(changed).splitlines(keepends=True)
    if lines:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
        changed[:] = b"".join(lines)


def _line_lost(changed, chance, _, __):
    lines = bytes(changed).splitlines(keepends=True)
    if lines:
        del lines[chance.randrange(len(lines))]
        changed[:] = b"".join(lines)


def _splice(changed, chance, octets, _):
    other = chance.choice(octets)
    begin = chance.randrange(len(other) + 1)
    at = _place(changed, chance)
    changed[at:at] = other[begin : begin + chance.choice((4, 20, 100, 1000))]


WAYS = (
    _byte, _byte, _insert, _insert, _replace, _replace, _number, _number, _number, _delete, _cut, _repeat,
    _line_again, _line_lost, _splice,
)  # fmt: skip
