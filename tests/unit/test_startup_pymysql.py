"""What is loaded to speak MySQL's protocol, and that whoever else wants PyMySQL has all of it."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

OURS = "from stallwatch.sources.mysql.server import Server\n"
WHOLE = """
connection = pymysql.connections.Connection
assert connection(defer_connect=True).cursorclass is pymysql.cursors.Cursor
assert pymysql.converters.escape_string("'") == "\\\\'"
assert pymysql.optionfile.Parser and pymysql.Date and pymysql.connections.ssl
from stallwatch.sources.mysql.connection import Connection
assert not issubclass(Connection, connection)
"""
NOT_NEEDED = (
    "ssl",
    "_ssl",
    "socket",
    "datetime",
    "decimal",
    "configparser",
    "traceback",
    "getpass",
)


def run(code):
    """Run it in a Python of its own, which must not fail."""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_not_needed_is_not_loaded():
    loaded = run(f"import sys\n{OURS}print(*sys.modules)").split()
    assert "stallwatch.startup.pymysql" in loaded
    assert set(NOT_NEEDED) & set(loaded) == set()


def test_whoever_imports_pymysql_afterwards_has_all_of_it():
    run(f"{OURS}import pymysql\n{WHOLE}")


def test_whoever_imported_pymysql_before_keeps_it():
    run(f"import sys, pymysql\nbefore = dict(sys.modules)\n{OURS}{WHOLE}"
        "assert all(sys.modules[name] is before[name] for name in before)")  # fmt: skip


def test_python_s_cryptography_is_looked_for_when_a_password_is_to_be_encrypted():
    said = run(
        "import sys\n"
        "sys.modules['cryptography'] = None  # not installed\n"
        "from stallwatch.startup import pymysql as protocol\n"
        "try:\n    protocol._auth.sha2_rsa_encrypt(b'secret', b'salt', b'key')\n"
        "except RuntimeError as error:\n    print(error)"
    )
    assert "'cryptography' package is required" in said


def test_a_later_pymysql_may_ask_for_more_of_itself(tmp_path):
    theirs = Path(find_spec("pymysql").origin).parent
    shutil.copytree(theirs, tmp_path / "pymysql", ignore=shutil.ignore_patterns("*.pyc"))
    asking = tmp_path / "pymysql" / "connections.py"
    wanted = "from .cursors import Cursor"
    assert wanted in asking.read_text()
    asking.write_text(asking.read_text().replace(wanted, f"{wanted}, DictCursor"))
    run(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{OURS}import pymysql\n{WHOLE}"
        "from stallwatch.startup import pymysql as protocol\n"
        f"assert protocol.connections.__file__ == {str(asking)!r}")  # fmt: skip
