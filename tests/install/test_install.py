"""``make install``: what it puts where, and that any user can run it without writing anything there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from making import make, make_install

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
NOBODY = 65534


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
    assert done.stdout.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s until 23:08:01, ")
    assert sorted(path for path in installed.rglob("*")) == before


def test_an_experiment_finds_the_plugins_beside_itself(installed, tmp_path):
    done = subprocess.run(
        [
            installed / "bin/stallwatch-experiment", "take", tmp_path / "taken.json", "-n", "4",
            "--pause", "0", "--", "check_ndb_log", "--whole", "--no-state", "--log", LOG,
        ],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "taken.json: 4 readings" in done.stdout


def test_definitions_call_the_plugins_of_this_installation(installed):
    share = installed / "share" / "stallwatch"
    files = [path for path in share.rglob("*") if path.is_file() and path.suffix != ".png"]
    for name in ("icinga2/stallwatch-commands.conf", "nagios/stallwatch-commands.cfg", "nrpe/stallwatch.cfg"):
        assert f"{installed}/lib/stallwatch/bin" in (share / name).read_text()
    told = [path for path in files if re.search(r"/usr/(lib|share)/stallwatch", path.read_text())]
    assert told == []


def test_links_between_the_pages_lead_somewhere(installed):
    pages = [
        *installed.glob("share/doc/stallwatch/*.md"),
        *installed.glob("share/stallwatch/docs/installation.md"),
    ]
    assert len(pages) == 5
    for page in pages:
        targets = re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", page.read_text())
        assert [target for target in targets if not (page.parent / target).exists()] == [], page


def told(prefix, plugins):
    """The two lines of an installation."""
    where = f"programs in {prefix}/lib/stallwatch, plugins in {plugins}, other files in {prefix}/share"
    packages = "with Python packages from PyPI: 2 MB"
    return f"installing into {prefix}/lib/stallwatch, {packages}\ninstalled: {where}\n"


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """An installation for another place than where it is, beside a plugin of somebody else."""
    stage = tmp_path_factory.mktemp("stage")
    (stage / "opt/plugins").mkdir(parents=True)
    (stage / "opt/plugins/check_host").write_text("somebody's")
    done = make_install(f"DESTDIR={stage}", "PREFIX=/opt/it", "PLUGINDIR=/opt/plugins")
    assert done.returncode == 0, done.stderr
    assert done.stdout == told("/opt/it", "/opt/plugins")
    return stage


def test_a_staged_installation_does_not_know_where_it_was_staged(staged):
    found = subprocess.run(["grep", "-rl", staged, staged], capture_output=True, text=True, check=False)
    assert found.stdout == ""
    plugin = staged / "opt/it/lib/stallwatch/bin/check_ndb_log"
    assert plugin.read_text().splitlines()[0] == "#!/opt/it/lib/stallwatch/bin/python3 -I"


@pytest.mark.parametrize("target", ["install", "uninstall"])
@pytest.mark.parametrize("place", ["PREFIX={}/my plugins", "PREFIX=", "PLUGINDIR={}/it's", "DESTDIR=stage"])
def test_places_that_cannot_be_are_refused_before_anything_is_done(target, place, tmp_path):
    done = make(target, f"PREFIX={tmp_path}", f"PLUGINDIR={tmp_path}/plugins", place.format(tmp_path))
    assert done.returncode != 0
    assert done.stderr.startswith(f"{place.format(tmp_path)} cannot be used: it has to begin with /")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow("another make install")
def test_another_user_is_told_what_to_give_and_that_leaves_nothing_behind(unpack_sdist, open_path):
    """The source is root's, and what it prints is run as it stands: no shell expands the ~."""
    tree, home = unpack_sdist(open_path), open_path / "home"
    home.mkdir()
    becoming = {}
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        becoming = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    (open_path / "roots").mkdir(mode=0o555)
    before = everything(open_path)

    def run(target, *places):
        return make(target, *places, tree=tree, becoming=becoming, HOME=str(home), PIP_NO_CACHE_DIR="1")

    for target in ("install", "uninstall"):
        done = run(target, f"PREFIX={open_path}/roots/it", f"PLUGINDIR={home}/plugins")
        assert (done.returncode, done.stdout) == (2, "")
        said, _ = done.stderr.splitlines()  # the other one is make's own
        refused, _, command = said.partition("; run it as root, or: make ")
        assert refused == f"not writable: {open_path}/roots"
        assert command == f"{target} PREFIX=~/.local PLUGINDIR=~/.local/lib/nagios/plugins"
        assert everything(open_path) == before
    places = command.split()[1:]
    done = run("install", *places)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == told(f"{home}/.local", f"{home}/.local/lib/nagios/plugins")
    plugin = [f"{home}/.local/lib/nagios/plugins/check_host", "--version"]
    assert (
        subprocess.run(plugin, capture_output=True, check=False, cwd="/", **becoming).stdout[:11]
        == b"check_host "
    )
    remembered = home / ".local/state/stallwatch"
    remembered.mkdir(parents=True)
    done = run("uninstall", *places)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("removed; what the plugins remember is kept in ")
    assert str(remembered) in done.stdout
    for folder in (remembered, remembered.parent, remembered.parents[1]):
        folder.rmdir()  # nothing else is there
    assert everything(open_path) == before


