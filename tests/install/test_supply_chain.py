"""What is installed, EXTRAS too: what is pinned, by its sum, with no known vulnerability."""

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, distributions

import pytest
from making import ROOT, make_install
from packaging.requirements import Requirement

PINS = {path.stem.partition("-")[2]: path for path in (ROOT / "contrib").glob("requirements*.txt")}
EXTRAS = sorted(PINS.keys() - {""})  # the file for all has no name of an extra


def pinned(text):
    """The versions that are pinned for this Python, by the names of packages."""
    lines = map(Requirement, re.findall(r"^(\w.*?==.*?) +\\$", text, re.MULTILINE))
    return {one.name: str(one.specifier)[2:] for one in lines if not one.marker or one.marker.evaluate()}


PINNED = pinned(PINS[""].read_text())
BUILDING = "setuptools"  # it builds, and is removed again
PAGE = ROOT / "contrib" / "docs" / "installation.md"


def packages(installed):
    """The distributions in an installation, by name; the plugins' own is none of them."""
    [folder] = installed.glob("lib/stallwatch/lib/python3.*/site-packages")
    found = {one.metadata["Name"]: one for one in distributions(path=[str(folder)])}
    del found["stallwatch"]
    return found


def test_what_is_installed_is_what_is_pinned(installed):
    there = {name: one.version for name, one in packages(installed).items()}
    assert there == {name: version for name, version in PINNED.items() if name != BUILDING}


def test_the_page_tells_every_package_its_version_and_what_it_depends_on(installed):
    rows = re.findall(r"^\| (\w+) \| (\d[\d.]*) \| .+ \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    told = {name: (version, depends) for name, version, depends in rows}
    assert told == {name: (one.version, needs(one)) for name, one in packages(installed).items()}


def needs(distribution):
    """What it needs besides Python, extras left out."""
    names = [one for one in distribution.requires or () if "extra ==" not in one]
    return ", ".join(names) or "nothing"


def test_every_extra_is_pinned_as_setup_py_wants_it():
    ours = distribution("stallwatch")
    wanted = set(ours.metadata.get_all("Provides-Extra")) - {"test"}
    assert wanted == set(EXTRAS)
    for extra in wanted:
        versions = pinned(PINS[extra].read_text())
        needed = [one for one in map(Requirement, ours.requires) if one.marker]
        needed = [one for one in needed if one.marker.evaluate({"extra": extra})]
        assert [one.name for one in needed if versions[one.name.lower()] not in one.specifier] == []


def test_extras_that_need_one_package_pin_the_same_of_it():
    """Else pip could not install both."""
    blocks = {}
    for extra in EXTRAS:
        for block in re.findall(r"^\w.*==.*\n(?: +--hash.*\n?)+", PINS[extra].read_text(), re.MULTILINE):
            blocks.setdefault(block.partition("=")[0], {}).setdefault(extra, []).append(block)
    differing = {name for name, of in blocks.items() if any(one != min(of.values()) for one in of.values())}
    assert "cffi" in blocks
    assert differing == set()


def impostor(folder, name, version):
    """A wheel of that name, which is not the one that is pinned."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('taken')\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"{name}/__init__.py,,\n")


@pytest.mark.slow("make install until it fails")
def test_a_package_of_the_pinned_version_with_another_sum_is_refused(tmp_path):
    impostor(tmp_path, "nagiosplugin", PINNED["nagiosplugin"])
    places = (f"PREFIX={tmp_path}/prefix", f"PLUGINDIR={tmp_path}/plugins")
    done = make_install(*places, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "prefix/lib/stallwatch").exists()


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_package_of_an_extra_with_another_sum_is_refused(extra, tmp_path):
    for name, version in pinned(PINS[extra].read_text()).items():
        impostor(tmp_path, name.replace("-", "_"), version)
    command = ("download", "--no-index", "--find-links", tmp_path, "--require-hashes", "-r", PINS[extra])
    done = subprocess.run(
        [sys.executable, "-m", "pip", *command, "-d", tmp_path / "taken"],
        capture_output=True, text=True, check=False, env=os.environ | {"PIP_FIND_LINKS": ""},
    )  # fmt: skip
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.slow("make install")
def test_with_extras_too_a_newer_package_than_the_pinned_one_is_not_taken(tmp_path):
    wanted = PINNED | pinned(PINS["rsa"].read_text()) | pinned(PINS["ed25519"].read_text())
    for name in wanted:
        impostor(tmp_path, name.lower(), "99.0")
    places = (f"PREFIX={tmp_path}/prefix", f"PLUGINDIR={tmp_path}/plugins")
    links = f"{tmp_path} {os.environ.get('PIP_FIND_LINKS', '')}"
    done = make_install(*places, "EXTRAS=rsa,ed25519", PIP_FIND_LINKS=links)
    assert done.returncode == 0, done.stderr
    there = {name.lower(): one.version for name, one in packages(tmp_path / "prefix").items()}
    assert there == {name.lower(): version for name, version in wanted.items() if name != BUILDING}
    python = tmp_path / "prefix/lib/stallwatch/bin/python3"
    subprocess.run([python, "-Ic", "import cryptography.hazmat.primitives.hashes, nacl.signing"], check=True)


def test_an_extra_that_there_is_not_is_refused(tmp_path):
    done = make_install(f"PREFIX={tmp_path}/prefix", f"PLUGINDIR={tmp_path}/plugins", "EXTRAS=rsa,rsb")
    assert done.returncode != 0
    assert "EXTRAS=rsa,rsb cannot be used: there is no rsb, only ed25519 plot rsa" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.only_in_all_cells  # a service on the Internet has to answer
def test_nothing_is_known_against_what_is_pinned(tmp_path):
    auditor = tmp_path / "auditor"
    for command in (
        [sys.executable, "-m", "venv", auditor],
        [auditor / "bin/pip", "install", "-q", "pip-audit"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip-audit cannot be installed here: {done.stderr.strip()[-300:]}")
    asking = [auditor / "bin/pip-audit", "-f", "json", "--require-hashes", "--disable-pip"]
    asking += [word for path in PINS.values() for word in ("-r", path)]
    done = subprocess.run(asking, capture_output=True, text=True, check=False)
    if not done.stdout:
        pytest.skip(f"the service that knows vulnerabilities cannot be asked: {done.stderr.strip()[-300:]}")
    audited = json.loads(done.stdout)["dependencies"]
    everything = [name.lower() for path in PINS.values() for name in pinned(path.read_text())]
    assert {one["name"] for one in audited} == set(everything)
    assert {one["name"]: one["vulns"] for one in audited if one.get("vulns")} == {}
    if skipped := [f"{one['name']}: {one['skip_reason']}" for one in audited if "skip_reason" in one]:
        # pip-audit 2.10 says "No known vulnerabilities found" of these, too, and ends with 0.
        pytest.skip(f"not everything could be audited: {'; '.join(skipped)}")
