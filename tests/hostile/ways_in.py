"""The ways in which a plugin is told a password, the best known ones last."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from subjects import JMX

SECRETS = {
    "signs": "s3cret|%s\\'\"=ü",
    "markup": '<s3cret> &amp; {"x": [$HOME$, `id`]}  %d;',
    "an option": "--s3cret=verbose",
    "long": "s3cret " + "Größe/" * 9,
    "short": "x7!",
}


# Words of our own lines, of servers and of engines.
ORDINARY = ("replica", "mp", "a", "1", "OK", "UNKNOWN", "s", "password", "root")


class Told(NamedTuple):
    """The secret; what is on the command line for it, in the environment, and which files are."""

    secret: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = MappingProxyType({})
    files: tuple[str, ...] = ()


def by_variable(subject, secret, folder):
    name = "STALLWATCH_JMX_PASSWORD" if subject.source == JMX else "STALLWATCH_MYSQL_PASSWORD"
    return Told(secret, variables={name: secret})


def by_password_file(subject, secret, folder):
    path = _file(folder / "password", f"{secret}\nnot the password\n")
    return Told(secret, ("--password-file", path), files=(path,))


def by_argument(subject, secret, folder):
    return Told(secret, (f"--password={secret}",))


def by_option_file(subject, secret, folder):
    path = _file(folder / "mysql.cnf", f"[client]\npassword={quoted(secret)}\n")
    return Told(secret, ("--defaults-file", path), files=(path,))


def by_included_file(subject, secret, folder):
    inner = _file(folder / "inner.cnf", f"[stallwatch]\nloose-pass = {quoted(secret)}\n")
    path = _file(folder / "mysql.cnf", f"[client]\n!include {inner}\n")
    return Told(secret, ("--defaults-file", path), files=(path, inner))


def by_included_folder(subject, secret, folder):
    (folder / "conf.d").mkdir(mode=0o700)
    inner = _file(folder / "conf.d" / "a.cnf", f"[client]\npassword={quoted(secret)}\n")
    path = _file(folder / "mysql.cnf", f"!includedir {folder}/conf.d\n")
    return Told(secret, ("--defaults-file", path), files=(path, inner))


def by_group(subject, secret, folder):
    text = f"[client]\npassword='of no use here'\n[monitored]\npassword={quoted(secret)}\n"
    path = _file(folder / "mysql.cnf", text)
    return Told(secret, ("--defaults-file", path, "--defaults-group", "monitored"), files=(path,))


def by_own_file(subject, secret, folder):
    return Told(secret, files=(_file(folder / ".my.cnf", f"[client]\npassword={quoted(secret)}\n"),))


FOR_ALL = (by_variable, by_password_file, by_argument)
BY_OPTION_FILE = (by_option_file, by_included_file, by_included_folder, by_group, by_own_file)


def ways(subject):
    """Those that a plugin has."""
    return FOR_ALL if subject.source == JMX else (*FOR_ALL, *BY_OPTION_FILE)


def quoted(value):
    """Write a value as an option file has it."""
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))


def _file(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)
