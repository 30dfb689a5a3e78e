"""The Debian package in a clean Debian: installed, used as nagios, upgraded, removed."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
PLUGINS = {path.name for path in (ROOT / "plugins").glob("check_*")}
HOME = "/usr/lib/stallwatch/bin"
FOLDER = "/usr/lib/nagios/plugins"
THEIRS = {"check_host", "check_mysql_query"}  # of monitoring-plugins
STUCK = "NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s until "


def ours(root):
    """The links of our plugins in the folder of all."""
    links = [link for link in root.path(FOLDER).iterdir() if link.is_symlink()]
    return {link.name for link in links if str(link.readlink()) == f"{HOME}/{link.name}"}


def test_what_others_own_is_theirs_when_they_come_and_ours_when_they_go(monitored_debian, debian):
    assert ours(monitored_debian) == PLUGINS - THEIRS
    assert str(monitored_debian.path(f"{FOLDER}/check_host").readlink()) == "check_icmp"
    debian.run("apt-get", "remove", "-y", "-qq", "monitoring-plugins-standard", "monitoring-plugins-basic")
    assert ours(debian) == PLUGINS


def test_before_there_is_a_user_nagios_all_is_linked_and_nobodys_state_is_made(monitored_debian):
    said, files = monitored_debian.alone
    assert "there is no user nagios yet" in said
    linked = {name for name in PLUGINS if str(files[f"{FOLDER}/{name}".lstrip("/")]) == f"{HOME}/{name}"}
    assert linked == PLUGINS
    assert "var/lib/stallwatch" not in files


def test_when_the_user_nagios_comes_the_state_directory_and_the_option_file_are_for_it(monitored_debian):
    assert monitored_debian.owner("/var/lib/stallwatch/nagios") == "nagios:nagios 700"
    assert monitored_debian.owner("/etc/stallwatch/mysql.cnf") == "root:nagios 640"


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_every_plugin_runs_as_nagios(monitored_debian, name):
    folder = HOME if name in THEIRS else FOLDER
    said = monitored_debian.run(f"{folder}/{name}", "--version", user="nagios", status=3)
    assert re.fullmatch(rf"{name} \(stallwatch \d+\.\d+\.\d+\)\n", said)


def test_a_check_of_a_log_remembers_what_it_has_told(debian):
    shutil.copy(LOG, debian.path("/tmp/ndb_4_out.log"))
    before = {path: kind for path, kind in debian.files().items() if path.startswith("usr")}
    check = (f"{FOLDER}/check_ndb_log", "--log", "/tmp/ndb_4_out.log", "--hold", "100000d")
    assert debian.run(*check, user="nagios", status=1).startswith(STUCK)
    debian.run(*check, "--acknowledge", user="nagios")
    assert debian.run(*check, user="nagios").startswith("NDB_LOG OK - ")
    assert debian.owner("/var/lib/stallwatch/nagios") == "nagios:nagios 700"
    assert list(debian.path("/var/lib/stallwatch/nagios").glob("*.json"))
    assert {path: kind for path, kind in debian.files().items() if path.startswith("usr")} == before


def test_there_is_no_installer_left_and_nothing_that_runs_at_every_start(monitored_debian):
    [packages] = monitored_debian.path("/usr/lib/stallwatch/lib").glob("python3.*/site-packages")
    assert {path.name for path in packages.iterdir() if not path.name.endswith(".dist-info")} == {
        "jmxquery", "nagiosplugin", "psutil", "pymysql", "stallwatch",
    }  # fmt: skip


def test_the_packed_packages_are_the_pinned_ones(monitored_debian):
    pinned = re.findall(r"^(\S+)==(\S+) ", (ROOT / "contrib" / "requirements.txt").read_text(), re.MULTILINE)
    [packages] = monitored_debian.path("/usr/lib/stallwatch/lib").glob("python3.*/site-packages")
    assert {path.name.lower() for path in packages.glob("*.dist-info")} - {
        f"{name}-{version}.dist-info".lower() for name, version in pinned
    } == {f"stallwatch-{version_of_this_tree()}.dist-info"}
    assert dict(pinned).keys() == {"nagiosplugin", "PyMySQL", "psutil", "jmxquery", "setuptools"}


def test_the_packed_sbom_tells_the_commit_and_its_time(monitored_debian, checkout):
    told = json.loads(monitored_debian.path("/usr/share/doc/stallwatch/sbom.cdx.json").read_text())
    head = subprocess.run(
        ["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    ours = told["metadata"]["component"]
    assert ours["properties"] == [{"name": "stallwatch:commit", "value": head}]
    assert ours["version"] == version_of_this_tree()
    assert told["metadata"]["timestamp"] == "2026-01-01T00:00:00Z"


def version_of_this_tree():
    return re.search(r'__version__ = "(.+)"', (ROOT / "lib/stallwatch/__init__.py").read_text())[1]


def test_the_option_file_is_for_nagios_to_read_and_for_nobody_else(monitored_debian):
    assert monitored_debian.owner("/etc/stallwatch/mysql.cnf") == "root:nagios 640"
    check = (
        f"{FOLDER}/check_mysql_status",
        "--defaults-file",
        "/etc/stallwatch/mysql.cnf",
        "-S",
        "/tmp/none.sock",
    )
    said = monitored_debian.run(*check, user="nagios", status=3)
    assert "/tmp/none.sock" in said
    assert "mysql.cnf" not in said


def test_the_package_manager_finds_everything_as_it_was_packed(monitored_debian):
    assert monitored_debian.run("dpkg", "--verify", "stallwatch") == ""


def test_manual_pages_and_completions_are_where_they_are_looked_for(monitored_debian):
    for name in PLUGINS:
        assert monitored_debian.path(f"/usr/share/man/man1/{name}.1.gz").is_file()
        assert monitored_debian.path(f"/usr/share/bash-completion/completions/{name}").is_file()
    assert monitored_debian.path("/usr/share/zsh/vendor-completions/_stallwatch").is_file()


def test_the_engines_take_the_definitions_where_the_package_puts_them(monitoring_debian):
    debian = monitoring_debian
    settings = debian.path("/etc/icinga2/conf.d/stallwatch.conf")
    settings.write_text(
        'include <stallwatch>\nobject Host "replica1" { check_command = "replication_lag" }\n'
    )
    debian.run("icinga2", "daemon", "-C")
    debian.run("cp", "/usr/share/stallwatch/nagios/stallwatch-commands.cfg", "/etc/nagios4/conf.d")
    assert "Total Warnings: 0" in debian.run("nagios4", "-v", "/etc/nagios4/nagios.cfg")
    assert debian.path("/usr/share/stallwatch/nrpe/stallwatch.cfg").is_file()


def test_nothing_is_put_into_the_configuration_of_an_engine(debian):
    of_it = [path for path in debian.run("dpkg", "-L", "stallwatch").split() if path.startswith("/etc/")]
    assert {path for path in of_it if debian.path(path).is_file()} == {
        "/etc/stallwatch/mysql.cnf",
        "/etc/logrotate.d/stallwatch",
    }


def newer(deb, folder):
    """Pack a version with another option file, and without one of the plugins."""
    tree = folder / "tree"
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^(Version: .+)$", r"\1+1", control.read_text(), flags=re.MULTILINE))
    with (tree / "etc/stallwatch/mysql.cnf").open("a") as options:
        options.write("# a newer one\n")
    with (tree / "etc/logrotate.d/stallwatch").open("a") as settings:
        settings.write("# a newer one\n")
    (tree / "usr/lib/stallwatch/bin/check_bonding").unlink()
    package = folder / "stallwatch_newer.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, package],
        check=True,
        capture_output=True,
    )
    return package


@pytest.mark.slow("another package is built and installed")
def test_an_upgrade_keeps_what_was_edited_and_what_is_remembered(debian, deb, tmp_path):
    options = debian.path("/etc/stallwatch/mysql.cnf")
    options.write_text("[client]\nuser = site\npassword = secret\n")
    debian.run("chown", "root:nagios", "/etc/stallwatch/mysql.cnf")
    memory = debian.path("/var/lib/stallwatch/nagios/check_of_a_site.json")
    memory.write_text("{}")

    debian.install(newer(deb, tmp_path))
    assert options.read_text() == "[client]\nuser = site\npassword = secret\n"
    assert debian.owner("/etc/stallwatch/mysql.cnf") == "root:nagios 640"
    assert debian.path("/etc/logrotate.d/stallwatch").read_text().endswith("# a newer one\n")
    assert memory.exists()
    assert ours(debian) == PLUGINS - THEIRS - {"check_bonding"}
    assert not debian.path(f"{FOLDER}/check_bonding").is_symlink()


def test_a_removal_that_is_given_up_gives_the_links_back(debian):
    scripts = "/var/lib/dpkg/info/stallwatch"
    debian.run(f"{scripts}.prerm", "remove")
    assert ours(debian) == set()
    debian.run(f"{scripts}.postinst", "abort-remove")
    assert ours(debian) == PLUGINS - THEIRS


@pytest.mark.slow("dpkg removes, installs and purges")
def test_a_removal_keeps_settings_and_memory_and_a_purge_leaves_nothing(debian, deb):
    shutil.copy(LOG, debian.path("/tmp/ndb_4_out.log"))
    for user in ("nagios", "root"):
        debian.run(f"{FOLDER}/check_ndb_log", "--log", "/tmp/ndb_4_out.log", "--acknowledge", user=user)
    debian.run("apt-get", "remove", "-y", "-qq", "stallwatch")
    assert ours(debian) == set()
    assert not debian.path("/usr/lib/stallwatch").exists()
    assert debian.path("/etc/stallwatch/mysql.cnf").exists()
    assert debian.path("/var/lib/stallwatch/root").exists()

    debian.purge("stallwatch")
    before = debian.files()
    assert [path for path in before if "stallwatch" in path] == []
    assert ours(debian) == set()

    said = debian.install(deb)
    for name in THEIRS:
        assert f"{FOLDER}/{name} is not ours and was left alone: call {HOME}/{name}\n" in said
    assert ours(debian) == PLUGINS - THEIRS
    assert debian.owner("/etc/stallwatch/mysql.cnf") == "root:nagios 640"
    debian.purge("stallwatch")
    assert debian.files() == before


def test_the_logs_of_a_data_node_are_rotated_once_the_example_is_taken(debian):
    debian.install("logrotate")
    folder = debian.path("/var/lib/mysql-cluster")
    folder.mkdir()
    log = folder / "ndb_4_out.log"
    shutil.copy(LOG, log)
    debian.run("logrotate", "--force", "/etc/logrotate.d/stallwatch")
    assert [path.name for path in folder.iterdir()] == [
        "ndb_4_out.log"
    ]  # nothing, as long as nobody asks for it

    uncomment(debian.path("/etc/logrotate.d/stallwatch"))
    check = (f"{FOLDER}/check_ndb_log", "--log", "/var/lib/mysql-cluster/ndb_*_out.log", "--hold", "100000d")
    assert debian.run(*check, user="nagios", status=1).startswith(STUCK)
    debian.run(*check, "--acknowledge", user="nagios")
    inode = log.stat().st_ino
    with log.open("ab") as node:  # which does not open it again
        debian.run("logrotate", "--force", "/etc/logrotate.d/stallwatch")
        assert {path.name: path.stat().st_size for path in folder.iterdir()} == {
            "ndb_4_out.log": 0, "ndb_4_out.log.1": LOG.stat().st_size,
        }  # fmt: skip
        assert debian.run(*check, user="nagios").startswith("NDB_LOG OK - ")
        node.write(LOG.read_bytes())
    assert log.stat().st_ino == inode
    assert debian.run(*check, user="nagios", status=1).startswith(STUCK)


def uncomment(example):
    """Take the # away from settings: they follow at once or after four blanks, prose after one."""
    example.write_text(re.sub(r"^#(?=\S|    )", "", example.read_text(), flags=re.MULTILINE))


