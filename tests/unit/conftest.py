import contextlib
import inspect
import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from clock import Clock, soon
from hypothesis import HealthCheck, settings
from stallwatch import withheld
from stallwatch.deadline import Account
from stallwatch.frame.check import Check

# A busy machine takes its time for an example; without CI=true Hypothesis gives it 0.2 s.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

BENCH = Path(__file__).parents[1] / "bench"
DIAGNOSIS = Path(__file__).parents[1] / "diagnosis"
INSTALL = Path(__file__).parents[2] / "contrib" / "debian-install"
HEAD = """
import os, signal, sys, time
from stallwatch.frame.check import Check
from stallwatch.findings import Fault, ProbeError, Reading, State

check = Check("demo", "Check a demonstration.")
check.threshold("lag", unit="s", warning="60", critical="300", help="time behind the source", headline=True)
"""
TAIL = f"""
{inspect.getsource(soon)}
if __name__ == "__main__":
    from stallwatch.deadline import Account
    Account.starved = Account.lost = lambda _: 0.0  # as on a machine that is not busy
    check.main(findings)
"""


@pytest.fixture
def whose_time():
    """Needed by tests that a run says so if it had no processor time, which is theirs to take away."""


@pytest.fixture(autouse=True)
def enough_time(request):
    """Every other run has the time that it needs, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        if "whose_time" not in request.fixturenames:
            patch.setattr(Account, "lost", lambda _: 0.0)
            patch.setattr(Account, "starved", lambda _: 0.0)
        yield


@pytest.fixture(autouse=True)
def no_password():
    """Passwords are those of a run, which a test may not have."""
    withheld.begin(())
    yield
    withheld.begin(())


@pytest.fixture
def check():
    """A check of one quantity, as a plugin would write it."""
    check = Check("demo", "Check a demonstration.\n\nNot in the help.")
    check.threshold(
        "lag", unit="s", warning="60", critical="300", help="time behind the source", headline=True
    )
    return check


@pytest.fixture
def plugin(tmp_path):
    """Run a plugin with this ``findings`` as a process of its own."""
    path = tmp_path / "check_demo"

    def write(body):
        path.write_text(HEAD + body + TAIL)
        return [sys.executable, str(path)]

    def run(body, *arguments, **settings):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, **settings}
        return subprocess.run([*write(body), *arguments], check=False, **settings)

    run.write = write
    return run


@pytest.fixture(scope="session")
def zstd_programs():
    """Needed by tests that pack with zstd or pzstd; CI installs them."""
    if not shutil.which("pzstd") and os.environ.get("CI"):
        subprocess.run([INSTALL, "zstd"], check=True)
    if not shutil.which("pzstd"):
        pytest.skip("no zstd here: apt install zstd")


@pytest.fixture
def clock(monkeypatch):
    """The clock of everybody."""
    clock = Clock()
    clock.keep(monkeypatch)
    return clock


@pytest.fixture
def utc(monkeypatch):
    """Live in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@contextlib.contextmanager
def modules_of(folder):
    """Imports modules of a folder by their names; of these only those stay that were there before."""
    before, path = set(sys.modules), list(sys.path)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield import_module
    sys.path[:] = path  # they put folders of tests into it
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == folder:
            del sys.modules[name]


@pytest.fixture(scope="module")
def bench_modules():
    """Imports modules of the benchmark by their names."""
    with modules_of(BENCH) as modules:
        yield modules


@pytest.fixture(scope="module")
def diagnosis_modules():
    """Imports modules of the bench of diagnosis by their names."""
    with modules_of(DIAGNOSIS) as modules:
        yield modules
