"""Option files are read as MySQL's own programs read them."""

import os

import pytest
from stallwatch.sources.mysql import option_files
from stallwatch.units import NotUnderstoodError

KNOWN = ("host", "port", "socket", "user", "password", "ssl-ca", "ssl-cert", "ssl-key", "ssl")


@pytest.fixture
def file(tmp_path):
    """Write an option file, give its path."""

    def write(content, name="my.cnf"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def options(path, *groups):
    return option_files.options(option_files.read(path), groups or ("client",), KNOWN)


@pytest.fixture
def password(file):
    """What a line after ``password`` comes to."""
    return lambda written: options(file(f"[client]\npassword{written}\n"))["password"]


def test_names_and_values(file):
    path = file("[client]\nuser=mon\n  password = secret  \nhost\t=\tdb1\n")
    assert options(path) == {"user": "mon", "password": "secret", "host": "db1"}


def test_only_the_groups_that_are_asked_for(file):
    path = file("[mysqld]\nuser=mysql\n[client]\nuser=mon\n[Client]\nuser=other\n[clients]\nuser=others\n")
    assert options(path) == {"user": "mon"}
    assert options(path, "none") == {}


def test_the_last_value_wins_in_the_order_of_the_file(file):
    path = file("[mine]\nuser=mine\n[client]\nuser=first\nuser=last\n")
    assert options(path, "client", "mine") == {"user": "last"}
    assert options(path, "mine") == {"user": "mine"}


def test_a_group_may_come_again(file):
    assert options(file("[client]\nuser=a\n[x]\nuser=b\n[ client ]\nuser=c\n[client ]\nhost=h\n")) == {
        "user": "a",
        "host": "h",
    }


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("=ab", "ab"),
        ("= a b ", "a b"),
        ('="a b "', "a b "),
        ("=' a'", " a"),
        ("='a", "'a"),
        ("='a\"", "'a\""),
        ('=a"b', 'a"b'),
        ('="it\'s"', "it's"),
        ("=''", ""),
        ("='", "'"),
        ("=", ""),
        ("=a=b", "a=b"),
        (r"=a\sb", "a b"),
        (r"=\n\t\r\b", "\n\t\r\b"),
        (r"=\\s", r"\s"),
        (r"=\"\'", "\"'"),
        (r"=a\q", r"a\q"),
        ("=a\\", "a\\"),
        (r"='a\'b'", "a'b"),
        ("=a#b", "a"),
        ("=a # b", "a"),
        ("='a#b'", "a#b"),
        ('="a#b" # c', "a#b"),
        (r"='a\'#b'", "a'#b"),
        ("=a;b", "a;b"),
        ("=a ; b", "a ; b"),
        ("=p\u00e4ss\u2713", "p\u00e4ss\u2713"),
        ("", None),
        ("  # nothing", None),
    ],
)
def test_values(password, written, value):
    assert password(written) == value


def test_a_password_in_an_encoding_of_its_own_keeps_its_bytes(file):
    found = options(file(b"[client]\npassword=p\xe4ss\n"))["password"]
    assert found.encode(errors="surrogateescape") == b"p\xe4ss"


def test_comments_and_empty_lines(file):
    path = file("# a\n; b\n\n  \n  # [client]\n[client] # c\n#user=a\n ;user=b\nuser=c\n")
    assert options(path) == {"user": "c"}


@pytest.mark.parametrize("name", ["ssl-ca", "ssl_ca", "loose-ssl-ca", "loose_ssl_ca"])
def test_ways_to_write_a_name(file, name):
    assert options(file(f"[client]\n{name}=f\n")) == {"ssl-ca": "f"}


def test_a_name_cut_short(file):
    assert options(file("[client]\npass=a\n")) == {"password": "a"}
    assert options(file("[client]\nsock=a\nssl-c=b\npas=c\nusers=d\nh=e\n")) == {"socket": "a"}


def test_windows_has_been_here(file):
    path = file(b"\xef\xbb\xbf[client]\r\nuser=mon\r\npassword='a b' \r\n")
    assert options(path) == {"user": "mon", "password": "a b"}


def test_includes(file):
    other = file("[client]\npassword=included\n[x]\nuser=x", "other.txt")
    path = file(f"!include {other}\n[client]\nuser=mon\n  !  include   {other}\nhost=h\n")
    assert options(path) == {"password": "included", "user": "mon", "host": "h"}


def test_the_last_value_wins_over_files_as_well(file):
    other = file("[client]\nuser=included\n", "other.cnf")
    assert options(file(f"[client]\nuser=mon\n!include {other}\n")) == {"user": "included"}
    assert options(file(f"!include {other}\n[client]\nuser=mon\n")) == {"user": "mon"}


def test_an_included_file_has_groups_of_its_own(file):
    other = file("user=x\n", "other.cnf")
    with pytest.raises(NotUnderstoodError, match=r"other\.cnf, line 1: an option outside of any group"):
        options(file(f"[client]\n!include {other}\n"))


def test_a_directory_is_read_in_the_order_of_its_names(file, tmp_path):
    for name in ("b.cnf", "a.cnf", "B.cnf", "c.txt", "d.cnf~", ".cnf"):
        file(f"[client]\nuser={name}\n", f"conf.d/{name}")
    assert options(file(f"!includedir {tmp_path}/conf.d\n")) == {"user": "b.cnf"}
    os.remove(tmp_path / "conf.d" / "b.cnf")
    assert options(file(f"!includedir {tmp_path}/conf.d/\n")) == {"user": "a.cnf"}


def test_what_is_not_there_is_not_included(file, tmp_path):
    path = file(f"!include {tmp_path}/none\n!includes {tmp_path}\n!include\n!nonsense x\n[client]\nuser=a\n")
    assert options(path) == {"user": "a"}


def test_a_file_that_includes_itself(file, tmp_path):
    path = file(f"!include {tmp_path}/my.cnf\n")
    with pytest.raises(NotUnderstoodError, match="10 files include one another"):
        options(path)


@pytest.mark.parametrize(
    ("content", "because"),
    [
        ("user=mon\n", "line 1: an option outside of any group: write [client] before it"),
        ("# a\n\n[client\n", 'line 3: the name of the group does not end with "]"'),
        ("!includedir /nonexistent\n", "line 1: /nonexistent cannot be read: No such file or directory"),
        ("#" * 1024 * 1024 + "\n", "is too large for an option file"),
    ],
)
def test_files_that_are_none(file, content, because):
    path = file(content)
    with pytest.raises(NotUnderstoodError) as raised:
        options(path)
    assert str(raised.value).startswith(path)
    assert str(raised.value).endswith(because)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(NotUnderstoodError, match="none cannot be read: No such file or directory"):
        options(str(tmp_path / "none"))
    with pytest.raises(NotUnderstoodError, match="cannot be read: Is a directory"):
        options(str(tmp_path))


def test_a_file_that_everybody_may_write(file):
    path = file("[client]\nuser=mon\n")
    os.chmod(path, 0o666)
    with pytest.raises(
        NotUnderstoodError, match="can be written by everybody, so MySQL would ignore it: chmod"
    ):
        options(path)
    os.chmod(path, 0o664)
    assert options(path) == {"user": "mon"}
