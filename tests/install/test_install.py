"""``make install``: what it puts where, and that any user can run it without writing anything there."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
NOBODY = 65534


def make_install(*places):
    return subprocess.run(
        ["make", "-s", "install", *places], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    done = make_install(f"PREFIX={prefix}", f"PLUGINDIR={prefix}/plugins")
    assert done.returncode == 0, done.stderr
    for folder in (prefix, *prefix.parents[:-2]):  # pytest's own folders are private
        folder.chmod(folder.stat().st_mode | 0o055)
    return prefix


def test_each_plugin_is_linked_into_the_plugin_folder(installed):
    links = {link.name: os.readlink(link) for link in (installed / "plugins").iterdir()}
    plugins = {path.name for path in (ROOT / "plugins").glob("check_*")}
    assert "check_ndb_log" in plugins
    assert links == {name: f"{installed}/lib/stallwatch/bin/{name}" for name in plugins}


def test_a_plugin_of_another_package_is_left_alone(tmp_path):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "check_host").symlink_to("check_icmp")  # as in monitoring-plugins-basic, broken or not
    (plugins / "check_mysql_query").write_text("somebody's")
    (plugins / "check_ndb_log").symlink_to("/opt/older/lib/stallwatch/bin/check_ndb_log")
    plugin = "/usr/local/lib/stallwatch/bin/check_{}"
    said = [link_plugin(plugin.format(name), plugins) for name in ("host", "mysql_query", "ndb_log", "jmx")]
    left = "{0}/check_{1} is not ours and was left alone: call " + plugin.format("{1}") + "\n"
    assert said == [left.format(plugins, "host"), left.format(plugins, "mysql_query"), "", ""]
    assert os.readlink(plugins / "check_host") == "check_icmp"
    assert (plugins / "check_mysql_query").read_text() == "somebody's"
    for ours in ("ndb_log", "jmx"):
        assert os.readlink(plugins / f"check_{ours}") == plugin.format(ours)


def link_plugin(*arguments):
    done = subprocess.run(
        [ROOT / "contrib" / "link-plugin", *arguments], capture_output=True, text=True, check=True
    )
    return done.stderr


def test_another_user_runs_it_and_writes_nothing_there(installed, tmp_path):
    log = installed / "ndb_4_out.log"
    log.write_bytes(LOG.read_bytes())
    before = sorted(path for path in installed.rglob("*"))
    becoming = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [installed / "plugins" / "check_ndb_log", "--whole", "--log", log],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}, cwd="/", **becoming,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        'NDB_LOG WARNING - node 4 thread 2 stuck 2.9 s in "Yielding to OS" at 23:08:01: '
    )
    assert sorted(path for path in installed.rglob("*")) == before


def test_an_experiment_can_be_made_with_what_is_installed(installed):
    done = subprocess.run(
        [installed / "lib/stallwatch/bin/experiment", "--help"], capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "compare" in done.stdout


def test_every_module_is_compiled_beforehand(installed):
    modules = list((installed / "lib" / "stallwatch" / "lib").rglob("stallwatch/**/*.py"))
    assert modules
    compiled = {
        module: list((module.parent / "__pycache__").glob(f"{module.stem}.*.pyc")) for module in modules
    }
    assert [module for module, files in compiled.items() if not files] == []


def test_a_staged_installation_does_not_know_where_it_was_staged(tmp_path):
    done = make_install(f"DESTDIR={tmp_path}/stage", "PREFIX=/opt/it", "PLUGINDIR=/opt/it/plugins")
    assert done.returncode == 0, done.stderr
    found = subprocess.run(
        ["grep", "-rl", tmp_path, tmp_path / "stage"], capture_output=True, text=True, check=False
    )
    assert found.stdout == ""
    plugin = tmp_path / "stage/opt/it/lib/stallwatch/bin/check_ndb_log"
    assert plugin.read_text().splitlines()[0] == "#!/opt/it/lib/stallwatch/bin/python3"


def test_an_installation_that_fails_leaves_the_one_that_is_there(installed):
    plugin = installed / "plugins" / "check_ndb_log"
    places = (f"PREFIX={installed}", f"PLUGINDIR={installed}/plugins")
    failing = subprocess.run(
        ["make", "-s", "install", *places], cwd=ROOT, capture_output=True, check=False,
        env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
    )  # fmt: skip
    assert failing.returncode != 0
    assert subprocess.run([plugin, "--version"], capture_output=True, check=False).stdout


def test_a_newer_installation_takes_the_place_of_the_one_that_is_there_at_once(installed):
    plugin = installed / "plugins" / "check_ndb_log"
    places = (f"PREFIX={installed}", f"PLUGINDIR={installed}/plugins")
    answers = set()
    with subprocess.Popen(["make", "-s", "install", *places], cwd=ROOT) as installing:
        while installing.poll() is None:
            answers.add(subprocess.run([plugin, "--version"], capture_output=True, check=False).stdout)
    assert installing.returncode == 0
    assert len(answers) == 1
    assert answers.pop().startswith(b"check_ndb_log ")
    found = subprocess.run(
        ["grep", "-rlE", r"lib/stallwatch\.(new|old)", installed], capture_output=True, check=False
    )
    assert found.stdout == b""
    assert [path.name for path in (installed / "lib").iterdir()] == ["stallwatch"]
