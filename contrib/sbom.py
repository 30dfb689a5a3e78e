"""sbom.py REPORT: write what is installed with the plugins to standard output, as CycloneDX 1.6.

REPORT is that of ``pip install --report``: it has the sums that pip compared with the pinned ones. The Python
of the environment runs this and knows licenses and dependencies. One commit makes one text: it has no serial
number, and its time is $SOURCE_DATE_EPOCH or that of the commit.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import Distribution, distribution
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
OURS = "stallwatch"
BUILDING = "setuptools"  # it builds, and is removed again


def bill(report: dict[str, Any], tree: Path) -> dict[str, Any]:
    """Return the SBOM of what pip reports as installed for this source tree."""
    sums = {
        canonical(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"]["sha256"]
        for one in report["install"]
    }
    refs = {name: purl(distribution(name)) for name in sorted(sums)}
    ours = distribution(OURS)
    about = {"type": "application", "bom-ref": OURS, "name": OURS, "version": ours.version}
    about |= {"licenses": licenses(ours), "purl": f"pkg:generic/{OURS}@{ours.version}"}
    if head := commit(tree):
        about["properties"] = [{"name": f"{OURS}:commit", "value": head}]
    moment = os.environ.get("SOURCE_DATE_EPOCH") or git(tree, "log", "-1", "--format=%ct")
    used = {name: ref for name, ref in refs.items() if name != BUILDING}
    inside = {name: [*archives(distribution(name))] for name in used}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": ({"timestamp": told(moment)} if moment else {}) | {"component": about},
        "components": [
            *(component(name, ref, sums[name]) for name, ref in refs.items()),
            *chain(*inside.values()),
        ],
        "dependencies": [
            {
                "ref": ref,
                "dependsOn": [used[other] for other in needed(name) if other in used]
                + [one["bom-ref"] for one in inside.get(name, ())],
            }
            for name, ref in ({OURS: OURS} | used).items()
        ],
    }


def component(name: str, ref: str, digest: str) -> dict[str, Any]:
    """Return what is known of a package. ``excluded`` is what builds and is not installed."""
    package = distribution(name)
    known = {
        "type": "library",
        "bom-ref": ref,
        "name": package.metadata["Name"],
        "version": package.version,
        "scope": "excluded" if name == BUILDING else "required",
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": licenses(package),
        "purl": ref,
    }
    return {key: value for key, value in known.items() if value}


def archives(package: Distribution) -> Iterator[dict[str, Any]]:
    """Return the Java archives that a package brings: Maven writes into them what they are."""
    for file in package.files or ():
        if file.suffix != ".jar":
            continue
        path = Path(str(file.locate()))
        with ZipFile(path) as archive:
            [about] = [one for one in archive.namelist() if one.endswith("/pom.properties")]
            lines = archive.read(about).decode().splitlines()
        named = dict(line.split("=", 1) for line in lines if "=" in line)
        group, name, version = (named[key] for key in ("groupId", "artifactId", "version"))
        ref = f"pkg:maven/{group}/{name}@{version}"
        yield {
            "type": "library",
            "bom-ref": ref,
            "group": group,
            "name": name,
            "version": version,
            "scope": "required",
            "hashes": [{"alg": "SHA-256", "content": sha256(path.read_bytes()).hexdigest()}],
            "licenses": licenses(package),
            "purl": ref,
        }


def licenses(package: Distribution) -> list[dict[str, Any]]:
    """Return the license of a package: its expression (SPDX), its own words, or its file's first line."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return [{"expression": expression}]
    words = about.get("License") or "UNKNOWN"
    if words != "UNKNOWN" and "\n" not in words:
        return [{"license": {"name": words}}]
    kinds = [kind for kind in about.get_all("Classifier") or () if kind.startswith("License :: ")]
    files = (file.read_text() for file in package.files or () if file.name.startswith("LICENSE"))
    names = [kind.rpartition(" :: ")[2] for kind in kinds] or [text.partition("\n")[0] for text in files][:1]
    return [{"license": {"name": name.strip()}} for name in names]


def needed(name: str) -> list[str]:
    """Return the packages that it requires, those of its extras too."""
    found = (re.match(r"[\w.-]+", line) for line in distribution(name).requires or ())
    return sorted({canonical(one[0]) for one in found if one})


def commit(tree: Path) -> str:
    """Return the commit of the tree, with "-dirty" if files were changed; "" if git does not know it."""
    head = git(tree, "rev-parse", "HEAD")
    return head + "-dirty" * bool(head and git(tree, "status", "--porcelain", "--untracked-files=no"))


def git(tree: Path, *words: str) -> str:
    """Ask git about this very tree: neither about one around it, nor whose it is."""
    command = ["git", f"--git-dir={tree / '.git'}", f"--work-tree={tree}", *words]
    try:
        done = subprocess.run(
            command, cwd=tree, capture_output=True, text=True, check=False,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
        )  # fmt: skip
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def canonical(name: str) -> str:
    """Return the name of a package as PyPI writes it in addresses."""
    return re.sub(r"[-_.]+", "-", name).lower()


def purl(package: Distribution) -> str:
    """Return its address for all who look for vulnerabilities."""
    return f"pkg:pypi/{canonical(package.metadata['Name'])}@{package.version}"


def told(moment: str) -> str:
    """Return seconds since 1970 as a time of CycloneDX."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    found = bill(json.loads(Path(sys.argv[1]).read_text()), ROOT)
    print(json.dumps(found, indent=1, ensure_ascii=False))