def everything(folder):
    return sorted(folder.rglob("*"))


def test_a_stage_that_was_not_there_goes_away_with_the_last_folder_in_it(tmp_path):
    stage, known = f"{tmp_path}/stage", tmp_path / "known"
    new_folders(stage, known, known, "/opt/plugins/", "/opt/it/bin")
    for folder in ("opt/plugins", "opt/it/bin"):
        (Path(stage) / folder).mkdir(parents=True)
    new_folders("--remove", stage, known)
    assert list(tmp_path.iterdir()) == []


def new_folders(*arguments):
    subprocess.run([ROOT / "contrib" / "new-folders", *arguments], check=True)


def test_a_removal_leaves_nothing(staged, tmp_path):
    stage = shutil.copytree(staged, tmp_path / "stage", symlinks=True)
    done = make("uninstall", f"DESTDIR={stage}", "PREFIX=/opt/it", "PLUGINDIR=/opt/plugins")
    assert done.returncode == 0, done.stderr
    left = sorted(str(path.relative_to(stage)) for path in stage.rglob("*"))
    assert left == ["opt", "opt/plugins", "opt/plugins/check_host"]  # they were there before


@pytest.mark.parametrize(
    ("plugins", "left"),
    [
        ("/opt/plugins", {}),
        ("/usr/lib/nagios/plugins", {"check_jmx": "/usr/lib/stallwatch/bin/check_jmx"}),
    ],
)
def test_a_removal_gives_the_links_back_to_the_debian_package_where_those_are(
    staged, tmp_path, plugins, left
):
    """Its plugins have the same names, and make install takes over its links."""
    stage = shutil.copytree(staged, tmp_path / "stage", symlinks=True)
    of_package = stage / "usr/lib/stallwatch/bin/check_jmx"
    of_package.parent.mkdir(parents=True)
    of_package.write_text("of the package")
    folder = stage / plugins[1:]
    if plugins != "/opt/plugins":
        folder.parent.mkdir(parents=True)
        (stage / "opt/plugins").rename(folder)
    done = make("uninstall", f"DESTDIR={stage}", "PREFIX=/opt/it", f"PLUGINDIR={plugins}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "removed\n"
    assert {link.name: os.readlink(link) for link in folder.iterdir() if link.is_symlink()} == left


def test_programs_are_in_the_path_with_their_man_pages_and_completions(staged):
    for name in ("discover", "experiment"):
        assert (
            os.readlink(staged / f"opt/it/bin/stallwatch-{name}")
            == f"../lib/stallwatch/bin/stallwatch-{name}"
        )
        assert (staged / f"opt/it/share/man/man1/stallwatch-{name}.1").is_file()
        assert (staged / f"opt/it/share/bash-completion/completions/stallwatch-{name}").is_file()


@pytest.mark.slow("make install until it fails")
def test_an_installation_that_fails_leaves_the_one_that_is_there(installed):
    plugin = installed / "plugins" / "check_ndb_log"
    places = (f"PREFIX={installed}", f"PLUGINDIR={installed}/plugins")
    failing = make_install(*places, PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert failing.returncode != 0
    assert subprocess.run([plugin, "--version"], capture_output=True, check=False).stdout


@pytest.mark.slow("make install")
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
