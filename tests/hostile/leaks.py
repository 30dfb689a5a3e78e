"""Where a secret has got to: in any of the shapes in which programs write texts."""

import base64
import html
import json
import urllib.parse

LEAST = 8  # letters by which a part of it is still known


def shapes(secret):
    """All octets that give it away: as it is, cut in halves, and as it is written elsewhere."""
    octets = secret.encode()
    half = max(LEAST, len(secret) // 2)
    texts = {
        secret, repr(secret)[1:-1], ascii(secret)[1:-1], json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret), urllib.parse.quote(secret),
        urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), octets.hex(),
        octets.hex().upper(), octets.hex(" "), base64.b64encode(octets).decode().rstrip("="),
        secret.upper(), secret.title(), secret.replace("'", "''"), secret.replace("'", "\\'"),
        secret.replace("\\", "\\\\"), secret[::-1], " ".join(secret.split()), secret.replace("|", "/"),
    }  # fmt: skip
    if len(secret) > LEAST:
        texts |= {secret[:half], secret[-half:]}
    return {text.encode() for text in texts} | {secret.encode("utf-16-le"), secret.encode("utf-16-be")}


def found(secrets, places):
    """The places that give one of them away; ``places`` are octets by name."""
    given_away = {shape for secret in secrets for shape in shapes(secret)}
    return [name for name, octets in places.items() if any(shape in octets for shape in given_away)]


def files_below(folder, but=()):
    """Octets of all files there, and their names, by path; of ``but`` neither."""
    files = {str(file): file for file in folder.rglob("*") if file not in but}
    names = {f"the name {path}": path.encode() for path in files}
    return names | {path: file.read_bytes() for path, file in files.items() if file.is_file()}
