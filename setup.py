"""Package metadata. The tools' settings are in pyproject.toml."""

import re
import sys
import tempfile
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "lib/stallwatch/__init__.py").read_text())
PROGRAMS = "contrib/stallwatch-discover", "contrib/stallwatch-experiment", "contrib/stallwatchd"

# What is built on the way goes away: `pip install .` leaves nothing in this tree. An sdist has it in itself.
BUILT = tempfile.TemporaryDirectory()
ELSEWHERE = {"build": {"build_base": BUILT.name}, "egg_info": {"egg_base": BUILT.name}}

setup(
    name="stallwatch",
    options={} if "sdist" in sys.argv else ELSEWHERE,
    version=VERSION[1],
    description="Nagios and Icinga plugins that show where a database stalls, why, and what to do about it",
    long_description=(HERE / "README.md").read_text(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    package_dir={"": "lib"},
    packages=find_packages("lib"),
    package_data={"stallwatch": ["py.typed"]},
    scripts=[*sorted(glob("plugins/check_*", root_dir=HERE)), *PROGRAMS],
    install_requires=["nagiosplugin>=1.3.2", "jmxquery>=0.6.0", "PyMySQL>=1.0.2", "psutil>=5.9.4"],
    extras_require={
        "ed25519": ["PyNaCl>=1.4"],  # MariaDB's accounts of that kind
        "plot": ["matplotlib>=3.6"],  # stallwatch-experiment --plot
        "rsa": ["cryptography"],  # MySQL's caching_sha2_password without TLS
        "test": [
            "pytest>=8",
            "pytest-xdist>=3.8",
            "pytest-rerunfailures>=16",
            "hypothesis>=6.100",
            "jsonschema>=4.18",
            "cyclonedx-python-lib>=8",
            "mypy==2.4.1",
            "ruff==0.17.5",
            "matplotlib>=3.6",
            "build>=1",
        ],
    },
)