def test_the_rules_for_sudo_are_right_and_let_pass_what_they_name_only(debian):
    debian.install("sudo", "adduser")
    rules = debian.path("/etc/sudoers.d/stallwatch")
    shutil.copy(debian.path("/usr/share/stallwatch/sudoers.d/stallwatch"), rules)
    rules.chmod(0o440)
    bonding = ("sudo", "-n", f"{HOME}/check_bonding")
    assert "password is required" in debian.run(*bonding, user="nagios", status=1)
    uncomment(rules)
    debian.run("adduser", "--system", "--group", "mysql")
    debian.run("visudo", "-c", "-f", "/etc/sudoers.d/stallwatch")
    assert debian.run(*bonding, user="nagios", status=3).startswith("BONDING ")
    assert "password is required" in debian.run(*bonding, "--no-state", user="nagios", status=1)


@pytest.fixture
def elsewhere(checkout):
    """Another checkout of the commit, of nobody's if that can be, and how to build there."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own are private
        folder = Path(name)
        folder.chmod(0o755)
        git = ("git", "-c", "safe.directory=*", "clone", "-q", checkout, folder / "another")
        subprocess.run(git, check=True, umask=0o077)
        becoming = {"umask": 0o077}
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "nobody:nogroup", folder], check=True)
            becoming |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
        yield folder, becoming


OTHER_HABITS = {
    "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "LANGUAGE": "de", "PYTHONHASHSEED": "1",
    "PYTHONOPTIMIZE": "2", "PYTHONPYCACHEPREFIX": "/nowhere",
    "DPKG_DEB_THREADS_MAX": "1", "DPKG_DEB_COMPRESSOR_LEVEL": "1",
}  # fmt: skip


@pytest.mark.slow("the package is built a second time")
def test_one_commit_makes_one_package_wherever_and_by_whom_it_is_built(deb, build_deb, elsewhere):
    folder, becoming = elsewhere
    habits = OTHER_HABITS | {"HOME": str(folder), "TMPDIR": str(folder)}
    another = build_deb(folder / "another", folder / "out", becoming=becoming, **habits)
    assert packed(another) == packed(deb)
    assert another.read_bytes() == deb.read_bytes()


def packed(package):
    """What a Debian package has, by path: kind, mode, owner, time, link and sum."""
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as files:
        return {
            one.name: (
                one.type, one.mode, one.uname, one.uid, one.mtime, one.linkname,
                one.isfile() and hashlib.sha256(files.extractfile(one).read()).hexdigest(),
            )
            for one in files
        }  # fmt: skip
