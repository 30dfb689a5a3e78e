"""The SBOM that is installed: true, complete, valid, and the same each time."""

import hashlib
import json
import os
import re
import subprocess
from importlib.metadata import distributions

import pytest
import sbom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from making import ROOT
from packageurl import PackageURL

PINS = (ROOT / "contrib" / "requirements.txt").read_text()
PINNED = {  # the sums of each; psutil has one for each architecture
    name: re.findall(r"\w{64}", sums)
    for name, sums in re.findall(r"^(\S+)==\S+ \\\n((?: +--hash=\S+(?: \\)?\n)+)", PINS, re.MULTILINE)
}
BUILDING = "setuptools"
JAR = "JMXQuery"  # of Java, in the package jmxquery


@pytest.fixture(scope="module")
def text(installed):
    """The SBOM of an installation."""
    return (installed / "share/doc/stallwatch/sbom.cdx.json").read_text()


@pytest.fixture(scope="module")
def told(text):
    """What is in it."""
    return json.loads(text)


def test_it_is_valid(text):
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_tells_each_pinned_package_with_its_sum(told):
    sums = {one["name"]: one["hashes"] for one in told["components"] if one["name"] != JAR}
    assert sums.keys() == PINNED.keys()
    assert [name for name, [one] in sums.items() if one["alg"] != "SHA-256"] == []
    assert [name for name, [one] in sums.items() if one["content"] not in PINNED[name]] == []
    assert [one["name"] for one in told["components"] if one["scope"] == "excluded"] == [BUILDING]


def test_it_tells_what_is_installed_and_its_licenses(installed, told):
    [folder] = installed.glob("lib/stallwatch/lib/python3.*/site-packages")
    there = {one.metadata["Name"]: one for one in distributions(path=[str(folder)])}
    ours = there.pop("stallwatch")
    required = {one["name"]: one for one in told["components"] if one["scope"] == "required"}
    del required[JAR]
    assert {name: one["version"] for name, one in required.items()} == {
        name: one.version for name, one in there.items()
    }
    for one in required.values():
        url = PackageURL.from_string(one["purl"])
        assert (url.type, url.name, url.version) == ("pypi", one["name"].lower(), one["version"])
    licenses = {name: one.get("licenses") for name, one in required.items()}
    assert licenses == {
        "nagiosplugin": [{"license": {"name": "ZPL-2.1"}}],
        "PyMySQL": [{"expression": "MIT"}],
        "psutil": [{"license": {"name": "BSD-3-Clause"}}],
        "jmxquery": [{"license": {"name": "The MIT License"}}],  # its file's first line: it says UNKNOWN
    }
    assert told["metadata"]["component"]["version"] == ours.version


def test_it_tells_what_depends_on_what(told):
    depends = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    required = {one["bom-ref"] for one in told["components"] if one["scope"] == "required"}
    jar, query = (next(one for one in required if name in one) for name in (JAR, "/jmxquery@"))
    python = sorted(required - {jar})
    assert depends == {"stallwatch": python} | {one: [jar] * (one == query) for one in python}


def test_the_java_archive_of_a_package_is_a_component(installed, told):
    [jar] = installed.glob(f"lib/stallwatch/lib/python3.*/site-packages/**/{JAR}-*.jar")
    [one] = [one for one in told["components"] if one["name"] == JAR]
    url = PackageURL.from_string(one["purl"])
    assert (url.type, url.namespace, url.name) == ("maven", "com.outlyer", JAR)
    assert f"{url.name}-{url.version}.jar" == jar.name
    assert one["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(jar.read_bytes()).hexdigest()}]
    assert one["licenses"] == [{"license": {"name": "The MIT License"}}]


def test_it_has_no_time_but_that_of_the_commit_and_no_chance(told):
    assert "serialNumber" not in told
    [commit] = [one["value"] for one in told["metadata"]["component"].get("properties", ())] or [""]
    assert commit == sbom.commit(ROOT)
    at = os.environ.get("SOURCE_DATE_EPOCH") or sbom.git(ROOT, "log", "-1", "--format=%ct")
    assert told["metadata"].get("timestamp") == (sbom.told(at) if at else None)


def test_a_tree_that_was_changed_or_is_not_gits_is_told_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    outer = tmp_path / "outer"
    inner = outer / "stallwatch"
    inner.mkdir(parents=True)
    (outer / "file").write_text("as it was\n")
    who = ("-c", "user.name=it", "-c", "user.email=it@host.example")
    for command in (["init", "-q"], ["add", "file"], [*who, "commit", "-qm", "it"]):
        subprocess.run(["git", *command], cwd=outer, check=True)
    assert sbom.commit(inner) == ""  # the repository around it is another one
    head = sbom.commit(outer)
    assert re.fullmatch(r"[0-9a-f]{40}", head)
    if os.geteuid() == 0:
        os.chown(outer, 65534, 65534)
        assert sbom.commit(outer) == head  # root may build what is somebody else's
    (outer / "file").write_text("another\n")
    assert sbom.commit(outer) == f"{head}-dirty"


@pytest.mark.parametrize(
    ("about", "licenses"),
    [
        ("License-Expression: MIT OR Apache-2.0\nLicense: old words", [{"expression": "MIT OR Apache-2.0"}]),
        ("License: BSD", [{"license": {"name": "BSD"}}]),
        ("License: UNKNOWN", []),
        ("License: a text\n of many lines", []),
        ("License: a\n text\nClassifier: License :: OSI Approved :: BSD", [{"license": {"name": "BSD"}}]),
    ],
)
def test_a_license_is_told_in_the_words_of_the_package(tmp_path, about, licenses):
    folder = tmp_path / "it-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: it\nVersion: 1\n{about}\n")
    [package] = distributions(path=[str(tmp_path)])
    assert sbom.licenses(package) == licenses
