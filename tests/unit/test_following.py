"""Which symbolic links are followed: those of root, our own, and those to what is their owner's own."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from stallwatch.sources.following import opened, opener, strangers

BY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away: run this test as root")
NOBODY, SOMEBODY = 65534, 65533  # ids of users
GONE = " (deleted)"


def text(path):
    with open(opened(str(path)), encoding="utf-8") as file:
        return file.read()


def link(place, target, owner):
    place.symlink_to(target)
    os.lchown(place, owner, owner)
    return place


def file(place, owner):
    place.write_text("secret")
    os.chown(place, owner, owner)
    return place


@pytest.fixture
def open_descriptors():
    before = os.listdir("/proc/self/fd")
    yield
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.usefixtures("open_descriptors")
def test_our_own_links_are_followed_absolute_and_relative_and_through_each_other(tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "log").write_text("secret")
    (tmp_path / "deep" / "absolute").symlink_to(tmp_path / "log")
    (tmp_path / "deep" / "relative").symlink_to("../log")
    (tmp_path / "deep" / "er" / "third").symlink_to("../relative")
    (tmp_path / "folder").symlink_to("deep/er")
    for path in (
        "log",
        "deep/absolute",
        "deep/relative",
        "deep/er/third",
        "folder/third",
        "folder/../absolute",
    ):
        assert text(tmp_path / path) == "secret"
    monkeypatch.chdir(tmp_path / "deep")
    for path in ("relative", "../log", "./er//third"):
        assert text(path) == "secret"


@BY_ROOT
@pytest.mark.parametrize("owners", [(0, NOBODY), (NOBODY, NOBODY), (0, SOMEBODY)])
def test_roots_links_and_those_to_their_owners_own_are_followed(tmp_path, owners):
    by, of = owners
    assert text(link(tmp_path / "link", file(tmp_path / "log", of), by)) == "secret"


@BY_ROOT
@pytest.mark.usefixtures("open_descriptors")
@pytest.mark.parametrize("of", [0, SOMEBODY])
def test_a_link_to_what_is_not_its_owners_is_refused(tmp_path, of):
    planted = link(tmp_path / "link", file(tmp_path / "shadow", of), NOBODY)
    whose = "root" if of == 0 else str(SOMEBODY)
    with pytest.raises(OSError, match=f"a symbolic link of user nobody leads to what user {whose} owns"):
        opened(str(planted))


@BY_ROOT
def test_a_link_in_the_middle_of_a_path_and_one_behind_a_link_of_root_are_refused(tmp_path):
    (tmp_path / "etc").mkdir()
    file(tmp_path / "etc" / "shadow", 0)
    link(tmp_path / "folder", "etc", NOBODY)
    link(tmp_path / "roots", "folder/shadow", 0)
    for path in ("folder/shadow", "roots"):
        with pytest.raises(OSError, match="of user nobody leads to"):
            opened(str(tmp_path / path))


@BY_ROOT
def test_two_links_of_two_users_are_refused_whosever_the_file_is(tmp_path):
    file(tmp_path / "log", NOBODY)
    link(tmp_path / "one", "log", NOBODY)
    link(tmp_path / "other", "one", SOMEBODY)
    with pytest.raises(OSError, match=f"of user {SOMEBODY}, nobody leads to"):
        opened(str(tmp_path / "other"))


@pytest.mark.usefixtures("open_descriptors")
def test_what_is_not_there_and_links_in_a_ring_are_said_as_ever(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    (tmp_path / "lost").symlink_to("nowhere")
    for path, kind in {
        "none": FileNotFoundError, "none/file": FileNotFoundError, "lost": FileNotFoundError,
        "file/file": NotADirectoryError, "file/": NotADirectoryError, "one": OSError,
        "a\0b": FileNotFoundError,
    }.items():  # fmt: skip
        with pytest.raises(kind):
            opened(f"{tmp_path}/{path}")


@pytest.mark.usefixtures("open_descriptors")
def test_a_named_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="neither a regular file nor a directory"):
        opened(str(tmp_path / "pipe"))


@BY_ROOT
@pytest.mark.usefixtures("open_descriptors")
def test_a_device_is_refused_without_being_opened(tmp_path, monkeypatch):
    plain, read = os.open, []

    def seen(path, flags, *more, **named):
        read.extend([path] if not flags & os.O_PATH else [])
        return plain(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", seen)
    with pytest.raises(OSError, match="neither a regular file nor a directory"):
        opened(str(link(tmp_path / "link", "/dev/null", NOBODY)))
    assert read == []


@pytest.mark.usefixtures("open_descriptors")
def test_a_link_of_the_kernel_leads_where_the_kernel_leads(tmp_path):
    (tmp_path / "log").write_text("secret")
    with open(tmp_path / "log", encoding="utf-8") as deleted:
        (tmp_path / "log").unlink()
        (tmp_path / f"log{GONE}").write_text("another")  # as its link in /proc reads
        assert text(f"/proc/self/fd/{deleted.fileno()}") == "secret"
    assert text(f"/proc/self/root{tmp_path}/log{GONE}") == "another"


@pytest.mark.usefixtures("open_descriptors")
@pytest.mark.parametrize("longer", range(3))
def test_a_link_of_the_kernel_is_known_whatever_its_length(longer):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own have long names
        room = 63 + longer - len(f"{folder}/{GONE}")  # its size is always 64 (Linux 6.1)
        path = Path(folder, "x" * room)
        path.write_text("secret")
        with open(path, encoding="utf-8") as deleted:
            path.unlink()
            assert text(f"/proc/self/fd/{deleted.fileno()}") == "secret"


@BY_ROOT
def test_strangers_on_the_way_to_a_path_are_told_also_if_nothing_is_there(tmp_path):
    link(tmp_path / "theirs", tmp_path / "none", NOBODY)
    link(tmp_path / "roots", tmp_path / "theirs", 0)
    assert strangers(str(tmp_path / "roots")) == {NOBODY}
    assert strangers(str(tmp_path / "other")) == frozenset()


@BY_ROOT
def test_strangers_who_have_led_to_a_path_count(tmp_path):
    path = str(file(tmp_path / "log", 0))
    os.close(opened(path, {0}))
    with pytest.raises(OSError, match="of user nobody leads to what user root owns"):
        opened(path, {NOBODY})


@pytest.mark.usefixtures("open_descriptors")
def test_a_file_object_that_cannot_be_made_leaves_nothing_open(tmp_path):
    with pytest.raises(IsADirectoryError):
        open(tmp_path, "rb", opener=opener)  # noqa: SIM115 - it comes to nothing


@pytest.mark.usefixtures("open_descriptors")
@pytest.mark.parametrize("other", [False, True])
def test_without_proc_a_file_is_opened_by_its_name_and_compared(tmp_path, monkeypatch, other):
    (tmp_path / "log").write_text("secret")
    plain = os.open

    def without_proc(path, flags, *more, **named):
        if str(path).startswith("/proc/"):
            if other:
                (tmp_path / "new").write_text("another")
                (tmp_path / "new").replace(tmp_path / "log")
            raise FileNotFoundError
        return plain(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", without_proc)
    if other:
        with pytest.raises(OSError, match="another file has come into its place"):
            opened(str(tmp_path / "log"))
    else:
        assert text(tmp_path / "log") == "secret"


def test_a_directory_is_opened_to_be_listed(tmp_path):
    descriptor = opened(str(tmp_path))
    try:
        assert stat.S_ISDIR(os.fstat(descriptor).st_mode)
        assert os.listdir(descriptor) == []
    finally:
        os.close(descriptor)


def test_the_memory_of_the_kernel_is_read_as_ever():
    assert text(f"/proc/{os.getpid()}/stat").startswith(f"{os.getpid()} (")
    assert "\n" in text("/proc/self/mountinfo")
