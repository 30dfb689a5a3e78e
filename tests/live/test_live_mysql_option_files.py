"""Our reading of option files, and that of the programs they are made for."""

import os
import shutil
import subprocess

import ndb_software
import pytest
import software
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stallwatch.sources.mysql import option_files

KNOWN = ("host", "port", "user", "ssl-ca", "database")
LINES = st.sampled_from(
    [
        "[client]",
        "[client-server]",
        "[mysqld]",
        " [client] # c",
        "",
        "# user=x",
        ";host=y",
        "!nonsense",
        "user",
    ]
)
VALUES = st.text(alphabet="ab =#;'\"\\st[]!\t-_", max_size=12)  # \n would be printed as it is
OPTIONS = st.builds(
    lambda name, between, value: f"{name}{between}{value}",
    st.sampled_from(["host", "user", "ssl-ca", "ssl_ca", "database", "  host"]),
    st.sampled_from(["=", " = ", " =", "= "]),
    VALUES,
)
FILES = st.lists(st.one_of(OPTIONS, OPTIONS, LINES), max_size=12).map(
    lambda lines: "[client]\n" + "\n".join(lines)
)
GROUPS = ("client", "client-server")


def printed(command, path):
    """What a program reads: its arguments one a line, of those that we know."""
    run = subprocess.run([*command(path), *GROUPS], capture_output=True, text=True, check=True)
    found = {}
    for line in run.stdout.splitlines():
        name, equals, value = line.partition("=")
        found[name.removeprefix("--").replace("_", "-")] = value if equals else None
    return {name: value for name, value in found.items() if name in KNOWN}


@pytest.fixture(scope="module")
def my_print_defaults():
    """MariaDB's, which prints what it has read."""
    program = shutil.which("my_print_defaults")
    if not program:
        pytest.skip("my_print_defaults is not here: apt install mariadb-client")
    return lambda path: [program, f"--defaults-file={path}"]


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(FILES)
@pytest.mark.slow("hundreds of option files")
def test_as_mariadb_reads_them(my_print_defaults, tmp_path, content):
    path = tmp_path / "my.cnf"
    path.write_text(content)
    expected = printed(my_print_defaults, path)
    assert option_files.options(option_files.read(str(path)), GROUPS, KNOWN) == expected


def test_as_mysql_reads_them(tmp_path):
    try:
        program = os.path.join(ndb_software.home(), "bin", "mysql")
    except software.Missing as missing:
        pytest.skip(str(missing))
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "b.cnf").write_text("[client]\nhost=b # c\nssl_ca='a#b' # c\n")
    (tmp_path / "conf.d" / "a.cnf").write_text('[client]\nhost=a\n[mysql]\ndatabase="x y"\n')
    path = tmp_path / "my.cnf"
    path.write_text(f"[client]\nuser=u\\sv\nhost=x\n!includedir {tmp_path}/conf.d\nloose-port=3#4\n")
    run = subprocess.run(
        [program, f"--defaults-file={path}", "--print-defaults"], capture_output=True, text=True, check=True
    )
    found = option_files.options(option_files.read(str(path)), ("client", "mysql"), KNOWN)
    assert found == {"user": "u v", "host": "b", "ssl-ca": "a#b", "database": "x y", "port": "3"}
    told = run.stdout.splitlines()[-1].strip()
    assert told == "--user=u v --host=x --host=a --database=x y --host=b --ssl_ca=a#b --loose-port=3"
