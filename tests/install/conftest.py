"""The package, and clean Debians to install it into."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import software
from debian_root import DebianRoot, not_debian, unavailable
from installing import installable
from making import make_install

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCE = shutil.ignore_patterns(".git", *(ROOT / ".gitignore").read_text().replace("/", "").split())
PYTHON = (
    "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
)  # nobody can run Debian's


def built(*command, becoming=(), **environment):
    """Run what builds something, and say what went wrong if it cannot.

    ``becoming`` are settings of subprocess.run(): as whom, where.
    """
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env={**os.environ, **environment}, **dict(becoming),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="session")
def installed():
    """The prefix of an installation that everybody may look into, with the folder of plugins in it."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are private
        prefix = Path(folder)
        done = make_install(f"PREFIX={prefix}", f"PLUGINDIR={prefix}/plugins")
        assert done.returncode == 0, done.stderr
        prefix.chmod(0o755)
        yield prefix


@pytest.fixture(scope="session")
def strace():
    """The program that tells every call of the kernel."""
    with installable():
        return software.program("strace", "strace")


@pytest.fixture(scope="session")
def sdist(tmp_path_factory):
    """The source of this tree for others. Built in a copy, because an interrupted build leaves files."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = shutil.copytree(ROOT, folder / "copy", symlinks=True, ignore=NOT_SOURCE)
    built(sys.executable, "-m", "build", "--sdist", "--outdir", folder, copy)
    [source] = folder.glob("*.tar.gz")
    return source


@pytest.fixture(scope="session")
def unpack_sdist(sdist):
    """Gives the tree that is in it, unpacked into a folder."""

    def unpack(folder):
        built("tar", "-C", folder, "-xf", sdist)
        return folder / sdist.name.removesuffix(".tar.gz")

    return unpack


@pytest.fixture(scope="session")
def wheel(tmp_path_factory, sdist):
    """The wheel, built of the sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    built(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def fresh_environment():
    """Gives the folder of programs of a new virtual environment with packages in it, made into a folder."""

    def make(folder, *packages):
        built(PYTHON, "-m", "venv", folder / "venv")
        built(folder / "venv/bin/pip", "install", "--quiet", *packages)
        return folder / "venv/bin"

    return make


@pytest.fixture(scope="session")
def programs_of_the_wheel(wheel, fresh_environment):
    """The programs of the wheel and of what pip installs with it, for everybody to run."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are private
        Path(folder).chmod(0o755)
        yield fresh_environment(Path(folder), wheel)


@pytest.fixture(scope="session")
def build_deb():
    """Gives the Debian package of a tree, made into a folder."""

    def build(tree, folder, **settings):
        built(tree / "contrib" / "debian" / "build-deb", folder, **settings)
        [package] = folder.glob("*.deb")
        return package

    return build


@pytest.fixture(scope="session")
def checkout(tmp_path_factory, unpack_sdist):
    """A checkout of a commit, with what is in an sdist: it has all that a Debian package needs."""
    tree = unpack_sdist(tmp_path_factory.mktemp("checkout"))
    who = ("-c", "user.name=it", "-c", "user.email=it@host.example")
    for words in (["init", "-q"], ["add", "--all", "--force"], [*who, "commit", "-q", "-m", "it"]):
        built("git", *words, becoming={"cwd": tree}, GIT_COMMITTER_DATE="1767225600 +0000")
    return tree


@pytest.fixture(scope="session")
def deb(tmp_path_factory, checkout, build_deb):
    """The Debian package of that commit."""
    if reason := not_debian():
        pytest.skip(reason)
    return build_deb(checkout, tmp_path_factory.mktemp("deb"))


@pytest.fixture(scope="session")
def bare_debian(tmp_path_factory):
    """A Debian with nothing in it: for copies, and for what leaves no trace in it."""
    if reason := unavailable():
        pytest.skip(reason)
    with installable():
        root = DebianRoot.unpacked(tmp_path_factory.mktemp("debian") / "bare")
    yield root
    root.remove()


@pytest.fixture(scope="session")
def monitored_debian(tmp_path_factory, bare_debian, deb):
    """One where this package comes first, then NRPE with the user nagios, then the usual plugins: for copies.

    ``alone`` is what the installation said, and what files there were, before the others came.
    """
    root = bare_debian.copy(tmp_path_factory.mktemp("debian") / "monitored")
    root.alone = root.install(deb), root.files()
    root.install("nagios-nrpe-server")
    root.install("monitoring-plugins-standard")
    root.run("apt-get", "clean")
    yield root
    root.remove()


@pytest.fixture(scope="session")
def engines_debian(tmp_path_factory, monitored_debian):
    """One with Icinga and Nagios, too, and a certificate for Icinga's API: for copies."""
    root = monitored_debian.copy(tmp_path_factory.mktemp("debian") / "engines")
    root.install("icinga2", "nagios4-core")
    root.run("icinga2", "api", "setup")
    root.run("apt-get", "clean")
    yield root
    root.remove()


@pytest.fixture
def monitoring_debian(tmp_path, engines_debian):
    """A copy of that one for one test."""
    root = engines_debian.copy(tmp_path / "monitoring")
    yield root
    root.remove()


@pytest.fixture
def debian(tmp_path, monitored_debian):
    """A copy of that one for one test."""
    root = monitored_debian.copy(tmp_path / "debian")
    yield root
    root.remove()
